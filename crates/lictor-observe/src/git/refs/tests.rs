use std::path::Path;
use std::process::Command;

use super::are_kept_elsewhere;
use crate::observer::RealObserver;

/// Runs git for a person of no importance.
pub(crate) fn git(at: &Path, args: &[&str]) {
    let names = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "gc.auto=0"];
    let mut command = Command::new("git");
    let status =
        command.args(names).args(args).current_dir(at).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
    assert!(status.unwrap().status.success(), "git {args:?}");
}

/// A repository with one commit on `main`, and `work` with one more.
pub(crate) fn two_branches() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    git(at, &["init", "-q", "-b", "main"]);
    git(at, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(at, &["checkout", "-q", "-b", "work"]);
    git(at, &["commit", "-q", "--allow-empty", "-m", "second"]);
    git(at, &["checkout", "-q", "main"]);
    folder
}

fn kept(at: &Path, branches: &[&str]) -> bool {
    are_kept_elsewhere(at.to_str().unwrap(), &branches.iter().copied().collect(), &RealObserver)
}

#[test]
fn commits_of_one_branch_alone_are_lost() {
    let folder = two_branches();
    assert!(!kept(folder.path(), &["work"]));
    assert!(kept(folder.path(), &["main"]), "work has them");
    assert!(!kept(folder.path(), &["main", "work"]), "nothing is left");
    assert!(!kept(folder.path(), &["no-such-branch"]));
    assert!(!kept(Path::new("/no/such/place"), &["work"]));
}

#[test]
fn another_name_for_the_commit_keeps_it() {
    for way in [
        ["branch", "other", "work"],
        ["tag", "v1", "work"],
        ["update-ref", "refs/remotes/origin/work", "work"],
    ] {
        let folder = two_branches();
        git(folder.path(), &way);
        assert!(kept(folder.path(), &["work"]), "{way:?}");
        git(folder.path(), &["pack-refs", "--all"]);
        assert!(kept(folder.path(), &["work"]), "{way:?}, packed");
    }
    let folder = two_branches();
    git(folder.path(), &["branch", "other", "work"]);
    assert!(!kept(folder.path(), &["work", "other"]), "both are deleted");
    git(folder.path(), &["update-ref", "refs/stash", "work"]);
    assert!(!kept(folder.path(), &["work", "other"]), "a stash is not kept");
}

#[test]
fn what_was_merged_is_kept() {
    for way in [&["merge", "-q", "--ff-only", "work"][..], &["merge", "-q", "--no-ff", "-m", "x", "work"]] {
        let folder = two_branches();
        git(folder.path(), way);
        assert!(kept(folder.path(), &["work"]), "{way:?}");
        git(folder.path(), &["commit", "-q", "--allow-empty", "-m", "third"]);
        assert!(kept(folder.path(), &["work"]), "{way:?}, and more on top");
    }
}

#[test]
fn a_newer_file_counts_before_a_packed_ref() {
    let folder = two_branches();
    git(folder.path(), &["branch", "other", "work"]);
    git(folder.path(), &["pack-refs", "--all"]);
    git(folder.path(), &["branch", "-f", "other", "main"]);
    assert!(!kept(folder.path(), &["work"]));
}
