//! `lictor uninstall`: removes Lictor from every project and from this machine. The record stays unless
//! `--records` is given.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;

use super::init;
use super::init::receipts::Receipts;
use crate::args::Common;
use crate::exit::Exit;
use crate::here;
use crate::output::{self, Style};

/// Remove Lictor from every project and from this machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Restores the settings of your agents in every project that `lictor init` was run in, then removes
the program from ~/.local/bin or ~/.cargo/bin; elsewhere it belongs to a package manager. Shows
what it would do and asks. The record and your own policy stay unless `--records` is given.
One project only: `lictor init --uninstall`. The whole machine's settings: `lictor init
--uninstall --scope managed`, as root.

Examples:
  lictor uninstall
  lictor uninstall --yes --records

Exit codes: 0 done or nothing to do, 3 nothing was removed because nobody said yes.")]
pub struct UninstallArgs {
    /// Do it without asking.
    #[arg(long)]
    yes: bool,
    /// Remove the record of all projects, your keys and your own policy file too. This cannot be undone.
    #[arg(long)]
    records: bool,
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
pub fn run(args: &UninstallArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    here::people_only("uninstall", &project)?;
    let mut receipts = Receipts::load()?;
    let plan = init::leave_everywhere(&project, &receipts)?;
    let removed = removed(args.records)?;
    // Determined before the files are removed.
    let kept = kept(args.records)?;
    if !args.common.json {
        let files = plan.changes().map(|change| (change.verb() == "removed", change.path()));
        let others = removed.iter().map(|path| (true, path.as_path()));
        let lines = files.chain(others).map(|(goes, path)| {
            let what = if goes { "to be removed: " } else { "to be restored:" };
            format!("{what} {}\n", path.display())
        });
        output::print(&lines.collect::<String>())?;
    }
    let nothing = plan.is_empty() && removed.is_empty();
    if nothing && !args.common.json {
        output::print("nothing to do\n")?;
        return Ok(Exit::Ok);
    }
    let agreed = args.yes || (!args.common.json && init::said_yes("do this?")?);
    if agreed {
        plan.apply(&mut receipts)?;
        receipts.remove_directories();
        receipts.save()?;
        // The program is removed last: until then this can be run again.
        for path in &removed {
            remove(path)?;
        }
    }
    if args.common.json {
        output::print_json(&json!({
            "changes": plan.changes().map(|change| change.to_json()).collect::<Vec<_>>(),
            "removed": removed,
            "kept": kept,
            "notes": plan.notes,
            "done": agreed,
        }))?;
    } else {
        output::print(&closing(&plan.notes, &kept, agreed))?;
    }
    Ok(if agreed || nothing { Exit::Ok } else { Exit::Ask })
}

/// The files on this machine that belong to Lictor.
fn removed(records: bool) -> Result<Vec<PathBuf>> {
    let dirs = here::dirs();
    let mut paths = Vec::new();
    if records {
        paths.extend([dirs.state, dirs.user_policy]);
    }
    paths.push(dirs.cache);
    let program = here::own_binary()?;
    if is_installed_by_us(&program) {
        paths.push(program);
    }
    paths.retain(|path| fs::symlink_metadata(path).is_ok());
    Ok(paths)
}

/// A program anywhere else belongs to a package manager or to a build directory.
fn is_installed_by_us(program: &Path) -> bool {
    let home = here::dirs().home;
    program
        .parent()
        .is_some_and(|parent| parent == home.join(".local/bin") || parent == home.join(".cargo/bin"))
}

/// The files that stay, for the message.
fn kept(records: bool) -> Result<Vec<PathBuf>> {
    let dirs = here::dirs();
    let mut paths = if records { Vec::new() } else { vec![dirs.state, dirs.user_policy] };
    let program = here::own_binary()?;
    if !is_installed_by_us(&program) {
        paths.push(program);
    }
    Ok(paths.into_iter().filter(|path| path.exists()).collect())
}

fn remove(path: &Path) -> Result<()> {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let done = if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match done {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove `{}`", path.display()))
        }
        _ => Ok(()),
    }
}

fn closing(notes: &[String], kept: &[PathBuf], agreed: bool) -> String {
    let style = Style::stdout();
    let mut text = String::new();
    for note in notes {
        text += &format!("{} {note}\n", style.yellow("note:"));
    }
    if !agreed {
        return text + "\nnothing was removed. Run the same with `--yes` to do this.\n";
    }
    text += "\nLictor is gone; your agents are not governed any more.\n";
    for path in kept {
        text += &format!("kept {}\n", path.display());
    }
    text
}
