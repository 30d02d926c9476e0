use super::{CommandCheck, Situation};
use crate::digest::Digest;
use crate::level::Level;

/// How a check looks at the world. What cannot be found out is an error, and then the check is not met.
pub trait Surveyor {
    /// What is at a path, or what matches a glob, relative to the project's root. Empty when nothing is.
    ///
    /// # Errors
    /// When it cannot be told.
    fn look(&self, pattern: &str) -> Result<Vec<Found>, String>;

    /// What stands for the content of everything that matches; `None` when nothing does.
    ///
    /// # Errors
    /// When it cannot be told.
    fn fingerprint(&self, pattern: &str) -> Result<Option<Digest>, String>;

    /// What stands for every file of the project, those that git ignores left out; `None` when there is no cheap
    /// way to tell.
    ///
    /// # Errors
    /// When it cannot be told.
    fn tree(&self) -> Result<Option<Digest>, String>;

    /// Runs a command to its end, or to the end of its time. It may be shown the situation.
    fn run(&self, command: &CommandCheck, situation: &Situation<'_>) -> Ran;

    /// Asks a check in code.
    ///
    /// # Errors
    /// When there is no such check, or it has no answer.
    fn ask(&self, name: &str, situation: &Situation<'_>) -> Result<Checked, String> {
        let _ = situation;
        Err(format!("there is no check `{name}` here"))
    }

    /// The titles of open findings from that level on.
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
    /// Whether it is a file rather than a directory or something else.
    pub is_file: bool,
    /// Its size.
    pub bytes: u64,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ran {
    /// It said itself what is missing.
    Incomplete(String),
    /// By itself, with this exit code; `None` when a signal ended it.
    Ended {
        /// The exit code.
        code: Option<i32>,
        /// The end of what it printed.
        tail: String,
    },
    /// It took too long.
    TimedOut {
        /// The end of what it printed until then.
        tail: String,
    },
    /// It was not run, and why.
    NotRun(String),
}

/// What a check in code says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// It is met.
    Complete,
    /// It is not, and what is missing.
    Incomplete(String),
}
