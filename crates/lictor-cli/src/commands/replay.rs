//! `lictor replay`: what a changed policy would have said about what happened.

mod transcript;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use lictor::log::{Evaluated, Happening, kind};
use lictor_core::{Action, Clock, Decision, Facts, Outcome, SessionEvent, Timestamp};
use lictor_store::{Query, SqliteStore, StoreExt as _};
use serde::Serialize;

use super::explain;
use crate::exit::Exit;
use crate::output::{self, Style};
use crate::place::Project;
use crate::runtime::{self, Runtime};

/// Run recorded sessions through a changed policy.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor replay                                       the log against the policy as it is now
  lictor replay --policy new.yaml                     the log against another repository policy
  lictor replay --transcript ~/.claude/projects/x/s.jsonl

Sessions are run in order, with their state. Facts come from the record, so nothing is looked at again.")]
pub struct ReplayArgs {
    /// Use this file instead of the repository's governance.yaml.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Only this session.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Claude Code transcript files instead of Lictor's own log. What they show was allowed.
    #[arg(long, value_name = "FILE")]
    transcript: Vec<PathBuf>,
    /// Directory of the project.
    #[arg(long, value_name = "DIR", default_value = ".")]
    cwd: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// One thing that happened.
enum Past {
    Judged { id: Option<u64>, action: Box<Action>, facts: Option<Box<Facts>>, was: Decision, at: Timestamp },
    Happened { action: Box<Action>, success: bool, at: Timestamp },
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

/// Time and facts of the moment that is being replayed.
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
    let project = Project::around(&args.cwd);
    let past = if args.transcript.is_empty() {
        from_log(&runtime::existing_store(&project)?, args.session.as_deref())?
    } else {
        transcript::read(&args.transcript)?
    };
    let stage = Stage::default();
    let recorded = Arc::clone(&stage.facts);
    let take = move || recorded.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let runtime = Runtime::replaying(&project, args.policy.as_deref(), stage.clone(), take)?;
    let mut progress = Progress::new(past.len());
    let mut summary = Summary::default();
    for (number, event) in past.into_iter().enumerate() {
        progress.at(number);
        replay(&runtime, &stage, event, &mut summary);
    }
    progress.done();
    if args.json {
        output::print_json(&summary)?;
    } else {
        output::print(&tell(&summary, Style::stdout()))?;
    }
    Ok(Exit::Ok)
}

fn replay(runtime: &Runtime, stage: &Stage, event: Past, summary: &mut Summary) {
    match event {
        Past::Judged { id, action, facts, was, at } => {
            stage.now.store(at.0, Ordering::Relaxed);
            *stage.facts.lock().unwrap_or_else(PoisonError::into_inner) = facts.map(|facts| *facts);
            let evaluation = runtime.engine.evaluate(&action);
            let now = evaluation.decision;
            if now.allows() == was.allows() {
                summary.unchanged += 1;
                return;
            }
            let change =
                Change { id, action: explain::title(&action), was, now, reason: evaluation.reason() };
            if now.allows() { summary.newly_allowed.push(change) } else { summary.newly_stopped.push(change) }
        }
        Past::Happened { action, success, at } => {
            stage.now.store(at.0, Ordering::Relaxed);
            let outcome = if success { Outcome::success() } else { Outcome::failure("as recorded") };
            // The store is in memory; there is nothing that could fail and matter.
            let _ = runtime.engine.post_action(&action, outcome);
        }
    }
}

/// Judgements and outcomes of the log, in order.
fn from_log(store: &SqliteStore, session: Option<&str>) -> Result<Vec<Past>> {
    let mut past = Vec::new();
    let mut judged: Vec<Action> = Vec::new();
    let mut after = 0;
    loop {
        let page = store.view(|view| view.records(&Query::all().after(after).limit(500)))?;
        let Some(last) = page.last() else { return Ok(past) };
        after = last.seq;
        for record in &page {
            let other = session.is_some_and(|id| record.session.as_ref().is_none_or(|key| key.id != id));
            if other {
                continue;
            }
            if record.kind == kind::EVALUATED {
                let Ok(body) = serde_json::from_str::<Evaluated<'_>>(&record.body) else { continue };
                if body.evaluation.dry {
                    continue;
                }
                judged.push(body.action.clone().into_owned());
                past.push(Past::Judged {
                    id: Some(record.seq),
                    action: Box::new(body.action.into_owned()),
                    facts: Some(Box::new(body.facts.into_owned())),
                    was: body.evaluation.decision,
                    at: record.at,
                });
            } else if record.kind == kind::HAPPENED {
                let Ok(body) = serde_json::from_str::<Happening<'_>>(&record.body) else { continue };
                let SessionEvent::Happened(happened) = &*body.event else { continue };
                // Only the digest is recorded; the action stands in the judgement.
                let Some(action) = judged.iter().rev().find(|action| action.digest() == happened.action)
                else {
                    continue;
                };
                let success = happened.outcome.success;
                past.push(Past::Happened { action: Box::new(action.clone()), success, at: record.at });
            }
        }
    }
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

/// A line on the terminal that moves, when it takes longer than a second.
struct Progress {
    total: usize,
    started: Instant,
    shown: bool,
}

impl Progress {
    fn new(total: usize) -> Self {
        Self { total, started: Instant::now(), shown: false }
    }

    fn at(&mut self, number: usize) {
        let due = number.is_multiple_of(64) && self.started.elapsed() > Duration::from_secs(1);
        if due && io::stderr().is_terminal() {
            self.shown = true;
            let width = 40 * number / self.total.max(1);
            eprint!("\r[{:<40}] {number}/{}", "#".repeat(width), self.total);
        }
    }

    fn done(&self) {
        if self.shown {
            eprint!("\r{}\r", " ".repeat(70));
        }
    }
}
