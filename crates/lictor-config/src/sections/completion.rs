//! `completion:`.

use serde::{Deserialize, Serialize};

use super::command::{self, Command};
use crate::reader::Reader;
use crate::table::{Key, PATHS, Shape, Table};
use crate::yaml::{Tree, Yaml};

/// Deeper requirements are refused.
const MAX_DEPTH: usize = 8;
/// Rounds after which an agent that makes no progress is let go, below the agents' own caps.
const DEFAULT_ROUNDS: u64 = 6;
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
        Key::new("findings", Shape::Fields(&FINDINGS), "{below: HIGH}", "The ledger is clean enough."),
        Key::new(
            "todos",
            Shape::Word(&["done"]),
            "done",
            "The agent's own list of things to do is empty, where it shows one.",
        ),
        Key::new(
            "max_rounds",
            Shape::Integer,
            "6",
            "How often the agent is sent back before it is let go, with that on record. 6 when it is not said. Only at \
             the top.",
        ),
    ],
};

/// What must hold before the agent may stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// What.
    pub requires: Requirement,
    /// How often the agent is sent back.
    pub max_rounds: u64,
}

/// One requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Requirement {
    /// Every one of these.
    All(Vec<Requirement>),
    /// One of these.
    Any(Vec<Requirement>),
    /// Files that exist and are not empty.
    Files(Vec<String>),
    /// Files that were changed in this session.
    Changed(Vec<String>),
    /// A program that ends with exit code 0.
    Command(Command),
    /// No open finding at this level or above.
    FindingsBelow(String),
    /// The agent's list of things to do is empty.
    TodosDone,
}

impl Requirement {
    /// The programs it runs.
    pub(crate) fn commands(&self) -> Vec<&Command> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::commands).collect(),
            Self::Command(command) => vec![command],
            _ => Vec::new(),
        }
    }
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<Completion> {
    let f = r.fields(tree, &TABLE)?;
    let max_rounds = r.field(&f, "max_rounds", Reader::integer);
    if let Some(place) = f.get("max_rounds").filter(|_| max_rounds == Some(0)) {
        r.error(place.span, "with 0 rounds the agent is never sent back", "use 1 or more");
    }
    let requires = requirement(r, tree, 0)?;
    Some(Completion { requires, max_rounds: max_rounds.unwrap_or(DEFAULT_ROUNDS) })
}

fn requirement(r: &mut Reader<'_>, tree: &Tree, depth: usize) -> Option<Requirement> {
    if depth > MAX_DEPTH {
        r.error(tree.span, format!("requirements are more than {MAX_DEPTH} levels deep"), "flatten them");
        return None;
    }
    let f = if depth == 0 { r.names(tree, "completion")? } else { r.fields(tree, &TABLE)? };
    if let Some(place) = f.get("max_rounds").filter(|_| depth > 0) {
        r.error(place.span, "`max_rounds` stands at the top of `completion`", "move it there");
    }
    let kinds = ["all", "any", "files", "changed", "command", "findings", "todos"];
    let mut given: Vec<&str> = kinds.into_iter().filter(|kind| f.get(kind).is_some()).collect();
    let (Some(kind), None) = (given.pop(), given.pop()) else {
        let (message, help) = if f.iter().next().is_none()
            || f.get("max_rounds").is_some() && kinds.iter().all(|kind| f.get(kind).is_none())
        {
            ("nothing is required", "add `files`, `command` or `findings`")
        } else if kinds.iter().all(|kind| f.get(kind).is_none()) {
            return None;
        } else {
            ("several requirements side by side", "put them below `all` or `any`")
        };
        r.error(f.span, message, help);
        return None;
    };
    if let Some(place) = f.get("timeout").filter(|_| kind != "command") {
        r.error(place.span, "only a `command` has a timeout", "leave it out");
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
            let parts: Vec<Requirement> =
                items.iter().filter_map(|item| requirement(r, item, depth + 1)).collect();
            Some(if kind == "all" { Requirement::All(parts) } else { Requirement::Any(parts) })
        }
        "files" => listed(r, inner, "`completion.files`").map(Requirement::Files),
        "changed" => listed(r, inner, "`completion.changed`").map(Requirement::Changed),
        "command" => {
            let timeout = r.field(&f, "timeout", Reader::duration).unwrap_or(DEFAULT_TIMEOUT);
            let argv = command::argv(r, inner, "`completion.command`")?;
            Some(Requirement::Command(Command { argv, timeout }))
        }
        "findings" => {
            let f = r.fields(inner, &FINDINGS)?;
            let levels = [("LOW", "LOW"), ("MEDIUM", "MEDIUM"), ("HIGH", "HIGH"), ("CRITICAL", "CRITICAL")];
            let below = r.field(&f, "below", |r, tree, what| r.choice(tree, what, &levels))?;
            Some(Requirement::FindingsBelow(below.to_owned()))
        }
        _ => {
            r.choice(inner, "`completion.todos`", &[("done", ())])?;
            Some(Requirement::TodosDone)
        }
    }
}

fn listed(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<Vec<String>> {
    let files = r.paths(tree, what)?;
    if files.is_empty() {
        r.error(tree.span, format!("{what} names no files"), "name at least one, or leave it out");
        return None;
    }
    Some(files)
}
