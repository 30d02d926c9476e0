//! `lictor replay`: judges recorded sessions again with a changed policy.

mod judges;
mod machine;
mod recorded;
mod transcript;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use clap::Args;
use clap_complete::ArgValueCandidates;
use lictor::{Project, Runtime, Snapshot, policy_files};
use lictor_config::{Origin, Source};
use lictor_core::{Action, Clock, Decision, Facts, Outcome, Timestamp};
use lictor_store::{Durability, Keys, MemoryStore, Space, Store, StoreExt as _};
use serde::Serialize;

use super::report::{self, Report};
use super::{explain, log, session};
use crate::args::Common;
use crate::candidates;
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};
use crate::progress::Progress;
use crate::time_format;

pub use machine::offer;

/// How many records of the replay are kept. Only guards that read the latest calls need them.
const RECORDS: usize = 64;

/// Run recorded sessions through a changed policy.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor replay                    the log against the current policy
  lictor replay --policy new.yaml  the log against another policy
  lictor replay --transcripts      what all agents did on this machine
  lictor replay --transcripts --since 30d --html past.html
  lictor replay --transcripts ~/old-laptop/.claude
  lictor replay --transcript ~/.claude/projects/x/s.jsonl

Sessions are run in order, with their state. Facts come from the record, so that nothing is
looked at again.")]
pub struct ReplayArgs {
    /// Use this file instead of the repository's governance.yaml.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Only this session: its id or a prefix; `agent:id` if ids of several agents collide.
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(candidates::sessions))]
    session: Option<String>,
    /// Transcript files instead of Lictor's own log. Their calls count as allowed.
    #[arg(long, value_name = "FILE")]
    transcript: Vec<PathBuf>,
    /// All transcripts in these directories, or where Claude Code, Codex, Gemini CLI, Copilot CLI, OpenCode and Cursor keep
    /// them; reports what the current policy would have stopped.
    #[arg(long, value_name = "DIR", num_args = 0.., conflicts_with_all = ["transcript", "session"])]
    transcripts: Option<Vec<PathBuf>>,
    /// With `--transcripts`: only calls since then, as for `lictor log`.
    #[arg(long, value_name = "TIME", requires = "transcripts")]
    since: Option<String>,
    /// With `--transcripts`: write the report as one HTML page.
    #[arg(long, value_name = "FILE", requires = "transcripts")]
    html: Option<PathBuf>,
    /// With `--transcripts`: print the report as Markdown.
    #[arg(long, requires = "transcripts", conflicts_with_all = ["html", "json"])]
    markdown: bool,
    #[command(flatten)]
    common: Common,
}

/// One recorded event.
enum Past {
    Judged {
        id: Option<u64>,
        action: Box<Action>,
        facts: Option<Box<Facts>>,
        was: Decision,
        /// A person's approval made it pass.
        lifted: bool,
        at: Timestamp,
    },
    Happened {
        action: Box<Action>,
        success: bool,
        at: Timestamp,
    },
}

/// A decision that would be another one.
#[derive(Debug, Serialize)]
struct Change {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    action: String,
    was: Decision,
    now: Decision,
    reason: String,
}

#[derive(Debug, Default, Serialize)]
struct Summary {
    newly_stopped: Vec<Change>,
    newly_allowed: Vec<Change>,
    unchanged: u64,
}

impl Summary {
    fn count(&mut self, past: &Past, change: Option<Change>) {
        match change {
            Some(change) if change.now.allows() => self.newly_allowed.push(change),
            Some(change) => self.newly_stopped.push(change),
            None => self.unchanged += u64::from(matches!(past, Past::Judged { .. })),
        }
    }
}

/// Time and facts of the replayed event.
#[derive(Clone, Default)]
struct Stage {
    now: Arc<AtomicI64>,
    facts: Arc<Mutex<Option<Facts>>>,
}

impl Clock for Stage {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::Relaxed))
    }
}

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Result<Exit> {
    if let Some(directories) = &args.transcripts {
        return transcripts(args, directories);
    }
    let project = here::project(&args.common.cwd);
    let rehearsal = Rehearsal::new(&project, Arc::new(policy(&project, args.policy.as_deref())?))?;
    let (progress, mut summary) = (Progress::new("reading"), Summary::default());
    let judge = |past: Past| summary.count(&past, rehearsal.judge(&past));
    if args.transcript.is_empty() {
        let store = project.existing_store()?;
        let only = args.session.as_deref().map(|text| session::named(&*store, text)).transpose()?;
        recorded::each(&*store, only.as_ref(), &progress, judge)?;
    } else {
        transcript::each(&args.transcript, judge)?;
    }
    drop(progress);
    if args.common.json {
        output::print_json(&summary)?;
    } else {
        output::print(&tell(&summary, Style::stdout()))?;
    }
    Ok(Exit::Ok)
}

/// The current policy, or one with another file instead of the repository's.
fn policy(project: &Project, instead: Option<&Path>) -> Result<Snapshot> {
    let Some(file) = instead else { return Ok(Snapshot::read(project)?) };
    let mut sources = policy_files::sources(project)?;
    sources.retain(|source| source.origin != Origin::Repository);
    let bytes = fs::read(file).map_err(|error| exit::unreadable(file, &error))?;
    sources.push(Source { origin: Origin::Repository, path: file.display().to_string(), bytes });
    Ok(Snapshot::from_sources(sources, &project.root)?)
}

/// Everything that agents keep on this machine.
fn transcripts(args: &ReplayArgs, directories: &[PathBuf]) -> Result<Exit> {
    if let Some(missing) = directories.iter().find(|directory| !directory.exists()) {
        return Err(exit::usage(format!("there is no `{}`", missing.display())));
    }
    let since = log::moment(args.since.as_deref(), "--since")?;
    let progress = Progress::new("looking for transcripts");
    let past = machine::judge(directories, since, args.policy.as_deref(), None, &progress)?;
    drop(progress);
    if past.summary.total.calls == 0 && !args.common.json {
        output::print(&format!("no calls were found; {}", machine::closing(&past)))?;
        return Ok(Exit::Ok);
    }
    let silent = report::silent(&here::project(&args.common.cwd), &past.summary);
    let closing = machine::closing(&past);
    let report = Report {
        title: "transcripts of agents".to_owned(),
        since,
        until: time_format::now(),
        projects: past.projects.len() as u64,
        summary: past.summary,
        silent,
    };
    let exit = report::show(&report, args.markdown, args.html.as_deref(), args.common.json)?;
    output::tell(&closing);
    Ok(exit)
}

/// Recorded actions that were stopped, still are, and would pass under another policy.
pub fn newly_allowed(project: &Project, store: &dyn Store, other: Arc<Snapshot>) -> Result<Vec<String>> {
    let current = Rehearsal::new(project, Arc::new(Snapshot::read(project)?))?;
    let other = Rehearsal::new(project, other)?;
    let mut found = Vec::new();
    recorded::each(store, None, &Progress::new("reading"), |past| {
        let already = current.judge(&past).is_some_and(|change| change.now.allows());
        // Actions that the current policy would already allow are not counted.
        if let Some(change) = other.judge(&past).filter(|change| change.now.allows() && !already) {
            found.push(change.action);
        }
    })?;
    Ok(found)
}

/// A policy under which the record is replayed.
struct Rehearsal {
    runtime: Runtime,
    store: Arc<MemoryStore>,
    stage: Stage,
}

impl Rehearsal {
    fn new(project: &Project, policy: Arc<Snapshot>) -> Result<Self> {
        let (stage, store) = (Stage::default(), Arc::new(MemoryStore::keeping(RECORDS)));
        let recorded = Arc::clone(&stage.facts);
        let take = move || recorded.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let runtime = Runtime::replaying(project, Arc::clone(&store), policy, stage.clone(), take)?;
        Ok(Self { runtime, store, stage })
    }

    /// The changed decision, if any.
    fn judge(&self, past: &Past) -> Option<Change> {
        match past {
            Past::Judged { id, action, facts, was, lifted, at } => {
                self.stage.now.store(at.0, Ordering::Relaxed);
                *self.stage.facts.lock().unwrap_or_else(PoisonError::into_inner) = facts.as_deref().cloned();
                let evaluation = self.runtime.engine().evaluate(action);
                let (was, now) = (*was, evaluation.decision);
                if now == Decision::Ask {
                    forget_questions(&self.store);
                }
                // The same question would be asked again, and a person has answered it.
                let same = now.allows() == was.allows() || (*lifted && now == Decision::Ask);
                let (action, reason) = (explain::title(action), evaluation.reason());
                (!same).then_some(Change { id: *id, action, was, now, reason })
            }
            Past::Happened { action, success, at } => {
                self.stage.now.store(at.0, Ordering::Relaxed);
                let outcome = if *success { Outcome::success() } else { Outcome::failure("as recorded") };
                // The store is in memory, so errors do not matter.
                let _ = self.runtime.engine().post_action(action, outcome);
                None
            }
        }
    }
}

/// Removes questions: nobody will answer them, and each holds its whole action.
fn forget_questions(store: &MemoryStore) {
    // In memory nothing fails.
    let _ = store.update(Durability::Process, |tx| {
        for (id, _) in tx.scan(Space::Approval, &Keys::all())? {
            tx.delete(Space::Approval, &id)?;
        }
        Ok(())
    });
}

fn tell(summary: &Summary, style: Style) -> String {
    let mut text = String::new();
    let groups = [("newly stopped", &summary.newly_stopped), ("newly allowed", &summary.newly_allowed)];
    for (name, changes) in groups {
        text += &format!("{name}: {}\n", changes.len());
        for change in changes {
            let id = change.id.map(|id| format!("#{id} ")).unwrap_or_default();
            text += &format!("  {id}{}\n", change.action);
            let (was, now) = (style.decision(change.was), style.decision(change.now));
            text += &format!("    {was} → {now}  {}\n", change.reason.lines().next().unwrap_or_default());
        }
    }
    text + &format!("unchanged: {}\n", summary.unchanged)
}
