//! Putting Lictor's hooks into an agent's settings, taking them out again, and finding what is wrong with them.
//!
//! Everything works on text: settings in, settings out, with every byte that is not ours left alone. The only functions
//! that touch the disk are [`Change::apply`] and the `read` that the caller gives.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lictor_core::Digest;

use crate::agent::Agent;

mod apply;
mod command;
mod edit;
mod inspect;
mod json;
mod jsonc;
mod layout;
mod toml;

pub use command::Command;
pub use inspect::{Inspection, InstalledHook, Problem};
pub use jsonc::NotJson;
use layout::Form;

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
    /// The person's home directory.
    pub home: PathBuf,
    /// The root of the project.
    pub project: PathBuf,
    /// `CODEX_HOME`, if set.
    pub codex_home: Option<PathBuf>,
    /// `COPILOT_HOME`, if set.
    pub copilot_home: Option<PathBuf>,
}

impl Where {
    fn codex_home(&self) -> PathBuf {
        self.codex_home.clone().unwrap_or_else(|| self.home.join(".codex"))
    }

    fn copilot_home(&self) -> PathBuf {
        self.copilot_home.clone().unwrap_or_else(|| self.home.join(".copilot"))
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
    /// Something else stands where hooks have to be.
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

/// What has to be remembered to undo an installation to the last byte.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Receipt {
    before: Option<String>,
    after: Digest,
}

impl Change {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// What to keep for undoing this change. `None` when it removes the file.
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
        let path = layout::file(agent, scope, place, exists)?;
        let form = layout::form(agent, &path);
        Some(Self { agent, path, form })
    }

    /// Every file that the agent takes hooks from: its own, and those of agents whose settings it reads too. A tool call
    /// is judged once for each that Lictor is installed in.
    #[must_use]
    pub fn read_by(agent: Agent, place: &Where, exists: impl Fn(&Path) -> bool) -> Vec<Self> {
        let own = [Scope::Managed, Scope::User, Scope::Project];
        let mut files: Vec<Self> =
            own.into_iter().filter_map(|scope| Self::of(agent, scope, place, &exists)).collect();
        if matches!(agent, Agent::ClaudeCode | Agent::Cursor | Agent::CopilotCli | Agent::VsCode) {
            let local = place.project.join(".claude/settings.local.json");
            let form = layout::form(Agent::ClaudeCode, &local);
            files.push(Self { agent: Agent::ClaudeCode, path: local, form });
        }
        if matches!(agent, Agent::Cursor | Agent::VsCode) {
            files.extend(Self::of(Agent::ClaudeCode, Scope::User, place, &exists));
        }
        if matches!(agent, Agent::Cursor | Agent::CopilotCli | Agent::VsCode) {
            files.extend(Self::of(Agent::ClaudeCode, Scope::Project, place, &exists));
        }
        files
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
            Form::Plugin => self.plugin(before, binary)?,
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
            Form::Plugin => (!is_our_plugin(text)).then(|| text.to_owned()),
        };
        Ok(self.change(before, after))
    }

    /// What hooks are in the file and what is wrong with Lictor's.
    #[must_use]
    pub fn inspect(&self, text: &str, binary: &Path) -> Inspection {
        match self.form {
            Form::Json(layout) => inspect::json(self, layout, text, binary),
            Form::Toml(layout) => inspect::toml(self, layout, text, binary),
            Form::Plugin => inspect::plugin(text, self.plugin(Some(text), binary).ok().as_deref()),
        }
    }

    fn change(&self, before: Option<&str>, after: Option<String>) -> Change {
        Change { path: self.path.clone(), before: before.map(str::to_owned), after }
    }

    fn plugin(&self, before: Option<&str>, binary: &Path) -> Result<String, NotEditable> {
        if before.is_some_and(|text| !text.trim().is_empty() && !is_our_plugin(text)) {
            return Err(NotEditable::NotOurs { path: self.path.clone() });
        }
        let binary = serde_json::Value::from(binary.to_string_lossy()).to_string();
        Ok(include_str!("install/opencode.js").replace("\"@BINARY@\"", &binary))
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

/// Directories whose presence shows that a person uses the agent.
#[must_use]
pub fn traces(agent: Agent, place: &Where) -> Vec<PathBuf> {
    let (home, project): (&[&str], &[&str]) = match agent {
        Agent::ClaudeCode => (&[".claude"], &[".claude"]),
        Agent::Codex => return vec![place.codex_home(), place.project.join(".codex")],
        Agent::GeminiCli => (&[".gemini/settings.json"], &[".gemini"]),
        Agent::Cursor => (&[".cursor"], &[".cursor"]),
        Agent::CopilotCli => return vec![place.copilot_home()],
        Agent::VsCode => (&[".vscode", ".config/Code", "Library/Application Support/Code"], &[".vscode"]),
        Agent::OpenCode => (&[".config/opencode"], &[".opencode", "opencode.json"]),
        Agent::Antigravity => (&[".gemini/antigravity-cli", ".gemini/config"], &[".agents/hooks.json"]),
        Agent::Factory => (&[".factory"], &[".factory"]),
        Agent::Windsurf => (&[".codeium/windsurf"], &[".windsurf"]),
    };
    let home = home.iter().map(|path| place.home.join(path));
    home.chain(project.iter().map(|path| place.project.join(path))).collect()
}

/// What a person has to do before the agent runs the hooks, and what its hooks do not see.
#[must_use]
pub fn advice(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::ClaudeCode => &[
            "accept the workspace trust dialog: until then no hook of a settings file runs",
            "files named with `@` reach the model without a hook: add `Read(...)` deny rules for secrets",
        ],
        Agent::Codex => &[
            "trust the hooks with `/hooks` in Codex: untrusted ones are skipped without a word",
            "what is typed into a running command and hosted web search are not seen by hooks",
        ],
        Agent::GeminiCli => &["trust the folder: in an untrusted one no hook runs"],
        Agent::Cursor => &[
            "trust the workspace: otherwise its hooks do not run",
            "edits by Tab completion cannot be refused by hooks",
        ],
        Agent::CopilotCli => &["trust the folder; with `-p` set GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true"],
        Agent::VsCode => &["hooks are a preview: check that `chat.hookFilesLocations` has not been narrowed"],
        Agent::OpenCode => &["`opencode --pure` runs without plugins, and so without Lictor"],
        Agent::Antigravity => {
            &["one bad value in hooks.json drops the whole file without a word: run `lictor doctor`"]
        }
        Agent::Factory => &["an organisation's hook policy may switch other hooks off: run `lictor doctor`"],
        Agent::Windsurf => &["nothing that a hook says reaches the model except the reason of a refusal"],
    }
}

/// How long the agent waits for the hook of an event, as `init` installs it. `None` where it cannot be told how long.
#[must_use]
pub fn timeout(agent: Agent, event: &str) -> Option<Duration> {
    if agent == Agent::Windsurf {
        return None;
    }
    let seconds = match layout::form(agent, Path::new("")) {
        Form::Json(layout) | Form::Toml(layout) => {
            layout.entries.iter().find(|entry| entry.event == event)?.timeout
        }
        Form::Plugin => layout::SOON,
    };
    Some(Duration::from_secs(seconds.into()))
}

fn is_our_plugin(text: &str) -> bool {
    text.starts_with("// Lictor for OpenCode")
}
