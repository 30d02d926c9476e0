use std::fs;

use lictor_core::{Action, FactSource as _};

use super::*;
use crate::options::Options;
use crate::policy_files;
use crate::project::Project;

struct World {
    directory: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { directory: tempfile::tempdir().unwrap() };
        world.git("git init -q -b main && git config user.name t && git config user.email t@example.com");
        fs::write(world.directory.path().join("governance.yaml"), "version: 1\n").unwrap();
        world.git("echo a > a && git add . && git commit -qm one");
        world.git("git branch same && git checkout -qb other && echo 'mode: observe' >> governance.yaml");
        world.git("git commit -qam two && git checkout -q same && echo b > a && git commit -qam three");
        world.git("git checkout -q main");
        world
    }

    fn git(&self, line: &str) {
        let done =
            std::process::Command::new("sh").args(["-c", line]).current_dir(self.directory.path()).status();
        assert!(done.unwrap().success(), "{line}");
    }

    fn told(&self, line: &str) -> Option<String> {
        let root = fs::canonicalize(self.directory.path()).unwrap();
        let options = Options::new().home(&root).state_dir(root.join(".state"));
        let project = Project::around(&root, &options);
        let facts = policy_files::facts(&project, Vec::new());
        let facts = facts.facts(&Action::bash(line).in_dir(root.to_string_lossy()));
        let governing = [root.join("governance.yaml"), root.join(".git/config")];
        let places = Places {
            governing: &governing,
            writable: &[root.clone(), "/tmp/scratch".into()],
            home: Path::new("/tmp/scratch/home"),
        };
        refusal(&facts, &root, places).map(|block| block.reason)
    }
}

#[test]
fn a_commit_with_other_governing_files_is_refused_before_git_starts() {
    let world = World::new();
    for line in [
        "git checkout other",
        "git switch other",
        "git switch --detach other",
        "git -C . checkout -q other",
        "echo x && git merge other",
        "git rebase other",
        "git reset --hard other",
        "git cherry-pick other",
        "git checkout -b new other",
        "sh -c 'git checkout other'",
    ] {
        assert!(world.told(line).is_some_and(|told| told.contains("`governance.yaml`")), "{line}");
    }
    for line in [
        "git checkout same",
        "git switch -c new",
        "git merge same",
        "git reset --soft other",
        "git diff other",
        "git log other",
        "git checkout nothing",
        "git rebase --abort",
        "git checkout -- a",
        "git stash && git stash pop",
    ] {
        assert_eq!(world.told(line), None, "{line}");
    }
}

#[test]
fn what_writes_gits_configuration_is_explained() {
    let world = World::new();
    for line in [
        "git push -u origin main",
        "git push --set-upstream origin main",
        "git remote add x ../x",
        "git branch --set-upstream-to=origin/main",
        "git config user.name x",
        "git submodule add ../x",
    ] {
        assert!(world.told(line).is_some_and(|told| told.contains("git cannot write")), "{line}");
    }
    for line in
        ["git push origin main", "git remote -v", "git config --get user.name", "git submodule status"]
    {
        assert_eq!(world.told(line), None, "{line}");
    }
}

#[test]
fn a_work_tree_that_could_not_be_made_is_explained() {
    let world = World::new();
    for line in [
        "git worktree add ../x",
        "git worktree add -b new ../x main",
        "git worktree add --reason why --lock /srv/x",
        "git -C sub worktree add ../../x",
        "git worktree move inside ../x",
        "git worktree add /tmp/scratch/home/x",
    ] {
        assert!(world.told(line).is_some_and(|told| told.contains("nothing can be written at")), "{line}");
    }
    for line in [
        "git worktree add x",
        "git worktree add -b ../new .trees/x",
        "git worktree add /tmp/scratch/x",
        "git worktree move ../x inside",
        "git worktree list",
        "git worktree remove ../x",
    ] {
        assert_eq!(world.told(line), None, "{line}");
    }
}
