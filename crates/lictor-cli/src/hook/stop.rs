//! An agent that wants to stop.

use lictor::PolicyEngine;
use lictor_agents::{Block, Event, Reply, Stop as Wish};
use lictor_core::completion::{Completion, Release, Stop};

use crate::fault;
use crate::runtime::Runtime;

/// Lets the agent stop, or sends it back with what is missing.
pub fn reply(runtime: &Runtime, event: &Event, wish: &Wish) -> Reply {
    let Some(session) = &event.session else { return Reply::Silence };
    let parent = event.parent_session.as_ref();
    // A session that began under another policy has to meet what that one asks too.
    let engine = runtime.engine.for_session(session, parent);
    let enforced = engine.as_ref().is_ok_and(PolicyEngine::is_enforced);
    let stop = Stop {
        subagent: wish.subagent,
        hook_active: wish.hook_active,
        background: wish.background.clone(),
        aborted: wish.aborted,
        unstoppable: !event.slot.can_block(),
        observed: runtime.policy.is_observing() && !enforced,
    };
    let check = match engine.and_then(|engine| engine.check_stop(session, parent, &stop)) {
        Ok(Some(check)) => check,
        Ok(None) => return Reply::Silence,
        // Rounds that cannot be counted must not go on for ever.
        Err(_) if wish.hook_active => return Reply::Silence,
        Err(error) => {
            let id = fault::note(&event.slot, format!("whether the work is done is not known: {error}"));
            return Reply::Block(Block {
                reason: "whether the work is done could not be found out".to_owned(),
                fix: "try once more to stop, and tell the person you work for".to_owned(),
                id: Some(id),
            });
        }
    };
    match &check.outcome {
        Completion::Incomplete { .. } if check.observed => Reply::Silence,
        Completion::Incomplete { reasons, round, of } => Reply::Block(Block {
            reason: reasons.join("\n"),
            fix: format!("do what is missing, then stop again (round {round} of {of})"),
            id: None,
        }),
        Completion::ReleasedUnmet { why: Release::Cap | Release::NoProgress, .. } => {
            // Nobody is told here; whoever speaks next with the agent shall know.
            let _ =
                runtime.engine.hold(session, format!("The last turn ended unfinished: {}", check.outcome));
            Reply::Silence
        }
        Completion::Complete | Completion::Bypassed { .. } | Completion::ReleasedUnmet { .. } => {
            Reply::Silence
        }
    }
}
