//! Group commit: threads that have committed share one `fsync`.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Commits of one process that must survive a loss of power.
#[derive(Debug, Default)]
pub(super) struct Syncs {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How many there are.
    committed: u64,
    /// How many of them have reached the disk.
    synced: u64,
    under_way: bool,
    /// The disk has the name of the log.
    named: bool,
    /// An `fsync` has failed: a later success proves nothing about earlier writes.
    failed: bool,
}

impl Syncs {
    fn state(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is harmless: no invariant is broken while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether every `fsync` so far has succeeded.
    pub(super) fn work(&self) -> bool {
        !self.state().failed
    }

    /// One more commit is in the log. Its number.
    pub(super) fn committed(&self) -> u64 {
        let mut state = self.state();
        state.committed += 1;
        state.committed
    }

    /// Waits until this commit has reached the disk. Commits that arrive during an `fsync` are covered by the
    /// next one.
    pub(super) fn wait(&self, commit: u64, log: &Path) -> io::Result<()> {
        let mut state = self.state();
        loop {
            if state.failed {
                return Err(io::Error::other("the disk has refused to keep what was written"));
            }
            if state.synced >= commit {
                return Ok(());
            }
            if state.under_way {
                state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.under_way = true;
            let (reached, named) = (state.committed, state.named);
            drop(state);
            let synced = sync(log, named);
            state = self.state();
            state.under_way = false;
            match synced {
                Ok(()) => (state.synced, state.named) = (reached, true),
                Err(_) => state.failed = true,
            }
            self.ended.notify_all();
        }
    }
}

/// Syncs everything in the log, from all processes.
fn sync(log: &Path, named: bool) -> io::Result<()> {
    File::open(log)?.sync_data()?;
    match log.parent() {
        Some(directory) if !named => File::open(directory)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
