//! The process on the other side of a socket, as reported by the kernel.

use std::io;
use std::os::unix::net::UnixStream;

/// The process that opened the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its number when it connected. `None` where the kernel does not tell, or outside of its namespace.
    pub pid: Option<u32>,
    /// Its user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
}

impl Peer {
    /// Of this connection.
    ///
    /// # Errors
    /// When the kernel does not say.
    #[cfg(target_os = "linux")]
    pub fn of(stream: &UnixStream) -> io::Result<Self> {
        let found = rustix::net::sockopt::socket_peercred(stream)?;
        let pid = u32::try_from(found.pid.as_raw_nonzero().get()).ok();
        Ok(Self { pid, uid: found.uid.as_raw(), gid: found.gid.as_raw() })
    }

    /// Of this connection: if the kernel does not report it, the mode of the socket's file restricts who may
    /// connect, and the other side is assumed to be this user.
    ///
    /// # Errors
    /// Never.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_: &UnixStream) -> io::Result<Self> {
        let (uid, gid) = (rustix::process::getuid(), rustix::process::getgid());
        Ok(Self { pid: None, uid: uid.as_raw(), gid: gid.as_raw() })
    }
}
