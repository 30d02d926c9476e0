//! Assignments, and what they mean for the loops around them.

use super::{Parser, name_prefix};
use crate::ast::{Assigned, Assignment, Changes, Part, Simple, Word};

/// Longest subscript of an assignment. A longer one is parsed as a word.
const LONGEST_SUBSCRIPT: usize = 128;

impl Parser<'_> {
    /// `NAME=…`, `NAME+=…`, `NAME[…]=…` in front of a command.
    pub(super) fn assignment(&mut self) -> Option<Assignment> {
        let name = name_prefix(self.slice(self.at, self.bytes.len()));
        if name.is_empty() {
            return None;
        }
        let mut after = self.at + name.len();
        let mut subscript = None;
        if self.bytes.get(after) == Some(&b'[') {
            let rest = self.bytes.get(after..).unwrap_or_default();
            let close = closing_bracket(rest)?;
            subscript = Some((after + 1, after + close));
            after += close + 1;
        }
        let append = self.bytes.get(after) == Some(&b'+');
        if append {
            after += 1;
        }
        if self.bytes.get(after) != Some(&b'=') {
            return None;
        }
        let name = name.to_owned();
        let element = subscript.map(|(from, to)| self.apart(self.slice(from, to)));
        self.at = after + 1;
        let value = if self.peek() == Some(b'(') && element.is_none() {
            self.array()
        } else {
            Assigned::Scalar(self.value_word())
        };
        Some(Assignment { name, element, append, value })
    }

    /// `NAME=(…)` as an argument of `declare` and the like.
    pub(super) fn declared_array(&mut self) -> Option<Assignment> {
        let name = name_prefix(self.slice(self.at, self.bytes.len()));
        let after = self.slice(self.at + name.len(), self.bytes.len());
        if name.is_empty() || !(after.starts_with("=(") || after.starts_with("+=(")) {
            return None;
        }
        self.assignment()
    }

    /// `(a b c)` behind `NAME=`.
    pub(super) fn array(&mut self) -> Assigned {
        let open = self.at;
        self.at += 1;
        let mut words = Vec::new();
        let mut keyed = false;
        self.deeper(|this| {
            loop {
                this.blank_lines();
                match this.peek() {
                    Some(b')') => {
                        this.at += 1;
                        break;
                    }
                    None => {
                        this.unclosed(open);
                        break;
                    }
                    Some(b'[') => {
                        keyed = true;
                        words.push(this.word());
                    }
                    Some(_) if this.word_starts() => words.push(this.word()),
                    Some(_) => {
                        this.wrong();
                        this.at += this.character();
                    }
                }
            }
        });
        Assigned::Array { words, keyed }
    }

    /// The value behind `NAME=`: a word, possibly empty.
    pub(super) fn value_word(&mut self) -> Word {
        if self.word_starts() { self.word() } else { Word { plain: true, ..Word::default() } }
    }

    /// Remembers which names a builtin sets, for the loops around it.
    pub(super) fn note_changes(&mut self, simple: &Simple) {
        let mut words = simple.words.iter();
        let Some(mut program) = words.next().and_then(Word::literal) else { return };
        if matches!(program, "builtin" | "command") {
            let Some(next) = words.next().and_then(Word::literal) else { return };
            program = next;
        }
        if matches!(program, "cd" | "pushd" | "popd") {
            self.moves += 1;
        } else if crate::words::NAMING_BUILTINS.contains(&program) {
            for word in words {
                let Some(Part::Literal(text) | Part::Quoted(text)) = word.parts.first() else { continue };
                let name = name_prefix(text);
                if !name.is_empty() {
                    self.assigned.push(name.to_owned());
                }
            }
        }
    }

    /// Parses something and returns what it may change.
    pub(super) fn tracked<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (T, Changes) {
        let (names, moves) = (self.assigned.len(), self.moves);
        let result = read(self);
        let mut names: Vec<String> = self.assigned.get(names..).unwrap_or_default().to_vec();
        names.sort_unstable();
        names.dedup();
        (result, Changes { names, directory: self.moves != moves })
    }

    /// Notes the names in an arithmetic text that may be assigned there.
    pub(super) fn note_arithmetic(&mut self, parts: &[Part]) {
        for part in parts {
            let Part::Literal(text) = part else { continue };
            if !text.contains('=') && !text.contains("++") && !text.contains("--") {
                continue;
            }
            let mut rest = text.as_str();
            while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
                rest = rest.get(start..).unwrap_or_default();
                let name = name_prefix(rest);
                self.assigned.push(name.to_owned());
                rest = rest.get(name.len()..).unwrap_or_default();
            }
        }
    }
}

/// Where the bracket that opens the text is closed.
fn closing_bracket(text: &[u8]) -> Option<usize> {
    let mut open = 0_u32;
    text.iter().take(LONGEST_SUBSCRIPT).take_while(|byte| **byte != b'\n').position(|byte| {
        match byte {
            b'[' => open += 1,
            b']' => open -= 1,
            _ => {}
        }
        open == 0
    })
}
