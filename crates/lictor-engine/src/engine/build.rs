//! The builder of an engine.

use std::sync::Arc;
use std::time::Duration;

use lictor_core::completion::{Check, Gate};
use lictor_core::feedback::{Provider, Source, Trigger};
use lictor_core::{
    Action, Audience, CheckSeal, Clock, Digest, FactSource, Facts, Graph, GraphError, Quorum, Redact,
    Secrets, SharedGuard, Stopwatch, history::History,
};
use lictor_observe::{self as observe, OwnEdits, PolicyView, Project, RealObserver};
use lictor_store::{MemoryStore, Store};

use super::rules::{PolicyVersion, Rules, Sight};
use super::versions::{PolicyCodec, Versions};
use super::{Inner, PolicyEngine};
use crate::extend::{Checker, FeedbackProvider};
use crate::probe::{Probe, Unseen};
use crate::system_clock::{SystemClock, SystemStopwatch};
use crate::tracer::Tracer;

/// Makes a [`PolicyEngine`].
pub struct Builder {
    graph: Result<Graph, GraphError>,
    policy: Option<Digest>,
    /// The digest of the policy's rules, if it differs from the policy's.
    rules: Option<Digest>,
    observes: bool,
    view: PolicyView,
    trusted: Vec<Vec<String>>,
    versions: Option<Versions>,
    store: Option<Arc<dyn Store>>,
    sight: Option<Sight>,
    clock: Option<Arc<dyn Clock>>,
    tracers: Vec<Box<dyn Tracer>>,
    stopwatch: Option<Arc<dyn Stopwatch>>,
    deadline: Option<Duration>,
    redactor: Option<Arc<dyn Redact>>,
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
    /// An engine that judges by that policy.
    pub(super) fn of(policy: PolicyVersion) -> Self {
        Self {
            policy: Some(policy.digest),
            rules: Some(policy.rules),
            observes: policy.observes,
            knows_files: policy.view.contents,
            view: policy.view,
            trusted: policy.trusted,
            history: policy.history,
            gate: policy.gate,
            quorum: policy.quorum,
            redactor: Some(policy.redactor),
            ..Self::new(Graph::new(policy.tree))
        }
    }

    pub(super) fn new(graph: Result<Graph, GraphError>) -> Self {
        Self {
            graph,
            policy: None,
            rules: None,
            observes: false,
            view: PolicyView::default(),
            trusted: Vec::new(),
            versions: None,
            store: None,
            sight: None,
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

    /// The store. A hook process needs one that outlives it.
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

    /// A tracer. May be called several times.
    #[must_use]
    pub fn tracer(mut self, tracer: impl Tracer + 'static) -> Self {
        self.tracers.push(Box::new(tracer));
        self
    }

    /// The clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// The stopwatch for tracers. Default: the machine's own.
    #[must_use]
    pub fn stopwatch(mut self, stopwatch: impl Stopwatch + 'static) -> Self {
        self.stopwatch = Some(Arc::new(stopwatch));
        self
    }

    /// The time limit of one evaluation. After it the decision is a block that names the guard.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// The source of facts. Default: the project around the current directory.
    #[must_use]
    pub fn facts(mut self, source: impl FactSource + 'static) -> Self {
        self.sight = Some(Sight::Source(Arc::new(source)));
        self
    }

    /// As [`facts`](Self::facts), with known facts about a project, to which each version of the policy adds its
    /// own.
    #[must_use]
    pub fn look(
        mut self,
        project: Project,
        look: impl Fn(&Project, &Action, &dyn OwnEdits) -> Facts + Send + Sync + 'static,
    ) -> Self {
        self.sight = Some(Sight::of(project, self.view.clone(), Arc::new(look)));
        self
    }

    /// The digest of the policy of the graph. Grants and sessions are bound to it.
    #[must_use]
    pub fn policy_digest(mut self, digest: Digest) -> Self {
        self.policy = Some(digest);
        self
    }

    /// How the policy is stored for sessions that see it change. Without it, a session is always judged by the
    /// current policy.
    #[must_use]
    pub fn versions(mut self, codec: impl PolicyCodec + 'static) -> Self {
        self.versions = Some(Versions::new(codec));
        self
    }

    /// An observer: it always runs, after the tree, and its verdict is ignored.
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

    /// Whether sessions track which files the agent has read and written, and their content.
    #[must_use]
    pub fn knows_files(mut self, knows_files: bool) -> Self {
        self.knows_files = knows_files;
        self
    }

    /// The feedback providers.
    #[must_use]
    pub fn feedback(mut self, providers: Vec<Provider>) -> Self {
        self.feedback = providers;
        self
    }

    /// The completion gate.
    #[must_use]
    pub fn gate(mut self, gate: Option<Gate>) -> Self {
        self.gate = gate;
        self
    }

    /// A feedback provider in code, with its trigger. May be called several times.
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

    /// A completion check in code, in addition to the gate. May be called several times; a gate that names it as
    /// [`Check::Custom`] determines its position.
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

    /// Reads files, runs programs and reads findings for feedback and for the stop gate.
    #[must_use]
    pub fn probe(mut self, probe: impl Probe + 'static) -> Self {
        self.probe = Some(Arc::new(probe));
        self
    }

    /// Checks people's signatures. With it, a grant counts only when it is signed.
    #[must_use]
    pub fn seals(mut self, check: Arc<dyn CheckSeal>) -> Self {
        self.seals = Some(check);
        self
    }

    /// Who has to approve. Default: any one person.
    #[must_use]
    pub fn quorum(mut self, quorum: Quorum) -> Self {
        self.quorum = quorum;
        self
    }

    /// The redactor for everything that is recorded, instead of [`Secrets`](lictor_core::Secrets).
    #[must_use]
    pub fn redact(mut self, redactor: impl Redact + 'static) -> Self {
        self.redactor = Some(Arc::new(redactor));
        self
    }

    /// The engine.
    ///
    /// # Errors
    /// When the graph is degenerate; see [`GraphError`].
    pub fn build(self) -> Result<PolicyEngine, GraphError> {
        let graph = self.graph?;
        let current = self.policy.unwrap_or_else(|| graph.digest());
        let probe = self.probe.unwrap_or_else(|| Arc::new(Unseen));
        let rules = Rules {
            graph,
            policy: current,
            own: self.rules.unwrap_or(current),
            observes: self.observes,
            follows: false,
            recalls: false,
            enforced: false,
            sight: self.sight.unwrap_or_else(|| real(self.view)),
            redactor: self.redactor.unwrap_or_else(|| Arc::new(Secrets)),
            history: self.history,
            knows_files: self.knows_files,
            gate: self.gate,
            quorum: self.quorum,
            probe: probe.trusting(&self.trusted).unwrap_or(probe),
        };
        let inner = Inner {
            current,
            versions: self.versions,
            store: self.store.unwrap_or_else(|| Arc::new(MemoryStore::new())),
            clock: self.clock.unwrap_or_else(|| Arc::new(SystemClock)),
            stopwatch: (!self.tracers.is_empty())
                .then(|| self.stopwatch.unwrap_or_else(|| Arc::new(SystemStopwatch::start()))),
            tracers: self.tracers,
            deadline: self.deadline,
            feedback: self.feedback,
            providers: self.providers,
            checkers: self.checkers,
            seals: self.seals,
            recent: super::recent::Recent::default(),
        };
        Ok(PolicyEngine { inner: Arc::new(inner), rules: Arc::new(rules) })
    }
}

/// Derives facts from the file system, with the project around the current directory.
fn real(view: PolicyView) -> Sight {
    let cwd = std::env::current_dir().unwrap_or_default();
    let project = Project::discover(&cwd.to_string_lossy(), &RealObserver);
    let look = |known: &Project, action: &Action, edits: &dyn OwnEdits| {
        observe::facts_after(action, known, &RealObserver, edits)
    };
    Sight::of(project, view, Arc::new(look))
}
