//! Every rule of every pack in a scratch repository, through real hooks: the fix of each stop is followed
//! literally and must work, or state that a person has to act.

use std::thread;

use lictor_guards::Pack;
use serde_json::Value;

use crate::agent::{Agent, Way, stopped};
use crate::sandbox::Sandbox;

/// A rule with an example of what it stops.
struct Case {
    rule: String,
    example: String,
    /// An example of following the fix, if it names no command.
    then: Vec<String>,
}

fn cases(pack: &str) -> Vec<Case> {
    let file = format!("{}/../lictor-guards/packs/{pack}.yaml", env!("CARGO_MANIFEST_DIR"));
    let source: Value = serde_saphyr::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let texts = |rule: &Value, key: &str| -> Vec<String> {
        let list = rule[key].as_array().cloned().unwrap_or_default();
        list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let rules = source["rules"].as_array().unwrap().iter().filter(|rule| rule["decision"] != "warn");
    rules
        .map(|rule| Case {
            rule: rule["id"].as_str().unwrap().to_owned(),
            example: texts(rule, "match")[0].clone(),
            then: texts(rule, "then"),
        })
        .collect()
}

fn scratch(pack: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", &format!("version: 1\nextends: [{pack}]\n"));
    sandbox.write("README.md", "text\n");
    sandbox.write("my.db", "text\n");
    sandbox.write(".env", "KEY=value\n");
    sandbox.write("src/app.py", "a = 1\n");
    sandbox.write_at(&sandbox.home().join("kept.txt"), "text\n");
    // An agent that is told to start another one finds hooks there.
    let init = sandbox.lictor(&["init", "--yes", "--agent", "claude-code"]);
    assert_eq!(init.code, 0, "{}", init.stderr);
    sandbox.program("git", &["add", "-A"], "");
    sandbox.program("git", &["-c", "user.email=a@b", "-c", "user.name=a", "commit", "-qm", "x"], "");
    // Uncommitted work of a person: commands that would discard it are stopped.
    sandbox.write("README.md", "a person's text\n");
    sandbox.write("src/app.py", "a = 2\n");
    sandbox
}

/// The rules whose fix does not work, and those that did not stop their example here.
fn followed(pack: &str) -> (Vec<String>, Vec<String>) {
    let (mut nowhere, mut quiet) = (Vec::new(), Vec::new());
    let sandbox = scratch(pack);
    for case in cases(pack) {
        let agent = Agent { sandbox: &sandbox, session: case.rule.clone() };
        let run = agent.step(&case.example);
        if !stopped(&run) {
            quiet.push(format!("{}: {}", case.rule, case.example));
            continue;
        }
        let way = agent.goes_on(&case.example, &run);
        let in_words = matches!(way, Way::Words(_)) && !case.then.is_empty();
        if !matches!(way, Way::On | Way::Person) && !in_words {
            nowhere.push(format!("{}: {}: {way:?}", case.rule, case.example));
        }
        for step in case.then.iter().filter(|step| stopped(&agent.step(step))) {
            nowhere.push(format!("{}: {step} is stopped too", case.rule));
        }
    }
    (nowhere, quiet)
}

#[test]
fn every_fix_of_every_rule_leads_on() {
    let packs: Vec<_> = Pack::all().iter().map(|pack| thread::spawn(|| followed(pack.name))).collect();
    let all: Vec<_> = packs.into_iter().map(|pack| pack.join().unwrap()).collect();
    let nowhere: Vec<String> = all.iter().flat_map(|(nowhere, _)| nowhere.clone()).collect();
    let quiet: Vec<String> = all.into_iter().flat_map(|(_, quiet)| quiet).collect();
    assert!(
        nowhere.is_empty() && quiet.is_empty(),
        "{}\n\nnot stopped:\n{}",
        nowhere.join("\n"),
        quiet.join("\n")
    );
}
