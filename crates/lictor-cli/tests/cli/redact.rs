//! `redact:`: matches reach neither the record nor a reply, and decisions are still right.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const POLICY: &str = "\
redact: ['ACME-[0-9]+', '4111[0-9]{12}', '^pin=\"[0-9]+\"$']
bash_safety: {blocked_patterns: ['deploy ACME-7']}
";

/// The secrets. Long enough not to occur in a digest by chance.
const SECRET: [&str; 3] = ["ACME-", "41111111", "pin="];

fn found_below(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Stored policies have to know their own patterns. Questions that wait are in the store as they are asked; its
        // records are looked at through `audit export`.
        let is_store = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("lictor.db"));
        if path.ends_with("policy.bin") || path.ends_with("policies") || is_store {
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
    // The person who is asked sees what they are asked about.
    assert!(runs[7].stdout.contains("$RUN ACME-12345"), "{:?}", runs[7]);
    for run in runs.iter().enumerate().filter(|(at, _)| *at != 7).map(|(_, run)| run) {
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
fn what_reviewers_and_people_say_is_redacted_before_it_is_kept() {
    let sandbox = Sandbox::new();
    let reviewers = "councils:\n  look:\n    on: [pre-commit]\n    guardrail: true\n    reviewers:\n    - {name: sec, command: [./review.sh]}\n    - {name: bad, command: [./fail.sh]}\n";
    sandbox.write("governance.yaml", &format!("{POLICY}{reviewers}"));
    sandbox.write("a.txt", "x\n");
    let claim = r#"{"level":"HIGH","title":"key ACME-1 in the code","evidence":["a.txt:1:it is ACME-2","ACME-9.txt:1"],"rationale":"ACME-3 works"}"#;
    sandbox.write("review.sh", &format!("#!/bin/sh\ncat <<'END'\n{claim}\nEND\n"));
    sandbox.write("fail.sh", "#!/bin/sh\necho cannot log in with ACME-4 >&2\nexit 3\n");
    sandbox.program("chmod", &["+x", "review.sh", "fail.sh"], "");
    assert_eq!(sandbox.lictor(&["trust", "--yes"]).code, 0);
    sandbox.program("git", &["add", "a.txt"], "");
    let record = |title: &str, evidence: &str| {
        let say = ["--agent", "ACME-5", "--rationale", "ACME-6", "--evidence", evidence];
        let args = ["verdict", "record", "--plan-hash", "p", "--level", "HIGH", "--title", title];
        sandbox.lictor(&[&args[..], &say].concat())
    };
    let of_p = ["--plan-hash", "p", "--id", "k", "--by"];
    let mut runs = vec![
        sandbox.lictor(&["council", "run", "look", "--json"]),
        sandbox.lictor(&["verdict", "gate"]),
        record("ACME-7 leaks", "a.txt:1:ACME-8"),
        record("ACME-8 leaks", "a.txt:1:ACME-9"),
        sandbox.lictor_with(
            &["verdict", "import", "-", "--plan-hash", "p"],
            &claim.replace('{', r#"{"id":"k","#),
        ),
        sandbox
            .lictor(&[&["verdict", "waive", "--reason", "ACME-1 is dead"], &of_p[..], &["ACME-2"]].concat()),
        sandbox.lictor(
            &[&["verdict", "waive", "--as", "open", "--reason", "ACME-1 lives"], &of_p[..], &["x"]].concat(),
        ),
        sandbox.lictor(&[&["verdict", "clear", "--reason", "ACME-1 is gone"], &of_p[..], &["x"]].concat()),
    ];
    let codes: Vec<i32> = runs.iter().map(|run| run.code).collect();
    assert_eq!(codes, [2, 2, 0, 0, 0, 0, 0, 0], "{runs:#?}");
    for event in ["ACME-1", "PreToolUse"] {
        let input = json!({"hook_event_name": event, "tool_name": "Bash", "session_id": "s"});
        assert_eq!(sandbox.lictor_with(&["hook", "claude-code"], &input.to_string()).code, 2);
    }
    runs.push(sandbox.lictor(&["verdict", "show", "--plan-hash", "p", "--json"]));
    runs.push(sandbox.lictor(&["verdict", "export"]));
    let shown = &runs[8];
    assert_eq!(shown.json()["closed"].as_array().map(Vec::len), Some(1), "{shown:?}");
    assert_eq!(
        shown.json()["findings"].as_array().map(Vec::len),
        Some(1),
        "they differ in what is not kept: {shown:?}"
    );
    for run in &runs {
        for word in SECRET {
            assert!(!run.stdout.contains(word) && !run.stderr.contains(word), "{word}: {run:?}");
        }
    }
    let mut found = Vec::new();
    found_below(&sandbox.home().join(".local/state"), &mut found);
    assert!(found.is_empty(), "{found:?}");
    let faults = fs::read_to_string(sandbox.state().join("faults.jsonl")).unwrap();
    assert!(faults.contains("the event `[redacted]` is not known"), "{faults}");
    assert_eq!(sandbox.lictor(&["audit", "verify"]).code, 0);
}

#[test]
fn nothing_is_written_into_the_ledger_while_nobody_knows_what_to_keep_out() {
    let sandbox = Sandbox::new();
    let args = ["verdict", "record", "--plan-hash", "p", "--level", "HIGH", "--title", "t"];
    assert_eq!(sandbox.lictor(&args).code, 0);
    sandbox.write("governance.yaml", "redact: ['(']\n");
    let run = sandbox.lictor(&args);
    assert!(run.code != 0 && run.stderr.contains("governance.yaml:1"), "{run:?}");
    assert_eq!(sandbox.lictor(&["verdict", "show", "--plan-hash", "p"]).code, 0, "reading goes on");
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
    assert_eq!(call("$(next ACME-5) --now").code, 2);
    assert_eq!(sandbox.lictor(&["approve", "--all", "--yes"]).code, 0);
    assert_eq!(
        call("$(next ACME-6) --now").code,
        2,
        "the yes was for another action, whatever the record shows"
    );
    assert_eq!(call("$(next ACME-5) --now").code, 0);
    assert_eq!(call("$(next ACME-5) --now").code, 2, "once");
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

/// Command lines that pass `Zq8vKwLp2Xr` to a program as a secret, recognisable only from several words together.
const LINES: [&str; 16] = [
    "curl -u ann:Zq8vKwLp2Xr https://example.com",
    "mysql -pZq8vKwLp2Xr shop",
    "mysql --password Zq8vKwLp2Xr",
    "sshpass -p 'Zq8vKwLp2Xr' ssh host",
    "docker login -u ann -p Zq8vKwLp2Xr",
    "echo Zq8vKwLp2Xr | docker login -u ann --password-stdin",
    "cargo publish --token Zq8vKwLp2Xr",
    "cargo login Zq8vKwLp2Xr",
    "vault kv put secret/x value=Zq8vKwLp2Xr",
    "kubectl create secret generic x --from-literal=pw=Zq8vKwLp2Xr",
    "keytool -storepass Zq8vKwLp2Xr -list",
    "zip -P Zq8vKwLp2Xr a.zip a",
    "python3 run.py --secret Zq8vKwLp2Xr",
    "wrangler secret put NAME <<< Zq8vKwLp2Xr",
    "DB_PASSWORD=Zq8vKwLp2Xr make; echo $DB_PASSWORD",
    "curl -b 'sid=Zq8vKwLp2Xr' https://example.com",
];

#[test]
fn secrets_of_a_command_line_are_in_no_part_of_its_record() {
    let sandbox = Sandbox::new();
    for (at, line) in LINES.iter().enumerate() {
        let id = format!("toolu_{at}");
        let input = json!({"command": line});
        sandbox.claude("PreToolUse", json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": &id}));
        let records = sandbox.lictor(&["audit", "export"]).stdout;
        assert!(records.contains(&id), "{line} is on record: {records}");
        assert!(!records.contains("Zq8vKwLp2Xr"), "{line}: {records}");
    }
}
