use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

/// Checked against `b3sum --keyed`.
#[test]
fn the_tag_is_keyed_blake3() {
    let key = RecordKey::from_bytes([0x0b; 32]);
    let tag = key.tag([b"Hi There".as_slice()]);
    assert_eq!(tag.to_string(), "0dcc7c346be184838a3e4147d680888cb370e8f2870f7a0716cf5bf43fe49515");
    assert_ne!(key.tag([b"Hi ".as_slice(), b"There"]), key.tag([b"Hi T".as_slice(), b"here"]));
}

#[test]
fn a_key_is_made_once_and_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.key");
    let (first, made) = Keyring::load_or_create(&file).unwrap();
    let (again, made_again) = Keyring::load_or_create(&file).unwrap();
    assert_eq!((made, made_again), (true, false));
    assert_eq!(first.current().id(), again.current().id());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!format!("{first:?}").contains(fs::read_to_string(&file).unwrap().trim()));
}

#[test]
fn rotation_keeps_what_came_before() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.key");
    let (before, _) = Keyring::load_or_create(&file).unwrap();
    let after = Keyring::rotate(&file).unwrap();
    assert_ne!(after.current().id(), before.current().id());
    assert!(after.get(before.current().id()).is_some());
}

#[test]
fn what_is_no_key_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let refused = |file: &Path| Keyring::load_or_create(file).unwrap_err().to_string();
    fs::write(at("open"), line(&[7; 32])).unwrap();
    assert!(refused(&at("open")).contains("can be read by others"));
    fs::write(at("bad"), "secret\n").unwrap();
    fs::set_permissions(at("bad"), Permissions::from_mode(0o600)).unwrap();
    assert!(refused(&at("bad")).contains("line 1"));
    fs::write(at("empty"), "").unwrap();
    fs::set_permissions(at("empty"), Permissions::from_mode(0o600)).unwrap();
    assert!(refused(&at("empty")).contains("line 1"));
    symlink(at("bad"), at("link")).unwrap();
    assert!(refused(&at("link")).contains("cannot use the key file"));
    assert!(refused(directory.path()).contains("is not a regular file"));
}
