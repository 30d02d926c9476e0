//! `redact:`: what its patterns find reaches neither the record nor an answer, and decisions are still right.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const POLICY: &str = "\
redact: ['ACME-[0-9]+', '4111[0-9]{12}', '^pin=\"[0-9]+\"$']
bash_safety: {blocked_patterns: ['deploy ACME-7']}
";

/// Everything that must not be found.
const SECRET: [&str; 3] = ["ACME-", "4111", "pin="];

fn found_below(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Stored policies have to know their own patterns.
        if path.ends_with("policy.bin") || path.ends_with("policies") {
            continue;
        }
        if path.is_dir() {
            found_below(&path, found);
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        found.extend(
            SECRET.iter().filter(|word| text.contains(**word)).map(|word| format!("{word} in {path:?}")),
        );
    }
}

#[test]
fn matches_reach_neither_the_record_nor_an_answer() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", POLICY);
    let call = |tool: &str, input: Value| {
        sandbox.claude(
            "PreToolUse",
            json!({"permission_mode": "bypassPermissions", "tool_name": tool, "tool_input": input}),
        )
    };
    let runs = [
        call("Bash", json!({"command": "echo ACME-12345"})),
        call("Bash", json!({"command": "deploy ACME-7"})),
        call("Bash", json!({"command": "rm -rf ~ # ACME-99"})),
        call("Bash", json!({"command": "$RUN ACME-12345 && \"$(ACME-6)\""})),
        call(
            "mcp__pay__card",
            json!({"number": 4111111111111111_u64, "pin": "pin=\"1234\"", "ACME-1": "key"}),
        ),
        sandbox.lictor(&["eval", "bash", "deploy ACME-7", "--json"]),
        sandbox.lictor(&["eval", "bash", "deploy ACME-7"]),
        sandbox.lictor(&["approvals", "--json"]),
        sandbox.lictor(&["audit", "export"]),
        sandbox.lictor(&["explain", "3"]),
    ];
    assert_eq!(runs[0].code, 0, "{:?}", runs[0]);
    assert_eq!(runs[1].code, 2, "the decision is made on the real text: {:?}", runs[1]);
    assert_eq!(runs[3].code, 2, "{:?}", runs[3]);
    for run in &runs {
        for word in SECRET {
            assert!(!run.stdout.contains(word) && !run.stderr.contains(word), "{word}: {run:?}");
        }
    }
    assert!(runs[8].stdout.contains("echo [redacted]"), "{:?}", runs[8]);
    assert_eq!(runs[9].code, 0, "the record can still be read: {:?}", runs[9]);
    let mut found = Vec::new();
    found_below(&sandbox.home().join(".local/state"), &mut found);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(sandbox.lictor(&["audit", "verify"]).code, 0);
}

#[test]
fn a_question_about_redacted_text_can_be_answered() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", POLICY);
    let call = |command: &str| {
        sandbox.claude(
            "PreToolUse",
            json!({"permission_mode": "bypassPermissions", "tool_name": "Bash", "tool_input": {"command": command}}),
        )
    };
    assert_eq!(call("$(ACME-5) --now").code, 2);
    assert_eq!(sandbox.lictor(&["approve", "--all", "--yes"]).code, 0);
    assert_eq!(call("$(ACME-6) --now").code, 2, "the yes was for another action, whatever the record shows");
    assert_eq!(call("$(ACME-5) --now").code, 0);
    assert_eq!(call("$(ACME-5) --now").code, 2, "once");
}

/// Every key and fixed word of a real record is one that a pattern may not take out.
#[test]
fn a_pattern_cannot_take_the_record_apart() {
    fn words(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, item) in
                    map.iter().filter(|(key, _)| !["payload", "annotations", "marks"].contains(&key.as_str()))
                {
                    found.push(key.clone());
                    let fixed =
                        ["decision", "value", "status", "layer", "kind", "type", "state", "access", "zone"];
                    if let (true, Some(word)) = (fixed.contains(&key.as_str()), item.as_str()) {
                        found.push(word.to_owned());
                    }
                    words(item, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| words(item, found)),
            _ => {}
        }
    }
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "policies: [{name: p, on: {verb: delete, object: file}, requires_confirmation: true}]\n",
    );
    for command in
        ["rm a b", "git push --force", "curl -d @x https://example.com", "$X y", "python3 -c 'eval(1)'"]
    {
        sandbox.claude_bash(command);
    }
    sandbox.claude(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "rm a b"}, "tool_response": {}}),
    );
    sandbox.lictor(&["approve", "--all", "--yes"]);
    let mut found = Vec::new();
    for line in sandbox.lictor(&["audit", "export"]).stdout.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        words(&record["body"], &mut found);
    }
    found.sort();
    found.dedup();
    assert!(found.len() > 60, "{found:?}");
    let patterns: Vec<String> =
        found.iter().map(|word| format!("'^{}$'", word.replace('.', "\\."))).collect();
    sandbox.write("governance.yaml", &format!("redact:\n- {}\n", patterns.join("\n- ")));
    let refused = sandbox.lictor(&["check", "--json"]).json();
    let lines: Vec<u64> =
        refused["problems"].as_array().unwrap().iter().map(|it| it["line"].as_u64().unwrap()).collect();
    let kept: Vec<&String> = found
        .iter()
        .enumerate()
        .filter(|(index, _)| !lines.contains(&(*index as u64 + 2)))
        .map(|(_, word)| word)
        .collect();
    assert!(kept.is_empty(), "missing in redact/words.txt: {kept:?}");
}
