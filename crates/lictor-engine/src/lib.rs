//! Lictor as a library: a [`PolicyEngine`] around a policy graph, a store and tracers.
//!
//! Governance is applied at two points: [`PolicyEngine::evaluate`] before the action and
//! [`PolicyEngine::post_action`] after it. Any program that can call two functions can be governed.
//!
//! ```
//! use lictor_engine::guards::{BashSafety, BashSafetyConfig, FileBoundary, FileBoundaryConfig};
//! use lictor_engine::{Action, All, PolicyEngine};
//!
//! let bash_safety = BashSafety::new(BashSafetyConfig {
//!     blocked_patterns: vec![r"rm\s+-rf\s+/".to_owned()],
//!     ..BashSafetyConfig::default()
//! })?;
//! let file_boundary = FileBoundary::new(&FileBoundaryConfig::default(), "/project");
//!
//! let engine = PolicyEngine::new(All::new((file_boundary, bash_safety)).short_circuit())?;
//! let result = engine.evaluate(&Action::bash("rm -rf /"));
//! assert!(!result.passed());
//! assert_eq!(result.reason(), r"Command matches blocked pattern: rm\s+-rf\s+/");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Composition
//!
//! Guards are leaves; six combinators make a tree of them. A guard that occurs in several places is shared, so
//! that one name means one guard.
//!
//! ```
//! use std::sync::Arc;
//!
//! use lictor_engine::guards::{BashSafety, BashSafetyConfig, FileBoundary, FileBoundaryConfig};
//! use lictor_engine::{Action, ActionKind, All, PolicyEngine, SharedGuard, When};
//!
//! let bash: SharedGuard = Arc::new(BashSafety::new(BashSafetyConfig {
//!     blocked_patterns: vec![r"DROP\s+TABLE".to_owned()],
//!     ..BashSafetyConfig::default()
//! })?);
//! let files: SharedGuard = Arc::new(FileBoundary::new(
//!     &FileBoundaryConfig { red_line_files: vec!["src/auth/handler.py".to_owned()], ..Default::default() },
//!     "/project",
//! ));
//! let engine = PolicyEngine::new(All::new((
//!     bash.clone(),
//!     When::new(|action, _| action.kind == ActionKind::Bash)
//!         .then(All::new([files.clone(), bash]).named("strict"))
//!         .otherwise(files), // reading and writing only need the boundary
//! )))?;
//!
//! assert!(!engine.evaluate(&Action::bash("echo 'DROP TABLE users' | psql").in_dir("/project")).passed());
//! assert!(!engine.evaluate(&Action::write("src/auth/handler.py").in_dir("/project")).passed());
//! assert!(engine.evaluate(&Action::read("src/main.py").in_dir("/project")).passed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A complete policy, in layers: boundaries first, then resources, then intent.
//!
//! ```
//! use lictor_engine::guards::{BashSafety, BashSafetyConfig, Budget, BudgetConfig, FileBoundary, FileBoundaryConfig};
//! use lictor_engine::{Action, All, Decision, Escalate, PolicyEngine, Verdict, When, guard_fn};
//!
//! let deploy_checklist = guard_fn("deploy_checklist", |action, _| match action.text("ticket") {
//!     Some(_) => Verdict::pass(),
//!     None => Verdict::block("a deploy needs a ticket", "add payload.ticket"),
//! });
//! let auto_approve = guard_fn("auto_approve", |_, context| {
//!     if context.risk().as_fraction() <= 0.3 {
//!         Verdict::pass()
//!     } else {
//!         Verdict::block("risk too high", "ask a person")
//!     }
//! });
//! let default_intent = guard_fn("default_intent", |_, _| Verdict::pass());
//!
//! let engine = PolicyEngine::new(All::new((
//!     All::new((
//!         FileBoundary::new(&FileBoundaryConfig::default(), "/project"),
//!         BashSafety::new(BashSafetyConfig::default())?,
//!     ))
//!     .short_circuit(),
//!     Budget::new(BudgetConfig { max_tasks: Some(100), ..BudgetConfig::default() }),
//!     When::new(|action, _| action.task_type.as_deref() == Some("deploy"))
//!         .then(Escalate::new(deploy_checklist, auto_approve))
//!         .otherwise(default_intent),
//! )))?;
//!
//! assert_eq!(engine.evaluate(&Action::task("report").in_session("s")).decision, Decision::Pass);
//! // The fallback goes around the checklist, and that is always visible.
//! let overridden = engine.evaluate(&Action::task("deploy").in_session("s"));
//! assert_eq!((overridden.decision, overridden.escalated), (Decision::Warn, true));
//! assert!(overridden.reason().contains("a deploy needs a ticket"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Sessions
//!
//! State accumulates across evaluations: in memory, or in a [`SqliteStore`] that many short-lived processes share.
//!
//! ```
//! use lictor_engine::guards::{BashSafety, BashSafetyConfig};
//! use lictor_engine::{Action, All, MemoryStore, PolicyEngine};
//!
//! let engine = PolicyEngine::builder(All::new([BashSafety::new(BashSafetyConfig::default())?]))
//!     .store(MemoryStore::new()) // or SqliteStore::open(file)?
//!     .build()?;
//! let result = engine.evaluate(&Action::bash("ls").in_session("s1"));
//! assert_eq!(result.session.action_count, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Tracing
//!
//! ```
//! use std::sync::Arc;
//!
//! use lictor_engine::guards::{BashSafety, BashSafetyConfig};
//! use lictor_engine::{Action, All, CollectingTracer, PolicyEngine, StderrTracer};
//!
//! let guard = || BashSafety::new(BashSafetyConfig::default());
//! // Print the path of every evaluation to stderr …
//! let engine = PolicyEngine::builder(All::new([guard()?])).tracer(StderrTracer).build()?;
//! assert!(engine.evaluate(&Action::bash("ls")).passed());
//! // … or collect it.
//! let tracer = Arc::new(CollectingTracer::new());
//! let engine = PolicyEngine::builder(All::new([guard()?])).tracer(tracer.clone()).build()?;
//! let action = Action::bash("ls");
//! let _ = engine.evaluate(&action);
//! let traces = tracer.traces();
//! assert_eq!(traces[0].0, action);
//! assert_eq!(traces[0].1.iter().map(|entry| entry.path).collect::<Vec<_>>(), ["/all[0]", "/"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guards of your own
//!
//! A name and `check` are enough. State belongs in the session, not in the guard: a new hook process starts for
//! every call, and two concurrent actions must not both use the last unit.
//!
//! ```
//! use lictor_engine::{Action, Claim, Context, Guard, Layer, PolicyEngine, Verdict};
//!
//! struct RateLimit {
//!     max_per_minute: u64,
//! }
//!
//! impl Guard for RateLimit {
//!     fn name(&self) -> &str {
//!         "rate_limit"
//!     }
//!
//!     fn layer(&self) -> Layer {
//!         Layer::Resource
//!     }
//!
//!     fn check(&self, _: &Action, context: &mut Context<'_>) -> Verdict {
//!         let max = self.max_per_minute;
//!         if context.claim(Claim::Pace { per_minute: max }) {
//!             return Verdict::pass();
//!         }
//!         context.add_risk(0.3); // a sign to the guards further right
//!         Verdict::block("Rate limited", format!("Max {max} calls/min. Wait and retry."))
//!     }
//! }
//!
//! let engine = PolicyEngine::new(RateLimit { max_per_minute: 2 })?;
//! let call = || engine.evaluate(&Action::bash("ls").in_session("s"));
//! assert!(call().passed() && call().passed());
//! let third = call();
//! assert_eq!(third.reason(), "Rate limited");
//! assert_eq!(third.fix(), "Max 2 calls/min. Wait and retry.");
//! assert_eq!(third.risk.in_thousandths(), 300);
//! # Ok::<(), lictor_engine::GraphError>(())
//! ```
//!
//! Or without a type, from a closure:
//!
//! ```
//! use lictor_engine::{Action, PolicyEngine, Verdict, guard_fn};
//!
//! let engine = PolicyEngine::new(guard_fn("my_guard", |_, _| Verdict::pass()))?;
//! assert!(engine.evaluate(&Action::bash("ls")).passed());
//! # Ok::<(), lictor_engine::GraphError>(())
//! ```
//!
//! # Two cut points
//!
//! ```
//! use lictor_engine::{Action, All, Outcome, PolicyEngine, Standing, Verdict, guard_fn};
//!
//! let no_rm = guard_fn("no_rm", |action, _| match action.text("command") {
//!     Some(command) if command.starts_with("rm ") => Verdict::block("no rm", "move it to the bin"),
//!     _ => Verdict::pass(),
//! });
//! let engine = PolicyEngine::new(All::new([no_rm]))?;
//!
//! // Before the agent acts:
//! let act = |action: &Action| -> Result<(), String> {
//!     let result = engine.evaluate(action);
//!     if result.passed() { Ok(()) } else { Err(result.reason()) }
//! };
//! assert_eq!(act(&Action::bash("rm x")), Err("no rm".to_owned()));
//! assert_eq!(act(&Action::bash("ls")), Ok(()));
//!
//! // After the agent acted:
//! assert_eq!(engine.post_action(&Action::bash("ls"), Outcome::success())?, Standing::Governed);
//! // What was blocked and happened all the same is noticed.
//! assert_eq!(engine.post_action(&Action::bash("rm x"), Outcome::success())?, Standing::Bypass);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Asking people
//!
//! A guard may ask instead of blocking. [`PolicyEngine::resolve`] asks on the spot; otherwise the question is
//! pending in [`PolicyEngine::approvals`], and an approval counts for exactly that action, once.
//!
//! ```
//! use lictor_engine::{Action, Answer, Decision, PolicyEngine, Verdict, guard_fn};
//!
//! let engine = PolicyEngine::new(guard_fn("careful", |_, _| Verdict::ask("really?")))?;
//! let action = Action::bash("make deploy");
//! let asked = engine.evaluate(&action);
//! assert_eq!((asked.decision, asked.passed()), (Decision::Ask, false));
//! let resolved = engine.resolve(&action, asked, Some(&mut |questions| {
//!     questions.iter().map(|question| Answer::from(question.given.verdict.reason() == "really?")).collect()
//! }));
//! assert_eq!(resolved.decision, Decision::Pass);
//! # Ok::<(), lictor_engine::GraphError>(())
//! ```
//!
//! What this crate deliberately does not do: read policy files (`lictor-config`), implement an agent's hook
//! protocol (`lictor-agents`), or print to stdout.

mod approvals;
mod engine;
mod extend;
mod governed;
pub mod log;
pub mod past;
mod person_key;
mod probe;
mod system_clock;
mod tracer;

pub use approvals::{ApprovalError, Approvals, GRANT_LASTS_MS, Said};
pub use engine::{
    Asking, Builder, Mode, PolicyCodec, PolicyEngine, PolicyVersion, Prompt, is_of_earlier_version,
};
pub use extend::{Checker, CompletionContext, FeedbackContext, FeedbackProvider, Given, RecentCall};
pub use governed::{Blocked, Governed, Report, enforce, governed};
pub use lictor_core::*;
pub use lictor_guards as guards;
pub use lictor_store::{MemoryStore, SqliteOptions, SqliteStore, Store, StoreError};
pub use person_key::{KeyError, PersonKey, PersonSeals, PersonSigner, is_signed};
pub use probe::Probe;
pub use system_clock::SystemClock;
pub use tracer::{CollectingTracer, StderrTracer, Tracer};
