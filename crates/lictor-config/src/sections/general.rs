//! Settings that do not concern guards.

use lictor_core::Decision;
use lictor_guards::Pack;
use serde::{Deserialize, Serialize};

use super::section::Section;
use crate::diagnostic::suggest;
use crate::reader::Reader;
use crate::table::{Key, Shape, TEXTS};
use crate::yaml::{Tree, Yaml};

/// Whether decisions are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They are.
    Enforce,
    /// Everything is judged and recorded, nothing is stopped.
    Observe,
}

/// The settings of the file as a whole.
pub(crate) static SECTION: Section = Section {
    keys: &[
        Key::new("version", Shape::Word(&["1"]), "1", "The version of this format."),
        Key::new(
            "extends",
            TEXTS,
            "[recommended]",
            "Packs of rules that ship with Lictor. `recommended` is always the base; only the user's or the \
             managed file can replace it, with another list or `[]`. A repository's list adds packs.",
        ),
        Key::new(
            "mode",
            Shape::Word(&["enforce", "observe"]),
            "observe",
            "`observe` judges and records everything and stops nothing.",
        )
        .trusted(),
        Key::new(
            "ask_when_unattended",
            Shape::Word(&["ask", "block"]),
            "block",
            "What a question becomes when nobody is there to answer. `block` when it is not said: it waits in `lictor \
             approvals`. `ask` leaves it to the agent's own prompt, where it has one; what an unattended agent makes of \
             that is its own affair.",
        )
        .trusted(),
        Key::new(
            "findings_without_council",
            Shape::Word(&["block", "note"]),
            "note",
            "What open HIGH and CRITICAL findings do to a commit where no council is set up. `block` when it is not said; \
             `note` mentions them. With councils, their `guardrail` decides.",
        )
        .trusted(),
    ],
    read: |r, file, said| {
        r.field(file, "version", |r, tree, what| r.choice(tree, what, &[("1", ())]));
        said.extends = r.field(file, "extends", packs);
        said.mode = r.field(file, "mode", |r, tree, what| {
            r.choice(tree, what, &[("enforce", Mode::Enforce), ("observe", Mode::Observe)])
        });
        said.ask_when_unattended = r.field(file, "ask_when_unattended", |r, tree, what| {
            r.choice(tree, what, &[("ask", Decision::Ask), ("block", Decision::Block)])
        });
        said.findings_without_council = r.field(file, "findings_without_council", |r, tree, what| {
            r.choice(tree, what, &[("block", true), ("note", false)])
        });
    },
    guards: &[],
};

fn packs(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<Vec<String>> {
    let items = r.list(tree, what);
    if items.is_empty() && !matches!(tree.value, Yaml::Map(_)) && !r.is_trusted() {
        r.warning(
            tree.span,
            "a repository's file cannot take packs away",
            "leave it out; `extends: []` belongs into the user's or the managed file",
        );
    }
    let mut names = Vec::new();
    for item in items {
        let Some(name) = r.sentence(item, what) else { continue };
        if Pack::named(&name).is_none() {
            let help = suggest(&name, "the packs are", Pack::all().iter().map(|pack| pack.name));
            r.error(item.span, format!("there is no pack `{name}`"), help);
        } else if names.contains(&name) {
            r.warning(item.span, format!("`{name}` is named twice"), "leave one out");
        } else {
            names.push(name);
        }
    }
    Some(names)
}
