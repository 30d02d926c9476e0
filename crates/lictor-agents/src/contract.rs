//! An agent's hook contract as a table: its events, and what a reply to each can do.
//!
//! A decision that an event does not support cannot be expressed: rendering only knows the forms of the row.

/// One event of one agent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The agent's own name for it.
    pub(crate) name: &'static str,
    /// Other spellings: older versions, or another agent's hooks read by this one.
    pub(crate) also: &'static [&'static str],
    pub(crate) moment: Moment,
    pub(crate) block: BlockForm,
    pub(crate) ask: AskForm,
    pub(crate) tell: TellForm,
}

impl Row {
    pub(crate) const fn new(name: &'static str, moment: Moment) -> Self {
        Self {
            name,
            also: &[],
            moment,
            block: BlockForm::Impossible,
            ask: AskForm::Impossible,
            tell: TellForm::Impossible,
        }
    }

    pub(crate) const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    pub(crate) const fn blocks(self, block: BlockForm) -> Self {
        Self { block, ..self }
    }

    pub(crate) const fn asks(self, ask: AskForm) -> Self {
        Self { ask, ..self }
    }

    pub(crate) const fn tells(self, tell: TellForm) -> Self {
        Self { tell, ..self }
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also.contains(&name)
    }
}

/// An unknown event may be one that can block. Exit code 2 with a reason on stderr stops the action on every
/// agent that runs hooks as processes, and the OpenCode plugin obeys it too.
pub(crate) static UNKNOWN: Row = Row::new("", Moment::Unknown).blocks(BlockForm::ExitTwo);

/// When in an agent's life an event comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    /// Before a tool runs.
    PreTool,
    /// When the agent is about to ask a person for permission.
    PermissionRequest,
    /// After a tool ran.
    PostTool,
    /// A session begins, is resumed, forked, cleared or compacted.
    SessionStart,
    /// A session is over.
    SessionEnd,
    /// A person sent a prompt.
    Prompt,
    /// The main agent wants to stop.
    Stop,
    /// A subagent wants to stop.
    SubagentStop,
    /// A subagent starts.
    SubagentStart,
    /// The context is about to be compacted.
    Compaction,
    /// An event that Lictor knows and does not judge.
    Other,
    /// An event that Lictor does not know.
    Unknown,
}

/// The form of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockForm {
    /// Nothing can be stopped here: it already happened, or the agent ignores the answer.
    Impossible,
    /// `{"hookSpecificOutput": {"hookEventName", "permissionDecision": "deny", "permissionDecisionReason"}}`
    PermissionDecision,
    /// `{"hookSpecificOutput": {"hookEventName", "decision": {"behavior": "deny", "message"}}}`
    Behavior,
    /// `{"decision": <word>, "reason"}`
    Decision(&'static str),
    /// `{"hookSpecificOutput": {"hookEventName", "decision": "block", "reason"}}`
    NestedDecision,
    /// `{"permissionDecision": "deny", "permissionDecisionReason"}`
    TopPermissionDecision,
    /// `{"behavior": "deny", "message"}`
    TopBehavior,
    /// `{"permission": "deny", "user_message", "agent_message"}`
    Permission,
    /// `{"permission": "deny", "user_message"}`
    PermissionForUser,
    /// `{"continue": false, "stopReason"}`
    Halt,
    /// `{"continue": false, "user_message"}`
    Refuse,
    /// `{"followup_message"}`
    FollowUp,
    /// No output, exit code 2, the reason on stderr.
    ExitTwo,
    /// As [`BlockForm::PermissionDecision`] and as [`BlockForm::ExitTwo`] at once, for an agent that stops on the
    /// exit code and takes the reason from the output if there is one.
    PermissionDecisionExitTwo,
}

/// The form of a question to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskForm {
    /// The agent has no way to ask here.
    Impossible,
    /// As [`BlockForm::PermissionDecision`], with `"ask"`.
    PermissionDecision,
    /// As [`BlockForm::TopPermissionDecision`], with `"ask"`.
    TopPermissionDecision,
    /// As [`BlockForm::Permission`], with `"ask"`.
    Permission,
}

/// The form of a remark for the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TellForm {
    /// The agent accepts no message here.
    Impossible,
    /// `{"hookSpecificOutput": {"hookEventName", "additionalContext"}}`
    AdditionalContext,
    /// `{"additionalContext"}`
    TopAdditionalContext,
    /// `{"additional_context"}`
    SnakeContext,
    /// `{"systemMessage"}`: the person sees it, the model does not.
    SystemMessage,
    /// `{"injectSteps": [{"ephemeralMessage"}]}`
    InjectSteps,
}
