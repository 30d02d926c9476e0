//! SHA-256 digests over canonical bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, shown as 64 lower-case hexadecimal digits.
///
/// SHA-256 rather than something faster because an auditor can check the chain with tools that are on
/// every machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The predecessor of the first link of a chain: all zero.
    pub const ZERO: Self = Self([0; 32]);

    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of several parts. Each part is preceded by its length, so that moving bytes from one part
    /// to the next changes the digest.
    #[must_use]
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// The raw bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From raw bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// How many hexadecimal digits a digest has.
    pub(crate) const DIGITS: usize = 64;

    /// Writes the hexadecimal digits into `room`.
    pub(crate) fn text<'a>(&self, room: &'a mut [u8; Self::DIGITS]) -> &'a str {
        let digit = |bits: u8| if bits < 10 { b'0' + bits } else { b'a' + bits - 10 };
        for (pair, byte) in room.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        std::str::from_utf8(room).unwrap_or_default()
    }

    /// The first twelve hexadecimal digits, as shown to people.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(&mut [0; Self::DIGITS]))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

/// Text that is not 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a digest: 64 hexadecimal digits are needed")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let digits: &[u8; Self::DIGITS] = text.as_bytes().try_into().map_err(|_| NotADigest)?;
        let mut bytes = [0u8; 32];
        // Collects the error bits of all digits and checks them once at the end, because every hook parses
        // digests.
        let mut wrong = 0;
        for (byte, pair) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
            let [high, low] = *pair;
            let (high, low) = (hex_value(high), hex_value(low));
            wrong |= high | low;
            *byte = high << 4 | low & 15;
        }
        if wrong > 15 { Err(NotADigest) } else { Ok(Self(bytes)) }
    }
}

const NO_DIGIT: u8 = 0xff;

#[inline]
fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => NO_DIGIT,
    }
}

impl Serialize for Digest {
    /// Hexadecimal digits in readable formats, raw bytes otherwise.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(self.text(&mut [0; Self::DIGITS]))
        } else {
            serializer.serialize_bytes(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;

        impl serde::de::Visitor<'_> for Digits {
            type Value = Digest;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("64 hexadecimal digits, or 32 bytes")
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Digest, E> {
                bytes.try_into().map(Digest).map_err(|_| E::invalid_length(bytes.len(), &self))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Digest, E> {
                text.parse().map_err(E::custom)
            }
        }

        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Digits)
        } else {
            deserializer.deserialize_bytes(Digits)
        }
    }
}
