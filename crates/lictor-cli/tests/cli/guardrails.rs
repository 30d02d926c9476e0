//! A scripted agent under tool policies, feedback and the stop gate. Every step is a separate hook process; the
//! script sets the time.

use std::cell::Cell;
use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

/// A Claude Code that the test drives.
struct Agent {
    sandbox: Sandbox,
    /// Milliseconds.
    now: Cell<i64>,
    calls: Cell<u32>,
}

/// The result of a call.
#[derive(Debug)]
enum Call {
    /// The hook refused it, with a reason.
    Blocked(String),
    /// It ran; the message to the agent afterwards.
    Ran(String),
}

impl Call {
    #[track_caller]
    fn blocked(self) -> String {
        match self {
            Self::Blocked(reason) => reason,
            Self::Ran(_) => panic!("it was not blocked"),
        }
    }

    #[track_caller]
    fn ran(self) -> String {
        match self {
            Self::Ran(told) => told,
            Self::Blocked(reason) => panic!("it was blocked: {reason}"),
        }
    }
}

impl Agent {
    fn new(policy: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("governance.yaml", policy);
        Self { sandbox, now: Cell::new(1_700_000_000_000), calls: Cell::new(0) }
    }

    fn passes(&self, millis: i64) {
        self.now.set(self.now.get() + millis);
    }

    fn hook(&self, event: &str, fields: Value) -> Run {
        self.passes(1_000);
        let mut payload = json!({"session_id": "s1", "cwd": self.sandbox.project(), "permission_mode": "default",
                                 "hook_event_name": event, "transcript_path": "/dev/null"});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let clock = format!("LICTOR_TEST_CLOCK={}", self.now.get());
        let args = [&clock, env!("CARGO_BIN_EXE_lictor"), "hook", "claude-code", event];
        self.sandbox.program("env", &args, &payload.to_string())
    }

    /// Tries a call; `deed` is what the tool does when it may.
    fn call(&self, tool: &str, input: Value, success: bool, deed: impl FnOnce(&Sandbox)) -> Call {
        self.calls.set(self.calls.get() + 1);
        let call =
            json!({"tool_name": tool, "tool_input": input, "tool_use_id": format!("t{}", self.calls.get())});
        let before = self.hook("PreToolUse", call.clone());
        if before.code == 2 {
            return Call::Blocked(before.stderr);
        }
        assert_eq!(before.code, 0, "{before:?}");
        deed(&self.sandbox);
        let mut after = call;
        let event = if success {
            after["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false});
            "PostToolUse"
        } else {
            after["error"] = json!("exit code 1");
            "PostToolUseFailure"
        };
        let after = self.hook(event, after);
        assert_eq!(after.code, 0, "{after:?}");
        if after.stdout.is_empty() {
            return Call::Ran(String::new());
        }
        let told = after.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        Call::Ran(told)
    }

    fn read(&self, path: &str) -> Call {
        let file = self.sandbox.project().join(path);
        self.call("Read", json!({"file_path": file}), true, |_| {})
    }

    fn write(&self, path: &str, text: &str) -> Call {
        let file = self.sandbox.project().join(path);
        let input = json!({"file_path": file, "content": text});
        self.call("Write", input, true, |sandbox| sandbox.write(path, text))
    }

    fn bash(&self, command: &str) -> Call {
        self.call("Bash", json!({"command": command}), true, |_| {})
    }

    fn fails(&self, command: &str) -> Call {
        self.call("Bash", json!({"command": command}), false, |_| {})
    }

    fn prompt(&self) -> String {
        self.hook("UserPromptSubmit", json!({"prompt": "go on"})).stdout
    }

    /// Requests to stop; the missing parts, if it is sent back.
    fn stop(&self) -> Option<String> {
        self.stop_with(json!({"stop_hook_active": false}))
    }

    fn stop_with(&self, fields: Value) -> Option<String> {
        let run = self.hook("Stop", fields);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        if run.stdout.is_empty() {
            return None;
        }
        let answer = run.json();
        assert_eq!(answer["decision"], "block", "{answer}");
        Some(answer["reason"].as_str().unwrap().to_owned())
    }

    fn state(&self) -> Value {
        self.sandbox.lictor(&["session", "show", "s1", "--json"]).json()["state"].clone()
    }

    /// The result of the latest request to stop, in state and in the log.
    fn outcome(&self) -> Value {
        let last = self.state()["completion"]["last"].clone();
        let query = ["audit", "query", "--kind", "stop.checked", "--json"];
        let log = self.sandbox.lictor(&query).stdout;
        let newest = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).max_by_key(seq);
        assert_eq!(newest.unwrap()["body"]["event"]["outcome"], last, "the log says otherwise: {log}");
        last
    }
}

fn seq(record: &Value) -> u64 {
    record["seq"].as_u64().unwrap_or_default()
}

#[test]
fn a_file_is_read_before_it_is_written_and_again_when_it_changed() {
    let agent = Agent::new("version: 1\ntools: {read_before_write: true}\n");
    agent.sandbox.write("config.toml", "a = 1\n");
    let reason = agent.write("config.toml", "a = 2\n").blocked();
    assert!(reason.contains("config.toml") && reason.contains("must be read before overwriting"), "{reason}");
    agent.read("config.toml").ran();
    agent.write("config.toml", "a = 2\n").ran();
    agent.write("config.toml", "a = 3\n").ran();
    agent.sandbox.write("config.toml", "somebody = else\n");
    let reason = agent.write("config.toml", "a = 4\n").blocked();
    assert!(reason.contains("changed since it was read"), "{reason}");
    assert_eq!(fs::read_to_string(agent.sandbox.project().join("config.toml")).unwrap(), "somebody = else\n");
    agent.bash("cat config.toml").ran();
    agent.write("./config.toml", "a = 4\n").ran();
    agent.write("new.toml", "b = 1\n").ran();
    agent.write("new.toml", "b = 2\n").ran();
}

#[test]
fn nothing_is_deployed_before_the_tests_passed_nor_after_an_edit() {
    let agent = Agent::new(
        "version: 1\ntools:\n  require_first: {'bash(\"make deploy\")': ['bash(\"cargo test\")']}\n  \
         invalidate: {write: ['bash(\"cargo test\")']}\n",
    );
    let reason = agent.bash("make deploy").blocked();
    assert!(reason.contains("requires: bash(\"cargo test\")"), "{reason}");
    agent.fails("cargo test").ran();
    agent.bash("make deploy").blocked();
    agent.bash("cargo test || true").ran();
    agent.bash("make deploy").blocked();
    agent.bash("cargo test").ran();
    agent.bash("make deploy").ran();
    agent.write("src/lib.rs", "fn f() {}\n").ran();
    let reason = agent.bash("make deploy").blocked();
    assert!(reason.contains("does not count since `write`"), "{reason}");
    agent.bash("cargo test").ran();
    agent.bash("make deploy").ran();
}

#[test]
fn feedback_comes_after_so_many_calls_and_when_a_file_appears() {
    let agent = Agent::new(
        "version: 1\nfeedback:\n  - {name: pace, every_n_calls: 3, say: Take stock.}\n  \
         - {name: plan, on_file_created: PLAN.md, say: \"Follow <PLAN.md>.\"}\n  \
         - {name: old, on_file_created: README.md, say: never}\n  \
         - {name: broken, every_n_calls: 1, command: [scripts/feedback.sh]}\n",
    );
    agent.sandbox.write("README.md", "was there before\n");
    assert_eq!(agent.bash("ls").ran(), "");
    assert_eq!(agent.bash("ls -a").ran(), "");
    assert_eq!(agent.bash("ls -l").ran(), "<feedback provider='pace'>\nTake stock.\n</feedback>");
    assert_eq!(
        agent.write("PLAN.md", "1. do\n").ran(),
        "<feedback provider='plan'>\nFollow &lt;PLAN.md&gt;.\n</feedback>"
    );
    fs::remove_file(agent.sandbox.project().join("PLAN.md")).unwrap();
    assert_eq!(agent.bash("ls").ran(), "");
    assert!(agent.write("PLAN.md", "again\n").ran().contains("'pace'"), "only the cadence speaks");
    let log = agent.sandbox.lictor(&["audit", "query", "--kind", "feedback.given", "--json"]).stdout;
    assert_eq!(log.matches("nobody has trusted").count(), 3, "three faults, then it is left alone: {log}");
}

#[test]
fn a_run_of_failures_is_remarked_upon() {
    let agent = Agent::new("version: 1\nfeedback:\n  - {name: stall, failures: 2}\n");
    assert_eq!(agent.fails("make").ran(), "");
    assert!(agent.fails("make").ran().contains("The last 2 calls failed."));
    agent.bash("make").ran();
    assert_eq!(agent.fails("make").ran(), "");
}

#[test]
fn an_agent_does_not_stop_before_its_report_is_there() {
    let agent = Agent::new("version: 1\ncompletion: {files: [report.md]}\n");
    let reason = agent.stop().unwrap();
    assert!(reason.contains("1 required output file(s) not found: report.md"), "{reason}");
    assert_eq!(agent.outcome()["is"], "incomplete");
    agent.sandbox.write("report.md", "");
    let reason = agent.stop_with(json!({"stop_hook_active": true})).unwrap();
    assert!(reason.contains("are empty: report.md") && reason.contains("round 2 of 6"), "{reason}");
    agent.sandbox.write("report.md", "done\n");
    assert_eq!(agent.stop(), None);
    assert_eq!(agent.outcome(), json!({"is": "complete"}));
}

#[test]
fn an_agent_that_hands_in_its_answer_too_early_hears_so_at_once() {
    let agent = Agent::new("version: 1\ncompletion: {files: [report.md]}\n");
    let after = || {
        agent.sandbox.claude(
            "PostToolUse",
            json!({"tool_name": "StructuredOutput", "tool_input": {"answer": "done"}, "tool_response": "ok"}),
        )
    };
    let run = after();
    let told = run.json()["hookSpecificOutput"]["additionalContext"].clone();
    let told = told.as_str().unwrap_or_default();
    assert!(told.contains("not finished") && told.contains("report.md"), "{run:?}");
    // A check without a stop is not a round of the stop gate.
    let reason = agent.stop().unwrap();
    assert!(reason.contains("round 1 of 6"), "{reason}");
    agent.sandbox.write("report.md", "done\n");
    assert_eq!(after().stdout, "");
}

#[test]
fn an_agent_does_not_stop_while_tests_fail_and_a_pass_counts_for_its_tree_only() {
    let agent = Agent::new("version: 1\ncompletion: {command: [scripts/test.sh], timeout: 30s}\n");
    let script = "#!/bin/sh\necho run >> .git/runs\ngrep -q fixed src.txt || { echo 'assertion failed: left'; exit 3; }\n";
    agent.sandbox.write("scripts/test.sh", script);
    agent.sandbox.write("src.txt", "broken\n");
    agent.sandbox.program("chmod", &["+x", "scripts/test.sh"], "");
    for command in ["check", "doctor"] {
        let told = agent.sandbox.lictor(&[command]);
        assert!(told.stdout.contains("lictor trust"), "{command}: {told:?}");
    }
    let reason = agent.stop().unwrap();
    assert!(reason.contains("nobody has trusted"), "{reason}");
    assert!(reason.contains("tell the person") && !reason.contains("do what is missing"), "{reason}");
    // Only a person can do something about it: the agent is not sent back again.
    assert_eq!(agent.stop_with(json!({"stop_hook_active": true})), None);
    assert_eq!(agent.outcome()["is"], "released_unmet");
    assert_eq!(agent.sandbox.lictor(&["trust", "--yes"]).code, 0);
    agent.prompt();
    let reason = agent.stop().unwrap();
    assert!(reason.contains("exit code 3") && reason.contains("assertion failed: left"), "{reason}");
    agent.write("src.txt", "fixed\n").ran();
    assert_eq!(agent.stop(), None);
    let runs = || fs::read_to_string(agent.sandbox.project().join(".git/runs")).unwrap().lines().count();
    assert_eq!(runs(), 2);
    assert_eq!(agent.stop(), None);
    assert_eq!(runs(), 2, "the same tree was tested already");
    agent.sandbox.write("untracked.txt", "x\n");
    assert_eq!(agent.stop(), None);
    assert_eq!(runs(), 3, "another tree");
}

#[test]
fn without_progress_the_agent_is_let_go_and_that_is_on_record() {
    let agent = Agent::new("version: 1\ncompletion: {files: [report.md]}\n");
    for round in 1..=3 {
        let reason = agent.stop_with(json!({"stop_hook_active": round > 1})).unwrap();
        assert!(reason.contains(&format!("round {round} of 6")), "{reason}");
    }
    assert_eq!(agent.stop_with(json!({"stop_hook_active": true})), None);
    let outcome = agent.outcome();
    assert_eq!((&outcome["is"], &outcome["why"]), (&json!("released_unmet"), &json!("no_progress")));
    assert!(outcome["reasons"][0].as_str().unwrap().contains("report.md"));
    let shown = agent.sandbox.lictor(&["session", "show", "s1"]).stdout;
    assert!(shown.contains("stopped with something missing (it made no progress)"), "{shown}");
    let told = agent.prompt();
    assert!(told.contains("The last turn ended unfinished"), "{told}");
    assert!(agent.stop().unwrap().contains("round 1 of 6"), "a prompt begins anew");
}

#[test]
fn progress_is_rewarded_until_the_rounds_are_used_up() {
    let policy = "version: 1\ncompletion:\n  all: [{files: [a, b, c]}]\n  max_rounds: 2\n";
    let agent = Agent::new(policy);
    assert!(agent.stop().unwrap().contains("3 required output file(s) not found: a, b, c"));
    agent.sandbox.write("a", "1");
    // Reporting no active hook does not reset the rounds.
    assert!(agent.stop().unwrap().contains("2 required"));
    agent.sandbox.write("b", "1");
    assert_eq!(agent.stop(), None);
    assert_eq!(agent.outcome()["why"], "cap");
}

#[test]
fn work_in_the_background_is_waited_for() {
    let agent = Agent::new("version: 1\ncompletion: {files: [report.md]}\n");
    let tasks = json!([{"id": "b1", "type": "shell", "status": "running", "description": "make report"}]);
    assert_eq!(agent.stop_with(json!({"stop_hook_active": false, "background_tasks": tasks})), None);
    assert_eq!(agent.outcome()["why"], "background_work");
    assert!(agent.stop().is_some(), "nothing runs any more and nothing was written");
}

#[test]
fn after_the_deadline_nothing_is_asked_and_that_is_on_record() {
    let agent = Agent::new(
        "version: 1\nfeedback:\n  - {name: clock, deadline: 45m, warn_below: 120s, every_n_calls: 1}\n\
         completion: {files: [report.md]}\n",
    );
    let told = agent.bash("ls").ran();
    assert!(told.contains("You have 44 minutes remaining to complete the task."), "{told}");
    assert!(agent.stop().is_some());
    agent.passes(44 * 60_000);
    let told = agent.bash("ls").ran();
    assert!(told.contains("→ Prioritize completing critical remaining work."), "{told}");
    agent.passes(60_000);
    let told = agent.bash("ls").ran();
    assert!(told.contains("The time deadline has been reached."), "{told}");
    assert_eq!(agent.stop(), None);
    assert_eq!(agent.outcome(), json!({"is": "bypassed", "cause": "deadline"}));
}

#[test]
fn what_a_session_must_change_and_tick_off_is_asked_for() {
    let agent = Agent::new("version: 1\ncompletion: {all: [{changed: [CHANGELOG.md]}, {todos: done}]}\n");
    agent.sandbox.write("CHANGELOG.md", "old\n");
    agent.hook("SessionStart", json!({"source": "startup"}));
    let reason = agent.stop().unwrap();
    assert!(reason.contains("were not changed in this session: CHANGELOG.md"), "{reason}");
    agent.write("CHANGELOG.md", "new\n").ran();
    let todos = |status: &str| json!({"todos": [{"content": "tidy up", "status": status}]});
    agent.call("TodoWrite", todos("pending"), true, |_| {}).ran();
    let reason = agent.stop().unwrap();
    assert!(reason.contains("1 item(s) of your own list are open: tidy up"), "{reason}");
    agent.call("TodoWrite", todos("completed"), true, |_| {}).ran();
    assert_eq!(agent.stop(), None);
}

#[test]
fn a_list_that_is_written_a_task_at_a_time_is_asked_for_too() {
    let agent = Agent::new("version: 1\ncompletion: {todos: done}\n");
    for subject in ["tidy up", "test"] {
        agent.call("TaskCreate", json!({"subject": subject, "description": "x"}), true, |_| {}).ran();
    }
    let reason = agent.stop().unwrap();
    assert!(reason.contains("2 item(s) of your own list are open: tidy up, test"), "{reason}");
    let change = |id: &str, status: &str| {
        agent.call("TaskUpdate", json!({"taskId": id, "status": status}), true, |_| {}).ran();
    };
    change("1", "completed");
    change("1", "completed");
    change("2", "in_progress");
    let reason = agent.stop().unwrap();
    assert!(reason.contains("1 item(s) of your own list are open: test"), "{reason}");
    change("2", "completed");
    assert_eq!(agent.stop(), None);
}

#[test]
fn findings_about_code_that_is_gone_hold_nobody_up() {
    let agent = Agent::new("version: 1\ncompletion: {findings: {below: HIGH}}\n");
    agent.sandbox.write("src/a.py", "fine()\nbad()\n");
    let claim =
        ["verdict", "record", "--plan-hash", "p", "--level", "HIGH", "--title", "no good", "--agent", "sec"];
    let run = agent.sandbox.lictor(&[&claim[..], &["--evidence", "src/a.py:2"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(agent.stop().unwrap().contains("no good"));
    agent.sandbox.write("src/a.py", "other()\nfine()\nbad()\n");
    assert!(agent.stop().unwrap().contains("no good"), "the line has only moved");
    agent.sandbox.write("src/a.py", "other()\nfine()\ngood()\n");
    assert_eq!(agent.stop(), None);
}

#[test]
fn a_policy_that_only_observes_says_when_it_would_have_sent_the_agent_back() {
    let agent = Agent::new("version: 1\ncompletion: {files: [report.md]}\n");
    let user = agent.sandbox.home().join(".config/lictor");
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("governance.yaml"), "version: 1\nmode: observe\n").unwrap();
    assert_eq!(agent.stop(), None);
    let record = agent.sandbox.lictor(&["audit", "query", "--kind", "stop.checked", "--json"]).json();
    assert_eq!(record["body"]["event"]["observed"], true, "{record}");
    let report = agent.sandbox.lictor(&["audit", "report"]).stdout;
    assert!(report.contains("1 would have been stopped") && report.contains("report.md"), "{report}");
    agent.sandbox.write("report.md", "done\n");
    assert_eq!(agent.stop(), None);
    let report = agent.sandbox.lictor(&["audit", "report", "--json"]).json();
    assert_eq!(report["would_stop"], 1, "what is complete is not one of them: {report}");
}

#[test]
fn a_subagent_has_its_own_gate() {
    let policy = "version: 1\ncompletion:\n  files: [report.md]\n  subagents: {files: [notes.md]}\n";
    let agent = Agent::new(policy);
    agent.hook("SubagentStart", json!({"agent_id": "a1", "agent_type": "explore"}));
    let wish = json!({"agent_id": "a1", "agent_type": "explore", "stop_hook_active": false});
    let run = agent.hook("SubagentStop", wish.clone());
    assert!(run.stdout.contains("notes.md") && !run.stdout.contains("report.md"), "{run:?}");
    agent.sandbox.write("notes.md", "x\n");
    assert_eq!(agent.hook("SubagentStop", wish).stdout, "");
    assert!(agent.stop().unwrap().contains("report.md"), "and the main agent its own");
}

/// A run that does not count is explained by its outcome, with a fix that helps.
#[test]
fn why_a_command_did_not_count_is_the_cause_that_was_seen() {
    let policy = "version: 1\ntools: {require_first: {bash(\"git push\"): [bash(\"cargo test\")]}}\n";
    for line in ["cargo test; echo $?", "cargo test & wait", "cargo test | tail -3", "cargo test || true"] {
        let agent = Agent::new(policy);
        agent.bash(line).ran();
        let told = agent.bash("git push").blocked();
        assert!(told.contains("does not tell how it ended") && !told.contains("failed"), "{line}: {told}");
        assert!(told.contains("`cargo test` succeed first on a line of its own"), "{line}: {told}");
    }
    let agent = Agent::new(policy);
    agent.fails("cargo test").ran();
    let told = agent.bash("git push").blocked();
    assert!(told.contains("`bash(\"cargo test\")` was seen, but its line failed\n"), "{told}");
    assert!(!told.contains("this agent") && !told.contains("line of its own"), "{told}");
}
