//! `known_tools:`.

use lictor_core::policy::Ungrounded;
use lictor_core::{Decision, Digest, Layer};
use lictor_guards::{KnownTools, KnownToolsConfig, RememberedTool};

use super::section::{BuiltIn, Section, share, value};
use crate::reader::Reader;
use crate::table::{DECISIONS, Key, Shape, TEXTS, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "known_tools",
        Shape::Fields(&TABLE),
        "{unknown: block}",
        "What tools get that nobody described. Guard `known_tools`.",
    )],
    read: |r, file, said| {
        let unknown = value(r, file, "known_tools", read).unwrap_or_default();
        said.known_tools = unknown.tools;
        said.opaque = unknown.opaque;
        said.ungrounded = unknown.ungrounded;
    },
    guards: &[BuiltIn {
        name: "known_tools",
        section: "known_tools",
        layer: Layer::Boundary,
        configured: |said| said.known_tools.is_some(),
        build: |layer| share(layer.sections.known_tools.clone().map(KnownTools::new)),
        last: false,
    }],
};

pub(crate) static TABLE: Table = Table {
    name: "known_tools",
    about: "What to do with what nobody described: tools that are not known, commands whose effects cannot be told, \
            and deeds that are not in the catalogue. Names may be globs (`mcp__github__get_*`).",
    keys: &[
        Key::new(
            "known",
            TEXTS,
            "[\"mcp__github__get_*\"]",
            "Tools that may be used. A repository's file cannot make a tool known that the user's does not know.",
        ),
        Key::new("blocked", TEXTS, "[\"mcp__*__delete_*\"]", "Tools that may not be used."),
        Key::new("unknown", DECISIONS, "block", "What every other tool gets. `ask` when it is not said."),
        Key::new(
            "remembered",
            Shape::List(&Shape::Fields(&REMEMBERED)),
            "[{tool: mcp__acme__lookup}]",
            "Tools that nobody described and you said yes to, written by `lictor approve` and `lictor allow`; \
             `lictor tools` lists and forgets them.",
        )
        .trusted(),
        Key::new(
            "trusted_servers",
            TEXTS,
            "[github]",
            "MCP servers that are believed when they say that a tool of theirs only reads (`readOnlyHint`): such a tool needs no \
             description. Of others only what makes a judgement stricter counts. For calls through `lictor mcp`.",
        )
        .trusted(),
        Key::new(
            "opaque",
            DECISIONS,
            "block",
            "What a command gets whose effects cannot be told before it runs. What the packs say (`ask`) when it \
             is not said here.",
        ),
        Key::new(
            "ungrounded",
            Shape::Word(&["ask", "block"]),
            "ask",
            "What a deed gets whose verb or object is not in the catalogue, so that no policy can be about it. Only \
             facts of a program that embeds Lictor have such; Lictor's own are all in it. `block` when it is not said; \
             of several files the strictest counts. Judged by the guard `policies`.",
        ),
    ],
};

static REMEMBERED: Table = Table {
    name: "known_tools.remembered[]",
    about: "A tool, as it was when a person said yes to it. What it is called with is judged as before.",
    keys: &[
        Key::new("tool", Shape::Text, "mcp__acme__lookup", "Its full name.").required(),
        Key::new(
            "server",
            Shape::Text,
            "\"5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9\"",
            "A digest of the command or address by which the agent reached its server then. A server that is configured in \
             another way is asked about again.",
        ),
    ],
};

/// A file's settings for tools without a description.
#[derive(Default)]
pub(crate) struct Unknown {
    pub(crate) tools: Option<KnownToolsConfig>,
    pub(crate) opaque: Option<Decision>,
    pub(crate) ungrounded: Option<Ungrounded>,
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<Unknown> {
    let f = r.fields(tree, &TABLE)?;
    let opaque = r.field(&f, "opaque", Reader::decision);
    let words = [("ask", Ungrounded::Ask), ("block", Ungrounded::Block)];
    let ungrounded = r.field(&f, "ungrounded", |r, tree, what| r.choice(tree, what, &words));
    if let Some(place) =
        f.get("ungrounded").filter(|_| !r.is_trusted() && ungrounded == Some(Ungrounded::Ask))
    {
        r.warning(
            place.span,
            "a repository's file can only be stricter, so this changes nothing",
            "put it into the user's file (`~/.config/lictor/governance.yaml`) or the managed one",
        );
    }
    let config = KnownToolsConfig {
        known: r.field(&f, "known", Reader::texts).unwrap_or_default(),
        blocked: r.field(&f, "blocked", Reader::texts).unwrap_or_default(),
        unknown: r.field(&f, "unknown", Reader::decision),
        remembered: r
            .field(&f, "remembered", |r, tree, what| r.each(tree, what, remembered))
            .unwrap_or_default(),
        trusted_servers: r.field(&f, "trusted_servers", Reader::texts).unwrap_or_default(),
    };
    if let Some(place) = f.get("known").filter(|_| !r.is_trusted() && config.unknown.is_none()) {
        r.warning(
            place.span,
            "a repository's file cannot make tools known, so this changes nothing",
            "put it into the user's file, or say `unknown: block` to forbid all others",
        );
    }
    let says_more = ["known", "blocked", "unknown", "remembered", "trusted_servers"]
        .iter()
        .any(|key| f.get(key).is_some());
    Some(Unknown { tools: says_more.then_some(config), opaque, ungrounded })
}

fn remembered(r: &mut Reader<'_>, tree: &Tree, _: &str) -> Option<RememberedTool> {
    let f = r.fields(tree, &REMEMBERED)?;
    let server = match f.get("server") {
        None => None,
        Some(place) => {
            let text = r.text(place, &f.label("server"))?;
            let digest = text.parse::<Digest>();
            if digest.is_err() {
                r.error(
                    place.span,
                    "this is no digest of a server",
                    "take the entry out; the tool is asked about once more",
                );
            }
            Some(digest.ok()?)
        }
    };
    Some(RememberedTool { tool: r.field(&f, "tool", Reader::text)?, server })
}
