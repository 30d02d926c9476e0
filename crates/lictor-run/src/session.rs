//! One run from its beginning to its end: the sandbox is made, the guardian listens, the agent runs, everything is put
//! back.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::guardian::{self, Closed, Judge};
use crate::mounts::{self, Mount, Wanted};
use crate::points::{self, Points};
use crate::{RunError, bubblewrap, client, terminal};

/// The word by which the program starts itself inside.
pub const INSIDE: &str = "__inside";
/// The word by which the program starts whoever puts things back.
pub const JANITOR: &str = "__janitor";
/// How often it is looked whether something that governs was replaced.
const LOOK: Duration = Duration::from_millis(500);

/// What to run, and with whom.
pub struct Session {
    /// What the sandbox has to look like; its `runtime` is filled in.
    pub wanted: Wanted,
    /// The program itself.
    pub program: PathBuf,
    /// The agent with its arguments.
    pub command: Vec<OsString>,
    /// More variables for the agent.
    pub env: BTreeMap<String, String>,
    /// What the person has git ignore in every repository.
    pub ignored_before: Vec<u8>,
    /// Without network.
    pub no_network: bool,
    /// Who answers.
    pub judge: Arc<dyn Judge>,
}

impl Session {
    /// Runs the agent under bubblewrap and returns its exit code.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(mut self, bubblewrap: &Path) -> Result<u8, RunError> {
        let runtime = runtime_directory()?;
        self.wanted.runtime.clone_from(&runtime);
        let mut janitor = Janitor::start(&self.program)?;
        let files = [client::MARK, client::SOCKET, client::IGNORED].map(|name| runtime.join(name));
        janitor.take(&files)?;
        janitor.take(std::slice::from_ref(&runtime))?;
        fs::write(runtime.join(client::MARK), b"")
            .map_err(RunError::io("cannot write the guardian's mark"))?;
        let mut made = Points::default();
        let planned = mounts::plan(&self.wanted, &mut made);
        janitor.take(made.made())?;
        let ignored = self.ignored(made.made());
        fs::write(runtime.join(client::IGNORED), ignored)
            .map_err(RunError::io("cannot write what git ignores"))?;
        self.env.extend(self.git_settings());
        let result = planned.and_then(|mounts| self.within(bubblewrap, &mounts, &runtime));
        points::remove(made.made());
        let _ = fs::remove_dir_all(&runtime);
        result
    }

    /// What git ignores inside: mount points that were made, and what the person has git ignore everywhere.
    fn ignored(&self, made: &[PathBuf]) -> Vec<u8> {
        let mut list = self.ignored_before.clone();
        list.push(b'\n');
        for file in made.iter().filter(|path| path.is_file()) {
            if let Ok(path) = file.strip_prefix(&self.wanted.project) {
                list.extend_from_slice(b"/");
                list.extend_from_slice(path.as_os_str().as_bytes());
                list.push(b'\n');
            }
        }
        list
    }

    /// Git cannot write its configuration inside, so it is told not to want to.
    fn git_settings(&self) -> BTreeMap<String, String> {
        let before = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse::<usize>().ok());
        let before = before.unwrap_or_default();
        let list = self.wanted.state.join(client::IGNORED).to_string_lossy().into_owned();
        let settings = [
            ("branch.autoSetupMerge", "false".to_owned()),
            ("push.autoSetupRemote", "false".to_owned()),
            ("gc.auto", "0".to_owned()),
            ("core.excludesFile", list),
        ];
        let mut env = BTreeMap::new();
        env.insert("GIT_CONFIG_COUNT".to_owned(), (before + settings.len()).to_string());
        for (at, (name, value)) in settings.into_iter().enumerate() {
            env.insert(format!("GIT_CONFIG_KEY_{}", before + at), name.to_owned());
            env.insert(format!("GIT_CONFIG_VALUE_{}", before + at), value);
        }
        env
    }

    fn within(&self, bubblewrap: &Path, mounts: &[Mount], runtime: &Path) -> Result<u8, RunError> {
        let closed = Arc::new(Closed::default());
        guardian::listen(&runtime.join(client::SOCKET), Arc::clone(&self.judge), Arc::clone(&closed))?;
        let mut inner: Vec<OsString> = vec![self.program.clone().into(), INSIDE.into()];
        inner.extend(self.command.iter().cloned());
        let mut command = Command::new(bubblewrap);
        command.args(bubblewrap::arguments(mounts, self.no_network, &inner)).envs(&self.env);
        let relay = terminal::give(&mut command)?;
        let child = command.spawn().map_err(RunError::io("cannot start bubblewrap"))?;
        // The agent's terminal is held by the agent alone, or its end would not be seen.
        drop(command);
        let ended = Arc::new(AtomicBool::new(false));
        let id = child.id();
        watch(mounts, closed, Arc::clone(&ended), id);
        pass_signals(Arc::clone(&ended), id);
        let code = match relay {
            Some(relay) => relay.during(|| wait(child))?,
            None => wait(child),
        };
        ended.store(true, Ordering::Relaxed);
        code
    }
}

fn wait(mut child: Child) -> Result<u8, RunError> {
    let status = child.wait().map_err(RunError::io("cannot wait for the agent"))?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    Ok(u8::try_from(code).unwrap_or(1))
}

/// A directory that only this user can look into, with a name short enough for a socket.
fn runtime_directory() -> Result<PathBuf, RunError> {
    let mut random = [0; 8];
    fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut random))
        .map_err(RunError::io("cannot read `/dev/urandom`"))?;
    let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let directory = PathBuf::from(format!("/tmp/lictor-{name}"));
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&directory)
        .map_err(RunError::io(format!("cannot create `{}`", directory.display())))?;
    Ok(directory)
}

/// A process that outlives this one and removes what was made, however this one ends.
struct Janitor(Option<ChildStdin>);

impl Janitor {
    fn start(program: &Path) -> Result<Self, RunError> {
        let mut child = Command::new(program)
            .arg(JANITOR)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(RunError::io("cannot start whoever puts things back"))?;
        Ok(Self(child.stdin.take()))
    }

    fn take(&mut self, paths: &[PathBuf]) -> Result<(), RunError> {
        let Some(pipe) = &mut self.0 else { return Ok(()) };
        let mut bytes = Vec::new();
        for path in paths {
            bytes.extend_from_slice(path.as_os_str().as_bytes());
            bytes.push(0);
        }
        pipe.write_all(&bytes).map_err(RunError::io("cannot tell what was made"))
    }
}

/// What the janitor does: waits until nobody is left who could put things back, then does it.
pub fn clean_up() {
    let mut bytes = Vec::new();
    let _ = std::io::stdin().lock().read_to_end(&mut bytes);
    let paths = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let paths: Vec<PathBuf> = paths.map(|path| PathBuf::from(OsString::from_vec(path.to_vec()))).collect();
    let (runtime, made): (Vec<PathBuf>, Vec<PathBuf>) = paths
        .into_iter()
        .partition(|path| path.starts_with("/tmp") && path.to_string_lossy().contains("/lictor-"));
    points::remove(&made);
    for path in runtime {
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
    }
}

/// A mount holds on to the file that was there. When another one is put in its place from outside, what is protected is
/// no longer what governs: nothing passes any more, and the sandbox ends.
fn watch(mounts: &[Mount], closed: Arc<Closed>, ended: Arc<AtomicBool>, child: u32) {
    let identity = |path: &Path| fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let guarded = mounts.iter().filter_map(|mount| match mount {
        Mount::ReadOnly(path) | Mount::Nothing(path) | Mount::Empty(path) => {
            Some((path.clone(), identity(path)))
        }
        _ => None,
    });
    let guarded: Vec<_> =
        guarded.filter(|(path, _)| !path.starts_with("/run") && !path.starts_with("/var")).collect();
    thread::spawn(move || {
        while !ended.load(Ordering::Relaxed) {
            if guarded.iter().any(|(path, known)| identity(path) != *known) {
                closed.close();
                signal(child, Signal::KILL);
                return;
            }
            thread::sleep(LOOK);
        }
    });
}

/// Signals that are meant for the agent reach it.
fn pass_signals(ended: Arc<AtomicBool>, child: u32) {
    let passed = [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT, Signal::USR1, Signal::USR2];
    let flags: Vec<(Signal, Arc<AtomicBool>)> = passed.map(|signal| (signal, Arc::default())).into();
    for (signal, flag) in &flags {
        let _ = signal_hook::flag::register(signal.as_raw(), Arc::clone(flag));
    }
    thread::spawn(move || {
        while !ended.load(Ordering::Relaxed) {
            for (signal, flag) in &flags {
                if flag.swap(false, Ordering::Relaxed) {
                    agents(child).into_iter().for_each(|agent| self::signal(agent, *signal));
                }
            }
            thread::sleep(Duration::from_millis(50));
        }
    });
}

/// The agent: what bubblewrap's first process inside has started.
fn agents(bubblewrap: u32) -> Vec<u32> {
    let children = |pid: u32| -> Vec<u32> {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    };
    children(bubblewrap).into_iter().flat_map(children).collect()
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}
