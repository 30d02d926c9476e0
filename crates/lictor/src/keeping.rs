//! Archives old records and signs the newest ones: after a session's end, in a background process.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use lictor_store::{Draft, Durability, KeyId, Keyring, Retention, SqliteOptions, SqliteStore, StoreExt as _};
use serde_json::json;

use crate::checkpoint;
use crate::dirs;
use crate::error::Error;
use crate::project::Project;
use crate::runtime::Runtime;

/// Old records are looked for this often.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// Its modification time is the last run, its content how far the record was signed.
const MARK: &str = "looked";

/// The kind of a record about a new key.
pub const KEY_ROTATED: &str = "key.rotated";

/// The result of archiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Records that are in archives now.
    pub records: u64,
    /// Bytes of the store that hold something.
    pub bytes: u64,
}

impl Project {
    /// Moves old records to archives beside the store, and signs the record when that is due. Slow: not for
    /// hooks.
    ///
    /// # Errors
    /// When there is no store in a file, or the archives cannot be written; nothing is lost then.
    pub fn archive(&self, keep: &Retention) -> Result<Moved, Error> {
        let store = self.database_file(self.record_keys(false)?.map(|(keys, _)| keys))?;
        let records = keep.apply(&store, &self.archives(), self.options().now())?;
        dirs::create_private(&self.archives())?;
        // Without a mark it is searched again next time.
        let signed = checkpoint::sign_if_due(self, &store, self.options().now())?;
        let _ = fs::write(self.archives().join(MARK), signed.to_string());
        Ok(Moved { records, bytes: store.used_bytes()? })
    }

    /// Adds a new key for sealing the record, and records that; existing records are resealed with it.
    ///
    /// # Errors
    /// When nothing was recorded, there is no store in a file, or a key or the store cannot be written.
    pub fn rotate_record_key(&self, by: &str) -> Result<KeyId, Error> {
        let Some((keys, _)) = self.record_keys(false)? else {
            return Err(Error::NothingRecorded(self.root.clone()));
        };
        // A store that cannot be opened keeps the key that it has.
        drop(self.database_file(Some(keys))?);
        let keys = Keyring::rotate(&self.record_key_file())?;
        let key = keys.current().id();
        let body = json!({"key": key.to_string(), "by": by}).to_string();
        let draft = Draft { at: self.options().now(), session: None, kind: KEY_ROTATED.to_owned(), body };
        self.database_file(Some(keys))?.update(Durability::Power, |tx| tx.append(draft))?;
        Ok(key)
    }

    /// The store in its file, for long operations.
    fn database_file(&self, keys: Option<Keyring>) -> Result<SqliteStore, Error> {
        let file = self.store_file().ok_or(Error::NoFile)?;
        if !file.try_exists().unwrap_or(true) {
            return Err(Error::NothingRecorded(self.root.clone()));
        }
        let mut options = SqliteOptions::new().create(false).wait(Duration::from_secs(60));
        if let Some(keys) = keys {
            options = options.keys(keys);
        }
        Ok(options.open(file)?)
    }
}

/// The retention of the policy.
#[must_use]
pub fn of_policy(policy: &lictor_config::PolicyBundle) -> Retention {
    let said = policy.retention();
    Retention { keep: Duration::from_millis(said.keep), max_size: said.max_size }
}

/// Starts archiving, if it is due. A failure never stops an agent: the records stay where they are.
pub(crate) fn after_session(runtime: &Runtime) {
    let project = runtime.project();
    let (Some(program), Some(file)) = (project.options().program, project.store_file()) else { return };
    let large = fs::metadata(&file).is_ok_and(|found| found.len() > of_policy(runtime.policy()).max_size);
    let mark = project.archives().join(MARK);
    let looked = fs::metadata(&mark).and_then(|found| found.modified());
    let age = looked.ok().and_then(|looked| SystemTime::now().duration_since(looked).ok());
    let signed: u64 = fs::read_to_string(&mark).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
    let head = runtime.store().view(|view| view.head()).map_or(0, |head| head.seq);
    let due = head.saturating_sub(signed) >= checkpoint::EVERY;
    if !large && !due && age.is_some_and(|age| age < EVERY) {
        return;
    }
    let Ok(program) = program() else { return };
    let mut command = Command::new(program);
    command.args(["audit", "archive"]).current_dir(&project.root);
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(command.spawn());
}
