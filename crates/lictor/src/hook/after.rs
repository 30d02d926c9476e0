//! After a call: what came of it is recorded, then whoever has something to say is heard.

use lictor_agents::{Outcome as Seen, Reply, Status};
use lictor_core::feedback::render;
use lictor_core::{Action, Outcome};

use super::{Heard, review};

/// Records the outcome of a call and answers with feedback that is due.
pub(super) fn call(heard: &Heard<'_>, action: &Action, seen: &Seen) -> Reply {
    let engine = heard.runtime.engine();
    let outcome = match seen.status {
        Status::Succeeded => Outcome::success(),
        Status::Failed => Outcome::failure("the agent reported a failure"),
        // The policy declares that having run is sign enough where the agent tells nothing else.
        Status::Unknown if heard.runtime.policy().counts_unreported() => Outcome::success(),
        // Neither a success nor a failure that anyone knows of.
        Status::Unknown => Outcome::default(),
    };
    if let Err(error) = engine.post_action(action, outcome) {
        let id = heard.fault(format!("the outcome could not be recorded: {error}"));
        return Reply::Tell(format!("Lictor could not record this; tell the person you work for ({id})"));
    }
    review::after_call(heard, action, seen);
    let Some(session) = &action.session else { return Reply::Silence };
    // Feedback that cannot be recorded is not given: it would be given again after every call.
    let advice = engine.advise(session).unwrap_or_default();
    tell(heard, render(&advice))
}

/// Says a remark together with those that wait, or keeps it for later where the agent cannot be told now.
pub(super) fn tell(heard: &Heard<'_>, remark: String) -> Reply {
    let engine = heard.runtime.engine();
    let Some(session) = &heard.event.session else {
        return if remark.is_empty() { Reply::Silence } else { Reply::Tell(remark) };
    };
    if !heard.slot.can_tell() {
        if !remark.is_empty() {
            // A remark is advice: what cannot be kept is lost, the call goes on.
            let _ = engine.hold(session, remark);
        }
        return Reply::Silence;
    }
    let mut remarks = engine.take_held(session).unwrap_or_default();
    remarks.push(remark);
    remarks.retain(|remark| !remark.is_empty());
    if remarks.is_empty() { Reply::Silence } else { Reply::Tell(remarks.join("\n\n")) }
}
