//! A process inside: hands its call to the guardian and does what it says.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::RunError;
use crate::wire::{Answer, Call};

/// Says inside that a guardian judges, and where: a link to the state directory. It lies where nobody but root can put
/// something outside, and nobody at all inside; what the environment says does not count.
pub const SIGN: &str = "/dev/lictor";
/// The file in the state directory that says the same to whoever looks there.
pub const MARK: &str = "guarded";
/// The socket beside it.
pub const SOCKET: &str = "agent.sock";
/// The list beside it of what git shall not take for files of the project.
pub const IGNORED: &str = "ignored";

/// The guardian's socket, when this process runs inside.
#[must_use]
pub fn guardian() -> Option<PathBuf> {
    fs::read_link(SIGN).ok().map(|state| state.join(SOCKET))
}

/// Hands a call over and waits for the answer.
///
/// # Errors
/// When there is nobody, somebody else, or no answer in time. The caller has to block then.
pub fn ask(socket: &Path, call: &Call, stdin: &[u8], patience: Duration) -> Result<Answer, RunError> {
    let failed = |what: &str| RunError::io(format!("{what} `{}`", socket.display()));
    let mut stream = UnixStream::connect(socket).map_err(failed("cannot reach the guardian at"))?;
    stream.set_read_timeout(Some(patience)).map_err(failed("cannot wait at"))?;
    stream.set_write_timeout(Some(patience)).map_err(failed("cannot wait at"))?;
    // Of a listener outside of this process's namespace the kernel tells no process, which is how a guardian looks.
    if let Ok(peer) = rustix::net::sockopt::socket_peercred(&stream)
        && peer.uid != rustix::process::geteuid()
    {
        return Err(RunError::Protocol(format!("user {} listens there", peer.uid.as_raw())));
    }
    call.send(&mut stream, stdin)?;
    Answer::receive(&mut stream)
}
