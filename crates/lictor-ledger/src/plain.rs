//! Makes text from reviewers safe to print: it can neither move the cursor nor forge a line.

use std::fmt;

#[cfg(test)]
mod tests;

/// Shows text on one line. Control characters and characters that reorder text are written as escapes.
#[derive(Debug, Clone, Copy)]
pub struct Plain<'a>(pub &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for character in self.0.chars() {
            match character {
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_char(' ')?,
                hidden if hidden.is_control() || reorders(hidden) => {
                    write!(f, "{}", hidden.escape_unicode())?
                }
                shown => f.write_char(shown)?,
            }
        }
        Ok(())
    }
}

fn reorders(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Whether text contains nothing that [`Plain`] would escape.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.chars().any(|character| character.is_control() || reorders(character))
}
