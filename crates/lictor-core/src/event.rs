//! What is written to the log about a session. State is a fold of these.

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

/// A state, or the empty one where another version wrote it in another form.
fn readable<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Box<SessionState>, D::Error> {
    let state = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(state).unwrap_or_default())
}

/// One thing that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionEvent {
    /// The first event of a session: fixes its policy.
    Started {
        /// Digest of the policy in force.
        policy: Digest,
        /// The session that started this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<SessionKey>,
        /// How far it may reach: its parent's scope, or less.
        #[serde(default, skip_serializing_if = "Scope::is_unlimited")]
        scope: Scope,
    },
    /// The first event of a session that begins as a copy of another. The copy is in the event, so that the state
    /// is still a fold of this session's own events.
    Forked {
        /// The other session.
        from: SessionKey,
        /// Its state at that moment. What 0.1.0 wrote there is not read.
        #[serde(deserialize_with = "readable")]
        state: Box<SessionState>,
    },
    /// The session goes on: resumed, compacted or cleared. Nothing is forgotten.
    Continued {
        /// How.
        how: Continuation,
    },
    /// A person put the current policy in force for this session.
    Refreshed {
        /// Its digest.
        policy: Digest,
        /// The past that this policy asks about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recalled: Option<Box<Recalled>>,
    },
    /// The policy is not the one that was last seen in this session. From here on both the policy of the
    /// session's first event and the current one have to allow an action.
    PolicyChanged {
        /// The current policy.
        policy: Digest,
        /// The past that this policy asks about, when it asks what was not kept so far.
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
        /// What is left of the `ask`.
        decision: Decision,
        /// What a no gives back of each budget, here and in the sessions above.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        returned: BTreeMap<String, u64>,
    },
    /// An action happened.
    Happened(Happened),
    /// The first look at files that the policy has an eye on: what matched each, if anything.
    Watched {
        /// By path or glob, relative to the project's root.
        files: BTreeMap<String, Option<Digest>>,
    },
    /// The agent wrote its list of what is left to do.
    Listed {
        /// The list.
        todos: Todos,
    },
    /// Feedback was given after a call.
    Advised {
        /// By whom, and what.
        advice: Vec<Advice>,
    },
    /// A remark waits for an event at which the agent can be told.
    Held {
        /// The remark.
        remark: String,
    },
    /// What waited was said.
    Delivered,
    /// A person sent a prompt.
    Prompted {
        /// Its name, where it has one: a command, a template.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The beginning of what it says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The agent wanted to stop.
    StopChecked(StopCheck),
    /// What tool policies, feedback and the stop gate remember was cleared. Counters and budgets go on.
    Reset,
    /// The session is over.
    Ended {
        /// What is still reserved is given back, here and in the sessions above.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        returned: BTreeMap<String, u64>,
    },
}

/// How a session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Continuation {
    /// Taken up again.
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
    /// What was decided.
    pub decision: Decision,
    /// Risk.
    #[serde(default)]
    pub risk: Risk,
    /// Tags that guards gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Patterns of the policy that it matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// What it uses of which budget.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spends: BTreeMap<String, u64>,
    /// Whether a fallback went around a block.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    /// Judged only to see what would be said: counts for nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry: bool,
    /// Judged and recorded, not enforced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
    /// What guards remember from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// The same call, seen through another hook: counts for nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
    /// The dialect through which the call was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// What the files hold that it edits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FileState>,
    /// Blocked although the rules only ask: nobody could be asked, or somebody said no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

impl Judgement {
    /// That decision about that action, and nothing else of note.
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

    /// Whether the action may happen as far as Lictor knows. An `ask` may: the agent's own prompt can say yes
    /// without Lictor being told before it happens.
    #[must_use]
    pub fn may_happen(&self) -> bool {
        self.decision != Decision::Block || self.observed
    }
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happened {
    /// Digest of the action.
    pub action: Digest,
    /// The agent's id for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// How it stands to what was decided.
    pub standing: Standing,
    /// What came of it.
    pub outcome: Outcome,
    /// Patterns of the policy that it matches, for actions that were never judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Files whose content the agent knows by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Knowledge>,
    /// What the files hold that it has edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<FileState>,
    /// What guards remember from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// How what happened stands to what was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It was judged and not blocked.
    Governed,
    /// It was never judged.
    Ungoverned,
    /// It was blocked and happened all the same.
    Bypass,
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it did what it should.
    pub success: bool,
    /// Exit code, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Files that are known to have changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
    /// What it used of a model, where somebody reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// What was used of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens, in and out.
    #[serde(skip_serializing_if = "is_zero")]
    pub tokens: u64,
    /// Money, in millionths of the currency that the reporter counts in.
    #[serde(skip_serializing_if = "is_zero")]
    pub cost_micros: u64,
}

impl Usage {
    /// Whether nothing was used.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Money, in the currency that the reporter counts in.
    #[must_use]
    pub fn cost(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "an amount for people")]
        let micros = self.cost_micros as f64;
        micros / 1e6
    }

    /// This and more.
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
    /// It worked.
    #[must_use]
    pub fn success() -> Self {
        Self { success: true, ..Self::default() }
    }

    /// It did not.
    #[must_use]
    pub fn failure(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::default() }
    }
}
