//! `lictor allow [ID]`: previews and adds the smallest exception for a stopped action.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::allow::{self, AllowError, Exception, propose};
use lictor::diff;
use lictor::past::{Decided, Wanted, decided, newest_decisions, title};
use lictor::{Project, Snapshot, Store};
use lictor_config::Origin;
use lictor_core::Decision;
use serde_json::json;

use super::{explain, replay, wrong};
use crate::args::{self, Common};
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};
use crate::time_format;

/// Make the smallest exception that lets a stopped action pass. Shows it first.
#[derive(Debug, Args)]
#[command(after_help = "\
Shows the change of the policy file, and what else on the record it would let through. What
protects Lictor itself is never lifted.

Examples:
  lictor allow
  lictor allow 12
  lictor allow 12 --yes
  lictor allow 12 --undo

Exit codes: 0 written, 1 no exception is possible, 3 nothing was written because nobody said yes.")]
pub struct AllowArgs {
    /// The number of the decision; default: the newest stopped one.
    #[arg(value_parser = args::decision)]
    id: Option<u64>,
    /// Write without asking.
    #[arg(long)]
    yes: bool,
    /// Remove the exception for that decision; default: the newest exception.
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    common: Common,
}

/// So many further actions are named.
const SHOWN: usize = 5;

/// Runs the command.
pub fn run(args: &AllowArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    here::people_only("allow", &project)?;
    if args.undo {
        let id = match args.id {
            Some(id) => id,
            None => newest(&project)?,
        };
        return undo(&project, id, args.common.json);
    }
    let store = project.existing_store()?;
    let stopped = find(&*store, args.id)?;
    let exception = propose(&project, &stopped).map_err(|error| match error {
        AllowError::Policy(error) => error.into(),
        error => exit::not_there(error.to_string()),
    })?;
    let current = Arc::new(Snapshot::from_sources(exception.sources.clone(), &project.root)?);
    let others: Vec<String> = replay::newly_allowed(&project, &*store, current)?
        .into_iter()
        .filter(|action| *action != explain::title(&stopped.action))
        .collect();
    if !args.common.json {
        output::print(&preview(&stopped, &exception, &others, Style::stdout()))?;
    }
    let agreed = args.yes || (!args.common.json && agreed()?);
    let mut test = None;
    if agreed {
        exception.write()?;
        test = wrong::add_test(&project, stopped.id, &stopped.action, Decision::Pass).ok();
        let session = stopped.session.as_ref();
        exception.record(&*store, session, &stopped.id.into(), &here::person(), time_format::now())?;
    }
    if args.common.json {
        output::print_json(&json!({
            "id": stopped.id, "file": exception.file(), "entries": exception.entries().collect::<Vec<_>>(),
            "files": exception.changes.iter().map(|change| &change.file).collect::<Vec<_>>(),
            "written": agreed, "also_allows": others, "test": test,
            "wider": exception.changes.iter().flat_map(|change| &change.wider).collect::<Vec<_>>(),
        }))?;
    } else {
        output::print(&closing(&stopped, &exception, test.as_deref(), agreed))?;
    }
    Ok(if agreed { Exit::Ok } else { Exit::Ask })
}

fn find(store: &dyn Store, id: Option<u64>) -> Result<Decided> {
    if let Some(id) = id {
        let record = explain::find(store, id)?;
        return decided(&record).context("the record is not a decision");
    }
    let stopped = Wanted { decision: Some(Decision::Ask), ..Wanted::default() };
    let (newest, _) = newest_decisions(store, &stopped, 1)?;
    newest.into_iter().next().ok_or_else(|| exit::not_there("nothing has been stopped yet"))
}

fn preview(stopped: &Decided, exception: &Exception, others: &[String], style: Style) -> String {
    let mut text = format!(
        "#{} {} {}\n",
        stopped.id,
        style.decision(stopped.decision),
        output::clipped(&title(&stopped.action), 66)
    );
    text += &output::wrapped("  ", &stopped.reason);
    for change in &exception.changes {
        text += &format!("\n{}\n", change.file.display());
        for line in diff::unified(change.before.as_deref().unwrap_or_default(), &change.after, 2) {
            text += &match line.as_bytes().first() {
                Some(b'+') => style.green(&line),
                Some(b'-') => style.red(&line),
                _ => style.dim(&line),
            };
            text.push('\n');
        }
    }
    for wider in exception.changes.iter().flat_map(|change| &change.wider) {
        text += &format!("\n{}", output::wrapped("", wider));
    }
    text += &match others {
        [] => "\nit lets nothing else through that is on record\n".to_owned(),
        others => format!("\nit also lets through what was stopped before ({}):\n", others.len()),
    };
    for action in others.iter().take(SHOWN) {
        text += &format!("  {}\n", output::clipped(action, 76));
    }
    if others.len() > SHOWN {
        text += &format!("  … {} more\n", others.len() - SHOWN);
    }
    text
}

fn agreed() -> Result<bool> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Ok(false);
    }
    output::print("\nwrite this? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn closing(stopped: &Decided, exception: &Exception, test: Option<&str>, agreed: bool) -> String {
    if !agreed {
        return "\nnothing was written. Run the same with `--yes` to write this.\n".to_owned();
    }
    let mut text = "\n".to_owned();
    for change in &exception.changes {
        text += &format!("wrote {}\n", change.file.display());
    }
    if let Some(test) = test {
        text += &format!("wrote a test to {test}\n");
        if exception.changes.iter().any(|change| change.origin == Origin::User) {
            text += "it holds on this machine only: the exception is in your own policy\n";
        }
    }
    text += "running sessions keep to what they have seen until `lictor session refresh`\n";
    text + &format!("undo: lictor allow {} --undo\n", stopped.id)
}

/// The decision of the newest exception that is still in a policy file.
fn newest(project: &Project) -> Result<u64> {
    let store = project.existing_store()?;
    allow::newest(project, &*store)?.ok_or_else(|| exit::not_there("no policy file holds an exception"))
}

/// Removes the exception for a decision from its files.
fn undo(project: &Project, id: u64, json: bool) -> Result<Exit> {
    let store = if project.has_store() { Some(project.existing_store()?) } else { None };
    let files = allow::undo(project, store.as_deref(), id)?;
    let Some(file) = files.first() else {
        return Err(exit::not_there(format!("no policy file holds an exception for decision {id}")));
    };
    let test = wrong::take_test(project, id)?;
    if json {
        output::print_json(&json!({
            "id": id, "file": file, "files": files, "entries": [], "written": true, "also_allows": [], "test": test, "wider": [],
        }))?;
    } else {
        let each = files.iter();
        let lines: Vec<String> = each
            .map(|file| format!("took the exception for decision {id} out of {}\n", file.display()))
            .collect();
        output::print(&lines.concat())?;
    }
    Ok(Exit::Ok)
}
