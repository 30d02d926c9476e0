//! A home directory and a repository that exist for one test.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

/// An empty home with a fresh git repository in it. Isolated from the machine's own configuration.
pub struct Sandbox {
    home: TempDir,
    path: OsString,
    /// The user that programs run as, if it is not the user of the test.
    user: Option<u32>,
    env: Vec<(String, String)>,
}

/// A user that no machine has.
const NOBODY: u32 = 64_321;

/// What a process did.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }
}

impl Sandbox {
    pub fn new() -> Self {
        Self::of(None)
    }

    /// The same with programs that have no rights beyond their own files, also where tests run as root.
    pub fn unprivileged() -> Self {
        let is_root = fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0);
        Self::of(is_root.then_some(NOBODY))
    }

    fn of(user: Option<u32>) -> Self {
        // Below the build directory and not in /tmp, which is a temporary zone for policies.
        let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let home = TempDir::with_prefix_in("home-", base).unwrap();
        fs::create_dir(home.path().join("project")).unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let sandbox = Self { home, path, user, env: Vec::new() };
        sandbox.own(sandbox.home());
        sandbox.own(&sandbox.project());
        assert_eq!(sandbox.program("git", &["init", "-q", "-b", "main"], "").code, 0);
        sandbox
    }

    /// The same on a machine without agents: only the system's own programs are found.
    pub fn bare() -> Self {
        Self { path: ["/usr/bin", "/bin"].join(":").into(), ..Self::new() }
    }

    fn own(&self, path: &Path) {
        if let Some(user) = self.user {
            lchown(path, Some(user), Some(user)).unwrap();
        }
    }

    /// Sets a variable for every program.
    pub fn set(&mut self, name: &str, value: impl ToString) {
        self.env.push((name.to_owned(), value.to_string()));
    }

    /// Puts a directory in front of the search path.
    pub fn on_path(&mut self, directory: &Path) {
        let rest = std::env::split_paths(&self.path);
        self.path = std::env::join_paths(std::iter::once(directory.to_owned()).chain(rest)).unwrap();
    }

    /// Has programs be found in one directory alone.
    pub fn only_path(&mut self, directory: &Path) {
        self.path = directory.into();
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// Where the project's record is.
    pub fn state(&self) -> PathBuf {
        let all = fs::read_dir(self.home().join(".local/state/lictor")).unwrap();
        let others = ["sessions", "keys"];
        let named = |path: &PathBuf| path.is_dir() && !others.iter().any(|name| path.ends_with(name));
        all.map(|entry| entry.unwrap().path()).find(named).unwrap()
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        self.write_at(&self.project().join(path), text);
    }

    /// Writes a file below the home directory.
    pub fn write_at(&self, path: &Path, text: &str) {
        let new = path.ancestors().skip(1).take_while(|above| !above.exists());
        let new: Vec<&Path> = new.collect();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        new.into_iter().chain([path]).for_each(|path| self.own(path));
    }

    /// Runs `lictor` in the project.
    pub fn lictor(&self, args: &[&str]) -> Run {
        self.lictor_with(args, "")
    }

    /// The same with something on standard input.
    pub fn lictor_with(&self, args: &[&str], input: &str) -> Run {
        self.program(env!("CARGO_BIN_EXE_lictor"), args, input)
    }

    /// A hook as Claude Code starts it.
    pub fn claude(&self, event: &str, fields: Value) -> Run {
        let mut payload = json!({"session_id": "s1", "cwd": self.project(), "permission_mode": "default",
                                 "hook_event_name": event, "transcript_path": "/dev/null"});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.lictor_with(&["hook", "claude-code", event], &payload.to_string())
    }

    /// A Bash call as Claude Code announces it.
    pub fn claude_bash(&self, command: &str) -> Run {
        self.claude("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": command}}))
    }

    /// Starts `lictor` in the project and leaves it running.
    pub fn start(&self, args: &[&str]) -> Child {
        self.spawn(env!("CARGO_BIN_EXE_lictor"), args)
    }

    fn spawn(&self, program: &str, args: &[&str]) -> Child {
        let mut command = self.command(program, args);
        loop {
            match command.spawn() {
                // Another test forked while a copy of this program was written, and has not started its own program yet.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::yield_now(),
                spawned => return spawned.unwrap(),
            }
        }
    }

    /// A program in the project, ready to be started.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            // Replaces the password database, which is used if the home directory is a repository.
            .env("LICTOR_TEST_HOME", self.home())
            .env("PATH", &self.path)
            .env("USER", "somebody")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs any program in the project.
    pub fn program(&self, program: &str, args: &[&str], input: &str) -> Run {
        let mut child = self.spawn(program, args);
        // A program that does not read its input may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
