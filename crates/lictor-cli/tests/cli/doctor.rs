use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use lictor_agents::{Agent, Moment, slots};
use serde_json::json;

use crate::sandbox::{Run, Sandbox};

fn governed() -> Sandbox {
    let sandbox = Sandbox::bare();
    let run = sandbox.lictor(&["init", "--yes", "--git"]);
    assert_eq!(run.code, 0, "{run:?}");
    sandbox
}

fn settings(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.project().join(".claude/settings.json")).unwrap()
}

fn has_problem(run: &Run, words: &str) -> bool {
    assert_eq!(run.code, 1, "{run:?}");
    let report = run.json();
    let checks = report["checks"].as_array().unwrap();
    let problems: Vec<&serde_json::Value> =
        checks.iter().filter(|check| check["result"] == "problem").collect();
    assert!(problems.iter().all(|problem| problem["next"].as_str().is_some_and(|next| !next.is_empty())));
    problems.iter().any(|problem| problem["what"].as_str().unwrap().contains(words))
}

#[test]
fn what_init_installs_is_proven_to_block() {
    let sandbox = governed();
    let run = sandbox.lictor(&["doctor"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.contains("claude-code PreToolUse: a canary was blocked, a harmless call went through"),
        "{run:?}"
    );
    assert!(
        run.stdout.contains("the commit gate is in place") && run.stdout.contains("no problems"),
        "{run:?}"
    );
    // The canary leaves nothing on the person's record.
    assert_eq!(sandbox.lictor(&["audit", "tail"]).code, 1);
}

#[test]
fn every_agent_that_init_knows_is_proven_to_block() {
    let sandbox = Sandbox::bare();
    let agents = [
        "claude-code",
        "codex",
        "gemini-cli",
        "cursor",
        "copilot-cli",
        "opencode",
        "antigravity",
        "factory",
        "windsurf",
        "qwen-code",
        "kilo",
    ];
    let mut args = vec!["init", "--yes"];
    args.extend(agents.iter().flat_map(|agent| ["--agent", agent]));
    assert_eq!(sandbox.lictor(&args).code, 1, "Codex is not here to be asked");
    let run = sandbox.lictor(&["doctor"]);
    assert!(run.code == 1 && run.stdout.contains("codex skips hooks that nobody trusted"), "{run:?}");
    for agent in agents {
        let proven =
            run.stdout.lines().any(|line| line.starts_with("ok") && line.contains(&format!(": {agent} ")));
        assert!(proven, "{agent}: {run:?}");
    }
    // Every pre-call event is covered, including those for server tools.
    let proven: BTreeSet<&str> = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("ok"))
        .filter_map(|line| line.split(": ").nth(1))
        .collect();
    let mut asked = 0;
    for agent in Agent::ALL.into_iter().filter(|agent| agents.contains(&agent.name())) {
        for slot in slots(agent).filter(|slot| slot.moment() == Moment::PreTool) {
            let name = format!("{agent} {}", slot.event_name());
            // Reads for editor completions are not agent calls: `init` installs no hook for them.
            if name == "cursor beforeTabFileRead" {
                continue;
            }
            assert!(proven.contains(name.as_str()), "{name}: {proven:?}");
            asked += 1;
        }
    }
    assert!(asked > agents.len(), "{asked}");
}

#[test]
fn a_hook_that_does_not_block_is_found_out() {
    let sandbox = governed();
    // A program with the right name that allows everything.
    let fake = sandbox.home().join("lictor");
    let script =
        "#!/bin/sh\n[ \"$1\" = --version ] && echo lictor 0.0.1\ncase \"$*\" in *--confirm) exit 80;; esac\n";
    fs::write(&fake, script).unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let own = settings(&sandbox);
    sandbox
        .write(".claude/settings.json", &own.replace(env!("CARGO_BIN_EXE_lictor"), fake.to_str().unwrap()));
    let run = sandbox.lictor(&["doctor", "--json"]);
    assert!(has_problem(&run, "a canary went through"), "{run:?}");
    assert!(has_problem(&run, "is lictor 0.0.1, this is lictor"), "{run:?}");
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(has_problem(&sandbox.lictor(&["doctor", "--json"]), "may not be run"));
    fs::remove_file(&fake).unwrap();
    assert!(has_problem(&sandbox.lictor(&["doctor", "--json"]), "is not there"));
}

#[test]
fn entries_that_were_tampered_with_are_found() {
    let sandbox = governed();
    let own = settings(&sandbox);
    let cases = [
        (own.replace(env!("CARGO_BIN_EXE_lictor"), "bin/lictor"), "absolute path"),
        (own.replacen('{', "{\"disableAllHooks\": true,", 1), "disableAllHooks"),
        (own.replacen("\"matcher\": \"*\"", "\"matcher\": \"Bash\"", 1), "keeps the hook from running"),
        (own.replace("\"onFailure\": \"block\"", "\"onFailure\": \"allow\""), "lets the action through"),
        (own.replacen("\"PreToolUse\":", "\"PreToolUseX\":", 1), "there is no hook for `PreToolUse`"),
        (own.replace("{", "{{"), "the agent runs none of its hooks"),
    ];
    for (text, words) in cases {
        sandbox.write(".claude/settings.json", &text);
        let run = sandbox.lictor(&["doctor", "--json"]);
        assert!(has_problem(&run, words), "{words}: {run:?}");
    }
    sandbox.write(".claude/settings.json", &own);
    assert_eq!(sandbox.lictor(&["init", "--yes", "--scope", "user", "--agent", "claude-code"]).code, 0);
    assert!(has_problem(&sandbox.lictor(&["doctor", "--json"]), "claude-code runs Lictor from 2 files"));
    sandbox.write(".git/hooks/pre-commit", "#!/bin/sh\n");
    assert!(has_problem(&sandbox.lictor(&["doctor", "--json"]), "pre-commit: not what"));
}

#[test]
fn the_policy_the_record_and_ungoverned_calls_are_looked_at() {
    let sandbox = governed();
    let done = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"},
                      "tool_response": {"stdout": "", "interrupted": false}});
    assert_eq!(sandbox.claude("PostToolUse", done).code, 0);
    assert!(has_problem(
        &sandbox.lictor(&["doctor", "--json"]),
        "session claude-code:s1: 1 tool calls happened without"
    ));

    sandbox.write("governance.yaml", "version: 1\nnope: 1\n");
    let run = sandbox.lictor(&["doctor", "--json"]);
    assert!(has_problem(&run, "the policy is refused"), "{run:?}");
    assert_eq!(sandbox.claude_bash("ls").code, 2);
    assert!(has_problem(&sandbox.lictor(&["doctor", "--json"]), "could not be judged lately"));
    sandbox.write("governance.yaml", "version: 1\n");

    let state = sandbox.state();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(has_problem(&sandbox.lictor(&["doctor", "--json"]), "others can look into it"));
    fs::write(state.join("lictor.db"), "not a database, but long enough to be looked at as if it were one")
        .unwrap();
    assert!(has_problem(&sandbox.lictor(&["doctor", "--json"]), "cannot be opened"));
}

#[test]
fn without_hooks_nothing_is_governed() {
    let sandbox = Sandbox::bare();
    assert!(has_problem(&sandbox.lictor(&["doctor", "--json"]), "no agent has"));
}

#[test]
fn lictor_before_an_mcp_server_is_proven_to_refuse() {
    let sandbox = governed();
    let list = |program: &str| {
        json!({"mcpServers": {
            "files": {"command": program, "args": ["mcp", "run", "--name", "files", "--", "no-such-server"]},
            "docs": {"url": "https://mcp.example.com"},
        }})
        .to_string()
    };
    sandbox.write(".mcp.json", &list(env!("CARGO_BIN_EXE_lictor")));
    let run = sandbox.lictor(&["doctor"]);
    assert_eq!(run.code, 0, "{run:?}");
    let told = |words: &str| assert!(run.stdout.contains(words), "{words}: {run:?}");
    told("a forbidden request was refused");
    told("only hooks govern it");
    // A program that only forwards everything is not Lictor, whatever its name.
    let script = "#!/bin/sh\nexec cat\n";
    let other = sandbox.project().join("lictor");
    fs::write(&other, script).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.write(".mcp.json", &list(&other.to_string_lossy()));
    assert!(has_problem(&sandbox.lictor(&["doctor", "--json"]), "a forbidden request went through"));
}
