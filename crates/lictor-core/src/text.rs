//! Displays text that an agent controls, so that it cannot imitate other output.

/// Removes characters that could change how the rest is displayed (control characters, line breaks, invisible and
/// direction-changing characters) and truncates to `most` characters.
#[must_use]
pub fn clean(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most.saturating_mul(4)));
    for (count, char) in text.chars().enumerate() {
        if count == most {
            out.push('…');
            break;
        }
        out.push(if is_deceptive(char) { '\u{fffd}' } else { char });
    }
    out
}

/// The text with such characters escaped (`\x1b`, `\u{202e}`) and line breaks kept, for text that a person must
/// review.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            char if char.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(char))),
            char if is_deceptive(char) => out.extend(char.escape_unicode()),
            char => out.push(char),
        }
    }
    out
}

/// As [`visible`], on one line.
#[must_use]
pub fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

/// As [`clean`], between backticks.
#[must_use]
pub fn quote(text: &str, most: usize) -> String {
    format!("`{}`", clean(text, most).replace('`', "'"))
}

/// Whether a character is invisible or changes how others are displayed.
#[must_use]
pub fn is_deceptive(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests;
