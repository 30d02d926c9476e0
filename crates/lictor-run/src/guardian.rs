//! The listener outside: handles the calls of processes inside, until the agent has ended.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lictor_socket::{Failure, Limits, Listener, Peer, Request, Stop, code};
use serde_json::Value;

use crate::RunError;
use crate::call::{Answer, Call, METHOD};

/// The limits for processes inside: more connections and longer events than agents have.
const LIMITS: Limits = Limits {
    connections: 64,
    message: 40 * 1024 * 1024,
    idle: Duration::from_secs(30),
    transfer: Duration::from_secs(30),
};

/// A call, with who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Its process, as it is numbered outside.
    pub pid: u32,
}

/// Handles calls.
pub trait Judge: Send + Sync + 'static {
    /// The answer. Must come in the caller's own time.
    fn answer(&self, caller: &Caller, call: &Call) -> Answer;
}

/// Blocks everything from now on, with a reason.
#[derive(Debug, Default)]
pub struct Closed(AtomicBool);

impl Closed {
    /// From now on.
    pub fn close(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it is.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Listens at a socket and lets the judge answer, until it is stopped or the process ends.
///
/// # Errors
/// When the socket cannot be made.
pub fn listen(socket: &Path, judge: Arc<dyn Judge>, closed: Arc<Closed>) -> Result<Stop, RunError> {
    let listener = Listener::bind(socket, LIMITS)?;
    let stop = listener.stop();
    thread::Builder::new()
        .name("lictor-guardian".to_owned())
        .spawn(move || listener.serve(|peer, request| respond(peer, request, &*judge, &closed)))
        .map_err(RunError::io("cannot start the guardian"))?;
    Ok(stop)
}

/// The response to one request. Anything but a call of this user is refused.
fn respond(peer: &Peer, request: &Request, judge: &dyn Judge, closed: &Closed) -> Result<Value, Failure> {
    if peer.uid != rustix::process::geteuid().as_raw() {
        return Err(Failure::new(code::UNAVAILABLE, "another user calls; it is not answered"));
    }
    let Some(pid) = peer.pid.filter(|pid| *pid > 0) else {
        return Err(Failure::new(code::UNAVAILABLE, "the kernel does not say who calls"));
    };
    if request.method != METHOD {
        let text = format!("there is no method `{}`", request.method);
        return Err(Failure::new(code::METHOD_NOT_FOUND, text));
    }
    let call: Call = serde_json::from_value(request.params.clone())
        .map_err(|error| Failure::new(code::INVALID_PARAMS, error.to_string()))?;
    let answer = if closed.is_closed() {
        Answer::refusal("a file that governs this agent was replaced; start it again")
    } else {
        judge.answer(&Caller { pid }, &call)
    };
    serde_json::to_value(answer).map_err(|error| Failure::new(code::INTERNAL, error.to_string()))
}

#[cfg(test)]
mod tests;
