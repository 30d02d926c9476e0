use serde::{Deserialize, Serialize};

use super::{Open, POLICIES_KEPT, SessionState};
use crate::digest::Digest;
use crate::history::{Mark, Past};

/// A session's history, rebuilt for a policy whose patterns differ from those under which it was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recalled {
    /// The history.
    pub past: Past,
    /// The marks of actions without a known outcome, by position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<(u64, Vec<Mark>)>,
    /// The same of subagents' actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_below: Vec<(u64, Vec<Mark>)>,
}

impl Recalled {
    /// The history of `told`: the same session, folded from the remaining log with the marks of the new policy.
    /// If the log does not reach back to the beginning, its events keep their positions before `position`.
    #[must_use]
    pub fn from(told: &SessionState, position: u64) -> Self {
        let missing = position.saturating_sub(told.past.position);
        let marks = |open: &Open| (open.position + missing, open.marks.clone());
        Self {
            past: told.past.later_by(missing),
            open: told.open.iter().map(marks).collect(),
            open_below: told.open_below.iter().map(marks).collect(),
        }
    }
}

/// The message for the agent, once per change.
const CHANGED: &str = "The policy of this project has changed since this session began. Where it is stricter it is in \
                       force now; where it is laxer the old one stays in force until the next session, or until a \
                       person runs `lictor session refresh`.";

impl SessionState {
    /// The policies that apply in this session: the first, then those seen since. `None` if there were too many
    /// to remember.
    #[must_use]
    pub fn policies(&self) -> Option<Vec<Digest>> {
        let mut seen: Vec<Digest> = self.policy.into_iter().collect();
        for policy in self.policies_since.iter().chain(&self.policy_now) {
            if !seen.contains(policy) {
                seen.push(*policy);
            }
        }
        (self.policies_since.len() <= POLICIES_KEPT).then_some(seen)
    }

    pub(super) fn policy_changed(&mut self, policy: Digest, recalled: Option<&Recalled>) {
        self.policy_now = Some(policy).filter(|now| self.policy != Some(*now));
        let is_new = self.policy != Some(policy) && !self.policies_since.contains(&policy);
        if is_new && self.policies_since.len() <= POLICIES_KEPT {
            self.policies_since.push(policy);
        }
        self.feedback.held.retain(|remark| remark != CHANGED);
        self.feedback.hold(CHANGED);
        self.recall(recalled);
    }

    pub(super) fn refreshed(&mut self, policy: Digest, recalled: Option<&Recalled>) {
        self.policy = Some(policy);
        self.policy_now = None;
        self.policies_since.clear();
        self.feedback.held.retain(|remark| remark != CHANGED);
        self.recall(recalled);
    }

    fn recall(&mut self, recalled: Option<&Recalled>) {
        let Some(Recalled { past, open, open_below }) = recalled else { return };
        self.past.clone_from(past);
        for (queue, told) in [(&mut self.open, open), (&mut self.open_below, open_below)] {
            for (position, marks) in told {
                let known = queue.iter_mut().find(|open| open.position == *position);
                if let Some(open) = known {
                    open.marks.clone_from(marks);
                }
            }
        }
    }
}
