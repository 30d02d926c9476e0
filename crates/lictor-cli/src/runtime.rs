//! Puts policy, facts, store and engine together for one project.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use lictor::{Clock, MemoryStore, PolicyEngine, SqliteOptions, SqliteStore, Store, Verdict, guard_fn};
use lictor_config::{Policy, Surroundings};
use lictor_core::{Action, All, FactSource, Facts};

use crate::commit_gate::CommitGate;
use crate::exit;
use crate::place::Project;
use crate::policy;
use crate::programs::Programs;
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
}

impl Runtime {
    /// Opens the store and loads the policy of a project.
    pub fn open(project: &Project) -> Result<Self> {
        Self::over(project, Arc::new(store(project)?), when::Clock)
    }

    /// The project's policy over a store that ends with the process: nothing is recorded.
    pub fn in_memory(project: &Project, clock: impl Clock + 'static) -> Result<Self> {
        Self::over(project, Arc::new(MemoryStore::new()), clock)
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
        Self::put_together(project, Arc::new(MemoryStore::new()), clock, policy, move |look, action| {
            recorded().unwrap_or_else(|| look.facts(action))
        })
    }

    fn over(project: &Project, store: Arc<dyn Store>, clock: impl Clock + 'static) -> Result<Self> {
        let policy = policy::in_force(project)?;
        Self::put_together(project, store, clock, policy, |look, action| look.facts(action))
    }

    fn put_together(
        project: &Project,
        store: Arc<dyn Store>,
        clock: impl Clock + 'static,
        policy: Policy,
        facts: impl Fn(&dyn FactSource, &Action) -> Facts + Send + Sync + 'static,
    ) -> Result<Self> {
        let runner = Arc::new(Programs { store: Arc::clone(&store), root: project.root.clone() });
        let root = project.root.to_string_lossy().into_owned();
        let built = policy.build(&Surroundings { root, runner })?;
        let gate = CommitGate::new(Arc::clone(&store), project.root.clone(), policy.clone());
        let look = policy::facts(project, &policy, built.watched, built.knows_files);
        let engine = PolicyEngine::builder(All::new((built.root, gate)))
            .shared_store(Arc::clone(&store))
            .clock(clock)
            .feedback(policy.feedback())
            .gate(policy.gate())
            .surroundings(Survey::new(&project.root, store, &policy))
            .facts(move |action: &Action| facts(&look, action))
            .history(built.history)
            .knows_files(built.knows_files)
            .policy_digest(policy::digest(&policy, &project.root))
            .build()
            .context("the policy graph cannot be built")?;
        Ok(Self { engine, policy, root: project.root.clone() })
    }
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
