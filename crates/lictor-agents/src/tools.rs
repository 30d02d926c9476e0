//! From an agent's tools to the kinds of action that policies speak of.

use lictor_core::ActionKind;
use serde_json::{Map, Value, json};

use crate::input::{Fields, Unreadable, missing};

/// A tool's name and what its input looks like.
pub(crate) type ToolRow = (&'static str, Shape);

/// What the input of a tool looks like, and so what the tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Runs a shell command.
    Shell,
    /// Runs a PowerShell command.
    PowerShell,
    /// Runs a command or opens a web socket.
    Monitor,
    /// Reads files.
    Read,
    /// Looks for names or contents below a directory.
    Search,
    /// Writes a whole file.
    Write,
    /// Changes parts of a file.
    Edit,
    /// Changes a cell of a notebook.
    Notebook,
    /// Fetches a page.
    Fetch,
    /// Searches the web.
    WebSearch,
    /// Starts another agent.
    Delegate,
    /// Keeps a list of things to do.
    Todo,
}

type Translated = (ActionKind, Map<String, Value>);

const PATH: &[&str] = &["file_path", "filePath", "path", "notebook_path"];
const COMMAND: &[&str] = &["command"];

/// The kind of action and its payload in Lictor's own words. A tool that is not in the table keeps its input as it
/// is; policy decides about tools that it does not know.
pub(crate) fn translate(table: &[ToolRow], tool: &str, input: Fields) -> Result<Translated, Unreadable> {
    if let Some((server, name)) = mcp_name(tool) {
        return Ok((ActionKind::Tool, object(json!({"server": server, "name": name, "input": input.0}))));
    }
    let Some((_, shape)) = table.iter().find(|(name, _)| *name == tool) else {
        return Ok((ActionKind::Tool, object(json!({"name": tool, "input": input.0}))));
    };
    match shape {
        Shape::Shell => shell(&input),
        Shape::PowerShell => {
            let (kind, mut payload) = shell(&input)?;
            payload.insert("shell".to_owned(), "powershell".into());
            Ok((kind, payload))
        }
        Shape::Monitor if input.has("command") => shell(&input),
        Shape::Monitor => Ok((ActionKind::Fetch, one("url", input.need_text(&["ws"])?))),
        Shape::Read => read(&input),
        Shape::Search => search(&input),
        Shape::Write => {
            let mut payload = one("path", input.need_text(PATH)?);
            put(&mut payload, "content", input.text(&["content"])?);
            Ok((ActionKind::Write, payload))
        }
        Shape::Edit => edit(&input),
        Shape::Notebook => notebook(&input),
        Shape::Fetch => {
            let mut payload = one("url", input.need_text(&["url"])?);
            put(&mut payload, "prompt", input.text(&["prompt"])?);
            Ok((ActionKind::Fetch, payload))
        }
        Shape::WebSearch => Ok((ActionKind::Fetch, one("query", input.need_text(&["query"])?))),
        Shape::Delegate => delegate(input),
        Shape::Todo => Ok((ActionKind::Tool, input.0)),
    }
}

/// `mcp__server__tool`. A server's name may hold single underscores only, a tool's name anything.
fn mcp_name(tool: &str) -> Option<(&str, &str)> {
    let (server, name) = tool.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !name.is_empty()).then_some((server, name))
}

fn shell(input: &Fields) -> Result<Translated, Unreadable> {
    let mut payload = one("command", input.need_text(COMMAND)?);
    put(&mut payload, "cwd", input.text(&["cwd"])?);
    keep(&mut payload, input, &["timeout", "run_in_background"]);
    Ok((ActionKind::Bash, payload))
}

fn read(input: &Fields) -> Result<Translated, Unreadable> {
    Ok((ActionKind::Read, one("path", input.need_text(PATH)?)))
}

/// A pattern that is absolute or climbs names places of its own.
fn search(input: &Fields) -> Result<Translated, Unreadable> {
    let path = input.text(&["path"])?.filter(|path| !path.is_empty()).unwrap_or(".");
    let mut payload = one("path", path);
    payload.insert("search".to_owned(), true.into());
    put(&mut payload, "pattern", input.text(&["pattern"])?);
    put(&mut payload, "glob", input.text(&["glob"])?);
    Ok((ActionKind::Read, payload))
}

fn edit(input: &Fields) -> Result<Translated, Unreadable> {
    let mut payload = one("path", input.need_text(PATH)?);
    if let Some((name, edits)) = input.get(&["edits"])? {
        let wrong = || Unreadable::WrongType(name, "a list of edits");
        let edits = edits.as_array().ok_or_else(wrong)?;
        let edits = edits.iter().map(|edit| {
            let edit = Fields(edit.as_object().ok_or_else(wrong)?.clone());
            let mut out = Map::new();
            old_and_new(&mut out, &edit)?;
            Ok(Value::Object(out))
        });
        payload.insert("edits".to_owned(), Value::Array(edits.collect::<Result<_, Unreadable>>()?));
    }
    old_and_new(&mut payload, input)?;
    Ok((ActionKind::Write, payload))
}

fn old_and_new(payload: &mut Map<String, Value>, input: &Fields) -> Result<(), Unreadable> {
    put(payload, "old", input.text(&["old_string", "oldString", "old_str"])?);
    put(payload, "new", input.text(&["new_string", "newString", "new_str"])?);
    Ok(())
}

fn notebook(input: &Fields) -> Result<Translated, Unreadable> {
    let mut payload = one("path", input.need_text(PATH)?);
    put(&mut payload, "content", input.text(&["new_source"])?);
    put(&mut payload, "cell", input.text(&["cell_id"])?);
    put(&mut payload, "cell_type", input.text(&["cell_type"])?);
    put(&mut payload, "edit_mode", input.text(&["edit_mode"])?);
    Ok((ActionKind::Write, payload))
}

fn delegate(input: Fields) -> Result<Translated, Unreadable> {
    let mut payload = Map::new();
    put(&mut payload, "agent", input.text(&["subagent_type"])?);
    payload.entry("agent").or_insert_with(|| "general".into());
    put(&mut payload, "prompt", input.text(&["prompt"])?);
    keep(&mut payload, &input, &["description", "model", "run_in_background"]);
    if !payload.contains_key("prompt") {
        return Err(missing(&["prompt"]));
    }
    Ok((ActionKind::Delegate, payload))
}

fn one(name: &str, value: &str) -> Map<String, Value> {
    object(json!({name: value}))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn put(payload: &mut Map<String, Value>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        payload.insert(name.to_owned(), value.into());
    }
}

/// Takes these over as they are: nothing is decided by them.
fn keep(payload: &mut Map<String, Value>, input: &Fields, names: &[&str]) {
    for name in names {
        if let Some(value) = input.0.get(*name).filter(|value| !value.is_null()) {
            payload.insert((*name).to_owned(), value.clone());
        }
    }
}
