//! A policy that changes while a session runs: stricter rules apply at once, relaxed rules wait.

use std::fs;

use lictor::{Options, Project};
use lictor_store::{Durability, Keys, Space, StoreExt as _};
use serde_json::json;

use crate::sandbox::{Run, Sandbox};

const NO_DEPLOY: &str = "version: 1\nbash_safety: {blocked_patterns: ['make deploy']}\n";

fn bash(sandbox: &Sandbox, session: &str, command: &str) -> Run {
    let fields = json!({"session_id": session, "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": command});
    sandbox.claude("PreToolUse", fields)
}

fn done(sandbox: &Sandbox, session: &str, command: &str) {
    let fields = json!({"session_id": session, "tool_name": "Bash", "tool_input": {"command": command},
                        "tool_use_id": command, "tool_response": {"stdout": "", "interrupted": false}});
    assert_eq!(sandbox.claude("PostToolUse", fields).code, 0);
}

fn changes(sandbox: &Sandbox) -> usize {
    sandbox.lictor(&["audit", "query", "--kind", "policy.changed"]).stdout.lines().count()
}

#[test]
fn what_is_loosened_waits_for_the_next_session_or_a_person() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", NO_DEPLOY);
    assert_eq!(bash(&sandbox, "s1", "make deploy").code, 2);
    sandbox.write("governance.yaml", "version: 1\n");
    let run = bash(&sandbox, "s1", "make deploy");
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(bash(&sandbox, "s2", "make deploy").code, 0, "a new session begins under the policy of now");

    let run = bash(&sandbox, "s1", "ls");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("policy of this project has changed"), "the agent is told: {run:?}");
    assert_eq!(bash(&sandbox, "s1", "ls -l").stdout, "", "once");
    assert_eq!(changes(&sandbox), 1);
    let show = sandbox.lictor(&["session", "show", "s1"]).stdout;
    assert!(show.contains("lictor session refresh s1"), "{show}");
    assert!(!sandbox.lictor(&["session", "show", "s2"]).stdout.contains("refresh"));
    let explained = sandbox.lictor(&["audit", "query", "--session", "claude-code:s1", "--json"]).stdout;
    assert!(explained.contains(r#""guard":"before.bash_safety""#), "the rule is told apart: {explained}");

    let refresh = sandbox.lictor(&["session", "refresh", "s1"]);
    assert_eq!(refresh.code, 0, "{refresh:?}");
    assert!(refresh.stdout.contains("s1 goes on under the current policy"), "{refresh:?}");
    assert_eq!(bash(&sandbox, "s1", "make deploy").code, 0);
    assert!(!sandbox.lictor(&["session", "show", "s1"]).stdout.contains("refresh"));
    assert!(sandbox.lictor(&["session", "refresh"]).stdout.contains("nothing to do"));
    assert_eq!(sandbox.lictor(&["audit", "verify"]).code, 0);
}

#[test]
fn what_is_tightened_holds_at_once() {
    let sandbox = Sandbox::new();
    assert_eq!(bash(&sandbox, "s1", "make deploy").code, 0);
    sandbox.write("governance.yaml", NO_DEPLOY);
    let run = bash(&sandbox, "s1", "make deploy now");
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(changes(&sandbox), 1);
    fs::remove_file(sandbox.project().join("governance.yaml")).unwrap();
    assert_eq!(
        bash(&sandbox, "s1", "make deploy again").code,
        2,
        "what was tightened is not loosened by going back"
    );
    assert_eq!(changes(&sandbox), 2, "and that is reported too");
    let show = sandbox.lictor(&["session", "show", "s1"]).stdout;
    assert!(show.contains("lictor session refresh s1"), "{show}");
    assert_eq!(sandbox.lictor(&["session", "refresh"]).code, 0);
    assert_eq!(bash(&sandbox, "s1", "make deploy").code, 0, "a person may go back");
}

fn forbid(sandbox: &Sandbox, pattern: &str) {
    let policy = format!("version: 1\nbash_safety: {{blocked_patterns: ['{pattern}']}}\n");
    sandbox.write("governance.yaml", &policy);
}

#[test]
fn what_any_policy_has_forbidden_on_the_way_stays_forbidden() {
    let sandbox = Sandbox::new();
    for target in ["one", "two", "three"] {
        forbid(&sandbox, &format!("make {target}"));
        assert_eq!(bash(&sandbox, "s1", "ls").code, 0);
    }
    for target in ["one", "two", "three"] {
        let run = bash(&sandbox, "s1", &format!("make {target}"));
        assert_eq!(run.code, 2, "{target}: {run:?}");
    }
    assert_eq!(bash(&sandbox, "s1", "make four").code, 0);
    let below = json!({"session_id": "s1", "agent_id": "a7", "agent_type": "Explore", "tool_name": "Bash",
                       "tool_input": {"command": "make two"}});
    assert_eq!(sandbox.claude("PreToolUse", below).code, 2, "a subagent that begins later");
    let names = sandbox.lictor(&["audit", "query", "--session", "claude-code:s1", "--json"]).stdout;
    for name in [r#""before.bash_safety""#, r#""before2.bash_safety""#, r#""bash_safety""#] {
        assert!(names.contains(&format!(r#""guard":{name}"#)), "{name}");
    }
    assert_eq!(bash(&sandbox, "s2", "make two").code, 0, "a session that has not seen it");
    assert_eq!(sandbox.lictor(&["session", "refresh", "s1"]).code, 0);
    assert_eq!(bash(&sandbox, "s1", "make two").code, 0);
    assert_eq!(bash(&sandbox, "s1", "make three").code, 2);
    assert_eq!(sandbox.lictor(&["audit", "verify"]).code, 0);
}

#[test]
fn more_changes_than_can_be_remembered_wait_for_a_person() {
    let sandbox = Sandbox::new();
    for change in 0..=16 {
        forbid(&sandbox, &format!("make {change}"));
        assert_eq!(bash(&sandbox, "s1", "ls").code, 0, "{change}");
    }
    assert_eq!(bash(&sandbox, "s1", "make 7").code, 2);
    forbid(&sandbox, "make 17");
    // The change is detected during this call, so it is known from the next call on.
    bash(&sandbox, "s1", "ls");
    assert_eq!(bash(&sandbox, "s1", "ls").code, 2);
    let told = sandbox.lictor(&["explain"]).stdout;
    assert!(told.contains("changed more than 16 times") && told.contains("lictor session refresh"), "{told}");
    assert_eq!(sandbox.lictor(&["session", "refresh", "s1"]).code, 0);
    assert_eq!(bash(&sandbox, "s1", "ls").code, 0);
}

#[test]
fn an_earlier_policy_is_compiled_once_and_its_compiled_form_is_never_trusted() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", NO_DEPLOY);
    assert_eq!(bash(&sandbox, "s1", "ls").code, 0);
    sandbox.write("governance.yaml", "version: 1\n");
    assert_eq!(bash(&sandbox, "s1", "make deploy").code, 2);
    let compiled = || {
        let files = fs::read_dir(sandbox.state().join("policies")).unwrap();
        let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "bin"));
        files.into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect::<Vec<_>>()
    };
    let made = compiled();
    assert!(!made.is_empty());
    let of_now = fs::read(sandbox.state().join("policy.bin")).unwrap();
    for damage in [b"".as_slice(), b"lictor policy 02", &of_now] {
        for (_, file) in &made {
            fs::write(file, damage).unwrap();
        }
        assert_eq!(bash(&sandbox, "s1", "make deploy").code, 2);
        assert!(compiled() == made, "a damaged one is made anew");
    }
}

#[test]
fn a_policy_that_is_deleted_stays_in_force() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", NO_DEPLOY);
    assert_eq!(bash(&sandbox, "s1", "ls").code, 0);
    fs::remove_file(sandbox.project().join("governance.yaml")).unwrap();
    assert_eq!(bash(&sandbox, "s1", "make deploy").code, 2);
    assert_eq!(bash(&sandbox, "s1", "ls -l").code, 0);
    let all = sandbox.lictor(&["session", "refresh"]);
    assert!(all.stdout.contains("session claude-code:s1"), "{all:?}");
    assert_eq!(bash(&sandbox, "s1", "make deploy").code, 0);
}

#[test]
fn subagents_keep_to_the_policy_of_the_agent_that_started_them() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", NO_DEPLOY);
    assert_eq!(bash(&sandbox, "s1", "ls").code, 0);
    sandbox.write("governance.yaml", "version: 1\n");
    let below = |command: &str| {
        let fields = json!({"session_id": "s1", "agent_id": "a7", "agent_type": "Explore", "tool_name": "Bash",
                            "tool_input": {"command": command}});
        sandbox.claude("PreToolUse", fields).code
    };
    assert_eq!(below("make deploy"), 2, "although its session begins after the change");
    sandbox.lictor(&["session", "refresh", "s1"]);
    assert_eq!(below("make deploy"), 0);
}

#[test]
fn a_policy_that_a_session_knows_by_a_refresh_alone_is_found_again() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", NO_DEPLOY);
    assert_eq!(bash(&sandbox, "s1", "ls").code, 0);
    forbid(&sandbox, "make two");
    assert_eq!(sandbox.lictor(&["session", "refresh", "s1"]).code, 0);
    assert_eq!(bash(&sandbox, "s1", "make deploy").code, 0);
    forbid(&sandbox, "make three");
    let run = bash(&sandbox, "s1", "ls");
    assert_eq!(run.code, 0, "{run:?}");
    for command in ["make two", "make three"] {
        assert_eq!(bash(&sandbox, "s1", command).code, 2, "{command}");
    }
}

#[test]
fn an_agent_cannot_refresh_its_own_session() {
    let sandbox = Sandbox::new();
    for command in ["lictor session refresh", "lictor session refresh s1", "lictor session --cwd . refresh"] {
        assert_eq!(bash(&sandbox, "s1", command).code, 2, "{command}");
    }
    assert_eq!(bash(&sandbox, "s1", "lictor session show s1").code, 0);
}

#[test]
fn a_policy_that_is_lost_blocks_until_a_person_refreshes() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", NO_DEPLOY);
    assert_eq!(bash(&sandbox, "s1", "ls").code, 0);
    let options = Options::new().home(sandbox.home());
    let store = Project::around(&sandbox.project(), &options).store().unwrap();
    let removed = store.update(Durability::Process, |tx| {
        let kept = tx.scan(Space::Policy, &Keys::prefix("text "))?;
        for (name, text) in &kept {
            assert!(String::from_utf8_lossy(text).contains("make deploy"));
            tx.delete(Space::Policy, name)?;
        }
        Ok(kept.len())
    });
    assert_eq!(removed.unwrap(), 1);
    assert_eq!(bash(&sandbox, "s1", "ls").code, 0, "nothing needs it while the policy stays");
    sandbox.write("governance.yaml", "version: 1\n");
    let run = bash(&sandbox, "s1", "ls");
    assert_eq!(run.code, 2, "{run:?}");
    // The person reads what to do; the agent could not do it.
    assert!(!run.stderr.contains("lictor session refresh"), "{run:?}");
    let told = sandbox.lictor(&["explain"]);
    assert!(told.stdout.contains("lictor session refresh"), "{told:?}");
    sandbox.lictor(&["session", "refresh", "s1"]);
    assert_eq!(bash(&sandbox, "s1", "ls").code, 0);
}

#[test]
fn a_new_rule_knows_what_happened_before_it() {
    let sandbox = Sandbox::new();
    assert_eq!(bash(&sandbox, "s1", "cargo test").code, 0);
    done(&sandbox, "s1", "cargo test");
    assert_eq!(bash(&sandbox, "s2", "cargo doc").code, 0);
    // Judged before the change, finished after it.
    assert_eq!(bash(&sandbox, "s3", "cargo test").code, 0);
    sandbox.write(
        "governance.yaml",
        "version: 1\ntools:\n  require_first:\n    bash(\"make deploy\"): [bash(\"cargo test\")]\n",
    );
    assert_eq!(bash(&sandbox, "s2", "make deploy").code, 2, "nothing was tested here");
    let run = bash(&sandbox, "s1", "make deploy");
    assert_eq!(run.code, 0, "the tests passed before the rule was there: {run:?}");
    assert_eq!(bash(&sandbox, "s3", "make deploy").code, 2, "the tests are not over");
    done(&sandbox, "s3", "cargo test");
    assert_eq!(bash(&sandbox, "s3", "make deploy").code, 0);
    sandbox.write("governance.yaml", "version: 1\nguards:\n  quiet: {expr: '!formerly(bash(\"cargo doc\"))', reason: no, fix: no}\npolicy: quiet\n");
    assert_eq!(bash(&sandbox, "s2", "ls").code, 2, "it was done once");
    assert_eq!(bash(&sandbox, "s1", "ls").code, 0);
    sandbox.lictor(&["session", "refresh"]);
    assert_eq!(bash(&sandbox, "s2", "ls").code, 2, "and a refresh does not forget it");
    assert_eq!(sandbox.lictor(&["audit", "verify"]).code, 0);
}

#[test]
fn observing_waits_too() {
    let sandbox = Sandbox::new();
    assert_eq!(bash(&sandbox, "s1", "rm -rf ~").code, 2);
    let user = sandbox.home().join(".config/lictor");
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("governance.yaml"), "version: 1\nmode: observe\n").unwrap();
    assert_eq!(bash(&sandbox, "s1", "rm -rf ~").code, 2, "this session is enforced to its end");
    assert_eq!(bash(&sandbox, "s2", "rm -rf ~").code, 0);
    fs::remove_file(user.join("governance.yaml")).unwrap();
    assert_eq!(bash(&sandbox, "s2", "rm -rf ~").code, 2, "enforcing is stricter");
}

#[test]
fn what_has_to_be_done_before_stopping_stays_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\ncompletion: {files: [report.md]}\n");
    let stop = || sandbox.claude("Stop", json!({"session_id": "s1", "stop_hook_active": false}));
    assert_eq!(bash(&sandbox, "s1", "ls").code, 0);
    sandbox.write("governance.yaml", "version: 1\n");
    let run = stop();
    assert!(run.stdout.contains("report.md") || run.stderr.contains("report.md"), "{run:?}");
    sandbox.lictor(&["session", "refresh", "s1"]);
    let run = stop();
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}
