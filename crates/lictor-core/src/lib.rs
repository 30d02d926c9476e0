//! The pure model of Lictor: what an agent wants to do ([`Action`]), what that would really do ([`Facts`]), the
//! results of guards ([`Verdict`]), how the policy graph combines them into one [`Decision`], and the session as
//! a fold over events.
//!
//! What this crate deliberately does not do: any I/O, reading a clock or the environment, starting threads,
//! keeping global state. `clippy.toml` lists what is forbidden and the line below makes it an error. Time is an
//! input as a [`Timestamp`], the state of the machine as [`Facts`].
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod action;
pub mod approval;
pub mod audience;
pub mod called;
pub mod canonical;
pub mod claim;
pub mod clock;
pub mod completion;
pub mod context;
pub mod decision;
pub mod digest;
pub mod evaluation;
pub mod event;
pub mod facts;
pub mod feedback;
pub mod fixable;
pub mod graph;
pub mod guard;
pub mod guard_memory;
pub mod history;
pub mod level;
pub mod policy;
pub mod redact;
pub mod remarks;
pub mod resolve;
pub mod risk;
pub mod scope;
pub mod session;
pub mod strict;
pub mod text;
pub mod tools;
pub mod trace;
pub mod verdict;

pub use action::{Action, ActionError, ActionKind, Actor, SessionKey, Tier};
pub use approval::{
    Answer, Approval, ApprovalState, CheckSeal, Grant, Lifetime, Pin, Quorum, Request, Seal, Sign, Who,
};
pub use audience::Audience;
pub use claim::Claim;
pub use clock::{Clock, FixedClock, Stopwatch, Timestamp};
pub use context::{Companion, Context, ContextView};
pub use decision::{Decision, Value};
pub use digest::Digest;
pub use evaluation::{Evaluation, Judged};
pub use event::{Outcome, SessionEvent, Standing};
pub use facts::{FactSource, Facts};
pub use fixable::Fixable;
pub use graph::{
    All, Any, Children, Escalate, Graph, GraphError, Layers, Lint, Node, Not, Outline, Progress, SharedGuard,
    Threshold, When, pipeline,
};
pub use guard::{ActionGuard, Guard, GuardFn, Layer, action_guard, guard_fn};
pub use guard_memory::{GuardMemory, Memory, Note};
pub use policy::{
    CallContext, CallbackResult, Callbacks, Catalogue, Policy, PolicyResult, PolicySet, Violation,
};
pub use redact::{Redact, Secrets};
pub use remarks::Remarks;
pub use resolve::{Question, resolve};
pub use risk::Risk;
pub use scope::{Limit, Scope};
pub use session::SessionState;
pub use trace::{Branch, GivenVerdict, NodeKind, Status, Trace, TraceEntry};
pub use verdict::Verdict;
