//! Each way around the gate.

use std::fs;

use lictor_ledger::Level;
use lictor_ledger::gate::{GateEvent, GateOutcome, PushedRef};
use lictor_ledger::repository::{Git, Repository as _};

use crate::world::{World, blockers, reasons};

const REVIEW: &str = r#"grep -l EVIL *.py 2>/dev/null | while read f; do echo "{\"level\":\"HIGH\",\"title\":\"evil\",\"evidence\":[\"$f:1\"]}"; done; true"#;

fn notes(outcome: &GateOutcome) -> String {
    match outcome {
        GateOutcome::Ok(seen) | GateOutcome::Blocked(_, seen) => seen.notes.join("\n"),
        GateOutcome::Error { reason } => panic!("{reason}"),
    }
}

#[test]
fn commit_all_and_pathspecs_are_judged_by_what_they_would_commit() {
    let world = World::new();
    world.write("a.py", "fine\n");
    world.pass("b.py", "fine\n");
    world.write("a.py", "EVIL\n");
    world.record(Level::High, "evil", "a.py:1");
    // Not staged: a plain commit does not contain it, `-a` and the path do.
    assert_eq!(world.agent_commit(&["-m", "x"]).exit_code(), 0);
    assert_eq!(world.agent_commit(&["-am", "x"]).exit_code(), 2);
    assert_eq!(world.agent_commit(&["--all", "-m", "x"]).exit_code(), 2);
    assert_eq!(world.agent_commit(&["-m", "x", "a.py"]).exit_code(), 2);
    assert_eq!(world.agent_commit(&["-m", "x", "--", "*.py"]).exit_code(), 2);
    assert_eq!(world.agent_commit(&["-m", "x", "b.py"]).exit_code(), 0);
    assert_eq!(world.agent_commit(&["-p"]).exit_code(), 2);
    // Staged: a plain commit contains it, another path alone does not.
    world.git(&["add", "a.py"]);
    assert_eq!(world.agent_commit(&["-m", "x"]).exit_code(), 2);
    assert_eq!(world.agent_commit(&["-m", "x", "b.py"]).exit_code(), 0);
    assert_eq!(world.agent_commit(&["-i", "-m", "x", "b.py"]).exit_code(), 2);
    // Nothing of this touched the real index.
    assert_eq!(world.git(&["diff", "--cached", "--name-only"]), "a.py");
    // From a subdirectory paths are relative to it.
    fs::create_dir(world.root().join("sub")).unwrap();
    let args = lictor_ledger::repository::CommitArgs::parse(&["-m", "x", "../a.py"]);
    let event = GateEvent::AgentCommit { args, dir: world.root().join("sub") };
    assert_eq!(world.judge(&event).exit_code(), 2);
}

#[test]
fn another_index_is_honoured() {
    let world = World::new();
    world.pass("a.py", "fine\n");
    // Of another length: git treats a file with the same length and time as unchanged.
    world.write("a.py", "EVIL!\n");
    world.record(Level::High, "evil", "a.py:1");
    let index = world.root().join(".git/next-index");
    fs::copy(world.root().join(".git/index"), &index).unwrap();
    let other = Git::at(&world.root()).unwrap().with_index(index.clone());
    assert_eq!(world.gate(&other, |gate| gate.judge(&GateEvent::PreCommit)).exit_code(), 0);
    let status = std::process::Command::new("git")
        .args(["add", "a.py"])
        .current_dir(world.root())
        .env("GIT_INDEX_FILE", &index)
        .status();
    assert!(status.unwrap().success());
    assert_eq!(world.gate(&other, |gate| gate.judge(&GateEvent::PreCommit)).exit_code(), 2);
    assert_eq!(world.pre_commit().exit_code(), 0);
}

#[test]
fn dirtying_another_file_does_not_change_the_answer() {
    let world = World::with_council(&[("sec", REVIEW)]);
    world.write("a.py", "EVIL\n");
    world.stage("b.py", "fine\n");
    assert_eq!(blockers(&world.pre_commit()), ["evil a.py:1"]);
    world.write("b.py", "dirty\n");
    assert_eq!(blockers(&world.pre_commit()), ["evil a.py:1"]);
    world.git(&["add", "b.py"]);
    assert_eq!(blockers(&world.pre_commit()), ["evil a.py:1"]);
}

#[test]
fn no_verify_is_noticed_after_the_commit_and_before_the_push() {
    let world = World::with_council(&[("sec", REVIEW)]);
    world.pass("ok.py", "fine\n");
    let base = world.git(&["rev-parse", "HEAD"]);
    world.stage("a.py", "EVIL\n");
    world.git(&["commit", "-q", "--no-verify", "-m", "sneak"]);
    let tip = world.git(&["rev-parse", "HEAD"]);
    // Without a post-commit hook: the push notices, reviews and blocks.
    let push = |local: &str, remote: &str| {
        let zeros = "0".repeat(40);
        let remote = if remote.is_empty() { &zeros } else { remote };
        let line = format!("refs/heads/main {local} refs/heads/main {remote}\n");
        world.judge(&GateEvent::PrePush(PushedRef::read(&line).unwrap()))
    };
    let outcome = push(&tip, &base);
    assert_eq!(blockers(&outcome), ["evil a.py:1"]);
    assert!(notes(&outcome).contains("went around the gate"), "{outcome:?}");
    // With one: noticed at once, named only for this commit, recorded once.
    let bypass = world.after_commit().unwrap();
    assert_eq!((bypass.commit.as_str(), bypass.noticed.as_str()), (tip.as_str(), "post-commit"));
    let repository = world.repository();
    let known = world.ledger(repository.id(), |ledger| ledger.bypass(&tip)).unwrap().unwrap();
    assert_eq!(known.noticed, "pre-push");
    // A new branch without a remote counterpart is judged from its beginning.
    assert_eq!(push(&tip, "").exit_code(), 2);
    // Deleting a remote branch sends nothing.
    let line = format!("(delete) {} refs/heads/main {base}\n", "0".repeat(40));
    assert_eq!(world.judge(&GateEvent::PrePush(PushedRef::read(&line).unwrap())).exit_code(), 0);
}

#[test]
fn what_is_said_to_an_agent_does_not_stand_for_the_councils() {
    let world = World::with_council(&[("sec", REVIEW)]);
    world.stage("a.py", "EVIL\n");
    // There is no review yet, and the commit's own hook will run it; without the hook it stops here.
    assert_eq!(world.agent_commit(&["-m", "x"]).exit_code(), 0);
    assert_eq!(world.agent_commit(&["-nm", "x"]).exit_code(), 2);
    world.git(&["commit", "-q", "--no-verify", "-m", "x"]);
    assert!(world.after_commit().is_some());
}

#[test]
fn amending_a_bypass_does_not_make_it_good() {
    let world = World::with_council(&[("sec", REVIEW)]);
    world.pass("ok.py", "fine\n");
    world.stage("a.py", "EVIL\n");
    world.git(&["commit", "-q", "--no-verify", "-m", "sneak"]);
    assert!(world.after_commit().is_some());
    // `git commit --amend` with nothing staged, and a commit on top: the bypassed commit is reviewed again.
    assert_eq!(blockers(&world.pre_commit()), ["evil a.py:1"]);
    world.stage("b.py", "fine\n");
    assert_eq!(blockers(&world.pre_commit()), ["evil a.py:1"]);
    world.stage("a.py", "fine\n");
    assert_eq!(world.pre_commit().exit_code(), 0);
}

#[test]
fn an_amended_commit_is_judged_by_its_own_tree() {
    let world = World::new();
    world.pass("a.py", "fine\n");
    world.write("a.py", "EVIL\n");
    world.record(Level::High, "evil", "a.py:1");
    world.git(&["add", "."]);
    assert_eq!(world.agent_commit(&["--amend", "--no-edit"]).exit_code(), 2);
    assert_eq!(world.pre_commit().exit_code(), 2);
    world.git(&["commit", "-q", "--amend", "--no-edit", "--no-verify"]);
    assert_eq!(world.after_commit().unwrap().how, "it was committed although the gate had blocked it");
}

#[test]
fn the_commit_of_a_merge_is_judged() {
    let world = World::with_council(&[("sec", REVIEW)]);
    world.pass("a.py", "fine\n");
    world.git(&["checkout", "-q", "-b", "side"]);
    world.stage("side.py", "EVIL\n");
    world.git(&["commit", "-q", "--no-verify", "-m", "side"]);
    world.git(&["checkout", "-q", "main"]);
    world.pass("b.py", "fine\n");
    world.git(&["merge", "-q", "--no-commit", "--no-ff", "side"]);
    assert_eq!(blockers(&world.pre_commit()), ["evil side.py:1"]);
}

#[test]
fn unresolved_conflicts_are_said_so() {
    let world = World::new();
    world.stage("a.py", "one\n");
    world.git(&["commit", "-qm", "x"]);
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("a.py", "two\n");
    world.git(&["commit", "-qam", "x"]);
    world.git(&["checkout", "-q", "main"]);
    world.write("a.py", "three\n");
    world.git(&["commit", "-qam", "x"]);
    let merge = std::process::Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "merge", "-q", "side"])
        .current_dir(world.root())
        .output();
    assert!(String::from_utf8_lossy(&merge.unwrap().stdout).contains("CONFLICT"));
    let outcome = world.pre_commit();
    assert_eq!(outcome.exit_code(), 2);
    assert!(reasons(&outcome).contains("unresolved conflicts"), "{outcome:?}");
}

#[test]
fn the_first_commit_is_reviewed_as_a_whole() {
    let world = World::with_council(&[("sec", REVIEW)]);
    world.stage("a.py", "EVIL\n");
    assert_eq!(blockers(&world.pre_commit()), ["evil a.py:1"]);
    assert_eq!(blockers(&world.agent_commit(&["-m", "x"])), ["evil a.py:1"]);
}

#[test]
fn work_trees_share_findings_and_have_their_own_index() {
    let world = World::new();
    world.pass("a.py", "fine\n");
    let tree = world.dir.path().join("tree");
    world.git(&["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "side"]);
    fs::write(tree.join("a.py"), "EVIL\n").unwrap();
    world.git_in(&tree, &["add", "."]);
    world.write("a.py", "EVIL\n");
    world.record(Level::High, "evil", "a.py:1");
    world.write("a.py", "fine\n");
    let side = Git::at(&tree).unwrap();
    assert_eq!(side.id(), world.repository().id());
    assert_eq!(world.gate(&side, |gate| gate.judge(&GateEvent::PreCommit)).exit_code(), 2);
    assert_eq!(world.pre_commit().exit_code(), 0);
}

#[test]
fn submodules_are_seen_and_findings_inside_them_stay() {
    let world = World::with_council(&[("sec", "cat > \"$HOME/call.json\" 2>/dev/null; true")]);
    let lib = world.dir.path().join("lib");
    fs::create_dir(&lib).unwrap();
    world.git_in(&lib, &["init", "-q"]);
    fs::write(lib.join("x.c"), "bad\n").unwrap();
    world.git_in(&lib, &["add", "."]);
    world.git_in(&lib, &["commit", "-qm", "x"]);
    world.git(&["submodule", "--quiet", "add", lib.to_str().unwrap(), "lib"]);
    let repository = world.repository();
    let tree = repository.index_tree().unwrap();
    let changes = repository.changes(None, &tree).unwrap();
    assert!(changes.submodules.contains_key("lib"));
    assert!(!changes.files.contains_key("lib"));
    world.record(Level::High, "bad", "lib/x.c:1");
    assert_eq!(blockers(&world.pre_commit()), ["bad lib/x.c:1"]);
}

#[test]
fn two_repositories_with_the_same_names_do_not_meet() {
    let first = World::new();
    first.stage("a.py", "EVIL\n");
    first.record(Level::High, "evil", "a.py:1");
    assert_eq!(first.pre_commit().exit_code(), 2);
    let second = World { store: first.store, ..World::new() };
    second.stage("a.py", "EVIL\n");
    assert_eq!(second.pre_commit().exit_code(), 0);
}

#[test]
fn a_damaged_record_blocks_with_the_way_out() {
    use lictor_store::{Durability, Keys, Space, StoreExt as _};
    let world = World::new();
    world.stage("a.py", "x\n");
    world.record(Level::High, "t", "a.py:1");
    world
        .store
        .update(Durability::Process, |tx| {
            for (key, value) in tx.scan(Space::Finding, &Keys::all())? {
                if value.starts_with(b"{\"id\"") {
                    tx.put(Space::Finding, &key, b"\0")?;
                }
            }
            Ok(())
        })
        .unwrap();
    let outcome = world.pre_commit();
    let GateOutcome::Blocked(blocked, _) = &outcome else { panic!("must block: {outcome:?}") };
    assert!(blocked.reasons[0].contains("the record is damaged"), "{blocked:?}");
    assert!(blocked.next.contains(&"lictor audit verify".to_owned()));
}

#[test]
fn ci_judges_head() {
    let world = World::with_council(&[("sec", REVIEW)]);
    world.stage("ok.py", "fine\n");
    world.git(&["commit", "-qm", "x"]);
    assert_eq!(world.judge(&GateEvent::Ci { base: None }).exit_code(), 0);
    world.stage("a.py", "EVIL\n");
    world.git(&["commit", "-qm", "x"]);
    let outcome = world.judge(&GateEvent::Ci { base: Some("HEAD~1".to_owned()) });
    assert_eq!(blockers(&outcome), ["evil a.py:1"]);
    let annotations = lictor_ledger::render::github::gate("ci", &outcome);
    assert_eq!(annotations.lines().next(), Some("::error file=a.py,line=1,title=HIGH evil::sec: evil"));
    let summary = lictor_ledger::render::markdown::gate("ci", &outcome);
    assert!(summary.contains("| HIGH | evil | sec | a.py:1 |  |"), "{summary}");
}
