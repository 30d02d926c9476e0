//! Here-documents: the delimiter is read with the command, the body when the line ends.

use std::cell::OnceCell;
use std::rc::Rc;

use super::Parser;
use crate::ast::HereBody;

/// A here-document whose body has not been reached yet.
pub(super) struct Pending {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    body: Rc<OnceCell<HereBody>>,
}

impl Parser<'_> {
    /// Reads the delimiter behind `<<` and promises a body.
    pub(super) fn here_delimiter(&mut self, strip_tabs: bool) -> Rc<OnceCell<HereBody>> {
        self.blanks();
        let (mut delimiter, mut quoted) = (String::new(), false);
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\\' => {
                    quoted = true;
                    self.at += 1;
                    let length = self.character();
                    delimiter.push_str(self.slice(self.at, self.at + length));
                    self.at += length;
                }
                b'\'' | b'"' => {
                    quoted = true;
                    let open = self.at;
                    self.at += 1;
                    let length = memchr::memchr(byte, self.rest());
                    let end = length.map_or(self.bytes.len(), |length| self.at + length);
                    delimiter.push_str(self.slice(self.at, end));
                    self.at = end + 1;
                    if length.is_none() {
                        self.unclosed(open);
                    }
                }
                _ => {
                    let length = self.character();
                    delimiter.push_str(self.slice(self.at, self.at + length));
                    self.at += length;
                }
            }
        }
        if self.at == start {
            self.wrong();
        }
        let body = Rc::new(OnceCell::new());
        self.pending.push(Pending { delimiter, quoted, strip_tabs, body: Rc::clone(&body) });
        body
    }

    /// Reads the bodies that start here.
    pub(super) fn here_documents(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.here_text(&pending);
            let body = if pending.quoted {
                HereBody::Literal(text)
            } else {
                let parts = self.apart(&text);
                HereBody::Expanded(parts)
            };
            // A fresh cell belongs to exactly one pending entry, so it is empty.
            let _ = pending.body.set(body);
        }
    }

    fn here_text(&mut self, pending: &Pending) -> String {
        let mut body = String::new();
        while !self.at_end() {
            let length = memchr::memchr(b'\n', self.rest());
            let end = length.map_or(self.bytes.len(), |length| self.at + length);
            let mut line = self.slice(self.at, end);
            self.steps += line.len() as u64 + 1;
            if pending.strip_tabs {
                line = line.trim_start_matches('\t');
            }
            if line.strip_suffix('\r').unwrap_or(line) == pending.delimiter {
                self.at = (end + 1).min(self.bytes.len());
                return body;
            }
            // `EOF)` ends the document and the substitution around it.
            if self.substitutions > 0
                && let Some(after) = line.strip_prefix(pending.delimiter.as_str())
                && after.trim_start().starts_with(')')
            {
                self.at = end - after.len();
                return body;
            }
            body.push_str(line);
            body.push('\n');
            self.at = (end + 1).min(self.bytes.len());
        }
        body
    }
}
