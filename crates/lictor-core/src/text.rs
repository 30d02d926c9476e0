//! Showing text that an agent has a hand in, so that it cannot pass for something else.

/// Takes out everything that could change how the rest reads (control characters, line breaks, invisible and
/// direction-changing characters) and cuts after so many characters.
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

/// The text with everything that could change how the rest reads written out (`\x1b`, `\u{202e}`), line breaks kept:
/// what somebody has to judge by reading it.
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

/// Whether a character is not seen itself, or changes how others are.
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
