//! All that Lictor knows about one agent. Everything else about agents is derived from it: translation, `init`,
//! `doctor`, the files protected from the agent, the shell analysis of its program, help and docs.

use crate::agent::Agent;
use crate::contract::Row;
use crate::event::{EventKind, PermissionMode};
use crate::files::{At, GoverningFile};
use crate::input::{Fields, Unreadable};
use crate::install::Scope;
use crate::install::servers::ServerFile;
use crate::launch::Launch;
use crate::parse::{Context, HookEnv};
use crate::tools::ToolRow;
use crate::trust::Trust;

/// One agent.
pub(crate) struct AgentSpec {
    /// The name used on the command line, in policies and in session keys.
    pub(crate) name: &'static str,
    pub(crate) events: &'static [Row],
    pub(crate) tools: &'static [ToolRow],
    /// The event name in the payload, if there is one.
    pub(crate) event_name: fn(&Fields) -> Result<Option<&str>, Unreadable>,
    /// The session's id.
    pub(crate) session: fn(&Fields) -> Result<Option<&str>, Unreadable>,
    /// Turns one event of this agent into what happened. Most agents use [`crate::parse::common`].
    pub(crate) read: fn(&Context<'_>, &Fields) -> Result<EventKind, Unreadable>,
    /// Whether the event after a shell command means success, rather than just its end.
    pub(crate) post_means_success: bool,
    /// The tool with which it submits a structured final answer.
    pub(crate) answers_by: Option<&'static str>,
    /// Whether the event after a shell command carries its exit code.
    pub(crate) tells_exit_codes: bool,
    /// Whether a person will see a question that the hook asks in this mode.
    pub(crate) person_present: fn(Option<&PermissionMode>, &HookEnv) -> bool,
    /// The trust that it requires before it runs hooks.
    pub(crate) trust: Trust,
    /// Whether it runs hooks in the person's own shell, which may not be a POSIX one.
    pub(crate) any_shell: bool,
    /// Whether a failed hook stops the call by default.
    pub(crate) fails_closed: bool,
    /// Whether the call proceeds when the hook times out, even if the agent is set to fail closed.
    pub(crate) leaks: bool,
    /// Whether it can send input to a running command without a hook.
    pub(crate) types_unseen: bool,
    /// Whether its hooks do not see what the agents do that it starts.
    pub(crate) delegates_unseen: bool,
    /// The script that hosts its plugins, if that is a separate process that the agent starts.
    pub(crate) plugin_host: Option<&'static str>,
    /// Where it reads hooks, permissions and trust from.
    pub(crate) files: &'static [GoverningFile],
    /// Its settings files for MCP servers.
    pub(crate) servers: &'static [ServerFile],
    /// The file and the setting by which the machine's owner switches all hooks off but those of the machine.
    pub(crate) managed_only: Option<(&'static str, &'static str)>,
    /// Agents whose settings it reads too, in these scopes.
    pub(crate) also_reads: &'static [(Agent, &'static [Scope])],
    /// Files and directories whose presence shows that a person uses it.
    pub(crate) traces: &'static [(At, &'static str)],
    /// The directory, in a project or at home, that is its own.
    pub(crate) directory: Option<&'static str>,
    /// Other directories of its conversations below the home directory.
    pub(crate) state: &'static [&'static str],
    /// Programs, besides those of `launch`, that show on the search path that a person has it.
    pub(crate) editors: &'static [&'static str],
    /// How it is started from a command line, if that starts an agent and not an editor.
    pub(crate) launch: Option<Launch>,
    /// Steps for a person before it runs the hooks, and limits of its hooks.
    pub(crate) advice: &'static [&'static str],
}

impl AgentSpec {
    /// Claude Code's hook format, without questions to a person.
    pub(crate) const fn like_claude(
        name: &'static str,
        events: &'static [Row],
        tools: &'static [ToolRow],
    ) -> Self {
        Self {
            name,
            events,
            tools,
            event_name: |fields| fields.text(&["hook_event_name", "hookEventName"]),
            session: |fields| fields.text(&["session_id", "sessionId"]),
            read: crate::parse::common,
            post_means_success: false,
            answers_by: None,
            tells_exit_codes: false,
            person_present: |_, _| false,
            trust: Trust::AtStart,
            any_shell: false,
            fails_closed: false,
            leaks: false,
            types_unseen: false,
            delegates_unseen: false,
            plugin_host: None,
            files: &[],
            servers: &[],
            managed_only: None,
            also_reads: &[],
            traces: &[],
            directory: None,
            state: &[],
            editors: &[],
            launch: None,
            advice: &[],
        }
    }

    pub(crate) fn row(&self, name: &str) -> Option<&'static Row> {
        self.events.iter().find(|row| row.is_called(name))
    }
}
