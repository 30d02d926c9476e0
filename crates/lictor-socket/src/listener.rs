//! The server side.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use serde_json::Value;

use crate::line::{Lines, NoLine};
use crate::message::{self, Failure, Request, Response, code};
use crate::peer::Peer;

/// The limits for clients.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Concurrent connections; further ones are refused.
    pub connections: usize,
    /// Bytes of a message.
    pub message: usize,
    /// How long a connection may be idle.
    pub idle: Duration,
    /// How long a message may take to arrive, and a response to be read.
    pub transfer: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            message: 16 * 1024 * 1024,
            idle: Duration::from_secs(600),
            transfer: Duration::from_secs(10),
        }
    }
}

/// Why a socket cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ListenerError {
    /// Another process is listening there.
    #[error("another process listens on `{file}`; stop it, or choose another socket")]
    InUse {
        /// The socket.
        file: PathBuf,
    },
    /// Something else is there.
    #[error("`{file}` is not a socket; remove it, or choose another place for the socket")]
    NotASocket {
        /// The file.
        file: PathBuf,
    },
    /// Others may replace the socket.
    #[error("the directory `{directory}` can be written by others; put the socket into one with mode 0700")]
    Unsafe {
        /// The directory.
        directory: PathBuf,
    },
    /// The system refused.
    #[error("cannot listen on `{file}`: {source}")]
    Io {
        /// The socket.
        file: PathBuf,
        /// The system error.
        source: io::Error,
    },
}

/// Ends a [`Listener`] from another thread.
#[derive(Debug, Clone)]
pub struct Stop {
    wake: Arc<UnixStream>,
    stopped: Arc<AtomicBool>,
}

impl Stop {
    /// No new connections; calls that are being answered are finished.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = (&*self.wake).write_all(&[1]);
    }
}

/// A socket that is listened on. Its file is removed at the end.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    file: PathBuf,
    identity: (u64, u64),
    limits: Limits,
    woken: UnixStream,
    stop: Stop,
}

impl Listener {
    /// Listens on `file`, which only this user can connect to. A stale socket is replaced.
    ///
    /// # Errors
    /// See [`ListenerError`].
    pub fn bind(file: &Path, limits: Limits) -> Result<Self, ListenerError> {
        let failed = |source| ListenerError::Io { file: file.to_owned(), source };
        let directory =
            file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let meta = fs::metadata(directory).map_err(failed)?;
        let sticky = meta.mode() & 0o1000 != 0;
        if meta.mode() & 0o022 != 0 && !sticky {
            return Err(ListenerError::Unsafe { directory: directory.to_owned() });
        }
        match fs::symlink_metadata(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
            Ok(meta) if !meta.file_type().is_socket() => {
                return Err(ListenerError::NotASocket { file: file.to_owned() });
            }
            Ok(_) if UnixStream::connect(file).is_ok() => {
                return Err(ListenerError::InUse { file: file.to_owned() });
            }
            Ok(_) => fs::remove_file(file).map_err(failed)?,
        }
        let socket = UnixListener::bind(file).map_err(failed)?;
        fs::set_permissions(file, Permissions::from_mode(0o600)).map_err(failed)?;
        let meta = fs::symlink_metadata(file).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let (wake, woken) = UnixStream::pair().map_err(failed)?;
        woken.set_nonblocking(true).map_err(failed)?;
        let stop = Stop { wake: Arc::new(wake), stopped: Arc::default() };
        let identity = (meta.dev(), meta.ino());
        Ok(Self { socket, file: file.to_owned(), identity, limits, woken, stop })
    }

    /// What ends it.
    #[must_use]
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Handles calls with `answer`, each connection in its own thread, until it is stopped; returns when the last
    /// response is sent. A panic in `answer` gives an error response.
    ///
    /// # Errors
    /// When the socket itself fails.
    pub fn serve(
        &self,
        answer: impl Fn(&Peer, &Request) -> Result<Value, Failure> + Sync,
    ) -> Result<(), ListenerError> {
        let open = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            loop {
                let mut ready =
                    [PollFd::new(&self.socket, PollFlags::IN), PollFd::new(&self.woken, PollFlags::IN)];
                match poll(&mut ready, None) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(errno) => {
                        return Err(ListenerError::Io { file: self.file.clone(), source: errno.into() });
                    }
                }
                if self.stop.stopped.load(Ordering::SeqCst) {
                    return Ok(());
                }
                let Ok((stream, _)) = self.socket.accept() else { continue };
                if open.fetch_add(1, Ordering::SeqCst) >= self.limits.connections {
                    open.fetch_sub(1, Ordering::SeqCst);
                    let full = Failure::new(code::UNAVAILABLE, "too many connections; try again");
                    let _ = self.send(&stream, &Response::to(Value::Null, Err(full)));
                    continue;
                }
                let (answer, open) = (&answer, &open);
                let converse = move || {
                    self.converse(stream, answer);
                    open.fetch_sub(1, Ordering::SeqCst);
                };
                if std::thread::Builder::new()
                    .name("lictor-call".to_owned())
                    .spawn_scoped(scope, converse)
                    .is_err()
                {
                    open.fetch_sub(1, Ordering::SeqCst);
                }
            }
        })
    }

    fn converse(&self, stream: UnixStream, answer: &impl Fn(&Peer, &Request) -> Result<Value, Failure>) {
        let Ok(peer) = Peer::of(&stream) else { return };
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        let Ok(reading) = stream.try_clone() else { return };
        let mut lines = Lines::new(reading, self.limits.message);
        // Looks up now and then, so that an idle connection does not keep a stopped listener.
        let (mut idle, step) = (Duration::ZERO, Duration::from_millis(100).min(self.limits.idle));
        loop {
            if self.stop.stopped.load(Ordering::SeqCst) {
                return;
            }
            let response = match lines.next(step, self.limits.transfer) {
                Ok(line) => {
                    idle = Duration::ZERO;
                    self.respond(&peer, &line, answer)
                }
                Err(NoLine::TooSlow) if lines.is_between() && idle < self.limits.idle => {
                    idle += step;
                    continue;
                }
                Err(NoLine::TooLong) => {
                    let text = format!("a message has at most {} bytes", self.limits.message);
                    let _ = self.send(
                        &stream,
                        &Response::to(Value::Null, Err(Failure::new(code::INVALID_REQUEST, text))),
                    );
                    return;
                }
                Err(NoLine::End | NoLine::TooSlow | NoLine::Failed(_)) => return,
            };
            if self.send(&stream, &response).is_err() {
                return;
            }
        }
    }

    fn respond(
        &self,
        peer: &Peer,
        line: &[u8],
        answer: &impl Fn(&Peer, &Request) -> Result<Value, Failure>,
    ) -> Response {
        let request = match message::read(line) {
            Ok(request) => request,
            Err(refusal) => return *refusal,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| answer(peer, &request)))
            .unwrap_or_else(|_| Err(Failure::new(code::INTERNAL, "the call failed inside Lictor")));
        Response::to(request.id, outcome)
    }

    fn send(&self, mut stream: &UnixStream, response: &Response) -> io::Result<()> {
        stream.set_write_timeout(Some(self.limits.transfer))?;
        let mut bytes = serde_json::to_vec(response)?;
        bytes.push(b'\n');
        stream.write_all(&bytes)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let same = |meta: fs::Metadata| (meta.dev(), meta.ino()) == self.identity;
        if fs::symlink_metadata(&self.file).is_ok_and(same) {
            let _ = fs::remove_file(&self.file);
        }
    }
}
