use crate::sandbox::Sandbox;

const POLICY: &str = "\
version: 1
tools:
  require_first: {bash(\"git push\"): [bash(\"cargo test\")]}
  invalidate: {write: [bash(\"cargo test\")]}
";

const GOOD: &str = "\
tests:
  - name: a push needs a test run
    steps:
      - {bash: git push, expect: block, rule: require_first, message: requires}
      - {bash: cargo test, outcome: failure}
      - {bash: git push, expect: block}
      - {bash: cargo test}
      - {bash: git push, expect: pass}
      - {write: src/main.rs}
      - {bash: git push, expect: block, message: does not count}
  - name: destruction is blocked
    steps:
      - {bash: rm -rf ~, expect: block, rule: delete.everything}
";

#[test]
fn a_sequence_of_actions_is_judged_with_its_state() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", POLICY);
    sandbox.write("policy_tests/push.yaml", GOOD);
    let run = sandbox.lictor(&["test"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("2 passed, 0 failed"), "{run:?}");
    assert!(!sandbox.home().join(".local/state").exists(), "tests leave no record");
}

#[test]
fn a_wrong_expectation_is_shown_with_its_place() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", POLICY);
    sandbox.write(
        "policy_tests/push.yaml",
        "tests:\n  - name: wrong\n    steps:\n      - {bash: git push, expect: pass}\n",
    );
    let run = sandbox.lictor(&["test"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stdout.contains("policy_tests/push.yaml:4:9: `wrong`, step 1: expected pass, got block"),
        "{run:?}"
    );
    let json = sandbox.lictor(&["test", "--json"]).json();
    assert_eq!((&json["failed"], &json["tests"][0]["passed"]), (&1.into(), &false.into()));
}

#[test]
fn slips_in_test_files_and_policies_are_refused() {
    let sandbox = Sandbox::new();
    sandbox
        .write("policy_tests/a.yaml", "tests:\n  - name: a\n    steps:\n      - {bash: ls, expects: pass}\n");
    let run = sandbox.lictor(&["test"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("policy_tests/a.yaml:4:20: error: unknown key `expects`"), "{run:?}");
    assert!(run.stderr.contains("did you mean `expect`?"), "{run:?}");
}
