//! The files that govern an agent: where it reads hooks, permissions and trust from, in every scope and under
//! every variable that moves them. `lictor init` writes into some of them; all of them are protected from the
//! agent.

use std::path::{Path, PathBuf};

use crate::agent::Agent;
use crate::install::{Form, Scope, Where};

/// A file, or a directory with its contents. The last part of the path may begin with `*`.
#[derive(Debug, Clone, Copy)]
pub struct GoverningFile {
    /// Whom it counts for.
    pub scope: Scope,
    /// The base of its path.
    pub at: At,
    /// The path from there.
    pub path: &'static str,
    /// Its role for hooks.
    pub(crate) role: Role,
    /// The agent keeps its state in it too, and does not work well where it cannot be written.
    pub keeps_state: bool,
    /// What the agent writes into it at its first start, which fails without write access.
    pub at_first: Option<&'static str>,
}

/// The base of a governing file's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// Any directory of the project: agents read settings from where they are started.
    Project,
    /// A directory of the person.
    Home(HomeDir),
    /// The root of the file system, on the systems named.
    Machine(Os),
    /// The value of an environment variable; the path is below it, or empty when the variable is the file itself.
    Variable(&'static str),
}

/// The operating system of the path. On every system all of them are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Os {
    /// Linux and everything that is not macOS.
    Unix,
    /// macOS.
    Mac,
}

/// A directory below the home directory that variables may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HomeDir {
    /// Below the home directory; empty for the home directory itself.
    pub default: &'static str,
    /// Variables that name another one, and what is appended to their value.
    pub moved_by: &'static [(&'static str, &'static str)],
}

/// The role of a governing file for hooks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Role {
    /// `lictor init` puts its hooks there.
    Installs(Form),
    /// `lictor init` puts its hooks there if the file exists: the agent then ignores the next one.
    InstallsIfThere(Form),
    /// A person may have put Lictor's hooks there; `lictor init` does not.
    Holds(Form),
    /// The agent reads hooks, permissions or trust from it.
    Read,
    /// An editor's settings, most of which govern nothing: counts while its text mentions hooks.
    MayMentionHooks,
    /// A list of MCP servers: counts while Lictor wraps one of them.
    ListsServers,
}

impl HomeDir {
    /// A directory that stays where it is.
    #[must_use]
    pub const fn at(default: &'static str) -> Self {
        Self { default, moved_by: &[] }
    }

    /// The same, moved by these variables.
    #[must_use]
    pub const fn moved_by(self, moved_by: &'static [(&'static str, &'static str)]) -> Self {
        Self { moved_by, ..self }
    }

    /// A file in it.
    #[must_use]
    pub const fn file(self, path: &'static str) -> GoverningFile {
        GoverningFile::new(Scope::User, At::Home(self), path)
    }
}

/// A file of the project.
#[must_use]
pub const fn project(path: &'static str) -> GoverningFile {
    GoverningFile::new(Scope::Project, At::Project, path)
}

/// A file of the machine.
#[must_use]
pub const fn machine(path: &'static str) -> GoverningFile {
    GoverningFile::new(Scope::Managed, At::Machine(Os::Unix), path)
}

/// A file of a machine with macOS.
#[must_use]
pub const fn mac(path: &'static str) -> GoverningFile {
    GoverningFile::new(Scope::Managed, At::Machine(Os::Mac), path)
}

/// The path in a variable.
#[must_use]
pub const fn named_by(scope: Scope, variable: &'static str, path: &'static str) -> GoverningFile {
    GoverningFile::new(scope, At::Variable(variable), path)
}

impl GoverningFile {
    /// A file that governs by being read.
    #[must_use]
    pub const fn new(scope: Scope, at: At, path: &'static str) -> Self {
        Self { scope, at, path, role: Role::Read, keeps_state: false, at_first: None }
    }

    pub(crate) const fn installs(self, form: Form) -> Self {
        Self { role: Role::Installs(form), ..self }
    }

    pub(crate) const fn installs_if_there(self, form: Form) -> Self {
        Self { role: Role::InstallsIfThere(form), ..self }
    }

    pub(crate) const fn holds(self, form: Form) -> Self {
        Self { role: Role::Holds(form), ..self }
    }

    pub(crate) const fn keeps_state(self) -> Self {
        Self { keeps_state: true, ..self }
    }

    pub(crate) const fn at_first(self, text: &'static str) -> Self {
        Self { at_first: Some(text), ..self }
    }

    pub(crate) const fn may_mention_hooks(self) -> Self {
        Self { role: Role::MayMentionHooks, ..self }
    }

    pub(crate) const fn lists_servers(self) -> Self {
        Self { role: Role::ListsServers, ..self }
    }

    /// Whether it governs only while its text mentions hooks or Lictor.
    #[must_use]
    pub fn counts_by_text(&self) -> bool {
        matches!(self.role, Role::MayMentionHooks | Role::ListsServers)
    }

    /// Whether Lictor's hooks may be in it.
    #[must_use]
    pub fn may_hold_hooks(&self) -> bool {
        matches!(self.role, Role::Installs(_) | Role::InstallsIfThere(_) | Role::Holds(_))
    }

    /// Whether it is a list of MCP servers, which governs nothing where it does not exist.
    #[must_use]
    pub fn is_list_of_servers(&self) -> bool {
        matches!(self.role, Role::ListsServers)
    }

    /// The variables that move it.
    pub fn variables(&self) -> impl Iterator<Item = &'static str> + use<> {
        let (named, moved): (Option<&'static str>, &'static [_]) = match self.at {
            At::Variable(name) => (Some(name), &[]),
            At::Home(directory) => (None, directory.moved_by),
            At::Project | At::Machine(_) => (None, &[]),
        };
        named.into_iter().chain(moved.iter().map(|(name, _)| *name))
    }

    /// Every place that it may have outside a project: the usual one and those that the variables name.
    pub fn places<'a>(
        &'a self,
        home: &'a str,
        variable: &'a dyn Fn(&str) -> Option<&'a str>,
    ) -> impl Iterator<Item = String> + 'a {
        let usual = match self.at {
            At::Home(directory) if !home.is_empty() => Some(join(&[home, directory.default, self.path])),
            At::Machine(_) => Some(self.path.to_owned()),
            _ => None,
        };
        let moved: &'static [(&str, &str)] = match &self.at {
            At::Home(directory) => directory.moved_by,
            _ => &[],
        };
        let moved =
            moved.iter().filter_map(move |(name, below)| Some(join(&[variable(name)?, below, self.path])));
        let named = match self.at {
            At::Variable(name) => variable(name).map(|value| join(&[value, self.path])),
            _ => None,
        };
        usual.into_iter().chain(moved).chain(named)
    }
}

/// Parts of a path, put together without empty ones.
fn join(parts: &[&str]) -> String {
    let mut path = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(part);
    }
    path
}

/// The files of every agent.
pub fn governing_files() -> impl Iterator<Item = &'static GoverningFile> {
    Agent::ALL.into_iter().flat_map(governing_files_of)
}

/// The files of one agent.
pub fn governing_files_of(agent: Agent) -> impl Iterator<Item = &'static GoverningFile> {
    agent.spec().files.iter()
}

/// Where the hooks of an agent are installed in that scope, and their layout there.
pub(crate) fn installed_in(
    agent: Agent,
    scope: Scope,
    place: &Where,
    exists: impl Fn(&Path) -> bool,
) -> Option<(PathBuf, Form)> {
    agent.spec().files.iter().filter(|file| file.scope == scope).find_map(|file| match file.role {
        Role::Installs(form) => Some((place.path(file.at, file.path)?, form)),
        Role::InstallsIfThere(form) => {
            Some((place.path(file.at, file.path).filter(|path| exists(path))?, form))
        }
        Role::Holds(_) | Role::Read | Role::MayMentionHooks | Role::ListsServers => None,
    })
}

#[cfg(test)]
mod tests;
