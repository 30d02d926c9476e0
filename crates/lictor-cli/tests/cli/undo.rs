//! Undoing the session's own changes loses nothing; everything else that git would discard is other people's
//! work.

use serde_json::json;

use crate::agent::{Agent, stopped};
use crate::sandbox::Sandbox;

/// Ways to put one file back.
const ONE: [&str; 6] = [
    "git checkout -- src/a.py",
    "git checkout src/a.py",
    "git checkout HEAD -- src/a.py",
    "git restore src/a.py",
    "git restore --source=HEAD src/a.py",
    "git -C src checkout -- a.py",
];
/// Ways to put everything back.
const ALL: [&str; 4] = ["git checkout .", "git restore .", "git checkout -- src", "git reset --hard"];

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("src/a.py", "a = 1\n");
    sandbox.write("src/b.py", "b = 1\n");
    commit(&sandbox);
    sandbox
}

fn commit(sandbox: &Sandbox) {
    sandbox.program("git", &["add", "-A"], "");
    sandbox.program("git", &["-c", "user.email=a@b", "-c", "user.name=a", "commit", "-qm", "x"], "");
}

fn agent<'a>(sandbox: &'a Sandbox, session: &str) -> Agent<'a> {
    Agent { sandbox, session: session.to_owned() }
}

/// After a story, each of these ways is stopped, or none of them.
fn holds(name: &str, ways: &[&str], lost: bool, story: impl Fn(&Sandbox, &Agent<'_>)) {
    let sandbox = project();
    let own = agent(&sandbox, "own");
    story(&sandbox, &own);
    for way in ways {
        let run = own.hook("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": way}}));
        assert_eq!(stopped(&run), lost, "{name}: {way}: {}{}", run.stdout, run.stderr);
    }
}

fn edits(agent: &Agent<'_>, files: &[&str]) {
    for file in files {
        let run = agent.step(&format!("edit {file}"));
        assert!(!stopped(&run), "{}{}", run.stdout, run.stderr);
    }
}

#[test]
fn own_edits_of_committed_files_may_be_undone() {
    let both: Vec<&str> = ONE.into_iter().chain(ALL).collect();
    holds("one edit", &both, false, |_, own| edits(own, &["src/a.py"]));
    holds("several", &both, false, |_, own| edits(own, &["src/a.py", "src/b.py", "src/a.py"]));
    holds("written anew", &both, false, |_, own| drop(own.step("write src/a.py")));
    holds("looked at between", &both, false, |sandbox, own| {
        edits(own, &["src/a.py"]);
        sandbox.program("git", &["status"], "");
        edits(own, &["src/a.py"]);
    });
    holds("undone and done again", &both, false, |sandbox, own| {
        edits(own, &["src/a.py"]);
        sandbox.program("git", &["checkout", "--", "src/a.py"], "");
        edits(own, &["src/a.py"]);
    });
    holds("committed between", &both, false, |sandbox, own| {
        edits(own, &["src/a.py"]);
        commit(sandbox);
        edits(own, &["src/a.py"]);
    });
    holds("resumed", &both, false, |_, own| {
        edits(own, &["src/a.py"]);
        own.hook("SessionStart", json!({"source": "resume"}));
        edits(own, &["src/a.py"]);
    });
    holds("deleted before", &both, false, |sandbox, own| {
        std::fs::remove_file(sandbox.project().join("src/a.py")).unwrap();
        own.step("write src/a.py");
    });
}

#[test]
fn a_subagent_is_part_of_the_session() {
    holds("edited by a subagent", &ONE, false, |sandbox, own| {
        let file = sandbox.project().join("src/a.py");
        let call = json!({"agent_id": "sub-1", "agent_type": "helper", "tool_name": "Edit", "tool_input":
            {"file_path": file, "old_string": "1", "new_string": "2"}});
        assert!(!stopped(&own.hook("PreToolUse", call.clone())));
        sandbox.write("src/a.py", "a = 2\n");
        let mut done = call;
        done["tool_response"] = json!({});
        own.hook("PostToolUse", done);
    });
}

#[test]
fn work_of_others_is_still_protected() {
    let both: Vec<&str> = ONE.into_iter().chain(ALL).collect();
    let person = |sandbox: &Sandbox| sandbox.write("src/a.py", "a = 1\nmine = 1\n");
    holds("a person's change before", &both, true, |sandbox, own| {
        person(sandbox);
        edits(own, &["src/a.py"]);
    });
    holds("a person's change after", &both, true, |sandbox, own| {
        edits(own, &["src/a.py"]);
        person(sandbox);
    });
    holds("a person's change between", &both, true, |sandbox, own| {
        edits(own, &["src/a.py"]);
        person(sandbox);
        edits(own, &["src/a.py"]);
    });
    holds("a person's change alone", &both, true, |sandbox, _| person(sandbox));
    holds("another session", &both, true, |sandbox, _| edits(&agent(sandbox, "other"), &["src/a.py"]));
    holds("another session between", &both, true, |sandbox, own| {
        edits(own, &["src/a.py"]);
        edits(&agent(sandbox, "other"), &["src/a.py"]);
        edits(own, &["src/a.py"]);
    });
    holds("a file of another", &ALL, true, |sandbox, own| {
        sandbox.write("src/b.py", "mine = 1\n");
        edits(own, &["src/a.py"]);
    });
    holds("staged over a person's change", &both, true, |sandbox, own| {
        person(sandbox);
        edits(own, &["src/a.py"]);
        sandbox.program("git", &["add", "-A"], "");
        edits(own, &["src/a.py"]);
    });
    holds("an edit that was blocked and happened", &both, true, |sandbox, own| {
        edits(own, &["src/a.py"]);
        person(sandbox);
        own.hook(
            "PostToolUse",
            json!({"tool_name": "Write", "tool_use_id": "never-judged", "tool_response": {}, "tool_input":
                {"file_path": sandbox.project().join("src/a.py"), "content": "x"}}),
        );
    });
}

#[test]
fn links_are_not_followed() {
    holds("a link in place of the file", &ONE, true, |sandbox, own| {
        let file = sandbox.project().join("src/a.py");
        edits(own, &["src/a.py"]);
        std::fs::rename(&file, sandbox.project().join("elsewhere.py")).unwrap();
        std::os::unix::fs::symlink("../elsewhere.py", &file).unwrap();
    });
    holds("an edit through a link", &ONE, true, |sandbox, own| {
        std::os::unix::fs::symlink("a.py", sandbox.project().join("src/link.py")).unwrap();
        edits(own, &["src/link.py"]);
    });
}
