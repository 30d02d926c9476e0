//! A server as a child process: a scrubbed environment, limits, and termination.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::hub::Upstream;
use crate::identity::found_on_path;
use crate::message::Message;
use crate::queue::Lines;

/// The environment variables that a server inherits. More can be named with `--env`.
const ENVIRONMENT: [&str; 9] =
    ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL"];
/// The most files a server may have open.
const MOST_FILES: u64 = 4096;

/// Waits for the end of its input, which comes with the end of whoever has the other end, and ends a group of processes.
const WAIT_AND_END: &str = r#"read -r _; kill -s KILL -- "-$1""#;

/// The server to start.
#[derive(Debug, Clone)]
pub struct ServerCommand {
    /// The name that rules use: `mcp__name__tool`.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Variables that it gets besides the usual ones.
    pub env: Vec<OsString>,
    /// Variables with explicit values.
    pub settings: Vec<(OsString, OsString)>,
    /// A program that becomes the server after [`confine`], with its first arguments; empty: the server is started itself.
    pub through: Vec<OsString>,
}

/// Whether rules can use it as a server's name: `mcp__NAME__TOOL` must be read in one way.
#[must_use]
pub fn is_server_name(name: &str) -> bool {
    let usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let at_an_end = name.starts_with('_') || name.ends_with('_');
    !name.is_empty() && !name.contains("__") && !at_an_end && name.chars().all(usable)
}

/// Why a server cannot be governed.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no program.
    #[error("no server was named; write `lictor mcp run -- SERVER ARGUMENTS`")]
    Empty,
    /// It does not start.
    #[error("`{program}` cannot be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// The system error.
        source: io::Error,
    },
    /// It does not answer as a server does.
    #[error("{0}")]
    Answer(String),
    /// Its streams broke.
    #[error("the connection to the server broke: {0}")]
    Stream(#[from] io::Error),
}

/// A server on this machine.
pub(crate) struct ChildServer {
    input: Lines,
    process: Arc<Process>,
    /// How long it may take to exit after its input ends; unlimited if `None`.
    grace: Option<Duration>,
}

impl ChildServer {
    /// A server that is killed if it does not exit by itself.
    pub(crate) fn ended_within(self, grace: Duration) -> Self {
        Self { grace: Some(grace), ..self }
    }
}

impl Upstream for ChildServer {
    fn send(&self, message: &Message) -> io::Result<()> {
        self.input.put(message.to_line())
    }

    fn has_room(&self) -> bool {
        self.input.has_room()
    }

    fn wait_for_room(&self) {
        self.input.wait_for_room();
    }

    fn close(&self) {
        self.input.close();
        if let Some(grace) = self.grace {
            let process = Arc::clone(&self.process);
            thread::spawn(move || process.end_within(grace));
        }
    }

    fn end_within(&self, grace: Duration) {
        self.input.close();
        self.process.end_within(grace);
    }
}

/// The process group of a server.
pub(crate) struct Process {
    /// Nothing once the server has been waited for: the number may be another's then.
    group: Mutex<Option<Pid>>,
    gone: Condvar,
    /// Ends the group when this process is gone, however it ended.
    guard: Mutex<Option<Child>>,
}

impl Process {
    /// With a guard. The system ends a server with this process, but not what the server has started.
    fn guarded(child: &Child) -> Self {
        let guard = Command::new("/bin/sh")
            .args(["-c", WAIT_AND_END, "sh", &child.id().to_string()])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal to the group of this process must not end the guard first.
            .process_group(0)
            .spawn();
        Self {
            group: Mutex::new(Some(Pid::from_child(child))),
            gone: Condvar::new(),
            guard: Mutex::new(guard.ok()),
        }
    }

    /// Waits for the end of the server, and ends it after that time.
    fn end_within(&self, grace: Duration) {
        let group = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.gone.wait_timeout_while(group, grace, |group| group.is_some());
        let (group, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = *group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// The server has ended; what it started ends too. Called before it is waited for, while its number is its own.
    fn over(&self) {
        if let Some(group) = self.group.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        if let Some(mut guard) = self.guard.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
        self.gone.notify_all();
    }
}

impl Started {
    /// The number of its group of processes.
    pub(crate) fn group(&self) -> u32 {
        self.child.id()
    }
}

/// A started server: its process, and both ends of it.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) process: Arc<Process>,
    pub(crate) upstream: ChildServer,
    pub(crate) output: ChildStdout,
}

/// Starts a server.
pub(crate) fn connect(server: &ServerCommand) -> Result<Started, StartError> {
    let mut child = start(server)?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(StartError::Stream(io::Error::other("the server has no streams")));
    };
    let process = Arc::new(Process::guarded(&child));
    let upstream = ChildServer { input: Lines::to(input), process: Arc::clone(&process), grace: None };
    Ok(Started { child, process, upstream, output })
}

/// Makes this process one that ends with its parent, dumps no memory and opens no more files than a server needs. Called
/// in the process that becomes the server.
///
/// # Errors
/// When the system refuses.
pub fn confine() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    let files = getrlimit(Resource::Nofile).maximum.map_or(MOST_FILES, |most| most.min(MOST_FILES));
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum: Some(files) })?;
    Ok(())
}

fn start(server: &ServerCommand) -> Result<Child, StartError> {
    let own = server.argv.first().ok_or(StartError::Empty)?;
    // The program that becomes the server would start, and only it would hear that there is no server.
    if !server.through.is_empty() && found_on_path(own).is_none() {
        let source = rustix::io::Errno::NOENT.into();
        return Err(StartError::Start { program: own.to_string_lossy().into_owned(), source });
    }
    let words: Vec<&OsString> = server.through.iter().chain(&server.argv).collect();
    let (program, args) = words.split_first().ok_or(StartError::Empty)?;
    let named = ENVIRONMENT.iter().map(OsString::from).chain(server.env.iter().cloned());
    let environment = named.filter_map(|name| Some((name.clone(), std::env::var_os(&name)?)));
    Command::new(program)
        .args(args)
        .env_clear()
        .envs(environment)
        .envs(server.settings.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Signals to the client's group do not reach the server; it ends with its streams.
        .process_group(0)
        .spawn()
        .map_err(|source| StartError::Start { program: program.to_string_lossy().into_owned(), source })
}

/// The server has closed its output. It and everything that it started end with it.
pub(crate) fn end(child: &mut Child, process: &Process) -> Result<ExitStatus, StartError> {
    let exited = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    for _ in 0..50 {
        if waitid(WaitId::Pid(Pid::from_child(child)), exited).map_err(io::Error::from)?.is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    process.over();
    Ok(child.wait()?)
}
