use std::path::Path;

use lictor_core::Action;
use lictor_core::facts::{Effect, GitEffect};

use crate::facts::facts;
use crate::git::refs::tests::{git, two_branches};
use crate::observer::RealObserver;
use crate::project::Project;

/// A repository whose branch `work` has a commit that only the ref has, too, which this command makes.
fn repository(keeps: &[&str]) -> tempfile::TempDir {
    let folder = two_branches();
    git(folder.path(), keeps);
    folder
}

fn loses_commits(at: &Path, command: &str) -> bool {
    let root = at.to_str().unwrap();
    let mut action = Action::bash(command);
    root.clone_into(&mut action.cwd);
    let facts = facts(&action, &Project::discover(root, &RealObserver), &RealObserver);
    facts.effects.iter().any(|effect| {
        matches!(effect, Effect::Git { effect: GitEffect::DiscardCommits, target: Some(names) } if names.contains("work"))
    })
}

#[test]
fn a_branch_whose_commits_another_ref_has_may_be_deleted() {
    let folder = repository(&["branch", "other", "work"]);
    for before in ["", "git status && ", "git checkout main && ", "git switch -c new && ", "cd . && "] {
        let command = format!("{before}git branch -D work");
        assert!(!loses_commits(folder.path(), &command), "{command}");
    }
}

/// What the ref is when the branch's turn comes is not what it is now.
#[test]
fn where_the_line_may_move_that_ref_the_commits_count_as_lost() {
    let ways: [(&[&str], &[&str]); 3] = [
        (
            &["branch", "other", "work"],
            &[
                "git branch -f other main",
                "git checkout -B other main",
                "git switch -C other main",
                "git switch --force-create other main",
                "git switch $X other main",
                "git update-ref -d refs/heads/other",
                "some-program",
            ],
        ),
        (&["tag", "kept", "work"], &["git tag -d kept", "git fetch --prune-tags"]),
        (
            &["update-ref", "refs/remotes/origin/work", "work"],
            &["git remote remove origin", "git remote prune origin", "git fetch --prune"],
        ),
    ];
    for (keeps, moves) in ways {
        let folder = repository(keeps);
        assert!(!loses_commits(folder.path(), "git branch -D work"), "{keeps:?}");
        for way in moves {
            let command = format!("{way} && git branch -D work");
            assert!(loses_commits(folder.path(), &command), "{command}");
        }
    }
}

fn losses(at: &Path, command: &str) -> Vec<GitEffect> {
    let root = at.to_str().unwrap();
    let mut action = Action::bash(command);
    root.clone_into(&mut action.cwd);
    let facts = facts(&action, &Project::discover(root, &RealObserver), &RealObserver);
    let found = facts.effects.iter().filter_map(|effect| match effect {
        Effect::Git { effect, .. } => Some(*effect),
        _ => None,
    });
    found.filter(|effect| matches!(effect, GitEffect::DiscardWork | GitEffect::DiscardCommits)).collect()
}

fn loses_work(at: &Path, command: &str) -> bool {
    losses(at, command).contains(&GitEffect::DiscardWork)
}

/// A clean repository on `main`, which the remote has, too; `other` is another commit.
fn clean() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    git(at, &["init", "-q", "-b", "main"]);
    std::fs::write(at.join("a.txt"), "a\n").unwrap();
    std::fs::write(at.join(".gitignore"), "out/\n").unwrap();
    git(at, &["add", "-A"]);
    git(at, &["commit", "-q", "-m", "first"]);
    git(at, &["branch", "other"]);
    std::fs::write(at.join("a.txt"), "b\n").unwrap();
    git(at, &["commit", "-q", "-am", "second"]);
    git(at, &["update-ref", "refs/remotes/origin/main", "main"]);
    std::fs::create_dir(at.join("out")).unwrap();
    std::fs::write(at.join("out/made.o"), "x").unwrap();
    folder
}

/// Everything that puts the whole work tree back, to the last commit.
const BACK: [&str; 9] = [
    "git reset --hard",
    "git reset --hard HEAD",
    "git reset --hard origin/main",
    "git checkout -f",
    "git checkout -f main",
    "git switch --discard-changes main",
    "git checkout -f -b x",
    "git read-tree --reset -u HEAD",
    "git checkout-index -f -a",
];
/// To another one.
const AWAY: [&str; 6] = [
    "git checkout -f other",
    "git switch -f other",
    "git switch --force other",
    "git reset --hard other",
    "git reset --hard HEAD~1",
    "git fetch && git reset --hard origin/main",
];

#[test]
fn a_clean_work_tree_holds_nothing_that_could_be_thrown_away() {
    let folder = clean();
    let at = folder.path();
    for command in BACK.iter().chain(&AWAY) {
        assert!(!loses_work(at, command), "{command}");
    }
    for command in ["git submodule deinit -f --all", "git submodule update --force"] {
        assert!(!loses_work(at, command), "{command}");
    }
    std::fs::write(at.join("new.txt"), "new\n").unwrap();
    for command in BACK {
        assert!(!loses_work(at, command), "{command}: a new file stays");
    }
    for command in AWAY {
        assert!(loses_work(at, command), "{command}: a new file may be in the way");
    }
    std::fs::remove_file(at.join("new.txt")).unwrap();
    std::fs::write(at.join("a.txt"), "changed\n").unwrap();
    for command in BACK.iter().chain(&AWAY) {
        assert!(loses_work(at, command), "{command}");
    }
}

#[test]
fn commits_that_no_other_ref_has_are_not_left_behind() {
    let folder = clean();
    let at = folder.path();
    git(at, &["commit", "-q", "--allow-empty", "-m", "third"]);
    for command in ["git reset --hard origin/main", "git reset --hard HEAD~1", "git reset --keep other"] {
        assert_eq!(losses(at, command), [GitEffect::DiscardCommits], "{command}");
    }
    // The branch keeps them.
    assert!(!loses_work(at, "git checkout -f other"));
    git(at, &["branch", "kept"]);
    assert!(losses(at, "git reset --hard origin/main").is_empty());
}

#[test]
fn a_work_tree_that_goes_is_looked_at() {
    let folder = clean();
    let at = folder.path().join("tree");
    git(folder.path(), &["worktree", "add", "-q", at.to_str().unwrap(), "-b", "third"]);
    let remove = "git worktree remove --force tree";
    assert!(losses(folder.path(), remove).is_empty());
    std::fs::write(at.join("new.txt"), "new\n").unwrap();
    assert_eq!(losses(folder.path(), remove), [GitEffect::DiscardWork], "a new file in it");
    std::fs::remove_file(at.join("new.txt")).unwrap();
    std::fs::write(at.join("a.txt"), "changed\n").unwrap();
    assert_eq!(losses(folder.path(), remove), [GitEffect::DiscardWork]);
    assert_eq!(losses(folder.path(), "git worktree remove -f other"), [GitEffect::DiscardWork]);
}

#[test]
fn where_nobody_can_look_the_work_counts_as_lost() {
    let folder = clean();
    let at = folder.path();
    for command in [
        "ssh host git reset --hard",
        "ssh host 'git checkout -f other'",
        "echo x > a.txt; git reset --hard other",
        "GIT_DIR=/srv/x git reset --hard other",
        "git checkout -f -B other main",
        "git switch -C other --discard-changes",
        "git clean -fd",
    ] {
        assert!(loses_work(at, command), "{command}");
    }
}

#[test]
fn the_work_trees_of_submodules_are_looked_at() {
    let inner = clean();
    let folder = clean();
    let at = folder.path();
    let from = inner.path().to_str().unwrap();
    git(at, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "sub"]);
    git(at, &["commit", "-q", "-m", "with a submodule"]);
    let deinit = "git submodule deinit -f --all";
    assert!(!loses_work(at, deinit) && !loses_work(at, "git reset --hard"));
    std::fs::write(at.join("sub/new.txt"), "new\n").unwrap();
    assert!(loses_work(at, deinit), "a new file in it");
    assert!(!loses_work(at, "git reset --hard"), "which is not the outer one's");
}
