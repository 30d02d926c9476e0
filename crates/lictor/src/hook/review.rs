//! Runs councils in the background: their reviewers may take minutes, a hook has seconds. Each council gets its
//! own process that outlives the hook, or a thread in a long-lived process; its findings go to the ledger.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use lictor_agents::{EventKind, Outcome, SessionSource, Status};
use lictor_core::Action;
use lictor_core::facts::Access;

use super::Heard;
use crate::councils::{ActiveCouncils, CouncilMoment};
use crate::runtime::Runtime;

/// Summons the councils that run when a session starts or ends. Compaction does not end a session.
pub(super) fn at_session(heard: &Heard<'_>, kind: &EventKind) {
    match kind {
        EventKind::SessionStart(source) if *source != SessionSource::Compact => {
            send(heard, CouncilMoment::SessionStart, Vec::new);
        }
        EventKind::SessionEnd(_) => send(heard, CouncilMoment::SessionEnd, Vec::new),
        _ => {}
    }
}

/// Summons the councils that run when files like those of this call are saved. If the agent does not report the
/// outcome, the files may have been written; an unneeded review is harmless.
pub(super) fn after_call(heard: &Heard<'_>, action: &Action, seen: &Outcome) {
    if seen.status != Status::Failed {
        send(heard, CouncilMoment::FileSave, || written(heard.runtime, action));
    }
}

/// The files of the project that a call writes, as it names them.
fn written(runtime: &Runtime, action: &Action) -> Vec<String> {
    let facts = runtime.engine().facts(action);
    let saved = facts.files().filter(|(access, place)| {
        matches!(access, Access::Write | Access::Empty | Access::Append | Access::Modify) && !place.glob
    });
    saved.filter_map(|(_, place)| place.in_project.clone()).collect()
}

/// A failure to summon a council never stops the agent; `lictor doctor` shows it.
fn send(heard: &Heard<'_>, moment: CouncilMoment, saved: impl FnOnce() -> Vec<String>) {
    let runtime = heard.runtime;
    if runtime.policy().councils().is_empty() {
        return;
    }
    let sent = ActiveCouncils::of(runtime.policy()).map_err(|error| error.chain()).and_then(|active| {
        if !active.may_meet(moment) {
            return Ok(());
        }
        active.meeting(moment, &saved()).try_for_each(|(name, _, saved)| {
            let started = match runtime.project().options().program {
                Some(program) => program().and_then(|program| start(&program, runtime, name, moment, &saved)),
                None => start_here(runtime, name, moment, saved),
            };
            started.map_err(|error| error.to_string())
        })
    });
    if let Err(why) = sent {
        heard.fault(format!("a council could not be sent for: {why}"));
    }
}

fn start(
    program: &Path,
    runtime: &Runtime,
    council: &str,
    moment: CouncilMoment,
    saved: &[String],
) -> std::io::Result<()> {
    let mut command = Command::new(program);
    command.args(["council", "run", "--trigger", moment.word()]);
    for file in saved {
        command.arg(format!("--saved={file}"));
    }
    command.arg("--").arg(council).current_dir(&runtime.project().root);
    // A separate process group: an agent that kills its hooks does not kill the review. No pipe of the agent
    // stays open: the agent would wait for it to close.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Not awaited: the hook ends long before it does.
    drop(command.spawn()?);
    Ok(())
}

/// In a thread of this process, which lives on.
fn start_here(
    runtime: &Runtime,
    council: &str,
    moment: CouncilMoment,
    saved: Vec<String>,
) -> std::io::Result<()> {
    let (runtime, council) = (runtime.clone(), council.to_owned());
    let look = move || {
        // Errors are recorded in the ledger, with the result of the summons.
        if let Ok(active) = ActiveCouncils::of(runtime.policy()) {
            let ledger = runtime.ledger();
            let _ = ledger.summon(&active, Some(&council), moment, &saved, &|_| {}, &mut |_| {});
        }
    };
    thread::Builder::new().name("lictor-council".to_owned()).spawn(look).map(drop)
}
