//! The client side.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::line::{Lines, NoLine};
use crate::message::{Failure, Request, Response};

/// Bytes of an answer.
const MOST: usize = 64 * 1024 * 1024;

/// The default timeout for connecting.
const CONNECT: Duration = Duration::from_secs(10);

/// Connects in bounded time: where the queue of the other side is full, connecting waits as sending does.
fn connected(file: &Path, wait: Duration) -> io::Result<UnixStream> {
    use rustix::net::sockopt::{Timeout, set_socket_timeout};
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

    #[cfg(target_os = "linux")]
    let flags = SocketFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = SocketFlags::empty();
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(wait.max(Duration::from_millis(1))))?;
    connect(&socket, &SocketAddrUnix::new(file)?)?;
    Ok(socket.into())
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens.
    #[error("nobody answers on `{file}`: {source}")]
    Unreachable {
        /// The socket.
        file: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// Another user listens.
    #[error("`{file}` belongs to the user {uid}, not to this one; it is not asked")]
    Stranger {
        /// The socket.
        file: PathBuf,
        /// Who listens.
        uid: u32,
    },
    /// The answer did not come in time.
    #[error("no answer from `{file}` within {waited_ms} ms")]
    TooSlow {
        /// The socket.
        file: PathBuf,
        /// How long was waited.
        waited_ms: u64,
    },
    /// The answer is not one.
    #[error("`{file}` gave an answer that cannot be read: {detail}")]
    Garbled {
        /// The socket.
        file: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// The call was understood and failed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// A connection to a [`Listener`](crate::Listener).
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    lines: Lines,
    file: PathBuf,
}

impl Client {
    /// Connects, unless the socket belongs to neither this user nor root.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn connect(file: &Path) -> Result<Self, ClientError> {
        Self::connect_within(file, CONNECT)
    }

    /// The same, and waits at most so long where others wait to connect.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn connect_within(file: &Path, wait: Duration) -> Result<Self, ClientError> {
        let failed = |source| ClientError::Unreachable { file: file.to_owned(), source };
        // The owner of the file, not the process: of one outside of this namespace the kernel does not tell.
        let owner = fs::metadata(file).map_err(failed)?.uid();
        if owner != 0 && owner != rustix::process::geteuid().as_raw() {
            return Err(ClientError::Stranger { file: file.to_owned(), uid: owner });
        }
        let stream = connected(file, wait).map_err(failed)?;
        let lines = Lines::new(stream.try_clone().map_err(failed)?, MOST);
        Ok(Self { stream, lines, file: file.to_owned() })
    }

    /// Asks and waits at most so long for the answer. After an error the connection is of no more use.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn call(&mut self, method: &str, params: Value, wait: Duration) -> Result<Value, ClientError> {
        let failed = |source| ClientError::Unreachable { file: self.file.clone(), source };
        let garbled = |detail: String| ClientError::Garbled { file: self.file.clone(), detail };
        let too_slow = || {
            let waited_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            ClientError::TooSlow { file: self.file.clone(), waited_ms }
        };
        let deadline = Instant::now() + wait;
        let request = Request::new(method, params);
        let mut bytes = serde_json::to_vec(&request).map_err(|error| garbled(error.to_string()))?;
        bytes.push(b'\n');
        self.stream.set_write_timeout(Some(wait.max(Duration::from_millis(1)))).map_err(failed)?;
        (&self.stream).write_all(&bytes).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => too_slow(),
            _ => failed(error),
        })?;
        let left = deadline.saturating_duration_since(Instant::now());
        let line = match self.lines.next(left, left) {
            Ok(line) => line,
            Err(NoLine::TooSlow) => return Err(too_slow()),
            Err(NoLine::TooLong) => return Err(garbled(format!("it is longer than {MOST} bytes"))),
            Err(NoLine::End) => return Err(failed(io::ErrorKind::UnexpectedEof.into())),
            Err(NoLine::Failed(error)) => return Err(failed(error)),
        };
        let response: Response = serde_json::from_slice(&line).map_err(|error| garbled(error.to_string()))?;
        match (response.result, response.error) {
            (_, Some(error)) => Err(error.into()),
            (Some(_), None) if response.id != request.id => {
                Err(garbled("it answers another call".to_owned()))
            }
            (Some(result), None) => Ok(result),
            (None, None) => Err(garbled("it has neither a result nor an error".to_owned())),
        }
    }
}
