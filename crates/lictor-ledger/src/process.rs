//! Runs a program that a policy names: no shell, a scrubbed environment, a time limit that ends the whole process
//! group.

use std::ffi::OsString;
use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

#[cfg(test)]
mod tests;

/// The most that a program may print.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;
/// How much of its standard error is kept.
const MAX_STDERR: usize = 16 * 1024;
/// How long output may take to arrive after the process has ended.
const DRAIN: Duration = Duration::from_secs(2);

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit code.
    Code(i32),
    /// By a signal.
    Signal,
    /// It was ended because its time was up.
    TimedOut,
    /// It never began, and why.
    NotStarted(String),
    /// It printed more than is read.
    TooMuchOutput,
}

/// The result of a program.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub ended: Ended,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: String,
}

/// The environment of programs: enough to find programs, the home directory and the repository. `CARGO_HOME` and
/// `RUSTUP_HOME` are needed where Rust is not installed in the home directory, as in containers.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os()
        .filter(|(name, _)| {
            let name = name.to_string_lossy();
            matches!(name.as_ref(), "PATH" | "HOME" | "LANG" | "TMPDIR" | "CARGO_HOME" | "RUSTUP_HOME")
                || name.starts_with("LC_")
                || name.starts_with("GIT_")
        })
        .collect()
}

/// Runs a program to its end or to the time limit.
#[must_use]
pub fn run(argv: &[String], dir: &Path, stdin: &[u8], patience: Duration) -> Output {
    let not_started =
        |why: String| Output { ended: Ended::NotStarted(why), stdout: Vec::new(), stderr: String::new() };
    let Some((program, args)) = argv.split_first() else {
        return not_started("there is no command".to_owned());
    };
    let deadline = Instant::now().checked_add(patience);
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).env_clear().envs(environment()).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return not_started(format!("cannot start `{program}`: {error}")),
    };
    // Threads that outlive the child's group (a grandchild that left it may hold the pipes) are not joined.
    if let Some(mut pipe) = child.stdin.take() {
        let bytes = stdin.to_vec();
        std::thread::spawn(move || _ = pipe.write_all(&bytes));
    }
    let stdout = collect(child.stdout.take(), MAX_OUTPUT);
    let stderr = collect(child.stderr.take(), MAX_STDERR);
    let ended = wait(&mut child, deadline);
    let (stdout, whole) = stdout.recv_timeout(DRAIN).unwrap_or((Vec::new(), false));
    let (stderr, _) = stderr.recv_timeout(DRAIN).unwrap_or((Vec::new(), false));
    let ended = if whole || ended == Ended::TimedOut { ended } else { Ended::TooMuchOutput };
    Output { ended, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() }
}

/// Reads to the end in a separate thread; `false` when the output was truncated.
fn collect(pipe: Option<impl Read + Send + 'static>, most: usize) -> mpsc::Receiver<(Vec<u8>, bool)> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut whole = true;
        if let Some(mut pipe) = pipe {
            let limit = u64::try_from(most).unwrap_or(u64::MAX);
            whole = pipe.by_ref().take(limit).read_to_end(&mut kept).is_ok();
            whole &= std::io::copy(&mut pipe, &mut std::io::sink()).is_ok_and(|rest| rest == 0);
        }
        _ = sender.send((kept, whole));
    });
    receiver
}

/// Waits without reaping, so that the process group id cannot be reused before the group is killed.
fn wait(child: &mut Child, deadline: Option<Instant>) -> Ended {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let Some(pid) = pid else { return Ended::Signal };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        while waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            .is_err_and(|error| error == rustix::io::Errno::INTR)
        {}
        _ = sender.send(());
    });
    let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
    let in_time = receiver.recv_timeout(left).is_ok();
    // The rest of the group must not continue, whether its leader ended by itself or not.
    _ = kill_process_group(pid, Signal::KILL);
    let status = child.wait();
    match status {
        _ if !in_time => Ended::TimedOut,
        Ok(status) => status.code().map_or(Ended::Signal, Ended::Code),
        Err(_) => Ended::Signal,
    }
}
