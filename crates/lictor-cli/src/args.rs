//! What nearly every command takes.

use std::path::PathBuf;

use clap::Args;

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
