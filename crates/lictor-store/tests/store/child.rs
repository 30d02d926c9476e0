//! Runs a part of a test in separate processes: the test binary starts itself again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{crash, many, refused};

/// Names the role that a started process plays.
const ROLE: &str = "LICTOR_STORE_TEST_ROLE";

/// What a started process does, with which store.
pub(crate) struct Role {
    name: String,
    file: PathBuf,
}

impl Role {
    /// `None` in the test run itself.
    pub(crate) fn of_this_process() -> Option<Self> {
        let role = std::env::var(ROLE).ok()?;
        let (name, file) = role.split_once(' ').unwrap();
        Some(Self { name: name.to_owned(), file: file.into() })
    }

    pub(crate) fn play(&self) {
        let (role, number) = self.name.split_once('-').unwrap();
        match role {
            "crash" => crash::write_until_killed(number, &self.file),
            "many" => many::write_many(number, &self.file),
            "refused" => refused::write_until_refused(&self.file),
            "full" => refused::write_until_full(&self.file),
            other => panic!("no such role: {other}"),
        }
    }
}

/// The arguments and the environment with which this binary plays a role and does nothing else.
/// What the role prints comes through standard output, between lines of the test harness.
pub(crate) fn prepare(command: &mut Command, role: &str, number: usize, file: &Path) {
    command
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, format!("{role}-{number} {}", file.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
}

/// A process that plays a role.
pub(crate) fn command(role: &str, number: usize, file: &Path) -> Command {
    let mut command = Command::new(this_binary());
    prepare(&mut command, role, number, file);
    command
}

pub(crate) fn this_binary() -> PathBuf {
    std::env::current_exe().unwrap()
}
