//! Judges every transcript on this machine with the current policy: what Lictor would have stopped before it was
//! installed.
//!
//! Sessions are judged in parallel, each with an empty store, and counted in the order of discovery: the result
//! does not depend on scheduling.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use lictor::past::Summary;
use lictor_agents::transcripts::{Entry, Transcript, find, find_in};
use lictor_core::{Action, Timestamp};

use super::judges::Judges;
use crate::here;
use crate::output;
use crate::progress::Progress;
use crate::time_format;

/// The maximum number of threads: each caches policies.
const THREADS: usize = 8;
/// How many calls without an outcome are kept. Some agents never report outcomes.
const OPEN: usize = 256;

/// The result of the transcripts.
#[derive(Default)]
pub struct Past {
    /// Of the decisions.
    pub summary: Summary,
    /// How many transcripts were read.
    pub transcripts: u64,
    /// Of which projects there were calls.
    pub projects: BTreeSet<PathBuf>,
    /// How many lines could not be read.
    pub damaged: u64,
    /// The time was over first.
    pub unfinished: bool,
}

impl Past {
    fn join(&mut self, later: Self) {
        self.summary.join(later.summary);
        self.transcripts += later.transcripts;
        self.projects.extend(later.projects);
        self.damaged += later.damaged;
        self.unfinished |= later.unfinished;
    }
}

/// Judges every call since `since` in these directories, or where agents keep transcripts.
pub fn judge(
    directories: &[PathBuf],
    since: Option<Timestamp>,
    policy: Option<&Path>,
    budget: Option<Duration>,
    progress: &Progress,
) -> Result<Past> {
    let until = budget.map(|budget| Instant::now() + budget);
    let mut transcripts = match directories {
        [] => find(&here::homes()),
        named => named.iter().flat_map(|directory| find_in(directory)).collect(),
    };
    transcripts.retain(|transcript| written_since(transcript, since));
    progress.next("replaying", transcripts.iter().map(steps).sum());
    let sessions = sessions(transcripts);
    let work = Work {
        sessions: &sessions,
        next: AtomicUsize::new(0),
        since,
        policy,
        until,
        progress,
        joined: Mutex::default(),
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS).min(sessions.len());
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| work.run())).collect();
        work.run()?;
        others.into_iter().try_for_each(|other| other.join().map_err(|_| anyhow!("a thread failed"))?)
    })?;
    Ok(work.joined.into_inner().unwrap_or_else(PoisonError::into_inner).all())
}

fn written_since(transcript: &Transcript, since: Option<Timestamp>) -> bool {
    let changed = transcript.changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let changed = changed.and_then(|since| i64::try_from(since.as_millis()).ok());
    !matches!((changed, since), (Some(changed), Some(since)) if changed < since.0)
}

fn steps(transcript: &Transcript) -> u64 {
    transcript.bytes / 1024 + 1
}

/// The transcripts of each session, in the order in which the first of each was found.
fn sessions(transcripts: Vec<Transcript>) -> Vec<Vec<Transcript>> {
    let mut sessions: Vec<Vec<Transcript>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for transcript in transcripts {
        let place = *known.entry(transcript.session_group()).or_insert(sessions.len());
        match sessions.get_mut(place) {
            Some(session) => session.push(transcript),
            None => sessions.push(vec![transcript]),
        }
    }
    sessions
}

/// What all threads share.
struct Work<'a> {
    sessions: &'a [Vec<Transcript>],
    next: AtomicUsize,
    since: Option<Timestamp>,
    policy: Option<&'a Path>,
    until: Option<Instant>,
    progress: &'a Progress,
    joined: Mutex<Joined>,
}

/// The joined results so far: sessions are joined in order, whichever finishes first.
#[derive(Default)]
struct Joined {
    past: Past,
    count: usize,
    waiting: BTreeMap<usize, Past>,
}

impl Joined {
    fn add(&mut self, place: usize, past: Past) {
        self.waiting.insert(place, past);
        while let Some(next) = self.waiting.remove(&self.count) {
            self.past.join(next);
            self.count += 1;
        }
    }

    fn all(self) -> Past {
        let mut past = self.past;
        self.waiting.into_values().for_each(|left| past.join(left));
        past
    }
}

impl Work<'_> {
    /// Judges sessions until none is left.
    fn run(&self) -> Result<()> {
        let mut judges = Judges::new(self.policy);
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(session) = self.sessions.get(place) else { return Ok(()) };
            judges.next_session();
            let judged = self.session(session, &mut judges);
            if judged.is_err() {
                // Stops the other threads from starting another session.
                self.next.store(self.sessions.len(), Ordering::Relaxed);
            }
            self.joined.lock().unwrap_or_else(PoisonError::into_inner).add(place, judged?);
        }
    }

    fn session(&self, transcripts: &[Transcript], judges: &mut Judges<'_>) -> Result<Past> {
        let mut past = Past::default();
        for transcript in transcripts {
            if self.is_over() {
                past.unfinished = true;
                break;
            }
            self.one(transcript, judges, &mut past)?;
            self.progress.step(steps(transcript));
        }
        Ok(past)
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }

    fn one(&self, transcript: &Transcript, judges: &mut Judges<'_>, past: &mut Past) -> Result<()> {
        let mut open = Open::default();
        let mut failed = None;
        let since = self.since;
        let read = transcript.read(|entry| {
            match entry {
                // An entry without a time counts: its file was written since then.
                Entry::Call(action) if since.is_some_and(|since| action.at.0 > 0 && action.at < since) => {}
                Entry::Call(action) => match judges.call(&action, &mut past.summary) {
                    Ok(root) => {
                        past.projects.insert(root);
                        open.add(*action);
                    }
                    Err(error) => {
                        failed = Some(error);
                        return ControlFlow::Break(());
                    }
                },
                Entry::Done { id, success } => {
                    if let Some(action) = open.take(&id) {
                        judges.done(&action, success);
                    }
                }
            }
            if self.is_over() {
                past.unfinished = true;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        if let Some(error) = failed {
            return Err(error);
        }
        // An unreadable file must not hide the others.
        past.damaged += read.map_or(1, |tally| tally.damaged);
        past.transcripts += 1;
        Ok(())
    }
}

/// Calls without an outcome, oldest first.
#[derive(Default)]
struct Open(VecDeque<Action>);

impl Open {
    fn add(&mut self, action: Action) {
        if action.tool_use_id.is_none() {
            return;
        }
        if self.0.len() >= OPEN {
            self.0.pop_front();
        }
        self.0.push_back(action);
    }

    fn take(&mut self, id: &str) -> Option<Action> {
        let place = self.0.iter().position(|action| action.tool_use_id.as_deref() == Some(id))?;
        self.0.remove(place)
    }
}

/// The note of `init` before the installation: how many calls agents made in the last 30 days, and how many would
/// have been stopped. `None` if there were none. Takes at most a few seconds.
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

/// A summary of what was read, in one line.
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
