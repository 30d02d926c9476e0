//! Redirections.

use super::Parser;
use crate::ast::{Redirect, RedirectKind, Target, Word};

/// Spelling and meaning, longest first.
const OPERATORS: &[(&str, RedirectKind)] = &[
    ("&>>", RedirectKind::AppendBoth),
    ("<<<", RedirectKind::HereString),
    ("<<-", RedirectKind::HereDocument),
    ("&>", RedirectKind::WriteBoth),
    ("<<", RedirectKind::HereDocument),
    ("<&", RedirectKind::DuplicateIn),
    ("<>", RedirectKind::ReadWrite),
    (">>", RedirectKind::Append),
    (">&", RedirectKind::DuplicateOut),
    (">|", RedirectKind::Write),
    ("<", RedirectKind::Read),
    (">", RedirectKind::Write),
];

impl Parser<'_> {
    /// A redirection, if one starts here.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let first = self.peek()?;
        let mut variable = None;
        let (fd, skip) = match first {
            b'<' | b'>' => (None, 0),
            b'&' if self.peek_at(1) == Some(b'>') => (None, 0),
            b'0'..=b'9' => {
                let digits = self.rest().iter().take(8).take_while(|byte| byte.is_ascii_digit()).count();
                (self.slice(self.at, self.at + digits).parse().ok(), digits)
            }
            b'{' => {
                let name = super::name_prefix(self.slice(self.at + 1, self.bytes.len())).len();
                if name == 0 || self.peek_at(name + 1) != Some(b'}') {
                    return None;
                }
                variable = Some(self.slice(self.at + 1, self.at + 1 + name).to_owned());
                (None, name + 2)
            }
            _ => return None,
        };
        if skip > 0 && !matches!(self.peek_at(skip), Some(b'<' | b'>')) {
            return None;
        }
        if matches!(self.peek_at(skip + 1), Some(b'(')) && matches!(self.peek_at(skip), Some(b'<' | b'>')) {
            // `<(…)` is a word. Digits in front of it are one too.
            return None;
        }
        let rest = self.bytes.get(self.at + skip..)?;
        let (spelling, kind) =
            *OPERATORS.iter().find(|(spelling, _)| rest.starts_with(spelling.as_bytes()))?;
        self.at += skip + spelling.len();
        self.steps += 1;
        if kind == RedirectKind::HereDocument {
            let body = self.here_delimiter(spelling == "<<-");
            return Some(Redirect { fd, variable, kind, target: Target::Here(body) });
        }
        self.blanks();
        let word = if self.word_starts() {
            self.word()
        } else {
            self.wrong();
            Word { plain: true, ..Word::default() }
        };
        // `>&file` writes both; `>&2` duplicates.
        let kind = match kind {
            RedirectKind::DuplicateOut if fd.is_none() && is_file(&word) => RedirectKind::WriteBoth,
            kind => kind,
        };
        Some(Redirect { fd, variable, kind, target: Target::Word(word) })
    }
}

/// Whether the word behind `>&` names a file and not a descriptor.
fn is_file(word: &Word) -> bool {
    word.literal().is_some_and(|text| {
        text != "-" && !text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
    })
}
