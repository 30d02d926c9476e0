//! `lictor completions`: words that a shell can finish.

use anyhow::Result;
use clap::{Args, ValueEnum};
use clap_complete::generate;
use clap_complete::shells::{Bash, Fish, Zsh};

use crate::exit::Exit;
use crate::output;

/// Print what lets a shell complete `lictor` commands.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  source <(lictor completions bash)
  lictor completions fish > ~/.config/fish/completions/lictor.fish")]
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
pub fn run(args: &CompletionsArgs, mut cli: clap::Command) -> Result<Exit> {
    let mut script = Vec::new();
    match args.shell {
        Shell::Bash => generate(Bash, &mut cli, "lictor", &mut script),
        Shell::Zsh => generate(Zsh, &mut cli, "lictor", &mut script),
        Shell::Fish => generate(Fish, &mut cli, "lictor", &mut script),
    }
    output::print(&String::from_utf8(script)?)?;
    Ok(Exit::Ok)
}
