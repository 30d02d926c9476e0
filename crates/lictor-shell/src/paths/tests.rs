use super::{clean, enter, is_temporary, key};
use crate::operand::Cwd;

#[test]
fn paths_are_cleaned() {
    for (path, expected) in [
        ("a/./b//c", "a/b/c"),
        ("a/../b", "b"),
        ("../a", "../a"),
        ("a/../../b", "../b"),
        ("/../a", "/a"),
        ("/", "/"),
        (".", "."),
        ("a/..", "."),
        ("~/../x", "~/../x"),
        ("", "."),
    ] {
        assert_eq!(clean(path), expected, "{path}");
    }
}

#[test]
fn directories_are_entered() {
    let known = |path: &str| Cwd::Known(path.to_owned());
    assert_eq!(enter(&Cwd::Start, "a"), known("a"));
    assert_eq!(enter(&known("a"), ".."), Cwd::Start);
    assert_eq!(enter(&known("/a"), "b"), known("/a/b"));
    assert_eq!(enter(&known("/a"), "/b"), known("/b"));
    assert_eq!(enter(&Cwd::Unknown, "b"), Cwd::Unknown);
    assert_eq!(enter(&Cwd::Unknown, "/b"), known("/b"));
}

#[test]
fn a_file_has_one_key() {
    let known = |path: &str| Cwd::Known(path.to_owned());
    assert_eq!(key(&Cwd::Start, "./f"), key(&known("d"), "../f"));
    assert_ne!(key(&Cwd::Unknown, "f"), key(&Cwd::Start, "f"));
}

#[test]
fn temporary_directories_are_known_by_their_text() {
    for path in ["/tmp/a", "/var/tmp/a/b", "/private/tmp/a", "/dev/shm/a"] {
        assert!(is_temporary(path), "{path}");
    }
    for path in ["/tmp", "/tmpfiles/a", "tmp/a", "~/tmp/a", "/var/tmpl/a"] {
        assert!(!is_temporary(path), "{path}");
    }
}
