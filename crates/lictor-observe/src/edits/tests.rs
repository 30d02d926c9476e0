use lictor_core::Action;
use lictor_core::session::Blob;

use super::edited;
use crate::{FakeObserver, Project, facts};

const ROOT: &str = "/home/user/project";

fn seen(action: &Action, world: &FakeObserver) -> Vec<(String, Option<Blob>)> {
    let project = Project::discover(ROOT, world);
    let facts = facts(action, &project, world);
    edited(action, &facts, world).into_iter().map(|file| (file.path, file.content)).collect()
}

fn world() -> FakeObserver {
    FakeObserver::for_judging()
        .directory("/home/user/project/.git")
        .file("/home/user/project/src/a.rs", "hello\n")
        .link_to("/home/user/project/src/link.rs", "/home/user/project/src/a.rs")
        .file("/home/user/notes.txt", "hello\n")
}

/// What `git hash-object` says of `hello` and a line end.
const HELLO: [u8; 20] = [
    0xce, 0x01, 0x36, 0x25, 0x03, 0x0b, 0xa8, 0xdb, 0xa9, 0x06, 0xf7, 0x56, 0x96, 0x7f, 0x9e, 0x9c, 0xa3,
    0x94, 0x46, 0x4a,
];

#[test]
fn an_edited_file_is_named_as_git_names_it() {
    let write = |path: &str| Action::write(path).in_dir(ROOT);
    let path = |name: &str| format!("{ROOT}/{name}");
    assert_eq!(seen(&write("src/a.rs"), &world()), [(path("src/a.rs"), Some(Blob::from_bytes(HELLO)))]);
    assert_eq!(seen(&write("src/new.rs"), &world()), [(path("src/new.rs"), Some(Blob::MISSING))]);
}

#[test]
fn only_what_version_control_can_put_back_is_looked_at() {
    let write = |path: &str| Action::write(path).in_dir(ROOT);
    assert!(seen(&write("src/link.rs"), &world()).is_empty(), "git would put back the link");
    assert!(seen(&write("/home/user/notes.txt"), &world()).is_empty(), "not in the project");
    let bare = FakeObserver::for_judging().file("/home/user/other/a.rs", "hello\n");
    assert!(seen(&write("/home/user/other/a.rs"), &bare).is_empty(), "no repository");
    let read = Action::read("src/a.rs").in_dir(ROOT);
    assert!(seen(&read, &world()).is_empty(), "nothing is changed");
    assert!(seen(&Action::bash("echo x > src/a.rs").in_dir(ROOT), &world()).is_empty(), "a command");
}

#[test]
fn a_file_that_is_too_long_has_no_known_content() {
    let long = "x".repeat(super::MOST_BYTES + 1);
    let world = world().file("/home/user/project/long.txt", &long);
    let action = Action::write("long.txt").in_dir(ROOT);
    assert_eq!(seen(&action, &world), [(format!("{ROOT}/long.txt"), None)]);
}
