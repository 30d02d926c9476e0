//! `check`, `schema` and `graph`.

use crate::sandbox::Sandbox;

#[test]
fn check_names_every_problem_with_its_place() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "boundaries:\n  redline_files: [x]\nbudget: {max_actions: many}\n");
    let run = sandbox.lictor(&["check"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stdout.contains("governance.yaml:2:3: error: unknown key `redline_files`\n"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("did you mean `red_line_files`?"), "{}", run.stdout);
    assert!(
        run.stdout.contains("governance.yaml:3:23: error: `budget.max_actions` must be"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.ends_with("refused: governance.yaml; 2 errors, 0 warnings\n"), "{}", run.stdout);
    // The same policy blocks in hooks and in `eval`; only the person is told the place.
    let run = sandbox.lictor(&["eval", "bash", "ls"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.stderr.contains("governance.yaml:2:3: unknown key `redline_files` (and one more problem)"),
        "{run:?}"
    );
    let input = serde_json::json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let run = sandbox.claude("PreToolUse", input);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(!run.stderr.contains("governance.yaml"), "{run:?}");
}

#[test]
fn check_finds_what_shows_only_here() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "bash_safety: {blocked_programs: [make]}\n\
         guards:\n  ready: {command: [scripts/ready.sh], fix: run `make ready` first}\n\
         policy: ready\n",
    );
    let run = sandbox.lictor(&["check"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.contains("governance.yaml:3:21: warning: there is no file `scripts/ready.sh`"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("warning: this way out is itself blocked: `make ready`"), "{}", run.stdout);
}

#[test]
fn check_says_where_each_setting_comes_from() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "boundaries:\n  red_line_files:\n    - a\n    - b\n");
    let config = sandbox.home().join(".config/lictor");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("governance.yaml"), "extends: [strict]\n").unwrap();
    let run = sandbox.lictor(&["check", "--show-merged", "--json"]);
    let settings = run.json()["settings"].clone();
    let find =
        |path: &str| settings.as_array().unwrap().iter().find(|it| it["path"] == path).unwrap().clone();
    let red = find("boundaries.red_line_files[1]");
    assert_eq!((&red["value"], &red["origin"], &red["line"]), (&"b".into(), &"repository".into(), &4.into()));
    assert_eq!(find("extends[0]")["origin"], "user");
    assert_eq!(run.json()["base"], serde_json::json!(["strict"]));
}

#[test]
fn schema_is_a_json_schema() {
    let run = Sandbox::new().lictor(&["schema"]);
    assert_eq!(run.code, 0);
    assert!(run.json()["properties"]["boundaries"].is_object());
}

#[test]
fn graph_draws_the_policy_and_the_path_of_a_decision() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "bash_safety: {blocked_programs: [make]}\nbudget: {max_actions: 9}\n");
    let run = sandbox.lictor(&["graph"]);
    assert!(run.stdout.contains("bash_safety  BOUNDARY\n"), "{}", run.stdout);
    assert!(run.stdout.contains("budget  RESOURCE\n"), "{}", run.stdout);
    let id = sandbox.lictor(&["eval", "bash", "make", "--json"]).json()["id"].to_string();
    let run = sandbox.lictor(&["graph", "--highlight", &id]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(run.stdout.contains("bash_safety  block\n"), "{}", run.stdout);
    assert!(run.stdout.contains("budget  pass\n"), "{}", run.stdout);
    let svg = sandbox.lictor(&["graph", "--format", "svg", "--highlight", &id]).stdout;
    assert!(
        svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains(">bash_safety</text>"),
        "{svg}"
    );
    let mermaid = sandbox.lictor(&["graph", "--format", "mermaid", "--highlight", &id]).stdout;
    assert!(
        mermaid.starts_with("flowchart TD\n") && mermaid.contains("[\"bash_safety\"]:::block"),
        "{mermaid}"
    );
}

#[test]
fn a_store_that_is_not_there_is_refused_and_blocks() {
    let sandbox = Sandbox::new();
    let user = sandbox.home().join(".config/lictor");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(user.join("governance.yaml"), "version: 1\nstore: postgres://db.example.com/lictor\n")
        .unwrap();
    let run = sandbox.lictor(&["check"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stdout.contains("governance.yaml:2:8: error: this Lictor cannot keep its record in PostgreSQL"),
        "{run:?}"
    );
    let hook = sandbox.claude_bash("ls");
    assert_eq!(hook.code, 2, "the record would be kept where nobody looks: {hook:?}");
    assert!(!hook.stderr.contains("governance.yaml"), "the place is for the person: {hook:?}");
}
