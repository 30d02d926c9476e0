//! A repository that tries to run programs, or to substitute content, while it is only read.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use lictor_ledger::Level;
use lictor_ledger::gate::GateEvent;
use lictor_ledger::repository::{CommitArgs, Repository as _, quiet};

use crate::world::World;

/// A program that leaves a mark when it is run, and the mark.
fn trap(world: &World) -> (String, PathBuf) {
    let (program, mark) = (world.dir.path().join("trap.sh"), world.dir.path().join("sprung"));
    fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program.display().to_string(), mark)
}

/// Sets every trap that a configuration allows, in the repository with this git directory.
fn arm(world: &World, dir: &std::path::Path, git_dir: &std::path::Path, trap: &str) {
    for name in ["evil", "evil twin", "a.b=c"] {
        for part in ["clean", "smudge", "process"] {
            world.git_in(dir, &["config", &format!("filter.{name}.{part}"), trap]);
        }
        world.git_in(dir, &["config", &format!("filter.{name}.required"), "true"]);
    }
    for (name, value) in [
        ("core.fsmonitor", trap),
        ("core.pager", trap),
        ("diff.external", trap),
        ("diff.evil.command", trap),
        ("diff.evil.textconv", trap),
        ("gpg.program", trap),
        ("log.showSignature", "true"),
        ("core.sshCommand", trap),
        ("pager.log", "true"),
    ] {
        world.git_in(dir, &["config", name, value]);
    }
    fs::create_dir_all(git_dir.join("hooks")).unwrap();
    for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout"] {
        fs::copy(trap, git_dir.join("hooks").join(hook)).unwrap();
    }
    fs::write(git_dir.join("info/attributes"), "* filter=evil diff=evil\n").unwrap();
}

#[test]
fn looking_at_a_repository_runs_none_of_its_programs() {
    let world = World::new();
    world.pass("a.py", "import b\n");
    let sub = world.dir.path().join("sub");
    fs::create_dir(&sub).unwrap();
    world.git_in(&sub, &["init", "-q", "-b", "main"]);
    fs::write(sub.join("in.py"), "x\n").unwrap();
    world.git_in(&sub, &["add", "."]);
    world.git_in(&sub, &["commit", "-q", "-m", "x"]);
    world.git(&["submodule", "--quiet", "add", &sub.display().to_string(), "sub"]);
    world.git(&["commit", "-q", "-m", "sub"]);
    // As recent as the index: git has to read it whenever it reads the index.
    let racy = world.root().join("racy.py");
    fs::write(&racy, "racy\n").unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(100);
    fs::File::options().write(true).open(&racy).unwrap().set_modified(later).unwrap();
    world.git(&["add", "racy.py"]);
    let (trap, mark) = trap(&world);
    arm(&world, &world.root().join("sub"), &world.root().join(".git/modules/sub"), &trap);
    arm(&world, &world.root(), &world.root().join(".git"), &trap);
    let _ = fs::remove_file(&mark);
    world.write("a.py", "import b # changed\n");
    world.write("new.py", "new\n");
    world.write("sub/in.py", "changed\n");

    let git = world.repository();
    let head = git.commit("HEAD").unwrap().unwrap();
    git.index_tree().unwrap();
    for words in [&["-am", "x"][..], &["-m", "x", "a.py"], &["-i", "-m", "x", "a.py"]] {
        let tree = git.commit_tree(&CommitArgs::parse(words), &world.root()).unwrap();
        let blobs = git.blobs(&tree, &["a.py".to_owned()]).unwrap();
        let Some(Some(blob)) = blobs.first() else { panic!("a.py is in the tree") };
        assert_eq!(git.contents(&[blob]).unwrap(), [Some(b"import b # changed\n".to_vec())]);
    }
    let tree = git.work_tree().unwrap();
    let changes = git.changes(Some(&head.tree), &tree).unwrap();
    assert_eq!(changes.files.keys().collect::<Vec<_>>(), ["a.py", "new.py", "racy.py"]);
    assert!(git.differs(&head.tree).unwrap());
    git.work_files(&["a.py".to_owned()]).unwrap();
    git.dependents(&tree, &["b.py".to_owned()]).unwrap();
    let out = world.dir.path().join("out");
    fs::create_dir(&out).unwrap();
    git.export(&tree, &out).unwrap();
    assert_eq!(fs::read_to_string(out.join("a.py")).unwrap(), "import b # changed\n");
    let noted = quiet::<&str>(&world.root(), &[])
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "notes", "add", "-m", "x", "HEAD"])
        .output()
        .unwrap();
    assert!(noted.status.success(), "{}", String::from_utf8_lossy(&noted.stderr));
    world.record(Level::High, "evil", "a.py:1");
    assert_eq!(world.agent_commit(&["-am", "x"]).exit_code(), 2);
    assert_eq!(world.judge(&GateEvent::PreCommit).exit_code(), 0);
    assert_eq!(fs::read_to_string(&mark).unwrap_or_default(), "", "something was run");
}

#[test]
fn replaced_objects_do_not_hide_what_is_committed() {
    let world = World::new();
    world.pass("a.py", "fine\n");
    world.write("a.py", "EVIL\n");
    world.record(Level::High, "evil", "a.py:1");
    world.git(&["add", "a.py"]);
    let (evil, fine) = (world.git(&["rev-parse", ":a.py"]), world.git(&["rev-parse", "HEAD:a.py"]));
    world.git(&["replace", &evil, &fine]);
    let git = world.repository();
    assert_eq!(git.contents(&[&evil]).unwrap(), [Some(b"EVIL\n".to_vec())]);
    assert_eq!(world.pre_commit().exit_code(), 2);
}
