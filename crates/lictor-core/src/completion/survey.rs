use super::{CommandCheck, Situation};
use crate::digest::Digest;
use crate::level::Level;

/// How a check reads the project. On an error the check is not met.
pub trait Surveyor {
    /// The files at a path, or those that match a glob, relative to the project root. Empty when there are none.
    ///
    /// # Errors
    /// When this cannot be determined.
    fn look(&self, pattern: &str) -> Result<Vec<Found>, String>;

    /// A digest of the content of everything that matches; `None` when nothing does.
    ///
    /// # Errors
    /// When this cannot be determined.
    fn fingerprint(&self, pattern: &str) -> Result<Option<Digest>, String>;

    /// A digest of every project file that git does not ignore; `None` when there is no cheap way to compute it.
    ///
    /// # Errors
    /// When this cannot be determined.
    fn tree(&self) -> Result<Option<Digest>, String>;

    /// Runs a command until it ends or its time limit is reached. The command may receive the situation.
    fn run(&self, command: &CommandCheck, situation: &Situation<'_>) -> Ran;

    /// Calls a check that is implemented in code.
    ///
    /// # Errors
    /// When there is no such check, or it returns no answer.
    fn ask(&self, name: &str, situation: &Situation<'_>) -> Result<Checked, String> {
        let _ = situation;
        Err(format!("there is no check `{name}` here"))
    }

    /// The titles of open findings at this level or above.
    ///
    /// # Errors
    /// When they cannot be read.
    fn open_findings(&self, at_least: Level) -> Result<Vec<String>, String>;
}

/// Something at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The path.
    pub path: String,
    /// Whether it is a regular file.
    pub is_file: bool,
    /// Its size.
    pub bytes: u64,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ran {
    /// It reported what is missing.
    Incomplete(String),
    /// It exited with this code; `None` when a signal ended it.
    Ended {
        /// The exit code.
        code: Option<i32>,
        /// The end of what it printed.
        tail: String,
    },
    /// It took too long.
    TimedOut {
        /// The end of what it printed up to then.
        tail: String,
    },
    /// It was not run, and why.
    NotRun(String),
}

/// The result of a check in code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// It is met.
    Complete,
    /// It is not met; the text is what is missing.
    Incomplete(String),
}
