use std::collections::VecDeque;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::clock::Timestamp;
use crate::digits;

/// How many seconds are looked back.
const WINDOW_SECONDS: i64 = 60;

/// Counts per second over the last minute, oldest first. At most one entry a second is kept.
///
/// Written as one text of [`digits`]: for each second twice the time since the one before it, and its count where that is
/// not one; then the first number is odd.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pace(VecDeque<(i64, u32)>);

impl Pace {
    /// Counts one more at that time. A clock that went back does not make room: the newest second goes on counting.
    pub(super) fn keep(&mut self, at: Timestamp) {
        let second = second(at).max(self.0.back().map_or(i64::MIN, |(last, _)| *last));
        match self.0.back_mut() {
            Some((last, count)) if *last == second => *count = count.saturating_add(1),
            _ => self.0.push_back((second, 1)),
        }
        while self.0.front().is_some_and(|(first, _)| *first <= second.saturating_sub(WINDOW_SECONDS)) {
            self.0.pop_front();
        }
    }

    pub(super) fn in_last_minute(&self, now: Timestamp) -> u64 {
        let from = second(now).saturating_sub(WINDOW_SECONDS);
        self.0.iter().filter(|(at, _)| *at > from).map(|(_, count)| u64::from(*count)).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Pace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(self.0.len() * 2 + 16);
        let mut before = 0;
        for (second, count) in &self.0 {
            // A second is a thousandth of a moment, so the highest bits are all the same and the shift loses nothing.
            let gap = second.wrapping_sub(before).cast_unsigned() << 1;
            digits::push(&mut text, gap | u64::from(*count != 1));
            if *count != 1 {
                digits::push(&mut text, u64::from(*count));
            }
            before = *second;
        }
        serializer.serialize_str(&text)
    }
}

/// Sessions of older versions have a list of pairs.
impl<'de> Deserialize<'de> for Pace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seconds;

        impl<'de> Visitor<'de> for Seconds {
            type Value = Pace;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("counts per second")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Pace, E> {
                let mut pace = VecDeque::with_capacity(text.len() / 2);
                let mut numbers = digits::numbers(text);
                let mut second = 0_i64;
                while let Some(gap) = numbers.next() {
                    let count = match gap {
                        Some(gap) if gap & 1 == 1 => numbers.next().flatten(),
                        _ => Some(1),
                    };
                    let count = count.and_then(|count| u32::try_from(count).ok());
                    let (Some(gap), Some(count)) = (gap, count) else {
                        return Err(E::custom("not counts per second"));
                    };
                    second = second.wrapping_add(gap.cast_signed() >> 1);
                    pace.push_back((second, count));
                }
                Ok(Pace(pace))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Pace, A::Error> {
                let mut pace = VecDeque::new();
                while let Some(pair) = pairs.next_element()? {
                    pace.push_back(pair);
                }
                Ok(Pace(pace))
            }
        }

        deserializer.deserialize_any(Seconds)
    }
}

fn second(at: Timestamp) -> i64 {
    at.0.div_euclid(1000)
}
