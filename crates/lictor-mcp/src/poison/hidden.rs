//! Characters that are invisible to people.

use super::Origin;

/// So many invisible characters in a row are an alphabet, not a mistake of an editor.
const RUN: usize = 4;

/// Whether the text hides something.
pub(super) fn is_in(text: &str, origin: Origin) -> bool {
    if text.is_ascii() && (origin == Origin::Result || !text.bytes().any(|byte| is_control(byte.into()))) {
        return false;
    }
    if tags(text) || text.chars().any(|c| matches!(c, '\u{202d}' | '\u{202e}')) {
        return true;
    }
    match origin {
        Origin::Definition => text.chars().any(|c| is_control(c) || is_invisible(c) || is_direction(c)),
        Origin::Result => runs(text) || text.lines().any(is_unbalanced),
    }
}

/// The longest code of a region's flag, as in `gbeng`.
const FLAG: usize = 6;

/// Characters of the tag alphabet outside a flag. A flag is a black one, the code of a region and an end; longer ones are
/// sentences.
fn tags(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(|c| matches!(c, '\u{1f3f4}' | '\u{e0000}'..='\u{e007f}')) {
        let found = rest.get(at..).unwrap_or_default();
        let Some(after) = found.strip_prefix('\u{1f3f4}') else { return true };
        let code = |c: char| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
        let ended = after.trim_start_matches(code);
        let length = after.strip_suffix(ended).unwrap_or_default().chars().count();
        rest = match ended.strip_prefix('\u{e007f}') {
            Some(rest) if (1..=FLAG).contains(&length) => rest,
            None if length == 0 => after,
            _ => return true,
        };
    }
    false
}

fn runs(text: &str) -> bool {
    let mut run = 0;
    text.chars().any(|c| {
        run = if is_invisible(c) || is_joiner(c) { run + 1 } else { 0 };
        run >= RUN
    })
}

/// Nothing is seen of it, and no script needs it. Joiners and the selectors of emoji are needed.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}' | '\u{fe00}'..='\u{fe0d}'
        | '\u{e0100}'..='\u{e01ef}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{206a}'..='\u{206f}')
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_control(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// A direction that is left open changes how the rest of the line looks.
fn is_unbalanced(line: &str) -> bool {
    let count = |set: &[char]| line.chars().filter(|c| set.contains(c)).count();
    count(&['\u{202a}', '\u{202b}']) != count(&['\u{202c}'])
        || count(&['\u{2066}', '\u{2067}', '\u{2068}']) != count(&['\u{2069}'])
}
