//! One intent in every agent's format gives one decision.

use std::collections::BTreeMap;
use std::fs;

use lictor_agents::conformance::{Conformance, Expect, Obeyed, obey};
use lictor_agents::{Agent, Rendered};

use crate::sandbox::Sandbox;

#[test]
fn every_agent_gets_the_same_decision_for_the_same_intent() {
    let sandbox = Sandbox::new();
    let data = Conformance::load().unwrap();
    sandbox.write("src/lib.rs", "pub fn f() {}\n");
    sandbox.write("README.md", "# x\n");
    sandbox.write("governance.yaml", "version: 1\n");
    fs::create_dir(sandbox.home().join(".ssh")).unwrap();
    fs::write(sandbox.home().join(".ssh/id_rsa"), "x").unwrap();
    let (cwd, home) = (sandbox.project().display().to_string(), sandbox.home().display().to_string());
    let (mut wrong, mut passed, mut stopped) = (Vec::new(), 0, 0);
    assert!(data.intents.len() >= 40);
    for intent in &data.intents {
        let mut decisions: BTreeMap<bool, Vec<&str>> = BTreeMap::new();
        for agent in Agent::ALL {
            let Some(sent) = data.send(agent, intent, &cwd, &home) else { continue };
            let payload = serde_json::to_string(&sent.payload).unwrap();
            let run = sandbox.lictor_with(&["hook", agent.name(), &sent.event], &payload);
            let answer =
                Rendered { stdout: run.stdout, stderr: run.stderr, exit: u8::try_from(run.code).unwrap() };
            let goes_ahead = match obey(agent, &sent.event, &answer) {
                Obeyed::Proceeds | Obeyed::Told(_) => true,
                Obeyed::Stopped(reason) | Obeyed::Asks(reason) => {
                    assert!(!reason.trim().is_empty(), "{agent} {}: no reason", intent.id);
                    false
                }
            };
            decisions.entry(goes_ahead).or_default().push(agent.name());
        }
        passed += usize::from(decisions.contains_key(&true));
        stopped += usize::from(decisions.contains_key(&false));
        let fits = match intent.expect {
            Expect::Pass => !decisions.contains_key(&false),
            Expect::Block => !decisions.contains_key(&true),
            Expect::Same => decisions.len() == 1,
        };
        if !fits || decisions.is_empty() {
            wrong.push(format!("{}: goes ahead {decisions:?}, expected {:?}", intent.id, intent.expect));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(passed >= 10 && stopped >= 20, "passed {passed}, stopped {stopped}");
}
