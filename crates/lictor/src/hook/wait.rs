//! Holding a call while a person is asked, where the agent has no prompt of its own.

use std::thread;
use std::time::{Duration, Instant};

use lictor_agents::install;
use lictor_core::{Action, ApprovalState, Evaluation, Request};

use super::Heard;

/// How often it is looked whether somebody has answered.
const EVERY: Duration = Duration::from_millis(50);
/// What is left of a hook's time for judging again and answering.
const RESERVE: Duration = Duration::from_millis(700);

/// Waits for the answer to the question that this call has left; `true` when somebody answered, so that the call is to be
/// judged again. Ends before the agent, or the hook's own deadline, would.
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
