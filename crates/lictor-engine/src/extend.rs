//! Extensions in code: feedback providers and completion checks.

use lictor_core::completion::{Checked, Found, Left, Situation, Surveyor};
use lictor_core::feedback::{Advice, Feedback, Said, calls};
use lictor_core::{Action, Decision, Outcome, SessionEvent, SessionKey, SessionState, Timestamp};
use lictor_store::{Query, Store, StoreExt as _};
use serde::Serialize;
use serde_json::Value as Json;

use crate::log::{Evaluated, Happening, kind};

/// Gives the agent feedback after a call.
///
/// ```
/// use lictor_engine::feedback::{Feedback, Trigger};
/// use lictor_engine::{Action, FeedbackContext, FeedbackProvider, Outcome, PolicyEngine, Verdict, action_guard};
///
/// struct Pacing;
///
/// impl FeedbackProvider for Pacing {
///     fn name(&self) -> &str {
///         "pacing"
///     }
///
///     // Without touching the cadence: it stays due.
///     fn should_run(&self, context: &FeedbackContext<'_>) -> bool {
///         context.calls() >= 2
///     }
///
///     fn provide(&self, context: &FeedbackContext<'_>) -> Result<Option<Feedback>, String> {
///         let last = context.recent_calls(1).pop().ok_or("no call is on record")?;
///         Ok(Some(Feedback::say(format!("{} calls so far, the last was {}.", context.calls(), last.tool))))
///     }
/// }
///
/// let every_call = Trigger { every_n_calls: 1.try_into().ok(), ..Trigger::default() };
/// let engine = PolicyEngine::builder(action_guard("any", |_| Verdict::pass()))
///     .provider(every_call, Pacing)
///     .build()?;
/// let step = || {
///     let action = Action::bash("ls").in_session("s");
///     let _ = engine.evaluate(&action);
///     engine.post_action(&action, Outcome::success())?;
///     engine.advise(action.session.as_ref().unwrap())
/// };
/// assert!(step()?.is_empty());
/// assert!(lictor_engine::feedback::render(&step()?).contains("2 calls so far, the last was bash."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FeedbackProvider: Send + Sync {
    /// Unique among the providers of an engine.
    fn name(&self) -> &str;

    /// Whether to run now that its trigger has fired. If not, it stays due.
    fn should_run(&self, context: &FeedbackContext<'_>) -> bool {
        let _ = context;
        true
    }

    /// Its feedback, or `None`.
    ///
    /// # Errors
    /// The failure. It is logged, not sent to the agent.
    fn provide(&self, context: &FeedbackContext<'_>) -> Result<Option<Feedback>, String>;
}

/// A check before an agent may stop.
pub trait Checker: Send + Sync {
    /// Unique among the checks of an engine.
    fn name(&self) -> &str;

    /// Whether the work is done.
    ///
    /// # Errors
    /// The failure. The work then counts as not done.
    fn check(&self, context: &CompletionContext<'_>) -> Result<Checked, String>;
}

/// A call that was made lately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecentCall {
    /// The tool, or the kind of action where the agent names none.
    pub tool: String,
    /// The kind of action.
    pub kind: String,
    /// Its parameters.
    pub payload: serde_json::Map<String, Json>,
    /// The decision.
    pub decision: Decision,
    /// The outcome, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// When it was judged.
    pub at: Timestamp,
}

/// Feedback that was given to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Given {
    /// The provider.
    pub provider: String,
    /// The feedback.
    pub feedback: Feedback,
    /// The time.
    pub at: Timestamp,
}

/// How many records are searched for earlier feedback.
const FEEDBACK_LOOKED_AT: usize = 64;

/// The records of one session, read lazily.
#[derive(Clone, Copy)]
struct Recorded<'a> {
    store: &'a dyn Store,
    key: &'a SessionKey,
}

/// The newest calls of a session, the newest last.
pub(crate) fn recent_calls(store: &dyn Store, key: &SessionKey, most: usize) -> Vec<RecentCall> {
    Recorded { store, key }.calls(most)
}

impl Recorded<'_> {
    fn newest(&self, kind: &str, limit: usize) -> Vec<lictor_store::Record> {
        let query = Query::all().session(self.key.clone()).kind(kind).newest_first().limit(limit);
        self.store.view(|view| view.records(&query)).unwrap_or_default()
    }

    /// The newest calls, the newest last.
    fn calls(&self, most: usize) -> Vec<RecentCall> {
        let mut outcomes: Vec<lictor_core::event::Happened> = Vec::new();
        for record in self.newest(kind::HAPPENED, most) {
            if let Ok(Happening { event }) = serde_json::from_str::<Happening<'_>>(&record.body)
                && let SessionEvent::Happened(happened) = event.into_owned()
            {
                outcomes.push(happened);
            }
        }
        let mut recent = Vec::new();
        for record in self.newest(kind::EVALUATED, most) {
            let Ok(evaluated) = serde_json::from_str::<Evaluated<'_>>(&record.body) else { continue };
            let Evaluated { action, evaluation, .. } = evaluated;
            let of = |happened: &lictor_core::event::Happened| {
                happened.action == evaluation.action && happened.tool_use_id == action.tool_use_id
            };
            let outcome = outcomes.iter().position(of).map(|at| outcomes.remove(at).outcome);
            let Action { kind, tool, payload, .. } = action.into_owned();
            let kind = kind.to_string();
            let tool = if tool.is_empty() { kind.clone() } else { tool };
            recent.push(RecentCall {
                tool,
                kind,
                payload,
                decision: evaluation.decision,
                outcome,
                at: record.at,
            });
        }
        recent.reverse();
        recent
    }

    fn said(&self, by: Option<&str>) -> Option<Given> {
        self.newest(kind::FEEDBACK_GIVEN, FEEDBACK_LOOKED_AT).into_iter().find_map(|record| {
            let Happening { event } = serde_json::from_str(&record.body).ok()?;
            let SessionEvent::Advised { advice } = event.into_owned() else { return None };
            advice.into_iter().rev().find_map(|Advice { provider, said, .. }| match said {
                Said::Feedback(feedback) if by.is_none_or(|by| by == provider) => {
                    Some(Given { provider, feedback, at: record.at })
                }
                _ => None,
            })
        })
    }

    fn prompt(&self) -> Option<String> {
        let record = self.newest(kind::PROMPTED, 1).pop()?;
        let Happening { event } = serde_json::from_str(&record.body).ok()?;
        match event.into_owned() {
            SessionEvent::Prompted { text, .. } => text,
            _ => None,
        }
    }
}

/// The inputs of a feedback provider.
pub struct FeedbackContext<'a> {
    recorded: Recorded<'a>,
    session: &'a SessionState,
    now: Timestamp,
    left: Left,
    provider: &'a str,
}

impl<'a> FeedbackContext<'a> {
    pub(crate) fn new(
        store: &'a dyn Store,
        key: &'a SessionKey,
        session: &'a SessionState,
        now: Timestamp,
        left: Left,
        provider: &'a str,
    ) -> Self {
        Self { recorded: Recorded { store, key }, session, now, left, provider }
    }

    /// The session's key.
    #[must_use]
    pub fn key(&self) -> &'a SessionKey {
        self.recorded.key
    }

    /// The session after the call.
    #[must_use]
    pub fn session(&self) -> &'a SessionState {
        self.session
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The name of the provider.
    #[must_use]
    pub fn provider(&self) -> &'a str {
        self.provider
    }

    /// What is left of the session's deadline and budget.
    #[must_use]
    pub fn left(&self) -> Left {
        self.left
    }

    /// Calls so far: successes, failures and refusals.
    #[must_use]
    pub fn calls(&self) -> u64 {
        calls(self.session)
    }

    /// Calls since this provider spoke last.
    #[must_use]
    pub fn calls_since_own(&self) -> u64 {
        self.calls_since(self.provider)
    }

    /// Calls since that provider spoke last.
    #[must_use]
    pub fn calls_since(&self, provider: &str) -> u64 {
        self.calls().saturating_sub(self.session.feedback.spoken(provider).calls)
    }

    /// Calls since the last feedback of any provider.
    #[must_use]
    pub fn calls_since_any(&self) -> u64 {
        self.calls().saturating_sub(self.session.feedback.last_spoken())
    }

    /// The last feedback of any provider.
    #[must_use]
    pub fn last_feedback(&self) -> Option<Given> {
        self.recorded.said(None)
    }

    /// The last feedback of a provider.
    #[must_use]
    pub fn last_feedback_of(&self, provider: &str) -> Option<Given> {
        self.recorded.said(Some(provider))
    }

    /// The newest calls, the newest last.
    #[must_use]
    pub fn recent_calls(&self, most: usize) -> Vec<RecentCall> {
        self.recorded.calls(most)
    }

    /// The last prompt of a person, redacted.
    #[must_use]
    pub fn prompt(&self) -> Option<String> {
        self.recorded.prompt()
    }
}

/// The inputs of a completion check.
pub struct CompletionContext<'a> {
    recorded: Recorded<'a>,
    situation: &'a Situation<'a>,
    surveyor: &'a dyn Surveyor,
}

impl<'a> CompletionContext<'a> {
    pub(crate) fn new(
        store: &'a dyn Store,
        situation: &'a Situation<'a>,
        surveyor: &'a dyn Surveyor,
    ) -> Self {
        Self { recorded: Recorded { store, key: situation.key }, situation, surveyor }
    }

    /// The session's key; its `agent` is the adapter.
    #[must_use]
    pub fn key(&self) -> &'a SessionKey {
        self.recorded.key
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &'a SessionState {
        self.situation.session
    }

    /// The agent's last message: its tentative answer.
    #[must_use]
    pub fn output(&self) -> Option<&'a str> {
        self.situation.stop.output.as_deref()
    }

    /// Why it stops, in the words of the reporter.
    #[must_use]
    pub fn reason(&self) -> Option<&'a str> {
        self.situation.stop.reason.as_deref()
    }

    /// Round, limits, and what else is known about the request to stop.
    #[must_use]
    pub fn situation(&self) -> &'a Situation<'a> {
        self.situation
    }

    /// The files at a path, or those that match a glob, relative to the project root.
    ///
    /// # Errors
    /// When this cannot be determined.
    pub fn look(&self, pattern: &str) -> Result<Vec<Found>, String> {
        self.surveyor.look(pattern)
    }

    /// The newest calls, the newest last.
    #[must_use]
    pub fn recent_calls(&self, most: usize) -> Vec<RecentCall> {
        self.recorded.calls(most)
    }

    /// The last prompt of a person, redacted.
    #[must_use]
    pub fn prompt(&self) -> Option<String> {
        self.recorded.prompt()
    }
}
