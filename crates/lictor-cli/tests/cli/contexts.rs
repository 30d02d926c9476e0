//! Input and output of called programs, and `for` of rules: through `lictor rpc`, as for any program.

use std::fs;

use serde_json::{Value, json};

use crate::json_schema::problems;
use crate::sandbox::Sandbox;

fn project(policy: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_at(&sandbox.home().join(".config/lictor/governance.yaml"), policy);
    sandbox
}

fn program(sandbox: &Sandbox, name: &str, answer: &str) {
    let file = sandbox.project().join(name);
    sandbox.write(name, &format!("#!/bin/sh\ncat > {}.json\n{answer}\n", file.display()));
    assert_eq!(sandbox.program("chmod", &["+x", name], "").code, 0);
}

fn given(sandbox: &Sandbox, name: &str) -> Value {
    let text = fs::read_to_string(sandbox.project().join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The answers of one `lictor rpc` to these calls.
fn rpc(sandbox: &Sandbox, calls: &[(&str, Value)]) -> Vec<Value> {
    let lines: String = calls
        .iter()
        .map(|(method, params)| {
            format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        })
        .collect();
    let run = sandbox.lictor_with(&["rpc"], &lines);
    assert_eq!(run.code, 0, "{run:?}");
    let answer = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    run.stdout
        .lines()
        .map(|line| answer(line).get("result").cloned().unwrap_or_else(|| answer(line)))
        .collect()
}

fn bash(command: &str) -> Value {
    json!({"kind": "bash", "payload": {"command": command}, "session_id": "s1", "agent": "mine"})
}

#[test]
fn called_programs_are_given_the_whole_situation() {
    let sandbox = project(
        "version: 1
guards:
  scored: {command: [./guard.sh]}
policy: scored
policies:
  - {name: keep, on: {verb: delete, object: file}, callback: {command: [./callback.sh]}, metadata: {owner: platform}}
feedback:
  - {name: hint, command: [./feedback.sh], every_n_calls: 1}
  - {name: deadline, deadline: 45m, every_n_calls: 100}
completion: {command: [./done.sh], remember: false}
budget: {max_actions: 50, max_tokens: 1000, max_cost: 2.5}
",
    );
    let warns = r#"echo '{"decision": "warn", "reason": "large", "risk": 0.25, "annotations": {"files": 12}, "tags": ["bulk"]}'"#;
    program(&sandbox, "guard.sh", warns);
    program(
        &sandbox,
        "callback.sh",
        r#"echo '{"decision": "warn", "reason": "not tracked", "evidence": {"tracked": false}}'"#,
    );
    program(
        &sandbox,
        "feedback.sh",
        r#"grep -q '"calls":2' feedback.sh.json && echo Steady. || echo '{"run": false}'"#,
    );
    program(
        &sandbox,
        "done.sh",
        r#"grep -q "the risk is low" done.sh.json && exit 0; echo '{"complete": false, "reason": "Name the risk."}'"#,
    );
    sandbox.write("a.txt", "x");
    let outcome = json!({"success": true, "usage": {"tokens": 300, "cost": 0.5}});
    let stop = |output: &str| ("stop", json!({"session_id": "s1", "agent": "mine", "output": output}));
    let answers = rpc(
        &sandbox,
        &[
            ("prompt", json!({"session_id": "s1", "agent": "mine", "name": "tidy", "text": "tidy up"})),
            ("evaluate", json!({"action": bash("rm a.txt")})),
            ("post", json!({"action": bash("rm a.txt"), "outcome": outcome})),
            ("evaluate", json!({"action": bash("ls")})),
            ("post", json!({"action": bash("ls"), "outcome": {"success": false, "error": "no"}})),
            stop("all fine"),
            stop("the risk is low"),
        ],
    );
    let warned = &answers[1];
    assert_eq!(warned["decision"], "warn", "{warned}");
    let text = warned.to_string();
    assert!(text.contains("large") && text.contains("not tracked") && text.contains("platform"), "{text}");
    assert_eq!(warned["annotations"]["user.scored.files"], 12);
    assert_eq!(answers[2]["feedback"], json!([]), "it declined, and stays due");
    assert!(answers[4]["feedback"][0]["text"].as_str().unwrap().contains("Steady."), "{}", answers[4]);
    assert_eq!(
        (&answers[5]["outcome"], &answers[5]["reasons"][0]),
        (&json!("incomplete"), &json!("Name the risk."))
    );
    assert_eq!(answers[6]["outcome"], "complete", "what the agent says now counts, on the same tree");

    let schema = sandbox.lictor(&["schema", "--output", "called"]);
    let schema = schema.json();
    for (name, what) in [
        ("guard.sh", "guard"),
        ("callback.sh", "callback"),
        ("feedback.sh", "feedback"),
        ("done.sh", "completion"),
    ] {
        let form = given(&sandbox, name);
        assert_eq!(form["for"], what);
        assert_eq!(problems(&schema, &form), Vec::<String>::new(), "{name}: {form:#}");
        assert_eq!((&form["session"]["id"], &form["session"]["prompt"]), (&json!("s1"), &json!("tidy")));
    }
    let callback = given(&sandbox, "callback.sh");
    assert_eq!(
        (&callback["definition"]["metadata"]["owner"], &callback["deed"]["verb"]),
        (&json!("platform"), &json!("delete"))
    );
    let feedback = given(&sandbox, "feedback.sh");
    assert_eq!((&feedback["prompt"], &feedback["calls_since_own"]), (&json!("tidy up"), &json!(2)));
    assert_eq!(feedback["recent_calls"][1]["outcome"]["success"], false);
    assert!(feedback["left"]["deadline_ms"].as_i64().unwrap() > 0 && feedback["left"]["tokens"] == 700);
    let done = given(&sandbox, "done.sh");
    assert_eq!(
        (&done["output"], &done["reason"], &done["agent"]),
        (&json!("the risk is low"), &json!("done"), &json!("mine"))
    );
    assert_eq!((&done["left"]["cost"], &done["round"]), (&json!(2.0), &json!(2)));
}

#[test]
fn rules_are_for_those_they_name() {
    let sandbox = project(
        "version: 1
policies:
  - {name: no-deletes, on: {verb: delete, object: file}, effect: block, for: {prompt: review}}
tools:
  - {require_first: {bash(\"git push\"): [bash(\"cargo test\")]}, for: {agent: builder}}
budget:
  - {max_actions: 40}
  - {max_actions: 1, for: {subagent: explorer}}
feedback:
  - {name: hint, say: Look twice., every_n_calls: 1, for: {prompt: review}}
completion:
  - {files: [review.md], for: {prompt: review}}
",
    );
    let by = |agent: &str, chain: &[&str], command: &str| json!({"action": {"kind": "bash", "payload": {"command": command}, "session_id": "s", "agent": agent, "chain": chain}});
    let decision = |answer: &Value| answer["decision"].as_str().unwrap_or_default().to_owned();
    let prompt = |name: &str| ("prompt", json!({"session_id": "s", "agent": "writer", "name": name}));
    let posted = |command: &str| {
        let mut params = by("writer", &[], command);
        params["outcome"] = json!({"success": true});
        ("post", params)
    };
    let stop = ("stop", json!({"session_id": "s", "agent": "writer"}));
    sandbox.write("a.txt", "x");
    let answers = rpc(
        &sandbox,
        &[
            ("evaluate", by("builder", &[], "git push")),
            ("evaluate", by("writer", &[], "git push")),
            ("evaluate", by("writer", &[], "rm a.txt")),
            posted("rm a.txt"),
            stop.clone(),
            prompt("review"),
            ("evaluate", by("writer", &[], "rm a.txt")),
            ("evaluate", by("writer", &[], "ls")),
            posted("ls"),
            stop,
            ("evaluate", by("writer", &["writer", "explorer"], "ls")),
            ("evaluate", by("writer", &["writer", "explorer"], "ls src")),
            ("evaluate", by("writer", &["writer", "tester"], "ls")),
        ],
    );
    assert_eq!(decision(&answers[0]), "block", "{}", answers[0]);
    assert!(!answers[1].to_string().contains("requires"), "{}", answers[1]);
    assert_ne!(decision(&answers[2]), "block", "{}", answers[2]);
    assert_eq!((&answers[3]["feedback"], &answers[4]["outcome"]), (&json!([]), &json!("complete")));
    assert_eq!(decision(&answers[6]), "block", "{}", answers[6]);
    assert!(answers[8]["feedback"][0]["text"].as_str().unwrap().contains("Look twice."), "{}", answers[8]);
    assert_eq!(answers[9]["outcome"], "incomplete", "{}", answers[9]);
    // The budget of one kind of subagent counts that kind's actions and no others.
    assert_ne!(decision(&answers[10]), "block", "{}", answers[10]);
    assert_eq!(decision(&answers[11]), "block", "{}", answers[11]);
    assert_ne!(decision(&answers[12]), "block", "{}", answers[12]);
}

#[test]
fn a_reset_lets_a_file_be_told_again() {
    let sandbox = project(
        "version: 1
feedback: [{name: plan, on_file_created: PLAN.md, say: Follow the plan.}]
completion: {files: [never.md], max_rounds: 1}
",
    );
    let told = |before: &[(&str, Value)]| {
        let step = [
            ("evaluate", json!({"action": bash("ls")})),
            ("post", json!({"action": bash("ls"), "outcome": {"success": true}})),
        ];
        let answers = rpc(&sandbox, &[before, &step].concat());
        answers.last().unwrap()["feedback"].as_array().unwrap().len()
    };
    let key = json!({"session_id": "s1", "agent": "mine"});
    let stop = || rpc(&sandbox, &[("stop", key.clone())])[0]["outcome"].clone();
    let plan = sandbox.project().join("PLAN.md");
    assert_eq!(told(&[]), 0);
    sandbox.write("PLAN.md", "x");
    assert_eq!((told(&[]), told(&[])), (1, 0), "once a session");
    fs::remove_file(&plan).unwrap();
    assert_eq!(told(&[]), 0);
    sandbox.write("PLAN.md", "y");
    assert_eq!(told(&[]), 0, "once a session, however often it is made");
    assert_eq!((stop(), stop()), (json!("incomplete"), json!("released_unmet")));
    assert_eq!((told(&[("reset", key.clone())]), told(&[])), (1, 0), "a reset clears it");
    assert_eq!(stop(), json!("incomplete"), "and begins the rounds anew");
    let kinds = sandbox.lictor(&["audit", "query", "--session", "s1", "--json"]).stdout;
    assert!(kinds.contains("session.reset"), "it is on record");
}
