//! What the guardian does while the agent runs: forwards signals, keeps the two terminals in sync, and ends the
//! sandbox when a governing file is replaced from outside.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};

use crate::RunError;
use crate::guardian::Closed;
use crate::mounts::Mount;
use crate::terminal::Relay;

/// The polling interval for whether the agent has suspended itself, if there is a terminal.
const LOOK: Duration = Duration::from_millis(200);
/// The polling interval for governing files, if the kernel sends no events.
const LOOK_AT_FILES: Duration = Duration::from_secs(2);

/// Signals that come from a terminal are for everything in the foreground, the others for the agent alone.
const FOREGROUND: [Signal; 4] = [Signal::INT, Signal::QUIT, Signal::HUP, Signal::TSTP];
const AGENT: [Signal; 3] = [Signal::TERM, Signal::USR1, Signal::USR2];

/// The thread that does it.
pub struct Supervisor {
    ended: Arc<AtomicBool>,
    wake: UnixStream,
    thread: JoinHandle<Option<PathBuf>>,
}

impl Supervisor {
    /// Ends it. Gives what was replaced, if that is why the agent ended.
    pub fn stop(mut self) -> Option<PathBuf> {
        self.ended.store(true, Ordering::SeqCst);
        let _ = self.wake.write_all(&[1]);
        self.thread.join().ok().flatten()
    }
}

/// Begins to supervise what bubblewrap started with those mounts.
///
/// # Errors
/// When signals cannot be listened to.
pub fn start(
    bubblewrap: u32,
    mounts: &[Mount],
    relay: Option<Arc<Relay>>,
    closed: Arc<Closed>,
) -> Result<Supervisor, RunError> {
    let failed = || RunError::io("cannot listen to signals");
    let (wake, woken) = UnixStream::pair().map_err(failed())?;
    let mut signals = Vec::new();
    for signal in FOREGROUND.into_iter().chain(AGENT).chain([Signal::WINCH]) {
        let (told, tell) = UnixStream::pair().map_err(failed())?;
        told.set_nonblocking(true).map_err(failed())?;
        signal_hook::low_level::pipe::register(signal.as_raw(), tell).map_err(failed())?;
        signals.push((signal, told));
    }
    let ended = Arc::new(AtomicBool::new(false));
    let watched = Watched::new(mounts);
    let work = Work { bubblewrap, relay, closed, ended: Arc::clone(&ended), watched, signals, woken };
    let thread = thread::Builder::new()
        .name("lictor-supervisor".to_owned())
        .spawn(move || work.run())
        .map_err(failed())?;
    Ok(Supervisor { ended, wake, thread })
}

struct Work {
    bubblewrap: u32,
    relay: Option<Arc<Relay>>,
    closed: Arc<Closed>,
    ended: Arc<AtomicBool>,
    watched: Watched,
    signals: Vec<(Signal, UnixStream)>,
    woken: UnixStream,
}

impl Work {
    fn run(self) -> Option<PathBuf> {
        let patience = if self.relay.is_some() { LOOK } else { LOOK_AT_FILES };
        let patience = Timespec::try_from(patience).ok();
        while !self.ended.load(Ordering::SeqCst) {
            let mut waited = vec![PollFd::new(&self.woken, PollFlags::IN)];
            waited.extend(self.signals.iter().map(|(_, told)| PollFd::new(told, PollFlags::IN)));
            waited.extend(self.watched.told().map(|told| PollFd::from_borrowed_fd(told, PollFlags::IN)));
            let _ = poll(&mut waited, patience.as_ref());
            if let Some(replaced) = self.watched.replaced() {
                self.closed.close();
                agents(self.bubblewrap).into_iter().for_each(|agent| send(agent, Signal::KILL));
                send(self.bubblewrap, Signal::KILL);
                return Some(replaced);
            }
            for (signal, mut told) in self.signals.iter().map(|(signal, told)| (*signal, told)) {
                if told.read(&mut [0; 64]).is_ok_and(|read| read > 0) {
                    self.pass(signal);
                }
            }
            if self.relay.is_some() && agents(self.bubblewrap).into_iter().any(is_stopped) {
                self.suspend();
            }
        }
        None
    }

    fn pass(&self, signal: Signal) {
        let agents = agents(self.bubblewrap);
        if signal == Signal::WINCH {
            self.relay.iter().for_each(|relay| relay.resize());
        } else if signal == Signal::TSTP {
            agents.into_iter().for_each(|agent| send_to_group(agent, Signal::STOP));
            self.suspend();
        } else if agents.is_empty() {
            send(self.bubblewrap, signal);
        } else if FOREGROUND.contains(&signal) {
            agents.into_iter().for_each(|agent| send_to_group(agent, signal));
        } else {
            agents.into_iter().for_each(|agent| send(agent, signal));
        }
    }

    /// Suspends and resumes together with the agent.
    fn suspend(&self) {
        self.relay.iter().for_each(|relay| relay.restore());
        // Sent to the process, the signal may stop another thread first, and this one would wake the agent again before
        // it stops.
        let _ = signal_hook::low_level::raise(Signal::STOP.as_raw());
        if let Some(relay) = &self.relay {
            relay.raw();
            relay.resize();
        }
        agents(self.bubblewrap).into_iter().for_each(|agent| send_to_group(agent, Signal::CONT));
    }
}

/// A mount keeps the original file. If another one replaces it from outside, the protected file is no longer the
/// governing one.
struct Watched {
    files: Vec<(PathBuf, Identity)>,
    #[cfg(target_os = "linux")]
    told: Option<std::os::fd::OwnedFd>,
}

type Identity = Option<(u64, u64)>;

fn identity(path: &Path) -> Identity {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

impl Watched {
    fn new(mounts: &[Mount]) -> Self {
        let governs = |mount: &Mount| match mount {
            Mount::ReadOnly(path) | Mount::Nothing(path) | Mount::Empty(path) => Some(path.clone()),
            _ => None,
        };
        // Files there belong to the machine and change often.
        let lasting = |path: &PathBuf| !path.starts_with("/run") && !path.starts_with("/var/run");
        let files: Vec<_> = mounts.iter().filter_map(governs).filter(lasting).collect();
        #[cfg(target_os = "linux")]
        let told = tell(&files);
        let files = files.into_iter().map(|path| (path.clone(), identity(&path))).collect();
        Self {
            files,
            #[cfg(target_os = "linux")]
            told,
        }
    }

    /// The descriptor for the kernel's change events.
    fn told(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsFd as _;
            self.told.as_ref().map(|told| told.as_fd())
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// The first file that is no longer the one that was there.
    fn replaced(&self) -> Option<PathBuf> {
        #[cfg(target_os = "linux")]
        if let Some(told) = &self.told {
            let mut bytes = [0; 16 * 1024];
            while rustix::io::read(told, &mut bytes).is_ok_and(|read| read > 0) {}
        }
        self.files.iter().find(|(path, known)| identity(path) != *known).map(|(path, _)| path.clone())
    }
}

/// Has the kernel tell when a name in one of the directories of those files changes.
#[cfg(target_os = "linux")]
fn tell(files: &[PathBuf]) -> Option<std::os::fd::OwnedFd> {
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    let told = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
    let changes = WatchFlags::MOVED_TO | WatchFlags::MOVED_FROM | WatchFlags::DELETE | WatchFlags::MOVE_SELF;
    let directories: std::collections::BTreeSet<&Path> =
        files.iter().filter_map(|file| file.parent()).collect();
    for directory in directories {
        let _ = add_watch(&told, directory, changes | WatchFlags::ONLYDIR);
    }
    Some(told)
}

/// The agent: what bubblewrap's first process inside has started.
fn agents(bubblewrap: u32) -> Vec<u32> {
    let children = |pid: u32| -> Vec<u32> {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    };
    children(bubblewrap).into_iter().flat_map(children).collect()
}

/// Whether a process has been stopped.
fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

fn send(to: u32, signal: Signal) {
    let _ = pid(to).map(|pid| rustix::process::kill_process(pid, signal));
}

/// The agent leads its own process group.
fn send_to_group(to: u32, signal: Signal) {
    let sent = pid(to).map(|pid| rustix::process::kill_process_group(pid, signal));
    if !matches!(sent, Some(Ok(()))) {
        send(to, signal);
    }
}
