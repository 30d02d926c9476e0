//! `lictor trust`: let the programs run that a repository's policy names.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::verdict::Desk;
use crate::councils;
use crate::exit::Exit;
use crate::output;
use crate::policy;
use crate::when;

/// Pin the programs that the repository's policy runs, as they are now.
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Trust them all without asking.
    #[arg(long)]
    yes: bool,
    /// Only list them.
    #[arg(long, conflicts_with = "yes")]
    list: bool,
    /// Directory of the project.
    #[arg(long, value_name = "DIR", default_value = ".")]
    cwd: PathBuf,
}

/// Runs the command.
pub fn run(args: &TrustArgs) -> Result<Exit> {
    let desk = Desk::open(&args.cwd, true)?;
    let root = &desk.project.root;
    let programs = councils::programs(&policy::in_force(&desk.project)?)?;
    if programs.is_empty() {
        output::print("the repository's policy runs no programs\n")?;
    }
    for program in programs {
        let trusted = program.is_trusted(&desk.store, root)?;
        let line = format!("{}: {}", program.what, program.argv.join(" "));
        if trusted || args.list {
            output::print(&format!("{}  {line}\n", if trusted { "trusted    " } else { "not trusted" }))?;
            continue;
        }
        if args.yes || confirmed(&line)? {
            program.trust(&desk.store, root, &super::verdict::person(), when::now())?;
            output::print(&format!("trusted      {line}\n"))?;
        }
    }
    Ok(Exit::Ok)
}

fn confirmed(line: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        output::print(&format!("not trusted  {line}\n"))?;
        return Ok(false);
    }
    output::print(&format!("let this run: {line} [y/N] "))?;
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
