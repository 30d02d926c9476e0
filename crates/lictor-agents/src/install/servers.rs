//! MCP servers in agents' own settings: finds them, and wraps them with `lictor mcp run` or unwraps them, in
//! place.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{PROGRAM, Where};
use crate::agent::Agent;
use crate::files::{At, HomeDir};

mod locate;

use locate::Located;
pub use locate::NotReadable;

/// The layout of servers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// JSON: `command` is a text, `args` a list, `env` an object.
    CommandAndArgs,
    /// JSON: `command` is a list, `environment` an object.
    CommandList,
    /// TOML with the keys of [`Shape::CommandAndArgs`].
    Toml,
}

/// A file from which an agent reads servers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerFile {
    at: At,
    path: &'static str,
    /// Their key.
    key: &'static str,
    shape: Shape,
    /// Whether it also contains servers per project, below `projects` and its path.
    by_project: bool,
}

impl ServerFile {
    pub(crate) const fn project(path: &'static str, key: &'static str) -> Self {
        Self { at: At::Project, path, key, shape: Shape::CommandAndArgs, by_project: false }
    }

    pub(crate) const fn home(directory: HomeDir, path: &'static str, key: &'static str) -> Self {
        Self { at: At::Home(directory), ..Self::project(path, key) }
    }

    pub(crate) const fn shaped(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    pub(crate) const fn by_project(self) -> Self {
        Self { by_project: true, ..self }
    }
}

/// Servers of one agent in one file.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    agent: Agent,
    path: PathBuf,
    /// Key paths of servers.
    places: Vec<Vec<String>>,
    shape: Shape,
}

/// One server, as an agent starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredServer {
    /// The agent's name for it.
    pub name: String,
    /// Its own program and arguments, without Lictor; empty for a server that is reached by an address.
    pub command: Vec<String>,
    /// The names of its variables.
    pub env: Vec<String>,
    /// Variables whose values are in the settings.
    pub values: Vec<(String, String)>,
    /// The URL that it is reached by, also where Lictor is told of it (`lictor mcp run --url`).
    pub address: Option<String>,
    /// The headers in the settings for a server with a URL.
    pub headers: Vec<(String, String)>,
    /// Whether it is wrapped by Lictor.
    pub wrapped: bool,
    /// Lictor's own words before it, or all of them for a server with a URL.
    pub before: Vec<String>,
}

impl ServerSettings {
    /// Every place from which agents read servers on this machine.
    #[must_use]
    pub fn all(place: &Where) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for agent in Agent::ALL {
            for file in agent.spec().servers {
                let Some(path) = place.path(file.at, file.path) else { continue };
                // A home directory that is a project has one file for both.
                if all.iter().any(|other| other.path == path) {
                    continue;
                }
                let mut places = vec![vec![file.key.to_owned()]];
                if let Some(project) = place.project().to_str().filter(|_| file.by_project) {
                    places.push(["projects", project, file.key].map(str::to_owned).to_vec());
                }
                all.push(Self { agent, path, places, shape: file.shape });
            }
        }
        all
    }

    /// Whose.
    #[must_use]
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The servers in the file's text.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn servers(&self, text: &str) -> Result<Vec<ConfiguredServer>, NotReadable> {
        Ok(self.located(text)?.iter().map(|located| self.read(located)).collect())
    }

    /// The definition of a server in these settings: its own command, or its URL. In tool names, agents replace
    /// characters of a server's name other than letters, digits, `-` and `_` by `_`.
    ///
    /// # Errors
    /// When the text cannot be read.
    pub fn definitions(&self, text: &str, server: &str) -> Result<Vec<Value>, NotReadable> {
        let located = self.located(text)?;
        let meant = located.iter().filter(|located| in_tool_names(&located.name) == in_tool_names(server));
        Ok(meant
            .map(|located| {
                let server = self.read(located);
                json!({"command": server.command, "address": server.address})
            })
            .collect())
    }

    /// The text with Lictor before every server that is a program.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn wrap(&self, text: &str, lictor: &Path) -> Result<String, NotReadable> {
        self.rewrite(text, |text, located| {
            let server = self.read(located);
            if server.wrapped || server.command.is_empty() {
                return None;
            }
            let words = lictor_words(lictor, &server);
            locate::insert(text, located, &words)
        })
    }

    /// The text with every server as it was before [`wrap`](Self::wrap), byte for byte if it was not changed
    /// since.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn unwrap(&self, text: &str) -> Result<String, NotReadable> {
        self.rewrite(text, |text, located| {
            let server = self.read(located);
            // A URL was given to Lictor by the person, not by `wrap`.
            let ours = server.wrapped && server.address.is_none();
            locate::remove(text, located, server.before.len()).filter(|_| ours)
        })
    }

    fn located(&self, text: &str) -> Result<Vec<Located>, NotReadable> {
        match self.shape {
            Shape::CommandAndArgs | Shape::CommandList => locate::json(text, &self.places),
            Shape::Toml => locate::toml(text, &self.places),
        }
    }

    fn read(&self, located: &Located) -> ConfiguredServer {
        let value = &located.value;
        let texts = |value: Option<&Value>| -> Vec<String> {
            let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (words, env) = match self.shape {
            Shape::CommandAndArgs | Shape::Toml => {
                let program = value.get("command").and_then(Value::as_str).map(str::to_owned);
                let words = program.into_iter().chain(texts(value.get("args"))).collect();
                (words, value.get("env"))
            }
            Shape::CommandList => (texts(value.get("command")), value.get("environment")),
        };
        let pairs = |value: Option<&Value>| -> Vec<(String, String)> {
            let fields = value.and_then(Value::as_object).into_iter().flatten();
            fields.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
        };
        let values = pairs(env);
        let headers = pairs(HEADERS.iter().find_map(|key| value.get(*key)));
        let env = env.and_then(Value::as_object).map(|env| env.keys().cloned().collect::<Vec<_>>());
        // Codex takes variables by name too.
        let named = texts(value.get("env_vars"));
        let address = ADDRESSES.iter().find_map(|key| value.get(*key)?.as_str()).map(str::to_owned);
        let (before, command, address) = match (own_command(&words), own_address(&words)) {
            (Some((before, own)), _) => (before.to_vec(), own.to_vec(), None),
            (None, Some(given)) => (words.clone(), Vec::new(), Some(given.to_owned())),
            (None, None) => (Vec::new(), words, address),
        };
        let env = env.into_iter().flatten().chain(named).collect();
        let (name, wrapped) = (located.name.clone(), !before.is_empty());
        ConfiguredServer { name, command, env, values, address, headers, wrapped, before }
    }

    /// Changes one server after another: each change moves the text after it.
    fn rewrite(
        &self,
        text: &str,
        change: impl Fn(&str, &Located) -> Option<String>,
    ) -> Result<String, NotReadable> {
        let mut text = text.to_owned();
        for number in 0..self.located(&text)?.len() {
            if let Some(located) = self.located(&text)?.get(number)
                && let Some(changed) = change(&text, located)
            {
                text = changed;
            }
        }
        Ok(text)
    }
}

/// `lictor mcp run --name NAME --env VARIABLE --`
fn lictor_words(lictor: &Path, server: &ConfiguredServer) -> Vec<String> {
    let mut words: Vec<String> = vec![lictor.to_string_lossy().into_owned()];
    words.extend(["mcp", "run", "--name", &rule_name(&server.name)].map(str::to_owned));
    words.extend(server.env.iter().flat_map(|name| ["--env".to_owned(), name.clone()]));
    words.push("--".to_owned());
    words
}

/// The name in rules: as agents write it in the names of tools, so that hooks and the proxy agree. `mcp__NAME__TOOL` has to
/// be read in one way, so there is no `__` in it and no `_` at its ends.
fn rule_name(server: &str) -> String {
    let name = in_tool_names(server);
    let parts: Vec<&str> = name.split('_').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "server".to_owned() } else { parts.join("_") }
}

/// Keys with the headers for it.
const HEADERS: [&str; 2] = ["headers", "http_headers"];
/// Keys with a server's URL.
const ADDRESSES: [&str; 3] = ["url", "httpUrl", "serverUrl"];

fn in_tool_names(server: &str) -> String {
    server
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' })
        .collect()
}

/// Whether it is `lictor mcp run …`.
fn is_ours(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    Path::new(program).file_name().is_some_and(|name| name == PROGRAM)
        && rest.first().is_some_and(|word| word == "mcp")
        && rest.get(1).is_some_and(|word| word == "run")
}

/// Lictor's words up to `lictor mcp run … --`, and the server's own after them.
fn own_command(words: &[String]) -> Option<(&[String], &[String])> {
    let at = words.iter().position(|word| word == "--").filter(|_| is_ours(words))?;
    Some((words.get(..at)?, words.get(at + 1..)?))
}

/// The URL in `lictor mcp run --url URL`.
fn own_address(words: &[String]) -> Option<&str> {
    let at = words
        .iter()
        .position(|word| word == "--url" || word.starts_with("--url="))
        .filter(|_| is_ours(words))?;
    let word = words.get(at)?;
    word.strip_prefix("--url=").or_else(|| words.get(at + 1).map(String::as_str))
}

#[cfg(test)]
mod tests;
