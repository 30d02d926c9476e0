use crate::sandbox::Sandbox;

/// The README's picture is generated from this text, so it must be the same on every machine.
#[test]
fn the_demonstration_tells_its_story_and_leaves_nothing_behind() {
    let sandbox = Sandbox::bare();
    let run = sandbox.lictor(&["demo"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    snapbox::assert_data_eq!(run.stdout, snapbox::file!["demo.txt"]);
    let left: Vec<_> = std::fs::read_dir(sandbox.home().join(".cache/lictor")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!sandbox.home().join(".local").exists());
}
