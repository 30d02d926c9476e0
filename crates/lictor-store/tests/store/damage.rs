//! Files that are not, or no longer, a store: a precise error that names the file and a fix, and the file is
//! unchanged.

use std::fs;
use std::path::{Path, PathBuf};

use lictor_store::{Durability, SqliteOptions, SqliteStore, StoreError, StoreExt, verify};

use crate::log;

/// A store with two hundred records, everything in its main file.
fn store() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    let store = SqliteStore::open(&file).unwrap();
    for n in 0..200 {
        log::append_counted(&store, Durability::Process, format!("{n} {}", "content ".repeat(50))).unwrap();
    }
    drop(store);
    log::raw(&file, "");
    (directory, file)
}

/// Everything that a hook does with a store.
fn use_store(file: &Path) -> Result<(), StoreError> {
    let store = SqliteStore::open(file)?;
    log::append_counted(&store, Durability::Power, "one more".to_owned()).map(drop)
}

/// Using the file fails with an error that `is_expected`, its text names the file and `says` something, and the file
/// has not changed.
fn refuses(file: &Path, says: &str, is_expected: impl Fn(&StoreError) -> bool) {
    let before = fs::read(file).unwrap_or_default();
    let error = use_store(file).expect_err(says);
    assert!(is_expected(&error), "{says}: {error:?}");
    let text = error.to_string();
    assert!(text.contains(&format!("`{}`", file.display())), "names the file: {text}");
    assert!(text.contains(says), "says {says}: {text}");
    assert!(text.contains(';'), "says what to do: {text}");
    assert!(fs::read(file).unwrap_or_default() == before, "{says}: the file was changed");
}

fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::Corrupt { .. } | StoreError::NotAStore { .. })
}

#[test]
fn flipped_bytes_in_the_structure_are_damage() {
    let flips: &[(&str, u64)] = &[
        ("the magic", 3),
        ("the page size", 16),
        ("the version of the format", 18),
        ("the type of the first page", 100),
        ("the text of the schema", 4000),
        ("the root of the log", 4096),
        ("the root of the entries", 2 * 4096),
    ];
    for (what, at) in flips {
        let (_directory, file) = store();
        let mut bytes = fs::read(&file).unwrap();
        bytes[usize::try_from(*at).unwrap()] ^= 0x55;
        fs::write(&file, &bytes).unwrap();
        let error = use_store(&file).expect_err(what);
        assert!(is_damage(&error), "{what}: {error:?}");
        assert!(fs::read(&file).unwrap() == bytes, "{what}: the file was changed");
    }
}

/// Somewhere in the middle of the file a byte flips, page after page: either the store or verification detects
/// it, or the byte was in unused space and nothing is lost.
#[test]
fn no_flipped_byte_changes_a_record_unnoticed() {
    let (_directory, file) = store();
    let pristine = fs::read(&file).unwrap();
    let bodies = log::sound_bodies(&SqliteStore::open(&file).unwrap(), 0, None);
    let (mut noticed, mut harmless) = (0, 0);
    for at in (0..pristine.len()).step_by(499) {
        for leftover in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{leftover}", file.display()));
        }
        let mut bytes = pristine.clone();
        bytes[at] ^= 0x10;
        fs::write(&file, &bytes).unwrap();
        let sound = SqliteStore::open(&file)
            .and_then(|store| store.view(|view| Ok(verify(view, 1..=u64::MAX, None)?.is_sound())));
        if matches!(sound, Ok(true)) {
            harmless += 1;
            assert!(log::sound_bodies(&SqliteStore::open(&file).unwrap(), 0, None) == bodies, "byte {at}");
        } else {
            noticed += 1;
        }
    }
    assert!(noticed > 40 && harmless > 0, "{noticed} noticed, {harmless} harmless");
}

#[test]
fn a_truncated_store_is_damage() {
    for keep in [50, 1000, 4096, 9000, 12288] {
        let (_directory, file) = store();
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..keep]).unwrap();
        refuses(&file, "", is_damage);
    }
    let (_directory, file) = store();
    fs::write(&file, "").unwrap();
    refuses(&file, "the file is empty", |error| matches!(error, StoreError::NotAStore { .. }));
}

#[test]
fn other_files_are_not_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let is_other = |error: &StoreError| matches!(error, StoreError::NotAStore { .. });
    let text = directory.path().join("text");
    fs::write(&text, "not a database\n".repeat(1000)).unwrap();
    refuses(&text, "not a SQLite database", is_other);
    let other = directory.path().join("other.db");
    log::raw(&other, "CREATE TABLE log (seq INTEGER PRIMARY KEY)");
    refuses(&other, "a database of another program", is_other);
    let folder = directory.path().join("folder");
    fs::create_dir(&folder).unwrap();
    refuses(&folder, "it is a directory", is_other);
}

#[test]
fn a_newer_store_is_refused() {
    let (_directory, file) = store();
    log::raw(&file, "PRAGMA user_version = 999");
    refuses(&file, "install the newer lictor", |error| {
        matches!(error, StoreError::NewerSchema { found: 999, known: 3, .. })
    });
}

#[test]
fn a_missing_store_is_missing_unless_it_may_be_created() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("not/there/store.db");
    let error = SqliteOptions::new().create(false).open(&file).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    assert!(!directory.path().join("not").exists());
    use_store(&file).unwrap();
}

#[test]
fn a_lost_main_file_is_not_replaced_by_an_empty_one() {
    let (_directory, file) = store();
    use_store(&file).unwrap(); // Leaves a log beside the file.
    fs::remove_file(&file).unwrap();
    refuses(&file, "the file is gone", is_damage);
    assert!(!file.exists());
}

#[test]
fn only_the_user_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a/b/store.db");
    use_store(&file).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory.path().join("a")), 0o700);
    assert_eq!(mode(&directory.path().join("a/b")), 0o700);
    for entry in fs::read_dir(directory.path().join("a/b")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
