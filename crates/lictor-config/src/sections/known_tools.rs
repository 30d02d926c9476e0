//! `known_tools:`.

use lictor_core::Decision;
use lictor_guards::KnownToolsConfig;

use crate::reader::Reader;
use crate::table::{DECISIONS, Key, TEXTS, Table};
use crate::yaml::Tree;

pub(crate) static TABLE: Table = Table {
    name: "known_tools",
    about: "What to do with what nobody described: tools that are not known, and commands whose effects cannot be \
            told. Names may be globs (`mcp__github__get_*`).",
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
            "opaque",
            DECISIONS,
            "block",
            "What a command gets whose effects cannot be told before it runs. What the packs say (`ask`) when it \
             is not said here.",
        ),
    ],
};

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<(Option<KnownToolsConfig>, Option<Decision>)> {
    let f = r.fields(tree, &TABLE)?;
    let opaque = r.field(&f, "opaque", Reader::decision);
    let config = KnownToolsConfig {
        known: r.field(&f, "known", Reader::texts).unwrap_or_default(),
        blocked: r.field(&f, "blocked", Reader::texts).unwrap_or_default(),
        unknown: r.field(&f, "unknown", Reader::decision),
    };
    if let Some(place) = f.get("known").filter(|_| !r.is_trusted() && config.unknown.is_none()) {
        r.warning(
            place.span,
            "a repository's file cannot make tools known, so this changes nothing",
            "put it into the user's file, or say `unknown: block` to forbid all others",
        );
    }
    let says_more = ["known", "blocked", "unknown"].iter().any(|key| f.get(key).is_some());
    Some((says_more.then_some(config), opaque))
}
