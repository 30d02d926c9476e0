//! Reads lines with a length limit.

use std::io::{self, ErrorKind, Read as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Bytes read at a time.
const CHUNK: usize = 16 * 1024;

/// Lines of a stream, each of bounded length and each in bounded time.
#[derive(Debug)]
pub(crate) struct Lines {
    stream: UnixStream,
    read: Vec<u8>,
    /// Bytes that were scanned without finding a line end.
    seen: usize,
    most: usize,
}

/// Why there is no next line.
#[derive(Debug)]
pub(crate) enum NoLine {
    /// The other side is done.
    End,
    /// Nothing came, or not all of it, in time.
    TooSlow,
    /// It is longer than allowed.
    TooLong,
    /// The stream failed.
    Failed(io::Error),
}

impl Lines {
    pub(crate) fn new(stream: UnixStream, most: usize) -> Self {
        Self { stream, read: Vec::new(), seen: 0, most }
    }

    /// Whether no part of a line has come yet.
    pub(crate) fn is_between(&self) -> bool {
        self.read.is_empty()
    }

    /// The next line without its end. Waits `idle` for its first byte and then `whole` for the rest.
    pub(crate) fn next(&mut self, idle: Duration, whole: Duration) -> Result<Vec<u8>, NoLine> {
        let mut deadline = Instant::now() + if self.read.is_empty() { idle } else { whole };
        loop {
            let fresh = self.read.get(self.seen..).unwrap_or_default();
            if let Some(end) = fresh.iter().position(|byte| *byte == b'\n') {
                let end = self.seen + end;
                let rest = self.read.split_off((end + 1).min(self.read.len()));
                let mut line = std::mem::replace(&mut self.read, rest);
                line.truncate(end);
                self.seen = 0;
                return Ok(line);
            }
            self.seen = self.read.len();
            if self.seen > self.most {
                return Err(NoLine::TooLong);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(NoLine::TooSlow);
            }
            self.stream.set_read_timeout(Some(left)).map_err(NoLine::Failed)?;
            let mut chunk = [0; CHUNK];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(NoLine::End),
                Ok(count) => {
                    if self.read.is_empty() {
                        deadline = Instant::now() + whole;
                    }
                    self.read.extend_from_slice(chunk.get(..count).unwrap_or_default());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(NoLine::Failed(error)),
            }
        }
    }
}
