//! A governed project: its policy files, its record, and the operations on them.

pub(crate) mod assemble;

use std::path::Path;
use std::sync::Arc;

use assemble::assemble;
use lictor_config::{Origin, PolicyBundle, Redactor, Source};
use lictor_core::completion::{Completion, Stop, StopCheck};
use lictor_core::feedback::Advice;
use lictor_core::{
    Action, Answer, Clock, Decision, Evaluation, Facts, Limit, Outcome, Redact as _, SessionKey,
    SessionState, Standing, redact,
};
use lictor_engine::log::{Evaluated, kind};
use lictor_engine::{Approvals, Mode, PersonSigner, PolicyEngine, Prompt};
use lictor_ledger::gate::{GateEvent, GateOutcome, judge_by_record};
use lictor_observe::{Identity, Observer as _, RealObserver};
use lictor_store::{MemoryStore, Query, Store, StoreExt as _};

use crate::councils::ActiveCouncils;
use crate::earlier::KeptPolicies;
use crate::error::Error;
use crate::options::{Options, SharedClock};
use crate::policy_files::{self, Snapshot};
use crate::project::Project;
use crate::project_ledger::{self, ProgressFn, ProjectLedger};
use crate::team;

/// A governed project: judges actions by its policy files, records everything in its store, and decides what an
/// agent may do next. Cheap to clone, and can be shared between threads.
///
/// The policy is read once, when the runtime is opened. [`reopened`](Self::reopened) reads it again.
///
/// ```
/// use lictor::{Action, Decision, Options, Outcome, Runtime, Standing};
///
/// # let dir = tempfile::tempdir()?;
/// # let (home, project) = (dir.path(), dir.path().join("project"));
/// # std::fs::create_dir(&project)?;
/// std::fs::write(project.join("governance.yaml"), "
/// version: 1
/// tools:
///   require_first: {bash(\"git push\"): [bash(\"cargo test\")]}
/// ")?;
/// let lictor = Runtime::open_with(&project, Options::from_process().home(home))?;
///
/// let push = lictor.action("bash", "git push").in_session("s1");
/// let refused = lictor.evaluate(&push);
/// assert_eq!(refused.decision, Decision::Block);
///
/// let test = lictor.action("bash", "cargo test").in_session("s1");
/// assert!(lictor.evaluate(&test).passed());
/// assert_eq!(lictor.post(&test, Outcome::success())?.standing, Standing::Governed);
/// assert!(lictor.evaluate(&push).passed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

struct Inner {
    engine: PolicyEngine,
    project: Project,
    current: Arc<Snapshot>,
    /// The file of the store. `None` if it is not a file.
    store_file: Option<Identity>,
}

fn identity_of_store(project: &Project) -> Option<Identity> {
    RealObserver.identity(project.store_file()?.to_str()?)
}

/// The result of reporting an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// How the outcome relates to the decision.
    pub standing: Standing,
    /// The feedback for the agent.
    pub feedback: Vec<Advice>,
}

/// An agent that wants to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopRequest {
    /// Its session.
    pub session: SessionKey,
    /// The session that started it, for a subagent.
    pub parent: Option<SessionKey>,
    /// What else is known about the request.
    pub stop: Stop,
}

impl StopRequest {
    /// The agent of that session wants to stop.
    #[must_use]
    pub fn new(session: SessionKey) -> Self {
        Self { session, parent: None, stop: Stop::default() }
    }
}

impl Runtime {
    /// Opens the project around a directory, with the environment of this process: policy files of the machine,
    /// the user and the repository, the project's store, trusted programs, and the policies that running sessions
    /// have seen.
    ///
    /// # Errors
    /// When the policy is refused, or a file or the store cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, Options::from_process())
    }

    /// As [`open`](Self::open), with options.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        Self::of_project(Project::around(path.as_ref(), &options))
    }

    /// The runtime of a project that is known already.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_project(project: Project) -> Result<Self, Error> {
        Self::of_project_after(project, None)
    }

    /// As [`of_project`](Self::of_project), reusing the store and policy of an earlier runtime, if still current:
    /// a process that handles many events of one project opens the store once and reads an unchanged policy once.
    pub(crate) fn of_project_after(project: Project, earlier: Option<&Self>) -> Result<Self, Error> {
        let (sources, absent) = policy_files::in_force(&project)?;
        if let Some(earlier) =
            earlier.filter(|earlier| absent.is_none() && earlier.holds_for(&project, &sources))
        {
            let Inner { engine, current, store_file, .. } = &*earlier.inner;
            let (engine, current) = (engine.clone(), Arc::clone(current));
            return Ok(Self { inner: Arc::new(Inner { engine, project, current, store_file: *store_file }) });
        }
        let store = project.store()?;
        let current = Arc::new(Snapshot::of_project(&project, sources)?);
        if let Some((server, why)) = &absent {
            team::note_absence(&*store, project.options().now(), server, why)?;
        }
        let kept = KeptPolicies {
            project: project.clone(),
            store: Arc::clone(&store),
            current: Arc::clone(&current),
        };
        let clock = project.options().clock.clone();
        let builder = assemble(&project, store, clock, &current, |look, action| look.facts(action))?;
        let engine = builder.versions(kept).build()?;
        Ok(Self::new(engine, project, current))
    }

    /// A policy without files: the text counts as the user's own file, so that every key is allowed. Without a
    /// store in the options, the record is in memory.
    ///
    /// ```
    /// use lictor::{Action, Decision, Options, Runtime};
    ///
    /// let lictor = Runtime::from_yaml("{version: 1, budget: {max_actions: 2}}", Options::from_process())?;
    /// let call = || lictor.evaluate(&Action::bash("ls").in_session("s1")).decision;
    /// assert_eq!([call(), call(), call()], [Decision::Pass, Decision::Warn, Decision::Block]);
    /// # Ok::<(), lictor::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the policy is refused.
    pub fn from_yaml(text: &str, options: Options) -> Result<Self, Error> {
        let project = Project::around(&options.cwd, &options);
        let source =
            Source { origin: Origin::User, path: "policy".to_owned(), bytes: text.as_bytes().to_vec() };
        let current = Arc::new(Snapshot::from_sources(vec![source], &project.root)?);
        let store = options.store.clone().unwrap_or_else(|| Arc::new(MemoryStore::new()));
        let clock = options.clock.clone();
        Self::alone(project, store, clock, current, |look, action| look.facts(action))
    }

    /// The project's policy with an in-memory store: nothing is recorded permanently.
    ///
    /// # Errors
    /// When the graph cannot be built.
    pub fn in_memory(
        project: &Project,
        current: Arc<Snapshot>,
        clock: impl Clock + 'static,
    ) -> Result<Self, Error> {
        Self::over_memory(project, Arc::new(MemoryStore::new()), current, clock)
    }

    /// The same with the caller's store and with recorded facts, where `recorded` has them.
    ///
    /// # Errors
    /// When the graph cannot be built.
    pub fn replaying(
        project: &Project,
        store: Arc<MemoryStore>,
        current: Arc<Snapshot>,
        clock: impl Clock + 'static,
        recorded: impl Fn() -> Option<Facts> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let clock = SharedClock(Arc::new(clock));
        Self::alone(project.clone(), store, clock, current, move |look, action| {
            recorded().unwrap_or_else(|| look.facts(action))
        })
    }

    /// The project's policy with an in-memory store that the caller owns and can clear between sessions.
    ///
    /// # Errors
    /// When the graph cannot be built.
    pub fn over_memory(
        project: &Project,
        store: Arc<MemoryStore>,
        current: Arc<Snapshot>,
        clock: impl Clock + 'static,
    ) -> Result<Self, Error> {
        let clock = SharedClock(Arc::new(clock));
        Self::alone(project.clone(), store, clock, current, |look, action| look.facts(action))
    }

    /// For sessions of another project: only the current policy applies.
    pub(crate) fn visited(project: Project) -> Result<Self, Error> {
        let (sources, _) = policy_files::in_force(&project)?;
        let (store, clock) = (project.store()?, project.options().clock.clone());
        let current = Arc::new(Snapshot::of_project(&project, sources)?);
        Self::alone(project, store, clock, current, |look, action| look.facts(action))
    }

    /// Without the policies that sessions have seen before.
    fn alone(
        project: Project,
        store: Arc<dyn Store>,
        clock: SharedClock,
        current: Arc<Snapshot>,
        facts: impl Fn(&dyn lictor_core::FactSource, &Action) -> Facts + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let engine = assemble(&project, store, clock, &current, facts)?.build()?;
        Ok(Self::new(engine, project, current))
    }

    fn new(engine: PolicyEngine, project: Project, current: Arc<Snapshot>) -> Self {
        let store_file = identity_of_store(&project);
        Self { inner: Arc::new(Inner { engine, project, current, store_file }) }
    }

    /// Whether a runtime for this project and these files would have the same store and policy. The programs of a
    /// policy are part of it, and may have changed.
    fn holds_for(&self, project: &Project, sources: &[Source]) -> bool {
        let Inner { project: known, current, store_file, .. } = &*self.inner;
        known.is_same(project)
            && current.sources() == sources
            && current.policy.programs().is_empty()
            && store_file.is_some()
            && *store_file == identity_of_store(project)
    }

    /// Reads the policy again: a runtime over the same store. Sessions that began under the old policy keep to it where
    /// it is stricter.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn reopened(&self) -> Result<Self, Error> {
        let options = self.inner.project.options().clone().shared_store(Arc::clone(self.store()));
        Self::of_project(Project::around(&self.inner.project.root, &options))
    }

    /// An action in this project, from words: a kind (`bash`, `read`, `write`, `fetch`, `execute_code`,
    /// `submit_task`, `delegate`, or a tool's kind) and its object.
    #[must_use]
    pub fn action(&self, kind: &str, what: &str) -> Action {
        crate::forms::action(kind, what).in_dir(self.inner.project.root.to_string_lossy())
    }

    /// Judges one action and records the judgement. Any failure on the way is a block. The result is redacted
    /// like the record.
    #[must_use]
    pub fn evaluate(&self, action: &Action) -> Evaluation {
        self.evaluate_with(action, Mode { observe: self.policy().is_observing(), ..Mode::default() })
    }

    /// As [`evaluate`](Self::evaluate), in another mode.
    #[must_use]
    pub fn evaluate_with(&self, action: &Action, mode: Mode) -> Evaluation {
        self.inner.engine.evaluate_with(action, mode).redacted(self.redactor())
    }

    /// Judges without changing any session: no counter changes, no grant is used, nobody is asked. An action
    /// without a session is judged as the first of an empty one, so that budgets can be checked.
    #[must_use]
    pub fn evaluate_dry(&self, action: &Action) -> Evaluation {
        let mode = Mode { dry: true, ..Mode::default() };
        if action.session.is_some() {
            return self.evaluate_with(action, mode);
        }
        self.evaluate_with(&action.clone().in_session("eval without a session"), mode)
    }

    /// Records the outcome of an action, and collects the feedback that is due.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn post(&self, action: &Action, outcome: Outcome) -> Result<Posted, Error> {
        let standing = self.inner.engine.post_action(action, outcome)?;
        // Feedback that cannot be recorded is not given: it would be given again after every call.
        let feedback = match &action.session {
            Some(session) => self.advise(session).unwrap_or_default(),
            None => Vec::new(),
        };
        Ok(Posted { standing, feedback })
    }

    fn advise(&self, session: &SessionKey) -> Result<Vec<Advice>, Error> {
        let mut advice = self.inner.engine.advise(session)?;
        for one in &mut advice {
            if let Ok(Some(clean)) = redact::value(one, self.redactor()) {
                *one = clean;
            }
        }
        Ok(advice)
    }

    /// Whether an agent may stop now. Without a check it may.
    ///
    /// # Errors
    /// When the session cannot be read or the outcome cannot be recorded.
    pub fn stop(&self, wish: &StopRequest) -> Result<StopCheck, Error> {
        let parent = wish.parent.as_ref();
        // A session that began under another policy must meet that policy's checks too.
        let engine = self.inner.engine.for_session(&wish.session, parent)?;
        let observed = self.policy().is_observing() && !engine.is_enforced();
        let stop = Stop { observed, ..wish.stop.clone() };
        let mut check = engine.check_stop(&wish.session, parent, &stop)?.unwrap_or(StopCheck {
            outcome: Completion::Complete,
            evidence: None,
            passes: Vec::new(),
            observed,
            for_person: false,
        });
        if let Ok(Some(clean)) = redact::value(&check, self.redactor()) {
            check = clean;
        }
        Ok(check)
    }

    /// The missing parts if an agent stopped now with this answer. Nothing is recorded and no round is counted;
    /// empty if it may stop.
    ///
    /// # Errors
    /// When the session cannot be read.
    pub fn missing(&self, wish: &StopRequest) -> Result<Vec<String>, Error> {
        let parent = wish.parent.as_ref();
        let engine = self.inner.engine.for_session(&wish.session, parent)?;
        let check = engine.look_at_stop(&wish.session, parent, &wish.stop)?;
        Ok(match check.map(|check| check.outcome) {
            Some(Completion::Incomplete { reasons, .. }) => reasons,
            _ => Vec::new(),
        })
    }

    /// Answers the questions of an `ask`: one answer for each of its [`questions`](Evaluation::questions), in
    /// order. The result is `pass`, `warn` or `block`.
    ///
    /// # Errors
    /// When there is no such evaluation, or it is not pending, or the number of answers is wrong: then it stays
    /// pending.
    pub fn resolve(&self, id: u64, answers: Vec<Answer>) -> Result<Evaluation, Error> {
        let query = Query::all()
            .after(id.saturating_sub(1))
            .before(id.saturating_add(1))
            .kind(kind::EVALUATED)
            .limit(1);
        let record = self.store().view(|view| view.records(&query))?.into_iter().next();
        let record = record.ok_or(Error::NoDecision(id))?;
        let evaluated: Evaluated<'_> =
            serde_json::from_str(&record.body).map_err(|_| Error::NoDecision(id))?;
        let (action, mut evaluation) = (evaluated.action.into_owned(), evaluated.evaluation.into_owned());
        if evaluation.decision != Decision::Ask || !self.inner.engine.is_waiting(&action, &evaluation)? {
            return Err(Error::NotAsked(id));
        }
        // A wrong number is a mistake of the calling program, not a person's denial.
        let (needed, given) = (evaluation.questions().len(), answers.len());
        if needed != given {
            return Err(Error::AnswerCount { id, needed, given });
        }
        evaluation.id = Some(id);
        let resolved = self.inner.engine.resolve_waiting(&action, evaluation, answers);
        Ok(resolved.ok_or(Error::NotAsked(id))?.redacted(self.redactor()))
    }

    /// Starts the session of a subagent, with its parent's scope narrowed by the limit. Idempotent.
    ///
    /// # Errors
    /// When it cannot be recorded, or the session has begun already without that parent or that limit: a limit
    /// that is not enforced must not appear to be.
    pub fn delegate(
        &self,
        parent: &SessionKey,
        child: &SessionKey,
        limit: Limit,
    ) -> Result<SessionState, Error> {
        let state = self.inner.engine.delegate(parent, child, limit.clone())?;
        if state.parent.as_ref() != Some(parent) || !state.scope.holds(&limit) {
            return Err(Error::HasBegun(child.id.clone()));
        }
        Ok(state)
    }

    /// Records a prompt of a person, or of a program on behalf of one: the rounds of the stop gate are reset, and
    /// rules for prompts with this name apply from now on.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn prompted(&self, session: &SessionKey, prompt: &Prompt) -> Result<SessionState, Error> {
        Ok(self.inner.engine.prompted(session, prompt)?)
    }

    /// The state of a session.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn session(&self, key: &SessionKey) -> Result<SessionState, Error> {
        Ok(self.inner.engine.session(key)?)
    }

    /// Clears the memory of tool policies, feedback and the stop gate in a session, and records that. Counters
    /// and budgets stay.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn reset(&self, key: &SessionKey) -> Result<SessionState, Error> {
        Ok(self.inner.engine.reset(key)?)
    }

    /// Ends a session: reservations are returned, and grants for the session end.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn end(&self, key: &SessionKey) -> Result<SessionState, Error> {
        Ok(self.inner.engine.end(key)?)
    }

    /// The project's findings.
    #[must_use]
    pub fn ledger(&self) -> ProjectLedger {
        let Inner { project, current, engine, .. } = &*self.inner;
        ProjectLedger::with(project.clone(), Arc::clone(engine.store()), current.redactor.clone())
    }

    /// The gate's outcome for git hooks and CI. Without a repository, the record alone decides.
    #[must_use]
    pub fn gate(&self, event: &GateEvent, progress: ProgressFn<'_>) -> GateOutcome {
        let ledger = self.ledger();
        if ledger.git().is_none() {
            return match ActiveCouncils::of(self.policy()) {
                Ok(active) => judge_by_record(&ledger.reading(), &active.councils, active.alone, event),
                Err(error) => GateOutcome::Error { reason: error.chain() },
            };
        }
        let options = self.inner.project.options().clone().shared_store(Arc::clone(self.store()));
        project_ledger::gate(&Project::around(&self.inner.project.root, &options), event, progress)
    }

    /// The pending questions, and how to answer them.
    #[must_use]
    pub fn approvals(&self) -> Approvals {
        let Inner { project, engine, .. } = &*self.inner;
        engine.approvals().signing(Arc::new(PersonSigner::in_directory(project.person_keys())))
    }

    /// The engine underneath.
    #[must_use]
    pub fn engine(&self) -> &PolicyEngine {
        &self.inner.engine
    }

    /// The combined policy.
    #[must_use]
    pub fn policy(&self) -> &PolicyBundle {
        &self.inner.current.policy
    }

    /// The policy as it was read.
    #[must_use]
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.inner.current
    }

    /// The project.
    #[must_use]
    pub fn project(&self) -> &Project {
        &self.inner.project
    }

    /// The store behind it.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        self.inner.engine.store()
    }

    /// The policy's redactor.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.inner.current.redactor
    }

    /// A redacted text.
    #[must_use]
    pub fn redacted(&self, text: &str) -> String {
        self.redactor().redact(text).into_owned()
    }
}
