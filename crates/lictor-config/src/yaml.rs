//! YAML as a tree with positions.
//!
//! A policy file is small and plain. Anchors, aliases, tags and several documents in one file are refused:
//! they add nothing to a policy and hide what it says. So are duplicate keys, where YAML readers disagree.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use crate::diagnostic::{Diagnostic, Span};

/// Larger policy files are refused unread.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;
const MAX_DEPTH: usize = 48;
const MAX_NODES: usize = 100_000;

/// A value with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    /// Its position in the file.
    pub span: Span,
    /// Its value.
    pub value: Yaml,
}

/// The three shapes of a YAML value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Yaml {
    /// A word, number, text or null.
    Scalar {
        /// The text after unquoting.
        text: String,
        /// Whether it was quoted or a block: then it is text, never a number, a boolean or null.
        quoted: bool,
    },
    /// A list.
    List(Vec<Tree>),
    /// A map in file order; keys are unique.
    Map(Vec<(Key, Tree)>),
}

/// A key of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// Its text.
    pub text: String,
    /// Its position in the file.
    pub span: Span,
}

impl Tree {
    /// The value under a key of a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(known, _)| known.text == key).map(|(_, tree)| tree)
    }

    /// The entries of a map; empty if it is not a map.
    pub(crate) fn entries(&self) -> &[(Key, Self)] {
        match &self.value {
            Yaml::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The value at the end of a path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |tree, key| tree.get(key))
    }

    /// The items of a list; one value alone is a list of one.
    pub(crate) fn items(&self) -> Vec<&Self> {
        match &self.value {
            Yaml::List(items) => items.iter().collect(),
            _ => vec![self],
        }
    }

    /// The text of a scalar.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.value {
            Yaml::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }
}

impl Key {
    /// The key as a value, for keys that are read like one.
    pub(crate) fn as_tree(&self) -> Tree {
        Tree { span: self.span, value: Yaml::Scalar { text: self.text.clone(), quoted: true } }
    }
}

/// Reads one file.
///
/// # Errors
/// All YAML errors. Parsing stops at a syntax error.
pub(crate) fn parse(file: &str, bytes: &[u8]) -> Result<Tree, Vec<Diagnostic>> {
    if bytes.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; a policy may have at most {MAX_BYTES}", bytes.len());
        return Err(vec![
            Diagnostic::error(file, Span::START, message)
                .help("keep data out of the policy; lists of paths can be globs"),
        ]);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = good.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = good.iter().rposition(|&byte| byte == b'\n').map_or(0, |index| index + 1);
        let column = String::from_utf8_lossy(good.get(start..).unwrap_or_default()).chars().count() + 1;
        vec![
            Diagnostic::error(file, Span::at(line, column), "the file is not valid UTF-8")
                .help("save it as UTF-8"),
        ]
    })?;
    parse_text(file, text).or_else(|problems| match keyed_patterns(text) {
        Some(text) => parse_text(file, &text).map_err(|_| problems),
        None => Err(problems),
    })
}

fn parse_text(file: &str, text: &str) -> Result<Tree, Vec<Diagnostic>> {
    let mut builder = Builder { file, text, problems: Vec::new(), nodes: 0 };
    let mut parser = Parser::new_from_str(text);
    let tree = builder.document(&mut parser);
    match tree {
        Some(tree) if builder.problems.is_empty() => Ok(tree),
        _ => Err(builder.problems),
    }
}

/// YAML parses `write_table(table: $t)` without quotes as a map. Returns the same text, with the same positions,
/// in which it is one word: `write_table(table :$t)`. Used only if the file is not valid YAML as written, and
/// only on lines without quotes, so that no quoted text is changed.
fn keyed_patterns(text: &str) -> Option<String> {
    let mut changed = false;
    let lines: Vec<Cow<'_, str>> = text
        .split_inclusive('\n')
        .map(|line| {
            if !line.contains(": $") || line.contains(['"', '\'', '#', '|', '>']) {
                return Cow::Borrowed(line);
            }
            changed = true;
            Cow::Owned(line.replace(": $", " :$"))
        })
        .collect();
    changed.then(|| lines.concat())
}

struct Builder<'a> {
    file: &'a str,
    text: &'a str,
    problems: Vec<Diagnostic>,
    nodes: usize,
}

/// A container that is being filled.
enum Open {
    List { span: Span, items: Vec<Tree> },
    Map { span: Span, entries: Vec<(Key, Tree)>, key: Option<Key> },
}

impl Builder<'_> {
    fn document<'i, I: saphyr_parser::Input>(&mut self, parser: &mut Parser<'i, I>) -> Option<Tree> {
        let mut stack: Vec<Open> = Vec::new();
        let mut root: Option<Tree> = None;
        while let Some(next) = parser.next_event() {
            let (event, span) = match next {
                Ok((event, span)) => (event, self.span(&span)),
                Err(error) => {
                    self.syntax(&error);
                    return None;
                }
            };
            self.nodes += 1;
            if self.nodes > MAX_NODES {
                self.refuse(
                    span,
                    "the file has too many values",
                    "a policy is a page or two; split data off",
                );
                return None;
            }
            let finished = match event {
                Event::Alias(_) => {
                    self.refuse(span, "aliases (`*name`) are not used in policies", "write the value out");
                    Some(Tree { span, value: Yaml::Scalar { text: String::new(), quoted: true } })
                }
                Event::Scalar(text, style, anchor, tag) => {
                    self.plain(span, anchor, tag.is_some());
                    let quoted = style != ScalarStyle::Plain;
                    Some(Tree { span, value: Yaml::Scalar { text: text.into_owned(), quoted } })
                }
                Event::SequenceStart(anchor, tag) => {
                    self.plain(span, anchor, tag.is_some());
                    stack.push(Open::List { span, items: Vec::new() });
                    None
                }
                Event::MappingStart(anchor, tag) => {
                    self.plain(span, anchor, tag.is_some());
                    stack.push(Open::Map { span, entries: Vec::new(), key: None });
                    None
                }
                Event::SequenceEnd | Event::MappingEnd => stack.pop().map(|open| close(open, span)),
                Event::DocumentStart(_) if root.is_some() => {
                    self.refuse(span, "the file holds more than one document", "keep one policy in one file");
                    return None;
                }
                _ => None,
            };
            if stack.len() > MAX_DEPTH {
                self.refuse(span, "values are nested too deeply", "a policy needs a handful of levels");
                return None;
            }
            if let Some(tree) = finished {
                match stack.last_mut() {
                    None => root = Some(tree),
                    Some(open) => self.add(open, tree),
                }
            }
        }
        // An empty file is an empty policy.
        root.or(Some(Tree { span: Span::START, value: Yaml::Map(Vec::new()) }))
    }

    fn add(&mut self, open: &mut Open, tree: Tree) {
        match open {
            Open::List { items, .. } => items.push(tree),
            Open::Map { entries, key, .. } => match key.take() {
                Some(key) => entries.push((key, tree)),
                None => {
                    let Yaml::Scalar { text, .. } = tree.value else {
                        self.refuse(tree.span, "a key must be a word", "write `key: value`");
                        *key = Some(Key { text: String::new(), span: tree.span });
                        return;
                    };
                    if let Some((first, _)) = entries.iter().find(|(known, _)| known.text == text) {
                        let help =
                            format!("it is already given in line {}; keep one of them", first.span.line);
                        self.refuse(tree.span, format!("duplicate key `{text}`"), help);
                    }
                    *key = Some(Key { text, span: tree.span });
                }
            },
        }
    }

    fn plain(&mut self, span: Span, anchor: usize, tagged: bool) {
        if anchor > 0 {
            self.refuse(
                Span::at(span.line, span.column),
                "anchors (`&name`) are not used in policies",
                "write the value where it is needed",
            );
        }
        if tagged {
            self.refuse(span, "tags (`!name`) are not used in policies", "leave the tag out");
        }
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Diagnostic::error(self.file, span, message).help(help));
    }

    fn syntax(&mut self, error: &ScanError) {
        let marker = error.marker();
        let span = Span::at(marker.line().max(1), marker.col() + 1);
        let info = error.info().trim_end_matches('.').to_lowercase();
        if info.contains("unknown anchor") {
            return self.refuse(span, "aliases (`*name`) are not used in policies", "write the value out");
        }
        if info.contains("unknown escape") {
            let span = bad_escape(self.text, span).unwrap_or(span);
            let help = "between double quotes a backslash begins an escape; use single quotes: 'rm\\s+-rf'";
            return self.refuse(span, "not valid YAML: this escape is not known", help);
        }
        if info.contains("comment intercepting") {
            let next = self.text.lines().nth(span.line).unwrap_or_default();
            let column = next.chars().take_while(|c| c.is_whitespace()).count() + 1;
            let message = "not valid YAML: this line is indented as if it went on with the value above";
            return self.refuse(Span::at(span.line + 1, column), message, "take the spaces before it away");
        }
        let flow = info.contains("flow") || info.contains("quoted");
        if flow
            && span.line > self.text.lines().count()
            && let Some((open, c)) = unclosed(self.text)
        {
            return self.refuse(open, format!("not valid YAML: this `{c}` is never closed"), "close it");
        }
        let help = if info.starts_with("tab") {
            "indent with spaces; YAML does not allow tabs"
        } else {
            "check indentation, quotes and brackets around this place"
        };
        self.refuse(span, format!("not valid YAML: {info}"), help);
    }

    fn span(&self, span: &saphyr_parser::Span) -> Span {
        Span {
            line: span.start.line().max(1),
            column: span.start.col() + 1,
            end_line: span.end.line().max(1),
            end_column: span.end.col() + 1,
        }
    }
}

/// The first invalid escape in a double-quoted text that begins at `from`.
fn bad_escape(text: &str, from: Span) -> Option<Span> {
    for (number, line) in text.lines().enumerate().skip(from.line.saturating_sub(1)) {
        let skipped = if number + 1 == from.line { from.column } else { 0 };
        let mut chars = line.chars().enumerate().skip(skipped);
        while let Some((column, c)) = chars.next() {
            if c == '\\' && !chars.next().is_none_or(|(_, c)| "0abt\tnvfre \"/\\N_LPxuU".contains(c)) {
                let start = column + 1;
                return Some(Span {
                    end_line: number + 1,
                    end_column: start + 2,
                    ..Span::at(number + 1, start)
                });
            }
        }
    }
    None
}

/// The last bracket or quote that is opened and never closed.
fn unclosed(text: &str) -> Option<(Span, char)> {
    let mut open: Vec<(Span, char)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut before = ' ';
        for (column, c) in line.chars().enumerate() {
            let quote = open.last().map(|(_, c)| *c).filter(|c| matches!(c, '"' | '\''));
            let begins = before.is_whitespace() || "[{,:".contains(before);
            match (quote, c) {
                (Some(quote), c) if quote == c && !(c == '"' && before == '\\') => drop(open.pop()),
                (Some(_), _) => {}
                (None, '#') if before.is_whitespace() => break,
                (None, '[' | '{') => open.push((Span::at(number + 1, column + 1), c)),
                (None, '"' | '\'') if begins => open.push((Span::at(number + 1, column + 1), c)),
                (None, ']' | '}') => drop(open.pop()),
                _ => {}
            }
            before = c;
        }
    }
    open.pop()
}

fn close(open: Open, end: Span) -> Tree {
    match open {
        Open::List { span, items } => Tree { span: join(span, end), value: Yaml::List(items) },
        Open::Map { span, entries, .. } => Tree { span: join(span, end), value: Yaml::Map(entries) },
    }
}

fn join(start: Span, end: Span) -> Span {
    Span { end_line: end.end_line, end_column: end.end_column, ..start }
}

#[cfg(test)]
mod tests;
