//! Cases that are generated from templates: program, way of naming a file, carrier. A template that lets a
//! harmful name pass, or stops a harmless one, is a gap in a mechanism and not a missing row.
#![expect(clippy::expect_used, reason = "helpers of tests say what they need")]

#[path = "judging/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use lictor_observe::FakeObserver;
use serde::Deserialize;
use world::Judge;

/// Fewer cases than this mean that templates were lost.
const AT_LEAST: usize = 2_100;

/// Forms with the names that are put into them.
#[derive(Debug, Deserialize)]
struct Group {
    stopped: Vec<String>,
    passes: Vec<String>,
    forms: Vec<String>,
}

#[test]
fn every_form_stops_the_first_names_and_passes_the_others() {
    let groups: BTreeMap<String, Group> =
        serde_saphyr::from_str(include_str!("generated/forms.yaml")).expect("the forms can be read");
    let judge = Judge::new();
    let mut count = 0;
    let mut wrong = Vec::new();
    for (name, group) in &groups {
        let stopped = group.stopped.iter().map(|file| (file, false));
        let names: Vec<(&String, bool)> =
            stopped.chain(group.passes.iter().map(|file| (file, true))).collect();
        for form in &group.forms {
            for (file, passes) in &names {
                let command = form.replace("FILE", file);
                count += 1;
                if judge.decision(&command).allows() != *passes {
                    wrong.push(format!(
                        "{name}: {command:?} should {}",
                        if *passes { "pass" } else { "be stopped" }
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= AT_LEAST, "only {count} cases");
}

/// Ways to restore a file, and their carriers.
#[derive(Debug, Deserialize)]
struct Restoring {
    stopped: Vec<String>,
    passes: Vec<String>,
    forms: Vec<String>,
    carriers: Vec<String>,
}

fn git(folder: &Path, words: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=x", "-c", "user.email=x@example.com"])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status();
    assert!(done.expect("git is there").success(), "git {words:?}");
}

/// The world of the other cases, with files in its repository: some are as committed, one is missing, others have
/// uncommitted content.
fn repository(files: &Restoring) -> FakeObserver {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("restoring");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("src")).expect("a folder can be made");
    for name in files.stopped.iter().chain(&files.passes) {
        std::fs::write(folder.join(name), format!("{name} as it was\n")).expect("a file can be written");
    }
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "first"]);
    for name in &files.stopped {
        std::fs::write(folder.join(name), "new work\n").expect("a file can be written");
    }
    let root = "/home/user/project";
    let index = std::fs::read(folder.join(".git/index")).expect("git wrote it");
    let world = FakeObserver::for_judging().binary(&format!("{root}/.git/index"), index);
    let there = files.stopped.iter().chain(&files.passes).filter(|name| *name != "gone.txt");
    there.fold(world, |world, name| {
        let text = std::fs::read_to_string(folder.join(name)).expect("it was written");
        world.file(&format!("{root}/{name}"), &text)
    })
}

#[test]
fn every_way_to_put_a_file_back_loses_nothing_that_git_has() {
    let restoring: Restoring =
        serde_saphyr::from_str(include_str!("generated/git.yaml")).expect("the forms can be read");
    let judge = Judge::in_world(repository(&restoring));
    let mut count = 0;
    let mut wrong = Vec::new();
    for carrier in &restoring.carriers {
        for form in &restoring.forms {
            let stopped = restoring.stopped.iter().map(|file| (file, false));
            for (file, passes) in stopped.chain(restoring.passes.iter().map(|file| (file, true))) {
                let command = carrier.replace("GIT", &form.replace("FILE", file));
                count += 1;
                if judge.decision(&command).allows() != passes {
                    wrong.push(format!("{command:?} should {}", if passes { "pass" } else { "be stopped" }));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 2_000, "only {count} cases");
}
