//! A finding counts for the trees that contain what the reviewer saw.

use lictor_ledger::Level;
use lictor_ledger::gate::GateOutcome;

use crate::world::{World, blockers};

const BAD: &str =
    "import db\n\ndef find(name):\n    return db.run('select ' + name)\n\ndef other():\n    return 1\n";

fn flagged() -> World {
    let world = World::new();
    world.stage("users.py", BAD);
    world.record(Level::High, "SQL", "users.py:4:raw");
    world
}

#[test]
fn what_was_flagged_is_blocked_with_the_way_on() {
    let world = flagged();
    let GateOutcome::Blocked(blocked, _) = world.pre_commit() else { panic!("must block") };
    assert_eq!(blocked.findings.len(), 1);
    assert!(blocked.next[0].starts_with("lictor verdict explain --plan-hash abc123"));
}

#[test]
fn low_and_medium_never_block() {
    let world = World::new();
    world.stage("a.py", "x\n");
    world.record(Level::Low, "a", "a.py:1");
    world.record(Level::Medium, "b", "a.py:1");
    assert_eq!(world.pre_commit().exit_code(), 0);
    world.record(Level::Critical, "c", "a.py:1");
    assert_eq!(blockers(&world.pre_commit()), ["c a.py:1"]);
}

#[test]
fn a_fixed_line_is_let_through_without_clearing() {
    let world = flagged();
    world.write("users.py", &BAD.replace("'select ' + name", "'select ?', name"));
    // Fixed in the work tree only: the index still has it.
    assert_eq!(world.pre_commit().exit_code(), 2);
    world.git(&["add", "."]);
    assert_eq!(world.pre_commit().exit_code(), 0);
    // Back again: blocked again.
    world.stage("users.py", BAD);
    assert_eq!(world.pre_commit().exit_code(), 2);
}

#[test]
fn an_unrelated_edit_changes_nothing_and_the_line_is_followed() {
    let world = flagged();
    world.write("users.py", &format!("# licence\n# text\n{}", BAD.replace("return 1", "return 2")));
    world.stage("other.txt", "x\n");
    assert_eq!(blockers(&world.pre_commit()), ["SQL users.py:6"]);
}

#[test]
fn moving_reindenting_and_renaming_do_not_help() {
    let world = flagged();
    // Cut and pasted to the end, with other white space.
    let line = "    return db.run('select ' + name)\n";
    world.stage(
        "users.py",
        &format!("{}\ndef moved(name):\n\t\treturn  db.run( 'select ' + name )\n", BAD.replace(line, "")),
    );
    assert_eq!(blockers(&world.pre_commit()), ["SQL users.py:9"]);
    world.stage("users.py", BAD);
    world.git(&["commit", "-qm", "x"]);
    world.git(&["mv", "users.py", "people.py"]);
    assert_eq!(blockers(&world.pre_commit()), ["SQL people.py:4"]);
}

#[test]
fn a_line_that_looked_the_same_all_along_is_not_the_flagged_one() {
    let world = World::new();
    world.stage("a.py", "def a():\n    go()\n\ndef b():\n    go()\n");
    world.record(Level::High, "t", "a.py:5");
    world.stage("a.py", "def a():\n    go()\n\ndef b():\n    stop()\n");
    assert_eq!(world.pre_commit().exit_code(), 0);
}

#[test]
fn a_deleted_file_is_settled_and_an_unknown_one_is_not() {
    let world = flagged();
    world.git(&["commit", "-qm", "x"]);
    world.git(&["rm", "-q", "users.py"]);
    assert_eq!(world.pre_commit().exit_code(), 0);
    world.record(Level::High, "ghost", "no/such/file.py:3");
    assert_eq!(blockers(&world.pre_commit()), ["ghost no/such/file.py:3"]);
}

#[test]
fn a_finding_on_a_whole_file_stays_while_the_file_does() {
    let world = World::new();
    world.stage("a.py", "x\n");
    world.record(Level::High, "t", "a.py");
    world.stage("a.py", "y\n");
    assert_eq!(world.pre_commit().exit_code(), 2);
}

#[test]
fn clearing_and_waiving_let_through() {
    let world = flagged();
    let (plan, id) = world.record(Level::High, "SQL", "users.py:4:raw");
    let repository = world.repository();
    use lictor_ledger::ledger::Verb;
    use lictor_ledger::repository::Repository as _;
    world
        .ledger(repository.id(), |ledger| {
            ledger.rule(plan.as_str(), &id, Verb::AcceptRisk, "ann", "ok", None)
        })
        .unwrap();
    assert_eq!(world.pre_commit().exit_code(), 0);
    // The same claim on the same code stays waived; on other code it counts.
    world.record(Level::High, "SQL", "users.py:4:raw");
    assert_eq!(world.pre_commit().exit_code(), 0);
    world.record(Level::High, "SQL", "users.py:7:raw");
    assert_eq!(world.pre_commit().exit_code(), 2);
}

#[test]
fn another_branch_with_other_content_is_not_concerned() {
    let world = flagged();
    world.git(&["commit", "-qm", "bad"]);
    world.git(&["checkout", "-q", "--orphan", "clean"]);
    world.stage("users.py", "def find(name):\n    return safe(name)\n");
    assert_eq!(world.pre_commit().exit_code(), 0);
}
