//! After a call: records the outcome, then collects feedback.

use lictor_agents::{Outcome as Seen, Reply, Status};
use lictor_core::completion::Stop;
use lictor_core::feedback::render;
use lictor_core::{Action, Outcome};

use super::{Heard, review};
use crate::runtime::StopRequest;

/// Records the outcome of a call and replies with the feedback that is due.
pub(super) fn call(heard: &Heard<'_>, action: &Action, seen: &Seen) -> Reply {
    let engine = heard.runtime.engine();
    let outcome = match seen.status {
        Status::Succeeded => Outcome::success(),
        Status::Failed => Outcome::failure("the agent reported a failure"),
        // The policy declares that having run counts as success if the agent reports no status.
        Status::Unknown if heard.runtime.policy().counts_unreported(heard.slot.agent().name()) => {
            Outcome::success()
        }
        // Neither success nor failure is known.
        Status::Unknown => Outcome::default(),
    };
    if let Err(error) = engine.post_action(action, outcome) {
        let id = heard.fault(format!("the outcome could not be recorded: {error}"));
        return Reply::Tell(format!("Lictor could not record this; tell the person you work for ({id})"));
    }
    review::after_call(heard, action, seen);
    let Some(session) = &action.session else { return Reply::Silence };
    // Feedback that cannot be recorded is not given: it would be given again after every call.
    let advice = render(&engine.advise(session).unwrap_or_default());
    let remarks: Vec<String> =
        unfinished(heard, action, seen).into_iter().chain([advice]).filter(|text| !text.is_empty()).collect();
    tell(heard, remarks.join("\n\n"))
}

/// The missing parts when an agent submits its final answer through a tool: the agent gets them now, not only
/// when it stops.
fn unfinished(heard: &Heard<'_>, action: &Action, seen: &Seen) -> Option<String> {
    let answered = heard.slot.agent().answers_by().is_some_and(|tool| tool == action.tool);
    if !answered || seen.status == Status::Failed {
        return None;
    }
    let session = action.session.clone()?;
    let stop = Stop {
        output: serde_json::to_string(&action.payload).ok(),
        reason: Some("structured_output".to_owned()),
        ..Stop::default()
    };
    let request = StopRequest { session, parent: heard.event.parent_session.clone(), stop };
    // If it cannot be determined, the stop gate reports it.
    let missing = heard.runtime.missing(&request).unwrap_or_default();
    (!missing.is_empty())
        .then(|| format!("The answer was handed in, and the work is not finished: {}", missing.join("\n")))
}

/// Delivers a remark together with the held ones, or holds it if this event cannot deliver it.
pub(super) fn tell(heard: &Heard<'_>, remark: String) -> Reply {
    let engine = heard.runtime.engine();
    let Some(session) = &heard.event.session else {
        return if remark.is_empty() { Reply::Silence } else { Reply::Tell(remark) };
    };
    if !heard.slot.can_tell() {
        if !remark.is_empty() {
            // A remark is only advice: if it cannot be held, it is dropped and the call continues.
            let _ = engine.hold(session, remark);
        }
        return Reply::Silence;
    }
    let mut remarks = engine.take_held(session).unwrap_or_default();
    remarks.push(remark);
    remarks.retain(|remark| !remark.is_empty());
    if remarks.is_empty() { Reply::Silence } else { Reply::Tell(remarks.join("\n\n")) }
}
