//! Risk in integer thousandths: exact, saturating, never down.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A risk score from 0 to 1000 thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(from = "u16", into = "u16")]
pub struct Risk(u16);

impl From<u16> for Risk {
    fn from(thousandths: u16) -> Self {
        Self::thousandths(thousandths)
    }
}

impl From<Risk> for u16 {
    fn from(risk: Risk) -> Self {
        risk.0
    }
}

impl Risk {
    /// None.
    pub const NONE: Self = Self(0);
    /// As high as it goes.
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
