//! Councils that look while the agent works on: their reviewers may take minutes, a hook has seconds. So each council
//! gets a process of its own that outlives the hook; what it finds lands in the ledger.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use lictor_agents::{Event, EventKind, Outcome, SessionSource, Status};
use lictor_core::Action;
use lictor_core::facts::Access;

use crate::councils::{InForce, Moment};
use crate::fault;
use crate::place;
use crate::runtime::Runtime;

/// Sends for the councils that meet when a session starts or ends. A session that is only compacted goes on.
pub fn at_session(runtime: &Runtime, event: &Event, kind: &EventKind) {
    match kind {
        EventKind::SessionStart(source) if *source != SessionSource::Compact => {
            send(runtime, event, Moment::SessionStart, Vec::new);
        }
        EventKind::SessionEnd(_) => send(runtime, event, Moment::SessionEnd, Vec::new),
        _ => {}
    }
}

/// Sends for the councils that meet when files like those that the call has written are saved. An agent that does not
/// say how a call ended may have written them; looking once too often does no harm.
pub fn after_call(runtime: &Runtime, event: &Event, action: &Action, seen: &Outcome) {
    if seen.status != Status::Failed {
        send(runtime, event, Moment::FileSave, || written(runtime, action));
    }
}

/// The files of the project that a call writes, as it names them.
fn written(runtime: &Runtime, action: &Action) -> Vec<String> {
    let facts = runtime.engine.facts(action);
    let saved = facts.files().filter(|(access, place)| {
        matches!(access, Access::Write | Access::Empty | Access::Append | Access::Modify) && !place.glob
    });
    saved.filter_map(|(_, place)| place.in_project.clone()).collect()
}

/// A failure to send for somebody is never a reason to stop the agent; `lictor doctor` shows it.
fn send(runtime: &Runtime, event: &Event, moment: Moment, saved: impl FnOnce() -> Vec<String>) {
    if runtime.policy.councils().is_empty() {
        return;
    }
    let sent = InForce::of(&runtime.policy).and_then(|in_force| {
        if !in_force.may_meet(moment) {
            return Ok(());
        }
        in_force
            .meeting(moment, &saved())
            .try_for_each(|(name, _, saved)| start(runtime, name, moment, &saved))
    });
    if let Err(error) = sent {
        fault::note(&event.slot, format!("a council could not be sent for: {error:#}"));
    }
}

fn start(runtime: &Runtime, council: &str, moment: Moment, saved: &[String]) -> anyhow::Result<()> {
    let mut command = Command::new(place::own_binary()?);
    command.args(["council", "run", "--trigger", moment.word()]);
    for file in saved {
        command.arg(format!("--saved={file}"));
    }
    command.arg("--").arg(council).current_dir(&runtime.root);
    // A group of its own: an agent that ends its hooks does not end the review. No pipe of the agent's stays open:
    // it would wait for that to close.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Not waited for: the hook ends long before it does.
    drop(command.spawn()?);
    Ok(())
}
