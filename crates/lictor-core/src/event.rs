//! The log events of a session. Session state is a fold of these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::action::{Action, SessionKey};
use crate::completion::StopCheck;
use crate::decision::Decision;
use crate::digest::Digest;
use crate::feedback::Advice;
use crate::guard_memory::Note;
use crate::history::Mark;
use crate::risk::Risk;
use crate::scope::Scope;
use crate::session::{FileState, Recalled, SessionState, Todos};
use crate::tools::Knowledge;

/// Deserialises a state; the empty state if another version wrote it in another format.
fn readable<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Box<SessionState>, D::Error> {
    let state = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(state).unwrap_or_default())
}

/// One thing that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionEvent {
    /// The first event of a session. It pins the policy.
    Started {
        /// Digest of the current policy.
        policy: Digest,
        /// The session that started this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<SessionKey>,
        /// The scope of the session: its parent's scope, or a smaller one.
        #[serde(default, skip_serializing_if = "Scope::is_unlimited")]
        scope: Scope,
    },
    /// The first event of a session that begins as a copy of another. The event contains the copy, so the state
    /// is still a fold of this session's own events.
    Forked {
        /// The other session.
        from: SessionKey,
        /// Its state at that moment. The format of 0.1.0 is not read.
        #[serde(deserialize_with = "readable")]
        state: Box<SessionState>,
    },
    /// The session continues: resumed, compacted or cleared. No state is lost.
    Continued {
        /// The way.
        how: Continuation,
    },
    /// A person applied the current policy to this session.
    Refreshed {
        /// Its digest.
        policy: Digest,
        /// The history that this policy refers to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recalled: Option<Box<Recalled>>,
    },
    /// The policy differs from the one that was last seen in this session. From here on both the policy of the
    /// session's first event and the current one have to allow an action.
    PolicyChanged {
        /// The current policy.
        policy: Digest,
        /// The history that this policy refers to, if it was not kept so far.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recalled: Option<Box<Recalled>>,
    },
    /// An action was judged.
    Judged(Judgement),
    /// A question about an action was answered after it was judged.
    Resolved {
        /// Digest of the action.
        action: Digest,
        /// The agent's id for the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
        /// The decision that results from the answer.
        decision: Decision,
        /// How much of each budget a denial returns, here and in the parent sessions.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        returned: BTreeMap<String, u64>,
    },
    /// An action happened.
    Happened(Happened),
    /// The first look at files that the policy watches: a digest of what matched each pattern, if anything.
    Watched {
        /// By path or glob, relative to the project root.
        files: BTreeMap<String, Option<Digest>>,
    },
    /// The agent wrote its to-do list.
    Listed {
        /// The list.
        todos: Todos,
    },
    /// Feedback was given after a call.
    Advised {
        /// The providers and their advice.
        advice: Vec<Advice>,
    },
    /// A remark is held until an event at which it can be delivered to the agent.
    Held {
        /// The remark.
        remark: String,
    },
    /// The held remarks were delivered.
    Delivered,
    /// A person sent a prompt.
    Prompted {
        /// Its name, if it has one: a command or a template.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The beginning of its text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The agent wanted to stop.
    StopChecked(StopCheck),
    /// The memory of tool policies, feedback and the stop gate was cleared. Counters and budgets stay.
    Reset,
    /// The session has ended.
    Ended {
        /// What is still reserved is returned, here and in the parent sessions.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        returned: BTreeMap<String, u64>,
    },
}

/// How a session continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Continuation {
    /// The session was resumed.
    Resume,
    /// The agent's context was shortened.
    Compact,
    /// The agent's context was emptied.
    Clear,
}

/// The part of an evaluation that state depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Digest of the action.
    pub action: Digest,
    /// Its kind.
    pub kind: String,
    /// Its tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The agent's id for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The decision.
    pub decision: Decision,
    /// Risk.
    #[serde(default)]
    pub risk: Risk,
    /// Tags that guards gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// History patterns of the policy that it matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// How much of each budget it uses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spends: BTreeMap<String, u64>,
    /// Whether an `Escalate` fallback replaced a block.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    /// A dry run: not counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry: bool,
    /// Judged and recorded, not enforced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
    /// The values that guards store in the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// The same call, reported by another hook: not counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
    /// The hook dialect that reported the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The content of the files that it edits, before the edit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FileState>,
    /// Blocked although the rules only ask: no person could be asked, or a person denied it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

impl Judgement {
    /// A judgement with this decision about this action, other fields empty.
    #[must_use]
    pub fn new(action: &Action, decision: Decision) -> Self {
        Self {
            action: action.digest(),
            kind: action.kind.to_string(),
            tool: action.tool.clone(),
            tool_use_id: action.tool_use_id.clone(),
            decision,
            risk: Risk::NONE,
            tags: Vec::new(),
            marks: Vec::new(),
            spends: BTreeMap::new(),
            escalated: false,
            dry: false,
            observed: false,
            notes: Vec::new(),
            duplicate: false,
            dialect: None,
            found: Vec::new(),
            asked: false,
        }
    }

    /// Whether the action may happen as far as Lictor knows. This includes `ask`: a person can approve in the
    /// agent's own prompt, and Lictor learns of it only afterwards.
    #[must_use]
    pub fn may_happen(&self) -> bool {
        self.decision != Decision::Block || self.observed
    }
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happened {
    /// Digest of the action.
    pub action: Digest,
    /// The agent's id for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// How it relates to the decision.
    pub standing: Standing,
    /// The outcome.
    pub outcome: Outcome,
    /// History patterns of the policy that it matches, for actions that were never judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Files whose content the agent now knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Knowledge>,
    /// The content of the files that it edited, after the edit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<FileState>,
    /// The values that guards store in the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// How an event relates to the decision about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It was judged and not blocked.
    Governed,
    /// It was never judged.
    Ungoverned,
    /// It was blocked but happened anyway.
    Bypass,
}

/// The outcome of an action.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it succeeded.
    pub success: bool,
    /// Exit code, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The error message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Files that are known to have changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
    /// Model usage, if it is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Model usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens, in and out.
    #[serde(skip_serializing_if = "is_zero")]
    pub tokens: u64,
    /// Money, in millionths of the reporter's currency.
    #[serde(skip_serializing_if = "is_zero")]
    pub cost_micros: u64,
}

impl Usage {
    /// Whether nothing was used.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Money, in the reporter's currency.
    #[must_use]
    pub fn cost(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "an amount for people")]
        let micros = self.cost_micros as f64;
        micros / 1e6
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(more.tokens),
            cost_micros: self.cost_micros.saturating_add(more.cost_micros),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_zero(amount: &u64) -> bool {
    *amount == 0
}

impl Outcome {
    /// A success.
    #[must_use]
    pub fn success() -> Self {
        Self { success: true, ..Self::default() }
    }

    /// A failure with this message.
    #[must_use]
    pub fn failure(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::default() }
    }
}
