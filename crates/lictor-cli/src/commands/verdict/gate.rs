//! `lictor verdict gate`.

use std::fs;
use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::Result;
use clap::{Args, ValueEnum};
use lictor_ledger::council::Progress;
use lictor_ledger::gate::{GateEvent, GateOutcome, PushedRef};
use lictor_ledger::render;

use crate::exit::{self, Exit};
use crate::here;
use crate::output;

/// Judge what is about to be committed or pushed.
#[derive(Debug, Args)]
pub struct GateArgs {
    /// The event.
    #[arg(long, value_enum, default_value = "pre-commit")]
    event: EventArg,
    /// With `--event ci`: what HEAD is compared with.
    #[arg(long, value_name = "COMMIT")]
    base: Option<String>,
    /// Judge one plan by its level alone, without the repository.
    #[arg(long, value_name = "HASH")]
    plan_hash: Option<String>,
    /// How to say it.
    #[arg(long, value_enum, default_value = "text")]
    format: FormatArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EventArg {
    /// A commit of the index.
    PreCommit,
    /// A push; reads git's lines on standard input.
    PrePush,
    /// Notice a commit that went around the gate.
    PostCommit,
    /// A build of HEAD.
    Ci,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// GitHub annotations; the summary goes to `$GITHUB_STEP_SUMMARY`.
    Github,
    /// A summary as Markdown.
    Markdown,
}

/// Runs the command.
pub fn run(args: &GateArgs, cwd: &Path, json: bool) -> Result<Exit> {
    let event = match args.event {
        EventArg::PreCommit => GateEvent::PreCommit,
        EventArg::Ci => GateEvent::Ci { base: args.base.clone() },
        EventArg::PostCommit => return after_commit(cwd),
        EventArg::PrePush => match pushed() {
            Ok(refs) => GateEvent::PrePush(refs),
            Err(problem) => return Err(exit::usage(output::chain(&problem))),
        },
    };
    if let Some(plan) = &args.plan_hash {
        return one_plan(plan, cwd, json);
    }
    let outcome = lictor::gate(&here::project(cwd), &event, &live);
    let format = if json { FormatArg::Json } else { args.format };
    let text = match format {
        FormatArg::Text => render::text::gate(event.name(), &outcome),
        FormatArg::Json => render::json::gate(event.name(), &outcome),
        FormatArg::Markdown => render::markdown::gate(event.name(), &outcome),
        FormatArg::Github => {
            if let Some(file) = std::env::var_os("GITHUB_STEP_SUMMARY") {
                append(Path::new(&file), &render::markdown::gate(event.name(), &outcome))?;
            }
            render::github::gate(event.name(), &outcome)
        }
    };
    // A hook's message goes to standard error; requested output goes to standard output.
    if format == FormatArg::Text && outcome.exit_code() != 0 {
        output::tell(&text);
    } else {
        output::print(&text)?;
    }
    Ok(match outcome {
        GateOutcome::Ok(_) => Exit::Ok,
        GateOutcome::Blocked(..) => Exit::Block,
        GateOutcome::Error { .. } => Exit::Internal,
    })
}

/// The pushed refs: from git on standard input, from the pre-commit framework in the environment.
fn pushed() -> Result<Vec<PushedRef>> {
    let of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(local) = of("PRE_COMMIT_TO_REF") {
        return Ok(vec![PushedRef { local: Some(local), remote: of("PRE_COMMIT_FROM_REF") }]);
    }
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    Ok(PushedRef::read(&text)?)
}

fn append(file: &Path, text: &str) -> Result<()> {
    use std::io::Write as _;
    fs::OpenOptions::new().append(true).create(true).open(file)?.write_all(text.as_bytes())?;
    Ok(())
}

/// Shows progress on a terminal.
pub fn live(progress: &Progress<'_>) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    match progress {
        Progress::Started { council, reviewer } => {
            output::tell(&format!("  {council}/{reviewer}: looking …\n"))
        }
        Progress::Ended { council, reported } => output::tell(&render::text::reviewer(council, reported)),
        Progress::Reused { council, .. } => {
            output::tell(&format!("  {council}: has looked at exactly this before\n"));
        }
    }
}

fn after_commit(cwd: &Path) -> Result<Exit> {
    let committed = super::ledger(cwd, true)?.after_commit()?;
    if let Some(bypass) = committed.bypass {
        let commit: String = bypass.commit.chars().take(12).collect();
        output::tell(&format!(
            "[gate] commit {commit} went around the gate; this is on record: {}\n",
            bypass.how
        ));
    }
    if let Err(error) = committed.noted {
        output::tell(&format!("[gate] the log's end could not be noted on this commit: {}\n", error.chain()));
    }
    Ok(Exit::Ok)
}

/// Judges one plan by its level, from the record alone.
fn one_plan(plan: &str, cwd: &Path, json: bool) -> Result<Exit> {
    let verdict = super::ledger(cwd, false)?.reading().verdict(plan)?;
    let text = if json { render::json::verdict(&verdict, |_| &[]) } else { render::text::explain(&verdict) };
    output::print(&text)?;
    Ok(if verdict.level().blocks() { Exit::Block } else { Exit::Ok })
}
