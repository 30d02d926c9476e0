//! `lictor trust`: pins the programs of a repository's policy, so that they may run.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use anyhow::Result;
use clap::Args;
use lictor::{Program, Snapshot, councils};
use lictor_ledger::plain::Plain;
use serde_json::json;

use crate::args::Common;
use crate::exit::Exit;
use crate::here;
use crate::output;
use crate::time_format;

/// Pin the programs of the repository's policy, with their current content.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor trust --list
  lictor trust
  lictor trust --yes

Exit codes: 0 all are trusted, 3 some are not because nobody said yes.")]
pub struct TrustArgs {
    /// Trust them all without asking.
    #[arg(long)]
    yes: bool,
    /// Only list them.
    #[arg(long, conflicts_with = "yes")]
    list: bool,
    #[command(flatten)]
    common: Common,
}

/// So many lines of a program are shown.
const LINES: usize = 40;

/// Runs the command.
pub fn run(args: &TrustArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    if !args.list {
        here::people_only("trust", &project)?;
    }
    let programs = councils::programs(&Snapshot::read(&project)?.policy)?;
    if programs.is_empty() {
        return none(args);
    }
    let store = project.patient_store(true)?;
    let root = &project.root;
    let mut rows = Vec::new();
    for program in programs {
        let shown = format!("{}: {}", program.what, Plain(&program.argv.join(" ")));
        let mut trusted = program.is_trusted(&*store, root)?;
        if !trusted && !args.common.json {
            output::print(&contents(&program, root)?)?;
            if let Some(open) = program.unpinned(root) {
                output::print(&format!(
                    "note: {}; say in the policy what it reads: `reads: [\u{2026}]`\n",
                    Plain(&open)
                ))?;
            }
        }
        if !trusted && !args.list && (args.yes || confirmed(&shown, args.common.json)?) {
            program.trust(&*store, root, &here::person(), time_format::now())?;
            trusted = true;
        }
        if !args.common.json {
            let word = if trusted { "trusted    " } else { "not trusted" };
            output::print(&format!("{word}  {shown}\n"))?;
        }
        rows.push(
            json!({"what": program.what, "argv": program.argv, "reads": program.reads, "trusted": trusted}),
        );
    }
    let left = rows.iter().filter(|row| row.get("trusted") == Some(&false.into())).count();
    if args.common.json {
        output::print_json(&json!({"programs": rows}))?;
    } else if left > 0 && !args.list && !io::stdin().is_terminal() {
        output::print("nobody was there to ask; look at them and run `lictor trust --yes`\n")?;
    }
    // A script that forgot `--yes` must not assume that these are trusted.
    Ok(if left > 0 && !args.list { Exit::Ask } else { Exit::Ok })
}

/// The repository files that determine what would be run.
fn contents(program: &Program, root: &Path) -> Result<String> {
    let mut text = String::new();
    for file in program.files(root)? {
        let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        let content = fs::read(&file).unwrap_or_default();
        let content = String::from_utf8_lossy(&content);
        text += &format!("--- {shown}\n");
        for line in content.lines().take(LINES) {
            text += &format!("| {}\n", output::clipped(line, output::WIDTH - 2));
        }
        let left = content.lines().count().saturating_sub(LINES);
        if left > 0 {
            text += &format!("… {left} more lines\n");
        }
    }
    Ok(text)
}

fn none(args: &TrustArgs) -> Result<Exit> {
    if args.common.json {
        output::print_json(&json!({"programs": []}))?;
    } else {
        output::print("the repository's policy runs no programs\n")?;
    }
    Ok(Exit::Ok)
}

fn confirmed(shown: &str, json: bool) -> Result<bool> {
    if json || !io::stdin().is_terminal() {
        return Ok(false);
    }
    output::print(&format!("let this run: {shown} [y/N] "))?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
