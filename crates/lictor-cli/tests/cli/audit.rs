use crate::sandbox::Sandbox;

#[test]
fn the_chain_is_checked_and_an_anchor_covers_its_end() {
    let sandbox = Sandbox::new();
    for command in ["ls", "rm -rf /", "git status"] {
        sandbox.claude_bash(command);
    }
    let run = sandbox.lictor(&["audit", "verify"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("no anchor was given"), "{run:?}");

    let anchor = sandbox.lictor(&["audit", "anchor"]).stdout;
    sandbox.write("anchors", &anchor);
    let run = sandbox.lictor(&["audit", "verify", "--anchor", "anchors", "--json"]);
    assert_eq!((run.code, &run.json()["sound"]), (0, &true.into()), "{run:?}");

    let ahead = anchor.replacen(anchor.split(' ').next().unwrap(), "999", 1);
    sandbox.write("anchors", &ahead);
    let run = sandbox.lictor(&["audit", "verify", "--anchor", "anchors"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("are missing"), "{run:?}");
}

#[test]
fn reading_creates_nothing() {
    let sandbox = Sandbox::new();
    let run = sandbox.lictor(&["audit", "tail"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("nothing has been recorded"), "{run:?}");
    assert!(!sandbox.home().join(".local").exists());
}
