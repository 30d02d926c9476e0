//! The rules for a session: the current policy, alone or together with the versions that the session has seen.

use std::sync::Arc;

use lictor_core::completion::Gate;
use lictor_core::history::History;
use lictor_core::redact::AllOf;
use lictor_core::{Action, All, Digest, FactSource, Facts, Graph, GraphError, Node, Quorum, Redact};
use lictor_observe::{DescribedTool, OwnEdits, PolicyView, Project, as_task};

use crate::probe::Probe;

/// One version of a policy, in the form that an engine uses.
pub struct PolicyVersion {
    /// Identifies it in the record of sessions.
    pub digest: Digest,
    /// Identifies its rules: equal for versions that differ only in the programs they run.
    pub rules: Digest,
    /// It only observes: it stops nothing.
    pub observes: bool,
    /// Its guards.
    pub tree: Node,
    /// The patterns that its guards ask the past about.
    pub history: History,
    /// The completion gate.
    pub gate: Option<Gate>,
    /// Who has to approve.
    pub quorum: Quorum,
    /// The redactor of the record.
    pub redactor: Arc<dyn Redact>,
    /// What it knows about the project.
    pub view: PolicyView,
    /// Command lines that it runs without a trust check.
    pub trusted: Vec<Vec<String>>,
}

/// The rules of the engine.
pub(super) struct Rules {
    pub(super) graph: Graph,
    /// What grants are bound to.
    pub(super) policy: Digest,
    /// Identifies the rules of the current policy.
    pub(super) own: Digest,
    /// The current policy only observes.
    pub(super) observes: bool,
    /// For sessions that have seen other versions too.
    pub(super) follows: bool,
    /// The history has patterns that the other versions did not track.
    pub(super) recalls: bool,
    /// Everything is enforced, even if the mode of a call is to observe.
    pub(super) enforced: bool,
    pub(super) sight: Sight,
    pub(super) redactor: Arc<dyn Redact>,
    pub(super) history: History,
    pub(super) knows_files: bool,
    pub(super) gate: Option<Gate>,
    pub(super) quorum: Quorum,
    pub(super) probe: Arc<dyn Probe>,
}

impl Rules {
    /// The current rules together with the other versions that a session has seen, the first one first.
    ///
    /// # Errors
    /// When they do not give a valid graph.
    pub(super) fn with(
        &self,
        current: Digest,
        seen: &[Digest],
        others: &[Arc<PolicyVersion>],
    ) -> Result<Self, GraphError> {
        let mut kept = if seen.contains(&current) { self.history.clone() } else { History::default() };
        let mut judging: Vec<&PolicyVersion> = Vec::new();
        for version in others {
            kept.join(version.history.clone());
            // Only enforced versions restrict, and the same rules need not be evaluated twice.
            let known = judging.iter().map(|known| known.rules).chain([self.own]);
            if !version.observes && known.into_iter().all(|known| known != version.rules) {
                judging.push(version);
            }
        }
        let enforced = !judging.is_empty();
        let own = (!enforced || !self.observes).then_some(());
        let mut trees: Vec<Node> = own.map(|()| self.graph.root().clone()).into_iter().collect();
        let mut history = own.map(|()| self.history.clone()).unwrap_or_default();
        let mut gate = own.and_then(|()| self.gate.clone());
        let mut quorum = own.map(|()| self.quorum).unwrap_or_default();
        let mut redactors = vec![Arc::clone(&self.redactor)];
        let mut trusted = Vec::new();
        for (index, version) in judging.iter().enumerate() {
            trees.push(version.tree.clone().prefixed(&word_before(index)));
            history.join(version.history.clone());
            gate = match (gate, version.gate.clone()) {
                (Some(one), Some(two)) => Some(Gate::and(one, two)),
                (one, two) => one.or(two),
            };
            quorum = quorum.and(version.quorum);
            redactors.push(Arc::clone(&version.redactor));
            trusted.extend(version.trusted.iter().cloned());
        }
        let tree = match (trees.pop(), trees.is_empty()) {
            (Some(only), true) => only,
            (last, _) => All::new(trees.into_iter().chain(last).collect::<Vec<_>>()).into(),
        };
        let knows_files = self.knows_files || judging.iter().any(|version| version.view.contents);
        Ok(Self {
            graph: self.graph.with_root(tree)?,
            policy: together(seen, current),
            own: self.own,
            observes: self.observes,
            follows: true,
            recalls: !history.is_kept_by(&kept),
            enforced,
            sight: self.sight.with(judging.iter().map(|version| version.view.clone())),
            redactor: if enforced { Arc::new(AllOf(redactors)) } else { Arc::clone(&self.redactor) },
            history,
            knows_files,
            gate,
            quorum,
            probe: self.probe.trusting(&trusted).unwrap_or_else(|| Arc::clone(&self.probe)),
        })
    }
}

/// Identifies several versions together. A grant under one of them is not valid under all.
fn together(seen: &[Digest], current: Digest) -> Digest {
    // The current one has been seen or not, depending on whether the change is on record yet.
    let others = seen.iter().filter(|policy| **policy != current).chain([&current]);
    Digest::of_parts(
        [b"lictor policies 1".as_slice()]
            .into_iter()
            .chain(others.map(|policy| policy.as_bytes().as_slice())),
    )
}

/// The prefix of guards of earlier versions.
const BEFORE: &str = "before";

/// The prefix of the guards of an earlier version, the oldest first.
fn word_before(older: usize) -> String {
    if older == 0 { format!("{BEFORE}.") } else { format!("{BEFORE}{}.", older + 1) }
}

/// Whether a guard belongs to an earlier version of the policy, by its name in an evaluation.
#[must_use]
pub fn is_of_earlier_version(guard: &str) -> bool {
    let Some((first, _)) = guard.split_once('.') else { return false };
    first.strip_prefix(BEFORE).is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

/// Derives the facts of an action from what is known about the project and the session's edits.
pub(super) type Look = Arc<dyn Fn(&Project, &Action, &dyn OwnEdits) -> Facts + Send + Sync>;

/// The source of facts.
pub(super) enum Sight {
    /// A source that does not use the policy.
    Source(Arc<dyn FactSource>),
    /// Uses knowledge about the project, to which versions of the policy add.
    Project { known: Box<Project>, look: Look, tasks: bool },
}

impl Sight {
    pub(super) fn of(mut known: Project, view: PolicyView, look: Look) -> Self {
        known.learn(view);
        let tasks = known.described.iter().any(DescribedTool::submits_tasks);
        Self::Project { known: Box::new(known), look, tasks }
    }

    fn with(&self, views: impl Iterator<Item = PolicyView>) -> Self {
        match self {
            Self::Source(source) => Self::Source(Arc::clone(source)),
            Self::Project { known, look, .. } => {
                let mut known = known.as_ref().clone();
                views.for_each(|view| known.learn(view));
                Self::of(known, PolicyView::default(), Arc::clone(look))
            }
        }
    }

    pub(super) fn facts(&self, action: &Action, edits: &dyn OwnEdits) -> Facts {
        match self {
            Self::Source(source) => source.facts(action),
            Self::Project { known, look, .. } => look(known, action, edits),
        }
    }

    /// The action that this one is judged as, if it differs: a call of a tool that submits tasks is judged as the
    /// task.
    pub(super) fn meant(&self, action: &Action) -> Option<Action> {
        match self {
            Self::Project { known, tasks: true, .. } => as_task(action, &known.described),
            _ => None,
        }
    }
}
