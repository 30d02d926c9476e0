use std::path::Path;
use std::process::Command;

use lictor_core::session::Blob;

use super::{holds_nothing_new, tree_holds_nothing_new};
use crate::edits::{NoEdits, OwnEdits};
use crate::observer::RealObserver;

/// A repository with three committed files.
fn repository(version: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir_all(at.join("src/deep")).unwrap();
    for name in ["README.md", "src/a.rs", "src/deep/b.rs"] {
        std::fs::write(at.join(name), format!("text of {name}\n")).unwrap();
    }
    git(at, &["init", "-q"]);
    git(at, &["config", "index.version", version]);
    git(at, &["add", "-A"]);
    git(at, &["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "first"]);
    folder
}

fn git(at: &Path, args: &[&str]) {
    let status =
        Command::new("git").args(args).current_dir(at).env("GIT_CONFIG_GLOBAL", "/dev/null").status();
    assert!(status.unwrap().success(), "git {args:?}");
}

fn safe(at: &Path, path: &str) -> bool {
    holds_nothing_new(at.join(path).to_str().unwrap(), &RealObserver, &NoEdits)
}

#[test]
fn committed_files_and_directories_lose_nothing() {
    for version in ["2", "3", "4"] {
        let folder = repository(version);
        for path in ["README.md", "src/a.rs", "src/deep/b.rs", "src", "src/deep", "no/such/file"] {
            assert!(safe(folder.path(), path), "{path} in index version {version}");
        }
    }
}

#[test]
fn what_is_in_no_commit_is_seen() {
    let folder = repository("4");
    let at = folder.path();
    std::fs::write(at.join("src/deep/b.rs"), "another text\n").unwrap();
    std::fs::write(at.join("new.rs"), "new\n").unwrap();
    assert!(!safe(at, "src/deep/b.rs"));
    assert!(!safe(at, "src"), "one file below is changed");
    assert!(!safe(at, "new.rs"), "git does not know it");
    assert!(safe(at, "src/a.rs"));
    git(at, &["add", "src/deep/b.rs"]);
    assert!(!safe(at, "src/deep/b.rs"), "staged is not committed");
}

#[test]
fn a_tree_is_looked_at_as_a_whole_from_anywhere_in_it() {
    let folder = repository("2");
    let clean = |path: &str| {
        tree_holds_nothing_new(folder.path().join(path).to_str().unwrap(), &RealObserver, &NoEdits)
    };
    assert!(clean("") && clean("src/deep"));
    std::fs::remove_file(folder.path().join("README.md")).unwrap();
    assert!(clean("src"), "what is gone comes back");
    std::fs::write(folder.path().join("README.md"), "changed\n").unwrap();
    assert!(!clean("") && !clean("src/deep"));
    let empty = tempfile::tempdir().unwrap();
    assert!(
        !tree_holds_nothing_new(empty.path().to_str().unwrap(), &RealObserver, &NoEdits),
        "no repository"
    );
    git(empty.path(), &["init", "-q"]);
    assert!(
        !tree_holds_nothing_new(empty.path().to_str().unwrap(), &RealObserver, &NoEdits),
        "nothing is known"
    );
}

#[test]
fn a_change_of_the_same_size_in_the_same_instant_is_seen() {
    let folder = repository("2");
    let at = folder.path();
    let index = std::fs::metadata(at.join(".git/index")).unwrap().modified().unwrap();
    let file = at.join("README.md");
    std::fs::write(&file, "Text of README.md\n").unwrap();
    std::fs::File::options().append(true).open(&file).unwrap().set_modified(index).unwrap();
    assert!(!safe(at, "README.md"));
}

#[test]
fn the_same_content_written_again_and_a_deleted_file_lose_nothing() {
    let folder = repository("2");
    let at = folder.path();
    std::fs::write(at.join("README.md"), "text of README.md\n").unwrap();
    std::fs::remove_file(at.join("src/a.rs")).unwrap();
    assert!(safe(at, "README.md"));
    assert!(safe(at, "src/a.rs"));
}

#[test]
fn nothing_is_promised_without_a_repository_or_with_a_damaged_index() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "a").unwrap();
    assert!(!safe(folder.path(), "a"));
    let folder = repository("2");
    let at = folder.path();
    let bytes = std::fs::read(at.join(".git/index")).unwrap();
    for length in 0..bytes.len() {
        std::fs::write(at.join(".git/index"), &bytes[..length]).unwrap();
        let _ = safe(at, "README.md");
    }
    std::fs::write(at.join(".git/index"), &bytes[..40]).unwrap();
    assert!(!safe(at, "README.md"));
}

#[test]
fn linked_worktrees_have_their_own_index() {
    let folder = repository("2");
    let at = folder.path().join("tree");
    git(folder.path(), &["worktree", "add", "-q", at.to_str().unwrap(), "-b", "other"]);
    assert!(safe(&at, "README.md"));
    std::fs::write(at.join("README.md"), "changed\n").unwrap();
    assert!(!safe(&at, "README.md"));
    assert!(safe(folder.path(), "README.md"));
}

#[test]
fn what_was_staged_beside_a_file_does_not_change_what_was_committed_of_it() {
    for packed in [false, true] {
        let folder = repository("2");
        let at = folder.path();
        if packed {
            git(at, &["gc", "-q"]);
        }
        std::fs::write(at.join("src/new.rs"), "new\n").unwrap();
        std::fs::write(at.join("src/deep/b.rs"), "other\n").unwrap();
        git(at, &["add", "src"]);
        for path in ["README.md", "src/a.rs"] {
            assert!(safe(at, path), "{path}");
        }
        for path in ["src/new.rs", "src/deep/b.rs", "src"] {
            assert!(!safe(at, path), "{path} is staged");
        }
        std::fs::write(at.join("src/deep/b.rs"), "text of src/deep/b.rs\n").unwrap();
        assert!(!safe(at, "src/deep/b.rs"), "what is staged would be lost");
        git(at, &["reset", "-q"]);
        assert!(safe(at, "src/deep/b.rs") && !safe(at, "src/new.rs"));
    }
}

#[cfg(unix)]
#[test]
fn links_are_compared_by_where_they_lead() {
    let folder = repository("2");
    let at = folder.path();
    std::os::unix::fs::symlink("README.md", at.join("link")).unwrap();
    git(at, &["add", "link"]);
    git(at, &["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "second"]);
    assert!(safe(at, "link"));
    assert!(tree_holds_nothing_new(at.to_str().unwrap(), &RealObserver, &NoEdits));
    std::fs::remove_file(at.join("link")).unwrap();
    assert!(safe(at, "link"), "what is gone comes back");
    std::os::unix::fs::symlink("src", at.join("link")).unwrap();
    assert!(!safe(at, "link"));
}

/// Contents of one file, as a session remembers them.
struct Contents(String, Vec<Blob>);

impl OwnEdits for Contents {
    fn contents(&self, path: &str) -> Vec<Blob> {
        if path == self.0 { self.1.clone() } else { Vec::new() }
    }
}

#[test]
fn what_only_the_session_changed_is_no_loss() {
    let committed = "text of README.md\n";
    // Contents that the session remembers, what the file holds now, and whether that is only the session's own.
    let cases: [(&[&str], &str, bool); 8] = [
        (&[committed, "one\n"], "one\n", true),
        (&[committed, "one\n", "two\n"], "two\n", true),
        (&["other\n", committed, "two\n"], "two\n", true),
        (&[committed, "one\n"], "two\n", false),
        (&[committed, "two\n", "one\n"], "two\n", false),
        (&["a person's\n", "one\n"], "one\n", false),
        (&["one\n"], "one\n", false),
        (&[], "one\n", false),
    ];
    for (contents, now, own) in cases {
        let folder = repository("2");
        let file = folder.path().join("README.md");
        let path = file.to_str().unwrap().to_owned();
        let blob_of = |text: &&str| {
            std::fs::write(&file, text).unwrap();
            super::blob(&path, 1_000, &RealObserver).unwrap()
        };
        let edits = Contents(path.clone(), contents.iter().map(blob_of).collect());
        std::fs::write(&file, now).unwrap();
        assert_eq!(holds_nothing_new(&path, &RealObserver, &edits), own, "{contents:?} {now}");
        let root = folder.path().to_str().unwrap();
        assert_eq!(tree_holds_nothing_new(root, &RealObserver, &edits), own, "{contents:?} {now}");
        git(folder.path(), &["add", "-A"]);
        assert!(!holds_nothing_new(&path, &RealObserver, &edits), "staged is not committed");
    }
}

#[test]
fn a_file_that_was_not_there_is_the_sessions_own() {
    let folder = repository("2");
    let file = folder.path().join("README.md");
    let path = file.to_str().unwrap().to_owned();
    std::fs::write(&file, "anew\n").unwrap();
    let now = super::blob(&path, 1_000, &RealObserver).unwrap();
    let edits = Contents(path.clone(), vec![Blob::MISSING, now]);
    assert!(holds_nothing_new(&path, &RealObserver, &edits));
    std::fs::write(&file, "another\n").unwrap();
    assert!(!holds_nothing_new(&path, &RealObserver, &edits));
}
