use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::digest::Digest;

/// How many calls whose outcome was seen are remembered, so that a second report counts for nothing.
pub const CLOSED_KEPT: usize = 16;
/// How many digits of an id's digest stand for it.
const DIGITS: usize = 16;

/// Calls whose outcome has been seen, by the agent's id, oldest first.
///
/// Every hook reads and writes all of it, so it is kept as it is written: one text, [`DIGITS`] a call, whatever ids look
/// like.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Closed(String);

impl Closed {
    /// Whether no outcome of a call with an id has been seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the outcome of that call has been seen.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.knows(short(id, &mut [0; Digest::DIGITS]))
    }

    /// The outcome of that call is seen. Returns whether it is for the first time.
    pub(super) fn insert(&mut self, id: &str) -> bool {
        let mut room = [0; Digest::DIGITS];
        let id = short(id, &mut room);
        if self.knows(id) {
            return false;
        }
        self.push(id);
        true
    }

    fn knows(&self, short: &str) -> bool {
        self.0.as_bytes().chunks_exact(DIGITS).any(|known| known == short.as_bytes())
    }

    fn push(&mut self, short: &str) {
        if self.0.len() >= CLOSED_KEPT * DIGITS {
            self.0.drain(..DIGITS);
        }
        self.0.push_str(short);
    }
}

/// What stands for an id.
fn short<'a>(id: &str, room: &'a mut [u8; Digest::DIGITS]) -> &'a str {
    Digest::of(id.as_bytes()).text(room).get(..DIGITS).unwrap_or_default()
}

/// Sessions of older versions have the ids themselves.
impl<'de> Deserialize<'de> for Closed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Calls;

        impl<'de> Visitor<'de> for Calls {
            type Value = Closed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the calls whose outcome was seen")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Closed, E> {
                let fits = text.len() <= CLOSED_KEPT * DIGITS
                    && text.len().is_multiple_of(DIGITS)
                    && text.is_ascii();
                if fits { Ok(Closed(text.to_owned())) } else { Err(E::custom("not a list of closed calls")) }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut ids: A) -> Result<Closed, A::Error> {
                let mut closed = Closed::default();
                while let Some(id) = ids.next_element::<String>()? {
                    closed.insert(&id);
                }
                Ok(closed)
            }
        }

        deserializer.deserialize_any(Calls)
    }
}
