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
