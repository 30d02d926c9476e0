//! Passwords: argon2id, with a limit on guesses.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};

/// The shortest that counts.
pub const SHORTEST: usize = 12;
/// The longest: hashing a book takes a while.
pub const LONGEST: usize = 1_024;

/// Wrong guesses for one person before a pause.
const GUESSES: u32 = 5;
/// The pause.
const PAUSE: Duration = Duration::from_secs(60);
const BYTES: usize = 32;

/// What a password hashes to, with how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hashed {
    salt: String,
    hash: String,
    /// Kibibytes.
    memory: u32,
    passes: u32,
    lanes: u32,
}

/// Why nothing could be hashed.
#[derive(Debug, thiserror::Error)]
#[error("the password cannot be hashed: {0}")]
pub struct PasswordError(String);

impl Hashed {
    /// Hashes a password as OWASP recommends: 19 MiB, two passes.
    ///
    /// # Errors
    /// When the system has no random numbers or no memory.
    pub fn of(password: &str) -> Result<Self, PasswordError> {
        let salt = crate::random::bytes(16).map_err(|error| PasswordError(error.to_string()))?;
        let mut hashed = Self {
            salt: BASE64.encode(&salt),
            hash: String::new(),
            memory: Params::DEFAULT_M_COST,
            passes: Params::DEFAULT_T_COST,
            lanes: Params::DEFAULT_P_COST,
        };
        hashed.hash = BASE64.encode(hashed.work(password)?);
        Ok(hashed)
    }

    fn work(&self, password: &str) -> Result<[u8; BYTES], PasswordError> {
        let wrong = |error: &dyn std::fmt::Display| PasswordError(error.to_string());
        let salt = BASE64.decode(&self.salt).map_err(|error| wrong(&error))?;
        let params = Params::new(self.memory, self.passes, self.lanes, Some(BYTES));
        let params = params.map_err(|error| wrong(&error))?;
        let mut out = [0; BYTES];
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon.hash_password_into(password.as_bytes(), &salt, &mut out).map_err(|error| wrong(&error))?;
        Ok(out)
    }

    /// Whether this is the password.
    ///
    /// # Errors
    /// When it cannot be hashed.
    pub fn fits(&self, password: &str) -> Result<bool, PasswordError> {
        let worked = BASE64.encode(self.work(password)?);
        let differing =
            worked.bytes().zip(self.hash.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        Ok(worked.len() == self.hash.len() && differing == 0)
    }
}

/// Counts wrong guesses.
#[derive(Debug, Default)]
pub struct Guesses(Mutex<HashMap<String, (u32, Instant)>>);

impl Guesses {
    /// Whether one more guess for this person counts.
    #[must_use]
    pub fn may(&self, whose: &str) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(whose).is_none_or(|(wrong, at)| *wrong < GUESSES || at.elapsed() > PAUSE)
    }

    /// Notes how one went.
    pub fn note(&self, whose: &str, right: bool) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (_, at)| at.elapsed() <= PAUSE);
        if right {
            known.remove(whose);
        } else {
            let (wrong, at) = known.entry(whose.to_owned()).or_insert((0, Instant::now()));
            *wrong += 1;
            *at = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_fits_itself_alone_and_hashes_differ() {
        let (one, other) =
            (Hashed::of("correct horse battery").unwrap(), Hashed::of("correct horse battery").unwrap());
        assert_ne!(one, other, "salted");
        assert!(one.fits("correct horse battery").unwrap() && !one.fits("correct horse batterz").unwrap());
        assert!(!serde_json::to_string(&one).unwrap().contains("horse"));
    }

    #[test]
    fn guesses_run_out_for_one_person() {
        let guesses = Guesses::default();
        for _ in 0..GUESSES {
            assert!(guesses.may("acme/ada"));
            guesses.note("acme/ada", false);
        }
        assert!(!guesses.may("acme/ada") && guesses.may("acme/bob"));
        guesses.note("acme/bob", false);
        guesses.note("acme/bob", true);
        assert!(guesses.may("acme/bob"));
    }
}
