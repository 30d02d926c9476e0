//! What to do with tools nobody described.

use lictor_core::facts::{Effect, OpaqueWhat};
use lictor_core::{Action, Context, Decision, Guard, Layer, Verdict};
use serde::{Deserialize, Serialize};

/// Tools of agents that touch nothing outside the conversation: lists of things to do, questions, plans, mode switches.
const HARMLESS: [&str; 44] = [
    "TodoWrite",
    "TodoRead",
    "todo_write",
    "todo_read",
    "write_todos",
    "todowrite",
    "todoread",
    "update_todo",
    "manage_todo_list",
    "update_plan",
    "AskUserQuestion",
    "ask_user",
    "ask_followup_question",
    "ExitPlanMode",
    "EnterPlanMode",
    "exit_plan_mode",
    "enter_plan_mode",
    "Think",
    "think",
    "TaskList",
    "TaskGet",
    "TaskCreate",
    "TaskUpdate",
    "TaskOutput",
    "BashOutput",
    "KillShell",
    "KillBash",
    "TaskStop",
    "Skill",
    "SlashCommand",
    "ToolSearch",
    "ListMcpResources",
    "ListMcpResourcesTool",
    "web_search",
    "WebSearch",
    "google_web_search",
    "codebase_search",
    "save_memory",
    "read_lints",
    "get_errors",
    "report_intent",
    "attempt_completion",
    "StructuredOutput",
    "wait",
];

/// What `known_tools:` may say. Names may be globs (`mcp__github__get_*`).
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct KnownToolsConfig {
    /// Tools that may be used.
    pub known: Vec<String>,
    /// Tools that may not.
    pub blocked: Vec<String>,
    /// What every other tool gets. `ask` when it is not said.
    pub unknown: Option<Decision>,
}

/// Asks about tools that nobody described.
#[derive(Debug, Clone, Default)]
pub struct KnownTools {
    config: KnownToolsConfig,
}

impl KnownTools {
    /// A guard with these names.
    #[must_use]
    pub fn new(config: KnownToolsConfig) -> Self {
        Self { config }
    }

    fn judge(&self, action: &Action, name: &str, described: bool) -> Verdict {
        let full = if action.tool.is_empty() { name } else { action.tool.as_str() };
        let fits = |globs: &[String]| globs.iter().any(|glob| fast_glob::glob_match(glob, full));
        if fits(&self.config.blocked) {
            return Verdict::block(
                format!("the tool `{full}` is blocked by this policy"),
                "use another tool",
            );
        }
        if described || HARMLESS.contains(&full) || HARMLESS.contains(&name) || fits(&self.config.known) {
            return Verdict::pass();
        }
        Verdict::of(
            self.config.unknown.unwrap_or(Decision::Ask).into(),
            format!("nobody has said what the tool `{full}` does"),
            "use a built-in tool, or let a person add the tool to `known_tools`",
        )
    }
}

impl Guard for KnownTools {
    fn name(&self) -> &str {
        "known_tools"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let facts = context.facts();
        let unclear = facts.opaque.iter().any(|opaque| opaque.what == OpaqueWhat::Tool);
        // A tool whose whole effect is on files and commands is described by them.
        let shown = facts.effects.iter().any(|effect| matches!(effect, Effect::File { .. } | Effect::Run(_)));
        let tool = facts.effects.iter().find_map(|effect| match effect {
            Effect::Tool { name, .. } => Some(name.as_str()),
            _ => None,
        });
        tool.map_or_else(Verdict::pass, |name| self.judge(action, name, shown && !unclear))
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

#[cfg(test)]
mod tests;
