//! Runtimes of projects for judging transcripts: the current policy of each with an in-memory store.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use lictor::past::{Decided, Summary, rules_of, said_by};
use lictor::{Asking, Mode, Runtime};
use lictor_core::{Action, Decision, Evaluation, Outcome};
use lictor_store::MemoryStore;

use super::{RECORDS, Stage, forget_questions};
use crate::here;
use crate::time_format;

/// How many projects are cached.
const PROJECTS: usize = 16;
/// How many directories are cached with their project.
const DIRECTORIES: usize = 4_096;

/// The cached judge of each project.
pub(super) struct Judges<'a> {
    policy: Option<&'a Path>,
    ready: HashMap<PathBuf, Judge>,
    roots: HashMap<String, PathBuf>,
    /// Counts the sessions.
    session: u64,
}

struct Judge {
    runtime: Runtime,
    store: Arc<MemoryStore>,
    stage: Stage,
    /// The session that its store is about.
    session: u64,
}

impl<'a> Judges<'a> {
    pub(super) fn new(policy: Option<&'a Path>) -> Self {
        Self { policy, ready: HashMap::new(), roots: HashMap::new(), session: 0 }
    }

    /// Starts another session: the state of earlier ones is dropped.
    pub(super) fn next_session(&mut self) {
        self.session += 1;
    }

    /// The judge for a directory, and the root of its project. A directory that is gone belongs to no project.
    fn of(&mut self, cwd: &str) -> Result<(&Judge, PathBuf)> {
        let root = self.root(cwd);
        if !self.ready.contains_key(&root) {
            self.make_room();
        }
        let judge = match self.ready.entry(root.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Judge::new(&root, self.policy)?),
        };
        if judge.session != self.session {
            judge.session = self.session;
            judge.store.clear();
        }
        Ok((judge, root))
    }

    fn root(&mut self, cwd: &str) -> PathBuf {
        if let Some(root) = self.roots.get(cwd) {
            return root.clone();
        }
        if self.roots.len() >= DIRECTORIES {
            self.roots.clear();
        }
        let root = here::project(Path::new(cwd)).root;
        self.roots.insert(cwd.to_owned(), root.clone());
        root
    }

    /// Evicts judges of other sessions first, so that this session's state does not depend on earlier sessions.
    fn make_room(&mut self) {
        if self.ready.len() >= PROJECTS {
            self.ready.retain(|_, judge| judge.session == self.session);
        }
        if self.ready.len() >= PROJECTS {
            self.ready.clear();
        }
    }

    /// Judges a call and counts it. Returns its project.
    pub(super) fn call(&mut self, action: &Action, summary: &mut Summary) -> Result<PathBuf> {
        let (judge, root) = self.of(&action.cwd)?;
        judge.stage.now.store(action.at.0, Ordering::Relaxed);
        let mode = Mode { asking: Asking::Caller, ..Mode::default() };
        let evaluation = judge.runtime.engine().evaluate_with(action, mode);
        if evaluation.decision == Decision::Ask {
            forget_questions(&judge.store);
        }
        let day = |at: lictor_core::Timestamp| match at.0 {
            0 => "unknown".to_owned(),
            _ => time_format::day(at),
        };
        summary.decision(&decided(action, &evaluation), day);
        Ok(root)
    }

    /// Takes in how a call ended.
    pub(super) fn done(&mut self, action: &Action, success: bool) {
        let Ok((judge, _)) = self.of(&action.cwd) else { return };
        let outcome = if success { Outcome::success() } else { Outcome::failure("as recorded") };
        // The store is in memory; there is nothing that could fail and matter.
        let _ = judge.runtime.engine().post_action(action, outcome);
    }
}

impl Judge {
    fn new(root: &Path, policy: Option<&Path>) -> Result<Self> {
        let project = here::project(root);
        let (stage, store) = (Stage::default(), Arc::new(MemoryStore::keeping(RECORDS)));
        let current = Arc::new(super::policy(&project, policy)?);
        let runtime = Runtime::over_memory(&project, Arc::clone(&store), current, stage.clone())?;
        Ok(Self { runtime, store, stage, session: 0 })
    }
}

fn decided(action: &Action, evaluation: &Evaluation) -> Decided {
    let deciding = evaluation.deciding();
    let rules = rules_of(evaluation);
    Decided {
        id: 0,
        at: action.at,
        session: action.session.clone(),
        decision: evaluation.decision,
        reason: deciding.first().map(|given| given.verdict.reason().to_owned()).unwrap_or_default(),
        said: said_by(&rules, evaluation),
        rules,
        dry: false,
        observed: false,
        answered: false,
        seen_before: false,
        recorded_facts: None,
        action: action.clone(),
    }
}
