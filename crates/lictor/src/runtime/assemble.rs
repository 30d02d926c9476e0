//! Puts policy, facts, store and engine together for one project.

use std::sync::Arc;

use lictor_config::{BuildEnv, PolicyBundle};
use lictor_core::completion::Gate;
use lictor_core::history::History;
use lictor_core::{Action, All, Digest, FactSource, Facts, Node, Quorum};
use lictor_engine::{Builder, EarlierPolicies, PersonSeals, PolicyEngine};
use lictor_observe::{DescribedTool, as_task};
use lictor_store::Store;

use crate::commit_gate::CommitGate;
use crate::earlier;
use crate::error::Error;
use crate::options::SharedClock;
use crate::policy_files::{self, Snapshot};
use crate::probe::ProjectProbe;
use crate::programs::{NoPrograms, Programs};
use crate::project::Project;

/// Everything that an engine is made from, beside the policies that judge.
pub(super) struct Parts<'a> {
    pub(super) project: &'a Project,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: SharedClock,
    /// Says everything that is not judging: feedback, what stays out of the record.
    pub(super) current: &'a Snapshot,
}

/// An engine in the making: `judging` judge together, each with a word before the names of its guards.
pub(super) fn assemble(
    parts: Parts<'_>,
    judging: &[(&str, &PolicyBundle)],
    facts: impl Fn(&dyn FactSource, &Action) -> Facts + Send + Sync + 'static,
) -> Result<Builder, Error> {
    let Parts { project, store, clock, current } = parts;
    let runner = Arc::new(Programs { store: Arc::clone(&store), root: project.root.clone() });
    let root = project.root.to_string_lossy().into_owned();
    let env = BuildEnv { root, runner };
    let mut trees = Vec::new();
    let (mut history, mut gate) = (History::default(), None);
    let (mut watched, mut knows_files) = (Vec::new(), false);
    let mut redactor = current.redactor.clone();
    for (word, policy) in judging {
        let built = policy.build(&env)?;
        let commits = CommitGate::new(Arc::clone(&store), project.root.clone(), (*policy).clone());
        let tree = Node::from(All::new((built.root, commits)));
        trees.push(if word.is_empty() { tree } else { tree.prefixed(word) });
        if history.is_empty() {
            history = built.history;
        } else {
            history.join(built.history);
        }
        watched.extend(built.watched);
        knows_files |= built.knows_files;
        if policy.key() != current.policy.key() {
            redactor = redactor.and(policy_files::redactor(policy)?);
        }
        gate = match (gate, policy.gate()) {
            (Some(one), Some(two)) => Some(Gate::and(one, two)),
            (one, two) => one.or(two),
        };
    }
    let tree = match (trees.pop(), trees.is_empty()) {
        (Some(only), true) => only,
        (last, _) => All::new(trees.into_iter().chain(last).collect::<Vec<_>>()).into(),
    };
    let policies: Vec<&PolicyBundle> = judging.iter().map(|(_, policy)| *policy).collect();
    let quorum = policies.iter().fold(Quorum::default(), |all, policy| all.and(policy.quorum()));
    let look = policy_files::facts(project, &policies, watched, knows_files);
    let mut builder = PolicyEngine::builder(tree);
    let tools: Vec<_> = policies.iter().flat_map(|policy| policy.described_tools()).collect();
    if tools.iter().any(DescribedTool::submits_tasks) {
        builder = builder.meaning(move |action| as_task(action, &tools));
    }
    // In a store of one's own nobody signs.
    if project.options().store.is_none() {
        builder = builder.seals(Arc::new(PersonSeals::in_directory(project.person_keys())));
    }
    Ok(builder
        .shared_store(Arc::clone(&store))
        .clock(clock.clone())
        .feedback(current.policy.feedback())
        .gate(gate)
        .probe(ProjectProbe::new(&project.root, store, &policies, clock))
        .facts(move |action: &Action| facts(&look, action))
        .redact(redactor)
        .history(history)
        .knows_files(knows_files)
        .quorum(quorum)
        .policy_digest(current.digest()))
}

/// Brings back the policies that sessions of a project have seen.
pub(super) struct Earlier {
    pub(super) project: Project,
    pub(super) store: Arc<dyn Store>,
    pub(super) current: Arc<Snapshot>,
}

impl EarlierPolicies for Earlier {
    fn keep(&self) {
        // A policy that could not be kept is missed when it is asked for, and then nothing passes.
        let _ = earlier::keep(&self.project, &self.current);
    }

    fn engine(&self, seen: &[Digest]) -> Result<PolicyEngine, String> {
        self.joined(seen).map_err(|error| error.chain())
    }
}

impl Earlier {
    fn joined(&self, seen: &[Digest]) -> Result<PolicyEngine, Error> {
        let current = &*self.current;
        let mut kept = History::default();
        let mut before: Vec<(String, PolicyBundle)> = Vec::new();
        for digest in seen {
            let policy = if *digest == current.digest() {
                current.policy.clone()
            } else {
                earlier::kept(&self.project, *digest)?
            };
            kept.join(policy.build(&NoPrograms::around(String::new()))?.history);
            // Only what is enforced restrains, and the same rules need not be asked twice.
            let known = before.iter().map(|(_, known)| known).chain([&current.policy]);
            if !policy.is_observing() && known.into_iter().all(|known| known.key() != policy.key()) {
                before.push((word_before(before.len()), policy));
            }
        }
        let current_judges = before.is_empty() || !current.policy.is_observing();
        let judging: Vec<(&str, &PolicyBundle)> = current_judges
            .then_some(("", &current.policy))
            .into_iter()
            .chain(before.iter().map(|(word, policy)| (word.as_str(), policy)))
            .collect();
        let parts = Parts {
            project: &self.project,
            store: Arc::clone(&self.store),
            clock: self.project.options().clock.clone(),
            current,
        };
        let builder = assemble(parts, &judging, |look, action| look.facts(action))?;
        Ok(builder.enforced(!before.is_empty()).has_seen(seen, kept).build()?)
    }
}

/// Whether a guard is from a policy that the session has seen before.
pub(crate) fn is_of_earlier(guard: &str) -> bool {
    let first = guard.split('.').next().unwrap_or_default();
    first.strip_prefix("before").is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
        && guard.contains('.')
}

/// The prefix of guard names from an earlier policy that a session has seen, the oldest first.
fn word_before(older: usize) -> String {
    if older == 0 { "before.".to_owned() } else { format!("before{}.", older + 1) }
}
