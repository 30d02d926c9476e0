//! Arguments that nearly every command takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lictor_core::Decision;

/// Where, and in what form.
#[derive(Debug, Args)]
pub struct Common {
    /// Directory of the project.
    #[arg(long, value_name = "DIR", default_value = ".", global = true, value_parser = directory)]
    pub cwd: PathBuf,
    /// Print JSON; `lictor schema --output COMMAND` prints its form.
    #[arg(long, global = true)]
    pub json: bool,
}

/// An existing directory.
pub fn directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such directory".to_owned()) }
}

/// How many of something: at least one.
pub fn some(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "write a number from 1 on".to_owned())
}

/// The number of a decision.
pub fn decision(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix('#').unwrap_or(text).parse();
    number.map_err(|_| {
        "write the number that Lictor gave with the decision; `lictor log` shows them".to_owned()
    })
}

/// How strict a decision is, as people type it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Strictness {
    Pass,
    Warn,
    Ask,
    Block,
}

impl From<Strictness> for Decision {
    fn from(strictness: Strictness) -> Self {
        match strictness {
            Strictness::Pass => Self::Pass,
            Strictness::Warn => Self::Warn,
            Strictness::Ask => Self::Ask,
            Strictness::Block => Self::Block,
        }
    }
}
