//! MCP servers in agents' own settings: which there are, and putting `lictor mcp run` before them, in place and back.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::json::Json;
use super::jsonc::{self, Kind, Node, NotJson};
use super::{PROGRAM, Where};
use crate::agent::Agent;
use crate::files::{At, HomeDir};

/// How servers stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `command` is a text, `args` a list, `env` an object.
    CommandAndArgs,
    /// `command` is a list, `environment` an object.
    CommandList,
}

/// A file in which an agent looks for servers.
struct ServerFile {
    agent: Agent,
    at: At,
    path: &'static str,
    /// The key under which they stand.
    key: &'static str,
    shape: Shape,
}

const HOME: HomeDir = HomeDir::at("");

const fn file(agent: Agent, at: At, path: &'static str, key: &'static str) -> ServerFile {
    ServerFile { agent, at, path, key, shape: Shape::CommandAndArgs }
}

/// Codex keeps its servers in TOML, which is not edited in place; they are read by nobody here.
static FILES: &[ServerFile] = &[
    file(Agent::ClaudeCode, At::Project, ".mcp.json", "mcpServers"),
    file(Agent::ClaudeCode, At::Home(HOME), ".claude.json", "mcpServers"),
    file(Agent::Cursor, At::Project, ".cursor/mcp.json", "mcpServers"),
    file(Agent::Cursor, At::Home(HOME), ".cursor/mcp.json", "mcpServers"),
    file(Agent::VsCode, At::Project, ".vscode/mcp.json", "servers"),
    file(Agent::GeminiCli, At::Project, ".gemini/settings.json", "mcpServers"),
    file(Agent::GeminiCli, At::Home(HOME), ".gemini/settings.json", "mcpServers"),
    file(Agent::QwenCode, At::Project, ".qwen/settings.json", "mcpServers"),
    file(Agent::QwenCode, At::Home(HOME), ".qwen/settings.json", "mcpServers"),
    file(Agent::CopilotCli, At::Home(HOME), ".copilot/mcp-config.json", "mcpServers"),
    file(Agent::Windsurf, At::Home(HOME), ".codeium/windsurf/mcp_config.json", "mcpServers"),
    file(Agent::Factory, At::Project, ".factory/mcp.json", "mcpServers"),
    file(Agent::Factory, At::Home(HOME), ".factory/mcp.json", "mcpServers"),
    ServerFile { shape: Shape::CommandList, ..file(Agent::OpenCode, At::Project, "opencode.json", "mcp") },
    ServerFile {
        shape: Shape::CommandList,
        ..file(Agent::OpenCode, At::Home(HOME), ".config/opencode/opencode.json", "mcp")
    },
];

/// Servers of one agent in one file.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    agent: Agent,
    path: PathBuf,
    key: &'static str,
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
    /// Whether Lictor stands before it.
    pub wrapped: bool,
    /// Lictor's own words before it.
    pub before: Vec<String>,
}

impl ServerSettings {
    /// Every place in which agents look for servers on this machine.
    #[must_use]
    pub fn all(place: &Where) -> Vec<Self> {
        let known = FILES.iter().filter_map(|file| {
            let path = place.path(file.at, file.path)?;
            Some(Self { agent: file.agent, path, key: file.key, shape: file.shape })
        });
        let mut all: Vec<Self> = Vec::new();
        for one in known {
            // A home directory that is a project has one file for both.
            if !all.iter().any(|other| other.path == one.path) {
                all.push(one);
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
    /// When it is not JSON.
    pub fn servers(&self, text: &str) -> Result<Vec<ConfiguredServer>, NotJson> {
        let root = jsonc::parse(text)?;
        Ok(self.entries(&root).map(|(name, node)| self.read(text, name, node)).collect())
    }

    /// How a server is reached by these settings: its own command, or its address. Agents put other characters than
    /// letters, digits, `-` and `_` of a server's name into the names of its tools as `_`.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn definitions(&self, text: &str, place: &Where, server: &str) -> Result<Vec<Value>, NotJson> {
        let root = jsonc::parse(text)?;
        // Claude Code keeps a person's own servers of one project there.
        let own = place.project().to_str().and_then(|project| root.at(&["projects", project]));
        let entries = self.entries(&root).chain(own.into_iter().flat_map(|own| self.entries(own)));
        let meant = entries.filter(|(name, _)| in_tool_names(name) == in_tool_names(server));
        Ok(meant
            .map(|(name, node)| {
                let value = node.value(text);
                let address = ADDRESSES.iter().find_map(|key| value.get(*key));
                json!({"command": self.read(text, name, node).command, "address": address})
            })
            .collect())
    }

    /// The text with Lictor before every server that is a program.
    ///
    /// # Errors
    /// When it is not JSON.
    pub fn wrap(&self, text: &str, lictor: &Path) -> Result<String, NotJson> {
        self.rewrite(text, |server| {
            let usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if server.wrapped || server.command.is_empty() {
                return None;
            }
            let name: String = server
                .name
                .chars()
                .map(|c| if usable(c) { c } else { '-' })
                .collect::<String>()
                .replace("__", "_");
            let mut words: Vec<String> = vec![lictor.to_string_lossy().into_owned()];
            words.extend(["mcp", "run", "--name", &name].map(str::to_owned));
            words.extend(server.env.iter().flat_map(|name| ["--env".to_owned(), name.clone()]));
            words.push("--".to_owned());
            words.extend(server.command.iter().cloned());
            Some(words)
        })
    }

    /// The text with every server as it was before [`wrap`](Self::wrap).
    ///
    /// # Errors
    /// When it is not JSON.
    pub fn unwrap(&self, text: &str) -> Result<String, NotJson> {
        self.rewrite(text, |server| server.wrapped.then(|| server.command.clone()))
    }

    fn entries<'a>(&self, root: &'a Node) -> impl Iterator<Item = (&'a str, &'a Node)> {
        let servers = root.member(self.key).map(Node::children).unwrap_or_default();
        servers
            .iter()
            .filter(|child| matches!(child.node.kind, Kind::Object(_)))
            .map(|child| (child.key.as_str(), &child.node))
    }

    fn read(&self, text: &str, name: &str, node: &Node) -> ConfiguredServer {
        let value = node.value(text);
        let texts = |value: Option<&Value>| -> Vec<String> {
            let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (words, env) = match self.shape {
            Shape::CommandAndArgs => {
                let program = value.get("command").and_then(Value::as_str).map(str::to_owned);
                let words = program.into_iter().chain(texts(value.get("args"))).collect();
                (words, value.get("env"))
            }
            Shape::CommandList => (texts(value.get("command")), value.get("environment")),
        };
        let env = env.and_then(Value::as_object).map(|env| env.keys().cloned().collect()).unwrap_or_default();
        let (before, command) = match own_command(&words) {
            Some((before, own)) => (before.to_vec(), own.to_vec()),
            None => (Vec::new(), words),
        };
        ConfiguredServer { name: name.to_owned(), command, env, wrapped: !before.is_empty(), before }
    }

    fn rewrite(
        &self,
        text: &str,
        command: impl Fn(&ConfiguredServer) -> Option<Vec<String>>,
    ) -> Result<String, NotJson> {
        let mut text = text.to_owned();
        let names: Vec<String> =
            self.entries(&jsonc::parse(&text)?).map(|(name, _)| name.to_owned()).collect();
        for name in names {
            let root = jsonc::parse(&text)?;
            let Some(node) = root.at(&[self.key, &name]) else { continue };
            let Some(words) = command(&self.read(&text, &name, node)) else { continue };
            text = self.with_command(text, &name, &words)?;
        }
        Ok(text)
    }

    fn with_command(&self, text: String, name: &str, words: &[String]) -> Result<String, NotJson> {
        let list = |words: &[String]| Json::Array(words.iter().map(Json::text).collect());
        match (self.shape, words.split_first()) {
            (_, None) => Ok(text),
            (Shape::CommandList, Some(_)) => self.with_member(text, name, "command", &list(words)),
            (Shape::CommandAndArgs, Some((program, args))) => {
                let text = self.with_member(text, name, "command", &Json::text(program))?;
                self.with_member(text, name, "args", &list(args))
            }
        }
    }

    /// The text with one member of a server replaced or added; every other byte stays.
    fn with_member(&self, mut text: String, name: &str, key: &str, value: &Json) -> Result<String, NotJson> {
        let root = jsonc::parse(&text)?;
        let Some(server) = root.at(&[self.key, name]) else { return Ok(text) };
        match server.member(key) {
            Some(old) if old.value(&text) == value.value() => {}
            Some(old) => text.replace_range(old.span.clone(), &value.line()),
            None => text = jsonc::append(&text, server, Some(key), value),
        }
        Ok(text)
    }
}

/// Keys that hold a server's address.
const ADDRESSES: [&str; 3] = ["url", "httpUrl", "serverUrl"];

fn in_tool_names(server: &str) -> String {
    server
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' })
        .collect()
}

/// Lictor's words up to `lictor mcp run … --`, and the server's own behind them.
fn own_command(words: &[String]) -> Option<(&[String], &[String])> {
    let (program, rest) = words.split_first()?;
    let ours = Path::new(program).file_name().is_some_and(|name| name == PROGRAM);
    let ours = ours
        && rest.first().is_some_and(|word| word == "mcp")
        && rest.get(1).is_some_and(|word| word == "run");
    let at = words.iter().position(|word| word == "--").filter(|_| ours)?;
    Some((words.get(..at)?, words.get(at + 1..)?))
}

#[cfg(test)]
mod tests;
