//! The data: one file for each agent, one list of sessions.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::shell;

/// How one agent is installed and run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentFile {
    /// Lictor's name for it.
    pub agent: String,
    /// The npm package, pinned.
    pub package: String,
    pub version: String,
    /// Packages that it needs besides.
    #[serde(default)]
    pub with: Vec<String>,
    /// The program in the package's directory.
    pub program: String,
    /// Its sessions take so long that a run of all agents begins with it: the run ends when the slowest does.
    #[serde(default)]
    pub slow: bool,
    /// Which model API it speaks.
    pub api: Api,
    /// Its environment. `{server}`, `{home}`, `{project}`, `{cache}`, `{prompt}` are filled in everywhere.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Files that are there before it starts.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Where its hooks stand in the project: `{settings}`.
    pub settings: String,
    /// A shell line by which a person switches its hooks off, with a setting of its own: `{off}`.
    #[serde(default)]
    pub off: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// How it is started again: `resume` goes on with the session before, `compact` makes it shorter.
    #[serde(default)]
    pub again: BTreeMap<String, Mode>,
    /// How many tokens make it shorten a conversation by itself, where a person cannot tell it to; 0 where one can.
    #[serde(default)]
    pub long: u64,
    /// How it is used in a terminal, where it has a question of its own.
    #[serde(default)]
    pub terminal: Option<TerminalUse>,
    /// Where `lictor init` puts its hooks.
    #[serde(default = "project")]
    pub scope: String,
    /// Its own modes that a session may be run in.
    #[serde(default)]
    pub modes: BTreeMap<String, Mode>,
    /// A shell line by which a person trusts the folder, where `lictor init` does not do it.
    #[serde(default)]
    pub trust: String,
    /// How it is told of an MCP server.
    #[serde(default)]
    pub mcp: Option<Mcp>,
    /// Each neutral call in the agent's words.
    pub calls: BTreeMap<String, Call>,
    /// Sessions that cannot be run, with the reason.
    #[serde(default)]
    pub cannot: BTreeMap<String, String>,
    /// Sessions that do not hold, with what is known about it.
    #[serde(default)]
    pub known: BTreeMap<String, String>,
}

/// How an agent is told of an MCP server: `{mcp_program}` and `{mcp_args}`, a list without its brackets, are filled in.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mcp {
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    #[serde(default)]
    pub args: Vec<String>,
}

/// An agent in a terminal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalUse {
    /// Arguments that stand for the usual ones.
    pub args: Vec<String>,
    /// Files that are there before it starts.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// What a person does before the work begins.
    #[serde(default)]
    pub first: Vec<Press>,
    /// How a person says yes to a question, and how no.
    pub yes: Vec<Press>,
    pub no: Vec<Press>,
}

/// Keys that are pressed when something is on the screen.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Press {
    /// With single spaces, whatever the screen has between words.
    pub sees: String,
    /// As tmux names them.
    pub types: Vec<String>,
    /// Whenever it is seen, not in its turn.
    #[serde(default)]
    pub anytime: bool,
}

/// How an agent is put into one of its own modes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// Arguments that stand for the usual ones.
    pub args: Vec<String>,
    /// Shell lines run in the project, after `lictor init`.
    #[serde(default)]
    pub before: String,
}

/// A tool of an agent, and its input.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub name: String,
    pub input: Value,
}

/// A model API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    Messages,
    Responses,
    Chat,
    Gemini,
}

/// One session.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionFile {
    pub id: String,
    /// What it shows, as the matrix says it.
    pub what: String,
    /// Only for agents that have these calls.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The name of the project's directory.
    #[serde(default = "project")]
    pub directory: String,
    /// Shell lines run in the project before the agent starts, after `lictor init`.
    #[serde(default)]
    pub before: String,
    /// What becomes of the program that hooks run.
    #[serde(default)]
    pub program: Option<String>,
    /// An MCP server for files is there: `plain`, or `wrapped` by Lictor and without any hooks.
    #[serde(default)]
    pub mcp: Option<Wrapping>,
    /// The agent is started again when it has ended, in these ways, one after another.
    #[serde(default)]
    pub again: Vec<String>,
    /// The agent runs in a terminal, and a person answers its question like that.
    #[serde(default)]
    pub answer: Option<Answer>,
    /// The agent's own mode that it is run in.
    #[serde(default)]
    pub mode: Option<String>,
    /// The hooks stand in the machine's settings, and the project has none.
    #[serde(default)]
    pub managed: bool,
    /// The agent works in another worktree of the project.
    #[serde(default)]
    pub worktree: bool,
    /// An agent that waits until it is ended does what it should.
    #[serde(default)]
    pub held: bool,
    /// The agent runs under `lictor run`.
    #[serde(default)]
    pub under_run: bool,
    /// What the model does, turn by turn. After the last it says that it is done.
    pub turns: Vec<Vec<Step>>,
    pub expect: Expect,
}

/// What a person says to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    Yes,
    No,
}

/// Who stands before the MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrapping {
    Plain,
    Wrapped,
}

fn project() -> String {
    "project".to_owned()
}

/// One thing that the model does in a turn.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// A tool call: which, and its arguments.
    Call(String, BTreeMap<String, String>),
    /// A text.
    Say(String),
    /// Not the model: a person does this in the project meanwhile.
    Person(String),
    /// The conversation is so long now that agents shorten it that do so by themselves.
    Long(bool),
}

/// What has to be so at the end.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Files of the project that are there.
    #[serde(default)]
    pub there: Vec<String>,
    /// Files that are not.
    #[serde(default)]
    pub absent: Vec<String>,
    /// What the model was told, somewhere.
    #[serde(default)]
    pub reads: Vec<String>,
    /// What it was never told.
    #[serde(default)]
    pub never_reads: Vec<String>,
    /// How often the model was asked at least.
    #[serde(default)]
    pub requests: Option<usize>,
    /// The model was asked after every turn.
    #[serde(default)]
    pub all_turns: bool,
    /// Shell lines that must succeed in the project afterwards.
    #[serde(default)]
    pub after: String,
}

impl AgentFile {
    /// Whether the session can be run with this agent.
    pub fn can(&self, session: &SessionFile) -> bool {
        !self.cannot.contains_key(&session.id)
            && (session.mcp.is_none() || self.mcp.is_some())
            && self.lacks(session).is_empty()
    }

    /// What the agent does not have that the session needs.
    pub fn lacks(&self, session: &SessionFile) -> Vec<String> {
        let calls = session.needs.iter().filter(|call| !self.calls.contains_key(*call));
        let ways = session.again.iter().filter(|way| !self.again.contains_key(*way));
        let modes = session.mode.iter().filter(|mode| !self.modes.contains_key(*mode));
        let off = (session.before.contains("{off}") && self.off.is_empty())
            .then(|| "switching hooks off".to_owned());
        let asks = (session.answer.is_some() && self.terminal.is_none())
            .then(|| "question of its own that a person answers in a terminal".to_owned());
        let lacking = calls.map(|call| match call.as_str() {
            "shell-open" => "a tool that types into a command that runs".to_owned(),
            call => format!("a tool for {call}"),
        });
        let lacking = lacking.chain(ways.map(|way| format!("a way to {way} without a person")));
        lacking
            .chain(modes.map(|mode| format!("a mode of its own that is {mode}")))
            .chain(off)
            .chain(asks)
            .collect()
    }

    /// The calls that `read*` stands for: `read` and every one whose name begins with `read-`.
    pub fn names_of(&self, pattern: &str) -> impl Iterator<Item = &String> {
        let start = pattern.trim_end_matches('*').to_owned();
        self.calls.keys().filter(move |name| {
            name.strip_prefix(&start).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    }

    /// What is known about a session that does not hold.
    pub fn expects(&self, session: &str) -> Option<&str> {
        self.known.get(session).map(String::as_str)
    }

    /// Where its package lies.
    pub fn cache(&self) -> PathBuf {
        shell::target().join("agents").join(format!("{}-{}", self.agent, self.version))
    }
}

fn directory() -> PathBuf {
    shell::root().join("xtask/agents")
}

/// Every agent that can be run, in the order of their names.
pub fn agents() -> Result<Vec<AgentFile>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory().join("agents"))?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    files
        .iter()
        .map(|file| {
            let text = fs::read_to_string(file)?;
            serde_saphyr::from_str(&text).with_context(|| format!("{} is not understood", file.display()))
        })
        .collect()
}

/// Every session, in the order of the file.
pub fn sessions() -> Result<Vec<SessionFile>> {
    let file = directory().join("sessions.yaml");
    serde_saphyr::from_str(&fs::read_to_string(&file)?)
        .with_context(|| format!("{} is not understood", file.display()))
}

/// The policy that every session runs under.
pub fn policy() -> Result<String> {
    Ok(fs::read_to_string(directory().join("governance.yaml"))?)
}
