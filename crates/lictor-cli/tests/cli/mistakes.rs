//! Common mistakes in a policy: each gives one message, at its place, with a correction. The mistakes and
//! messages are in `mistakes.jsonl`.

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

/// Typos on the command line get a suggestion.
#[test]
fn every_wrong_word_is_answered_with_a_way_on() {
    let sandbox = Sandbox::bare();
    sandbox.claude_bash("ls");
    for (args, said) in [
        (&["lgo"][..], "did you mean `log`?"),
        (&["audit", "qurey"], "query"),
        (&["upgrade"], "`lictor help upgrade`"),
        (&["nonsense"], "`lictor help` lists them"),
        (&["log", "--rule", "git.discrd"], "did you mean `git.discard-work`?"),
        (&["log", "-n", "abc"], "write a number from 1 on"),
        (&["log", "-n", "0"], "write a number from 1 on"),
        (&["allow", "abc"], "the number that Lictor gave"),
        (&["wrong", "abc"], "the number that Lictor gave"),
        (&["audit", "query", "--limit", "x"], "write a number from 1 on"),
        (&["audit", "query", "--kind", "evalated"], "did you mean `evaluated`?"),
        (&["test", "nofile"], "there is no such file"),
        (&["import", "nofile"], "there is no such file"),
        (&["council", "report", "--plan-hash", "abc", "--reviewer", "x", "--token", "t"], "--findings"),
    ] {
        let run = sandbox.lictor(args);
        assert!(run.code == 64 && run.stderr.contains(said), "{args:?}: {run:?}");
        assert!(!run.stderr.contains("invalid digit"), "{args:?}: {run:?}");
    }
    for kind in ["council.answered", "council.summoned", "gate.judged", "exception.added"] {
        let run = sandbox.lictor(&["audit", "query", "--kind", kind]);
        assert_eq!(run.code, 0, "{kind}: {run:?}");
    }
}

/// A kind that is one slip away from a known one is a mistake, unless the policy knows it.
#[test]
fn a_mistyped_kind_of_action_is_no_unknown_tool() {
    let sandbox = Sandbox::bare();
    let line = |kind: &str| format!("{{\"kind\": \"{kind}\", \"payload\": {{\"command\": \"ls\"}}}}\n");
    sandbox.write("calls.jsonl", &(line("bsh") + &line("deploy") + "{\"kind\": }\n"));
    let run = sandbox.lictor(&["eval", "--batch", "calls.jsonl", "--json"]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(
        run.code == 64 && lines[0].contains("line 1: `bsh` is not a kind of action; did you mean `bash`?")
    );
    assert!(lines[1].contains("\"decision\":\"ask\""), "{run:?}");
    assert!(lines[2].contains("line 3: it goes wrong at character"), "{run:?}");
    let call = format!(
        "{{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"evaluate\", \"params\": {{\"action\": {}}}}}\n",
        line("bsh").trim()
    );
    let told = sandbox.lictor_with(&["rpc"], &call).json();
    assert_eq!(told["error"]["data"]["kind"], "invalid_params", "{told}");
    // A person's own kind may be called so.
    let own = "version: 1\ndescribe: {tools: {bsh: {verb: read, object: file}}}\n";
    sandbox.write_at(&sandbox.home().join(".config/lictor/governance.yaml"), own);
    let run = sandbox.lictor(&["eval", "--batch", "calls.jsonl", "--json"]);
    assert!(!run.stdout.contains("did you mean"), "{run:?}");
}
