//! The check before an agent may stop.
//!
//! A [`Gate`] holds a tree of checks. Each time the agent wants to stop, the gate returns a [`Completion`], a
//! typed outcome that is recorded; an unmet check is never recorded as success. The gate cannot loop: it counts
//! its own rounds, which only a new prompt from a person resets, and it releases the agent, with the reason on
//! record, when the rounds are used up or the agent makes no progress.

mod check;
mod limits;
mod situation;
mod state;
mod survey;

pub use check::{Check, CheckError, CommandCheck, FileCheck, MAX_DEPTH};
pub use limits::{Cause, Limits};
pub use situation::{Left, Situation};
pub use state::{CompletionState, PASSES_KEPT, Pass};
pub use survey::{Checked, Found, Ran, Surveyor};

use serde::{Deserialize, Serialize};

use crate::action::SessionKey;
use crate::audience::Audience;
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::session::{SessionState, with_accounts};
use check::{Answer, World};

/// How often a gate refuses before it releases the agent: below the caps of the agents themselves.
pub const MAX_ROUNDS: u32 = 6;
/// How often a gate refuses for the same shortfall before it releases the agent.
pub const PATIENCE: u32 = 3;

/// What has to hold before an agent may stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// The check for the main agent.
    pub check: Check,
    /// The check for subagents, each in its own session. `None`: they may stop freely.
    pub subagents: Option<Check>,
    /// How often it refuses before it releases the agent.
    pub max_rounds: u32,
    /// How often it refuses for the same shortfall before it releases the agent.
    pub patience: u32,
    /// When time or budget is used up, the gate no longer checks.
    pub limits: Limits,
    /// Additional checks, each for some sessions only.
    #[serde(default)]
    pub scoped: Vec<(Audience, Check)>,
}

impl Gate {
    /// A gate with the default limits.
    #[must_use]
    pub fn new(check: Check) -> Self {
        Self {
            check,
            subagents: None,
            max_rounds: MAX_ROUNDS,
            patience: PATIENCE,
            limits: Limits::default(),
            scoped: Vec::new(),
        }
    }

    /// A gate that is met only when both are.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both = |one, two| Check::All(vec![one, two]);
        Self {
            check: both(self.check, other.check),
            subagents: match (self.subagents, other.subagents) {
                (Some(one), Some(two)) => Some(both(one, two)),
                (one, two) => one.or(two),
            },
            max_rounds: self.max_rounds.max(other.max_rounds),
            patience: self.patience.max(other.patience),
            limits: self.limits.and(&other.limits),
            scoped: self.scoped.into_iter().chain(other.scoped).collect(),
        }
    }

    /// The files and globs whose content at the session's first event must be recorded.
    #[must_use]
    pub fn watched(&self) -> Vec<&str> {
        let mut watched = Vec::new();
        let scoped = self.scoped.iter().map(|(_, check)| check);
        for check in std::iter::once(&self.check).chain(&self.subagents).chain(scoped) {
            check.watched(&mut watched);
        }
        watched
    }

    /// Whether the agent may stop now. `None` when there is no check for it. `above` are the sessions that
    /// started this one: a limit that is used up there is used up here.
    #[must_use]
    pub fn judge(
        &self,
        stop: &Stop,
        key: &SessionKey,
        session: &SessionState,
        above: &[SessionState],
        now: Timestamp,
        surveyor: &dyn Surveyor,
    ) -> Option<StopCheck> {
        let base = if stop.subagent { self.subagents.as_ref() } else { Some(&self.check) };
        let name = stop.subagent_name.as_deref();
        let meant = |audience: &Audience| {
            audience.includes_session(key, session, name) && (stop.subagent != audience.subagent.is_empty())
        };
        let scoped = self.scoped.iter().filter(|(audience, _)| meant(audience)).map(|(_, check)| check);
        let checks: Vec<Check> = base.into_iter().chain(scoped).cloned().collect();
        if checks.is_empty() {
            return None;
        }
        let check = Check::All(checks);
        let lineage = std::iter::once(session).chain(above);
        let mut lineage = with_accounts(Some(key), None, lineage);
        let used_up = lineage.find_map(|(session, account)| match account {
            None => self.limits.exhausted(session, now),
            Some(_) => self.limits.without_time().exhausted(session, now),
        });
        if let Some(cause) = used_up {
            return Some(StopCheck::of(Completion::Bypassed { cause }));
        }
        let state = &session.completion;
        // The agent continues because of a hook, but this gate has no round on record: another hook asked for it.
        // The round still counts. An agent's report never resets a counter.
        let rounds = state.rounds.max(u32::from(stop.hook_active));
        let situation = Situation {
            stop,
            key,
            session,
            now,
            round: rounds.saturating_add(1),
            of: self.max_rounds,
            left: self.limits.left(session, now),
        };
        let world = World::new(situation, surveyor);
        let answer = check.ask(&world);
        let passes = world.passes();
        let Answer::Unmet(shortfalls) = answer else {
            return Some(StopCheck { passes, ..StopCheck::of(Completion::Complete) });
        };
        let evidence = Digest::of_parts(shortfalls.iter().map(|one| one.evidence.as_bytes()));
        let for_person = shortfalls.iter().all(|one| one.for_person);
        let patience = if for_person { 0 } else { self.patience };
        let reasons = shortfalls.into_iter().map(|one| one.reason).collect();
        let release = if stop.aborted {
            Some(Release::Interrupted)
        } else if stop.unstoppable {
            Some(Release::Unstoppable)
        } else if !stop.background.is_empty() {
            Some(Release::BackgroundWork)
        } else if rounds >= self.max_rounds {
            Some(Release::Cap)
        } else if state.evidence == Some(evidence) && state.repeats >= patience {
            Some(Release::NoProgress)
        } else {
            None
        };
        let outcome = match release {
            Some(why) => Completion::ReleasedUnmet { why, reasons },
            None => Completion::Incomplete { reasons, round: rounds.saturating_add(1), of: self.max_rounds },
        };
        let observed = stop.observed && outcome.blocks();
        Some(StopCheck { outcome, evidence: Some(evidence), passes, observed, for_person })
    }
}

/// A request of an agent to stop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stop {
    /// The agent's last message: its tentative answer.
    pub output: Option<String>,
    /// Why it stops, in the words of the reporter.
    pub reason: Option<String>,
    /// Whether it is a subagent.
    pub subagent: bool,
    /// The kind of subagent, as the agent names it.
    pub subagent_name: Option<String>,
    /// The agent reports that it already continues because of a hook.
    pub hook_active: bool,
    /// Work that runs in the background and will wake the agent.
    pub background: Vec<String>,
    /// A person or an error ended the turn: sending the agent back would override them.
    pub aborted: bool,
    /// The agent has no way to be sent back.
    pub unstoppable: bool,
    /// The policy only observes: what is missing is recorded, and the agent stops anyway.
    pub observed: bool,
}

/// The result of a request to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopCheck {
    /// The outcome.
    pub outcome: Completion,
    /// Identifies the shortfall: the same as long as the same things are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Digest>,
    /// Commands that passed, each with the tree that it ran on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<Pass>,
    /// The agent would have been sent back if the policy did not only observe.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
    /// Only a person can supply what is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_person: bool,
}

impl StopCheck {
    fn of(outcome: Completion) -> Self {
        Self { outcome, evidence: None, passes: Vec::new(), observed: false, for_person: false }
    }
}

/// Whether the work was done when the agent stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Completion {
    /// All checks are met. The agent stops.
    Complete,
    /// Something is missing. The agent has to continue.
    Incomplete {
        /// What is missing.
        reasons: Vec<String>,
        /// The number of this round.
        round: u32,
        /// The maximum number of rounds.
        of: u32,
    },
    /// No check was made. The agent stops.
    Bypassed {
        /// The cause.
        cause: Cause,
    },
    /// Something is missing, but the agent stops anyway.
    ReleasedUnmet {
        /// Why it is released.
        why: Release,
        /// What is missing.
        reasons: Vec<String>,
    },
}

/// Why an agent is released with something missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    /// The rounds are used up.
    Cap,
    /// The same thing was missing several times in a row.
    NoProgress,
    /// The agent waits for background work, which will wake it.
    BackgroundWork,
    /// A person or an error ended the turn.
    Interrupted,
    /// The agent has no way to be sent back.
    Unstoppable,
}

impl Completion {
    /// Whether the agent has to continue.
    #[must_use]
    pub fn blocks(&self) -> bool {
        matches!(self, Self::Incomplete { .. })
    }

    /// What is missing.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        match self {
            Self::Incomplete { reasons, .. } | Self::ReleasedUnmet { reasons, .. } => reasons,
            Self::Complete | Self::Bypassed { .. } => &[],
        }
    }
}

impl std::fmt::Display for Completion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Complete => f.write_str("complete"),
            Self::Incomplete { reasons, round, of } => {
                write!(f, "incomplete, round {round} of {of}: {}", reasons.join(" "))
            }
            Self::Bypassed { cause } => write!(f, "not checked: {cause}"),
            Self::ReleasedUnmet { why, reasons } => {
                let why = match why {
                    Release::Cap => "it was told often enough",
                    Release::NoProgress => "it made no progress",
                    Release::BackgroundWork => "work goes on in the background",
                    Release::Interrupted => "the turn was ended from outside",
                    Release::Unstoppable => "this agent cannot be told to go on",
                };
                write!(f, "stopped with something missing ({why}): {}", reasons.join(" "))
            }
        }
    }
}
