//! Starts git so that the inspected repository cannot run programs or impersonate another one.
//!
//! A repository's configuration, its attributes and the environment of a hook can name programs that git runs
//! even for reads (filters, hooks, file monitors, pagers, external diffs, transports), and can substitute content
//! (replaced objects, grafts). All of that is disabled here.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The git variables that are passed on: the location of the repository, its index and its objects, as git sets
/// them for hooks, and the committer.
const KEPT: [&str; 15] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_CEILING_DIRECTORIES",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
];

/// Overrides for settings that name programs.
const SETTINGS: [(&str, &str); 6] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("diff.external", ""),
    ("log.showSignature", "false"),
    ("submodule.recurse", "false"),
    ("protocol.allow", "never"),
];

/// A git command that reads settings unchanged and runs no program that they name.
pub(super) fn reading(dir: &Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        let is_gits = name.as_encoded_bytes().starts_with(b"GIT_");
        if is_gits && !KEPT.iter().any(|kept| name == OsStr::new(kept)) {
            command.env_remove(name);
        }
    }
    command.current_dir(dir).arg("--no-optional-locks").arg("--no-pager");
    command.env("LC_ALL", "C");
    command.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_GRAFT_FILE", "/dev/null");
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none").env("GIT_TERMINAL_PROMPT", "0");
    command
}

/// A git command that runs no other programs in a directory: no hooks, monitors, pagers or transports, and the
/// named filters are disabled.
#[must_use]
pub fn quiet<F: AsRef<OsStr>>(dir: &Path, filters: &[F]) -> Command {
    let mut command = reading(dir);
    let mut count = 0_usize;
    let mut set = |name: &OsStr, value: &str| {
        command.env(format!("GIT_CONFIG_KEY_{count}"), name).env(format!("GIT_CONFIG_VALUE_{count}"), value);
        count += 1;
    };
    for (name, value) in SETTINGS {
        set(OsStr::new(name), value);
    }
    for filter in filters {
        for (part, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")] {
            let mut name = OsString::from("filter.");
            name.push(filter);
            name.push(".");
            name.push(part);
            set(&name, value);
        }
    }
    command.env("GIT_CONFIG_COUNT", count.to_string());
    command
}
