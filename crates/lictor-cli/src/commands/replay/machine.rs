//! Every transcript on this machine against the current policy: what Lictor would have stopped before it was there.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Result;
use lictor::past::{Decided, Summary, rules_of, said_by};
use lictor::{Asking, Mode, Project, Runtime};
use lictor_agents::transcripts::{Entry, Tally, Transcript, find, find_in};
use lictor_core::{Action, Outcome, Timestamp};

use super::Stage;
use crate::here;
use crate::output;
use crate::progress::Progress;
use crate::time_format;

/// After so many calls a project's judge is made anew: its record is kept in memory and would grow without end.
const CALLS_KEPT: u64 = 2_000;
/// So many projects are kept ready to judge at a time.
const PROJECTS: usize = 16;

/// What the transcripts came to.
#[derive(Default)]
pub struct Past {
    /// Of the decisions.
    pub summary: Summary,
    /// How many transcripts were read.
    pub transcripts: u64,
    /// Of which projects there were calls.
    pub projects: std::collections::BTreeSet<PathBuf>,
    /// What could not be read.
    pub damaged: u64,
    /// The time was over first.
    pub unfinished: bool,
}

/// Judges every call since then in these directories, or in the places where agents keep transcripts.
pub fn judge(
    directories: &[PathBuf],
    since: Option<Timestamp>,
    policy: Option<&Path>,
    budget: Option<Duration>,
    progress: &Progress,
) -> Result<Past> {
    let mut transcripts = match directories {
        [] => find(&here::homes()),
        named => named.iter().flat_map(|directory| find_in(directory)).collect(),
    };
    transcripts.retain(|transcript| written_since(transcript, since));
    progress.next("replaying", transcripts.iter().map(|transcript| transcript.bytes / 1024 + 1).sum());
    let mut judges = Judges { policy, ready: HashMap::new() };
    let mut past = Past::default();
    let until = budget.map(|budget| Instant::now() + budget);
    for transcript in &transcripts {
        if until.is_some_and(|until| Instant::now() > until) {
            past.unfinished = true;
            break;
        }
        one(transcript, since, &mut judges, &mut past, until)?;
        progress.step(transcript.bytes / 1024 + 1);
    }
    Ok(past)
}

fn written_since(transcript: &Transcript, since: Option<Timestamp>) -> bool {
    let changed = transcript.changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let changed = changed.and_then(|since| i64::try_from(since.as_millis()).ok());
    !matches!((changed, since), (Some(changed), Some(since)) if changed < since.0)
}

fn one(
    transcript: &Transcript,
    since: Option<Timestamp>,
    judges: &mut Judges<'_>,
    past: &mut Past,
    until: Option<Instant>,
) -> Result<()> {
    let mut open: HashMap<String, Action> = HashMap::new();
    let mut failed = None;
    let read = transcript.read(|entry| {
        let told = match entry {
            // What says no time counts: it lies in a file that was written since.
            Entry::Call(action) if since.is_some_and(|since| action.at.0 > 0 && action.at < since) => Ok(()),
            Entry::Call(action) => judges.call(*action, &mut open, past),
            Entry::Done { id, success } => {
                if let Some(action) = open.remove(&id) {
                    judges.done(&action, success);
                }
                Ok(())
            }
        };
        if let Err(error) = told {
            failed = Some(error);
            return ControlFlow::Break(());
        }
        if until.is_some_and(|until| Instant::now() > until) {
            past.unfinished = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    match (failed, read) {
        (Some(error), _) => return Err(error),
        (None, Ok(Tally { damaged, .. })) => past.damaged += damaged,
        // One that cannot be opened must not hide the others.
        (None, Err(_)) => past.damaged += 1,
    }
    past.transcripts += 1;
    Ok(())
}

/// The judge of each project, as long as it is needed.
struct Judges<'a> {
    policy: Option<&'a Path>,
    ready: HashMap<PathBuf, Judge>,
}

struct Judge {
    runtime: Runtime,
    stage: Stage,
    calls: u64,
}

impl Judges<'_> {
    /// The judge for a directory. A directory that is gone belongs to no project.
    fn of(&mut self, cwd: &str) -> Result<(&mut Judge, PathBuf)> {
        let project: Project = here::project(Path::new(cwd));
        let root = project.root.clone();
        let used_up = self.ready.get(&root).is_some_and(|judge| judge.calls >= CALLS_KEPT);
        if used_up || (self.ready.len() >= PROJECTS && !self.ready.contains_key(&root)) {
            self.ready.clear();
        }
        if !self.ready.contains_key(&root) {
            let stage = Stage::default();
            let current = Arc::new(super::policy(&project, self.policy)?);
            let runtime = Runtime::replaying(&project, current, stage.clone(), || None)?;
            self.ready.insert(root.clone(), Judge { runtime, stage, calls: 0 });
        }
        let judge = self.ready.get_mut(&root).ok_or_else(|| anyhow::anyhow!("no judge for `{cwd}`"))?;
        Ok((judge, root))
    }

    fn call(&mut self, action: Action, open: &mut HashMap<String, Action>, past: &mut Past) -> Result<()> {
        let (judge, root) = self.of(&action.cwd)?;
        judge.calls += 1;
        judge.stage.now.store(action.at.0, Ordering::Relaxed);
        let mode = Mode { asking: Asking::Caller, ..Mode::default() };
        let evaluation = judge.runtime.engine().evaluate_with(&action, mode);
        let deciding = evaluation.deciding();
        let rules = rules_of(&evaluation);
        let decided = Decided {
            id: 0,
            at: action.at,
            session: action.session.clone(),
            decision: evaluation.decision,
            reason: deciding.first().map(|given| given.verdict.reason().to_owned()).unwrap_or_default(),
            said: said_by(&rules, &evaluation),
            rules,
            dry: false,
            observed: false,
            answered: false,
            seen_before: false,
            recorded_facts: None,
            action,
        };
        past.summary
            .decision(&decided, |at| if at.0 == 0 { "unknown".to_owned() } else { time_format::day(at) });
        past.projects.insert(root);
        if let Some(id) = decided.action.tool_use_id.clone() {
            open.insert(id, decided.action);
        }
        Ok(())
    }

    fn done(&mut self, action: &Action, success: bool) {
        let Ok((judge, _)) = self.of(&action.cwd) else { return };
        let outcome = if success { Outcome::success() } else { Outcome::failure("as recorded") };
        // The store is in memory; there is nothing that could fail and matter.
        let _ = judge.runtime.engine().post_action(action, outcome);
    }
}

/// What `init` may say before anything is installed: how many calls agents made in the last 30 days, and how many would
/// have been stopped. `None` when there is nothing to say. Looks no longer than a few seconds.
pub fn offer() -> Option<String> {
    let since = time_format::now().plus_millis(-30 * 86_400_000);
    let progress = Progress::new("looking at what agents did");
    let past = judge(&[], Some(since), None, Some(Duration::from_secs(3)), &progress).ok()?;
    drop(progress);
    let total = past.summary.total;
    if total.calls == 0 {
        return None;
    }
    let calls = if past.unfinished { format!("more than {}", total.calls) } else { total.calls.to_string() };
    let asked = if total.ask > 0 { format!(" and asked about {}", total.ask) } else { String::new() };
    Some(format!(
        "in the last 30 days your agents made {calls} calls; Lictor would have stopped {}{asked}\n\
         (`lictor replay --transcripts` shows which)",
        total.block
    ))
}

/// What was read, in one line.
pub fn closing(past: &Past) -> String {
    let mut text = format!("{} read", output::count(past.transcripts, "transcript"));
    if past.damaged > 0 {
        text += &format!(", {} that could not be read passed over", output::count(past.damaged, "line"));
    }
    let stopped = past.summary.total.block + past.summary.total.ask;
    text += match stopped {
        0 => "; nothing would have been stopped\n",
        _ => "\n",
    };
    text
}
