use std::collections::VecDeque;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::clock::Timestamp;
use crate::digits;

/// When something happened, oldest first: the newest moments, as many as are asked for.
///
/// Written as one text of [`digits`]: each moment as how long it came after the one before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Times(VecDeque<Timestamp>);

impl Times {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Timestamp> + '_ {
        self.0.iter().copied()
    }

    /// One more moment; those more than `window` milliseconds before it go, and those beyond `most`. A clock that went
    /// back makes no room.
    pub(super) fn push(&mut self, at: Timestamp, window: u64, most: usize) {
        let at = self.0.back().map_or(at, |newest| at.max(*newest));
        self.0.push_back(at);
        let horizon = at.plus_millis(-i64::try_from(window).unwrap_or(i64::MAX));
        while self.0.len() > most || self.0.front().is_some_and(|oldest| *oldest < horizon) {
            self.0.pop_front();
        }
    }
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(self.0.len() * 3 + 16);
        let mut before = 0;
        for Timestamp(at) in &self.0 {
            // Wraps for a moment before the epoch, and back when it is read.
            digits::push(&mut text, at.wrapping_sub(before).cast_unsigned());
            before = *at;
        }
        serializer.serialize_str(&text)
    }
}

/// Sessions of older versions have a list of moments.
impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Moments;

        impl<'de> Visitor<'de> for Moments {
            type Value = Times;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("moments")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Times, E> {
                let mut at = 0_i64;
                let moment = |gap: Option<u64>| {
                    at = at.wrapping_add(gap?.cast_signed());
                    Some(Timestamp(at))
                };
                let times: Option<_> = digits::numbers(text).map(moment).collect();
                times.map(Times).ok_or_else(|| E::custom("not moments"))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut moments: A) -> Result<Times, A::Error> {
                let mut times = VecDeque::new();
                while let Some(at) = moments.next_element()? {
                    times.push_back(at);
                }
                Ok(Times(times))
            }
        }

        deserializer.deserialize_any(Moments)
    }
}
