//! Events of agents, in one format for all agents.

use lictor_core::{Action, ActionKind, Actor, Digest, SessionKey, canonical};
use serde_json::Value;

use crate::reply::HookContext;
use crate::tools::Tool;

/// One event of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The destination of the reply: the agent, the event, and its supported forms.
    pub slot: HookContext,
    /// The session it happened in. A subagent has its own session.
    pub session: Option<SessionKey>,
    /// The session that started this one.
    pub parent_session: Option<SessionKey>,
    /// For whom.
    pub actor: Actor,
    /// The directory that the agent is in. Empty when unknown.
    pub cwd: String,
    /// The agent's transcript file, if reported.
    pub transcript: Option<String>,
    /// The agent's permission mode, if reported.
    pub permission_mode: Option<PermissionMode>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// A tool is about to run.
    PreTool(Action),
    /// The agent is about to ask a person whether a tool may run.
    PermissionRequest(Action),
    /// A tool ran.
    PostTool(Action, Outcome),
    /// A session begins or continues.
    SessionStart(SessionSource),
    /// A session is over; the agent's word for why.
    SessionEnd(String),
    /// A person sent a prompt, perhaps with files whose content no tool call will fetch.
    Prompt {
        /// The words.
        text: String,
        /// Files sent along.
        files: Vec<String>,
    },
    /// The agent wants to stop.
    Stop(Stop),
    /// A subagent starts.
    SubagentStart {
        /// Its session.
        child: SessionKey,
        /// The kind of subagent, as the agent names it.
        agent_type: Option<String>,
    },
    /// The context is about to be compacted.
    Compaction,
    /// Known, and nothing to judge.
    Other,
}

/// Why a session event came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionSource {
    /// A new session.
    Startup,
    /// An earlier session continues: its state stays.
    Resume,
    /// The conversation was cleared.
    Clear,
    /// The context was compacted: state stays.
    Compact,
    /// A copy of an earlier session: state is copied.
    Fork,
    /// A word that Lictor does not know.
    Other(String),
}

impl SessionSource {
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "startup" | "new" | "" => Self::Startup,
            "resume" => Self::Resume,
            "clear" => Self::Clear,
            "compact" => Self::Compact,
            "fork" => Self::Fork,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// How much an agent may do without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionMode {
    /// Asks as configured.
    Default,
    /// Plans only.
    Plan,
    /// Edits files without asking.
    AcceptEdits,
    /// A classifier decides instead of a person.
    Auto,
    /// Refuses every action that it would have to ask for.
    DontAsk,
    /// Asks for nothing.
    Bypass,
    /// A word that Lictor does not know.
    Other(String),
}

impl PermissionMode {
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "default" => Self::Default,
            "plan" => Self::Plan,
            "acceptEdits" => Self::AcceptEdits,
            "auto" => Self::Auto,
            "dontAsk" => Self::DontAsk,
            "bypassPermissions" => Self::Bypass,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// The outcome of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether it succeeded, as far as the agent reports it.
    pub status: Status,
    /// The tool's result, in the agent's own format.
    pub output: Value,
}

/// Whether a tool call worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It did.
    Succeeded,
    /// It did not.
    Failed,
    /// Not reported. Never counts as success.
    Unknown,
}

/// An agent that wants to stop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stop {
    /// A subagent rather than the main agent.
    pub subagent: bool,
    /// The agent already continues because of a hook.
    pub hook_active: bool,
    /// Its last words.
    pub last_message: Option<String>,
    /// Work that runs in the background.
    pub background: Vec<String>,
    /// A person or an error ended the turn: sending the agent back would override them.
    pub aborted: bool,
}

/// A digest that is equal for one tool call seen through different hooks: tool names, tool-use ids and
/// directories are left out, because agents spell them differently.
#[must_use]
pub fn twin_digest(action: &Action) -> Digest {
    let session = action.session.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut payload = action.payload.clone();
    payload.remove("timeout");
    // Only if nothing else identifies the call. The server's name is not always sent.
    let tool = match action.kind {
        ActionKind::Tool => Tool::named(action.tool.strip_prefix("MCP:").unwrap_or(&action.tool)).name,
        _ => "",
    };
    Digest::of_parts([
        b"lictor twin 1".as_slice(),
        session.as_bytes(),
        action.kind.as_str().as_bytes(),
        tool.as_bytes(),
        &canonical::bytes(&Value::Object(payload)),
    ])
}

impl Event {
    /// The tool call that this event is about.
    #[must_use]
    pub fn action(&self) -> Option<&Action> {
        match &self.kind {
            EventKind::PreTool(action)
            | EventKind::PermissionRequest(action)
            | EventKind::PostTool(action, _) => Some(action),
            _ => None,
        }
    }
}
