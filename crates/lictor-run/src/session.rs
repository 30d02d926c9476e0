//! One run: creates the sandbox, starts the guardian, runs the agent, restores everything.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;

use lictor::anchor::{self, Notes};

use crate::guardian::{self, Closed, Judge};
use crate::janitor::{self, Janitor};
use crate::mounts::{self, Mount, Wanted};
use crate::points::{self, Points};
use crate::{RunError, bubblewrap, client, supervise, terminal};

/// The word by which the program starts itself inside.
pub const INSIDE: &str = "__inside";

/// The message of programs that need more privileges than available inside.
const EXPLANATION: &str = "#!/bin/sh
echo \"$(basename \"$0\"): inside of 'lictor run' nobody becomes another user; a person runs this outside, in a terminal of their own\" >&2
exit 1
";

/// The git wrapper inside: it explains failures that are caused by the sandbox. `GIT` is replaced by the real
/// program.
const GIT: &str = include_str!("git.sh");

/// The program to run, and its guardian.
pub struct Session {
    /// The layout of the sandbox; its `runtime` is filled in.
    pub wanted: Wanted,
    /// The program itself.
    pub program: PathBuf,
    /// The agent with its arguments.
    pub command: Vec<OsString>,
    /// What the person has git ignore in every repository.
    pub ignored_before: Vec<u8>,
    /// Who answers.
    pub judge: Arc<dyn Judge>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The agent's exit code; 128 and the signal's number where a signal ended it.
    pub code: u8,
    /// The governing file that was replaced from outside, if that ended the run.
    pub replaced: Option<PathBuf>,
    /// The state of the notes that anchor the record in the repository.
    pub notes: Notes,
}

impl Session {
    /// Runs the agent under bubblewrap until it ends.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(mut self, bubblewrap: &Path) -> Result<Ended, RunError> {
        let runtime = runtime_directory()?;
        self.wanted.runtime.clone_from(&runtime);
        let janitor = Janitor::start(&self.program, &self.wanted.points, &runtime)?;
        // Git must be able to write its references inside, including those of the notes.
        let tip = anchor::tip(&self.wanted.project);
        let ended = self.prepared(bubblewrap);
        janitor.finish();
        let notes = tip.map_or(Notes::Kept, |tip| anchor::put_back(&self.wanted.project, &tip));
        ended.map(|ended| Ended { notes, ..ended })
    }

    fn prepared(&self, bubblewrap: &Path) -> Result<Ended, RunError> {
        let wanted = &self.wanted;
        let (mounts, points, held) = points::hold(&wanted.points, |points| mounts::plan(wanted, points))?;
        self.fill(&mounts, &points)?;
        let ended = self.within(bubblewrap, &mounts);
        // The list is released by the janitor, after this hold is gone.
        drop(held);
        ended
    }

    /// Puts into the guardian's directory what shows inside.
    fn fill(&self, mounts: &[Mount], points: &Points) -> Result<(), RunError> {
        let runtime = &self.wanted.runtime;
        let write = |path: PathBuf, bytes: &[u8]| {
            fs::write(&path, bytes).map_err(RunError::io(format!("cannot write `{}`", path.display())))
        };
        write(runtime.join(client::MARK), b"")?;
        write(runtime.join(client::IGNORED), &self.ignored(mounts, points))?;
        for (name, text) in mounts::NOTHING {
            write(runtime.join(name), text.as_bytes())?;
        }
        program(&mounts::explanation(runtime), EXPLANATION)?;
        let programs = runtime.join(client::PROGRAMS);
        fs::create_dir(&programs).map_err(RunError::io("cannot make a directory for explanations"))?;
        if let Some(git) = bubblewrap::on_path("git") {
            program(&programs.join("git"), &GIT.replace("GIT", &quoted(&git)))?;
        }
        for (at, path) in self.wanted.copied.iter().enumerate() {
            fs::copy(path, mounts::copy_of(runtime, at))
                .map_err(RunError::io(format!("cannot copy `{}`", path.display())))?;
        }
        Ok(())
    }

    /// What git ignores inside: created mount points, and the person's global ignores.
    fn ignored(&self, mounts: &[Mount], points: &Points) -> Vec<u8> {
        let mut list = self.ignored_before.clone();
        list.push(b'\n');
        // Only directories that are mount points: their parents may contain project files.
        let mounted = mounts.iter().filter_map(|mount| match mount {
            Mount::Nothing(path) | Mount::Empty(path) if points.all().any(|made| made == path) => Some(path),
            _ => None,
        });
        for path in mounted.filter_map(|path| path.strip_prefix(&self.wanted.project).ok()) {
            list.extend_from_slice(b"/");
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(b'\n');
        }
        list
    }

    /// Git cannot write its configuration inside, so settings prevent it from trying.
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

    /// The search path inside: programs that explain come first.
    fn search_path(&self) -> OsString {
        let mut path = self.wanted.state.join(client::PROGRAMS).into_os_string();
        if let Some(before) = std::env::var_os("PATH") {
            path.push(":");
            path.push(before);
        }
        path
    }

    fn within(&self, bubblewrap: &Path, mounts: &[Mount]) -> Result<Ended, RunError> {
        let closed = Arc::new(Closed::default());
        let socket = self.wanted.runtime.join(client::SOCKET);
        let listening = guardian::listen(&socket, Arc::clone(&self.judge), Arc::clone(&closed))?;
        let network = self.wanted.network;
        let mut inner: Vec<OsString> =
            vec![self.program.clone().into(), INSIDE.into(), network.as_str().into()];
        inner.extend(self.command.iter().cloned());
        let mut command = Command::new(bubblewrap);
        command
            .args(bubblewrap::arguments(mounts, &self.wanted, &inner))
            .envs(self.git_settings())
            .env("PATH", self.search_path())
            // Terminal signals are forwarded to the agent; bubblewrap would die from them.
            .process_group(0);
        let relay = terminal::give(&mut command)?.map(Arc::new);
        let child = command.spawn().map_err(RunError::io("cannot start bubblewrap"))?;
        // Only the agent may hold its terminal open, or its end would not be detected.
        drop(command);
        let shown = relay.as_ref().map(|relay| relay.start());
        let supervisor = supervise::start(child.id(), mounts, relay.clone(), closed)?;
        let code = wait(child);
        let replaced = supervisor.stop();
        if let (Some(relay), Some(shown)) = (relay, shown) {
            relay.finish(&shown);
        }
        listening.stop();
        Ok(Ended { code: code?, replaced, notes: Notes::Kept })
    }
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

/// Writes a program.
fn program(path: &Path, text: &str) -> Result<(), RunError> {
    fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)))
        .map_err(RunError::io(format!("cannot write `{}`", path.display())))
}

fn wait(mut child: Child) -> Result<u8, RunError> {
    let status = child.wait().map_err(RunError::io("cannot wait for the agent"))?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    Ok(u8::try_from(code).unwrap_or(1))
}

/// A directory that only this user can access, with a name short enough for a socket.
fn runtime_directory() -> Result<PathBuf, RunError> {
    let mut random = [0; 8];
    fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut random))
        .map_err(RunError::io("cannot read `/dev/urandom`"))?;
    let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let (above, begins) = janitor::RUNTIME;
    let directory = Path::new(above).join(format!("{begins}{name}"));
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&directory)
        .map_err(RunError::io(format!("cannot create `{}`", directory.display())))?;
    Ok(directory)
}
