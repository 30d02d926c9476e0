//! `for:`: to whom a rule applies.

use lictor_core::Audience;

use crate::reader::{Fields, Reader};
use crate::table::{Key, Shape, TEXTS, Table};
use crate::yaml::{Tree, Yaml};

pub(crate) static TABLE: Table = Table {
    name: "for",
    about: "For whom it is: each part that is given has to fit, names may be globs. What is counted for a rule is counted \
            for those it is for.",
    keys: &[
        Key::new("agent", TEXTS, "[claude-code]", "Agent programs, as `lictor agents` lists them."),
        Key::new("subagent", TEXTS, "[explorer]", "Kinds of subagents, in the agent's words."),
        Key::new(
            "prompt",
            TEXTS,
            "[deploy]",
            "Names of prompts: of the agent's command (`/deploy`), or as a program names them.",
        ),
        Key::new("task", TEXTS, "[deploy]", "Types of tasks."),
    ],
};

pub(crate) const FOR: Key = Key::new(
    "for",
    Shape::Fields(&TABLE),
    "{agent: [claude-code]}",
    "For whom it is. For all when it is not said.",
);

/// The `for` of a map; everybody if absent.
pub(crate) fn of(r: &mut Reader<'_>, f: &Fields<'_>) -> Audience {
    let Some(f) = f.get("for").and_then(|tree| r.fields(tree, &TABLE)) else { return Audience::default() };
    Audience {
        agent: r.field(&f, "agent", Reader::texts).unwrap_or_default(),
        subagent: r.field(&f, "subagent", Reader::texts).unwrap_or_default(),
        prompt: r.field(&f, "prompt", Reader::texts).unwrap_or_default(),
        task: r.field(&f, "task", Reader::texts).unwrap_or_default(),
    }
}

/// A section that may occur once, or as a list: at most one entry may apply to all.
pub(crate) fn each<T>(
    r: &mut Reader<'_>,
    tree: &Tree,
    what: &str,
    mut read: impl FnMut(&mut Reader<'_>, &Tree) -> Option<(Audience, T)>,
) -> (Option<T>, Vec<(Audience, T)>) {
    let one;
    let items = match &tree.value {
        Yaml::List(items) => items.as_slice(),
        _ => {
            one = [tree.clone()];
            &one
        }
    };
    let (mut all, mut scoped) = (None, Vec::new());
    for item in items {
        match read(r, item) {
            Some((audience, value)) if !audience.is_everybody() => scoped.push((audience, value)),
            Some((_, value)) if all.is_none() => all = Some(value),
            Some(_) => r.error(
                item.span,
                format!("{what} stands twice for everybody"),
                "say for whom one of them is: `for: {agent: […]}`",
            ),
            None => {}
        }
    }
    (all, scoped)
}
