//! The system refuses to write: read-only places, no space. Nothing acknowledged is lost, and the error names the
//! cause.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use lictor_store::{Durability, SqliteStore, StoreError};

use crate::{child, log};

/// Somebody without rights of their own.
const NOBODY: u32 = 65534;

/// Prints the store's error when it cannot be written.
pub(crate) fn write_until_refused(file: &Path) {
    let outcome = SqliteStore::open(file)
        .and_then(|store| log::append_counted(&store, Durability::Process, "refused".to_owned()));
    println!("\noutcome {}", outcome.map_or_else(|error| error.to_string(), |_| "written".to_owned()));
}

/// Writes until there is no space, and prints how often it succeeded.
pub(crate) fn write_until_full(file: &Path) {
    let mut written = 0;
    let error = loop {
        let store = SqliteStore::open(file);
        match store.and_then(|store| {
            log::append_counted(&store, Durability::Power, format!("{written} {}", "x".repeat(2000)))
        }) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 10_000, "no limit was reached");
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    println!("\nwritten {written}\noutcome {error}");
    // With a file system of its own, free some space while it is still there.
    let filler = file.with_file_name("filler");
    if filler.exists() {
        fs::remove_file(filler).unwrap();
        check_after_full(file, written);
        println!("\nchecked");
    }
}

fn check_after_full(file: &Path, written: usize) {
    let store = SqliteStore::open(file).unwrap();
    let bodies = log::sound_bodies(&store, 0, None);
    assert_eq!(bodies.len(), written, "everything acknowledged is there, nothing else");
    log::append_counted(&store, Durability::Power, "goes on".to_owned()).unwrap();
}

fn line(output: &str, prefix: &str) -> Option<String> {
    output.lines().find_map(|line| line.strip_prefix(prefix)).map(str::to_owned)
}

fn run(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() || output.status.code() == Some(77), "{out}\n{errors}");
    output.status.success().then(|| out.into_owned())
}

#[test]
fn read_only_places_are_named() {
    // (mode of the directory, mode of the file, what is said)
    let cases = [
        (0o700, 0o600, "written"),
        (0o700, 0o400, "read-only"),
        (0o500, 0o600, "read-only"),
        (0o500, 0o400, "read-only"),
        (0o700, 0o000, "no permission"),
        (0o000, 0o600, "no permission"),
    ];
    let root = rustix::process::getuid().is_root();
    for (directory_mode, file_mode, says) in cases {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("state");
        let file = folder.join("store.db");
        log::append_counted(&SqliteStore::open(&file).unwrap(), Durability::Process, "first".to_owned())
            .unwrap();
        log::raw(&file, "");
        let before = fs::read(&file).unwrap();
        if root {
            for path in [directory.path(), &folder, &file] {
                chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        fs::set_permissions(&file, Permissions::from_mode(file_mode)).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(directory_mode)).unwrap();
        // Root ignores file modes: another user must try.
        let mut command = child::command("refused", 0, &file);
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = run(&mut command);
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        let Some(output) = output else {
            println!("skipped: another user cannot run {}", child::this_binary().display());
            return;
        };
        let outcome = line(&output, "outcome ").expect(&output);
        let case = format!("directory {directory_mode:o}, file {file_mode:o}: {outcome}");
        assert!(outcome.contains(says), "{case}");
        assert!(says == "written" || outcome.contains(&format!("`{}`", file.display())), "{case}");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        assert!(says == "written" || fs::read(&file).unwrap() == before, "{case}: the file was changed");
    }
}

#[test]
fn files_left_by_another_user_are_named() {
    if !rustix::process::getuid().is_root() {
        println!("skipped: only root can leave files that its user cannot read");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    log::append_counted(&SqliteStore::open(&file).unwrap(), Durability::Process, "as root".to_owned())
        .unwrap();
    for path in [directory.path(), &file] {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mut command = child::command("refused", 0, &file);
    let Some(output) = run(command.uid(NOBODY).gid(NOBODY)) else {
        println!("skipped: another user cannot run {}", child::this_binary().display());
        return;
    };
    let outcome = line(&output, "outcome ").expect(&output);
    assert!(outcome.contains("no permission") && outcome.contains("store.db-wal`"), "{outcome}");
}

/// A store, and a shell that limits what it starts.
fn limited(script: &str, file: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(child::this_binary());
    child::prepare(&mut command, "full", 0, file);
    command
}

#[test]
fn a_file_size_limit_is_no_space_left() {
    let directory = tempfile::tempdir().unwrap();
    let file: PathBuf = directory.path().join("store.db");
    // The signal that comes with the limit is ignored, as `lictor` does; the limit is in units of at least 512 bytes.
    let mut command = limited(r#"trap "" XFSZ; ulimit -f 400; exec "$0" "$@""#, &file);
    let output = run(&mut command).unwrap();
    let outcome = line(&output, "outcome ").expect(&output);
    assert!(outcome.contains("no space left") && outcome.contains("store.db"), "{outcome}");
    let written: usize = line(&output, "written ").expect(&output).parse().unwrap();
    assert!(written > 10, "{written}");
    check_after_full(&file, written);
}

#[test]
fn a_full_file_system_is_no_space_left() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    // A small file system that only this process sees, and that is gone with it.
    let script = format!(
        r#"mount -t tmpfs -o size=1m none '{at}' 2>/dev/null || exit 77
           head -c 200000 /dev/zero > '{at}/filler'; exec "$0" "$@""#,
        at = directory.path().display()
    );
    let inner = limited(&script, &file);
    let mut command = Command::new("unshare");
    command.arg("--mount").arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let Some(output) = run(&mut command) else {
        println!("skipped: mounting a small file system needs root");
        return;
    };
    let outcome = line(&output, "outcome ").expect(&output);
    assert!(outcome.contains("no space left") && outcome.contains("store.db"), "{outcome}");
    assert!(output.lines().any(|line| line == "checked"), "{output}");
}
