//! Events of agents, in one format for all agents.

use lictor_core::{Action, ActionKind, Actor, Digest, SessionKey, canonical};
use serde_json::Value;

use crate::reply::HookContext;
use crate::tools::Tool;

/// One event of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Where the answer goes: which agent, which event, which forms of answer it has.
    pub slot: HookContext,
    /// The session it happened in. A subagent has a session of its own.
    pub session: Option<SessionKey>,
    /// The session that started this one.
    pub parent_session: Option<SessionKey>,
    /// For whom.
    pub actor: Actor,
    /// The directory that the agent is in. Empty when unknown.
    pub cwd: String,
    /// The file that the agent keeps the conversation in, if it says so.
    pub transcript: Option<String>,
    /// How freely the agent may act without asking, if it says so.
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
    /// A session begins or goes on.
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
        /// What kind of subagent, in the agent's words.
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
    /// An earlier session goes on: its state stays.
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

/// How freely an agent acts.
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
    /// Refuses whatever it would have to ask for.
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

/// What became of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether it worked, as far as the agent says.
    pub status: Status,
    /// What the tool gave back; its shape is the agent's affair.
    pub output: Value,
}

/// Whether a tool call worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It did.
    Succeeded,
    /// It did not.
    Failed,
    /// The agent does not say. Never counts as success.
    Unknown,
}

/// An agent that wants to stop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stop {
    /// A subagent rather than the main agent.
    pub subagent: bool,
    /// The agent is already going on because a hook told it to.
    pub hook_active: bool,
    /// Its last words.
    pub last_message: Option<String>,
    /// Work that goes on in the background.
    pub background: Vec<String>,
    /// A person or an error ended the turn: telling the agent to go on would be against their will.
    pub aborted: bool,
}

/// What two looks at one tool call have in common when they come through different hooks: another agent's
/// spelling of tool names, tool-use ids and directories is left out.
#[must_use]
pub fn twin_digest(action: &Action) -> Digest {
    let session = action.session.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut payload = action.payload.clone();
    payload.remove("timeout");
    // Only where nothing else says what is done. The server's name is not always sent.
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
