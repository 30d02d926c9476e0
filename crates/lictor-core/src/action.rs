//! What an agent wants to do, and on whose behalf.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::canonical;
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::fixable::Fixable;
use crate::text::visible_line;

/// The kind of an action. Agents' tool names map to these; an unknown name becomes [`ActionKind::Other`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActionKind {
    /// Reads files: `payload.path` (or `paths`).
    Read,
    /// Writes files: `payload.path`, optionally `content`, `old`, `new`, `patch`.
    Write,
    /// Runs a shell command: `payload.command`.
    Bash,
    /// Runs code: `payload.language`, `payload.code`.
    ExecuteCode,
    /// Submits a task: `task_type` and the fields that the task needs.
    SubmitTask,
    /// Fetches from the network: `payload.url`.
    Fetch,
    /// Uses a tool that is none of the above: `payload` is the tool's input.
    Tool,
    /// Starts another agent.
    Delegate,
    /// Anything else. Never "not applicable": unknown kinds ask or block by default.
    Other(String),
}

impl ActionKind {
    /// The name used in policies, logs and on the command line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Bash => "bash",
            Self::ExecuteCode => "execute_code",
            Self::SubmitTask => "submit_task",
            Self::Fetch => "fetch",
            Self::Tool => "tool",
            Self::Delegate => "delegate",
            Self::Other(name) => name,
        }
    }

    /// The kind with this name; [`ActionKind::Other`] when the name is unknown.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "read" => Self::Read,
            "write" => Self::Write,
            "bash" => Self::Bash,
            "execute_code" => Self::ExecuteCode,
            "submit_task" => Self::SubmitTask,
            "fetch" => Self::Fetch,
            "tool" => Self::Tool,
            "delegate" => Self::Delegate,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ActionKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ActionKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_name(&std::borrow::Cow::<str>::deserialize(deserializer)?))
    }
}

/// The person and the agent on whose behalf an action happens.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Actor {
    /// The organisation, where one installation serves several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The person's address when the action was judged. It is kept so that the record names people whose account
    /// is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The person's role. It comes from an identity provider such as the server, never from the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What the person may do, from the same source. `None` when no source was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// The person's groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The agent program (`claude-code`, `codex`, …). Empty when a library user did not set it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// Main agent first, then each subagent that was started by the one before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<String>,
}

/// How an action was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// A person works with the agent.
    Interactive,
    /// An agent was started by another one.
    Subagent,
    /// No person watches: a job or a schedule.
    Background,
    /// A program called the API.
    Api,
}

impl Tier {
    /// All tiers with their names.
    pub const ALL: [(&str, Self); 4] = [
        ("interactive", Self::Interactive),
        ("subagent", Self::Subagent),
        ("background", Self::Background),
        ("api", Self::Api),
    ];

    /// The tier's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Subagent => "subagent",
            Self::Background => "background",
            Self::Api => "api",
        }
    }
}

/// Identifies a session. Session ids of different agents may collide, so the agent is part of the key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionKey {
    /// The agent program.
    pub agent: String,
    /// The agent's own id. Opaque; never used as a file name.
    pub id: String,
}

impl SessionKey {
    /// The agent name that a server uses for the accounts of a tenant and its people.
    pub const ACCOUNT: &str = "account";

    /// The account of a person: the parent of all their sessions. It begins with their first action and never
    /// ends.
    #[must_use]
    pub fn account(owner: impl Into<String>) -> Self {
        Self { agent: Self::ACCOUNT.to_owned(), id: owner.into() }
    }

    /// The account of a tenant, above those of its people. No person can have this name.
    #[must_use]
    pub fn tenant_account() -> Self {
        Self { agent: Self::ACCOUNT.to_owned(), id: "*".to_owned() }
    }

    /// Whether this is an account. No agent works in an account.
    #[must_use]
    pub fn is_account(&self) -> bool {
        self.agent == Self::ACCOUNT
    }
}

/// The longest session id that is accepted.
pub const MAX_SESSION_ID: usize = 256;

/// Escapes control characters: an id is text from an agent or a program, and must not look like other output.
impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = visible_line(&self.id);
        if self.agent.is_empty() { f.write_str(&id) } else { write!(f, "{}:{id}", visible_line(&self.agent)) }
    }
}

/// What an agent wants to do. Immutable once evaluation starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The kind of action.
    pub kind: ActionKind,
    /// The agent's own name for the tool (`Bash`, `mcp__github__create_issue`).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The tool's input.
    #[serde(default)]
    pub payload: Map<String, Value>,
    /// The task type, for `submit_task` and for routing: `deploy`, `release`, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The session, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionKey>,
    /// The session that started this one, for subagents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<SessionKey>,
    /// The agent's id for this one call. Not part of the digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Absolute directory that the action happens in. Empty when unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// On whose behalf.
    #[serde(default)]
    pub actor: Actor,
    /// How it was started, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// When the agent requested it. Not part of the digest.
    #[serde(default)]
    pub at: Timestamp,
}

impl Action {
    /// An action with this kind and payload and no other fields.
    #[must_use]
    pub fn new(kind: ActionKind, payload: Map<String, Value>) -> Self {
        Self {
            kind,
            tool: String::new(),
            payload,
            task_type: None,
            session: None,
            parent_session: None,
            tool_use_id: None,
            cwd: String::new(),
            actor: Actor::default(),
            tier: None,
            at: Timestamp::default(),
        }
    }

    /// The tier that rules apply: the stated one; otherwise that of a subagent or of a main agent, so that rows of a tier
    /// cannot be avoided by stating none.
    #[must_use]
    pub fn effective_tier(&self) -> Tier {
        let delegated = self.parent_session.as_ref().is_some_and(|above| !above.is_account());
        let known = if delegated || self.actor.chain.len() > 1 { Tier::Subagent } else { Tier::Interactive };
        self.tier.unwrap_or(known)
    }

    /// A shell command.
    #[must_use]
    pub fn bash(command: impl Into<String>) -> Self {
        Self::new(ActionKind::Bash, one("command", command.into()))
    }

    /// Reading one file.
    #[must_use]
    pub fn read(path: impl Into<String>) -> Self {
        Self::new(ActionKind::Read, one("path", path.into()))
    }

    /// Writing one file.
    #[must_use]
    pub fn write(path: impl Into<String>) -> Self {
        Self::new(ActionKind::Write, one("path", path.into()))
    }

    /// Submitting a task of this type.
    #[must_use]
    pub fn task(task_type: impl Into<String>) -> Self {
        let mut action = Self::new(ActionKind::SubmitTask, Map::new());
        action.task_type = Some(task_type.into());
        action
    }

    /// The same action in the session with this id.
    #[must_use]
    pub fn in_session(mut self, id: impl Into<String>) -> Self {
        self.session = Some(SessionKey { agent: self.actor.agent.clone(), id: id.into() });
        self
    }

    /// The same action by this agent. Updates the session key too.
    #[must_use]
    pub fn by_agent(mut self, agent: impl Into<String>) -> Self {
        self.actor.agent = agent.into();
        if let Some(session) = &mut self.session {
            session.agent.clone_from(&self.actor.agent);
        }
        self
    }

    /// The same action in this directory.
    #[must_use]
    pub fn in_dir(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// A text field of the payload.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.payload.get(field).and_then(Value::as_str)
    }

    /// Checks that the action has the fields that its kind needs. An incomplete action cannot be judged.
    ///
    /// # Errors
    /// The first field that is missing or out of bounds.
    pub fn validate(&self) -> Result<(), ActionError> {
        // One of these is required: a patch names its own files, a web search its own query.
        let needed: &[&'static str] = match &self.kind {
            ActionKind::Bash => &["command"],
            ActionKind::ExecuteCode => &["code"],
            ActionKind::Fetch => &["url", "query"],
            ActionKind::Read if !self.payload.contains_key("paths") => &["path", "file_path"],
            ActionKind::Write if !self.payload.contains_key("paths") => &["path", "file_path", "patch"],
            _ => &[],
        };
        let there = |field: &&str| self.text(field).is_some_and(|text| !text.is_empty());
        if let Some(field) = needed.first()
            && !needed.iter().any(there)
        {
            return Err(ActionError::Missing { kind: self.kind.to_string(), field });
        }
        if self.kind.as_str().is_empty() {
            return Err(ActionError::NoKind);
        }
        for session in [&self.session, &self.parent_session].into_iter().flatten() {
            if session.id.is_empty() || session.id.len() > MAX_SESSION_ID {
                return Err(ActionError::SessionId { limit: MAX_SESSION_ID });
            }
        }
        if self.session.is_some() && self.session == self.parent_session {
            return Err(ActionError::OwnParent);
        }
        Ok(())
    }

    /// The digest of the action. It covers kind, tool, task type, canonical payload, cwd, actor and session. It
    /// does not cover tool-use id, time and permission mode.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let payload = canonical::object_bytes(&self.payload);
        let actor =
            serde_json::to_value(&self.actor).map(|value| canonical::bytes(&value)).unwrap_or_default();
        let parts = [
            b"lictor action 1".as_slice(),
            self.kind.as_str().as_bytes(),
            self.tool.as_bytes(),
            self.task_type.as_deref().unwrap_or("").as_bytes(),
            &payload,
            self.cwd.as_bytes(),
            &actor,
        ];
        Digest::of_parts(parts.into_iter().chain(self.tier.map(|tier| tier.as_str().as_bytes())))
    }
}

/// Why an action cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// The payload lacks a field that every action of this kind has.
    #[error("a `{kind}` action needs the text field `{field}` in its payload")]
    Missing {
        /// The kind.
        kind: String,
        /// The missing field.
        field: &'static str,
    },
    /// The kind is empty.
    #[error("the action has no kind; say what it does, for example `bash`")]
    NoKind,
    /// A session id that is empty or too long.
    #[error("a session id must have 1 to {limit} bytes")]
    SessionId {
        /// The limit in bytes.
        limit: usize,
    },
    /// The session names itself as its parent.
    #[error("a session cannot be its own parent; leave `parent_session` out for a main session")]
    OwnParent,
}

impl ActionError {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Missing { .. } => ("missing", "add the field to the payload"),
            Self::NoKind => ("no_kind", "name a kind, for example `bash`"),
            Self::SessionId { .. } => ("session_id", "give a short session id, or none"),
            Self::OwnParent => ("own_parent", "leave the parent out for a main session"),
        }
    }
}

impl Fixable for ActionError {
    fn kind(&self) -> &'static str {
        self.words().0
    }

    fn fix(&self) -> &'static str {
        self.words().1
    }
}

fn one(key: &str, value: String) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert(key.to_owned(), Value::String(value));
    map
}
