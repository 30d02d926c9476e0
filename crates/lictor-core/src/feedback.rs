//! Guidance for the agent, given right after a tool call. It never blocks.
//!
//! Each [`Provider`] has its own trigger and its own cadence in the session ([`FeedbackState`]). All providers
//! that are due give feedback; one that fails gives none and does not affect the others.

mod deadline;
mod render;
mod run;
mod state;

pub use deadline::{deadline, duration};
pub use render::render;
pub use run::{Advice, Consulted, FAULTS_BORNE, Said, run};
pub use state::{FeedbackState, HELD_KEPT, PROVIDERS_KEPT, Spoken};

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::audience::Audience;
use crate::clock::Timestamp;
use crate::level::Level;
use crate::session::SessionState;

/// The urgency of feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For information.
    #[default]
    Info,
    /// Worth a thought.
    Caution,
    /// Act on it.
    Warning,
}

/// One piece of guidance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feedback {
    /// In a sentence or two.
    pub summary: String,
    /// The observations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// The suggestions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// The urgency.
    #[serde(default)]
    pub severity: Severity,
}

/// An observation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// A word for it.
    pub category: String,
    /// The description.
    pub description: String,
    /// The evidence. Kept in the log, not sent to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl Feedback {
    /// Guidance of one sentence.
    #[must_use]
    pub fn say(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }
}

/// When a provider is due. One condition is enough; without any it is never due.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trigger {
    /// This many calls after its last feedback.
    pub every_n_calls: Option<NonZeroU64>,
    /// This many milliseconds after its last feedback; at the first opportunity if it has given none.
    pub every_n_millis: Option<NonZeroU64>,
    /// Once per session, when this file appears. Relative to the project root.
    pub on_file_created: Option<String>,
}

/// A source of guidance with its trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// Unique among the providers of a policy.
    pub name: String,
    /// When it is due.
    pub trigger: Trigger,
    /// The source of its text.
    pub source: Source,
    /// The sessions that it applies to.
    #[serde(default)]
    pub audience: Audience,
}

/// Where the text of a provider comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// Always the same.
    Static {
        /// The words.
        say: String,
    },
    /// How much time is left.
    Deadline {
        /// Milliseconds from the session's first event to the deadline.
        after: u64,
        /// From this many milliseconds before the deadline, the suggestions are added.
        warn_below: u64,
    },
    /// How much of the session's actions is left.
    Budget {
        /// How many actions there are in all.
        max_actions: u64,
        /// From this fraction, in thousandths, the suggestions are added.
        warn_at: u16,
    },
    /// That the last calls failed one after the other.
    Stall {
        /// The number of consecutive failures.
        failures: NonZeroU64,
    },
    /// How many findings of reviewers are open. The caller looks them up.
    Findings {
        /// The minimum level.
        at_least: Level,
    },
    /// The output of a program. The caller runs it.
    Command {
        /// The program and its arguments.
        argv: Vec<String>,
        /// How many milliseconds it may take.
        timeout: u64,
        /// The project files that determine its output, for callers that pin them.
        #[serde(default)]
        reads: Vec<String>,
    },
    /// The result of a provider in code. The caller calls it by the provider's name.
    Custom,
}

/// The inputs of a provider.
pub struct Moment<'a> {
    /// The session after the call.
    pub session: &'a SessionState,
    /// The current time.
    pub now: Timestamp,
    /// Whether a file exists, by its path relative to the project's root.
    pub exists: &'a dyn Fn(&str) -> bool,
}

/// Why a provider is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Due {
    /// The number of calls or the time since the last feedback.
    Cadence,
    /// Its file appeared: that trigger is then used up.
    File,
}

impl Provider {
    /// Whether it is due, and by which trigger.
    #[must_use]
    pub fn due(&self, moment: &Moment<'_>) -> Option<Due> {
        let state = &moment.session.feedback;
        let calls = calls(moment.session);
        let spoken = state.spoken(&self.name);
        let by_calls =
            self.trigger.every_n_calls.is_some_and(|n| calls.saturating_sub(spoken.calls) >= n.get());
        let by_time = self.trigger.every_n_millis.is_some_and(|n| {
            spoken.at.is_none_or(|at| {
                u64::try_from(moment.now.millis_since(at)).is_ok_and(|passed| passed >= n.get())
            })
        });
        let by_file = self.trigger.on_file_created.as_deref().is_some_and(|file| {
            !spoken.file_done && moment.session.watched.is_new(file) && (moment.exists)(file)
        });
        if by_file { Some(Due::File) } else { (by_calls || by_time).then_some(Due::Cadence) }
    }

    /// Its feedback, or `None` if it has none now. For findings and programs, which only the caller can look up
    /// or run, it is `None`.
    #[must_use]
    pub fn speak(&self, moment: &Moment<'_>) -> Option<Feedback> {
        match &self.source {
            Source::Static { say } => Some(Feedback::say(say.clone())),
            Source::Deadline { after, warn_below } => {
                let started = moment.session.started?;
                let elapsed = moment.now.millis_since(started);
                let left = i64::try_from(*after).unwrap_or(i64::MAX).saturating_sub(elapsed);
                Some(deadline(elapsed, left, *warn_below))
            }
            Source::Budget { max_actions, warn_at } => Some(budget(moment.session, *max_actions, *warn_at)),
            Source::Stall { failures } => stall(moment.session, failures.get()),
            Source::Findings { .. } | Source::Command { .. } | Source::Custom => None,
        }
    }
}

/// Counts every finished attempt: successes, failures and refusals.
#[must_use]
pub fn calls(session: &SessionState) -> u64 {
    session.success_count.saturating_add(session.failure_count).saturating_add(session.block_count)
}

fn budget(session: &SessionState, max_actions: u64, warn_at: u16) -> Feedback {
    let used = session.action_count;
    let left = max_actions.saturating_sub(used);
    let mut feedback = Feedback::say(format!("{used} of {max_actions} actions are used, {left} are left."));
    if used.saturating_mul(1000) >= max_actions.saturating_mul(u64::from(warn_at)) {
        feedback.severity = Severity::Warning;
        feedback.suggestions.push("Finish what matters most; leave out what can wait.".to_owned());
    }
    feedback
}

fn stall(session: &SessionState, failures: u64) -> Option<Feedback> {
    let row = session.feedback.failures_in_a_row;
    (row >= failures).then(|| Feedback {
        summary: format!("The last {row} calls failed."),
        observations: Vec::new(),
        suggestions: vec![
            "Stop repeating; read the last error and change the approach.".to_owned(),
            "If you cannot go on, say what blocks you.".to_owned(),
        ],
        severity: Severity::Warning,
    })
}
