//! Runs a council: its reviewers run in parallel, and the result is attested.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::attestation::{Attestation, Reported, State};
use super::config::{Council, Reviewer, fits};
use super::plan::Plan;
use super::preset::installed;
use super::report;
use crate::finding::Claim;
use crate::process;
use crate::repository::{Repository, RepositoryError};

/// The most reviewers that run at once.
const AT_ONCE: usize = 8;

/// Returns an error with the reason if a reviewer's program must not run.
pub type Trust<'a> = dyn Fn(&str, &Reviewer) -> Result<(), String> + Sync + 'a;

/// Where and under whose eyes a council meets.
pub struct Setting<'a> {
    /// The repository.
    pub repository: &'a dyn Repository,
    /// The trigger: `pre-commit`, `manual`, ….
    pub event: &'a str,
    /// Where its reviewers look.
    pub place: Where,
    /// Whether a reviewer's program may run.
    pub trust: &'a Trust<'a>,
    /// The reports of agent reviewers on the plan.
    pub heard: &'a (dyn Fn(&str) -> Option<State> + Sync),
    /// Told as it happens, from several threads.
    pub progress: &'a (dyn Fn(&Progress<'_>) + Sync),
}

impl std::fmt::Debug for Setting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setting").field("event", &self.event).finish_non_exhaustive()
    }
}

/// Where reviewers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// In the work tree if it equals the plan's tree, else in a copy: the caller waits for the result.
    InPlace,
    /// Always in a copy: work continues meanwhile, and the attestation must be for the reviewed content.
    Aside,
}

/// The progress of a council.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A reviewer started.
    Started {
        /// The council.
        council: &'a str,
        /// The reviewer.
        reviewer: &'a str,
    },
    /// A reviewer ended.
    Ended {
        /// The council.
        council: &'a str,
        /// Its report.
        reported: &'a Reported,
    },
    /// The same plan was attested before; no new review is needed.
    Reused {
        /// The council.
        council: &'a str,
        /// The earlier attestation.
        attestation: &'a Attestation,
    },
}

/// Runs every reviewer on the plan's files as they are in the plan's tree.
///
/// # Errors
/// When the tree cannot be checked out for reviewers. A failed reviewer is not an error but a state of the
/// attestation.
pub fn run(
    plan: &Plan,
    council: &Council,
    setting: &Setting<'_>,
) -> Result<(Attestation, Vec<Claim>), RepositoryError> {
    let root = setting.repository.root();
    // Reviewers see what would be committed. Usually that equals the work tree; if not, it is checked out
    // elsewhere.
    let elsewhere = if setting.place == Where::Aside || setting.repository.differs(&plan.tree)? {
        let dir = tempfile::tempdir()
            .map_err(|source| RepositoryError::Io { path: std::env::temp_dir(), source })?;
        setting.repository.export(&plan.tree, dir.path())?;
        Some(dir)
    } else {
        None
    };
    let dir = elsewhere.as_ref().map_or(root, tempfile::TempDir::path);
    let deadline = council.budget.time.and_then(|time| Instant::now().checked_add(time.0));
    let done: Mutex<Vec<(usize, Reported, Vec<Claim>)>> = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(council.reviewers.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(reviewer) = council.reviewers.get(index) else { break };
                    let (reported, claims) = one(plan, reviewer, setting, root, dir, deadline);
                    (setting.progress)(&Progress::Ended { council: &plan.council, reported: &reported });
                    if let Ok(mut done) = done.lock() {
                        done.push((index, reported, claims));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, ..)| *index);
    let mut claims = Vec::new();
    let mut reviewers = Vec::new();
    for (_, reported, mut found) in done {
        reviewers.push(reported);
        claims.append(&mut found);
    }
    // A reviewer whose thread did not return has not reported.
    for reviewer in &council.reviewers {
        if !reviewers.iter().any(|reported| reported.name == reviewer.name) {
            reviewers.push(Reported { name: reviewer.name.clone(), state: State::Missing, millis: 0 });
        }
    }
    let attestation = Attestation {
        plan: plan.plan_hash.clone(),
        council: plan.council.clone(),
        tree: plan.tree.clone(),
        files: plan.files.keys().cloned().collect(),
        reviewers,
    };
    Ok((attestation, claims))
}

fn one(
    plan: &Plan,
    reviewer: &Reviewer,
    setting: &Setting<'_>,
    root: &Path,
    dir: &Path,
    deadline: Option<Instant>,
) -> (Reported, Vec<Claim>) {
    let started = Instant::now();
    (setting.progress)(&Progress::Started { council: &plan.council, reviewer: &reviewer.name });
    if reviewer.agent {
        let state = (setting.heard)(&reviewer.name).unwrap_or(State::Missing);
        return (Reported { name: reviewer.name.clone(), state, millis: 0 }, Vec::new());
    }
    let (state, claims) = match prepare(plan, reviewer, setting, root, dir) {
        Err(state) => (state, Vec::new()),
        Ok((argv, stdin)) => {
            let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(started));
            let patience = reviewer.patience().min(left);
            let output = process::run(&argv, dir, &stdin, patience);
            report::read(
                &Reviewer { timeout: Some(super::Patience(patience)), ..reviewer.clone() },
                &output,
                dir,
            )
        }
    };
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    (Reported { name: reviewer.name.clone(), state, millis }, claims)
}

/// The command and its standard input, or the final state of a reviewer that cannot start.
fn prepare(
    plan: &Plan,
    reviewer: &Reviewer,
    setting: &Setting<'_>,
    root: &Path,
    dir: &Path,
) -> Result<(Vec<String>, Vec<u8>), State> {
    let skipped = |why: String| State::Skipped { why };
    let globs = match reviewer.preset {
        Some(preset) if reviewer.globs.is_empty() => preset.globs(),
        _ => reviewer.globs.clone(),
    };
    let files: Vec<String> =
        plan.files.keys().filter(|path| globs.is_empty() || fits(&globs, path)).cloned().collect();
    if !globs.is_empty() && files.is_empty() {
        return Err(skipped("none of the files is of its kind".to_owned()));
    }
    let argv = match reviewer.preset {
        Some(preset) if !installed(preset.program()) => {
            return Err(skipped(format!("`{}` is not installed", preset.program())));
        }
        Some(super::Preset::Clippy) if !dir.join("Cargo.toml").is_file() => {
            return Err(skipped("there is no Cargo.toml at the top".to_owned()));
        }
        Some(preset) => preset.command(&files),
        None => located(&reviewer.command, root),
    };
    (setting.trust)(&plan.council, reviewer).map_err(|why| State::Error { why })?;
    let call = serde_json::json!({
        "version": 1,
        "plan": plan.plan_hash,
        "council": plan.council,
        "reviewer": reviewer.name,
        "event": setting.event,
        "root": dir,
        "tree": plan.tree,
        "files": files,
        "submodules": plan.submodules,
    });
    Ok((argv, call.to_string().into_bytes()))
}

/// A program with a path is the one in the work tree, wherever it runs.
fn located(command: &[String], root: &Path) -> Vec<String> {
    let mut argv = command.to_vec();
    if let Some(program) = argv.first_mut()
        && program.contains('/')
    {
        let path: PathBuf = root.join(program.as_str());
        *program = path.to_string_lossy().into_owned();
    }
    argv
}
