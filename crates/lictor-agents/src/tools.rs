//! Maps an agent's tools to the action kinds of policies.

use lictor_core::ActionKind;
use serde_json::{Map, Value, json};

use crate::input::{Fields, Unreadable, missing};

mod command;
mod files;

/// A tool's name and the format of its input.
pub(crate) type ToolRow = (&'static str, Shape);

/// The format of a tool's input, which determines its effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Runs a shell command given as text.
    Shell,
    /// Runs a shell command given as text or as a list of words.
    Argv,
    /// Runs a PowerShell command.
    PowerShell,
    /// Runs a command or opens a web socket.
    Monitor,
    /// Reads one file.
    Read,
    /// Reads the files of a list.
    ReadMany,
    /// Reads a directory: lists it, or searches its files.
    Search,
    /// Finds files by a pattern of names.
    Glob,
    /// Writes a whole file.
    Write,
    /// Changes parts of a file.
    Edit,
    /// Changes the files of a list.
    WriteMany,
    /// Applies a patch.
    Patch,
    /// Removes a file.
    Delete,
    /// Changes a cell of a notebook.
    Notebook,
    /// Fetches pages.
    Fetch,
    /// Searches the web.
    WebSearch,
    /// Starts another agent.
    Delegate,
    /// Keeps a list of things to do.
    Todo,
}

impl Shape {
    /// Whether the tool runs or changes something.
    fn acts(self) -> bool {
        !matches!(
            self,
            Self::Read
                | Self::ReadMany
                | Self::Search
                | Self::Glob
                | Self::Fetch
                | Self::WebSearch
                | Self::Delegate
                | Self::Todo
        )
    }
}

pub(crate) type Payload = Map<String, Value>;
pub(crate) type Translated = (ActionKind, Payload);

/// A tool as the agent names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a str,
    /// The server, for a tool that is known to come from one.
    pub(crate) server: Option<&'a str>,
}

impl<'a> Tool<'a> {
    /// A tool of the agent itself, or of a server, as in its name: `mcp__server__tool`.
    pub(crate) fn named(name: &'a str) -> Self {
        match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                Self { name: tool, server: Some(server) }
            }
            _ => Self { name, server: None },
        }
    }

    /// One spelling for a server's tool in all agents, so that one policy applies to all.
    pub(crate) fn full_name(&self) -> String {
        match self.server {
            Some(server) => format!("mcp__{server}__{}", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// The kind of action and its payload in Lictor's own words. A tool that is not in the table keeps its input as it
/// is; policy decides about tools that it does not know.
pub(crate) fn translate(table: &[ToolRow], tool: Tool<'_>, input: Fields) -> Result<Translated, Unreadable> {
    let known = table.iter().find(|(name, _)| tool.server.is_none() && *name == tool.name);
    let Some((_, shape)) = known else { return Ok((ActionKind::Tool, input.0)) };
    let other = if shape.acts() { unnamed(&input) } else { Payload::new() };
    let (kind, mut payload) = translate_as(*shape, input)?;
    if !other.is_empty() {
        payload.insert("other".to_owned(), Value::Object(other));
    }
    Ok((kind, payload))
}

/// Input fields beyond those of the action kind: an unknown flag may be relevant, so it is part of what is
/// judged, shown and approved. Fields that only describe the call are not.
///
/// Where an agent sends the call inside of the event itself, the event's own fields are not told from the call's.
fn unnamed(input: &Fields) -> Payload {
    if input.has("hook_event_name") {
        return Payload::new();
    }
    let fields = input.0.iter().filter(|(_, value)| !value.is_null());
    let other = fields.filter(|(name, _)| !NAMED.contains(&name.as_str()));
    other.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The names that translations take something from, and those that only describe a call.
const NAMED: &[&str] = &[
    "command",
    "cmd",
    "CommandLine",
    "command_line",
    "cwd",
    "Cwd",
    "workdir",
    "dir_path",
    "working_directory",
    "working_dir",
    "run_in_background",
    "is_background",
    "isBackground",
    "timeout",
    "timeout_secs",
    "path",
    "file_path",
    "filePath",
    "filepath",
    "absolute_path",
    "target_notebook",
    "file",
    "files",
    "paths",
    "include",
    "TargetFile",
    "AbsolutePath",
    "target_file",
    "notebook_path",
    "notebookPath",
    "content",
    "contents",
    "file_text",
    "CodeContent",
    "code",
    "old_string",
    "oldString",
    "old_str",
    "TargetContent",
    "new_string",
    "newString",
    "new_str",
    "ReplacementContent",
    "patch",
    "patchText",
    "patch_text",
    "input",
    "replacements",
    "edits",
    "ReplacementChunks",
    "replace_all",
    "replaceAll",
    "diff",
    "new_source",
    "newCode",
    "cell_id",
    "cellId",
    "cell_type",
    "edit_mode",
    "editType",
    "url",
    "Url",
    "uri",
    "urls",
    "prompt",
    "ws",
    "description",
    "explanation",
    "instruction",
    "title",
    "sessionID",
    "messageID",
    "callID",
];

fn translate_as(shape: Shape, input: Fields) -> Result<Translated, Unreadable> {
    match shape {
        Shape::Shell => command::shell(&input),
        Shape::Argv => command::argv(&input),
        Shape::PowerShell => command::powershell(&input),
        Shape::Monitor if input.has("command") => command::shell(&input),
        Shape::Monitor => Ok((ActionKind::Fetch, one("url", input.need_text(&["ws"])?))),
        Shape::Read => files::read(&input),
        Shape::ReadMany => files::read_many(&input),
        Shape::Search => files::search(&input),
        Shape::Glob => files::glob(&input),
        Shape::Write => files::write(&input),
        Shape::Edit => files::edit(&input),
        Shape::WriteMany => files::write_many(&input),
        Shape::Patch => files::patch(&input),
        Shape::Delete => files::delete(&input),
        Shape::Notebook => files::notebook(&input),
        Shape::Fetch => fetch(&input),
        Shape::WebSearch => Ok((ActionKind::Fetch, one("query", input.need_text(QUERY)?))),
        Shape::Delegate => delegate(input),
        Shape::Todo => Ok((ActionKind::Tool, todo(input))),
    }
}

const QUERY: &[&str] = &["query", "q", "search_term"];
const URL: &[&str] = &["url", "Url", "uri"];

/// Some tools take addresses in words: every address in the prompt will be fetched.
fn fetch(input: &Fields) -> Result<Translated, Unreadable> {
    let prompt = input.text(&["prompt"])?;
    let mut urls: Vec<String> = input.texts(&["urls"])?.unwrap_or_default();
    urls.extend(input.text(URL)?.map(str::to_owned));
    if urls.is_empty() {
        urls = addresses(prompt.ok_or_else(|| missing(URL))?);
    }
    let mut payload = Payload::new();
    put(&mut payload, "url", urls.first().map(String::as_str));
    if urls.len() > 1 {
        payload.insert("urls".to_owned(), urls.into());
    }
    put(&mut payload, "prompt", prompt);
    Ok((ActionKind::Fetch, payload))
}

fn addresses(prompt: &str) -> Vec<String> {
    let edge = |c: char| matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | '"' | '\'' | '`' | ',' | ';');
    prompt
        .split(|c: char| c.is_whitespace() || edge(c))
        .filter(|word| word.contains("://"))
        .map(|word| word.trim_end_matches(['.', '!', '?']).to_owned())
        .collect()
}

/// An agent that is started without a name is the agent's own general one.
fn delegate(input: Fields) -> Result<Translated, Unreadable> {
    let mut payload = Payload::new();
    let mut agent = None;
    for name in ["subagent_type", "agent_name", "agentName", "agent_type", "agent", "name"] {
        agent = agent.or(input.text(&[name])?);
    }
    put(&mut payload, "agent", Some(agent.unwrap_or("general")));
    let prompt = input.text(&["prompt", "message", "task", "objective", "instructions"])?;
    put(&mut payload, "prompt", prompt);
    keep(&mut payload, &input, &["description", "model", "run_in_background"]);
    if prompt.is_none() {
        payload.insert("input".to_owned(), Value::Object(input.0));
    }
    Ok((ActionKind::Delegate, payload))
}

fn todo(mut input: Fields) -> Payload {
    for other in ["plan", "todoList", "items"] {
        if !input.0.contains_key("todos")
            && let Some(list) = input.0.remove(other)
        {
            input.0.insert("todos".to_owned(), list);
        }
    }
    input.0
}

/// Whether a path does not depend on the directory: absolute on Unix or Windows, or in a home directory.
pub(crate) fn is_rooted(path: &str) -> bool {
    path.starts_with(['/', '\\', '~']) || path.chars().nth(1) == Some(':')
}

fn one(name: &str, value: &str) -> Payload {
    object(json!({name: value}))
}

fn object(value: Value) -> Payload {
    match value {
        Value::Object(map) => map,
        _ => Payload::new(),
    }
}

fn put(payload: &mut Payload, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        payload.insert(name.to_owned(), value.into());
    }
}

/// Takes these over as they are: nothing is decided by them.
fn keep(payload: &mut Payload, input: &Fields, names: &[&str]) {
    for name in names {
        if let Some(value) = input.0.get(*name).filter(|value| !value.is_null()) {
            payload.insert((*name).to_owned(), value.clone());
        }
    }
}
