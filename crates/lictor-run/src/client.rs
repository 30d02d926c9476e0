//! The client inside: forwards its call to the guardian and returns the result.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lictor_socket::Client;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::RunError;
use crate::call::{Answer, Call, METHOD};

/// The marker inside that a guardian judges: a link to the state directory. It is in a place where outside only
/// root can create files, and inside nobody can; environment variables are not trusted.
pub const SIGN: &str = "/dev/lictor";
/// The file in the state directory with the same meaning.
pub const MARK: &str = "guarded";
/// The socket beside it.
pub const SOCKET: &str = "agent.sock";
/// The list beside it of paths that git ignores inside.
pub const IGNORED: &str = "ignored";
/// The directory beside it with programs that explain why others do not work inside.
pub const PROGRAMS: &str = "programs";

/// The guardian's socket, when this process runs inside.
#[must_use]
pub fn guardian() -> Option<PathBuf> {
    fs::read_link(SIGN).ok().map(|state| state.join(SOCKET))
}

/// Hands a call over and waits for the answer.
///
/// # Errors
/// When there is nobody, somebody else, or no answer in time. The caller has to block then.
pub fn ask(socket: &Path, call: &Call, patience: Duration) -> Result<Answer, RunError> {
    let protocol = |error: serde_json::Error| RunError::Protocol(error.to_string());
    let params = serde_json::to_value(call).map_err(protocol)?;
    let deadline = Instant::now() + patience;
    let mut client = Client::connect_within(socket, patience)?;
    let answer = client.call(METHOD, params, deadline.saturating_duration_since(Instant::now()))?;
    serde_json::from_value(answer).map_err(protocol)
}

/// Standard input, up to this many bytes and until the deadline.
///
/// # Errors
/// When it cannot be read, or does not end in time.
pub fn read_input(most: usize, deadline: Instant) -> io::Result<Vec<u8>> {
    let (stdin, mut input) = (rustix::stdio::stdin(), Vec::with_capacity(8 * 1024));
    while input.len() < most {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        input.reserve(4 * 1024);
        match rustix::io::read(stdin, spare_capacity(&mut input)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(input)
}
