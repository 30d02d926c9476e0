//! `bash_safety:`.

use lictor_core::Layer;
use lictor_guards::{BashSafety, BashSafetyConfig};

use super::section::{BuiltIn, Section, share, value};
use crate::reader::Reader;
use crate::table::{Key, OBJECTIONS, REGEXES, Shape, TEXTS, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "bash_safety",
        Shape::Fields(&TABLE),
        "{blocked_programs: [shutdown]}",
        "Commands that are forbidden by pattern or by name. Guard `bash_safety`.",
    )],
    read: |r, file, said| said.bash_safety = value(r, file, "bash_safety", read),
    guards: &[BuiltIn {
        name: "bash_safety",
        section: "bash_safety",
        layer: Layer::Boundary,
        configured: |said| said.bash_safety.is_some(),
        build: |layer| share(layer.sections.bash_safety.clone().map(BashSafety::accepted)),
        last: false,
    }],
};

pub(crate) static TABLE: Table = Table {
    name: "bash_safety",
    about: "Commands that are forbidden by pattern or by name. Patterns are tried on the text as written and on \
            every simple command in it, with quotes and wrappers such as `sudo` taken off.",
    keys: &[
        Key::new(
            "blocked_patterns",
            REGEXES,
            "['DROP\\s+TABLE']",
            "Regular expressions that must not match anywhere in a command.",
        ),
        Key::new("blocked_programs", TEXTS, "[shutdown, reboot]", "Programs that must not be run, by name."),
        Key::new(
            "allow",
            REGEXES,
            "['rm -rf target']",
            "Exceptions: regular expressions that fit one whole simple command; what comes through a pipe or a \
             redirection is covered only by the whole line, word for word. A repository's exceptions lift \
             only the repository's own rules; those of the user's or managed file also lift the packs'.",
        ),
        Key::new(
            "unreadable",
            OBJECTIONS,
            "block",
            "What a command gets that cannot be read to its end. `ask` when it is not said.",
        ),
    ],
};

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<BashSafetyConfig> {
    let f = r.fields(tree, &TABLE)?;
    Some(BashSafetyConfig {
        blocked_patterns: r.field(&f, "blocked_patterns", Reader::regexes).unwrap_or_default(),
        blocked_programs: r
            .field(&f, "blocked_programs", |r, tree, what| r.each(tree, what, program))
            .unwrap_or_default(),
        allow: r.field(&f, "allow", Reader::regexes).unwrap_or_default(),
        unreadable: r.field(&f, "unreadable", Reader::objection),
    })
}

/// The base name of a program.
fn program(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<String> {
    let name = r.sentence(tree, what)?;
    if name.contains(char::is_whitespace) {
        r.error(
            tree.span,
            format!("`{name}` is a command, not the name of a program"),
            format!("name the program alone, or write a pattern: `blocked_patterns: ['{name}']`"),
        );
        return None;
    }
    if let Some(base) = name.rsplit_once('/').map(|(_, base)| base).filter(|base| !base.is_empty()) {
        r.error(
            tree.span,
            "programs are compared by their name, without a directory",
            format!("write `{base}`"),
        );
        return None;
    }
    Some(name)
}
