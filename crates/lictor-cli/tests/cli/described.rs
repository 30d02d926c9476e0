//! Users' descriptions of their own tools, through real hooks: tools that submit tasks, own verbs and objects,
//! and commands whose outcome an agent does not report.

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

fn governed(user: &str, repository: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_at(&sandbox.home().join(".config/lictor/governance.yaml"), user);
    if !repository.is_empty() {
        sandbox.write("governance.yaml", repository);
    }
    sandbox
}

fn call(sandbox: &Sandbox, tool: &str, input: &Value) -> Run {
    sandbox.claude("PreToolUse", json!({"tool_name": tool, "tool_input": input}))
}

fn done(sandbox: &Sandbox, tool: &str, input: &Value) {
    let fields = json!({"tool_name": tool, "tool_input": input, "tool_response": {}});
    assert_eq!(sandbox.claude("PostToolUse", fields).code, 0);
}

/// Why a call was stopped; empty for one that passed.
fn refusal(run: &Run) -> String {
    if run.code == 0 && run.stdout.is_empty() {
        String::new()
    } else {
        format!("{}{}", run.stdout, run.stderr)
    }
}

#[test]
fn a_tool_of_an_agent_submits_tasks() {
    let sandbox = governed(
        "version: 1
describe:
  tools:
    mcp__queue__submit: {kind: submit_task, task_type: job.type}
intent:
  - {for: deploy, require: 'has(payload.ticket)', reason: a deploy needs a ticket, fix: name the ticket}
  - {for: report}
tools:
  require_first: {deploy: [report]}
budget: {max_tasks: 2}
",
        "",
    );
    let submit = |body: Value| call(&sandbox, "mcp__queue__submit", &body);
    let report = json!({"job": {"type": "report"}});
    let refused = |body: Value, why: &str| {
        let said = refusal(&submit(body.clone()));
        assert!(said.contains(why), "{body}: {said}");
    };
    refused(json!({"job": {"type": "deploy"}}), "a deploy needs a ticket");
    refused(json!({"job": {"type": "deploy"}, "ticket": "OPS-1"}), "requires: report");
    refused(json!({"job": {"type": "purge"}}), "purge");
    refused(json!({}), "task");
    assert_eq!(refusal(&submit(report.clone())), "");
    done(&sandbox, "mcp__queue__submit", &report);
    // This is the last of two allowed tasks, and the message says so.
    let deploy = json!({"job": {"type": "deploy"}, "ticket": "OPS-1"});
    let last = submit(deploy.clone());
    assert!(last.code == 0 && !last.stdout.contains("deny"), "{last:?}");
    done(&sandbox, "mcp__queue__submit", &deploy);
    refused(report, "tasks");
    let state = sandbox.lictor(&["session", "show", "s1", "--json"]).json()["state"].clone();
    assert_eq!((&state["task_count"], &state["success_count"]), (&json!(2), &json!(2)), "{state}");
    assert_eq!(state["ungoverned_count"], 0, "what happened is what was judged");
}

#[test]
fn a_repository_does_not_change_what_kind_of_action_a_tool_is() {
    let no_tools = "version: 1
guards:
  no_tools: {expr: 'action.kind != \"tool\"', reason: no tools here, fix: use a command}
policy: no_tools
known_tools: {known: [mcp__queue__submit]}
";
    let sandbox = governed(no_tools, "");
    assert!(refusal(&call(&sandbox, "mcp__queue__submit", &json!({"type": "x"}))).contains("no tools here"));
    sandbox.write(
        "governance.yaml",
        "version: 1\ndescribe: {tools: {mcp__queue__submit: {kind: submit_task, task_type: type}}}\n",
    );
    let checked = sandbox.lictor(&["check"]);
    assert!(
        checked.code != 0 && checked.stdout.contains("cannot say that a tool submits tasks"),
        "{checked:?}"
    );
    assert_ne!(refusal(&call(&sandbox, "mcp__queue__submit", &json!({"type": "x"}))), "");
}

#[test]
fn policies_are_about_words_of_ones_own() {
    let user = "version: 1
describe:
  verbs: [promote]
  objects: [model]
  tools: {mcp__ml__promote: {verb: promote, object: model}}
  programs: {mlctl: {commands: [{words: 'promote *', verb: promote, object: model}]}}
policies:
  - {name: promotions, on: {verb: promote, object: model}, effect: block, message: '{verb} of a {object}'}
";
    // A repository that has policies of its own knows the words too: nothing is blocked for being unknown.
    let other = "version: 1\npolicies: [{name: deletes, on: {verb: delete, object: file}, effect: block}]\n";
    for repository in ["", other] {
        let sandbox = governed(user, repository);
        let told = refusal(&call(&sandbox, "mcp__ml__promote", &json!({"name": "m"})));
        assert!(told.contains("promote of a model") && !told.contains("catalogue"), "{told}");
        let told = refusal(&sandbox.claude_bash("mlctl promote m"));
        assert!(told.contains("promote of a model"), "{told}");
    }
    let sandbox = governed(&user.replace("effect: block", "effect: inform"), other);
    let told = call(&sandbox, "mcp__ml__promote", &json!({"name": "m"}));
    assert!(told.code == 0 && !told.stdout.contains("deny"), "{told:?}");
    // An undeclared word is an error with the way to declare it.
    let sandbox = governed("version: 1\ndescribe: {tools: {x: {verb: promote, object: file}}}\n", "");
    let checked = sandbox.lictor(&["check"]);
    assert!(checked.code != 0 && checked.stdout.contains("describe: {verbs: [promote]}"), "{checked:?}");
}

#[test]
fn what_an_agent_never_reports_is_not_required_of_it() {
    let rule = "require_first: {bash(\"git push\"): [bash(\"cargo test\")]}";
    let policy = |more: &str| format!("version: 1\ntools: {{{rule}{more}}}\n");
    for (more, fine) in [
        (", for: {agent: codex}", false),
        (", for: {agent: [codex, windsurf]}", false),
        (", for: {agent: [codex, claude-code]}", true),
        (", for: {agent: codex}, unreported: ran", true),
        ("", true),
    ] {
        let checked = governed(&policy(more), "").lictor(&["check"]);
        assert_eq!(checked.code == 0, fine, "{more}: {checked:?}");
        assert!(fine || checked.stdout.contains("does not report how commands end"), "{more}: {checked:?}");
    }
    let pushes = |more: &str| {
        let sandbox = governed(&policy(more), "");
        let event = |name: &str, command: &str, id: &str| {
            let fields = json!({"session_id": "s", "cwd": sandbox.project(), "hook_event_name": name, "turn_id": "t",
                "model": "m", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
                "tool_response": "ok"});
            sandbox.lictor_with(&["hook", "codex"], &fields.to_string())
        };
        event("PreToolUse", "cargo test", "1");
        event("PostToolUse", "cargo test", "1");
        event("PreToolUse", "git push", "2")
    };
    let refused = pushes("");
    assert!(refused.stdout.contains("codex does not report how commands end"), "{refused:?}");
    assert!(refused.stdout.contains("this agent does not say how it ended"), "{refused:?}");
    assert!(!refused.stdout.contains("line of its own"), "advice that cannot help: {refused:?}");
    for more in [", unreported: ran", ", for: {agent: codex}, unreported: ran"] {
        assert!(!pushes(more).stdout.contains("deny"), "{more}");
    }
}
