//! Puts policy, facts, store and engine together for one project.

use anyhow::{Context as _, Result, bail};
use lictor::{PolicyEngine, SqliteOptions, SqliteStore};

use crate::place::Project;

/// The store's file in the state directory.
const STORE: &str = "lictor.db";

/// Everything a command needs to judge.
pub struct Runtime {
    /// The engine with the project's policy and store.
    pub engine: PolicyEngine,
}

impl Runtime {
    /// Opens the store and loads the policy of a project.
    pub fn open(project: &Project) -> Result<Self> {
        let store = store(project)?;
        let engine = PolicyEngine::builder(crate::policy::root())
            .store(store)
            .facts(crate::policy::facts(project))
            .build()
            .context("the policy graph cannot be built")?;
        Ok(Self { engine })
    }
}

/// The project's store. Created when there is none.
pub fn store(project: &Project) -> Result<SqliteStore> {
    Ok(SqliteStore::open(project.state_dir().join(STORE))?)
}

/// Whether the project has a store.
pub fn has_store(project: &Project) -> bool {
    project.state_dir().join(STORE).exists()
}

/// The project's store, when there is one: commands that only read must not create it.
pub fn existing_store(project: &Project) -> Result<SqliteStore> {
    let file = project.state_dir().join(STORE);
    if !has_store(project) {
        bail!("nothing has been recorded for `{}` yet", project.root.display());
    }
    Ok(SqliteOptions::new().create(false).open(file)?)
}
