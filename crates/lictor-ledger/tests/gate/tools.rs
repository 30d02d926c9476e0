//! The preset reviewers with the real tools, if they are installed. If not, the test reports that.

use std::io::Write as _;
use std::path::Path;

use lictor_ledger::council::Councils;
use lictor_ledger::gate::GateOutcome;
use lictor_ledger::{Finding, Level, sarif};

use crate::world::World;

/// Whether a tool is installed; reports its absence around the capture of the test's output.
fn has(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join(tool).is_file());
    if !found {
        let _ = writeln!(std::io::stderr(), "skipped: `{tool}` is not installed, nothing was tested with it");
    }
    found
}

fn council(reviewer: &str) -> Councils {
    let text = format!(r#"{{"lint":{{"on":["pre-commit"],"guardrail":true,"reviewers":[{reviewer}]}}}}"#);
    serde_json::from_str(&text).unwrap()
}

/// The recorded findings of the plan that the gate reviewed: level, start of the title, places.
fn found(world: &World, outcome: &GateOutcome) -> Vec<(Level, String, Vec<String>)> {
    let (GateOutcome::Ok(seen) | GateOutcome::Blocked(_, seen)) = outcome else { panic!("{outcome:?}") };
    let [attestation] = seen.attestations.as_slice() else { panic!("{outcome:?}") };
    let repository = world.repository();
    let id = lictor_ledger::repository::Repository::id(&repository);
    let verdict = world.ledger(id, |ledger| ledger.verdict(attestation.plan.as_str())).unwrap();
    let mut found: Vec<_> = verdict.open.iter().map(row).collect();
    found.sort();
    found
}

fn row(finding: &Finding) -> (Level, String, Vec<String>) {
    let title = finding.title.split(": ").next().unwrap_or_default().to_owned();
    (finding.level, title, finding.evidence.iter().map(ToString::to_string).collect())
}

fn expected(rows: &[(Level, &str, &[&str])]) -> Vec<(Level, String, Vec<String>)> {
    let place = |places: &&[&str]| places.iter().map(|place| (*place).to_owned()).collect();
    rows.iter().map(|(level, title, places)| (*level, (*title).to_owned(), place(places))).collect()
}

const SLOPPY: &str = "import os\nimport sys\n\n\ndef f():\n    return undefined\n";

fn python(reviewer: &str) -> World {
    let mut world = World::new();
    world.councils = council(reviewer);
    // What ruff looks for by default changes from version to version.
    world.write("ruff.toml", "[lint]\nselect = [\"E9\", \"F\"]\n");
    world.write("pkg/__init__.py", "");
    world.write("pkg/bad dir/sloppy.py", SLOPPY);
    world.write("pkg/broken.py", "def f(:\n");
    world.stage("readme.md", "import nothing\n");
    world
}

#[test]
fn ruff_reports_what_cannot_run_as_high_and_the_rest_as_medium() {
    if !has("ruff") {
        return;
    }
    let world = python(r#"{"name":"ruff","preset":"ruff"}"#);
    let outcome = world.pre_commit();
    assert_eq!(outcome.exit_code(), 2, "{outcome:?}");
    let found = found(&world, &outcome);
    let sloppy = [
        (Level::Medium, "F401", &["pkg/bad dir/sloppy.py:1:8"][..]),
        (Level::Medium, "F401", &["pkg/bad dir/sloppy.py:2:8"]),
        (Level::High, "F821", &["pkg/bad dir/sloppy.py:6:12"]),
    ];
    let (broken, rest): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(.., places)| places.iter().all(|place| place.starts_with("pkg/broken.py:")));
    assert_eq!(rest, expected(&sloppy));
    assert!(!broken.is_empty() && broken.iter().all(|(level, ..)| *level == Level::High), "{broken:?}");

    // Repaired, it is clean.
    world.write("pkg/bad dir/sloppy.py", "def f():\n    return 1\n");
    world.stage("pkg/broken.py", "");
    let outcome = world.pre_commit();
    assert_eq!(outcome.exit_code(), 0, "{outcome:?}");
    assert!(world.take_progress().contains(&"ruff: clean".to_owned()));
}

#[test]
fn any_sarif_tool_is_a_reviewer_by_one_line() {
    if !has("ruff") {
        return;
    }
    let world = python(
        r#"{"name":"scan","command":["ruff","check","--output-format","sarif","."],"format":"sarif"}"#,
    );
    let outcome = world.pre_commit();
    assert_eq!(outcome.exit_code(), 2, "{outcome:?}");
    let found = found(&world, &outcome);
    assert!(
        found.contains(&(Level::High, "F401".to_owned(), vec!["pkg/bad dir/sloppy.py:1:8".to_owned()])),
        "{found:?}"
    );
    assert!(found.len() >= 4, "{found:?}");
    // And what it wrote comes through a round trip of our own.
    let log = std::process::Command::new("ruff")
        .args(["check", "--exit-zero", "--output-format", "sarif", "."])
        .current_dir(world.root())
        .output()
        .unwrap();
    let claims = sarif::import(std::str::from_utf8(&log.stdout).unwrap(), None, Some(&world.root())).unwrap();
    assert!(claims.iter().all(|claim| claim.agent() == "ruff" && Path::new(claim.location()).is_relative()));
}

const CARGO: &str = "[package]\nname = \"scratch\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
const SLOW: &str = "pub fn first(v: &Vec<u8>) -> Option<&u8> {\n    return v.get(0);\n}\n";

fn rust(lib: &str) -> World {
    let mut world = World::new();
    world.councils = council(r#"{"name":"clippy","preset":"clippy"}"#);
    world.write("Cargo.toml", CARGO);
    world.write(".gitignore", "/target\n");
    world.stage("src/lib.rs", lib);
    world
}

#[test]
fn clippy_reports_warnings_as_medium_and_errors_as_high() {
    if !has("cargo-clippy") {
        return;
    }
    let world = rust(SLOW);
    let outcome = world.pre_commit();
    assert_eq!(outcome.exit_code(), 0, "{outcome:?}");
    assert_eq!(
        found(&world, &outcome),
        expected(&[
            (Level::Medium, "clippy::get_first", &["src/lib.rs:2:12"]),
            (Level::Medium, "clippy::needless_return", &["src/lib.rs:2:5"]),
            (Level::Medium, "clippy::ptr_arg", &["src/lib.rs:1:17"]),
        ])
    );
    world.stage("src/lib.rs", "pub fn f() -> u8 {\n    \"x\"\n}\n");
    let outcome = world.pre_commit();
    assert_eq!(outcome.exit_code(), 2, "{outcome:?}");
    assert!(found(&world, &outcome).iter().any(|row| row.0 == Level::High && row.1 == "E0308"));
    world.stage("src/lib.rs", "pub fn f() -> u8 {\n    1\n}\n");
    let outcome = world.pre_commit();
    assert_eq!(outcome.exit_code(), 0, "{outcome:?}");
    assert!(world.take_progress().contains(&"clippy: clean".to_owned()));
}

#[test]
fn clippy_that_cannot_build_has_not_reported() {
    if !has("cargo-clippy") {
        return;
    }
    let world = rust(SLOW);
    world.stage("Cargo.toml", "[package]\nname = ");
    let outcome = world.pre_commit();
    assert_eq!(outcome.exit_code(), 2, "{outcome:?}");
    assert!(crate::world::reasons(&outcome).contains("reviewer clippy did not report"), "{outcome:?}");
}
