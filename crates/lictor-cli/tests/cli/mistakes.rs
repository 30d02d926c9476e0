//! What people get wrong in a policy: each mistake is one message, at its place, with what to write instead. The mistakes
//! and the words are in `mistakes.jsonl`.

use std::process::Command;

use serde_json::Value;

use crate::sandbox::Sandbox;

const MISTAKES: &str = include_str!("mistakes.jsonl");

/// Mistakes that are two: both are named.
const TWO: [&str; 5] = [
    "x: &a 1",
    "policies: {name: x}",
    "guards: {a: {expr: 'risk <= '}}",
    "unused: {expr: 'true'",
    "notify: {command: notify-snd}",
];

#[test]
fn every_mistake_is_named_once_at_its_place_with_a_way_on() {
    let sandbox = Sandbox::bare();
    sandbox.write("src/app.py", "x");
    sandbox.write("docs/a.md", "x");
    sandbox.write("scripts/ok.sh", "#!/bin/sh\nexit 0\n");
    sandbox.write("scripts/noexec.sh", "x");
    let ok = sandbox.project().join("scripts/ok.sh");
    assert!(Command::new("chmod").arg("+x").arg(ok).status().unwrap().success());
    let mut wrong = Vec::new();
    for line in MISTAKES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let policy = case["policy"].as_str().unwrap();
        let texts = |key: &str| -> Vec<String> {
            case[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        sandbox.write("governance.yaml", policy);
        let shown = sandbox.lictor(&["check"]).stdout;
        let said: Vec<String> = texts("at")
            .iter()
            .zip(texts("says"))
            .flat_map(|(at, says)| {
                let line = |word: &str| format!("governance.yaml:{at}: {word}: {says}\n");
                let found = shown.contains(&line("error")) || shown.contains(&line("warning"));
                (!found).then(|| format!("{at}: {says}"))
            })
            .collect();
        let helped = texts("help").iter().all(|help| shown.contains(&format!("  help: {help}\n")));
        let count =
            shown.matches("\ngovernance.yaml:").count() + usize::from(shown.starts_with("governance.yaml:"));
        let expected = if TWO.iter().any(|two| policy.contains(two)) { 2 } else { 1 };
        if !said.is_empty() || !helped || count != expected {
            wrong.push(format!("{policy}\nexpected {said:?}, {:?}\n{shown}", texts("help")));
        }
    }
    assert!(MISTAKES.lines().count() >= 60);
    assert!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
}
