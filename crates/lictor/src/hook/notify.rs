//! Notifies a person of a pending question.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use lictor_core::{Action, Evaluation, Redact as _, Request, text};
use lictor_engine::past::title;
use serde_json::json;

use crate::runtime::Runtime;

/// Starts the notification programs of the person's or the managed policy when this call has left a new question.
/// Their end is not awaited: a failed notification must not delay the agent, and the question stays in `lictor
/// approvals`.
pub(super) fn person(runtime: &Runtime, action: &Action, evaluation: &Evaluation) {
    let programs = runtime.policy().notify();
    if programs.is_empty() {
        return;
    }
    let request =
        Request { action: evaluation.action, session: action.session.clone(), policy: evaluation.policy };
    let title = text::clean(&title(action), 120);
    let body = match runtime.approvals().find(&request.id()) {
        Ok(approval) => {
            // A repeated question has been notified already.
            if evaluation.session.latest != Some(approval.requested_at) {
                return;
            }
            let messages: Vec<_> =
                approval.asked.iter().map(|point| runtime.redactor().redact(&point.message)).collect();
            json!({"id": approval.id, "agent": action.actor.agent, "action": runtime.redactor().redact(&title),
                   "messages": messages, "cwd": action.cwd})
        }
        // No question: a block, if notifications for blocks are enabled.
        Err(_) if runtime.policy().notifies_blocks() => {
            json!({"blocked": evaluation.id, "agent": action.actor.agent,
                   "action": runtime.redactor().redact(&title), "messages": [evaluation.reason_for_agent()],
                   "cwd": action.cwd})
        }
        Err(_) => return,
    }
    .to_string();
    for program in programs {
        let Some((name, args)) = program.argv.split_first() else { continue };
        let kept = [
            "PATH",
            "HOME",
            "LANG",
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "DBUS_SESSION_BUS_ADDRESS",
            "XDG_RUNTIME_DIR",
        ];
        let given = runtime.project().options().environment();
        let environment = kept.into_iter().filter_map(|name| Some((name, given.get(name)?)));
        let started = Command::new(name)
            .args(args)
            .env_clear()
            .envs(environment)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if let Ok(mut child) = started
            && let Some(mut stdin) = child.stdin.take()
        {
            let _ = stdin.write_all(body.as_bytes());
        }
    }
}
