//! A progress line for people who wait longer than a second at a terminal.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lictor_store::{Entry, Head, Keyring, Keys, Query, Record, Seal, Space, StoreError, View};

use crate::output;

/// Nothing is shown for shorter work.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line is drawn.
const EVERY: Duration = Duration::from_millis(100);
/// How wide the bar is.
const WIDTH: u128 = 40;

/// A line on standard error, drawn by a separate thread so that it is updated during long operations too.
pub struct Progress {
    state: Arc<State>,
    /// Dropped, it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    what: RwLock<&'static str>,
    done: AtomicU64,
    /// 0: not known.
    total: AtomicU64,
}

impl Progress {
    /// Starts. Without a terminal nothing is shown.
    pub fn new(what: &'static str) -> Self {
        let state =
            Arc::new(State { what: RwLock::new(what), done: AtomicU64::new(0), total: AtomicU64::new(0) });
        if !io::stderr().is_terminal() {
            return Self { state, end: None, thread: None };
        }
        let (end, ended) = mpsc::channel::<()>();
        let shared = Arc::clone(&state);
        let thread = thread::spawn(move || {
            let started = Instant::now();
            let mut wait = PATIENCE;
            let mut widest = 0;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = EVERY;
                let line = shared.line(started.elapsed());
                widest = widest.max(line.chars().count());
                output::redraw(&format!("{line:<widest$}"));
            }
            if widest > 0 {
                output::redraw(&" ".repeat(widest));
                output::redraw("");
            }
        });
        Self { state, end: Some(end), thread: Some(thread) }
    }

    /// The next part of the work, with so many steps.
    pub fn next(&self, what: &'static str, total: u64) {
        self.state.done.store(0, Ordering::Relaxed);
        self.state.total.store(total, Ordering::Relaxed);
        *self.state.what.write().unwrap_or_else(PoisonError::into_inner) = what;
    }

    /// So many steps more are done.
    pub fn step(&self, steps: u64) {
        self.state.done.fetch_add(steps, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A line that could not be drawn is not an error.
            let _ = thread.join();
        }
    }
}

impl State {
    fn line(&self, elapsed: Duration) -> String {
        let what = *self.what.read().unwrap_or_else(PoisonError::into_inner);
        line(what, self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed), elapsed)
    }
}

fn line(what: &str, done: u64, total: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    if total == 0 {
        return format!("{what} … {seconds} s");
    }
    let done = done.min(total);
    let width = usize::try_from(u128::from(done) * WIDTH / u128::from(total)).unwrap_or(0);
    format!("{what} [{:<40}] {done}/{total}  {seconds} s", "#".repeat(width))
}

/// A view that counts the records that are read through it.
pub struct Counted<'a> {
    pub view: &'a dyn View,
    pub progress: &'a Progress,
}

impl View for Counted<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.view.get(space, key)
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<Entry>, StoreError> {
        self.view.scan(space, keys)
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        let records = self.view.records(query)?;
        self.progress.step(records.len() as u64);
        Ok(records)
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.view.head()
    }

    fn base(&self) -> Result<Head, StoreError> {
        self.view.base()
    }

    fn keys(&self) -> Option<&Keyring> {
        self.view.keys()
    }

    fn seals(&self, query: &Query) -> Result<Vec<(Head, Option<Seal>)>, StoreError> {
        self.view.seals(query)
    }
}

#[cfg(test)]
mod tests;
