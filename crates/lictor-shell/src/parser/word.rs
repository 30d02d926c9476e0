//! Words and their parts.

use std::rc::Rc;

use super::Parser;
use crate::ast::{Part, Word};
use crate::state::GAP;

/// Longest text kept of a word as it was written.
const WRITTEN: usize = 120;

/// Where parts are read, which decides what ends them and which characters are live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// `"…"`: up to the closing quote.
    DoubleQuotes,
    /// The body of an unquoted here-document: up to the end of the text.
    HereDocument,
    /// Behind `$((` or `((`: up to `))`.
    Arithmetic,
    /// Behind `$[`, or a subscript: up to `]`.
    Brackets,
    /// The word of `${x:-word}`: up to `}`; `quoted` when the expansion is in double quotes.
    Braces { quoted: bool },
    /// The pattern of `${x/pattern/with}`: up to `/` or `}`.
    Pattern { quoted: bool },
    /// The offset of `${x:offset:length}`: up to `:` or `}`.
    Offset,
}

/// Collects parts, joining neighbouring text.
#[derive(Default)]
pub(super) struct Parts {
    list: Vec<Part>,
}

impl Parts {
    fn literal(&mut self, text: &str) {
        if let Some(Part::Literal(last)) = self.list.last_mut() {
            last.push_str(text);
        } else if !text.is_empty() {
            self.make_room();
            self.list.push(Part::Literal(text.to_owned()));
        }
    }

    fn quoted(&mut self, text: &str) {
        if let Some(Part::Quoted(last)) = self.list.last_mut() {
            last.push_str(text);
        } else {
            self.make_room();
            self.list.push(Part::Quoted(text.to_owned()));
        }
    }

    /// Most words have one part.
    fn make_room(&mut self) {
        if self.list.is_empty() {
            self.list.reserve_exact(1);
        }
    }

    pub(super) fn push(&mut self, part: Part) {
        match part {
            Part::Literal(text) => self.literal(&text),
            part => self.list.push(part),
        }
    }
}

impl Parser<'_> {
    /// Whether a word starts here.
    pub(super) fn word_starts(&self) -> bool {
        match self.peek() {
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')') => false,
            Some(b'<' | b'>') => self.peek_at(1) == Some(b'('),
            Some(b'\r') => self.peek_at(1) != Some(b'\n'),
            Some(_) => true,
        }
    }

    pub(super) fn word(&mut self) -> Word {
        self.any_word(false)
    }

    /// The pattern behind `=~`, in which parentheses and bars are ordinary.
    pub(super) fn regex_word(&mut self) -> Word {
        self.any_word(true)
    }

    fn any_word(&mut self, regex: bool) -> Word {
        let start = self.at;
        let mut word = Word::default();
        let mut parts = Parts::default();
        // Open parentheses of `?(…)` and its like, or of a regular expression.
        let mut open = 0_u32;
        while let Some(byte) = self.peek() {
            self.steps += 1;
            match byte {
                b'(' if regex || open > 0 || self.extended_glob(start, &parts) => {
                    open += 1;
                    self.take_literal(&mut parts, 1);
                }
                b'(' if self.path_group(start) > 0 => {
                    let length = self.path_group(start);
                    self.take_literal(&mut parts, length);
                }
                b')' if open > 0 => {
                    open -= 1;
                    self.take_literal(&mut parts, 1);
                }
                b'|' if regex || open > 0 => self.take_literal(&mut parts, 1),
                b' ' | b'\t' if open > 0 => self.take_literal(&mut parts, 1),
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => self.process(&mut parts),
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\r' if self.peek_at(1) == Some(b'\n') => break,
                b'\\' => {
                    word.quoted = true;
                    self.escape(&mut parts);
                }
                b'\'' => {
                    word.quoted = true;
                    let text = self.single_quoted();
                    parts.quoted(text);
                }
                b'"' => {
                    word.quoted = true;
                    self.double_quoted(&mut parts);
                }
                b'$' => self.dollar(&mut parts, false),
                b'`' => self.backquoted(&mut parts, false),
                byte => {
                    word.braces |= byte == b'{';
                    let length = self.ordinary();
                    self.take_literal(&mut parts, length);
                }
            }
        }
        word.parts = parts.list;
        word.plain = match word.parts.as_slice() {
            [] | [Part::Quoted(_)] => true,
            [Part::Literal(text)] => {
                !text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{' | b'~' | b'('))
            }
            _ => false,
        };
        if !word.plain || word.quoted {
            word.written = shorten(self.slice(start, self.at));
        }
        word
    }

    /// Length of the run of bytes here that mean nothing special.
    fn ordinary(&self) -> usize {
        let rest = self.rest();
        let run = rest
            .iter()
            .position(|byte| {
                matches!(
                    byte,
                    b' ' | b'\t'
                        | b'\n'
                        | b'\r'
                        | b';'
                        | b'&'
                        | b'|'
                        | b'<'
                        | b'>'
                        | b'('
                        | b')'
                        | b'\\'
                        | b'\''
                        | b'"'
                        | b'$'
                        | b'`'
                        | b'{'
                )
            })
            .unwrap_or(rest.len());
        // A byte that is special elsewhere is ordinary when it gets here.
        run.max(1)
    }

    fn take_literal(&mut self, parts: &mut Parts, length: usize) {
        parts.literal(self.slice(self.at, self.at + length));
        self.at += length;
        self.steps += length as u64;
    }

    /// Whether the `(` here belongs to `?(`, `*(`, `+(`, `@(`, `!(`.
    fn extended_glob(&self, start: usize, parts: &Parts) -> bool {
        self.at > start
            && matches!(self.bytes.get(self.at - 1), Some(b'?' | b'*' | b'+' | b'@' | b'!'))
            && matches!(parts.list.last(), Some(Part::Literal(_)))
    }

    /// Length of a `(group)` in the middle of a path, as web frameworks name folders and zsh writes patterns.
    /// Other shells refuse the line, so it has no other meaning.
    fn path_group(&self, start: usize) -> usize {
        let before = self.bytes.get(start..self.at).unwrap_or_default();
        let path = before.contains(&b'/') || before.iter().any(|byte| matches!(byte, b'*' | b'?'));
        let rest = self.rest();
        let inside = rest
            .iter()
            .skip(1)
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"._-[],/#^@=:".contains(byte));
        let length = inside.count() + 1;
        let closed = rest.get(length) == Some(&b')') && length > 1;
        if path && closed { length + 1 } else { 0 }
    }

    /// A backslash outside quotes.
    fn escape(&mut self, parts: &mut Parts) {
        self.at += 1;
        match self.peek() {
            None => parts.quoted("\\"),
            Some(b'\n') => self.at += 1,
            Some(_) => {
                let length = self.character();
                let text = self.slice(self.at, self.at + length);
                // Only text whose quoting matters later has to be kept apart.
                if matches!(text, "*" | "?" | "[" | "]" | "{" | "}" | "," | "~" | "." | "\\")
                    || parts.list.is_empty()
                {
                    parts.quoted(text);
                } else {
                    match parts.list.last_mut() {
                        Some(Part::Quoted(last)) => last.push_str(text),
                        _ => parts.literal(text),
                    }
                }
                self.at += length;
            }
        }
    }

    /// `'…'`.
    fn single_quoted(&mut self) -> &str {
        let open = self.at;
        let from = open + 1;
        self.at = from;
        match memchr::memchr(b'\'', self.rest()) {
            Some(length) => {
                self.at = from + length + 1;
                self.steps += length as u64;
                self.slice(from, from + length)
            }
            None => {
                self.unclosed(open);
                self.at = self.bytes.len();
                self.slice(from, self.bytes.len())
            }
        }
    }

    /// `"…"`.
    pub(super) fn double_quoted(&mut self, parts: &mut Parts) {
        self.at += 1;
        // The common case: nothing live inside.
        if let Some(length) = self.rest().iter().position(|byte| matches!(byte, b'"' | b'\\' | b'$' | b'`'))
            && self.peek_at(length) == Some(b'"')
        {
            let text = self.slice(self.at, self.at + length);
            self.at += length + 1;
            self.steps += length as u64;
            parts.quoted(text);
            return;
        }
        let inner = self.deeper(|this| this.parts(Within::DoubleQuotes));
        parts.push(Part::Double(inner));
    }

    /// Parts up to their terminator in this context.
    pub(super) fn parts(&mut self, within: Within) -> Vec<Part> {
        let open = self.at.saturating_sub(1);
        let mut parts = Parts::default();
        let mut nested = 0_u32;
        let quoted = match within {
            Within::DoubleQuotes | Within::HereDocument => true,
            Within::Braces { quoted } | Within::Pattern { quoted } => quoted,
            Within::Arithmetic | Within::Brackets | Within::Offset => false,
        };
        loop {
            let Some(byte) = self.peek() else {
                if within != Within::HereDocument {
                    self.unclosed(open);
                }
                break;
            };
            self.steps += 1;
            match (byte, within) {
                (b'"', Within::DoubleQuotes) => {
                    self.at += 1;
                    break;
                }
                (b')', Within::Arithmetic) if nested == 0 => {
                    self.at += 1;
                    if !self.eat(")") {
                        self.wrong();
                    }
                    break;
                }
                (b']', Within::Brackets) if nested == 0 => {
                    self.at += 1;
                    break;
                }
                (b'}', Within::Braces { .. } | Within::Pattern { .. } | Within::Offset) => {
                    self.at += 1;
                    break;
                }
                // The caller looks at what ended it.
                (b'/', Within::Pattern { .. }) if !parts.list.is_empty() => break,
                (b':', Within::Offset) if nested == 0 => break,
                (b'(', Within::Arithmetic | Within::Offset) | (b'[', Within::Brackets) => {
                    nested += 1;
                    self.take_literal(&mut parts, 1);
                }
                (b')', Within::Arithmetic | Within::Offset) | (b']', Within::Brackets) => {
                    nested = nested.saturating_sub(1);
                    self.take_literal(&mut parts, 1);
                }
                (b'$', _) => self.dollar(&mut parts, quoted),
                (b'`', _) => self.backquoted(&mut parts, quoted),
                (b'\\', _) => self.inner_escape(&mut parts, within, quoted),
                (b'"', within) if within != Within::HereDocument => self.double_quoted(&mut parts),
                (b'\'', Within::Braces { quoted: true }) => self.quotes_in_quotes(&mut parts),
                (b'\'', within) if !quoted && within != Within::Arithmetic => {
                    let text = self.single_quoted();
                    parts.quoted(text);
                }
                _ => {
                    let rest = self.rest();
                    let run = rest.iter().skip(1).position(|byte| br#""\$`'()[]}/:"#.contains(byte));
                    let length = run.map_or(rest.len(), |run| run + 1);
                    self.take_literal(&mut parts, length);
                }
            }
        }
        parts.list
    }

    /// Single quotes in `"${x:-'…'}"`: they hide a brace or quote from bash's search for the end, and nothing from
    /// its expansion. Other shells differ, so what hangs on it is reported as doubtful.
    fn quotes_in_quotes(&mut self, parts: &mut Parts) {
        let open = self.at;
        let text = self.single_quoted().to_owned();
        if text.contains(['"', '}']) {
            self.fault.syntax.get_or_insert(open);
        }
        let list = self.apart(&text);
        parts.literal("'");
        for part in list {
            parts.push(part);
        }
        parts.literal("'");
    }

    /// A text that is read by itself, with its expansions.
    pub(super) fn apart(&mut self, text: &str) -> Vec<Part> {
        let mut inner = Parser::new(text, self.depth);
        inner.substitutions = self.substitutions;
        let list = self.deeper(|_| inner.parts(Within::HereDocument));
        self.steps += inner.steps;
        self.fault.depth |= inner.fault.depth;
        if inner.fault.syntax.is_some() {
            self.wrong();
        }
        self.assigned.append(&mut inner.assigned);
        list
    }

    /// A backslash inside double quotes, a here-document, or an expansion.
    fn inner_escape(&mut self, parts: &mut Parts, within: Within, quoted: bool) {
        let next = self.peek_at(1);
        let escapes = match next {
            Some(b'$' | b'`' | b'\\' | b'\n') => true,
            Some(b'"') => within != Within::HereDocument,
            Some(b'}') => matches!(within, Within::Braces { .. } | Within::Pattern { .. }),
            Some(_) => !quoted,
            None => false,
        };
        if !escapes {
            self.take_literal(parts, 1);
            return;
        }
        self.at += 1;
        if next == Some(b'\n') {
            self.at += 1;
            return;
        }
        let length = self.character();
        let text = self.slice(self.at, self.at + length);
        if quoted {
            parts.literal(text);
        } else {
            parts.quoted(text);
        }
        self.at += length;
    }

    /// `<(…)` and `>(…)`.
    fn process(&mut self, parts: &mut Parts) {
        let reads = self.peek() == Some(b'<');
        self.at += 1;
        let script = Rc::new(self.substitution());
        parts.push(if reads { Part::ProcessIn(script) } else { Part::ProcessOut(script) });
    }
}

/// The text as written, cut at a reasonable length.
pub(crate) fn shorten(text: &str) -> String {
    // The placeholder for unknown text is not shown to people.
    if text.len() > GAP.len() && text.contains(GAP) {
        let shown = text.replace(&format!("${{{GAP}}}"), "…");
        return shown.chars().take(WRITTEN).collect();
    }
    if text.len() <= WRITTEN {
        return text.to_owned();
    }
    text.chars().take(WRITTEN).collect()
}
