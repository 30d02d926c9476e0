//! A terminal of the agent's own, relayed to the person's: what runs inside never holds the person's terminal, so it
//! cannot type into it.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};

use crate::RunError;

/// How often the size of the window is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How long what is still on its way is waited for after the agent has ended.
const REST: Duration = Duration::from_millis(500);

/// A relay between the person's terminal and the agent's.
#[derive(Debug)]
pub struct Relay {
    master: OwnedFd,
    before: Termios,
}

/// Gives a command a terminal of its own where the person has one. Without one, its input and output are passed on.
///
/// # Errors
/// When no terminal can be made.
pub fn give(command: &mut Command) -> Result<Option<Relay>, RunError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Ok(None);
    }
    let failed = |error: rustix::io::Errno| RunError::Io {
        what: "cannot make a terminal".to_owned(),
        source: error.into(),
    };
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).map_err(failed)?;
    grantpt(&master).and_then(|()| unlockpt(&master)).map_err(failed)?;
    let name = ptsname(&master, Vec::new()).map_err(failed)?;
    let open = || File::options().read(true).write(true).open(name.to_string_lossy().as_ref());
    let before = tcgetattr(io::stdin()).map_err(failed)?;
    let slave = open().map_err(RunError::io("cannot open a terminal"))?;
    tcsetattr(&slave, OptionalActions::Now, &before).map_err(failed)?;
    if let Ok(size) = tcgetwinsize(io::stdin()) {
        let _ = tcsetwinsize(&master, size);
    }
    let copy = || slave.try_clone().map(Stdio::from).map_err(RunError::io("cannot share a terminal"));
    command.stdin(copy()?).stdout(copy()?).stderr(copy()?);
    Ok(Some(Relay { master, before }))
}

impl Relay {
    /// Relays while `run` waits for the agent, and leaves the person's terminal as it was.
    ///
    /// # Errors
    /// When the person's terminal cannot be set up.
    pub fn during<T>(self, run: impl FnOnce() -> T) -> Result<T, RunError> {
        let Self { master, before } = self;
        let master = Arc::new(master);
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw).map_err(|error| RunError::Io {
            what: "cannot set up the terminal".to_owned(),
            source: error.into(),
        })?;
        let ended = Arc::new(AtomicBool::new(false));
        let (input, watch) = (Arc::clone(&master), Arc::clone(&master));
        thread::spawn(move || copy_input(&input));
        let done = Arc::clone(&ended);
        thread::spawn(move || watch_size(&watch, &done));
        let (sender, receiver) = std::sync::mpsc::channel();
        thread::spawn(move || {
            copy_output(&master);
            let _ = sender.send(());
        });
        let value = run();
        let _ = receiver.recv_timeout(REST);
        ended.store(true, Ordering::Relaxed);
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        Ok(value)
    }
}

fn copy_input(master: &OwnedFd) {
    let mut bytes = [0; 4096];
    while let Ok(read) = io::stdin().lock().read(&mut bytes) {
        let Some(mut rest) = bytes.get(..read).filter(|rest| !rest.is_empty()) else { break };
        while let Ok(written) = rustix::io::write(master, rest) {
            rest = rest.get(written..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
        }
    }
}

fn copy_output(master: &OwnedFd) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(read) = rustix::io::read(master, &mut bytes) {
        let Some(read) = bytes.get(..read).filter(|read| !read.is_empty()) else { break };
        let mut out = io::stdout().lock();
        if out.write_all(read).and_then(|()| out.flush()).is_err() {
            break;
        }
    }
}

fn watch_size(master: &OwnedFd, ended: &AtomicBool) {
    let changed = Arc::new(AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGWINCH, Arc::clone(&changed));
    while !ended.load(Ordering::Relaxed) {
        if changed.swap(false, Ordering::Relaxed)
            && let Ok(size) = tcgetwinsize(io::stdin())
        {
            let _ = tcsetwinsize(master, size);
        }
        thread::sleep(LOOK);
    }
}
