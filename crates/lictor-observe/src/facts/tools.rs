//! External tools of an agent. Those that look like a file system are judged like one.

use std::borrow::Cow;

use lictor_core::Action;
use lictor_core::facts::{Access, Effect, Facts, OpaqueWhat};
use serde_json::{Map, Value};

use super::{arguments, described, files, git_tools, opaque};
use crate::place::Looker;

/// The access that a word in a tool's name indicates. The first match counts; worse ones come first.
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
/// Names of fields with the source of a copy or move.
const SOURCES: [&str; 5] = ["source", "src", "from", "old_path", "source_path"];
/// Names of fields with the destination.
const DESTINATIONS: [&str; 9] = [
    "destination",
    "dest",
    "to",
    "new_path",
    "destination_path",
    "target",
    "dst",
    "output_path",
    "outputPath",
];
/// Names of fields with a shell command.
const COMMANDS: [&str; 4] = ["command", "cmd", "shell_command", "script"];

pub(super) fn tool(action: &Action, looker: &Looker<'_>, facts: &mut Facts) {
    let (server, name) = split_name(&action.tool, action.kind.as_str());
    if let Some(line) = git_tools::line(action, server, name) {
        looker.add(facts, lictor_shell::read(&line, looker));
    }
    let words = words(name);
    let access =
        VERBS.iter().find(|(verb, _)| words.iter().any(|word| word == verb)).map(|(_, access)| *access);
    let reads =
        matches!(access, Some(Access::Read | Access::List)) && !words.iter().any(|word| word == "copy");
    if described::tool(action, server, name, looker, facts) {
        // A description names the fields it knows; a file in another field still counts, and governing files are
        // searched in all of them.
        if let Some(access) = access.filter(|_| facts.files().next().is_none()) {
            for path in file_operands(action) {
                looker.add_place(facts, looker.path(&path, access, false), access, false, None);
            }
        }
        if !reads {
            governing(action, looker, facts);
        }
        return;
    }
    if !facts.effects.iter().any(|effect| matches!(effect, Effect::Tool { .. })) {
        facts.effects.push(Effect::Tool {
            server: server.map(str::to_owned),
            name: name.to_owned(),
            described: None,
            definition: None,
        });
    }
    let runs = words.iter().any(|word| {
        matches!(word.as_str(), "run" | "exec" | "execute" | "shell" | "bash" | "terminal" | "command")
    });
    let command = command_line(action).filter(|_| runs);
    if let Some(command) = &command {
        looker.add(facts, lictor_shell::read(command, looker));
    }
    arguments::judge(action, &words, command.as_deref(), looker, facts);
    if words.iter().any(|word| UNPACKING.contains(&word.as_str())) {
        unpacked(action, looker, facts);
    }
    let directory =
        words.iter().any(|word| matches!(word.as_str(), "directory" | "dir" | "folder" | "mkdir"));
    for path in file_operands(action) {
        let access = match access {
            Some(Access::Write) if directory => Access::MakeDirectory,
            Some(access) => access,
            // A tool with a path and an unknown verb: treated as a change.
            None if words.iter().any(|word| word == "mkdir") => Access::MakeDirectory,
            None => {
                facts.opaque.push(opaque(OpaqueWhat::Tool, &action.tool));
                Access::Read
            }
        };
        let recursive = access == Access::Delete && directory;
        looker.add_place(facts, looker.path(&path, access, recursive), access, recursive, None);
    }
    if !reads {
        governing(action, looker, facts);
    }
    for source in SOURCES.iter().filter_map(|field| action.text(field)).filter(|path| is_path(path)) {
        let access = access.filter(|access| *access == Access::MoveAway).unwrap_or(Access::Read);
        looker.add_place(facts, looker.path(source, access, false), access, false, None);
    }
    for target in DESTINATIONS.iter().filter_map(|field| action.text(field)).filter(|path| is_path(path)) {
        looker.add_place(facts, looker.path(target, Access::Write, false), Access::Write, false, None);
    }
}

/// Words of names of tools that unpack archives.
const UNPACKING: [&str; 8] =
    ["unzip", "untar", "unpack", "extract", "decompress", "uncompress", "expand", "inflate"];

/// The command of a tool: a text, a list of words, or a program with its words in another field.
pub(super) fn command_line(action: &Action) -> Option<String> {
    const PROGRAMS: [&str; 3] = ["program", "executable", "binary"];
    let text = COMMANDS.iter().find_map(|field| action.text(field)).map(str::to_owned);
    let program = || PROGRAMS.iter().find_map(|field| action.text(field)).map(|program| quoted(&[program]));
    let line =
        text.or_else(|| COMMANDS.iter().find_map(|field| words_in(&action.payload, field))).or_else(program);
    match (line, arguments_in(&action.payload)) {
        (Some(line), Some(rest)) => Some(format!("{line} {rest}")),
        (line, rest) => line.or(rest),
    }
}

/// The words in a field beside a command.
pub(super) fn arguments_in(fields: &Map<String, Value>) -> Option<String> {
    ["args", "arguments", "argv"].iter().find_map(|field| words_in(fields, field))
}

fn words_in(fields: &Map<String, Value>, field: &str) -> Option<String> {
    let list: Vec<&str> = fields.get(field)?.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(quoted(&list))
}

/// Words as a shell takes each for one. Plain ones stay as they are.
pub(super) fn quoted(words: &[&str]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word.chars().all(|letter| letter.is_alphanumeric() || "-_./=:,@%+~".contains(letter))
    };
    let one = |word: &&str| match plain(word) {
        true => (*word).to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// An archive with files that would govern where it is unpacked.
fn unpacked(action: &Action, looker: &Looker<'_>, facts: &mut Facts) {
    let fields = local_texts(action);
    let holds = fields.iter().any(|(_, archive)| {
        let path = looker.path(archive, Access::Read, false).path;
        let into = fields.iter().map(|(_, directory)| lictor_shell::Cwd::Known(directory.clone()));
        into.chain([lictor_shell::Cwd::Start]).any(|cwd| looker.unpacks_what_governs(&cwd, &path))
    });
    if holds {
        facts.opaque.push(opaque(OpaqueWhat::Target, &action.tool));
    }
}

/// The paths of a tool's input, at any depth: fields that always contain one, and `file:` URLs.
fn file_operands(action: &Action) -> Vec<String> {
    let named = |name: &str, text: &str| files::is_path_field(name) || is_file_address(text);
    let mut paths: Vec<String> = Vec::new();
    for (_, text) in all_texts(action).into_iter().filter(|(name, text)| named(name, text)) {
        let path = local_path(&text);
        if !path.is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// The texts of a tool's input as they are written, each with the name of its field.
fn all_texts(action: &Action) -> Vec<(&str, String)> {
    let mut fields = Vec::new();
    for (name, value) in &action.payload {
        texts(name, value, 0, &mut fields);
    }
    fields
}

/// The same, with the paths of `file:` addresses in their place.
fn local_texts(action: &Action) -> Vec<(&str, String)> {
    all_texts(action).into_iter().map(|(name, text)| (name, local_path(&text))).collect()
}

/// Names of fields with the base directory of other fields.
const BASES: [&str; 11] = [
    "root",
    "dir",
    "directory",
    "folder",
    "base",
    "base_path",
    "basePath",
    "base_dir",
    "cwd",
    "workdir",
    "parent",
];
/// Names of fields with text, not a path.
const TEXTS: [&str; 14] = [
    "content",
    "contents",
    "text",
    "body",
    "old_string",
    "new_string",
    "code",
    "prompt",
    "message",
    "query",
    "description",
    "pattern",
    "title",
    "data",
];

/// The maximum depth of a tool's input that is analysed.
const DEEPEST: usize = 6;
/// The maximum number of texts of one input that are analysed.
const MOST_TEXTS: usize = 512;

/// The texts of a field and its descendants, each with the name of the nearest field; including names that are
/// paths, JSON inside a text, and files in a patch.
fn texts<'a>(name: &'a str, value: &'a Value, depth: usize, into: &mut Vec<(&'a str, String)>) {
    if depth > DEEPEST || into.len() >= MOST_TEXTS {
        return;
    }
    match value {
        Value::String(text) if text.contains("\n+++ ") => {
            let files = lictor_shell::patch::read_diff(text, 1).unwrap_or_default();
            into.extend(files.into_iter().take(MOST_TEXTS).map(|file| (name, file.path)));
        }
        Value::String(_) if TEXTS.contains(&name) => {}
        Value::String(text) => match json_in(text) {
            Some(inner) => {
                let mut found = Vec::new();
                texts(name, &inner, depth + 1, &mut found);
                into.extend(found.into_iter().map(|(inner, text)| (path_name(inner, name), text)));
            }
            None => into.push((name, text.clone())),
        },
        Value::Array(values) => values.iter().for_each(|value| texts(name, value, depth + 1, into)),
        Value::Object(fields) => {
            for (inner, value) in fields {
                // `{"edits": {"a/b.txt": "…"}}`
                if is_path(inner) || inner.contains('.') {
                    into.push((name, inner.clone()));
                }
                texts(inner, value, depth + 1, into);
            }
        }
        _ => {}
    }
}

/// The name of a field in JSON that is written into a text, if it indicates that the field contains a path.
fn path_name<'a>(inner: &str, around: &'a str) -> &'a str {
    if files::is_path_field(inner) { "path" } else { around }
}

/// JSON that is written into a text; `[id]/page.tsx` is none.
pub(super) fn json_in(text: &str) -> Option<Value> {
    let inner: Value = text.starts_with(['{', '[']).then(|| serde_json::from_str(text).ok())??;
    (inner.is_array() || inner.is_object()).then_some(inner)
}

/// Whatever its name: a field that names a governing file, alone or below another field's directory, counts as a
/// change of it.
fn governing(action: &Action, looker: &Looker<'_>, facts: &mut Facts) {
    let mut fields = local_texts(action);
    fields.retain(|(_, value)| !value.is_empty() && value.len() < 4096 && !value.contains("://"));
    let (bases, rest): (Vec<_>, Vec<_>) = fields.iter().partition(|(name, _)| BASES.contains(name));
    let is_source = |name: &str| SOURCES.contains(&name);
    let mut candidates: Vec<String> = Vec::new();
    for (name, value) in rest.iter().filter(|(name, _)| !is_source(name)) {
        candidates.push(value.clone());
        // As it is written on another system.
        if value.contains('\\') {
            candidates.push(value.replace('\\', "/"));
        }
        if !value.starts_with(['/', '~']) {
            candidates.extend(bases.iter().map(|(_, base)| format!("{base}/{value}")));
        }
        // A file that is copied into a directory keeps its name.
        if DESTINATIONS.contains(name) || name.starts_with("dst") {
            for (_, source) in rest.iter().filter(|(name, _)| is_source(name)) {
                let file = source.rsplit('/').next().unwrap_or_default();
                candidates.push(format!("{}/{file}", value.trim_end_matches('/')));
            }
        }
    }
    for path in candidates {
        let place = looker.path(&path, Access::Write, false);
        let known = facts.files().any(|(access, other)| !access.is_read_only() && other.path == place.path);
        if place.own && !known {
            looker.add_place(facts, place, Access::Write, false, None);
        }
    }
}

/// An address as a browser takes it: without blanks and control characters around it, without tabs and ends of lines in
/// it, and without what makes it show the same thing in another way.
fn plain_address(text: &str) -> Cow<'_, str> {
    const AROUND: [&str; 8] =
        ["view-source:", "blob:", "filesystem:", "jar:", "url:", "feed:", "wyciwyg:", "netdoc:"];
    let around =
        |letter: char| letter <= ' ' || letter.is_whitespace() || letter.is_control() || letter == '\u{feff}';
    let mut rest = text.trim_matches(around);
    let broken = |letter: char| matches!(letter, '\t' | '\n' | '\r');
    let joined: String;
    if rest.contains(broken) {
        joined = rest.replace(broken, "");
        return Cow::Owned(plain_address(&joined).into_owned());
    }
    while let Some(inner) = AROUND.iter().find_map(|around| {
        let start = rest.get(..around.len()).filter(|start| start.eq_ignore_ascii_case(around))?;
        rest.get(start.len()..)
    }) {
        rest = inner.trim_start_matches(around);
    }
    Cow::Borrowed(rest)
}

pub(super) fn is_file_address(text: &str) -> bool {
    plain_address(text).get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// The path of a `file:` address, without host and escapes; anything else as it is.
pub(super) fn local_path(text: &str) -> String {
    if !is_file_address(text) {
        return text.to_owned();
    }
    let plain = plain_address(text);
    let rest = plain.get(5..).unwrap_or_default();
    let path = match rest.strip_prefix("//") {
        // The host, if any, is this machine.
        Some(rest) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default(),
        None => rest,
    };
    // `jar:file:x.jar!/inside`
    let path = path.split(['?', '#']).next().unwrap_or_default().split("!/").next().unwrap_or_default();
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let escaped = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *byte == b'%') {
            Some(value) => {
                bytes.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a text could be a path rather than, for example, an e-mail address or a branch.
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
pub(super) fn words(name: &str) -> Vec<String> {
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
