//! Values longer than any memory, in any language: `'x' * 10**12`, `"a" x 1e10`, `"a".ljust(2**34)`.

/// From here on a single value counts as one that is made to fill memory.
const TOO_LONG: f64 = 1e9;

/// Functions that make a value as long as a number says, by the end of their name.
const FILLERS: [&str; 20] = [
    "ljust",
    "rjust",
    "center",
    "zfill",
    "repeat",
    "bytearray",
    "bytes",
    "Buffer.alloc",
    "Buffer.allocUnsafe",
    "ArrayBuffer",
    "Uint8Array",
    "padStart",
    "padEnd",
    "str_repeat",
    "str_pad",
    "array_fill",
    "Array.new",
    "string.rep",
    "numpy.zeros",
    "np.ones",
];

/// Whether one value is made longer than any memory.
pub(super) fn fills_memory(body: &str) -> bool {
    let mut rest = body;
    let mut at = 0;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (value, length) = number(rest.get(start..).unwrap_or_default());
        let front = body.get(..at + start).unwrap_or_default();
        let behind = body.get(at + start + length..).unwrap_or_default();
        let named =
            front.ends_with(|letter: char| letter.is_alphanumeric() && letter != 'x' || letter == '_');
        if value >= TOO_LONG && !named && (repeats(front) || is_repeated(behind) || is_length(front)) {
            return true;
        }
        at += start + length;
        rest = body.get(at..).unwrap_or_default();
    }
    false
}

/// The value of a number at the start of a text (`10**9`, `1e10`, `1<<34`, `1_000`), and how long it is written.
fn number(text: &str) -> (f64, usize) {
    let digits = |text: &str| {
        let length = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count();
        let value: f64 = text.get(..length).unwrap_or_default().replace('_', "").parse().unwrap_or_default();
        (value, length)
    };
    let (first, length) = digits(text);
    let rest = text.get(length..).unwrap_or_default();
    for (sign, combine) in [
        ("**", f64::powf as fn(f64, f64) -> f64),
        ("e", |value, power| value * 10f64.powf(power)),
        ("E", |value, power| value * 10f64.powf(power)),
        ("<<", |value, shift| value * 2f64.powf(shift)),
    ] {
        let Some(tail) = rest.trim_start().strip_prefix(sign) else { continue };
        let (second, more) = digits(tail.trim_start());
        if more > 0 {
            let length = text.len() - tail.trim_start().len() + more;
            return (combine(first, second), length);
        }
    }
    (first, length.max(1))
}

/// `'x' *` and `"x" x`, `[0] *`, `(1) x` in front of the number.
fn repeats(front: &str) -> bool {
    let front = front.trim_end_matches([' ', '(']);
    let Some(value) = front.strip_suffix(['*', 'x']).map(str::trim_end) else { return false };
    value.ends_with(['\'', '"', ']']) || front.ends_with('x') && value.ends_with(')')
}

/// `* 'x'` behind it.
fn is_repeated(behind: &str) -> bool {
    let Some(value) = behind.trim_start_matches([' ', ')']).strip_prefix('*') else { return false };
    !value.starts_with('*') && value.trim_start().starts_with(['\'', '"', '['])
}

/// Whether the number is an argument of a function that makes a value of that length.
fn is_length(front: &str) -> bool {
    let mut open = 0_usize;
    for (at, letter) in front.char_indices().rev() {
        match letter {
            ')' | ']' => open += 1,
            '(' | '[' if open > 0 => open -= 1,
            '(' => {
                let name = front.get(..at).unwrap_or_default().trim_end();
                return FILLERS.iter().any(|filler| name.ends_with(filler));
            }
            ';' | '\n' => return false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
