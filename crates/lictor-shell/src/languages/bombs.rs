//! Values that exceed any memory, in any language: `'x' * 10**12`, `"a" x 1e10`, `"a".ljust(2**34)`.

/// From here on a single value counts as one that is made to fill memory.
const TOO_LONG: f64 = 1e9;

/// A loop with more rounds practically never ends.
const TOO_FAR: f64 = 1e8;

/// Pools of processes or threads, by the end of their name.
const POOLS: [&str; 5] = ["Pool", "ThreadPool", "ProcessPoolExecutor", "ThreadPoolExecutor", "max_workers="];
/// More than any machine runs at once.
const TOO_MANY: f64 = 2000.0;

/// Whether a loop goes over a range that has no end in practice.
pub(super) fn counts_too_far(body: &str) -> bool {
    counts_past(body, TOO_FAR)
}

/// Whether a loop goes over a range up to at least so many.
pub(super) fn counts_past(body: &str, limit: f64) -> bool {
    ["range(", "upto(", "1.."].iter().any(|start| {
        body.match_indices(start).any(|(at, found)| {
            let inside = body.get(at + found.len()..).unwrap_or_default();
            let inside = inside.split([')', '\n', ':']).next().unwrap_or_default();
            inside.split(',').any(|part| number(part.trim_start()).0 >= limit)
        })
    })
}

/// Whether a pool is made for more workers than any machine runs.
pub(super) fn starts_too_many(body: &str) -> bool {
    POOLS.iter().any(|pool| {
        body.match_indices(pool).any(|(at, found)| {
            let inside = body.get(at + found.len()..).unwrap_or_default().trim_start_matches('(');
            number(inside).0 >= TOO_MANY && inside.starts_with(|letter: char| letter.is_ascii_digit())
        })
    })
}

/// Whether one value is made longer than any memory.
pub(super) fn fills_memory(body: &str) -> bool {
    let mut rest = body;
    let mut at = 0;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let front = body.get(..at + start).unwrap_or_default();
        // The elements of an array are no sizes.
        let elements = ["rray([", "bytes([", "from(["].iter().any(|start| front.ends_with(start));
        let number = if elements { number } else { product };
        let (value, length) = number(rest.get(start..).unwrap_or_default());
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

/// Adjacent numbers as the dimensions of an array: `(100000, 100000, 10)`.
fn product(text: &str) -> (f64, usize) {
    let (mut value, mut length) = number(text);
    while let Some(next) = text.get(length..).and_then(|rest| rest.strip_prefix(", ")) {
        if !next.starts_with(|letter: char| letter.is_ascii_digit()) || value < 2.0 {
            break;
        }
        let (more, taken) = number(next);
        value *= more.max(1.0);
        length += 2 + taken;
    }
    (value, length)
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
            '(' if front.get(..at).unwrap_or_default().ends_with('(') => {}
            '(' => {
                let name = front.get(..at).unwrap_or_default().trim_end();
                return crate::words::FILLS_MEMORY.iter().any(|filler| name.ends_with(filler));
            }
            ';' | '\n' => return false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
