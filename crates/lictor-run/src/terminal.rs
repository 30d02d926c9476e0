//! A separate terminal for the agent, relayed to the person's: processes inside never have the person's terminal,
//! so they cannot inject input into it.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};

use crate::RunError;

/// How long to wait for remaining output after the agent has ended.
const REST: Duration = Duration::from_millis(500);

/// A relay between the person's terminal and the agent's.
#[derive(Debug)]
pub struct Relay {
    master: Arc<OwnedFd>,
    before: Termios,
}

/// Set when the terminal is opened, if the system supports it; otherwise afterwards.
#[cfg(not(target_os = "macos"))]
const CLOSED_IN_CHILDREN: OpenptFlags = OpenptFlags::CLOEXEC;
#[cfg(target_os = "macos")]
const CLOSED_IN_CHILDREN: OpenptFlags = OpenptFlags::empty();

/// Gives a command its own terminal if the person has one. Without one, its input and output are inherited.
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
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | CLOSED_IN_CHILDREN).map_err(failed)?;
    fcntl_setfd(&master, FdFlags::CLOEXEC).map_err(failed)?;
    grantpt(&master).and_then(|()| unlockpt(&master)).map_err(failed)?;
    let name = ptsname(&master, Vec::new()).map_err(failed)?;
    let open = || File::options().read(true).write(true).open(name.to_string_lossy().as_ref());
    let before = tcgetattr(io::stdin()).map_err(failed)?;
    let slave = open().map_err(RunError::io("cannot open a terminal"))?;
    tcsetattr(&slave, OptionalActions::Now, &before).map_err(failed)?;
    let copy = || slave.try_clone().map(Stdio::from).map_err(RunError::io("cannot share a terminal"));
    command.stdin(copy()?).stdout(copy()?).stderr(copy()?);
    let relay = Relay { master: Arc::new(master), before };
    relay.resize();
    Ok(Some(relay))
}

impl Relay {
    /// Starts relaying. The receiver signals when all of the agent's output has been shown.
    #[must_use]
    pub fn start(&self) -> Receiver<()> {
        self.raw();
        let (input, output) = (Arc::clone(&self.master), Arc::clone(&self.master));
        thread::spawn(move || copy_input(&input));
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            copy_output(&output);
            let _ = sender.send(());
        });
        receiver
    }

    /// Shows what is left of the agent's output and leaves the person's terminal as it was.
    pub fn finish(&self, shown: &Receiver<()>) {
        let _ = shown.recv_timeout(REST);
        self.restore();
    }

    /// Hands every key on as it is.
    pub(crate) fn raw(&self) {
        let mut raw = self.before.clone();
        raw.make_raw();
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &raw);
    }

    /// Leaves the person's terminal as it was.
    pub(crate) fn restore(&self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &self.before);
    }

    /// Gives the agent's terminal the size of the person's.
    pub(crate) fn resize(&self) {
        if let Ok(size) = tcgetwinsize(io::stdin()) {
            let _ = tcsetwinsize(&self.master, size);
        }
    }
}

fn copy_input(master: &OwnedFd) {
    let mut bytes = [0; 4096];
    loop {
        let read = match io::stdin().lock().read(&mut bytes) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
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
    while let Ok(read) = rustix::io::retry_on_intr(|| rustix::io::read(master, &mut bytes)) {
        let Some(read) = bytes.get(..read).filter(|read| !read.is_empty()) else { break };
        let mut out = io::stdout().lock();
        if out.write_all(read).and_then(|()| out.flush()).is_err() {
            break;
        }
    }
}
