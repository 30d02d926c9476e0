//! Holds a call while a person is asked, if the agent has no prompt of its own.

use std::thread;
use std::time::{Duration, Instant};

use lictor_agents::install;
use lictor_core::{Action, ApprovalState, Evaluation, Request};

use super::Heard;

/// The polling interval for an answer.
const EVERY: Duration = Duration::from_millis(50);
/// The part of a hook's time that is reserved for judging again and replying.
const RESERVE: Duration = Duration::from_millis(700);

/// Waits for the answer to this call's question; `true` when there is one, so that the call must be judged again.
/// Ends before the agent's timeout and the hook's own deadline.
pub(super) fn for_answer(heard: &Heard<'_>, action: &Action, evaluation: &Evaluation) -> bool {
    let wait = Duration::from_millis(heard.runtime.policy().approval_wait());
    if wait.is_zero() || heard.slot.can_ask() {
        return false;
    }
    let request =
        Request { action: evaluation.action, session: action.session.clone(), policy: evaluation.policy };
    let approvals = heard.runtime.approvals();
    let state = || approvals.find(&request.id()).ok().map(|approval| approval.state);
    if state() != Some(ApprovalState::Pending) {
        return false;
    }
    let patience = install::timeout(heard.slot.agent(), heard.slot.event_name()).unwrap_or(super::SHORT);
    let until = Instant::now() + wait.min((patience * super::SHARE / 10).saturating_sub(RESERVE));
    while Instant::now() < until {
        thread::sleep(EVERY);
        match state() {
            Some(ApprovalState::Pending) => {}
            answered => return answered.is_some(),
        }
    }
    false
}
