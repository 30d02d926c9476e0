//! `lictor completions`: dynamic shell completions. The shell calls this program, so that ids can be completed.

use std::ffi::OsString;

use anyhow::Result;
use clap::{Args, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, EnvCompleter, Fish, Shells, Zsh};

use crate::exit::Exit;
use crate::output;

/// The variable with which the printed script requests completions.
const VARIABLE: &str = "LICTOR_COMPLETE";
const SHELLS: Shells<'static> = Shells(&[&Bash, &Zsh, &Fish]);

/// Print a shell script that completes `lictor` commands.
#[derive(Debug, Args)]
#[command(after_help = "\
Sessions and approvals are completed too. The shell should read the script anew when it starts:
it belongs to this version.

Examples:
  source <(lictor completions bash)
  lictor completions fish | source")]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Runs the command.
pub fn run(args: &CompletionsArgs) -> Result<Exit> {
    let shell: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "lictor", "lictor", "lictor", &mut script)?;
    output::print_exact(&String::from_utf8(script)?)?;
    Ok(Exit::Ok)
}

/// Handles a shell's request for completions. False if there is none.
///
/// # Errors
/// A shell that is not known.
pub fn answered(words: &[OsString], definition: fn() -> clap::Command) -> Result<bool, clap::Error> {
    let cwd = std::env::current_dir().ok();
    CompleteEnv::with_factory(definition)
        .var(VARIABLE)
        .shells(SHELLS)
        .try_complete(words.iter().cloned(), cwd.as_deref())
}
