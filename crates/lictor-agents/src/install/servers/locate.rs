//! Locates the command of each server in a file's text, and inserts words before it without changing anything
//! else.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, Item};

use crate::install::jsonc::{self, Kind, Node, NotJson};

/// A file of servers that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotReadable {
    /// As JSON.
    #[error(transparent)]
    Json(#[from] NotJson),
    /// As TOML.
    #[error("not valid TOML: {0}")]
    Toml(String),
}

/// A server in a file's text.
pub(super) struct Located {
    pub(super) name: String,
    pub(super) value: Value,
    /// The range of the program; `None` if the command is a list.
    program: Option<Range<usize>>,
    /// The list of its arguments.
    list: Option<List>,
    /// The text between the program and a list that is added after it.
    joint: String,
}

struct List {
    span: Range<usize>,
    items: Vec<Range<usize>>,
}

/// Servers in JSON.
pub(super) fn json(text: &str, places: &[Vec<String>]) -> Result<Vec<Located>, NotReadable> {
    let root = jsonc::parse(text)?;
    let mut found = Vec::new();
    for place in places {
        let keys: Vec<&str> = place.iter().map(String::as_str).collect();
        let servers = root.at(&keys).map(Node::children).unwrap_or_default();
        let objects = servers.iter().filter(|child| matches!(child.node.kind, Kind::Object(_)));
        found.extend(objects.map(|child| located_json(text, &child.key, &child.node)));
    }
    Ok(found)
}

fn located_json(text: &str, name: &str, server: &Node) -> Located {
    let list = |node: &Node| List {
        span: node.span.clone(),
        items: node.children().iter().map(|child| child.node.span.clone()).collect(),
    };
    let is_list = |node: &&Node| matches!(node.kind, Kind::Array(_));
    let command = server.member("command");
    let own = command.filter(is_list);
    Located {
        name: name.to_owned(),
        value: server.value(text),
        program: command.filter(|node| !is_list(node)).map(|node| node.span.clone()),
        list: own.or_else(|| server.member("args").filter(is_list)).map(list),
        joint: ", \"args\": ".to_owned(),
    }
}

/// Servers in TOML.
pub(super) fn toml(text: &str, places: &[Vec<String>]) -> Result<Vec<Located>, NotReadable> {
    let document = Document::parse(text).map_err(|error| NotReadable::Toml(error.message().to_owned()))?;
    let mut found = Vec::new();
    for place in places {
        let servers = place.iter().try_fold(document.as_item(), |item, key| item.get(key.as_str()));
        let tables = servers.and_then(Item::as_table_like).into_iter().flat_map(|servers| servers.iter());
        found.extend(
            tables
                .filter(|(_, item)| item.is_table_like())
                .map(|(name, item)| located_toml(text, name, item)),
        );
    }
    Ok(found)
}

fn located_toml(text: &str, name: &str, server: &Item) -> Located {
    let args = server.get("args").and_then(Item::as_array);
    let list = args.and_then(|array| {
        Some(List {
            span: array.span()?,
            items: array.iter().map(|item| item.span()).collect::<Option<_>>()?,
        })
    });
    let program = server.get("command").filter(|item| item.is_str()).and_then(Item::span);
    let joint = program.as_ref().map(|program| toml_joint(text, program.start)).unwrap_or_default();
    Located { name: name.to_owned(), value: as_json(server), program, list, joint }
}

/// A key beside `command` is spelled as that one: on a line of its own with the same tables before it, or in the same braces.
fn toml_joint(text: &str, program: usize) -> String {
    let line = text.get(..program).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
    let key = line.rfind("command").and_then(|at| line.get(..at)).unwrap_or_default();
    let key = key.trim_end_matches(['"', '\'']);
    match key.rfind(['{', ',']).and_then(|at| key.get(at + 1..)) {
        Some(key) => format!(", {}args = ", key.trim_start()),
        None => format!("\n{key}args = "),
    }
}

/// Texts, lists and tables; nothing else counts in a server.
fn as_json(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let fields: Map<String, Value> =
            table.iter().map(|(key, item)| (key.to_owned(), as_json(item))).collect();
        return Value::Object(fields);
    }
    if let Some(array) = item.as_array() {
        return array.iter().map(|item| item.as_str().map_or(Value::Null, Value::from)).collect();
    }
    item.as_str().map_or(Value::Null, Value::from)
}

fn quoted(words: &[String]) -> String {
    // A text in JSON is one in TOML too.
    let words: Vec<String> = words.iter().map(|word| Value::from(word.as_str()).to_string()).collect();
    words.join(", ")
}

/// The text with these words before the server's own. The server's own text is not changed.
pub(super) fn insert(text: &str, located: &Located, words: &[String]) -> Option<String> {
    let mut text = text.to_owned();
    let Some(program) = &located.program else {
        let list = located.list.as_ref()?;
        text.insert_str(list.span.start + 1, &format!("{}, ", quoted(words)));
        return Some(text);
    };
    let (lictor, rest) = words.split_first()?;
    let own = text.get(program.clone())?.to_owned();
    let before = format!("{}, {own}", quoted(rest));
    let program_before_list = located.list.as_ref().is_none_or(|list| program.start < list.span.start);
    let replace_program =
        |text: &mut String| text.replace_range(program.clone(), &Value::from(lictor.as_str()).to_string());
    if !program_before_list {
        replace_program(&mut text);
    }
    match &located.list {
        // A space distinguishes an added list from an existing empty one.
        Some(list) if list.items.is_empty() => text.insert_str(list.span.start + 1, &format!(" {before}")),
        Some(list) => text.insert_str(list.span.start + 1, &format!("{before}, ")),
        None => text.insert_str(program.end, &format!("{}[{before}]", located.joint)),
    }
    if program_before_list {
        replace_program(&mut text);
    }
    Some(text)
}

/// The text without the first words of the server's command.
pub(super) fn remove(text: &str, located: &Located, words: usize) -> Option<String> {
    let mut text = text.to_owned();
    let list = located.list.as_ref()?;
    let start = list.span.start + 1;
    let Some(program) = &located.program else {
        // The words and `--`, then what is the server's.
        text.replace_range(start..end_of(&text, list, words)?, "");
        return Some(text);
    };
    // The first word is the program; `--` comes between.
    let own = list.items.get(words)?;
    let spelled = text.get(own.clone())?.to_owned();
    let (cut, instead) = match list.items.get(words + 1) {
        Some(_) => (start..end_of(&text, list, words)?, ""),
        None if text.get(start..).is_some_and(|inside| inside.starts_with(' ')) => (start..own.end, ""),
        None if text.get(program.end..list.span.start) == Some(located.joint.as_str()) => {
            (program.end..list.span.end, "")
        }
        None => (list.span.clone(), "[]"),
    };
    let (first, second) = if program.start < cut.start {
        ((cut, instead), (program.clone(), spelled.as_str()))
    } else {
        ((program.clone(), spelled.as_str()), (cut, instead))
    };
    // Later text is changed first, so that earlier positions stay valid.
    text.replace_range(first.0, first.1);
    text.replace_range(second.0, second.1);
    Some(text)
}

/// Where the words up to the item of that number end, with what was put between them and the next item.
fn end_of(text: &str, list: &List, number: usize) -> Option<usize> {
    let end = list.items.get(number)?.end;
    let next = list.items.get(number + 1)?.start;
    Some(if text.get(end..).is_some_and(|rest| rest.starts_with(", ")) { end + 2 } else { next })
}
