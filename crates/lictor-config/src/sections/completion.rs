//! `completion:`.

use lictor_core::Audience;
use lictor_core::completion::{Check, CommandCheck, FileCheck, MAX_ROUNDS, PATIENCE};
use lictor_core::level::Level;
use serde::{Deserialize, Serialize};

use super::section::Section;
use super::{audience, command};
use crate::reader::Reader;
use crate::table::{Key, PATHS, Shape, Table};
use crate::yaml::{Tree, Yaml};

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "completion",
        Shape::OneOf(&[Shape::Fields(&TABLE), Shape::List(&Shape::Fields(&TABLE))]),
        "{all: [{files: [report.md]}]}",
        "What must hold before the agent may stop. A list has several, each `for` somebody.",
    )],
    read: |r, file, said| {
        if let Some(tree) = file.get("completion") {
            (said.completion, said.scoped_completions) = audience::each(r, tree, "`completion`", read);
        }
    },
    guards: &[],
};

/// Deeper requirements are refused.
const MAX_DEPTH: usize = 8;
/// The names of levels.
pub(crate) const LEVELS: [(&str, Level); 4] =
    [("LOW", Level::Low), ("MEDIUM", Level::Medium), ("HIGH", Level::High), ("CRITICAL", Level::Critical)];
/// Keys that are allowed only at the top of the section.
const TOP: [&str; 4] = ["max_rounds", "patience", "subagents", "for"];
const DEFAULT_TIMEOUT: u64 = 600_000;

static FINDINGS: Table = Table {
    name: "completion.findings",
    about: "Open findings in the ledger.",
    keys: &[Key::new(
        "below",
        Shape::Word(&["LOW", "MEDIUM", "HIGH", "CRITICAL"]),
        "HIGH",
        "No open finding is at this level or above.",
    )
    .required()],
};

pub(crate) static TABLE: Table = Table {
    name: "completion",
    about: "What must hold before the agent may stop: one requirement, or several below `all` or `any`.",
    keys: &[
        Key::new("all", Shape::List(&Shape::Fields(&TABLE)), "[{files: [report.md]}]", "Every one of these."),
        Key::new("any", Shape::List(&Shape::Fields(&TABLE)), "[{files: [report.md]}]", "One of these."),
        Key::new("files", PATHS, "[report.md]", "These files exist and are not empty. Globs are fine."),
        Key::new("changed", PATHS, "[CHANGELOG.md]", "These files were changed in this session."),
        Key::new(
            "command",
            Shape::Argv,
            "[cargo, test, -q]",
            "This program ends with exit code 0. The result counts for the tree it ran on.",
        ),
        Key::new("timeout", Shape::Duration, "5m", "How long the program may take. 10m when it is not said."),
        Key::new(
            "remember",
            Shape::Bool,
            "false",
            "Whether that the program passed counts for the tree it ran on. `false` for a program that judges what the \
             agent said, which is on its standard input. `true` when it is not said.",
        ),
        command::READS,
        Key::new("findings", Shape::Fields(&FINDINGS), "{below: HIGH}", "The ledger is clean enough."),
        Key::new(
            "todos",
            Shape::Word(&["done"]),
            "done",
            "The agent's own list of things to do is empty, where it shows one.",
        ),
        audience::FOR,
        Key::new(
            "max_rounds",
            Shape::Integer,
            "6",
            "How often the agent is sent back before it is let go, with that on record. 6 when it is not said. Only at \
             the top.",
        ),
        Key::new(
            "patience",
            Shape::Integer,
            "3",
            "How often the agent is sent back for the very same shortfall. 3 when it is not said. Only at the top.",
        ),
        Key::new(
            "subagents",
            Shape::Fields(&TABLE),
            "{todos: done}",
            "What must hold before a subagent may stop. They stop freely when it is not said. Only at the top.",
        ),
    ],
};

/// What must hold before the agent may stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The check.
    pub requires: Check,
    /// What must hold before a subagent may stop.
    pub subagents: Option<Check>,
    /// How often the agent is sent back.
    pub max_rounds: u32,
    /// How often for the same shortfall.
    pub patience: u32,
}

impl Completion {
    /// The programs it runs.
    pub(crate) fn commands(&self) -> Vec<&CommandCheck> {
        std::iter::once(&self.requires).chain(&self.subagents).flat_map(Check::commands).collect()
    }
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<(Audience, Completion)> {
    let f = r.fields(tree, &TABLE)?;
    let audience = audience::of(r, &f);
    if let Some(place) = f.get("for").filter(|_| !audience.task.is_empty()) {
        r.error(place.span, "an agent stops in a session, not in a task", "leave out `task`");
    }
    for key in ["max_rounds", "patience", "subagents"] {
        if let Some(place) = f.get(key).filter(|_| !audience.is_everybody()) {
            r.error(place.span, format!("`{key}` is for everybody"), "put it where there is no `for`");
        }
    }
    let mut rounds = |key: &str, otherwise: u32| {
        let number = r.field(&f, key, Reader::integer);
        if let Some(place) = f.get(key).filter(|_| number == Some(0)) {
            r.error(place.span, format!("with `{key}: 0` the agent is never sent back"), "use 1 or more");
        }
        number.map_or(otherwise, |number| u32::try_from(number).unwrap_or(u32::MAX))
    };
    let (max_rounds, patience) = (rounds("max_rounds", MAX_ROUNDS), rounds("patience", PATIENCE));
    let subagents = f.get("subagents").and_then(|tree| requirement(r, tree, 1));
    let requires = requirement(r, tree, 0)?;
    Some((audience, Completion { requires, subagents, max_rounds, patience }))
}

fn requirement(r: &mut Reader<'_>, tree: &Tree, depth: usize) -> Option<Check> {
    if depth > MAX_DEPTH {
        r.error(tree.span, format!("requirements are more than {MAX_DEPTH} levels deep"), "flatten them");
        return None;
    }
    let f = if depth == 0 { r.names(tree, "completion")? } else { r.fields(tree, &TABLE)? };
    for (key, place) in TOP.iter().filter_map(|key| Some((key, f.get(key)?))).filter(|_| depth > 0) {
        r.error(place.span, format!("`{key}` stands at the top of `completion`"), "move it there");
    }
    let kinds = ["all", "any", "files", "changed", "command", "findings", "todos"];
    let mut given: Vec<&str> = kinds.into_iter().filter(|kind| f.get(kind).is_some()).collect();
    let (Some(kind), None) = (given.pop(), given.pop()) else {
        // An unknown key has been reported already.
        let known = f.iter().all(|(key, _)| TABLE.key(&key.text).is_some());
        let several = kinds.iter().any(|kind| f.get(kind).is_some());
        let (message, help) = match (several, known) {
            (true, _) => ("several requirements side by side", "put them below `all` or `any`"),
            (false, true) => ("nothing is required", "add `files`, `command` or `findings`"),
            (false, false) => return None,
        };
        r.error(f.span, message, help);
        return None;
    };
    for key in ["timeout", "remember", "reads"] {
        if let Some(place) = f.get(key).filter(|_| kind != "command") {
            r.error(place.span, format!("only a `command` has a `{key}`"), "leave it out");
        }
    }
    let inner = f.get(kind)?;
    match kind {
        "all" | "any" => {
            let Yaml::List(items) = &inner.value else {
                r.error(inner.span, format!("`{kind}` takes a list of requirements"), "");
                return None;
            };
            if items.is_empty() {
                let message =
                    if kind == "all" { "nothing is required" } else { "nothing could ever be enough" };
                r.error(inner.span, message, "add a requirement, or leave it out");
                return None;
            }
            let parts: Vec<Check> = items.iter().filter_map(|item| requirement(r, item, depth + 1)).collect();
            Some(if kind == "all" { Check::All(parts) } else { Check::Any(parts) })
        }
        "files" => listed(r, inner, "`completion.files`", false),
        "changed" => listed(r, inner, "`completion.changed`", true),
        "command" => {
            let timeout = r.field(&f, "timeout", Reader::duration).unwrap_or(DEFAULT_TIMEOUT);
            let argv = command::argv(r, inner, "`completion.command`")?;
            let remember = r.field(&f, "remember", Reader::boolean).unwrap_or(true);
            let reads = command::reads(r, &f);
            Some(Check::Command(CommandCheck { argv, timeout, remember, reads }))
        }
        "findings" => {
            let f = r.fields(inner, &FINDINGS)?;
            let below = r.field(&f, "below", |r, tree, what| r.choice(tree, what, &LEVELS))?;
            Some(Check::Findings { below })
        }
        _ => {
            r.choice(inner, "`completion.todos`", &[("done", ())])?;
            Some(Check::Todos)
        }
    }
}

fn listed(r: &mut Reader<'_>, tree: &Tree, what: &str, changed: bool) -> Option<Check> {
    let files = r.paths(tree, what)?;
    if files.is_empty() {
        r.error(tree.span, format!("{what} names no files"), "name at least one, or leave it out");
        return None;
    }
    Some(Check::Files(files.into_iter().map(|path| FileCheck { changed, ..FileCheck::new(path) }).collect()))
}
