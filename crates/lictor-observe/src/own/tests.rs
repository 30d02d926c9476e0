use super::*;
use crate::observer::FakeObserver;

fn owns(world: &FakeObserver, path: &str, tree: bool) -> bool {
    let mut project = Project::discover("/home/user/project", world);
    project.own = vec!["/home/user/project/scripts/review.sh".to_owned()];
    is_own(path, tree, &project, world)
}

#[test]
fn own_files_are_found_in_every_layer() {
    let world = FakeObserver::for_judging();
    for path in [
        "/etc/lictor/governance.yaml",
        "/home/user/.config/lictor/governance.yaml",
        "/home/user/project/governance.yaml",
        "/home/user/project/a/.claude/settings.json",
        "/home/user/project/scripts/review.sh",
        "/home/user/project/.git/hooks/pre-commit",
        "/home/user/project/.git/config",
    ] {
        assert!(owns(&world, path, false), "{path}");
    }
    for path in ["/home/user/project/governance.yaml.md", "/home/user/project/.git/index", "/etc/lictorx"] {
        assert!(!owns(&world, path, false), "{path}");
    }
}

#[test]
fn a_directory_is_own_as_a_tree_when_it_holds_something() {
    let world = FakeObserver::for_judging()
        .file("/home/user/project/.claude/settings.json", "{}")
        .file("/home/user/project/scripts/review.sh", "");
    assert!(owns(&world, "/home/user/project/.claude", true));
    assert!(!owns(&world, "/home/user/project/.claude", false));
    assert!(owns(&world, "/home/user/project/scripts", true));
    assert!(!owns(&world, "/home/user/project/.codex", true));
}

#[test]
fn hooks_elsewhere_are_own() {
    let world = FakeObserver::for_judging()
        .file("/home/user/project/.git/config", "[core]\n hooksPath = tools/hooks\n");
    assert!(owns(&world, "/home/user/project/tools/hooks/pre-commit", false));
    assert!(!owns(&world, "/home/user/project/tools/x", false));
}
