//! The listener outside: one thread for each connection, closed when the agent has ended.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::RunError;
use crate::wire::{Answer, Call};

/// More connections at once than agents make; the next is refused.
const MOST_AT_ONCE: usize = 64;
/// How long a caller may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(30);

/// A call, with who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Its process, as it is numbered outside.
    pub pid: u32,
}

/// Whoever answers calls.
pub trait Judge: Send + Sync + 'static {
    /// The answer. Must come in the caller's own time.
    fn answer(&self, caller: &Caller, call: &Call, stdin: &[u8]) -> Answer;
}

/// Blocks everything from now on, with a reason.
#[derive(Debug, Default)]
pub struct Closed(AtomicBool);

impl Closed {
    /// From now on.
    pub fn close(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Listens at a socket and lets the judge answer, until the process ends.
///
/// # Errors
/// When the socket cannot be made.
pub fn listen(socket: &Path, judge: Arc<dyn Judge>, closed: Arc<Closed>) -> Result<(), RunError> {
    let listener = UnixListener::bind(socket)
        .map_err(RunError::io(format!("cannot listen at `{}`", socket.display())))?;
    let open = Arc::new(AtomicUsize::new(0));
    let serve = move || {
        for stream in listener.incoming().flatten() {
            let (judge, closed, open) = (Arc::clone(&judge), Arc::clone(&closed), Arc::clone(&open));
            if open.fetch_add(1, Ordering::Relaxed) >= MOST_AT_ONCE {
                open.fetch_sub(1, Ordering::Relaxed);
                refuse(stream, "too many calls at once");
                continue;
            }
            let connection = thread::Builder::new().name("lictor-call".to_owned()).spawn(move || {
                let _ = converse(stream, &*judge, &closed);
                open.fetch_sub(1, Ordering::Relaxed);
            });
            drop(connection);
        }
    };
    thread::Builder::new()
        .name("lictor-guardian".to_owned())
        .spawn(serve)
        .map(drop)
        .map_err(RunError::io("cannot start the guardian"))
}

fn refuse(mut stream: UnixStream, why: &str) {
    let _ = Answer::refusal(why).send(&mut stream);
}

fn converse(mut stream: UnixStream, judge: &dyn Judge, closed: &Closed) -> Result<(), RunError> {
    let failed = || RunError::io("cannot wait for a caller");
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed())?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(failed())?;
    let Ok(peer) = rustix::net::sockopt::socket_peercred(&stream) else {
        refuse(stream, "nobody knows who calls");
        return Ok(());
    };
    if peer.uid != rustix::process::geteuid() {
        refuse(stream, "another user calls");
        return Ok(());
    }
    let (call, stdin) = Call::receive(&mut stream)?;
    if closed.is_closed() {
        refuse(stream, "a file that governs this agent was replaced; start it again");
        return Ok(());
    }
    let caller = Caller { pid: peer.pid.as_raw_pid().cast_unsigned() };
    judge.answer(&caller, &call, &stdin).send(&mut stream)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write as _;

    use super::*;
    use crate::client;

    struct Echo;

    impl Judge for Echo {
        fn answer(&self, caller: &Caller, call: &Call, stdin: &[u8]) -> Answer {
            assert_eq!(caller.pid, std::process::id());
            Answer { exit: 3, stdout: stdin.to_vec(), stderr: call.cwd.clone().into_bytes() }
        }
    }

    fn call() -> Call {
        Call { args: vec!["hook".into()], cwd: "/p".into(), env: BTreeMap::new() }
    }

    #[test]
    fn many_callers_are_answered_and_bad_ones_harm_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("s");
        let closed = Arc::new(Closed::default());
        listen(&socket, Arc::new(Echo), Arc::clone(&closed)).unwrap();
        // One says nothing, one nonsense, one a length that nothing has.
        let _silent = UnixStream::connect(&socket).unwrap();
        UnixStream::connect(&socket).unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        UnixStream::connect(&socket).unwrap().write_all(&[0xff; 64]).unwrap();
        let ask = |text: &str| client::ask(&socket, &call(), text.as_bytes(), Duration::from_secs(10));
        thread::scope(|scope| {
            let asked: Vec<_> = (0..16).map(|n| scope.spawn(move || ask(&n.to_string()).unwrap())).collect();
            for (n, answer) in asked.into_iter().enumerate() {
                let answer = answer.join().unwrap();
                assert_eq!((answer.exit, answer.stdout), (3, n.to_string().into_bytes()));
            }
        });
        closed.close();
        let answer = ask("x").unwrap();
        assert_eq!(answer.exit, 2);
        assert!(String::from_utf8_lossy(&answer.stderr).contains("was replaced"));
    }

    #[test]
    fn without_a_guardian_there_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let patience = Duration::from_millis(50);
        assert!(client::ask(&directory.path().join("none"), &call(), b"", patience).is_err());
        // One that takes calls and says nothing.
        let socket = directory.path().join("mute");
        let _mute = UnixListener::bind(&socket).unwrap();
        assert!(client::ask(&socket, &call(), b"", patience).is_err());
        assert_eq!(client::guardian(), None);
    }
}
