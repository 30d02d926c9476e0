//! Glob patterns against known text, for `${x#…}`, `${x%…}` and `${x/…/…}`.

#[cfg(test)]
mod tests;

/// Longest text times longest pattern that is worth matching.
const MOST_WORK: usize = 1 << 14;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Glob {
    One(char),
    Any,
    Many,
}

/// A pattern of `*`, `?` and characters. Brackets and extended globs are not modelled.
pub(crate) struct Pattern {
    globs: Vec<Glob>,
}

impl Pattern {
    /// Reads a pattern; `None` when it uses something that is not modelled.
    pub(crate) fn new(pattern: &str) -> Option<Self> {
        if pattern.contains(['[', '(']) {
            return None;
        }
        let globs = pattern
            .chars()
            .map(|c| match c {
                '*' => Glob::Many,
                '?' => Glob::Any,
                c => Glob::One(c),
            })
            .collect();
        Some(Self { globs })
    }

    fn too_much(&self, text: &str) -> bool {
        text.len().saturating_mul(self.globs.len() + 1) > MOST_WORK
    }

    /// For each length of the text's start, in characters, whether it matches.
    fn starts(&self, text: &[char]) -> Vec<bool> {
        // reach[i]: the globs so far match the first i characters.
        let mut reach = vec![false; text.len() + 1];
        if let Some(first) = reach.first_mut() {
            *first = true;
        }
        for glob in &self.globs {
            let mut next = vec![false; text.len() + 1];
            let mut any = false;
            for (index, slot) in next.iter_mut().enumerate() {
                any |= reach.get(index).copied().unwrap_or(false);
                let before =
                    index.checked_sub(1).and_then(|index| Some((reach.get(index)?, text.get(index)?)));
                *slot = match (glob, before) {
                    (Glob::Many, _) => any,
                    (Glob::Any, Some((matched, _))) => *matched,
                    (Glob::One(wanted), Some((matched, c))) => *matched && wanted == c,
                    (_, None) => false,
                };
            }
            reach = next;
        }
        reach
    }

    /// Whether the pattern matches the whole text. If that takes too much work, it counts as a match.
    pub(crate) fn fits(&self, text: &str) -> bool {
        let chars: Vec<char> = text.chars().collect();
        self.too_much(text) || self.starts(&chars).last().copied().unwrap_or(false)
    }

    /// The text without what the pattern matches at its start or end; `None` when that is too much work.
    pub(crate) fn trim(&self, text: &str, end: bool, longest: bool) -> Option<String> {
        if self.too_much(text) {
            return None;
        }
        let mut chars: Vec<char> = text.chars().collect();
        let mut globs = self.globs.clone();
        if end {
            chars.reverse();
            globs.reverse();
        }
        let matches = Self { globs }.starts(&chars);
        let length = if longest {
            matches.iter().rposition(|matched| *matched)
        } else {
            matches.iter().position(|matched| *matched)
        };
        let kept = chars.get(length.unwrap_or(0)..)?;
        Some(if end { kept.iter().rev().collect() } else { kept.iter().collect() })
    }

    /// The text with matches replaced; `None` when that is too much work.
    pub(crate) fn replace(
        &self,
        text: &str,
        with: &str,
        all: bool,
        start: bool,
        end: bool,
    ) -> Option<String> {
        if self
            .too_much(text)
            .then_some(())
            .or((self.globs.is_empty() || text.len() > 512).then_some(()))
            .is_some()
        {
            return if self.globs.is_empty() { Some(text.to_owned()) } else { None };
        }
        let chars: Vec<char> = text.chars().collect();
        let mut result = String::new();
        let mut at = 0;
        let mut replaced = false;
        while at <= chars.len() {
            let rest = chars.get(at..)?;
            let may = (all || !replaced) && (!start || at == 0);
            let length = if may { self.starts(rest).iter().rposition(|matched| *matched) } else { None };
            match length {
                Some(length) if length > 0 && (!end || at + length == chars.len()) => {
                    result.push_str(with);
                    replaced = true;
                    at += length;
                }
                _ => {
                    result.extend(rest.first());
                    at += 1;
                }
            }
        }
        Some(result)
    }
}
