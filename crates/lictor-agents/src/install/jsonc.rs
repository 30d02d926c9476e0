//! JSON with comments as text: positions, and edits that leave every other byte unchanged.
//!
//! Not with the tree of `jsonc-parser`, which needs as much code in the binary: it splits a one-line object into
//! several lines when something is added, and does not restore it when that is removed.

use std::ops::Range;

use serde_json::Value;

use super::json::Json;

/// A settings file that is not JSON, with or without comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not valid JSON at line {line}, column {column}")]
pub struct NotJson {
    /// Counted from one.
    pub line: usize,
    /// Counted from one, in characters.
    pub column: usize,
}

/// Settings are never nested deeper than this.
const MAX_DEPTH: usize = 64;

#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Object(Body),
    Array(Body),
    Scalar,
}

/// The content between two brackets.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) children: Vec<Child>,
    /// End of the last thing before the closing bracket, comments included.
    content_end: usize,
}

#[derive(Debug)]
pub(super) struct Child {
    /// Empty in arrays.
    pub(super) key: String,
    /// The start of the child: its key, if it has one.
    start: usize,
    pub(super) node: Node,
    /// End of the thing before it: bracket, comma or comment.
    before: usize,
    /// The position of the comma after it.
    comma: Option<usize>,
}

impl Body {
    /// Nothing between the brackets, not even a comment.
    pub(super) fn is_bare(&self, node: &Node) -> bool {
        self.children.is_empty() && self.content_end == node.span.start + 1
    }
}

impl Node {
    pub(super) fn body(&self) -> Option<&Body> {
        match &self.kind {
            Kind::Object(body) | Kind::Array(body) => Some(body),
            Kind::Scalar => None,
        }
    }

    pub(super) fn children(&self) -> &[Child] {
        self.body().map(|body| body.children.as_slice()).unwrap_or_default()
    }

    pub(super) fn member(&self, key: &str) -> Option<&Self> {
        match &self.kind {
            // Of repeated keys the last one counts, as it does for the agents.
            Kind::Object(body) => {
                body.children.iter().rev().find(|child| child.key == key).map(|child| &child.node)
            }
            _ => None,
        }
    }

    /// The node at the end of that path of keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.member(key))
    }

    /// The value without comments and positions.
    pub(super) fn value(&self, text: &str) -> Value {
        match &self.kind {
            Kind::Object(body) => {
                Value::Object(body.children.iter().map(|c| (c.key.clone(), c.node.value(text))).collect())
            }
            Kind::Array(body) => Value::Array(body.children.iter().map(|c| c.node.value(text)).collect()),
            Kind::Scalar => text
                .get(self.span.clone())
                .and_then(|raw| serde_json::from_str(raw).ok())
                .unwrap_or(Value::Null),
        }
    }
}

/// Parses positions.
pub(super) fn parse(text: &str) -> Result<Node, NotJson> {
    let mut scanner = Scanner { text, at: 0, token_end: 0 };
    if text.starts_with('\u{feff}') {
        scanner.at = '\u{feff}'.len_utf8();
    }
    let node = scanner.skip().and_then(|()| scanner.value(0)).and_then(|node| {
        scanner.skip()?;
        scanner.peek().is_none().then_some(node)
    });
    node.ok_or_else(|| {
        let read = text.get(..scanner.at).unwrap_or(text);
        let line = read.rsplit('\n').next().unwrap_or_default();
        NotJson { line: read.matches('\n').count() + 1, column: line.chars().count() + 1 }
    })
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// End of the last token or comment that was read.
    token_end: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| {
            self.at += 1;
            self.token_end = self.at;
        })
    }

    /// White space and comments.
    fn skip(&mut self) -> Option<()> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += blank;
            let rest = self.rest();
            let comment = if rest.starts_with("//") {
                rest.find('\n')
                    .map_or(rest.len(), |end| rest.get(..end).unwrap_or(rest).trim_end_matches('\r').len())
            } else if rest.starts_with("/*") {
                rest.find("*/")? + 2
            } else {
                return Some(());
            };
            self.at += comment;
            self.token_end = self.at;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        let start = self.at;
        let kind = match self.peek()? {
            b'{' if depth < MAX_DEPTH => Kind::Object(self.body(b'}', depth)?),
            b'[' if depth < MAX_DEPTH => Kind::Array(self.body(b']', depth)?),
            b'"' => {
                self.string()?;
                Kind::Scalar
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
                let rest = self.rest();
                let raw = rest.len() - rest.trim_start_matches(word).len();
                serde_json::from_str::<Value>(rest.get(..raw)?).ok()?;
                self.at += raw;
                Kind::Scalar
            }
            _ => return None,
        };
        self.token_end = self.at;
        Some(Node { span: start..self.at, kind })
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.eat(b'"')?;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let string = serde_json::from_str(self.text.get(start..self.at)?).ok();
        if string.is_none() {
            self.at = start;
        }
        self.token_end = self.at;
        string
    }

    fn body(&mut self, close: u8, depth: usize) -> Option<Body> {
        self.at += 1;
        self.token_end = self.at;
        let mut body = Body::default();
        loop {
            self.skip()?;
            if self.peek()? == close {
                body.content_end = self.token_end;
                self.at += 1;
                return Some(body);
            }
            if body.children.last().is_some_and(|child| child.comma.is_none()) {
                return None;
            }
            let before = self.token_end;
            let start = self.at;
            let mut key = String::new();
            if close == b'}' {
                key = self.string()?;
                self.skip()?;
                self.eat(b':')?;
                self.skip()?;
            }
            let node = self.value(depth + 1)?;
            // A comma may come after a comment, but text after the comma belongs to the next child.
            self.skip()?;
            let comma = (self.peek()? == b',').then_some(self.at);
            if comma.is_some() {
                self.eat(b',')?;
            }
            body.children.push(Child { key, start, node, before, comma });
        }
    }
}

/// The text with one more child at the end of that object or array.
pub(super) fn append(text: &str, container: &Node, key: Option<&str>, child: &Json) -> String {
    let Some(body) = container.body() else { return text.to_owned() };
    let style = Style::of(text);
    let inside = text.get(container.span.clone()).unwrap_or_default();
    let label = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
    let last = body.children.last();
    if let Some(last) = last
        && !inside.contains('\n')
    {
        let child = format!("{label}{}", child.line());
        return match last.comma {
            Some(comma) => splice(text, comma + 1..comma + 1, &format!(" {child},")),
            None => splice(text, last.node.span.end..last.node.span.end, &format!(", {child}")),
        };
    }
    let indent = match body.children.first() {
        Some(first) => indent_at(text, first.start),
        None => format!("{}{}", indent_at(text, container.span.start), style.unit),
    };
    let mut piece =
        format!("{}{indent}{label}{}", style.newline, child.lines(&style.unit, &indent, style.newline));
    let tail = text.get(body.content_end..container.span.end).unwrap_or_default();
    match last {
        Some(Child { comma: Some(_), .. }) => piece.push(','),
        _ if !tail.contains('\n') => {
            piece.push_str(style.newline);
            piece.push_str(&indent_at(text, container.span.start));
        }
        _ => {}
    }
    let text = splice(text, body.content_end..body.content_end, &piece);
    match last {
        Some(Child { comma: None, node, .. }) => splice(&text, node.span.end..node.span.end, ","),
        _ => text,
    }
}

/// The text with another value in that place.
pub(super) fn replace(text: &str, node: &Node, value: &Json) -> String {
    let style = Style::of(text);
    let one_line = !text.get(node.span.clone()).unwrap_or_default().contains('\n');
    let indent = indent_at(text, node.span.start);
    let new = if one_line { value.line() } else { value.lines(&style.unit, &indent, style.newline) };
    splice(text, node.span.clone(), &new)
}

/// The text without that child: what [`append`] does, undone.
pub(super) fn remove(text: &str, container: &Node, index: usize) -> String {
    let Some(body) = container.body() else { return text.to_owned() };
    let Some(child) = body.children.get(index) else { return text.to_owned() };
    let end = child.comma.map_or(child.node.span.end, |comma| comma + 1);
    let text = splice(text, child.before..end, "");
    let previous = index.checked_sub(1).and_then(|previous| body.children.get(previous));
    match previous.and_then(|previous| previous.comma) {
        Some(comma) if child.comma.is_none() => splice(&text, comma..comma + 1, ""),
        _ => text,
    }
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    let mut out = text.to_owned();
    out.replace_range(range, new);
    out
}

struct Style {
    newline: &'static str,
    unit: String,
}

impl Style {
    fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = text.lines().skip(1).map(leading).find(|blank| !blank.is_empty()).unwrap_or("  ");
        Self { newline, unit: unit.to_owned() }
    }
}

fn leading(line: &str) -> &str {
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}

/// The white space at the beginning of the line that this place is on.
fn indent_at(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    leading(before.rsplit('\n').next().unwrap_or_default()).to_owned()
}
