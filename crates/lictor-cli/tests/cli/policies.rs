//! `policies:` through the real binary: callbacks that are expressions, deeds that are not in the catalogue.

use crate::sandbox::Sandbox;

#[test]
fn an_expression_is_a_callback() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "policies:\n\
         - name: generated-only\n\
         \x20 on: {verb: delete, object: file}\n\
         \x20 callback:\n\
         \x20   expr: 'facts.files.all(f, f.access != \"delete\" || f.text.startsWith(\"build/\"))'\n\
         \x20   message: it cannot be made again\n\
         \x20 message: '{verb} {target}'\n\
         \x20 fix: leave it there\n",
    );
    let run = sandbox.claude_bash("rm build/a.o");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "it is content: {run:?}");
    let run = sandbox.claude_bash("rm notes.md");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("it cannot be made again: delete `notes.md`"), "{run:?}");
    assert!(run.stderr.contains("How to go on: leave it there"), "{run:?}");
    let json = sandbox.lictor(&["eval", "bash", "rm notes.md", "--json"]).json();
    assert_eq!(json["violations"][0]["callback_result"]["passed"], false, "{json}");
}

#[test]
fn an_expression_that_cannot_be_evaluated_blocks_and_nobody_can_lift_it() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "policies:\n\
         - name: ticketed\n\
         \x20 on: {verb: delete, object: file}\n\
         \x20 requires_confirmation: true\n\
         \x20 callback: {expr: 'payload.ticket == \"T-1\"'}\n",
    );
    let run = sandbox.lictor(&["eval", "bash", "rm notes.md", "--json"]);
    assert_eq!(run.code, 2, "{run:?}");
    let fault = run.json()["violations"][0]["fault"].to_string();
    assert!(fault.contains("payload.ticket") && fault.contains("could not be evaluated"), "{fault}");
    assert_eq!(sandbox.claude_bash("rm notes.md").code, 2);
    assert_eq!(sandbox.lictor(&["approvals", "--json"]).json(), serde_json::json!([]), "nothing to answer");
}

#[test]
fn claude_code_shows_a_person_every_violation() {
    let sandbox = Sandbox::new();
    let policy = |name: &str| {
        format!(
            "- {{name: {name}, on: {{verb: delete, object: file}}, requires_confirmation: true, message: said by {name}}}\n"
        )
    };
    let policies: String = ["first", "second", "third"].map(policy).concat();
    sandbox.write("governance.yaml", &format!("policies:\n{policies}"));
    let asked = sandbox.claude_bash("rm notes.md").json();
    assert_eq!(
        asked["hookSpecificOutput"]["permissionDecisionReason"],
        "said by first\nsaid by second\nsaid by third",
        "{asked}"
    );
}

#[test]
fn a_callback_that_is_no_condition_refuses_the_policy_and_shows_where() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "policies:\n- {name: p, on: {verb: delete, object: file}, callback: {expr: 'session.action_count'}}\n",
    );
    let run = sandbox.lictor(&["check"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("governance.yaml:2:65: error: "), "{}", run.stdout);
    assert_eq!(sandbox.claude_bash("ls").code, 2, "a refused policy blocks");
}

#[test]
fn what_ungrounded_deeds_get_is_a_setting() {
    let sandbox = Sandbox::new();
    let user = sandbox.home().join(".config/lictor");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(user.join("governance.yaml"), "known_tools: {ungrounded: ask}\n").unwrap();
    let run = sandbox.lictor(&["check", "--show-merged"]);
    assert!(run.stdout.contains("known_tools.ungrounded = ask"), "{run:?}");
    let graph = sandbox.lictor(&["graph"]).stdout;
    assert!(graph.contains("user.policies  INTENT"), "who judges them: {graph}");
    assert_eq!(sandbox.claude_bash("ls").code, 0, "what Lictor itself finds is in the catalogue");
    sandbox.write("governance.yaml", "known_tools: {ungrounded: pass}\n");
    let run = sandbox.lictor(&["check"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stdout.contains("governance.yaml:1:27: error: `known_tools.ungrounded` cannot be `pass`"),
        "{run:?}"
    );
}

#[test]
fn the_advice_of_a_remark_reaches_the_agent() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "guards: {calm: {expr: 'false', decision: warn, reason: twelve at once, fix: split it}}\npolicy: {all: [calm]}\n",
    );
    let told = sandbox.claude_bash("ls");
    assert!(told.code == 0 && told.stdout.contains("twelve at once\\nHow to go on: split it"), "{told:?}");
    let json = sandbox.lictor(&["eval", "bash", "ls", "--json"]).json();
    assert_eq!((&json["decision"], &json["fix"]), (&"warn".into(), &"split it".into()), "{json}");
    assert!(sandbox.lictor(&["eval", "bash", "ls"]).stdout.contains("fix: split it"));
}

#[test]
fn an_answer_that_is_none_is_shown_as_it_was_printed() {
    let sandbox = Sandbox::new();
    let own = "version: 1\nguards: {says: {command: [echo, hi]}}\npolicy: {all: [says]}\n";
    sandbox.write_at(&sandbox.home().join(".config/lictor/governance.yaml"), own);
    let told = sandbox.lictor(&["eval", "bash", "ls"]).stdout;
    assert!(told.contains("it printed `hi` instead"), "{told}");
}
