//! Detects the agent that really called.
//!
//! Cursor, Copilot CLI and VS Code run hooks that were installed for Claude Code, and VS Code those of Copilot
//! CLI too. They send their own payloads and interpret replies in their own way, so the caller's contract applies
//! and not that of the settings file.

use crate::agent::Agent;
use crate::input::Fields;
use crate::parse::HookEnv;

/// The agent that sent these fields to a hook installed for `installed`.
pub(crate) fn detect(installed: Agent, hint: Option<&str>, fields: &Fields, env: &HookEnv) -> Agent {
    let shared = [Agent::ClaudeCode, Agent::CopilotCli, Agent::VsCode, Agent::Cursor];
    if !shared.contains(&installed) {
        return installed;
    }
    if fields.has("cursor_version") || (fields.has("conversation_id") && fields.has("workspace_roots")) {
        return Agent::Cursor;
    }
    // Copilot's own spelling.
    if fields.has("sessionId")
        && (fields.has("timestamp") || fields.has("toolName") || fields.has("hookName"))
    {
        return Agent::CopilotCli;
    }
    // Claude Code sends no time; Copilot CLI and VS Code do, in the same words but for a few fields.
    if fields.has("timestamp") && fields.has("hook_event_name") {
        let copilot = ["tool_result", "stop_reason", "agent_name"].iter().any(|name| fields.has(name));
        let vscode = ["tool_use_id", "tool_response"].iter().any(|name| fields.has(name));
        return match (copilot, vscode) {
            (true, false) => Agent::CopilotCli,
            (false, true) => Agent::VsCode,
            _ if env.is_set("COPILOT_CLI") => Agent::CopilotCli,
            // A tool call without an id is not VS Code's.
            _ if fields.has("tool_name") => Agent::CopilotCli,
            // A hook under a name that begins small would be sent Copilot's small names.
            _ if installed == Agent::CopilotCli && !hint.is_some_and(begins_small) => Agent::CopilotCli,
            _ => Agent::VsCode,
        };
    }
    installed
}

fn begins_small(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
}
