//! Every recorded payload of every agent gets an answer that the agent accepts.

use std::fs;
use std::path::Path;

use lictor_agents::conformance::{Obeyed, obey, schema};
use lictor_agents::{Agent, EventKind, HookEnv, Rendered, parse};

use crate::sandbox::Sandbox;

#[test]
fn every_recorded_payload_is_answered_as_the_contract_wants() {
    let sandbox = Sandbox::new();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lictor-agents/tests/payloads");
    let (mut count, mut blocked, mut wrong) = (0, 0, Vec::new());
    for directory in fs::read_dir(recorded).unwrap().map(|entry| entry.unwrap()) {
        let name = directory.file_name().into_string().unwrap();
        let installed: Agent = if name == "devin-cli" { "claude-code" } else { &name }.parse().unwrap();
        for file in fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if file.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let stem = file.file_stem().unwrap().to_str().unwrap();
            let hint = (!stem.starts_with("event-")).then(|| stem.split('-').next().unwrap());
            let text = fs::read_to_string(&file).unwrap();
            let args: Vec<&str> = ["hook", installed.name()].into_iter().chain(hint).collect();
            let run = sandbox.lictor_with(&args, &text);
            let answer =
                Rendered { stdout: run.stdout, stderr: run.stderr, exit: u8::try_from(run.code).unwrap() };
            count += 1;
            let event = match parse(installed, hint, text.as_bytes(), &HookEnv::default()) {
                Ok(event) => event,
                // An event that is not understood must not pass where it could be stopped.
                Err(unclear) => {
                    let stopped = matches!(
                        obey(unclear.slot.agent(), unclear.slot.event_name(), &answer),
                        Obeyed::Stopped(_)
                    );
                    if unclear.slot.can_block() && !stopped {
                        wrong.push(format!("{name}/{stem} was not understood and went through: {answer:?}"));
                    }
                    continue;
                }
            };
            let (agent, slot) = (event.slot.agent(), event.slot);
            let accepted = schema(agent).unwrap();
            let foreign = agent != slot.through();
            if !foreign && !accepted.get(slot.event_name()).is_some_and(|accepts| accepts.answer(&answer)) {
                wrong.push(format!("{name}/{stem}: {agent} does not accept {answer:?}"));
            }
            let obeyed = obey(agent, slot.event_name(), &answer);
            blocked += usize::from(matches!(obeyed, Obeyed::Stopped(_)));
            let judged = matches!(event.kind, EventKind::PreTool(_) | EventKind::PermissionRequest(_));
            if !judged && matches!(obeyed, Obeyed::Stopped(_) | Obeyed::Asks(_)) {
                wrong.push(format!("{name}/{stem}: nothing to judge, and yet {obeyed:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 150, "only {count} payloads");
    assert!(blocked < count / 4, "{blocked} of {count} were blocked; recorded work is ordinary work");
}
