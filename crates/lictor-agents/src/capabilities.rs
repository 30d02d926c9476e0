//! What Lictor can do on each agent, derived from its specification.

use crate::agent::Agent;
use crate::contract::{AskForm, BlockForm, Moment, TellForm};
use crate::files::{At, HomeDir, Os, Role};
use crate::install::{Form, Scope};

/// What hooks of one agent can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// A tool call can be stopped before it runs.
    pub block: bool,
    /// A person can be asked by the agent itself.
    pub ask: bool,
    /// A prompt can be refused.
    pub prompt: bool,
    /// The model can get feedback after a tool call.
    pub feedback: bool,
    /// The agent can be sent back when it wants to stop.
    pub stop: bool,
    /// A subagent can be sent back when it wants to stop.
    pub subagents: bool,
    /// A hook that fails in any way stops the call, because `lictor init` tells the agent so or because it always does.
    pub fails_closed: bool,
    /// The agent reports exit statuses, so that a rule can depend on success.
    pub exit_codes: bool,
    /// The hooks can be in the machine's settings, which the person's account cannot change.
    pub managed: bool,
}

impl Agent {
    /// What hooks can do on this agent.
    #[must_use]
    pub fn capabilities(self) -> Capabilities {
        let spec = self.spec();
        let at = |moment: Moment| spec.events.iter().filter(move |row| row.moment == moment);
        let blocks = |moment: Moment| at(moment).any(|row| row.block != BlockForm::Impossible);
        let told = |tell: TellForm| !matches!(tell, TellForm::Impossible | TellForm::SystemMessage);
        Capabilities {
            block: blocks(Moment::PreTool),
            ask: at(Moment::PreTool).any(|row| row.ask != AskForm::Impossible),
            prompt: blocks(Moment::Prompt),
            feedback: at(Moment::PostTool).any(|row| told(row.tell)),
            stop: blocks(Moment::Stop),
            subagents: blocks(Moment::SubagentStop),
            fails_closed: !spec.leaks && (spec.fails_closed || self.installs_closed()),
            exit_codes: spec.post_means_success || spec.tells_exit_codes,
            managed: spec
                .files
                .iter()
                .any(|file| file.scope == Scope::Managed && matches!(file.role, Role::Installs(_))),
        }
    }

    /// Whether an entry before a tool call tells the agent to stop the call when the hook fails.
    fn installs_closed(self) -> bool {
        self.spec().files.iter().any(|file| match file.role {
            Role::Installs(Form::Json(layout)) => layout.says_fail_closed,
            // The plugin refuses what it could not ask about.
            Role::Installs(Form::Plugin(..)) => true,
            _ => false,
        })
    }

    /// Whether it can send input to a running command without a hook.
    #[must_use]
    pub fn types_unseen(self) -> bool {
        self.spec().types_unseen
    }

    /// Whether its hooks do not see what the agents do that it starts.
    #[must_use]
    pub fn delegates_unseen(self) -> bool {
        self.spec().delegates_unseen
    }

    /// Where `lictor init` puts the hooks in that scope, as docs write it: `~` for the home directory.
    #[must_use]
    pub fn documented_path(self, scope: Scope) -> Option<String> {
        let on_this_system = |at: At| at != At::Machine(Os::Mac);
        let mut files =
            self.spec().files.iter().filter(|file| file.scope == scope && on_this_system(file.at));
        let file = files.find(|file| matches!(file.role, Role::Installs(_)))?;
        Some(match file.at {
            At::Home(HomeDir { default: "", .. }) => format!("~/{}", file.path),
            At::Home(directory) => format!("~/{}/{}", directory.default, file.path),
            _ => file.path.to_owned(),
        })
    }
}
