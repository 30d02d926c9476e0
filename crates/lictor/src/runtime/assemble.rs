//! Assembles policy, facts, store and engine for one project.

use std::sync::Arc;

use lictor_config::{BuildEnv, PolicyBundle, Redactor};
use lictor_core::{Action, All, Digest, FactSource, Facts, Node};
use lictor_engine::{Builder, PersonSeals, PolicyEngine, PolicyVersion};
use lictor_store::Store;

use crate::commit_gate::CommitGate;
use crate::error::Error;
use crate::options::SharedClock;
use crate::policy_files::{self, Snapshot};
use crate::probe::ProjectProbe;
use crate::programs::Programs;
use crate::project::Project;

/// An engine builder for the current policy. `facts` gets the observer of the project, and the action.
pub(super) fn assemble(
    project: &Project,
    store: Arc<dyn Store>,
    clock: SharedClock,
    current: &Snapshot,
    facts: impl Fn(&dyn FactSource, &Action) -> Facts + Send + Sync + 'static,
) -> Result<Builder, Error> {
    let policy = &current.policy;
    let version = version(project, &store, policy, current.redactor.clone(), current.digest())?;
    let look = policy_files::look(project);
    let mut builder = PolicyEngine::of_policy(version);
    // With a custom store there are no signatures.
    if project.options().store.is_none() {
        builder = builder.seals(Arc::new(PersonSeals::in_directory(project.person_keys())));
    }
    Ok(builder
        .shared_store(Arc::clone(&store))
        .clock(clock.clone())
        .feedback(policy.feedback())
        .probe(ProjectProbe::new(&project.root, store, clock))
        .look(project.seen.clone(), move |known, action, edits| {
            facts(&|action: &Action| look(known, action, edits), action)
        }))
}

/// One version of the project's policy, in the engine's form.
pub(crate) fn version(
    project: &Project,
    store: &Arc<dyn Store>,
    policy: &PolicyBundle,
    redactor: Redactor,
    digest: Digest,
) -> Result<PolicyVersion, Error> {
    let runner = Arc::new(Programs { store: Arc::clone(store), root: project.root.clone() });
    let root = project.root.to_string_lossy().into_owned();
    let built = policy.build(&BuildEnv { root, runner })?;
    let commits = CommitGate::new(Arc::clone(store), project.root.clone(), policy.clone());
    let programs = policy.programs().into_iter();
    Ok(PolicyVersion {
        digest,
        rules: policy.key(),
        observes: policy.is_observing(),
        tree: Node::from(All::new((built.root, commits))),
        history: built.history,
        gate: policy.gate(),
        quorum: policy.quorum(),
        redactor: Arc::new(redactor),
        view: policy_files::view(policy, project, built.watched, built.knows_files),
        // Programs of the user's and the managed file need no trust check.
        trusted: programs.filter(|program| !program.needs_trust()).map(|program| program.argv).collect(),
    })
}
