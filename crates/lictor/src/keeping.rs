//! Records that need not stay in the store move to archives: after a session's end, in a process that nobody waits for.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use lictor_store::{Retention, SqliteOptions};

use crate::dirs;
use crate::error::Error;
use crate::project::Project;
use crate::runtime::Runtime;

/// Old records are looked for this often.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// Its time says when that was done last.
const MARK: &str = "looked";

/// What was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Records that are in archives now.
    pub records: u64,
    /// Bytes of the store that hold something.
    pub bytes: u64,
}

impl Project {
    /// Moves what need not stay in the store to archives beside it. Takes its time: not for hooks.
    ///
    /// # Errors
    /// When there is no store in a file, or the archives cannot be written; nothing is lost then.
    pub fn archive(&self, keep: &Retention) -> Result<Moved, Error> {
        let file = self.store_file().ok_or(Error::NoFile)?;
        if !file.try_exists().unwrap_or(true) {
            return Err(Error::NothingRecorded(self.root.clone()));
        }
        let mut options = SqliteOptions::new().create(false).wait(Duration::from_secs(60));
        if let Some((keys, _)) = self.record_keys(false)? {
            options = options.keys(keys);
        }
        let store = options.open(file)?;
        let records = keep.apply(&store, &self.archives(), self.options().now())?;
        dirs::create_private(&self.archives())?;
        // Without a mark it is looked for again next time.
        let _ = fs::write(self.archives().join(MARK), "");
        Ok(Moved { records, bytes: store.used_bytes()? })
    }
}

/// What the policy wants to stay.
#[must_use]
pub fn of_policy(policy: &lictor_config::Policy) -> Retention {
    let said = policy.retention();
    Retention { keep: Duration::from_millis(said.keep), max_size: said.max_size }
}

/// Starts moving old records, if it is time. A failure is never a reason to stop an agent: the records stay where they are.
pub(crate) fn after_session(runtime: &Runtime) {
    let project = runtime.project();
    let (Some(program), Some(file)) = (project.options().program, project.store_file()) else { return };
    let large = fs::metadata(&file).is_ok_and(|found| found.len() > of_policy(runtime.policy()).max_size);
    let looked = fs::metadata(project.archives().join(MARK)).and_then(|found| found.modified());
    let age = looked.ok().and_then(|looked| SystemTime::now().duration_since(looked).ok());
    if !large && age.is_some_and(|age| age < EVERY) {
        return;
    }
    let Ok(program) = program() else { return };
    let mut command = Command::new(program);
    command.args(["audit", "archive"]).current_dir(&project.root);
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(command.spawn());
}
