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
fn a_database_without_the_program_for_it_blocks() {
    let sandbox = Sandbox::new();
    let user = sandbox.home().join(".config/lictor");
    std::fs::create_dir_all(&user).unwrap();
    let write = |text: &str| std::fs::write(user.join("governance.yaml"), text).unwrap();
    write("version: 1\nstore: mysql://db.example.com/lictor\n");
    let run = sandbox.lictor(&["check"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("governance.yaml:2:8: error: `store` cannot be `mysql://"), "{run:?}");
    write("version: 1\nstore: postgres://db.invalid/lictor\n");
    let run = sandbox.lictor(&["check"]);
    assert_eq!(run.code, 0, "{run:?}");
    let hook = sandbox.claude_bash("ls");
    assert_eq!(hook.code, 2, "the record would be kept where nobody looks: {hook:?}");
    assert!(!hook.stderr.contains("db.invalid"), "the place is for the person: {hook:?}");
}

/// Every section that can carry a `fix`, with the fix in place of `FIX`.
const WITH_FIX: [&str; 5] = [
    "guards: {g: {expr: 'risk < 0.5', reason: r, fix: FIX}}\npolicy: g\n",
    "guards: {g: {command: [git], fix: FIX}}\npolicy: g\n",
    "intent: [{for: deploy, require: 'has(payload.ticket)', reason: r, fix: FIX}]\n",
    "policies: [{name: p, on: {verb: push, object: branch}, effect: block, fix: FIX}]\n",
    "guards: {g: {expr: 'risk > 0.5', reason: r, fix: f}}\npolicy: {not: {node: g, reason: r, fix: FIX}}\n",
];

#[test]
fn a_fix_that_its_own_policy_forbids_is_found_wherever_it_stands() {
    let sandbox = Sandbox::new();
    let blocked = "known_tools: {unknown: block}\nbash_safety: {blocked_programs: [make]}\n";
    for section in WITH_FIX {
        for (fix, forbidden) in [
            ("'first run `make ready`, then go on'", Some("make ready")),
            ("'run `make`'", Some("make")),
            ("'run `cargo test` or `make all`'", Some("make all")),
            ("'delete it with `rm -rf ~`'", Some("rm -rf ~")),
            ("'run `cargo test`'", None),
            ("'use cargo instead of `make`'", None),
            ("'do not run `make all`'", None),
            ("'run make ready'", None),
            ("'add `payload.ticket`, for example `OPS-123`'", None),
        ] {
            sandbox.write("governance.yaml", &format!("{blocked}{}", section.replace("FIX", fix)));
            let run = sandbox.lictor(&["check", "--json"]);
            let problems = run.json()["problems"].clone();
            let found: Vec<&str> = problems
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|it| it["message"].as_str()?.strip_prefix("this way out is itself blocked: "))
                .collect();
            let expected: Vec<String> = forbidden.iter().map(|command| format!("`{command}`")).collect();
            assert_eq!(found, expected, "{section}{fix}: {run:?}");
        }
    }
    // The command itself is underlined.
    sandbox.write(
        "governance.yaml",
        &format!("{blocked}{}", WITH_FIX[3].replace("FIX", "'run `make ready` first'")),
    );
    let shown = sandbox.lictor(&["check"]).stdout;
    assert!(shown.contains("governance.yaml:3:82: warning: this way out"), "{shown}");
    assert!(shown.contains(" ^^^^^^^^^^\n"), "{shown}");
}

#[test]
fn a_fix_that_only_has_to_wait_is_none() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "tools: {require_first: {bash(\"git push\"): [bash(\"cargo test\")]}}\n\
         guards: {g: {expr: 'risk < 0.5', reason: r, fix: 'run `cargo test`, then `git push`'}}\npolicy: g\n",
    );
    let run = sandbox.lictor(&["check"]);
    assert!(!run.stdout.contains("way out"), "{run:?}");
}

#[test]
fn a_guard_whose_condition_is_broken_is_still_one_of_the_files_guards() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "guards: {calm: {expr: 'risk <=', reason: x, fix: y}}\nboundaries: {red_line_files: [.git/x]}\npolicy: {all: [unheard_of]}\n",
    );
    let told = sandbox.lictor(&["check"]).stdout;
    assert!(told.contains("the guards of this file are: calm, file_boundary"), "{told}");
}
