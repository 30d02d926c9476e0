//! `network:` and `secrets:`.

use lictor_core::Layer;
use lictor_guards::{Network, NetworkConfig, Secrets, SecretsConfig};

use super::section::{BuiltIn, Section, share, value};
use crate::reader::Reader;
use crate::table::{DECISIONS, Key, PATHS, Shape, TEXTS, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[
        Key::new(
            "network",
            Shape::Fields(&NETWORK),
            "{allow: [crates.io]}",
            "Which hosts may be talked to. Guard `network`.",
        ),
        Key::new(
            "secrets",
            Shape::Fields(&SECRETS),
            "{read: block}",
            "What happens to secrets. Guard `secrets`.",
        ),
    ],
    read: |r, file, said| {
        said.network = value(r, file, "network", network);
        said.secrets = value(r, file, "secrets", secrets);
    },
    guards: &[
        BuiltIn {
            name: "network",
            section: "network",
            layer: Layer::Boundary,
            configured: |said| said.network.is_some(),
            build: |layer| share(layer.sections.network.clone().map(Network::new)),
            last: false,
        },
        BuiltIn {
            name: "secrets",
            section: "secrets",
            layer: Layer::Boundary,
            configured: |said| said.secrets.is_some(),
            build: |layer| share(layer.sections.secrets.clone().map(Secrets::new)),
            last: false,
        },
    ],
};

pub(crate) static NETWORK: Table = Table {
    name: "network",
    about: "Which hosts may be talked to. A host stands for itself; `*.example.com` stands for every host below \
            `example.com`.",
    keys: &[
        Key::new(
            "allow",
            TEXTS,
            "[crates.io, \"*.github.com\"]",
            "Hosts that may be talked to. Absent: all. Empty: none.",
        ),
        Key::new("deny", TEXTS, "[pastebin.com]", "Hosts that may not, whatever `allow` says."),
        Key::new(
            "unknown",
            DECISIONS,
            "block",
            "What a host gets that cannot be told before the command runs. `ask` when it is not said.",
        ),
        Key::new(
            "send",
            DECISIONS,
            "ask",
            "What sending data gets, also to an allowed host. `pass` when it is not said.",
        ),
    ],
};

pub(crate) fn network(r: &mut Reader<'_>, tree: &Tree) -> Option<NetworkConfig> {
    let f = r.fields(tree, &NETWORK)?;
    Some(NetworkConfig {
        allow: r.field(&f, "allow", |r, tree, what| r.each(tree, what, host)),
        deny: r.field(&f, "deny", |r, tree, what| r.each(tree, what, host)).unwrap_or_default(),
        unknown: r.field(&f, "unknown", Reader::decision),
        send: r.field(&f, "send", Reader::decision),
    })
}

fn host(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<String> {
    let text = r.sentence(tree, what)?;
    let bare = text.strip_prefix("*.").unwrap_or(&text);
    let named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let numbered = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let is_address = bare.matches(':').count() > 1 && bare.bytes().all(numbered);
    if bare == "*" || bare.bytes().all(named) || is_address {
        return Some(text);
    }
    let inner = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
    let name: String = inner.chars().take_while(|c| !matches!(c, '/' | ':' | '?')).collect();
    let help = if name.is_empty() || name == text || name.contains('*') {
        "write `example.com`, or `*.example.com` for every host below it".to_owned()
    } else {
        format!("write the name alone: `{name}`")
    };
    r.error(tree.span, format!("`{text}` is not the name of a host"), help);
    None
}

pub(crate) static SECRETS: Table = Table {
    name: "secrets",
    about: "What happens to secrets: private keys, `.env` files, cloud credentials, and files that you name.",
    keys: &[
        Key::new(
            "files",
            PATHS,
            "[\"config/*.secret.yaml\"]",
            "Further files that hold secrets. Globs relative to the project's root.",
        ),
        Key::new("read", DECISIONS, "block", "What reading a secret gets. `ask` when it is not said."),
        Key::new(
            "write",
            DECISIONS,
            "block",
            "What writing a key or token into a file gets. `ask` when it is not said.",
        ),
        Key::new("send", DECISIONS, "block", "What sending a secret out gets. `block` when it is not said."),
    ],
};

pub(crate) fn secrets(r: &mut Reader<'_>, tree: &Tree) -> Option<SecretsConfig> {
    let f = r.fields(tree, &SECRETS)?;
    Some(SecretsConfig {
        files: r.field(&f, "files", Reader::paths).unwrap_or_default(),
        read: r.field(&f, "read", Reader::decision),
        write: r.field(&f, "write", Reader::decision),
        send: r.field(&f, "send", Reader::decision),
    })
}
