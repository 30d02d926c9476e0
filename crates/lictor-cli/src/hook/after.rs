//! After a call: what came of it is recorded, then whoever has something to say is heard.

use lictor_agents::{Event, Outcome as Seen, Reply, Status};
use lictor_core::feedback::render;
use lictor_core::{Action, Outcome};

use super::review;
use crate::fault;
use crate::runtime::Runtime;

/// Records the outcome of a call and answers with feedback that is due.
pub fn call(runtime: &Runtime, event: &Event, action: &Action, seen: &Seen) -> Reply {
    let outcome = match seen.status {
        Status::Succeeded => Outcome::success(),
        Status::Failed => Outcome::failure("the agent reported a failure"),
        // Neither a success nor a failure that anyone knows of.
        Status::Unknown => Outcome::default(),
    };
    if let Err(error) = runtime.engine.post_action(action, outcome) {
        let id = fault::note(&event.slot, format!("the outcome could not be recorded: {error}"));
        return Reply::Tell(format!("Lictor could not record this; tell the person you work for ({id})"));
    }
    review::after_call(runtime, event, action, seen);
    let Some(session) = &action.session else { return Reply::Silence };
    // Feedback that cannot be recorded is not given: it would be given again after every call.
    let advice = runtime.engine.advise(session).unwrap_or_default();
    tell(runtime, event, render(&advice))
}

/// Says a remark together with those that wait, or keeps it for later where the agent cannot be told now.
pub fn tell(runtime: &Runtime, event: &Event, remark: String) -> Reply {
    let Some(session) = &event.session else {
        return if remark.is_empty() { Reply::Silence } else { Reply::Tell(remark) };
    };
    if !event.slot.can_tell() {
        if !remark.is_empty() {
            // A remark is advice: what cannot be kept is lost, the call goes on.
            let _ = runtime.engine.hold(session, remark);
        }
        return Reply::Silence;
    }
    let mut remarks = runtime.engine.take_held(session).unwrap_or_default();
    remarks.push(remark);
    remarks.retain(|remark| !remark.is_empty());
    if remarks.is_empty() { Reply::Silence } else { Reply::Tell(remarks.join("\n\n")) }
}
