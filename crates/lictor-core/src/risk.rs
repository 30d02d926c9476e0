//! Risk in integer thousandths: exact, saturating, never decreasing.

use std::fmt;

use serde::de::Unexpected;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A risk score from 0 to 1000 thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Risk(u16);

impl Serialize for Risk {
    /// A fraction from 0 to 1 in readable formats, thousandths in binary ones.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (serializer.is_human_readable(), self.is_none()) {
            (false, _) => serializer.serialize_u16(self.0),
            (true, true) => serializer.serialize_u16(0),
            (true, false) => serializer.serialize_f64(self.as_fraction()),
        }
    }
}

impl<'de> Deserialize<'de> for Risk {
    /// Integers above one are thousandths, as in records of earlier versions.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Number)
        } else {
            u16::deserialize(deserializer).map(Self::thousandths)
        }
    }
}

struct Number;

impl de::Visitor<'_> for Number {
    type Value = Risk;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a risk from 0 to 1")
    }

    fn visit_f64<E: de::Error>(self, fraction: f64) -> Result<Risk, E> {
        Risk::from_fraction(fraction).ok_or_else(|| E::invalid_value(Unexpected::Float(fraction), &self))
    }

    fn visit_u64<E: de::Error>(self, thousandths: u64) -> Result<Risk, E> {
        // Languages with a single number type write the highest risk as `1`.
        if thousandths == 1 {
            return Ok(Risk::MAX);
        }
        let number = u16::try_from(thousandths);
        Ok(Risk::thousandths(number.map_err(|_| E::invalid_value(Unexpected::Unsigned(thousandths), &self))?))
    }
}

impl Risk {
    /// None.
    pub const NONE: Self = Self(0);
    /// The highest risk.
    pub const MAX: Self = Self(1000);

    /// So many thousandths, at most 1000.
    #[must_use]
    pub fn thousandths(value: u16) -> Self {
        Self(value.min(1000))
    }

    /// From a fraction. Negative, not-a-number and infinite values are not risks.
    #[must_use]
    pub fn from_fraction(value: f64) -> Option<Self> {
        if !value.is_finite() || value < 0.0 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in 0..=1000 after min")]
        let thousandths = (value.min(1.0) * 1000.0).round() as u16;
        Some(Self(thousandths))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0 == 0
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0).min(1000))
    }

    /// In thousandths.
    #[must_use]
    pub fn in_thousandths(self) -> u16 {
        self.0
    }

    /// As a fraction between 0 and 1.
    #[must_use]
    pub fn as_fraction(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

#[cfg(test)]
mod tests;
