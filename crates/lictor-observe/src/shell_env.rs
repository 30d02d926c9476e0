//! Implements the inputs of the shell analysis with an observer.

use lictor_shell::ShellEnv;

use crate::git;
use crate::observer::Seen;
use crate::place::{Looker, tidy};

/// Variables that the agent's shell shares with Lictor's process. Everything else may differ there.
const RELIED_ON: [&str; 5] = ["USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "RIPGREP_CONFIG_PATH"];
/// The most of a script that is read.
const SCRIPT_LIMIT: usize = 128 * 1024;

impl ShellEnv for Looker<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "HOME" => Some(self.project.home.clone()).filter(|home| !home.is_empty()),
            "PWD" => Some(self.cwd.to_owned()).filter(|cwd| !cwd.is_empty()),
            // Unset means the system's own.
            "TMPDIR" => Some(self.observer.variable(name).unwrap_or_else(|| "/tmp".to_owned())),
            "SHELL" => Some(self.observer.variable(name).unwrap_or_else(|| "/bin/sh".to_owned())),
            name if RELIED_ON.contains(&name) => self.observer.variable(name),
            _ => None,
        }
    }

    fn home_of(&self, user: &str) -> Option<String> {
        self.observer.home_of(user)
    }

    fn git_alias(&self, name: &str) -> Option<String> {
        git::value("alias", name, self.project, self.observer)
    }

    fn script(&self, path: &str) -> Option<String> {
        self.observer.text(&tidy(self.cwd, &self.untilde(path)), SCRIPT_LIMIT)
    }

    fn is_stream(&self, path: &str) -> bool {
        let path = tidy(self.cwd, &self.untilde(path));
        self.observer.look(&path) == Seen::Special && !path.starts_with("/dev/")
    }

    fn is_guard(&self, path: &str) -> bool {
        self.starts_program(path)
    }

    fn described(&self, name: &str) -> Option<&lictor_shell::describe::Program> {
        self.project.programs.iter().find(|program| program.names.iter().any(|known| known == name))
    }

    fn project_root(&self) -> Option<String> {
        Some(self.project.root.clone()).filter(|root| !root.is_empty())
    }
}
