use super::*;

#[test]
fn what_was_made_goes_and_what_was_there_stays() {
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    let state = at("state");
    fs::create_dir(at("there")).unwrap();
    fs::write(at("there/full"), "x").unwrap();
    let ((), points, held) = hold(&state, |points| {
        for file in ["there/full", "there/new", "a/b/c.json"] {
            points.file(&at(file)).unwrap();
        }
        points.directory(&at("a/d")).unwrap();
        points.file(&at("grown")).unwrap();
        Ok(())
    })
    .unwrap();
    fs::write(at("grown"), "by somebody").unwrap();
    let made = [at("there/new"), at("a"), at("a/b"), at("a/b/c.json"), at("a/d"), at("grown")];
    assert_eq!(points.made, made);
    drop(held);
    release(&state).unwrap();
    assert!(at("there/full").exists() && !at("there/new").exists());
    assert!(at("grown").exists() && !at("a").exists());
}

#[test]
fn the_last_run_of_a_project_removes_what_the_first_made() {
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    let run = || {
        hold(&at("state"), |points| {
            let there = points.is_there(&at("x.json"));
            points.file(&at("x.json")).unwrap();
            Ok(there)
        })
        .unwrap()
    };
    let (there, _, first) = run();
    let (there_too, second_points, second) = run();
    assert!(!there && !there_too, "another run's mount point governs nothing");
    assert_eq!(second_points.all().collect::<Vec<_>>(), [at("x.json")]);
    drop(first);
    release(&at("state")).unwrap();
    assert!(at("x.json").exists(), "the second run still needs it");
    drop(second);
    release(&at("state")).unwrap();
    assert!(!at("x.json").exists());
}

#[test]
fn a_run_that_nobody_tidied_up_after_is_tidied_up_by_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    let failed: Result<((), _, _), _> = hold(&at("state"), |points| {
        points.file(&at("old.json")).unwrap();
        Err(RunError::Refused("no".to_owned()))
    });
    assert!(failed.is_err() && at("old.json").exists());
    let ((), _, held) = hold(&at("state"), |_| Ok(())).unwrap();
    assert!(!at("old.json").exists());
    drop(held);
}

#[test]
fn a_repository_works_with_what_is_made_in_it_and_is_as_before_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    let git = |args: &[&str]| {
        let done =
            std::process::Command::new("git").args(args).current_dir(directory.path()).output().unwrap();
        assert!(done.status.success(), "{args:?}: {done:?}");
    };
    git(&["init", "-q"]);
    let ((), _, held) =
        hold(&at("state"), |points| points.file(&at(".git/commondir")).map_err(RunError::io("no"))).unwrap();
    git(&["status"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"]);
    drop(held);
    release(&at("state")).unwrap();
    assert!(!at(".git/commondir").exists());
    git(&["log", "-1"]);
}

#[test]
fn directories_that_were_closed_inside_are_open_again_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    fs::create_dir_all(at("a/b")).unwrap();
    let set = |path: &str, mode| fs::set_permissions(at(path), fs::Permissions::from_mode(mode)).unwrap();
    let mode = |path: &str| fs::metadata(at(path)).unwrap().mode() & 0o777;
    set("a", 0o750);
    set("a/b", 0o755);
    let run = || {
        let kept = |points: &mut Points| {
            ["a", "a/b"].iter().for_each(|path| points.keep_open(&at(path)));
            Ok(())
        };
        hold(&at("state"), kept).unwrap()
    };
    let (_, _, first) = run();
    set("a/b", 0o000);
    // A second run finds it closed and must not take that for how it was.
    let (_, _, second) = run();
    set("a", 0o010);
    drop((first, second));
    release(&at("state")).unwrap();
    assert_eq!((mode("a"), mode("a/b")), (0o750, 0o755));
    let (_, _, third) = run();
    set("a", 0o010);
    drop(third);
    // Nobody put things back; the next run does.
    let (_, _, last) = run();
    assert_eq!(mode("a"), 0o750);
    drop(last);
}
