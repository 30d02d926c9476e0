//! Copies of settings in git: in commits, and in the other work trees of a repository.

use std::fs;
use std::path::{Path, PathBuf};

use lictor::Project;
use lictor_ledger::repository::{Git, Repository as _};

use super::plan::Plan;

/// The other work trees of a project's repository.
pub fn other_trees(project: &Project) -> Vec<Project> {
    let Ok(git) = Git::rooted(&project.root) else { return Vec::new() };
    let common = git.common_dir();
    let linked = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let linked = linked.filter_map(|entry| fs::read_to_string(entry.path().join("gitdir")).ok());
    let main = common.ends_with(".git").then(|| common.to_owned());
    // Each names the `.git` of its work tree.
    linked
        .map(|gitdir| PathBuf::from(gitdir.trim()))
        .chain(main)
        .filter_map(|dot_git| Some(dot_git.parent()?.to_owned()))
        .filter(|root| root.is_dir() && *root != project.root)
        .map(|root| Project::around(&root, project.options()))
        .collect()
}

/// Notes which changed files are in the last commit: clones and other branches have the old version.
pub fn note_committed(plan: &mut Plan, project: &Project) {
    let Ok(git) = Git::rooted(&project.root) else { return };
    let below = |path: &Path| Some(path.strip_prefix(&project.root).ok()?.to_string_lossy().into_owned());
    let paths: Vec<String> = plan.changes().filter_map(|change| below(change.path())).collect();
    // Without a commit there are no committed files.
    let blobs = git.blobs("HEAD", &paths).unwrap_or_default();
    let committed = paths.iter().zip(blobs).filter_map(|(path, blob)| blob.map(|_| path.as_str()));
    let committed: Vec<&str> = committed.collect();
    if !committed.is_empty() {
        plan.notes.push(format!(
            "{} {} in git's commits too: clones and other branches keep the hooks until this change is committed",
            committed.join(", "),
            if committed.len() == 1 { "is" } else { "are" }
        ));
    }
}
