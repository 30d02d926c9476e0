//! `lictor export`, `lictor import`: a person's decisions for a project, as a file for others.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use lictor::PersonKey;
use lictor::share::{self, Shared, Taken};
use lictor_core::Timestamp;
use lictor_core::text::visible_line;
use serde_json::json;

use super::init;
use crate::args::Common;
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};
use crate::time_format;

/// Print your decisions for this project: trusted programs, waivers, exceptions, remembered tools.
#[derive(Debug, Args)]
#[command(after_help = "\
The file is plain YAML to be read before it is taken over, and signed with your key: a changed one
is refused. Exceptions and tools are those of your own policy file (`bash_safety.allow`,
`exceptions`, `known_tools.remembered`). What is about files outside of the project stays; it is
named on standard error.

Examples:
  lictor export > lictor-shared.yaml
  lictor import lictor-shared.yaml")]
pub struct ExportArgs {
    #[command(flatten)]
    common: Common,
}

/// Import another person's decisions for this project.
#[derive(Debug, Args)]
#[command(after_help = "\
Shows what would count here and asks. A program is trusted only if its files are the same here.

Examples:
  lictor import lictor-shared.yaml
  lictor import lictor-shared.yaml --yes

Exit codes: 0 taken over or nothing to do, 3 nothing was taken over because nobody said yes.")]
pub struct ImportArgs {
    /// The file that `lictor export` wrote.
    file: PathBuf,
    /// Take it over without asking.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    common: Common,
}

/// Runs `lictor export`.
pub fn export(args: &ExportArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    here::people_only("export", &project)?;
    let key = PersonKey::open_or_create(&project.person_keys())?;
    let shared = Shared::collect(&project, &here::person(), time_format::now(), &key)?;
    if args.common.json {
        output::print_json(&shared)?;
    } else {
        output::print_exact(&dated(&shared.to_yaml()?))?;
    }
    for left in share::left_out(&project)? {
        let left = visible_line(&left);
        output::tell(&format!("note: not exported, because its file is not in this project: {left}\n"));
    }
    Ok(Exit::Ok)
}

/// The same text with each time as a readable comment: people review the file before they import it.
fn dated(yaml: &str) -> String {
    let time = |line: &str| {
        let (key, value) = line.trim_start_matches([' ', '-']).split_once(": ")?;
        let millis = value.parse().ok().filter(|_| matches!(key, "at" | "until"))?;
        Some(format!("{line}  # {}\n", time_format::utc(Timestamp(millis))))
    };
    yaml.lines().map(|line| time(line).unwrap_or_else(|| format!("{line}\n"))).collect()
}

/// Runs `lictor import`.
pub fn import(args: &ImportArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    here::people_only("import", &project)?;
    let name = args.file.display().to_string();
    let bytes = fs::read(&args.file).map_err(|error| exit::unreadable(&args.file, &error))?;
    let shared = Shared::read(&name, &bytes).map_err(|error| exit::usage(error.to_string()))?;
    let (by, at) = (here::person(), time_format::now());
    let would = shared.apply(&project, &by, at, true)?;
    let something = would.iter().any(|entry| entry.taken);
    if !args.common.json {
        output::print(&told(&shared, &would))?;
    }
    let agreed = something && (args.yes || (!args.common.json && init::said_yes("take this over?")?));
    if agreed {
        shared.apply(&project, &by, at, false)?;
    }
    if args.common.json {
        output::print_json(&json!({"by": shared.by, "entries": would, "taken_over": agreed}))?;
    } else if agreed {
        output::print("taken over\n")?;
    } else if something {
        output::print("\nnothing was taken over. Run the same with `--yes` to do it.\n")?;
    } else {
        output::print("nothing to take over\n")?;
    }
    Ok(if agreed || !something { Exit::Ok } else { Exit::Ask })
}

fn told(shared: &Shared, entries: &[Taken]) -> String {
    let style = Style::stdout();
    let key = shared.seal.as_ref().map_or("", |seal| seal.key.as_str());
    let mut text = format!(
        "from {}, {}, signed with key {}\n",
        visible_line(&shared.by),
        time_format::local(shared.at),
        key.get(..12).unwrap_or(key)
    );
    for entry in entries {
        let word = if entry.taken { style.green("+") } else { style.dim("-") };
        text += &format!("{word} {}\n", visible_line(&entry.what));
        if let Some(why) = &entry.why {
            text += &format!("    not taken over: {why}\n");
        }
    }
    text
}
