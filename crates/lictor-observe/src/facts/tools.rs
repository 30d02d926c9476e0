//! Tools that an agent gets from elsewhere. Those that look like a file system are judged like one.

use lictor_core::Action;
use lictor_core::facts::{Access, Effect, Facts, OpaqueWhat};
use serde_json::Value;

use super::{described, files, opaque};
use crate::place::Looker;

/// What a word of a tool's name says it does with a path. The first that fits counts; worse deeds come first.
const VERBS: [(&str, Access); 26] = [
    ("delete", Access::Delete),
    ("remove", Access::Delete),
    ("rm", Access::Delete),
    ("unlink", Access::Delete),
    ("trash", Access::Delete),
    ("move", Access::MoveAway),
    ("rename", Access::MoveAway),
    ("mv", Access::MoveAway),
    ("edit", Access::Modify),
    ("patch", Access::Modify),
    ("replace", Access::Modify),
    ("insert", Access::Modify),
    ("update", Access::Modify),
    ("append", Access::Append),
    ("write", Access::Write),
    ("create", Access::Write),
    ("save", Access::Write),
    ("put", Access::Write),
    ("copy", Access::Read),
    ("read", Access::Read),
    ("get", Access::Read),
    ("open", Access::Read),
    ("cat", Access::Read),
    ("view", Access::Read),
    ("list", Access::List),
    ("search", Access::List),
];
/// Names of fields that hold the source of a copy or move.
const SOURCES: [&str; 5] = ["source", "src", "from", "old_path", "source_path"];
/// Names of fields that hold where it goes.
const DESTINATIONS: [&str; 6] = ["destination", "dest", "to", "new_path", "destination_path", "target"];
/// Names of fields that hold a shell command.
const COMMANDS: [&str; 4] = ["command", "cmd", "shell_command", "script"];

pub(super) fn tool(action: &Action, looker: &Looker<'_>, facts: &mut Facts) {
    let (server, name) = split_name(&action.tool, action.kind.as_str());
    if described::tool(action, server, name, looker, facts) {
        return;
    }
    facts.effects.push(Effect::Tool {
        server: server.map(str::to_owned),
        name: name.to_owned(),
        described: None,
    });
    let words = words(name);
    let runs = words.iter().any(|word| {
        matches!(word.as_str(), "run" | "exec" | "execute" | "shell" | "bash" | "terminal" | "command")
    });
    if runs && let Some(command) = COMMANDS.iter().find_map(|field| action.text(field)) {
        looker.add(facts, lictor_shell::read(command, looker));
    }
    let access =
        VERBS.iter().find(|(verb, _)| words.iter().any(|word| word == verb)).map(|(_, access)| *access);
    let directory =
        words.iter().any(|word| matches!(word.as_str(), "directory" | "dir" | "folder" | "mkdir"));
    for path in file_operands(action) {
        let access = match access {
            Some(Access::Write) if directory => Access::MakeDirectory,
            Some(access) => access,
            // A tool with a path whose name does not say what it does with it: as bad as a change.
            None if words.iter().any(|word| word == "mkdir") => Access::MakeDirectory,
            None => {
                facts.opaque.push(opaque(OpaqueWhat::Tool, &action.tool));
                Access::Read
            }
        };
        let recursive = access == Access::Delete && directory;
        looker.add_place(facts, looker.path(path, access, recursive), access, recursive, None);
    }
    for source in SOURCES.iter().filter_map(|field| action.text(field)).filter(|path| is_path(path)) {
        let access = access.filter(|access| *access == Access::MoveAway).unwrap_or(Access::Read);
        looker.add_place(facts, looker.path(source, access, false), access, false, None);
    }
    for target in DESTINATIONS.iter().filter_map(|field| action.text(field)).filter(|path| is_path(path)) {
        looker.add_place(facts, looker.path(target, Access::Write, false), Access::Write, false, None);
    }
}

/// The paths of a tool's input: fields that always hold one, and `file:` addresses.
fn file_operands(action: &Action) -> Vec<&str> {
    let mut paths = files::paths(action);
    let uri = action.text("uri").or_else(|| action.text("url")).and_then(|uri| uri.strip_prefix("file://"));
    paths.extend(uri);
    let nested = action.payload.get("edits").and_then(Value::as_array).into_iter().flatten();
    paths.extend(nested.filter_map(|edit| edit.get("path")?.as_str()));
    paths
}

/// Whether a text could be a path rather than, say, an e-mail address or a branch.
fn is_path(text: &str) -> bool {
    text.starts_with(['/', '~', '.']) || text.contains('/') && !text.contains("://")
}

/// Server and tool of `mcp__server__tool`; other names have no server.
fn split_name<'a>(tool: &'a str, kind: &'a str) -> (Option<&'a str>, &'a str) {
    let tool = if tool.is_empty() { kind } else { tool };
    match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, name)) => (Some(server), name),
        None => (None, tool),
    }
}

/// The words of a name in snake, kebab or camel case, lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for char in name.chars() {
        if !char.is_alphanumeric() || char.is_uppercase() && lower {
            words.push(String::new());
        }
        lower = char.is_lowercase();
        if char.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(char.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
