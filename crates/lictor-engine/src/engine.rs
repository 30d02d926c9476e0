//! The engine: evaluates the graph, records in the store, notifies tracers.
//!
//! The store is never locked while a guard, callback or person runs: the session is read first, then the graph
//! judges, then one transaction records the judgement against the then current state.

mod advise;
mod approvals;
mod build;
mod edits;
mod judge;
mod judged;
mod lifecycle;
mod mode;
mod post;
mod recall;
mod recent;
mod record;
mod resolve;
mod rules;
mod sessions;
mod stop;
mod versions;
mod watch;

use std::borrow::Cow;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use lictor_core::feedback::Provider;
use lictor_core::{
    Action, CheckSeal, Clock, Companion, Decision, Digest, Evaluation, Facts, Graph, GraphError, Judged,
    Node, Outcome, SessionKey, SessionState, Standing, Stopwatch, Verdict,
    redact::{self, Taken},
};
use lictor_observe::{self as observe, NoEdits, RealObserver};
use lictor_store::{Store, StoreError, StoreExt, View};

pub use build::Builder;
pub use lifecycle::Prompt;
pub use mode::{Asking, Mode};
use record::{Read, Recorded};
use rules::Rules;
pub use rules::{PolicyVersion, is_of_earlier_version};
pub use versions::PolicyCodec;
use versions::Versions;

use crate::approvals::Approvals;
use crate::extend::{Checker, FeedbackProvider, RecentCall};
use crate::tracer::Tracer;

/// Judges actions by a policy graph and records every judgement. Cheap to clone, made to be shared between threads.
#[derive(Clone)]
pub struct PolicyEngine {
    inner: Arc<Inner>,
    rules: Arc<Rules>,
}

/// State that all sessions share.
struct Inner {
    /// The current policy: sessions begin under it.
    current: Digest,
    versions: Option<Versions>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    tracers: Vec<Box<dyn Tracer>>,
    /// Set only if there is a tracer: nothing else needs durations.
    stopwatch: Option<Arc<dyn Stopwatch>>,
    deadline: Option<Duration>,
    seals: Option<Arc<dyn CheckSeal>>,
    feedback: Vec<Provider>,
    providers: Vec<Box<dyn FeedbackProvider>>,
    checkers: Vec<Box<dyn Checker>>,
    recent: recent::Recent,
}

impl PolicyEngine {
    /// An engine for this graph, with an in-memory store.
    ///
    /// # Errors
    /// When the graph is invalid; see [`GraphError`].
    pub fn new(root: impl Into<Node>) -> Result<Self, GraphError> {
        Self::builder(root).build()
    }

    /// A builder for this graph, to set a store, tracers and so on.
    pub fn builder(root: impl Into<Node>) -> Builder {
        Builder::new(Graph::new(root))
    }

    /// A builder for this version of a policy.
    #[must_use]
    pub fn of_policy(policy: PolicyVersion) -> Builder {
        Builder::of(policy)
    }

    /// A builder for a graph that is already validated, for instance by [`Layers`](lictor_core::Layers).
    #[must_use]
    pub fn over(graph: Graph) -> Builder {
        Builder::new(Ok(graph))
    }

    /// Judges one action and records the judgement. Any failure on the way is a block.
    #[must_use]
    pub fn evaluate(&self, action: &Action) -> Evaluation {
        self.evaluate_with(action, Mode::default())
    }

    /// As [`evaluate`](Self::evaluate), in another mode.
    #[must_use]
    pub fn evaluate_with(&self, action: &Action, mut mode: Mode) -> Evaluation {
        let action = &*self.meant(action);
        mode.observe &= !self.rules.enforced;
        let mut recorded = self.evaluate_from(self.cached_sessions_of(action), action, mode.clone());
        if let Recorded::Outdated(_) = recorded {
            recorded = self.evaluate_from(self.sessions_of(action), action, mode);
        }
        let (Recorded::Done(evaluation) | Recorded::Outdated(evaluation)) = recorded;
        evaluation
    }

    /// Judges an action of those sessions.
    fn evaluate_from(
        &self,
        mut sessions: Result<Read, StoreError>,
        action: &Action,
        mut mode: Mode,
    ) -> Recorded {
        let now = self.inner.clock.now();
        let mut lost = None;
        if let Ok(read) = &sessions {
            match self.with_seen(&read.sessions) {
                Some(Ok(engine)) => return Recorded::Done(engine.evaluate_with(action, mode)),
                Some(Err(why)) => lost = Some(why),
                None if !mode.dry && self.is_news(&read.sessions) => {
                    sessions = self.notice(action).map(Read::current);
                }
                None => {}
            }
        }
        let (mut watched, mut read) = (None, None);
        let (judged, facts) = match sessions {
            Ok(_) if let Some(why) = lost => {
                // The earlier version may have been enforced.
                mode.observe = false;
                (Judged::refused(judge::from_engine("session", versions::lost(&why))), Facts::none())
            }
            Ok(Read { sessions, freshness }) => {
                watched = sessions.seen().and_then(|own| self.first_look(own));
                let sessions = Arc::new(sessions);
                let judged = self.judge(action, &sessions, now, mode.companion.as_ref());
                // A guard past the deadline may still hold it.
                read = Arc::into_inner(sessions).map(|sessions| Read { sessions, freshness });
                judged
            }
            Err(fault) => {
                let verdict = Verdict::error(fault.to_string(), OPERATOR);
                (Judged::refused(judge::from_engine("store", verdict)), Facts::none())
            }
        };
        let unseen = (mode.unseen_input && facts.awaits_code()).then_some(judge::UNSEEN_INPUT);
        let judged = match mode.caution.as_deref().or(unseen) {
            Some(why) => judge::cautious(judged, why),
            None => judged,
        };
        let mut evaluation = Evaluation::new(judged, action.digest(), self.rules.policy);
        evaluation.dry = mode.dry;
        evaluation.observed = mode.observe;
        let marks = self.rules.history.marks(action, &facts);
        let current = self.inner.current;
        let asks = evaluation.decision == Decision::Ask && !mode.dry;
        let pins = if asks { observe::pins(action, &facts, &RealObserver) } else { Vec::new() };
        let found = self.edited(action, &facts);
        let (seals, quorum) = (self.inner.seals.as_deref(), self.rules.quorum);
        let case = record::Case {
            action,
            facts: &facts,
            mode: &mode,
            now,
            current,
            marks,
            watched,
            pins,
            found,
            seals,
            quorum,
            versions: self.inner.versions.as_ref(),
        };
        let recorded = self.record(&case, evaluation, read);
        if let Recorded::Done(evaluation) = &recorded {
            self.tell(action, evaluation, mode.companion.as_ref());
        }
        recorded
    }

    /// The pending questions, and how to answer them.
    #[must_use]
    pub fn approvals(&self) -> Approvals {
        Approvals::new(Arc::clone(&self.inner.store))
    }

    /// The state of a session.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn session(&self, key: &SessionKey) -> Result<SessionState, StoreError> {
        self.inner.store.view(|view| sessions::read(view, key))
    }

    /// The latest calls of a session with their outcomes, newest last.
    #[must_use]
    pub fn recent_calls(&self, session: &SessionKey, most: usize) -> Vec<RecentCall> {
        crate::extend::recent_calls(&*self.inner.store, session, most)
    }

    /// The checked graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.rules.graph
    }

    /// The facts of an action from the engine's own source. If the source fails, nothing is known.
    #[must_use]
    pub fn facts(&self, action: &Action) -> Facts {
        let action = &*self.meant(action);
        catch_unwind(AssertUnwindSafe(|| self.rules.sight.facts(action, &NoEdits))).unwrap_or_default()
    }

    /// The digest of the current policy.
    #[must_use]
    pub fn policy(&self) -> Digest {
        self.rules.policy
    }

    /// Whether everything is enforced, even in observe mode.
    #[must_use]
    pub fn is_enforced(&self) -> bool {
        self.rules.enforced
    }

    /// The store behind it.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// The action that is judged and recorded instead of this one.
    fn meant<'a>(&self, action: &'a Action) -> Cow<'a, Action> {
        self.rules.sight.meant(action).map_or(Cow::Borrowed(action), Cow::Owned)
    }

    fn sessions_of(&self, action: &Action) -> Result<Read, StoreError> {
        self.inner.store.view(|view| sessions::Lineage::load(view, action)).map(Read::current)
    }

    /// The same from the store's cache, if it has one.
    fn cached_sessions_of(&self, action: &Action) -> Result<Read, StoreError> {
        let load = |view: &dyn View| sessions::Lineage::load_remembered(view, action, &self.inner.recent);
        let (sessions, freshness) = self.inner.store.view_cached(load)?;
        Ok(Read { sessions, freshness })
    }

    /// A failing tracer changes nothing, but the failure is reported.
    fn tell(&self, action: &Action, evaluation: &Evaluation, companion: Option<&Companion>) {
        if self.inner.tracers.is_empty() {
            return;
        }
        let (action, evaluation) = match self.for_tracers(action, evaluation) {
            Ok(redacted) => redacted,
            Err(error) => return complain(&error.to_string()),
        };
        self.each_tracer(|tracer| tracer.trace_with(&action, &evaluation, companion));
    }

    /// Notifies tracers of an outcome.
    fn tell_outcome(&self, action: &Action, outcome: &Outcome, standing: Standing) {
        if self.inner.tracers.is_empty() {
            return;
        }
        let redactor = &*self.rules.redactor;
        let clean = record::taken_from(action, redactor).and_then(|texts| {
            let redactor = &Taken { redactor, texts: &texts };
            Ok((redact::value(action, redactor)?, redact::value(outcome, redactor)?))
        });
        match clean {
            Err(error) => complain(&error.to_string()),
            Ok((clean_action, clean_outcome)) => {
                let action = clean_action.as_ref().unwrap_or(action);
                let outcome = clean_outcome.as_ref().unwrap_or(outcome);
                self.each_tracer(|tracer| tracer.happened(action, outcome, standing));
            }
        }
    }

    fn each_tracer(&self, tell: impl Fn(&dyn Tracer) -> std::io::Result<()>) {
        for tracer in &self.inner.tracers {
            match catch_unwind(AssertUnwindSafe(|| tell(&**tracer))) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => complain(&error.to_string()),
                Err(_) => complain("it panicked"),
            }
        }
    }

    /// Redacts data for tracers: they are sinks like the log.
    fn for_tracers<'a>(
        &self,
        action: &'a Action,
        evaluation: &'a Evaluation,
    ) -> serde_json::Result<(Cow<'a, Action>, Cow<'a, Evaluation>)> {
        let redactor = &*self.rules.redactor;
        let redactor = &Taken { redactor, texts: &record::taken_from(action, redactor)? };
        let action = redact::value(action, redactor)?.map_or(Cow::Borrowed(action), Cow::Owned);
        let evaluation = match redact::value(evaluation, redactor)? {
            None => Cow::Borrowed(evaluation),
            Some(mut clean) => {
                // The session is not recorded here, so it is not redacted either.
                clean.session.clone_from(&evaluation.session);
                clean.trace.timed_as(&evaluation.trace);
                Cow::Owned(clean)
            }
        };
        Ok((action, evaluation))
    }
}

/// If stderr is closed, the error cannot be reported.
fn complain(fault: &str) {
    let _ = writeln!(std::io::stderr(), "lictor: a tracer failed: {fault}");
}

/// The fix for an internal fault, for the operator.
const OPERATOR: &str = "run `lictor doctor`; nothing was done meanwhile";
