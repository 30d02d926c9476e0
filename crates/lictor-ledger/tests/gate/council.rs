//! Councils: every reviewer has to report.

use lictor_ledger::Level;
use lictor_ledger::gate::GateOutcome;

use crate::world::{World, blockers, reasons};

fn staged(world: World) -> World {
    world.stage("a.py", "x\n");
    world
}

#[test]
fn silence_with_exit_code_zero_is_a_clean_report_and_is_not_asked_for_twice() {
    let world = staged(World::with_council(&[("quiet", "true")]));
    assert_eq!(world.pre_commit().exit_code(), 0);
    assert_eq!(world.take_progress(), ["start quiet", "quiet: clean"]);
    assert_eq!(world.pre_commit().exit_code(), 0);
    assert_eq!(world.take_progress(), ["reused ship-it"]);
    world.stage("a.py", "y\n");
    assert_eq!(world.pre_commit().exit_code(), 0);
    assert_eq!(world.take_progress(), ["start quiet", "quiet: clean"]);
}

#[test]
fn who_does_not_report_blocks() {
    for (script, said) in [
        ("exit 3", "error: it ended with 3 and reported nothing"),
        ("echo nonsense", "error: line 1: not a finding"),
        ("kill -9 $$", "ended by a signal"),
        ("echo '{\"level\":\"INFO\",\"title\":\"t\"}'", "is not a level"),
        ("head -c 20000000 /dev/zero", "printed too much"),
    ] {
        let world = staged(World::with_council(&[("quiet", "true"), ("sec", script)]));
        let outcome = world.pre_commit();
        assert_eq!(outcome.exit_code(), 2, "{script}");
        assert!(reasons(&outcome).contains("reviewer sec did not report"), "{outcome:?}");
        assert!(reasons(&outcome).contains(said), "{script}: {outcome:?}");
        // A failed review is not remembered as one.
        world.take_progress();
        assert_eq!(world.pre_commit().exit_code(), 2);
        assert!(world.take_progress().contains(&"start sec".to_owned()));
    }
}

#[test]
fn a_reviewer_that_hangs_is_ended_with_everything_it_started() {
    let mut world = staged(World::with_council(&[("slow", "sleep 1000 & echo $! > child; sleep 1000")]));
    let council = world.councils.get_mut("ship-it").unwrap();
    council.reviewers[0].timeout = Some("1s".parse().unwrap());
    let outcome = world.pre_commit();
    assert!(reasons(&outcome).contains("stopped after 1.000 s"), "{outcome:?}");
    let child = std::fs::read_to_string(world.root().join("child")).unwrap();
    let proc = std::path::PathBuf::from(format!("/proc/{}/stat", child.trim()));
    // The signal was sent; the end of the process is waited for.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let stat = std::fs::read_to_string(&proc).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z ") {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "still running: {stat}");
        std::thread::yield_now();
    }
}

#[test]
fn untrusted_programs_do_not_run() {
    let world = staged(World::with_council(&[("stranger", "touch ran; true")]));
    let outcome = world.pre_commit();
    assert!(reasons(&outcome).contains("not trusted; run `lictor trust`"), "{outcome:?}");
    assert!(!world.root().join("ran").exists());
}

#[test]
fn without_a_guardrail_nothing_blocks_and_everything_is_said() {
    let script = "echo '{\"level\":\"CRITICAL\",\"title\":\"t\",\"evidence\":[\"a.py:1\"]}'";
    let mut world = staged(World::with_council(&[("sec", script), ("bad", "exit 1")]));
    world.councils.get_mut("ship-it").unwrap().guardrail = false;
    let outcome = world.pre_commit();
    let GateOutcome::Ok(seen) = &outcome else { panic!("{outcome:?}") };
    let notes = seen.notes.join("\n");
    assert!(notes.contains("reviewer bad did not report"), "{notes}");
    assert!(notes.contains("1 open HIGH or CRITICAL finding(s) do not block"), "{notes}");
}

#[test]
fn reviewers_get_the_call_and_see_what_would_be_committed() {
    let script = "cat > ../call.json; cat a.py > ../seen; env > ../env";
    let world = staged(World::with_council(&[("sec", script)]));
    world.write("a.py", "not staged\n");
    assert_eq!(world.pre_commit().exit_code(), 0);
    // The tree was checked out elsewhere, so the script's `..` is not the world's.
    assert!(!world.dir.path().join("call.json").exists());
    world.git(&["checkout", "a.py"]);
    world.stage("b.py", "y\n");
    assert_eq!(world.pre_commit().exit_code(), 0);
    let call: serde_json::Value =
        serde_json::from_slice(&std::fs::read(world.dir.path().join("call.json")).unwrap()).unwrap();
    assert_eq!(call["files"], serde_json::json!(["a.py", "b.py"]));
    assert_eq!(call["event"], "pre-commit");
    assert_eq!(call["council"], "ship-it");
    let env = std::fs::read_to_string(world.dir.path().join("env")).unwrap();
    assert!(env.contains("PATH=") && !env.contains("CARGO_PKG_NAME="), "{env}");
}

#[test]
fn partly_staged_files_are_reviewed_as_staged() {
    let script =
        "grep -q EVIL a.py && echo '{\"level\":\"HIGH\",\"title\":\"evil\",\"evidence\":[\"a.py:1\"]}'; true";
    let world = World::with_council(&[("sec", script)]);
    world.stage("a.py", "EVIL\n");
    world.write("a.py", "innocent\n");
    assert_eq!(blockers(&world.pre_commit()), ["evil a.py:1"]);
}

#[test]
fn what_the_reviewer_no_longer_finds_is_settled_by_its_next_report() {
    // The flagged line stays; what makes it harmless is elsewhere.
    let script = "[ -e guard.py ] || echo '{\"level\":\"HIGH\",\"title\":\"open door\",\"evidence\":[\"a.py:1\"]}'; true";
    let world = staged(World::with_council(&[("sec", script)]));
    assert_eq!(blockers(&world.pre_commit()), ["open door a.py:1"]);
    world.stage("guard.py", "closed\n");
    assert_eq!(world.pre_commit().exit_code(), 0);
    world.git(&["rm", "-q", "-f", "guard.py"]);
    assert_eq!(blockers(&world.pre_commit()), ["open door a.py:1"]);
}

#[test]
fn the_other_formats() {
    let mut world =
        staged(World::with_council(&[("tests", "echo broken; exit 1"), ("scan", "cat \"$0.sarif\"")]));
    let council = world.councils.get_mut("ship-it").unwrap();
    council.reviewers[0].format = Some(lictor_ledger::council::Format::ExitCode);
    council.reviewers[0].level = Some(Level::Critical);
    council.reviewers[1].format = Some(lictor_ledger::council::Format::Sarif);
    let sarif = r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"ruleId":"R1","level":"error","message":{"text":"bad"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.py"},"region":{"startLine":1}}}]}]}]}"#;
    std::fs::write(world.dir.path().join("scan.sh.sarif"), sarif).unwrap();
    assert_eq!(blockers(&world.pre_commit()), ["tests failed ", "R1: bad a.py:1"]);
    // A SARIF tool without output has not reported.
    std::fs::write(world.dir.path().join("scan.sh.sarif"), "").unwrap();
    world.stage("a.py", "z\n");
    assert!(reasons(&world.pre_commit()).contains("reviewer scan did not report (no report)"));
}

#[test]
fn presets_are_skipped_visibly() {
    let mut world = staged(World::new());
    world.stage("a.py", "X = 1\n");
    world.councils = serde_json::from_str(
        r#"{"lint":{"on":["pre-commit"],"guardrail":true,"reviewers":[
            {"name":"clippy","preset":"clippy"},{"name":"ruff","preset":"ruff"}]}}"#,
    )
    .unwrap();
    let outcome = world.pre_commit();
    let progress = world.take_progress().join("\n");
    assert!(progress.contains("clippy: skipped: none of the files is of its kind"), "{progress}");
    if !progress.contains("ruff: clean") {
        assert!(progress.contains("ruff: skipped: `ruff` is not installed"), "{progress}");
    }
    assert_eq!(outcome.exit_code(), 0);
}

#[test]
fn budgets_are_kept() {
    let mut world = staged(World::with_council(&[("sec", "sleep 1000")]));
    world.stage("b.py", "x\n");
    world.councils.get_mut("ship-it").unwrap().budget.max_files = Some(1);
    assert!(reasons(&world.pre_commit()).contains("would look at 2 files, its budget allows 1"));
    let council = world.councils.get_mut("ship-it").unwrap();
    council.budget.max_files = None;
    council.budget.time = Some("200ms".parse().unwrap());
    assert!(reasons(&world.pre_commit()).contains("stopped after 0."));
}

#[test]
fn dependents_are_found_by_what_they_import() {
    let mut world = World::with_council(&[("sec", "true")]);
    world.write("users.py", "x\n");
    world.write("api.py", "from app import users\n");
    world.pass("readme.md", "about users\n");
    world.councils.get_mut("ship-it").unwrap().scope =
        serde_json::from_str(r#"{"files":"staged","dependents":true}"#).unwrap();
    world.stage("users.py", "y\n");
    let repository = world.repository();
    let plan = world.gate(&repository, |gate| gate.plan("ship-it", &world.councils["ship-it"])).unwrap();
    assert_eq!(plan.files.keys().collect::<Vec<_>>(), ["api.py", "users.py"]);
    assert_eq!(plan.scope_mode, "staged+dependents");
}
