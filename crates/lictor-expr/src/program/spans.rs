//! The spans of a program's nodes, four bytes each: loaded with the program by every hook, but used only for
//! explanations.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::span::Span;

/// The spans of nodes, in order. The offsets are wide enough for every source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans(Vec<u8>);

impl Spans {
    /// The number of spans; `None` if the bytes are not spans.
    pub(crate) fn count(&self) -> Option<usize> {
        let (spans, rest) = self.0.as_chunks::<4>();
        rest.is_empty().then_some(spans.len())
    }

    pub(crate) fn get(&self, index: usize) -> Option<Span> {
        let [a, b, c, d] = *self.0.as_chunks().0.get(index)?;
        Some(Span { start: u16::from_le_bytes([a, b]).into(), end: u16::from_le_bytes([c, d]).into() })
    }
}

impl FromIterator<Span> for Spans {
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        let offset = |at: u32| u16::try_from(at).unwrap_or(u16::MAX).to_le_bytes();
        Self(spans.into_iter().flat_map(|span| [offset(span.start), offset(span.end)]).flatten().collect())
    }
}

impl Serialize for Spans {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Spans {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(Bytes).map(Self)
    }
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    /// Formats without bytes have numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}
