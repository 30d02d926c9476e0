//! Maps a position inside a scalar's text to its position in the file.

use super::Reader;
use crate::diagnostic::Span;
use crate::yaml::{Tree, Yaml};

impl Reader<'_> {
    /// The span of bytes `start..end` of a scalar's text in the file. The whole scalar if its style (folded, over
    /// several lines) does not allow it.
    pub(crate) fn inside(&self, tree: &Tree, start: usize, end: usize) -> Span {
        let Yaml::Scalar { text, .. } = &tree.value else { return tree.span };
        if text.is_empty() {
            return tree.span;
        }
        let positions = self.positions(tree.span, text);
        let character = |byte: usize| text.char_indices().take_while(|(at, _)| *at < byte).count();
        let (first, last) = (character(start), character(end.max(start)));
        let (Some(from), Some(to)) = (positions.get(first), positions.get(last)) else { return tree.span };
        Span { line: from.0, column: from.1, end_line: to.0, end_column: to.1 }
    }

    /// The line and column of every character of the text, and of its end. Empty when they cannot be determined.
    fn positions(&self, span: Span, text: &str) -> Vec<(usize, usize)> {
        let raw = |line: usize| self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let first: Vec<char> = raw(span.line).chars().skip(span.column.saturating_sub(1)).collect();
        let found = match first.first() {
            Some('"') => quoted(&first, span, '"'),
            Some('\'') => quoted(&first, span, '\''),
            _ if text.lines().count() == 1
                && first.iter().collect::<String>().starts_with(text.trim_end()) =>
            {
                (0..=text.chars().count()).map(|at| (span.line, span.column + at)).collect()
            }
            _ => block(text, span, &raw),
        };
        // If the lengths differ, the positions do not correspond to the parsed text.
        if found.len() == text.chars().count() + 1 { found } else { Vec::new() }
    }
}

/// A quoted scalar on one line.
fn quoted(raw: &[char], span: Span, quote: char) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 1;
    while let Some(&c) = raw.get(at) {
        found.push((span.line, span.column + at));
        let next = raw.get(at + 1).copied();
        at += match (quote, c) {
            ('\'', '\'') if next == Some('\'') => 2,
            ('"', '\\') => match next {
                Some('x') => 4,
                Some('u') => 6,
                Some('U') => 10,
                _ => 2,
            },
            (quote, c) if c == quote => return found,
            _ => 1,
        };
    }
    Vec::new()
}

/// A literal block (`|`): each line of the text is a line of the file, indented.
fn block<'a>(text: &str, span: Span, raw: &impl Fn(usize) -> &'a str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    // The span of a block starts at its first line or at its `|`, depending on the parser.
    let starts = |line: usize| raw(line).trim_start().starts_with(text.lines().next().unwrap_or_default());
    let top = if starts(span.line) { span.line } else { span.line + 1 };
    let indent = |line: &str| line.chars().take_while(|c| *c == ' ').count();
    let margin = indent(raw(top));
    for (index, line) in text.split('\n').enumerate() {
        let at = top + index;
        let shown: String = raw(at).chars().skip(margin).collect();
        if !line.is_empty() && shown.trim_end() != line.trim_end() {
            return Vec::new();
        }
        let length = line.chars().count();
        found.extend((0..=length).map(|column| (at, margin + 1 + column)));
    }
    found
}
