//! Puts policy, facts, store and engine together for one project.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use lictor::{
    Builder, Clock, EarlierPolicies, MemoryStore, Mode, PolicyEngine, SqliteOptions, SqliteStore, Store,
    Verdict, guard_fn,
};
use lictor_config::{Policy, Redactor, Surroundings};
use lictor_core::completion::Gate;
use lictor_core::history::History;
use lictor_core::{Action, All, Digest, Evaluation, FactSource, Facts, Node};

use crate::commit_gate::CommitGate;
use crate::earlier;
use crate::exit;
use crate::place::Project;
use crate::policy;
use crate::programs::{Nobody, Programs};
use crate::survey::Survey;
use crate::when;

/// The store's file in the state directory.
const STORE: &str = "lictor.db";

/// Everything a command needs to judge.
pub struct Runtime {
    /// The engine with the project's policy and store.
    pub engine: PolicyEngine,
    /// What the policy files come to.
    pub policy: Policy,
    /// The project's root.
    pub root: PathBuf,
    /// Takes out what the policy keeps out of the record.
    pub redactor: Redactor,
}

impl Runtime {
    /// Opens the store and loads the policy of a project. Sessions that have seen other policies keep to those too.
    pub fn open(project: &Project) -> Result<Self> {
        let store: Arc<dyn Store> = Arc::new(store(project)?);
        let earlier = Earlier { project: project.clone(), store: Arc::clone(&store) };
        Self::over(project, store, when::Clock, |builder| builder.earlier(earlier))
    }

    /// The same for sessions that belong elsewhere: only the policy of now has a word.
    pub fn visited(project: &Project) -> Result<Self> {
        Self::over(project, Arc::new(store(project)?), when::Clock, |builder| builder)
    }

    /// The project's policy over a store that ends with the process: nothing is recorded.
    pub fn in_memory(project: &Project, clock: impl Clock + 'static) -> Result<Self> {
        Self::over(project, Arc::new(MemoryStore::new()), clock, |builder| builder)
    }

    /// The project's policy, or another one in place of the repository's, over recorded facts where `recorded` has
    /// them. Nothing is recorded.
    pub fn replaying(
        project: &Project,
        instead: Option<&Path>,
        clock: impl Clock + 'static,
        recorded: impl Fn() -> Option<Facts> + Send + Sync + 'static,
    ) -> Result<Self> {
        let policy = match instead {
            Some(file) => policy::load_instead(project, file)?,
            None => policy::in_force(project)?,
        };
        let store = Arc::new(MemoryStore::new());
        let builder = assemble(project, store, clock, &policy, &[("", &policy)], move |look, action| {
            recorded().unwrap_or_else(|| look.facts(action))
        })?;
        Self::of(built(builder)?, policy, project)
    }

    fn of(engine: PolicyEngine, policy: Policy, project: &Project) -> Result<Self> {
        let redactor = redactor(&policy)?;
        Ok(Self { engine, policy, root: project.root.clone(), redactor })
    }

    /// Judges an action, for an answer: what the policy keeps out of the record is kept out of that too.
    pub fn judge(&self, action: &Action, mode: Mode) -> Evaluation {
        self.engine.evaluate_with(action, mode).redacted(&self.redactor)
    }

    fn over(
        project: &Project,
        store: Arc<dyn Store>,
        clock: impl Clock + 'static,
        finish: impl FnOnce(Builder) -> Builder,
    ) -> Result<Self> {
        let policy = policy::in_force(project)?;
        let builder =
            assemble(project, store, clock, &policy, &[("", &policy)], |look, action| look.facts(action))?;
        Self::of(built(finish(builder))?, policy, project)
    }
}

fn redactor(policy: &Policy) -> Result<Redactor> {
    policy.redactor().context("the policy's `redact` cannot be used")
}

fn built(builder: Builder) -> Result<PolicyEngine> {
    builder.build().context("the policy graph cannot be built")
}

/// An engine in the making: `judging` judge together, each with a word before the names of its guards; `now` is the
/// policy that says everything else.
fn assemble(
    project: &Project,
    store: Arc<dyn Store>,
    clock: impl Clock + 'static,
    now: &Policy,
    judging: &[(&str, &Policy)],
    facts: impl Fn(&dyn FactSource, &Action) -> Facts + Send + Sync + 'static,
) -> Result<Builder> {
    let runner = Arc::new(Programs { store: Arc::clone(&store), root: project.root.clone() });
    let root = project.root.to_string_lossy().into_owned();
    let surroundings = Surroundings { root, runner };
    let mut trees = Vec::new();
    let (mut history, mut gate) = (History::default(), None);
    let (mut watched, mut knows_files) = (Vec::new(), false);
    let mut redactor = redactor(now)?;
    for (word, policy) in judging {
        let built = policy.build(&surroundings)?;
        let commits = CommitGate::new(Arc::clone(&store), project.root.clone(), (*policy).clone());
        let tree = Node::from(All::new((built.root, commits)));
        trees.push(if word.is_empty() { tree } else { tree.prefixed(word) });
        if history.is_empty() {
            history = built.history
        } else {
            history.join(built.history)
        }
        watched.extend(built.watched);
        knows_files |= built.knows_files;
        redactor = redactor.and(policy.redactor()?);
        gate = match (gate, policy.gate()) {
            (Some(one), Some(two)) => Some(Gate::and(one, two)),
            (one, two) => one.or(two),
        };
    }
    let tree = match (trees.pop(), trees.is_empty()) {
        (Some(only), true) => only,
        (last, _) => All::new(trees.into_iter().chain(last).collect::<Vec<_>>()).into(),
    };
    let policies: Vec<&Policy> = judging.iter().map(|(_, policy)| *policy).collect();
    let look = policy::facts(project, &policies, watched, knows_files);
    Ok(PolicyEngine::builder(tree)
        .shared_store(Arc::clone(&store))
        .clock(clock)
        .feedback(now.feedback())
        .gate(gate)
        .surroundings(Survey::new(&project.root, store, &policies))
        .facts(move |action: &Action| facts(&look, action))
        .redact(redactor)
        .history(history)
        .knows_files(knows_files)
        .policy_digest(policy::digest(now, &project.root)))
}

/// Brings back the policies that sessions of a project have seen.
struct Earlier {
    project: Project,
    store: Arc<dyn Store>,
}

impl EarlierPolicies for Earlier {
    fn keep(&self) {
        // A policy that could not be kept is missed when it is asked for, and then nothing passes.
        let _ = earlier::keep(&self.project);
    }

    fn engine(&self, seen: &[Digest]) -> Result<PolicyEngine, String> {
        self.joined(seen).map_err(|error: anyhow::Error| format!("{error:#}"))
    }
}

impl Earlier {
    fn joined(&self, seen: &[Digest]) -> Result<PolicyEngine> {
        let now = policy::in_force(&self.project)?;
        let current = policy::digest(&now, &self.project.root);
        let mut kept = History::default();
        let mut before: Vec<(String, Policy)> = Vec::new();
        for digest in seen {
            let policy =
                if *digest == current { now.clone() } else { earlier::kept(&self.project, *digest)? };
            kept.join(policy.build(&Nobody::around(String::new()))?.history);
            // Only what is enforced restrains, and the same rules need not be asked twice.
            let known = before.iter().map(|(_, known)| known).chain([&now]);
            if !policy.is_observing() && known.into_iter().all(|known| known.key() != policy.key()) {
                before.push((word_before(before.len()), policy));
            }
        }
        let now_judges = before.is_empty() || !now.is_observing();
        let judging: Vec<(&str, &Policy)> = now_judges
            .then_some(("", &now))
            .into_iter()
            .chain(before.iter().map(|(word, policy)| (word.as_str(), policy)))
            .collect();
        let look = |look: &dyn FactSource, action: &Action| look.facts(action);
        let builder = assemble(&self.project, Arc::clone(&self.store), when::Clock, &now, &judging, look)?;
        built(builder.enforced(!before.is_empty()).has_seen(seen, kept))
    }
}

/// What stands before the names of guards from another policy that a session has seen, the oldest first.
fn word_before(older: usize) -> String {
    if older == 0 { "before.".to_owned() } else { format!("before{}.", older + 1) }
}

/// The project's store. Created when there is none.
pub fn store(project: &Project) -> Result<SqliteStore> {
    Ok(SqliteStore::open(project.state_dir().join(STORE))?)
}

/// The project's store for commands that people and reviewers run: a finding waits for its turn rather than being
/// turned away.
pub fn patient_store(project: &Project, create: bool) -> Result<SqliteStore> {
    if !create && !has_store(project) {
        return Err(nothing_recorded(project));
    }
    let options = SqliteOptions::new().create(create).wait(Duration::from_secs(60));
    Ok(options.open(project.state_dir().join(STORE))?)
}

/// Says that the project has no store yet.
pub fn nothing_recorded(project: &Project) -> anyhow::Error {
    exit::not_there(format!(
        "nothing has been recorded for `{}` yet; `lictor doctor` says whether its hooks are in place",
        project.root.display()
    ))
}

/// Whether the project has a store. One that cannot be looked at counts: opening it says what is wrong.
pub fn has_store(project: &Project) -> bool {
    project.state_dir().join(STORE).try_exists().unwrap_or(true)
}

/// The project's sessions as they are on record, whatever its policy is now.
pub fn past(project: &Project) -> Result<PolicyEngine> {
    let nothing = guard_fn("nothing", |_, _| Verdict::pass());
    Ok(PolicyEngine::builder(nothing).shared_store(Arc::new(existing_store(project)?)).build()?)
}

/// The project's store, when there is one: commands that only read must not create it.
pub fn existing_store(project: &Project) -> Result<SqliteStore> {
    let file = project.state_dir().join(STORE);
    if !has_store(project) {
        return Err(nothing_recorded(project));
    }
    Ok(SqliteOptions::new().create(false).open(file)?)
}
