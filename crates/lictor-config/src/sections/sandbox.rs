//! `sandbox:`.

use lictor_core::Layer;
use lictor_guards::{Forbid, Sandbox, SandboxConfig};

use super::section::{BuiltIn, Section, share, value};
use crate::reader::Reader;
use crate::table::{Key, Shape, TEXTS, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "sandbox",
        Shape::Fields(&TABLE),
        "{languages: [python]}",
        "What inline code may do. Guard `sandbox`.",
    )],
    read: |r, file, said| said.sandbox = value(r, file, "sandbox", read),
    guards: &[BuiltIn {
        name: "sandbox",
        section: "sandbox",
        layer: Layer::Boundary,
        configured: |said| said.sandbox.is_some(),
        build: |layer| share(layer.sections.sandbox.clone().map(Sandbox::new)),
        last: false,
    }],
};

/// Languages whose code can be looked into.
const LANGUAGES: [(&str, &str); 3] =
    [("python", "python"), ("javascript", "javascript"), ("typescript", "typescript")];

static FORBID: Table = Table {
    name: "sandbox.forbid",
    about: "What code must not use. A list that is given stands in place of the built-in one; an empty list forbids \
            nothing.",
    keys: &[
        Key::new("imports", TEXTS, "[socket]", "Modules, and everything below them."),
        Key::new("calls", TEXTS, "[eval]", "Functions, as written in the code."),
        Key::new("attributes", TEXTS, "[__globals__]", "Attributes."),
    ],
};

pub(crate) static TABLE: Table = Table {
    name: "sandbox",
    about: "What inline code (`execute_code`, `python -c`) may do, as far as its text tells. A reading of the code, not a \
            jail.",
    keys: &[
        Key::new(
            "languages",
            Shape::List(&Shape::Word(&["python", "javascript", "typescript"])),
            "[python, javascript]",
            "Languages that may be used. Code in others is blocked. All three when it is not said.",
        ),
        Key::new(
            "forbid",
            Shape::Fields(&FORBID),
            "{imports: [socket], calls: [eval]}",
            "What code must not use.",
        ),
    ],
};

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<SandboxConfig> {
    let f = r.fields(tree, &TABLE)?;
    let languages = r.field(&f, "languages", |r, tree, what| {
        r.each(tree, what, |r, tree, what| r.choice(tree, what, &LANGUAGES))
    });
    let forbid = f.get("forbid").and_then(|tree| forbid(r, tree)).unwrap_or_default();
    let languages = languages.map(|words| words.into_iter().map(str::to_owned).collect());
    Some(SandboxConfig { languages, forbid })
}

fn forbid(r: &mut Reader<'_>, tree: &Tree) -> Option<Forbid> {
    let f = r.fields(tree, &FORBID)?;
    Some(Forbid {
        imports: r.field(&f, "imports", Reader::texts),
        calls: r.field(&f, "calls", Reader::texts),
        attributes: r.field(&f, "attributes", Reader::texts),
    })
}
