//! Many small numbers as one short text.
//!
//! A session's state is read and written by every hook. A list of times as JSON costs some fourteen characters and a
//! parsed number each; as the distances between them, five bits a character, it is two or three characters.

/// The last digit of a number is its bits from here: `0` to `O`.
const LAST: u8 = b'0';
/// A digit that others follow is its bits from here: `]` to `|`, none of which JSON has to escape.
const MORE: u8 = b']';

/// Appends a number, lowest bits first.
pub(crate) fn push(text: &mut String, mut number: u64) {
    let bits = |number: u64| {
        let [low, ..] = number.to_le_bytes();
        low & 31
    };
    while number > 31 {
        text.push(char::from(MORE + bits(number)));
        number >>= 5;
    }
    text.push(char::from(LAST + bits(number)));
}

/// The numbers of a text; `None` stands for what [`push`] did not write.
pub(crate) fn numbers(mut text: &str) -> impl Iterator<Item = Option<u64>> + '_ {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let found = first(text);
        text = found.map_or("", |(_, rest)| rest);
        Some(found.map(|(number, _)| number))
    })
}

/// The number at the beginning of a text, and what follows it.
#[inline]
pub(crate) fn first(text: &str) -> Option<(u64, &str)> {
    let mut number = 0;
    for (shift, (place, digit)) in (0..).step_by(5).zip(text.bytes().enumerate()) {
        let last = digit < MORE;
        let bits = u64::from(digit.checked_sub(if last { LAST } else { MORE }).filter(|bits| *bits < 32)?);
        if bits.leading_zeros() < shift {
            return None;
        }
        number |= bits << shift;
        if last {
            return text.get(place + 1..).map(|rest| (number, rest));
        }
    }
    None
}

#[cfg(test)]
mod tests;
