//! Everything that starts with `$`, and backquotes.

use std::rc::Rc;

use super::word::{Parts, Within};
use super::{Parser, name_prefix};
use crate::ast::{Operation, Parameter, Part, ReplacePlace, Script, Subscript};

/// Longest `${{ … }}`.
const LONGEST_TEMPLATE: usize = 512;

impl Parser<'_> {
    /// An expansion. `quoted` when it is in double quotes or a here-document.
    pub(super) fn dollar(&mut self, parts: &mut Parts, quoted: bool) {
        match self.peek_at(1) {
            Some(b'(') if self.peek_at(2) == Some(b'(') && self.arithmetic_closes(self.at + 3) => {
                self.at += 3;
                let inner = self.deeper(|this| this.parts(Within::Arithmetic));
                self.note_arithmetic(&inner);
                parts.push(Part::Arithmetic(inner));
            }
            Some(b'(') => {
                self.at += 1;
                let script = self.substitution();
                parts.push(Part::Command(Rc::new(script)));
            }
            Some(b'[') => {
                self.at += 2;
                let inner = self.deeper(|this| this.parts(Within::Brackets));
                parts.push(Part::Arithmetic(inner));
            }
            Some(b'{') if self.template().is_some() => {
                let length = self.template().unwrap_or_default();
                let inside = self.slice(self.at + 3, (self.at + length).saturating_sub(2)).trim();
                self.at += length;
                // Directories of a workflow.
                parts.push(match inside {
                    "runner.temp" => Part::Literal("/tmp/runner".to_owned()),
                    "github.workspace" => Part::Literal(".".to_owned()),
                    _ => plain("TEMPLATE".to_owned()),
                });
            }
            Some(b'{') => {
                self.at += 2;
                let part = self.deeper(|this| Some(this.braced(quoted)));
                parts.push(part.unwrap_or_else(|| Part::Literal(String::new())));
            }
            Some(b'\'') if !quoted => {
                self.at += 1;
                let text = self.ansi_quoted();
                parts.push(Part::Quoted(text));
            }
            Some(b'"') if !quoted => {
                self.at += 1;
                self.double_quoted(parts);
            }
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                self.at += 1;
                let name = name_prefix(self.slice(self.at, self.bytes.len())).to_owned();
                self.at += name.len();
                self.steps += name.len() as u64;
                parts.push(plain(name));
            }
            Some(byte @ (b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.at += 2;
                parts.push(plain(char::from(byte).to_string()));
            }
            _ => {
                self.at += 1;
                parts.push(Part::Literal("$".to_owned()));
            }
        }
    }

    /// How long the `${{ … }}` is that starts here. A shell refuses it; the workflow runner substitutes it
    /// before.
    fn template(&self) -> Option<usize> {
        let inside = self.rest().strip_prefix(b"${{")?;
        let inside = inside.get(..inside.len().min(LONGEST_TEMPLATE))?;
        let end = inside.windows(2).position(|pair| pair == b"}}")?;
        let plain = inside.get(..end)?.iter().all(|byte| !matches!(byte, b'`' | b'$'));
        plain.then_some(end + 5)
    }

    /// Whether the `((` that ends in front of `inside` closes with `))`. Otherwise it is a subshell in a subshell.
    pub(super) fn arithmetic_closes(&mut self, inside: usize) -> bool {
        if self.closing.is_empty() {
            self.match_parentheses();
        }
        let closing = |open: usize| self.closing.get(open).copied().filter(|close| *close > 0);
        match (closing(inside - 2), closing(inside - 1)) {
            (Some(outer), Some(inner)) => outer == inner + 1,
            _ => false,
        }
    }

    /// Finds for each `(` of the text the `)` that closes it, once.
    fn match_parentheses(&mut self) {
        self.closing = vec![0; self.bytes.len()];
        self.steps += self.bytes.len() as u64;
        let mut open = Vec::new();
        let mut escaped = false;
        for (at, byte) in self.bytes.iter().enumerate() {
            match byte {
                _ if std::mem::take(&mut escaped) => {}
                b'\\' => escaped = true,
                b'(' => open.push(at),
                b')' => {
                    if let Some(slot) = open.pop().and_then(|start| self.closing.get_mut(start)) {
                        *slot = at;
                    }
                }
                _ => {}
            }
        }
    }

    /// The list in parentheses that starts here.
    pub(super) fn substitution(&mut self) -> Script {
        self.at += 1;
        self.deeper(|this| {
            this.substitutions += 1;
            let script = this.list();
            this.blank_lines();
            if !this.eat(")") {
                this.wrong();
            }
            this.substitutions -= 1;
            script
        })
    }

    /// `` `…` ``: unescaped once, then parsed as a separate text.
    pub(super) fn backquoted(&mut self, parts: &mut Parts, quoted: bool) {
        self.at += 1;
        let mut inner = String::new();
        loop {
            let Some(length) = self.rest().iter().position(|byte| matches!(byte, b'`' | b'\\')) else {
                inner.push_str(self.slice(self.at, self.bytes.len()));
                self.wrong();
                self.at = self.bytes.len();
                break;
            };
            inner.push_str(self.slice(self.at, self.at + length));
            self.at += length + 1;
            if self.bytes.get(self.at - 1) == Some(&b'`') {
                break;
            }
            match self.peek() {
                Some(byte @ (b'`' | b'$' | b'\\')) => {
                    inner.push(char::from(byte));
                    self.at += 1;
                }
                Some(b'"') if quoted => {
                    inner.push('"');
                    self.at += 1;
                }
                _ => inner.push('\\'),
            }
        }
        let script = self.deeper(|this| {
            let mut parser = Parser::new(&inner, this.depth);
            let script = parser.whole();
            this.steps += parser.steps + inner.len() as u64;
            this.fault.depth |= parser.fault.depth;
            if parser.fault.syntax.is_some() {
                this.wrong();
            }
            this.assigned.append(&mut parser.assigned);
            script
        });
        parts.push(Part::Command(Rc::new(script)));
    }

    /// `$'…'` with its escapes.
    fn ansi_quoted(&mut self) -> String {
        let open = self.at;
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let Some(byte) = self.peek() else {
                self.unclosed(open);
                break;
            };
            self.at += 1;
            match byte {
                b'\'' => break,
                b'\\' => self.ansi_escape(&mut text),
                byte => text.push(byte),
            }
        }
        self.steps += text.len() as u64;
        let text = String::from_utf8_lossy(&text).into_owned();
        // The shell's strings end at a NUL.
        text.split('\0').next().unwrap_or_default().to_owned()
    }

    fn ansi_escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek() else {
            text.push(b'\\');
            return;
        };
        self.at += 1;
        let simple = match byte {
            b'a' => 0x07,
            b'b' => 0x08,
            b'e' | b'E' => 0x1b,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'\\' | b'\'' | b'"' | b'?' => byte,
            b'x' => {
                let braced = self.eat("{");
                let (value, digits) = self.digits(16, if braced { 8 } else { 2 });
                if braced {
                    self.eat("}");
                }
                if digits == 0 {
                    text.extend_from_slice(b"\\x");
                    return;
                }
                (value & 0xff) as u8
            }
            b'0'..=b'7' => {
                self.at -= 1;
                (self.digits(8, 3).0 & 0xff) as u8
            }
            b'u' | b'U' => {
                let (value, _) = self.digits(16, if byte == b'u' { 4 } else { 8 });
                let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return;
            }
            b'c' => {
                let control = self.peek().unwrap_or(0) & 0x1f;
                self.at += 1;
                control
            }
            other => {
                text.extend_from_slice(&[b'\\', other]);
                return;
            }
        };
        text.push(simple);
    }

    fn digits(&mut self, radix: u32, most: usize) -> (u32, usize) {
        let (mut value, mut count) = (0_u32, 0);
        while count < most
            && let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(radix))
        {
            value = value.wrapping_mul(radix).wrapping_add(digit);
            count += 1;
            self.at += 1;
        }
        (value, count)
    }

    /// The inside of `${…}`, behind the brace.
    fn braced(&mut self, quoted: bool) -> Part {
        // `${ command; }` and `${| command; }`.
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.eat("|");
            let script = self.list();
            self.expect_reserved("}");
            return Part::Command(Rc::new(script));
        }
        let mut indirect = false;
        let mut length = false;
        if self.peek() == Some(b'#')
            && !matches!(self.peek_at(1), Some(b'}' | b':' | b'#' | b'%' | b'/') | None)
        {
            self.at += 1;
            length = true;
        } else if self.peek() == Some(b'!') && !matches!(self.peek_at(1), Some(b'}' | b':') | None) {
            self.at += 1;
            indirect = true;
        }
        let name = self.parameter_name();
        let subscript = if self.peek() == Some(b'[') {
            self.at += 1;
            Some(self.subscript())
        } else {
            None
        };
        let operation = if length {
            if !self.eat("}") {
                self.parts(Within::Braces { quoted });
            }
            Operation::Length
        } else {
            self.operation(&name, quoted)
        };
        Part::Parameter(Box::new(Parameter { name, subscript, indirect, operation }))
    }

    fn parameter_name(&mut self) -> String {
        let rest = self.slice(self.at, self.bytes.len());
        let mut length = name_prefix(rest).len();
        if length == 0 {
            length = rest.bytes().take_while(u8::is_ascii_digit).count();
        }
        if length == 0 && matches!(self.peek(), Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) {
            length = 1;
        }
        let name = self.slice(self.at, self.at + length).to_owned();
        self.at += length;
        name
    }

    fn subscript(&mut self) -> Subscript {
        if self.eat("@]") {
            return Subscript::All { joined: false };
        }
        if self.eat("*]") {
            return Subscript::All { joined: true };
        }
        Subscript::Index(self.deeper(|this| this.parts(Within::Brackets)))
    }

    fn operation(&mut self, name: &str, quoted: bool) -> Operation {
        let Some(first) = self.peek() else {
            self.wrong();
            return Operation::Plain;
        };
        if name.is_empty() && first != b'}' {
            // zsh flags and other dialects.
            self.wrong();
            return Operation::Other(self.parts(Within::Braces { quoted }));
        }
        let colon = first == b':' && matches!(self.peek_at(1), Some(b'-' | b'=' | b'+' | b'?'));
        if colon {
            self.at += 1;
        }
        let Some(operator) = self.peek() else { return Operation::Plain };
        self.at += 1;
        let within = Within::Braces { quoted };
        match operator {
            b'}' => Operation::Plain,
            b'-' => Operation::Default { colon, assigns: false, word: self.parts(within) },
            b'=' => {
                self.assigned.push(name.to_owned());
                Operation::Default { colon, assigns: true, word: self.parts(within) }
            }
            b'+' => Operation::Alternative { word: self.parts(within) },
            b'?' => Operation::Required { word: self.parts(within) },
            b'#' | b'%' => {
                let longest = self.peek() == Some(operator);
                if longest {
                    self.at += 1;
                }
                // Quotes are live in a pattern even when the expansion is quoted.
                let pattern = self.parts(Within::Braces { quoted: false });
                Operation::Trim { end: operator == b'%', longest, pattern }
            }
            b'/' => self.replacement(quoted),
            b'^' | b',' => {
                let all = self.peek() == Some(operator);
                if all {
                    self.at += 1;
                }
                let pattern = self.parts(within);
                if pattern.is_empty() {
                    Operation::Case { upper: operator == b'^', all }
                } else {
                    Operation::Other(pattern)
                }
            }
            b':' => {
                let offset = self.parts(Within::Offset);
                let length =
                    (self.peek() == Some(b':') && self.bytes.get(self.at - 1) != Some(&b'}')).then(|| {
                        self.at += 1;
                        self.parts(Within::Braces { quoted: false })
                    });
                Operation::Slice { offset, length }
            }
            _ => Operation::Other(self.parts(within)),
        }
    }

    fn replacement(&mut self, quoted: bool) -> Operation {
        let place = match self.peek() {
            Some(b'/') => ReplacePlace::All,
            Some(b'#') => ReplacePlace::Start,
            Some(b'%') => ReplacePlace::End,
            _ => ReplacePlace::First,
        };
        if place != ReplacePlace::First {
            self.at += 1;
        }
        let pattern = self.parts(Within::Pattern { quoted: false });
        let with = if self.bytes.get(self.at - 1) != Some(&b'}') && self.eat("/") {
            self.parts(Within::Braces { quoted })
        } else {
            Vec::new()
        };
        Operation::Replace { place, pattern, with }
    }
}

fn plain(name: String) -> Part {
    Part::Parameter(Box::new(Parameter {
        name,
        subscript: None,
        indirect: false,
        operation: Operation::Plain,
    }))
}
