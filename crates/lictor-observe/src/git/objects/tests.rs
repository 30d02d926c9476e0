use super::super::refs::tests::git;
use super::{Objects, id_of};
use crate::observer::RealObserver;

/// What git itself prints.
fn printed(at: &std::path::Path, args: &[&str]) -> String {
    let output = std::process::Command::new("git").args(args).current_dir(at).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn agrees(at: &std::path::Path, revision: &str) {
    let dir = at.join(".git");
    let objects = Objects::of(dir.to_str().unwrap(), &RealObserver);
    let commit = id_of(&printed(at, &["rev-parse", revision])).unwrap();
    let parents: Vec<_> =
        printed(at, &["rev-parse", &format!("{revision}^@")]).lines().filter_map(id_of).collect();
    assert_eq!(objects.parents(&commit), parents, "{revision}");
    let tree = objects.tree_of(&commit).unwrap();
    assert_eq!(Some(tree), id_of(&printed(at, &["rev-parse", &format!("{revision}^{{tree}}")])));
    let listed: Vec<String> = objects
        .tree(&tree)
        .unwrap()
        .iter()
        .map(|(name, id)| {
            format!("{name} {}", id.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        })
        .collect();
    assert_eq!(listed.join("\n"), printed(at, &["ls-tree", "--format=%(path) %(objectname)", revision]));
}

#[test]
fn commits_and_trees_are_read_loose_and_packed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    git(at, &["init", "-q", "-b", "main"]);
    // Trees of many names that change a little are kept as differences.
    for round in 0..40 {
        for name in 0..60 {
            let text = if name == round { "other" } else { "same" };
            std::fs::write(at.join(format!("file-with-a-long-name-{name}")), text).unwrap();
        }
        git(at, &["add", "-A"]);
        git(at, &["commit", "-q", "-m", &format!("round {round}")]);
    }
    git(at, &["commit", "-q", "--allow-empty", "-m", "on top"]);
    for revision in ["HEAD", "HEAD~1", "HEAD~30", "HEAD~40"] {
        agrees(at, revision);
    }
    git(at, &["gc", "-q", "--aggressive"]);
    assert!(!at.join(".git/objects/00").exists(), "all are packed");
    for revision in ["HEAD", "HEAD~1", "HEAD~30", "HEAD~40"] {
        agrees(at, revision);
    }
}
