//! What feedback and the stop gate may ask about the world, and what is known where nobody looks.

use lictor_core::completion::{CommandCheck, Found, Ran, Surveyor};
use lictor_core::feedback::{Feedback, Moment, Provider};
use lictor_core::level::Level;
use lictor_core::{Digest, SessionKey};

/// What feedback and the stop gate see of the world: files, programs, findings.
pub trait Surroundings: Surveyor + Send + Sync {
    /// What a provider says that the model alone cannot answer for: findings, a program.
    ///
    /// # Errors
    /// When it cannot be found out. The agent is not told, the log is.
    fn consult(
        &self,
        provider: &Provider,
        session: &SessionKey,
        moment: &Moment<'_>,
    ) -> Result<Option<Feedback>, String>;
}

/// Nobody looks, and nothing is taken for granted.
pub(crate) struct Unseen;

const NOBODY: &str = "No filesystem, store or program can be looked at here";

impl Surveyor for Unseen {
    fn look(&self, _pattern: &str) -> Result<Vec<Found>, String> {
        Err(NOBODY.to_owned())
    }

    fn fingerprint(&self, _pattern: &str) -> Result<Option<Digest>, String> {
        Err(NOBODY.to_owned())
    }

    fn tree(&self) -> Result<Option<Digest>, String> {
        Err(NOBODY.to_owned())
    }

    fn run(&self, _command: &CommandCheck) -> Ran {
        Ran::NotRun(NOBODY.to_owned())
    }

    fn open_findings(&self, _at_least: Level) -> Result<Vec<String>, String> {
        Err(NOBODY.to_owned())
    }
}

impl Surroundings for Unseen {
    fn consult(
        &self,
        _provider: &Provider,
        _session: &SessionKey,
        _moment: &Moment<'_>,
    ) -> Result<Option<Feedback>, String> {
        Err(NOBODY.to_owned())
    }
}
