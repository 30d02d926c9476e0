//! Parses shell text into a tree.
//!
//! A hand-written, single-pass parser of the bash grammar. It never gives up: a syntax error is noted in
//! [`Parsed::fault`] and parsing continues after it, so that visible danger is still found. It never recurses
//! deeper than [`MAX_DEPTH`]; deeper text is noted and the rest is not parsed.

mod assignment;
mod compound;
mod dollar;
mod heredoc;
mod redirect;
mod word;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use crate::ast::{Function, Item, Joint, Node, Pipeline, Script, Simple, Word};
use heredoc::Pending;

/// How deep constructs may nest.
pub(crate) const MAX_DEPTH: u32 = 64;
/// Most chains of commands that are read of a text.
const MOST_COMMANDS: usize = 4_096;

/// A syntax error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Not valid shell, noticed at this byte.
    pub syntax: Option<usize>,
    /// The first fault that is more than a missing or stray part of a construct (`do x`, `for f in *`, `a &&`):
    /// no shell runs anything after such a part that is not parsed here, but zsh accepts much else that bash
    /// refuses.
    pub strange: Option<usize>,
    /// A quote or list that starts here never ends.
    pub unclosed: Option<usize>,
    /// Nested too deep.
    pub depth: bool,
    /// More commands than are read: what follows them was left.
    pub length: bool,
}

#[derive(Debug)]
pub(crate) struct Parsed {
    pub script: Script,
    pub fault: Fault,
    /// Bytes read, for the test that parsing is linear.
    #[cfg(test)]
    pub steps: u64,
}

/// Whether a word at the start of a command belongs to the grammar.
pub(crate) fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "if" | "then"
            | "elif"
            | "else"
            | "fi"
            | "for"
            | "select"
            | "while"
            | "until"
            | "do"
            | "done"
            | "case"
            | "esac"
            | "function"
            | "coproc"
            | "time"
            | "{"
            | "}"
            | "!"
            | "[["
    )
}

/// Reads a text. `depth` is how deep the text itself is nested in what is being read.
pub(crate) fn parse(text: &str, depth: u32) -> Parsed {
    let mut parser = Parser::new(text, depth);
    let script = parser.whole();
    Parsed {
        script,
        fault: parser.fault,
        #[cfg(test)]
        steps: parser.steps,
    }
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    /// How many `$(…)` enclose the place: a here-document's delimiter may then be followed by `)`.
    substitutions: u32,
    pending: Vec<Pending>,
    fault: Fault,
    /// Names assigned so far: loops keep the part that falls into their body.
    assigned: Vec<String>,
    /// Directory changes so far.
    moves: u32,
    /// The closing position of each `(`; computed lazily.
    closing: Vec<usize>,
    steps: u64,
    /// Commands so far.
    commands: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, depth: u32) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            depth,
            substitutions: 0,
            pending: Vec::new(),
            fault: Fault::default(),
            assigned: Vec::new(),
            moves: 0,
            closing: Vec::new(),
            steps: 0,
            commands: 0,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn looking_at(&self, text: &str) -> bool {
        self.rest().starts_with(text.as_bytes())
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn wrong(&mut self) {
        self.fault.syntax.get_or_insert(self.at);
        self.fault.strange.get_or_insert(self.at);
    }

    /// Something must follow: an error, but if the text ends here everything was parsed.
    fn expected_more(&mut self) {
        if self.at_end() {
            self.fault.syntax.get_or_insert(self.at);
        } else {
            self.wrong();
        }
    }

    fn unclosed(&mut self, from: usize) {
        self.wrong();
        self.fault.unclosed.get_or_insert(from);
    }

    /// Runs `read` one level deeper, or leaves the rest unread.
    fn deeper<T: Default>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            self.fault.depth = true;
            self.at = self.bytes.len();
            return T::default();
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Skips blanks, line continuations and a comment.
    fn blanks(&mut self) {
        while let Some(byte) = self.peek() {
            self.steps += 1;
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\r' if self.peek_at(1) == Some(b'\n') => self.at += 1,
                b'\\' if self.peek_at(1) == Some(b'\n') => self.at += 2,
                b'\\' if self.looking_at("\\\r\n") => self.at += 3,
                b'#' => match memchr::memchr(b'\n', self.rest()) {
                    Some(length) => self.at += length,
                    None => self.at = self.bytes.len(),
                },
                _ => break,
            }
        }
    }

    /// Skips a newline together with the here-documents that start behind it.
    fn newline(&mut self) -> bool {
        if self.peek() != Some(b'\n') {
            return false;
        }
        self.at += 1;
        self.steps += 1;
        if !self.pending.is_empty() {
            self.here_documents();
        }
        true
    }

    fn blank_lines(&mut self) {
        self.blanks();
        while self.newline() {
            self.blanks();
        }
    }

    /// The whole text: like a list, but what would end a list is out of place and skipped.
    fn whole(&mut self) -> Script {
        let mut script = Script::default();
        loop {
            let mut part = self.list();
            if script.items.is_empty() {
                script = part;
            } else {
                script.items.append(&mut part.items);
            }
            if self.at_end() {
                break;
            }
            if self.reserved().is_some() || self.looking_at(";;") {
                // The end of a construct whose start is not here.
                self.fault.syntax.get_or_insert(self.at);
            } else {
                self.wrong();
            }
            self.skip_token();
        }
        if !self.pending.is_empty() {
            self.here_documents();
        }
        script
    }

    /// Goes past something out of place.
    fn skip_token(&mut self) {
        let arm = [";;&", ";;", ";&"].into_iter().find(|end| self.looking_at(end));
        self.at += self.reserved().or(arm).map_or_else(|| self.character(), str::len);
    }

    /// Length of the character here.
    fn character(&self) -> usize {
        let Some(first) = self.peek() else { return 1 };
        match first {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        }
    }

    /// A list of chains, up to the end of the text, a closing `)`, `;;` or a reserved word that closes.
    fn list(&mut self) -> Script {
        let mut items = Vec::new();
        loop {
            self.blank_lines();
            if self.at_end() || self.list_ends() {
                break;
            }
            let before = self.at;
            let mut item = self.item();
            self.blanks();
            match self.peek() {
                Some(b'&') if self.peek_at(1) != Some(b'&') => {
                    self.at += 1;
                    item.background = true;
                }
                Some(b';') if !matches!(self.peek_at(1), Some(b';' | b'&')) => self.at += 1,
                Some(b'\n') => {
                    self.newline();
                }
                None => {}
                Some(_) if self.list_ends() => {}
                Some(_) => {
                    self.wrong();
                    if self.at == before {
                        self.at += self.character();
                    }
                }
            }
            items.push(item);
            self.commands += 1;
            if self.commands > MOST_COMMANDS {
                self.fault.length = true;
                self.at = self.bytes.len();
            }
        }
        Script { items }
    }

    fn list_ends(&self) -> bool {
        match self.peek() {
            Some(b')') => true,
            Some(b';') => matches!(self.peek_at(1), Some(b';' | b'&')),
            _ => matches!(
                self.reserved(),
                Some("then" | "do" | "done" | "fi" | "elif" | "else" | "esac" | "}")
            ),
        }
    }

    /// The reserved word at this position, if there is one.
    fn reserved(&self) -> Option<&'a str> {
        let rest = self.rest();
        match rest.first()? {
            b'a'..=b'z' | b'{' | b'}' | b'!' | b'[' => {}
            _ => return None,
        }
        let length = rest
            .iter()
            .take(9)
            .position(|byte| {
                matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
            })
            .unwrap_or(rest.len().min(9));
        let word = self.slice(self.at, self.at + length);
        is_reserved(word).then_some(word)
    }

    fn eat_reserved(&mut self, word: &str) -> bool {
        let found = self.reserved() == Some(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Reads a reserved word that has to come here.
    fn expect_reserved(&mut self, word: &str) -> bool {
        self.blank_lines();
        let found = self.eat_reserved(word);
        if !found {
            self.expected_more();
        }
        found
    }

    fn item(&mut self) -> Item {
        let first = self.pipeline();
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let joint = if self.eat("&&") {
                Joint::And
            } else if self.eat("||") {
                Joint::Or
            } else {
                break;
            };
            self.blank_lines();
            if self.at_end() || self.list_ends() {
                self.expected_more();
                break;
            }
            rest.push((joint, self.pipeline()));
        }
        Item { first, rest, background: false }
    }

    fn pipeline(&mut self) -> Pipeline {
        let mut negated = false;
        loop {
            self.blanks();
            if self.eat_reserved("!") {
                negated = !negated;
            } else if self.reserved() == Some("time") {
                self.at += "time".len();
                self.blanks();
                if self.looking_at("-p") && matches!(self.peek_at(2), None | Some(b' ' | b'\t' | b'\n')) {
                    self.at += 2;
                }
            } else {
                break;
            }
        }
        let mut stages = vec![self.command()];
        loop {
            self.blanks();
            if self.peek() != Some(b'|') || self.peek_at(1) == Some(b'|') {
                break;
            }
            self.at += 1;
            if self.peek() == Some(b'&') {
                self.at += 1;
            }
            self.blank_lines();
            if self.at_end() || self.list_ends() {
                self.expected_more();
                break;
            }
            stages.push(self.command());
        }
        Pipeline { negated, stages }
    }

    fn command(&mut self) -> Node {
        self.blanks();
        if let Some(compound) = self.compound() {
            return compound;
        }
        self.simple()
    }

    fn simple(&mut self) -> Node {
        let mut simple = Simple::default();
        let start = self.at;
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect() {
                simple.redirects.push(redirect);
                continue;
            }
            if !self.word_starts() {
                break;
            }
            if simple.words.is_empty()
                && let Some(assignment) = self.assignment()
            {
                self.assigned.push(assignment.name.clone());
                simple.assignments.push(assignment);
                continue;
            }
            let declares =
                simple.words.first().and_then(Word::bare).is_some_and(crate::builtins::is_declaration);
            if declares && let Some(word) = self.declared_array() {
                simple.assignments.push(word);
                continue;
            }
            let word = self.word();
            if simple.words.is_empty()
                && simple.assignments.is_empty()
                && simple.redirects.is_empty()
                && let Some(function) = self.function_after(&word)
            {
                return function;
            }
            simple.words.push(word);
        }
        if self.at == start {
            self.wrong();
        }
        self.note_changes(&simple);
        Node::Simple(simple)
    }

    /// `name ()` and the body, when `word` turns out to be the name of a function.
    fn function_after(&mut self, word: &Word) -> Option<Node> {
        if self.peek() != Some(b'(') && !matches!(self.peek(), Some(b' ' | b'\t')) {
            return None;
        }
        let before = self.at;
        self.blanks();
        let name = word.literal();
        if !self.eat("(") {
            self.at = before;
            return None;
        }
        self.blanks();
        let Some(name) = name.filter(|_| self.peek() == Some(b')')) else {
            self.at = before;
            return None;
        };
        self.at += 1;
        Some(self.function_body(name.to_owned()))
    }

    fn function_body(&mut self, name: String) -> Node {
        self.blank_lines();
        let body = self.compound();
        if body.is_none() {
            self.wrong();
        }
        let body = body.unwrap_or_else(|| Node::Simple(Simple::default()));
        Node::Function(Rc::new(Function { name, body }))
    }
}

/// The variable name that a text starts with; empty when it starts with none.
pub(crate) fn name_prefix(text: &str) -> &str {
    let bytes = text.as_bytes();
    if !matches!(bytes.first(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_')) {
        return "";
    }
    let length =
        bytes.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(bytes.len());
    text.get(..length).unwrap_or_default()
}
