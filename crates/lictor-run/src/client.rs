//! A process inside: hands its call to the guardian and does what it says.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lictor_socket::Client;

use crate::RunError;
use crate::call::{Answer, Call, METHOD};

/// Says inside that a guardian judges, and where: a link to the state directory. It lies where nobody but root can put
/// something outside, and nobody at all inside; what the environment says does not count.
pub const SIGN: &str = "/dev/lictor";
/// The file in the state directory that says the same to whoever looks there.
pub const MARK: &str = "guarded";
/// The socket beside it.
pub const SOCKET: &str = "agent.sock";
/// The list beside it of what git shall not take for files of the project.
pub const IGNORED: &str = "ignored";
/// The directory beside it with programs that say why others cannot do something inside.
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
    let answer = Client::connect(socket)?.call(METHOD, params, patience)?;
    serde_json::from_value(answer).map_err(protocol)
}
