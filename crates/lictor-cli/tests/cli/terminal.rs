//! A real terminal, where tmux is installed.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::sandbox::Sandbox;

/// A detached shell in the project of a sandbox.
pub struct Terminal<'a> {
    sandbox: &'a Sandbox,
}

impl<'a> Terminal<'a> {
    /// Opens it; `None` with a message if tmux is not installed.
    pub fn open(sandbox: &'a Sandbox) -> Option<Self> {
        let terminal = Self { sandbox };
        if terminal.tmux(&["-V"]).is_none() {
            eprintln!("skipped: tmux is not installed");
            return None;
        }
        terminal.tmux(&["new-session", "-d", "-x", "160", "-y", "50", "sh"]);
        let binary = Path::new(env!("CARGO_BIN_EXE_lictor")).parent().unwrap();
        terminal.run(&format!(
            "cd {}; HOME={} PATH={}:$PATH; unset NO_COLOR CLICOLOR_FORCE; clear",
            sandbox.project().display(),
            sandbox.home().display(),
            binary.display()
        ));
        Some(terminal)
    }

    /// Types a line.
    pub fn run(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.tmux(&["send-keys", "Enter"]);
    }

    /// What can be seen, with its colours if they are wanted.
    pub fn screen(&self, colours: bool) -> String {
        let args: &[&str] = if colours { &["capture-pane", "-p", "-e"] } else { &["capture-pane", "-p"] };
        self.tmux(args).unwrap_or_default()
    }

    /// Waits until the text is visible, and returns the screen.
    pub fn wait_for(&self, text: &str) -> String {
        let mut screen = String::new();
        for _ in 0..5_000 {
            screen = self.screen(false);
            if screen.contains(text) {
                return screen;
            }
            std::thread::yield_now();
        }
        panic!("`{text}` never appeared:\n{screen}");
    }

    fn tmux(&self, args: &[&str]) -> Option<String> {
        let socket = self.sandbox.home().join("tmux.sock");
        let output =
            Command::new("tmux").arg("-S").arg(socket).args(args).stderr(Stdio::null()).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
