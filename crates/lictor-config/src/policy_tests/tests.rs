use super::*;

fn problems(text: &str) -> Vec<String> {
    read("t.yaml", text.as_bytes()).unwrap_err().iter().map(Diagnostic::one_line).collect()
}

#[test]
fn steps_are_read() {
    let text = concat!(
        "tests:\n",
        "  - name: push\n",
        "    steps:\n",
        "      - {bash: git push, expect: block, rule: require_first, message: requires}\n",
        "      - {bash: cargo test, outcome: failure}\n",
        "      - {after: 5m, submit_task: deploy, payload: {ticket: OPS-1, retries: 2, dry: true}, expect: ask}\n",
    );
    let tests = read("t.yaml", text.as_bytes()).unwrap();
    let [first, second, third] = tests[0].steps.as_slice() else { panic!("three steps: {tests:?}") };
    assert_eq!((first.expect, first.rule.as_deref()), (Decision::Block, Some("require_first")));
    assert_eq!(first.action.text("command"), Some("git push"));
    assert_eq!((second.expect, second.success), (Decision::Pass, false));
    assert_eq!((third.after, third.expect), (300_000, Decision::Ask));
    assert_eq!(third.action.task_type.as_deref(), Some("deploy"));
    assert_eq!(
        Value::Object(third.action.payload.clone()),
        serde_json::json!({"ticket": "OPS-1", "retries": 2, "dry": true})
    );
}

#[test]
fn slips_are_named_where_they_are() {
    assert_eq!(problems("test: []\n"), ["t.yaml:1:1: error: unknown key `test`",]);
    let text = "tests:\n  - name: a\n    steps:\n      - {bash: ls, expects: pass}\n      - {expect: pass}\n      - {bash: ls, read: x}\n      - {bash: ls, expect: maybe}\n";
    assert_eq!(
        problems(text),
        [
            "t.yaml:4:20: error: unknown key `expects`",
            "t.yaml:5:9: error: a step does exactly one thing",
            "t.yaml:6:9: error: a step does exactly one thing",
            "t.yaml:7:28: error: `steps[].expect` cannot be `maybe`",
        ]
    );
    let twice = "tests:\n  - {name: a, steps: []}\n  - {name: a, steps: []}\n";
    assert_eq!(problems(twice), ["t.yaml:3:5: error: two tests are called `a`"]);
}
