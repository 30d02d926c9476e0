use std::fs;
use std::path::Path;

use lictor_store::MemoryStore;

use super::*;

fn program(argv: &[&str]) -> Program {
    Program {
        what: "reviewer".to_owned(),
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        reads: Vec::new(),
    }
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
        (&["rake", "review"], "Rakefile"),
        (&["make", "-C", "tools", "review"], "tools/Makefile"),
        (&["sh", "-c", "make -Ctools review"], "tools/Makefile"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("tools")).unwrap();
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
    // Files that a script sources are not pinned with it, and are reported as unpinned.
    fs::write(root.join("review.sh"), ". ./lib.sh\nsh steps/first.sh\n").unwrap();
    fs::write(root.join("lib.sh"), "true\n").unwrap();
    assert!(script.unpinned(root).is_some_and(|told| told.contains("mentions `lib.sh`:")));
    fs::create_dir(root.join("steps")).unwrap();
    fs::write(root.join("steps/first.sh"), "true\n").unwrap();
    assert!(script.unpinned(root).is_some_and(|told| told.contains("and one more file")));
    fs::write(root.join("look.py"), "print(1)\n").unwrap();
    let module = program(&["python3", "-m", "look"]);
    module.trust(&store, root, "me", Timestamp(0)).unwrap();
    assert!(module.is_trusted(&store, root).unwrap());
    fs::write(root.join("look.py"), "print(2)\n").unwrap();
    assert!(!module.is_trusted(&store, root).unwrap());
    assert!(program(&["ruff", "check"]).unpinned(root).is_some_and(|told| told.contains("ruff check")));
}

#[test]
fn what_the_policy_says_it_reads_is_pinned_with_it() {
    type Change = (&'static str, fn(&Path));
    let changes: [Change; 6] = [
        ("a file", |root| fs::write(root.join("rules.mk"), "x").unwrap()),
        ("a file below a directory", |root| fs::write(root.join("scripts/deep/a.sh"), "x").unwrap()),
        ("a new file", |root| fs::write(root.join("scripts/new.sh"), "x").unwrap()),
        ("a file that is gone", |root| fs::remove_file(root.join("scripts/b.sh")).unwrap()),
        ("a match of a glob", |root| fs::write(root.join("conf/.hidden.toml"), "x").unwrap()),
        ("a link", |root| {
            fs::remove_file(root.join("scripts/link")).unwrap();
            std::os::unix::fs::symlink("other", root.join("scripts/link")).unwrap();
        }),
    ];
    for (name, change) in changes {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for file in ["rules.mk", "scripts/deep/a.sh", "scripts/b.sh", "conf/.hidden.toml", "src/main.rs"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "first").unwrap();
        }
        std::os::unix::fs::symlink("b.sh", root.join("scripts/link")).unwrap();
        let reads = ["rules.mk", "scripts", "conf/**/*.toml"].map(str::to_owned).to_vec();
        let (store, program) = (MemoryStore::new(), Program { reads, ..program(&["make", "review"]) });
        program.trust(&store, root, "me", Timestamp(0)).unwrap();
        fs::write(root.join("src/main.rs"), "second").unwrap();
        assert!(program.is_trusted(&store, root).unwrap(), "{name}: what it does not read may change");
        assert_eq!(program.unpinned(root), None);
        let less = Program { reads: Vec::new(), ..program.clone() };
        assert!(!less.is_trusted(&store, root).unwrap(), "a policy that says less is another one");
        change(root);
        assert!(!program.is_trusted(&store, root).unwrap(), "{name}");
    }
}
