//! Handles an agent's request to stop.

use lictor_agents::{Block, Reply, Stop as Wish};
use lictor_core::completion::{Completion, Release, Stop};

use super::Heard;
use crate::runtime::StopRequest;

/// Lets the agent stop, or sends it back with what is missing.
pub(super) fn reply(heard: &Heard<'_>, wish: &Wish) -> Reply {
    let Some(session) = &heard.event.session else { return Reply::Silence };
    let request = StopRequest {
        session: session.clone(),
        parent: heard.event.parent_session.clone(),
        stop: Stop {
            output: wish.last_message.clone(),
            reason: None,
            subagent_name: None,
            subagent: wish.subagent,
            hook_active: wish.hook_active,
            background: wish.background.clone(),
            aborted: wish.aborted,
            unstoppable: !heard.slot.can_block(),
            observed: false,
        },
    };
    let check = match heard.runtime.stop(&request) {
        Ok(check) => check,
        // Uncounted rounds must not continue forever.
        Err(_) if wish.hook_active => return Reply::Silence,
        Err(error) => {
            let id = heard.fault(format!("whether the work is done is not known: {}", error.chain()));
            return Reply::Block(Block {
                reason: "whether the work is done could not be found out".to_owned(),
                fix: "try once more to stop, and tell the person you work for".to_owned(),
                id: Some(id),
            });
        }
    };
    match &check.outcome {
        Completion::Incomplete { .. } if check.observed => Reply::Silence,
        // Not every agent's stop hook reaches a person; the agent's last message does.
        Completion::Incomplete { reasons, .. } if check.for_person => Reply::Block(Block {
            reason: reasons.join("\n"),
            fix: "you cannot mend this: tell the person you work for what is missing and what to run, then stop; you will not be \
                  sent back for it again"
                .to_owned(),
            id: None,
        }),
        Completion::Incomplete { reasons, round, of } => Reply::Block(Block {
            reason: reasons.join("\n"),
            fix: format!("do what is missing, then stop again (round {round} of {of})"),
            id: None,
        }),
        Completion::ReleasedUnmet { why: Release::Cap | Release::NoProgress, .. } => {
            // This event reaches nobody; the remark is held for the next one.
            let remark = format!("The last turn ended unfinished: {}", check.outcome);
            let _ = heard.runtime.engine().hold(session, remark);
            Reply::Silence
        }
        Completion::Complete | Completion::Bypassed { .. } | Completion::ReleasedUnmet { .. } => {
            Reply::Silence
        }
    }
}
