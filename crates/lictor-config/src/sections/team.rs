//! `store:`, `server:` and `retention:`: where the record is kept, for how long, and who publishes the team's policy.

use serde::{Deserialize, Serialize};

use super::section::{Section, value};
use crate::reader::Reader;
use crate::table::{Key, Shape, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[
        Key::new(
            "store",
            Shape::Text,
            "sqlite",
            "Where the record is kept: `sqlite` is a file in the state directory, also when it is not said. \
             `postgres://user@host/database` is a database, with one chain for each machine and project; `lictor-server` \
             must be installed beside `lictor`.",
        )
        .trusted(),
        Key::new(
            "server",
            Shape::Fields(&SERVER),
            "{url: 'https://lictor.example.com'}",
            "The team's server: it publishes a policy and collects records.",
        )
        .trusted(),
        Key::new(
            "retention",
            Shape::Fields(&RETENTION),
            "{keep: 90d, max_size: 1GB}",
            "How long records stay in the store before they move to archives.",
        )
        .trusted(),
    ],
    read: |r, file, said| {
        said.store = r.field(file, "store", store);
        said.server = value(r, file, "server", server);
        said.retention = value(r, file, "retention", retention);
    },
    guards: &[],
};

/// The URL schemes of databases.
const DATABASES: [&str; 2] = ["postgres://", "postgresql://"];
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// What happens while the server cannot be reached, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Away {
    /// The team's policy is not applied, and that is recorded.
    Pass,
    /// The last fetched policy applies until it is too old; then everything is blocked.
    #[default]
    LastGood,
    /// Nothing passes.
    Block,
}

pub(crate) static SERVER: Table = Table {
    name: "server",
    about: "A server that publishes the team's policy and collects its records. Its policy counts between the managed \
            file and the user's. Hooks judge on this machine and never wait for the network, except where there is no \
            policy of the server yet or it has expired.",
    keys: &[
        Key::new("url", Shape::Text, "https://lictor.example.com", "Its address.").required(),
        Key::new(
            "away",
            Shape::Word(&["block", "last_good", "pass"]),
            "last_good",
            "What happens while it cannot be reached. `last_good`, also when it is not said: the policy that was fetched \
             last counts for `max_age`, then nothing passes. `pass` counts in the managed file only, and is recorded. \
             The server may say so too; the stricter word counts.",
        ),
        Key::new(
            "max_age",
            Shape::Duration,
            "7d",
            "How long a fetched policy counts. What the server says when it is not said; the shorter counts.",
        ),
        Key::new(
            "token_file",
            Shape::Path,
            "/etc/lictor/server.token",
            "The file with the token. `server.token` beside the user's policy file when it is not said.",
        ),
    ],
};

/// `server:`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerConfig {
    /// Its address.
    pub url: String,
    /// What happens while it cannot be reached, if set.
    pub away: Option<Away>,
    /// How long a fetched policy is valid, in milliseconds.
    pub max_age: Option<u64>,
    /// The file with the token.
    pub token_file: Option<String>,
}

pub(crate) fn server(r: &mut Reader<'_>, tree: &Tree) -> Option<ServerConfig> {
    let f = r.fields(tree, &SERVER)?;
    let away = [("block", Away::Block), ("last_good", Away::LastGood), ("pass", Away::Pass)];
    let mut away = r.field(&f, "away", |r, tree, what| r.choice(tree, what, &away));
    if let (Some(Away::Pass), Some(place), false) = (away, f.get("away"), r.is_managed()) {
        r.warning(
            place.span,
            "only the managed file can let actions pass without the server",
            "`last_good` holds instead; leave it out",
        );
        away = Some(Away::LastGood);
    }
    let (max_age, token_file) =
        (r.field(&f, "max_age", Reader::duration), r.field(&f, "token_file", Reader::path));
    let url = r.field(&f, "url", Reader::sentence)?;
    if !is_private(&url) {
        let place = f.get("url").map_or(f.span, |tree| tree.span);
        r.error(
            place,
            "the token would travel unencrypted",
            "say `https://…`; `http://` is for servers on this machine",
        );
        return None;
    }
    Some(ServerConfig { url, away, max_age, token_file })
}

/// Whether traffic to an address is private: encrypted, or within this machine.
pub(crate) fn is_private(url: &str) -> bool {
    let encrypted = url.strip_prefix("https://").is_some_and(|rest| !rest.is_empty());
    let local = ["http://127.0.0.1", "http://[::1]", "http://localhost"]
        .iter()
        .filter_map(|start| url.strip_prefix(start))
        .any(|rest| rest.is_empty() || rest.starts_with([':', '/']));
    encrypted || local
}

/// `store:`. The default is a file in the state directory.
pub(crate) fn store(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<String> {
    let text = r.text(tree, what)?;
    let rest = DATABASES.iter().find_map(|start| text.strip_prefix(start));
    match rest {
        Some(rest) if !rest.is_empty() => Some(text),
        Some(_) => {
            r.error(tree.span, "the address names no database", "say `postgres://user@host/database`");
            None
        }
        None => r.choice(tree, what, &[("sqlite", ())]).and(None),
    }
}

pub(crate) static RETENTION: Table = Table {
    name: "retention",
    about: "How long records stay in the store. What is older, or too much, moves to compressed archives beside it, which \
            `lictor audit verify`, `log` and `report` go on reading. Done after a session's end, never by a hook itself.",
    keys: &[
        Key::new("keep", Shape::Duration, "90d", "Records that are not older stay. 90d when it is not said."),
        Key::new(
            "max_size",
            Shape::Text,
            "1GB",
            "How large the store may grow, in `kB`, `MB` or `GB`. 1GB when it is not said.",
        ),
    ],
};

/// `retention:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionConfig {
    /// How long records stay, in milliseconds.
    pub keep: u64,
    /// So many bytes stay at most.
    pub max_size: u64,
}

impl Default for RetentionConfig {
    fn default() -> Self {
        Self { keep: 90 * DAY, max_size: 1_000_000_000 }
    }
}

pub(crate) fn retention(r: &mut Reader<'_>, tree: &Tree) -> Option<RetentionConfig> {
    let f = r.fields(tree, &RETENTION)?;
    let default = RetentionConfig::default();
    let size = r.field(&f, "max_size", |r, tree, what| {
        let text = r.text(tree, what)?;
        let size = bytes(&text).filter(|size| *size > 0);
        if size.is_none() {
            r.error(tree.span, format!("{what} is not a size"), "say for example `500MB` or `1GB`");
        }
        size
    });
    Some(RetentionConfig {
        keep: r.field(&f, "keep", Reader::duration).unwrap_or(default.keep),
        max_size: size.unwrap_or(default.max_size),
    })
}

/// `1GB` and the like, in bytes.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let factor: u64 = match unit.trim_start() {
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests;
