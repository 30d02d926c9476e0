//! Putting an engine together.

use std::sync::Arc;
use std::time::Duration;

use lictor_core::completion::{Check, Gate};
use lictor_core::feedback::{Provider, Source, Trigger};
use lictor_core::{
    Action, Audience, CheckSeal, Clock, Digest, FactSource, Graph, GraphError, Quorum, Redact, Secrets,
    SharedGuard, Stopwatch, history::History,
};
use lictor_observe::{self as observe, Project, RealObserver};
use lictor_store::{MemoryStore, Store};

use super::{EarlierPolicies, Inner, PolicyEngine};
use crate::extend::{Checker, FeedbackProvider};
use crate::probe::{Probe, Unseen};
use crate::system_clock::{SystemClock, SystemStopwatch};
use crate::tracer::Tracer;

/// Says what an action stands for.
pub(super) type Meaning = Box<dyn Fn(&Action) -> Option<Action> + Send + Sync>;

/// Makes a [`PolicyEngine`].
pub struct Builder {
    graph: Result<Graph, GraphError>,
    policy: Option<Digest>,
    seen: Option<(Vec<Digest>, History)>,
    earlier: Option<Arc<dyn EarlierPolicies>>,
    enforced: bool,
    store: Option<Arc<dyn Store>>,
    facts: Option<Arc<dyn FactSource>>,
    meaning: Option<Meaning>,
    clock: Option<Arc<dyn Clock>>,
    tracers: Vec<Box<dyn Tracer>>,
    stopwatch: Option<Arc<dyn Stopwatch>>,
    deadline: Option<Duration>,
    redactor: Option<Box<dyn Redact>>,
    history: History,
    knows_files: bool,
    feedback: Vec<Provider>,
    gate: Option<Gate>,
    providers: Vec<Box<dyn FeedbackProvider>>,
    checkers: Vec<Box<dyn Checker>>,
    probe: Option<Arc<dyn Probe>>,
    seals: Option<Arc<dyn CheckSeal>>,
    quorum: Quorum,
}

impl Builder {
    pub(super) fn new(graph: Result<Graph, GraphError>) -> Self {
        Self {
            graph,
            policy: None,
            seen: None,
            earlier: None,
            enforced: false,
            store: None,
            facts: None,
            meaning: None,
            clock: None,
            tracers: Vec::new(),
            stopwatch: None,
            deadline: None,
            redactor: None,
            history: History::default(),
            knows_files: false,
            feedback: Vec::new(),
            gate: None,
            providers: Vec::new(),
            checkers: Vec::new(),
            probe: None,
            seals: None,
            quorum: Quorum::default(),
        }
    }

    /// Where to remember. A hook process needs a store that outlives it.
    #[must_use]
    pub fn store(self, store: impl Store + 'static) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// As [`store`](Self::store), shared with others.
    #[must_use]
    pub fn shared_store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Who else is told. May be given several times.
    #[must_use]
    pub fn tracer(mut self, tracer: impl Tracer + 'static) -> Self {
        self.tracers.push(Box::new(tracer));
        self
    }

    /// Where time comes from.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// What tells tracers how long each step took. Without it, the machine's own.
    #[must_use]
    pub fn stopwatch(mut self, stopwatch: impl Stopwatch + 'static) -> Self {
        self.stopwatch = Some(Arc::new(stopwatch));
        self
    }

    /// How long one evaluation may take. When it is over the answer is a block that names the guard.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Who works out what an action would do. Without it, the project around the current directory is looked at.
    #[must_use]
    pub fn facts(mut self, source: impl FactSource + 'static) -> Self {
        self.facts = Some(Arc::new(source));
        self
    }

    /// What an action stands for, where that is not what it says: a call of a tool that submits tasks is the task. The
    /// action that comes back is judged and recorded; it has to stand for itself.
    #[must_use]
    pub fn meaning(mut self, meaning: impl Fn(&Action) -> Option<Action> + Send + Sync + 'static) -> Self {
        self.meaning = Some(Box::new(meaning));
        self
    }

    /// The digest of the policy that the graph was made from. Grants and sessions are bound to it.
    #[must_use]
    pub fn policy_digest(mut self, digest: Digest) -> Self {
        self.policy = Some(digest);
        self
    }

    /// Sessions that have seen those policies, which together had this history kept, are judged here, by the rules of
    /// all of them. See [`EarlierPolicies`].
    #[must_use]
    pub fn has_seen(mut self, policies: &[Digest], kept: History) -> Self {
        self.seen = Some((policies.to_vec(), kept));
        self
    }

    /// Who remembers the policies that sessions have seen. Without it, a session is always judged by the policy of
    /// now.
    #[must_use]
    pub fn earlier(mut self, policies: impl EarlierPolicies + 'static) -> Self {
        self.earlier = Some(Arc::new(policies));
        self
    }

    /// Whether everything is enforced, also what the [`Mode`](crate::Mode) of a call says shall only be observed.
    #[must_use]
    pub fn enforced(mut self, enforced: bool) -> Self {
        self.enforced = enforced;
        self
    }

    /// A guard that only records: it always runs, after the tree, and its verdict is ignored.
    #[must_use]
    pub fn observe(mut self, guard: impl lictor_core::Guard + 'static) -> Self {
        let guard: SharedGuard = Arc::new(guard);
        self.graph = self.graph.map(|graph| graph.observe(guard));
        self
    }

    /// The patterns that guards ask the past about.
    #[must_use]
    pub fn history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// Whether sessions remember which files the agent has read and written, and what was in them.
    #[must_use]
    pub fn knows_files(mut self, knows_files: bool) -> Self {
        self.knows_files = knows_files;
        self
    }

    /// Who speaks to the agent after a call.
    #[must_use]
    pub fn feedback(mut self, providers: Vec<Provider>) -> Self {
        self.feedback = providers;
        self
    }

    /// What has to hold before an agent may stop.
    #[must_use]
    pub fn gate(mut self, gate: Option<Gate>) -> Self {
        self.gate = gate;
        self
    }

    /// Somebody in code who speaks to the agent after a call, when the trigger fires. May be given several times.
    #[must_use]
    pub fn provider(mut self, trigger: Trigger, provider: impl FeedbackProvider + 'static) -> Self {
        self.feedback.push(Provider {
            name: provider.name().to_owned(),
            trigger,
            source: Source::Custom,
            audience: Audience::default(),
        });
        self.providers.push(Box::new(provider));
        self
    }

    /// A check in code that has to be met before an agent may stop, besides what the gate asks. May be given several
    /// times; a gate that names it as [`Check::Custom`] decides itself where it stands.
    #[must_use]
    pub fn checker(mut self, checker: impl Checker + 'static) -> Self {
        let check = Check::Custom(checker.name().to_owned());
        self.checkers.push(Box::new(checker));
        self.gate = Some(match self.gate {
            None => Gate::new(check),
            Some(gate) if gate.check.names(&check) => gate,
            Some(gate) => Gate { check: Check::All(vec![gate.check, check]), ..gate },
        });
        self
    }

    /// Who looks at files, runs programs and reads findings for feedback and for the stop gate.
    #[must_use]
    pub fn probe(mut self, probe: impl Probe + 'static) -> Self {
        self.probe = Some(Arc::new(probe));
        self
    }

    /// Who knows which signatures are a person's. With it, a grant counts only when it is signed.
    #[must_use]
    pub fn seals(mut self, check: Arc<dyn CheckSeal>) -> Self {
        self.seals = Some(check);
        self
    }

    /// Who has to say yes where somebody is asked. Any one person when nothing is said.
    #[must_use]
    pub fn quorum(mut self, quorum: Quorum) -> Self {
        self.quorum = quorum;
        self
    }

    /// What is taken out of everything before it is written down. Instead of [`Secrets`](lictor_core::Secrets).
    #[must_use]
    pub fn redact(mut self, redactor: impl Redact + 'static) -> Self {
        self.redactor = Some(Box::new(redactor));
        self
    }

    /// The engine.
    ///
    /// # Errors
    /// When the graph is degenerate; see [`GraphError`].
    pub fn build(self) -> Result<PolicyEngine, GraphError> {
        let graph = self.graph?;
        let current = self.policy.unwrap_or_else(|| graph.digest());
        let recalls = self.seen.as_ref().is_some_and(|(_, kept)| !self.history.is_kept_by(kept));
        Ok(PolicyEngine {
            inner: Arc::new(Inner {
                graph,
                policy: self.seen.as_ref().map_or(current, |(seen, _)| together(seen, current)),
                current,
                follows: self.seen.is_some(),
                recalls,
                earlier: self.earlier,
                enforced: self.enforced,
                store: self.store.unwrap_or_else(|| Arc::new(MemoryStore::new())),
                facts: self.facts.unwrap_or_else(|| Arc::new(real())),
                meaning: self.meaning,
                clock: self.clock.unwrap_or_else(|| Arc::new(SystemClock)),
                stopwatch: (!self.tracers.is_empty())
                    .then(|| self.stopwatch.unwrap_or_else(|| Arc::new(SystemStopwatch::start()))),
                tracers: self.tracers,
                deadline: self.deadline,
                history: self.history,
                knows_files: self.knows_files,
                feedback: self.feedback,
                gate: self.gate,
                providers: self.providers,
                checkers: self.checkers,
                probe: self.probe.unwrap_or_else(|| Arc::new(Unseen)),
                seals: self.seals,
                quorum: self.quorum,
                redactor: self.redactor.unwrap_or_else(|| Box::new(Secrets)),
            }),
        })
    }
}

/// Identifies what several policies come to together. What a person allowed under one alone is not allowed under all.
fn together(seen: &[Digest], current: Digest) -> Digest {
    // That of now has been seen or not, depending on whether the sessions have been told yet.
    let others = seen.iter().filter(|policy| **policy != current).chain([&current]);
    Digest::of_parts(
        [b"lictor policies 1".as_slice()]
            .into_iter()
            .chain(others.map(|policy| policy.as_bytes().as_slice())),
    )
}

/// Looks at the real world, with the project around the current directory.
fn real() -> impl FactSource {
    let observer = RealObserver;
    let cwd = std::env::current_dir().unwrap_or_default();
    let project = Project::discover(&cwd.to_string_lossy(), &observer);
    move |action: &Action| observe::facts(action, &project, &observer)
}
