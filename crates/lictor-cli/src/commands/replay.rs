//! `lictor replay`: what a changed policy would have said about what happened.

mod judges;
mod machine;
mod transcript;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use clap::Args;
use clap_complete::ArgValueCandidates;
use lictor::log::{Evaluated, Happening, kind};
use lictor::{Project, Runtime, Snapshot, policy_files};
use lictor_config::{Origin, Source};
use lictor_core::{
    Action, Clock, Decision, Evaluation, Facts, GivenVerdict, Outcome, SessionEvent, SessionKey, Timestamp,
};
use lictor_store::{Query, Store, StoreExt as _};
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

/// Run recorded sessions through a changed policy.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor replay                                       the log against the policy as it is now
  lictor replay --policy new.yaml                     the log against another repository policy
  lictor replay --transcripts                         every agent's transcripts on this machine
  lictor replay --transcripts --since 30d --html past.html
  lictor replay --transcripts ~/old-laptop/.claude
  lictor replay --transcript ~/.claude/projects/x/s.jsonl

Sessions are run in order, with their state. Facts come from the record, so that nothing is
looked at again.")]
pub struct ReplayArgs {
    /// Use this file instead of the repository's governance.yaml.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Only this session: its id or the first letters of it; `agent:id` where ids of several agents collide.
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(candidates::sessions))]
    session: Option<String>,
    /// Transcript files instead of Lictor's own log. What they show was allowed.
    #[arg(long, value_name = "FILE")]
    transcript: Vec<PathBuf>,
    /// All transcripts in these directories, or where Claude Code, Codex, Gemini CLI, Copilot CLI, OpenCode and Cursor keep
    /// them; reports what the current policy would have stopped.
    #[arg(long, value_name = "DIR", num_args = 0.., conflicts_with_all = ["transcript", "session"])]
    transcripts: Option<Vec<PathBuf>>,
    /// With `--transcripts`: only calls from then on, as for `lictor log`.
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

/// One thing that happened.
enum Past {
    Judged {
        id: Option<u64>,
        action: Box<Action>,
        facts: Option<Box<Facts>>,
        was: Decision,
        /// A person's word made it pass.
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
    if let Some(directories) = &args.transcripts {
        return transcripts(args, directories);
    }
    let project = here::project(&args.common.cwd);
    let progress = Progress::new("reading");
    let past = if args.transcript.is_empty() {
        let store = project.existing_store()?;
        let only = args.session.as_deref().map(|text| session::named(&*store, text)).transpose()?;
        from_log(&*store, only)?
    } else {
        transcript::read(&args.transcript)?
    };
    let stage = Stage::default();
    let recorded = Arc::clone(&stage.facts);
    let take = move || recorded.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let current = Arc::new(policy(&project, args.policy.as_deref())?);
    let runtime = Runtime::replaying(&project, current, stage.clone(), take)?;
    progress.next("replaying", past.len() as u64);
    let mut summary = Summary::default();
    for event in past {
        replay(&runtime, &stage, event, &mut summary);
        progress.step(1);
    }
    drop(progress);
    if args.common.json {
        output::print_json(&summary)?;
    } else {
        output::print(&tell(&summary, Style::stdout()))?;
    }
    Ok(Exit::Ok)
}

/// The policy in force, or another one in place of the repository's.
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

/// What was stopped on record and would pass under another policy, each with its number.
pub fn newly_allowed(
    project: &Project,
    store: &dyn Store,
    current: Arc<Snapshot>,
) -> Result<Vec<(Option<u64>, String)>> {
    let stage = Stage::default();
    let recorded = Arc::clone(&stage.facts);
    let take = move || recorded.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut judged = Vec::new();
    for policy in [Arc::new(Snapshot::read(project)?), current] {
        let runtime = Runtime::replaying(project, policy, stage.clone(), take.clone())?;
        let mut summary = Summary::default();
        for event in from_log(store, None)? {
            replay(&runtime, &stage, event, &mut summary);
        }
        judged.push(summary.newly_allowed);
    }
    // What the current policy would let pass anyway is not the exception's doing.
    let already: Vec<Option<u64>> = judged.first().into_iter().flatten().map(|change| change.id).collect();
    let new = judged.pop().unwrap_or_default().into_iter().filter(|change| !already.contains(&change.id));
    Ok(new.map(|change| (change.id, change.action)).collect())
}

fn replay(runtime: &Runtime, stage: &Stage, event: Past, summary: &mut Summary) {
    match event {
        Past::Judged { id, action, facts, was, lifted, at } => {
            stage.now.store(at.0, Ordering::Relaxed);
            *stage.facts.lock().unwrap_or_else(PoisonError::into_inner) = facts.map(|facts| *facts);
            let evaluation = runtime.engine().evaluate(&action);
            let now = evaluation.decision;
            // The same question would be asked again, and a person has answered it.
            if now.allows() == was.allows() || (lifted && now == Decision::Ask) {
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
            let _ = runtime.engine().post_action(&action, outcome);
        }
    }
}

/// Whether a grant made it pass: some guard asked, and the whole did not.
fn was_lifted(evaluation: &Evaluation) -> bool {
    let asked = |given: &GivenVerdict| given.verdict.value() == lictor_core::Value::Ask;
    evaluation.decision.allows() && evaluation.verdicts.iter().any(asked)
}

/// Judgements and outcomes of the log, in order.
fn from_log(store: &dyn Store, session: Option<SessionKey>) -> Result<Vec<Past>> {
    let mut past = Vec::new();
    let mut judged: Vec<Action> = Vec::new();
    let mut after = 0;
    loop {
        let page = store.view(|view| view.records(&Query::all().after(after).limit(500)))?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for record in &page {
            if session.is_some() && record.session != session {
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
                    lifted: was_lifted(&body.evaluation),
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
    match session {
        Some(session) if past.is_empty() => Err(exit::not_there(format!(
            "nothing of session `{session}` is on record; `lictor session list` shows them"
        ))),
        _ => Ok(past),
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
