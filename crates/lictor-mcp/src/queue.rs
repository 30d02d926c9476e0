//! An output queue: lines are written in the order in which they were judged, by a separate thread, so that
//! judging never waits for a slow reader.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The maximum queued bytes before the producer has to wait. One message beyond that is always accepted.
const MOST_WAITING: usize = 4 * 1024 * 1024;

/// Lines for one reader.
#[derive(Clone)]
pub(crate) struct Lines(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    bytes: usize,
    /// Nothing more comes.
    closed: bool,
    /// The reader is gone, or everything is written: the stream is closed.
    over: bool,
}

impl Lines {
    /// Lines that go to that stream, which is closed after the last of them.
    pub(crate) fn to(stream: impl Write + Send + 'static) -> Self {
        let lines = Self(Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() }));
        let written = lines.clone();
        thread::spawn(move || written.write_all(stream));
        lines
    }

    /// Appends a line. Does not wait.
    pub(crate) fn put(&self, line: String) -> io::Result<()> {
        let mut state = self.state();
        if state.closed || state.over {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        self.0.changed.notify_all();
        Ok(())
    }

    /// Whether the reader keeps up.
    pub(crate) fn has_room(&self) -> bool {
        self.state().bytes < MOST_WAITING
    }

    /// Waits until the reader keeps up, or is gone.
    pub(crate) fn wait_for_room(&self) {
        let waiting = self.state();
        let full = |state: &mut State| state.bytes >= MOST_WAITING && !state.over;
        drop(self.0.changed.wait_while(waiting, full).unwrap_or_else(PoisonError::into_inner));
    }

    /// Nothing more will be put.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.0.changed.notify_all();
    }

    /// The same, and waits until everything is written or the reader is gone.
    pub(crate) fn finish(&self) {
        self.close();
        let waiting = self.state();
        drop(self.0.changed.wait_while(waiting, |state| !state.over).unwrap_or_else(PoisonError::into_inner));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all(&self, mut stream: impl Write) {
        while let Some(line) = self.next() {
            let written = stream.write_all(line.as_bytes()).and_then(|()| stream.flush());
            let mut state = self.state();
            state.bytes -= line.len();
            if written.is_err() {
                break;
            }
            self.0.changed.notify_all();
        }
        drop(stream);
        let mut state = self.state();
        state.over = true;
        state.lines.clear();
        self.0.changed.notify_all();
    }

    /// The next line, as soon as there is one.
    fn next(&self) -> Option<String> {
        let waiting = self.state();
        let idle = |state: &mut State| state.lines.is_empty() && !state.closed;
        let mut state = self.0.changed.wait_while(waiting, idle).unwrap_or_else(PoisonError::into_inner);
        state.lines.pop_front()
    }
}

#[cfg(test)]
mod tests;
