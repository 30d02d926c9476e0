//! What nearly every command takes.

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

/// A directory that is there.
pub fn directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such directory".to_owned()) }
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
