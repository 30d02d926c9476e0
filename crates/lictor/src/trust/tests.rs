use std::fs;

use lictor_store::MemoryStore;

use super::*;

fn program(argv: &[&str]) -> Program {
    Program { what: "reviewer".to_owned(), argv: argv.iter().map(|word| (*word).to_owned()).collect() }
}

#[test]
fn what_a_program_runs_without_being_told_is_pinned_with_it() {
    for (argv, file) in [
        (&["make", "review"][..], "Makefile"),
        (&["env", "make", "review"], "Makefile"),
        (&["sh", "-c", "make review"], "Makefile"),
        (&["npm", "run", "review"], "package.json"),
        (&["just", "review"], "justfile"),
        (&["task", "review"], "Taskfile.yml"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::write(root.join(file), "review:\n\ttrue\n").unwrap();
        let (store, program) = (MemoryStore::new(), program(argv));
        program.trust(&store, root, "me", Timestamp(0)).unwrap();
        assert!(program.is_trusted(&store, root).unwrap(), "{argv:?}");
        assert!(program.unpinned(root).is_some(), "{argv:?}");
        fs::write(root.join(file), "review:\n\ttrue # clean\n").unwrap();
        assert!(!program.is_trusted(&store, root).unwrap(), "{argv:?}");
    }
}

#[test]
fn other_files_are_not_pinned_and_a_script_of_its_own_needs_no_remark() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    fs::write(root.join("review.sh"), "true\n").unwrap();
    fs::write(root.join("Makefile"), "all:\n").unwrap();
    let (store, script) = (MemoryStore::new(), program(&["./review.sh", "--all"]));
    script.trust(&store, root, "me", Timestamp(0)).unwrap();
    fs::write(root.join("Makefile"), "all: x\n").unwrap();
    assert!(script.is_trusted(&store, root).unwrap());
    assert_eq!(script.unpinned(root), None);
    assert!(program(&["ruff", "check"]).unpinned(root).is_some_and(|told| told.contains("ruff check")));
}
