//! A line diff of two texts, for people.

use std::ops::Range;

use similar::{Algorithm, capture_diff_slices, group_diff_ops};

/// The change of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is in both texts.
    Kept,
    /// It is in the old text only.
    Removed,
    /// It is in the new text only.
    Added,
}

impl Change {
    /// Its sign in a diff.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Self::Kept => ' ',
            Self::Removed => '-',
            Self::Added => '+',
        }
    }
}

/// A place where the texts differ, with lines around it.
#[derive(Debug, PartialEq, Eq)]
pub struct Hunk<'t> {
    /// Its position in both texts: `@@ -1,3 +1,4 @@`.
    pub header: String,
    /// Its lines, without their ends.
    pub lines: Vec<(Change, &'t str)>,
}

/// The differences, with at most `around` lines of context. Empty when the texts are equal.
#[must_use]
pub fn hunks<'t>(old: &'t str, new: &'t str, around: usize) -> Vec<Hunk<'t>> {
    let [old, new] = [old, new].map(|text| text.lines().collect::<Vec<&str>>());
    // Choosing the algorithm and comparing plain lines keeps the library's other code out of the binary.
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let groups = group_diff_ops(ops, around.min(old.len().saturating_add(new.len())));
    let hunk = |group: &Vec<similar::DiffOp>| {
        let mut lines = Vec::new();
        for op in group {
            let removed = slice(&old, op.old_range()).iter();
            let added = slice(&new, op.new_range()).iter();
            match op.tag() {
                similar::DiffTag::Equal => lines.extend(removed.map(|line| (Change::Kept, *line))),
                _ => {
                    lines.extend(removed.map(|line| (Change::Removed, *line)));
                    lines.extend(added.map(|line| (Change::Added, *line)));
                }
            }
        }
        let (first, last) = (group.first()?, group.last()?);
        let place = |first: Range<usize>, last: Range<usize>| {
            let count = last.end.saturating_sub(first.start);
            // An empty range is named by the line before it.
            let start = if count == 0 { first.start } else { first.start + 1 };
            if count == 1 { start.to_string() } else { format!("{start},{count}") }
        };
        let header = format!(
            "@@ -{} +{} @@",
            place(first.old_range(), last.old_range()),
            place(first.new_range(), last.new_range())
        );
        Some(Hunk { header, lines })
    };
    groups.iter().filter_map(hunk).collect()
}

/// A unified diff: every hunk with its header, every line with its sign.
#[must_use]
pub fn unified(old: &str, new: &str, around: usize) -> Vec<String> {
    let hunks = hunks(old, new, around);
    let lines = hunks.into_iter().flat_map(|hunk| {
        let lines = hunk.lines.into_iter().map(|(change, line)| format!("{}{line}", change.sign()));
        std::iter::once(hunk.header).chain(lines).collect::<Vec<String>>()
    });
    lines.collect()
}

fn slice<'l, 't>(lines: &'l [&'t str], range: Range<usize>) -> &'l [&'t str] {
    lines.get(range).unwrap_or_default()
}

#[cfg(test)]
mod tests;
