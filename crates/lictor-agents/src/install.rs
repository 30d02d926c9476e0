//! Installs Lictor's hooks in an agent's settings, removes them, and finds problems with them.
//!
//! Everything works on text: settings in, settings out, with every byte that is not ours unchanged. The only
//! functions with file access are [`Change::apply`] and the caller's `read`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lictor_core::Digest;

use crate::agent::Agent;
use crate::files::{self, At, GoverningFile, Os, Role, governing_files};

mod apply;
mod command;
mod edit;
mod inspect;
pub(crate) mod json;
mod jsonc;
pub(crate) mod layout;
pub mod servers;
mod toml;

pub use command::{CONFIRM, CONFIRMED, Command};
pub use inspect::{Inspection, InstalledHook, Problem};
pub use jsonc::NotJson;
pub(crate) use layout::Form;

/// The program's name: used instead of a path, hooks search for it in the usual places.
pub const PROGRAM: &str = "lictor";

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The person's, for all their projects.
    User,
    /// The project's, shared by all who work on it.
    Project,
    /// The machine's; the agent cannot change it.
    Managed,
}

/// Where settings are on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Where {
    home: PathBuf,
    project: PathBuf,
    /// Those that move settings and are set.
    variables: Vec<(&'static str, PathBuf)>,
}

impl Where {
    /// For a home directory, the root of a project, and the environment.
    #[must_use]
    pub fn new(
        home: impl Into<PathBuf>,
        project: impl Into<PathBuf>,
        variable: impl Fn(&str) -> Option<PathBuf>,
    ) -> Self {
        let mut variables = Vec::new();
        for name in governing_files().flat_map(GoverningFile::variables) {
            if !variables.iter().any(|(known, _)| *known == name)
                && let Some(value) = variable(name).filter(|value| value.is_absolute())
            {
                variables.push((name, value));
            }
        }
        Self { home: home.into(), project: project.into(), variables }
    }

    /// The person's home directory.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The root of the project.
    #[must_use]
    pub fn project(&self) -> &Path {
        &self.project
    }

    fn variable(&self, name: &str) -> Option<&PathBuf> {
        self.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The current location of an agent's file. `None` for paths of another system or of an unset variable.
    pub(crate) fn path(&self, at: At, path: &str) -> Option<PathBuf> {
        let mut full = match at {
            At::Project => self.project.clone(),
            At::Home(directory) => {
                let mut moved = directory.moved_by.iter();
                let moved = moved.find_map(|(name, below)| Some(self.variable(name)?.join(below)));
                moved.unwrap_or_else(|| self.home.join(directory.default))
            }
            At::Machine(os) if cfg!(unix) && (os == Os::Mac) == cfg!(target_os = "macos") => {
                PathBuf::from("/")
            }
            At::Machine(_) => return None,
            At::Variable(name) => self.variable(name)?.clone(),
        };
        if !path.is_empty() {
            full.push(path);
        }
        Some(full)
    }
}

/// One settings file of one agent.
#[derive(Clone)]
pub struct Settings {
    agent: Agent,
    path: PathBuf,
    form: Form,
}

/// Settings that cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotEditable {
    /// Not JSON.
    #[error("`{}` is {why}; correct it, then run this again", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// Where it goes wrong.
        why: NotJson,
    },
    /// There is something else in the place of the hooks.
    #[error("`{at}` in `{}` is not {expected}; correct it, then run this again", path.display())]
    WrongShape {
        /// The file.
        path: PathBuf,
        /// The key.
        at: String,
        /// What it has to be.
        expected: &'static str,
    },
    /// A file with the plugin's name that Lictor did not write.
    #[error("`{}` was not written by Lictor; move it away, then run this again", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
}

/// One file, before and after. `None` means that there is no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What it says now.
    pub before: Option<String>,
    /// What it is to say.
    pub after: Option<String>,
}

/// The data for undoing an installation byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Receipt {
    before: Option<String>,
    after: Digest,
}

impl Receipt {
    /// The original text, if the file was not changed since; `Some(None)` when it did not exist.
    #[must_use]
    pub fn before(&self, text: &str) -> Option<Option<&str>> {
        (Digest::of(text.as_bytes()) == self.after).then_some(self.before.as_deref())
    }

    /// Whether the file was there before.
    #[must_use]
    pub fn was_there(&self) -> bool {
        self.before.is_some()
    }
}

impl Change {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// The receipt for undoing this change. `None` when it removes the file.
    #[must_use]
    pub fn receipt(&self) -> Option<Receipt> {
        let after = Digest::of(self.after.as_deref()?.as_bytes());
        Some(Receipt { before: self.before.clone(), after })
    }
}

impl Settings {
    /// The file that the agent reads its hooks from. `None` where the agent has no such scope on this system.
    ///
    /// `exists` is asked where an agent reads one of two files and ignores the other.
    #[must_use]
    pub fn of(agent: Agent, scope: Scope, place: &Where, exists: impl Fn(&Path) -> bool) -> Option<Self> {
        let (path, form) = files::installed_in(agent, scope, place, exists)?;
        Some(Self { agent, path, form })
    }

    /// Every file that the agent takes hooks from: its own, and those of agents whose settings it reads too. A tool call
    /// is judged once for each that Lictor is installed in.
    #[must_use]
    pub fn read_by(agent: Agent, place: &Where, exists: impl Fn(&Path) -> bool) -> Vec<Self> {
        let own: (Agent, &[Scope]) = (agent, &[Scope::Managed, Scope::User, Scope::Project]);
        let mut found = Vec::new();
        for (agent, scopes) in std::iter::once(&own).chain(agent.spec().also_reads) {
            found.extend(scopes.iter().filter_map(|scope| Self::of(*agent, *scope, place, &exists)));
            let held = agent.spec().files.iter().filter(|file| scopes.contains(&file.scope));
            found.extend(held.filter_map(|file| match file.role {
                Role::Holds(form) => {
                    Some(Self { agent: *agent, path: place.path(file.at, file.path)?, form })
                }
                _ => None,
            }));
        }
        found
    }

    /// Whose format it is in.
    #[must_use]
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file with Lictor's hooks in it, once and up to date, and everything else as it was.
    ///
    /// # Errors
    ///
    /// Text that is not in the agent's format, or something else where hooks have to be.
    pub fn install(&self, before: Option<&str>, binary: &Path) -> Result<Change, NotEditable> {
        let after = match self.form {
            Form::Json(layout) => edit::install(self, layout, before, binary)?,
            Form::Toml(layout) => toml::install(self, layout, before, binary),
            Form::Plugin(template, _) => self.plugin(template, before, binary)?,
        };
        Ok(self.change(before, Some(after)))
    }

    /// The file without Lictor's hooks. With the receipt of the installation and a file that was not touched since, it
    /// is what it was before to the last byte.
    ///
    /// # Errors
    ///
    /// As for [`Settings::install`].
    pub fn uninstall(&self, before: Option<&str>, receipt: Option<&Receipt>) -> Result<Change, NotEditable> {
        let Some(text) = before else { return Ok(self.change(None, None)) };
        if let Some(receipt) = receipt.filter(|receipt| receipt.after == Digest::of(text.as_bytes())) {
            return Ok(self.change(before, receipt.before.clone()));
        }
        let after = match self.form {
            Form::Json(layout) => Some(edit::uninstall(self, layout, text)?),
            Form::Toml(_) => Some(toml::uninstall(text)),
            Form::Plugin(template, _) => (!is_ours(template, text)).then(|| text.to_owned()),
        };
        Ok(self.change(before, after))
    }

    /// The hooks in the file, and problems with Lictor's.
    #[must_use]
    pub fn inspect(&self, text: &str, binary: &Path) -> Inspection {
        match self.form {
            Form::Json(layout) => inspect::json(self, layout, text, binary),
            Form::Toml(layout) => inspect::toml(self, layout, text, binary),
            Form::Plugin(template, _) => {
                let wanted = |binary: &Path| self.plugin(template, Some(text), binary).ok();
                // As `lictor init` writes it for this machine, or for all machines.
                let portable = wanted(Path::new(PROGRAM)).filter(|portable| portable == text);
                inspect::plugin(self.agent, text, portable.or_else(|| wanted(binary)).as_deref())
            }
        }
    }

    fn change(&self, before: Option<&str>, after: Option<String>) -> Change {
        Change { path: self.path.clone(), before: before.map(str::to_owned), after }
    }

    fn plugin(&self, template: &str, before: Option<&str>, binary: &Path) -> Result<String, NotEditable> {
        if before.is_some_and(|text| !text.trim().is_empty() && !is_ours(template, text)) {
            return Err(NotEditable::NotOurs { path: self.path.clone() });
        }
        let binary = serde_json::Value::from(binary.to_string_lossy()).to_string();
        Ok(template.replace("\"@BINARY@\"", &binary).replace("@AGENT@", self.agent.name()))
    }

    /// The command line of one event's hook.
    fn command(&self, binary: &Path, event: &str) -> String {
        let agent = match self.agent {
            // One file serves both; what comes in tells them apart.
            Agent::VsCode => Agent::CopilotCli,
            agent => agent,
        };
        Command::line(binary, agent, event)
    }
}

/// Files and directories whose presence shows that a person uses the agent.
#[must_use]
pub fn traces(agent: Agent, place: &Where) -> Vec<PathBuf> {
    agent.spec().traces.iter().filter_map(|(at, path)| place.path(*at, path)).collect()
}

/// Files of an agent that may hold hooks and are not read, each with the file that is read instead.
#[must_use]
pub fn shadowed(agent: Agent, place: &Where, exists: impl Fn(&Path) -> bool) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    for scope in [Scope::Managed, Scope::User, Scope::Project] {
        let files = || agent.spec().files.iter().filter(move |file| file.scope == scope);
        let path = |file: &GoverningFile| place.path(file.at, file.path);
        let winner = files()
            .filter(|file| matches!(file.role, Role::InstallsIfThere(_)))
            .find_map(|file| path(file).filter(|path| exists(path)));
        let loser = files().find(|file| matches!(file.role, Role::Installs(_))).and_then(path);
        found.extend(loser.zip(winner));
    }
    found
}

/// The file and the setting by which the machine's owner switches all hooks off but those of the machine.
#[must_use]
pub fn managed_only(agent: Agent) -> Option<(&'static Path, &'static str)> {
    agent.spec().managed_only.map(|(file, setting)| (Path::new(file), setting))
}

/// Steps for a person before the agent runs the hooks, and limits of its hooks.
#[must_use]
pub fn advice(agent: Agent) -> &'static [&'static str] {
    agent.spec().advice
}

/// How long the agent waits for the hook of an event, as `init` installs it. `None` if the timeout cannot be set.
#[must_use]
pub fn timeout(agent: Agent, event: &str) -> Option<Duration> {
    if agent == Agent::Windsurf {
        return None;
    }
    let form = agent.spec().files.iter().find_map(|file| match file.role {
        Role::Installs(form) => Some(form),
        _ => None,
    })?;
    let seconds = match form {
        Form::Json(layout) | Form::Toml(layout) => {
            layout.entries.iter().find(|entry| entry.event == event)?.timeout
        }
        Form::Plugin(_, seconds) => seconds,
    };
    Some(Duration::from_secs(seconds.into()))
}

/// Whether a plugin was made from the template, by any version: both have the same beginning.
fn is_ours(template: &str, text: &str) -> bool {
    template.split_once(':').is_some_and(|(start, _)| text.starts_with(start))
}
