//! How an agent interprets a hook's reply, written from the agents' contracts and not from Lictor's replies.
//!
//! A simulation of the agents: it also covers replies that Lictor never gives.

use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::reply::Rendered;

/// The agent's next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obeyed {
    /// Goes on as if there were no hook.
    Proceeds,
    /// Proceeds, with a message.
    Told(String),
    /// Puts a question to a person.
    Asks(String),
    /// Does not perform the action, and knows the reason. For a stop event: continues working.
    Stopped(String),
}

/// How `agent` reacts to this result of its hook for `event`.
#[must_use]
pub fn obey(agent: Agent, event: &str, answer: &Rendered) -> Obeyed {
    let json = object(&answer.stdout);
    let fields = json.clone().unwrap_or_default();
    let stderr = answer.stderr.trim().to_owned();
    match agent {
        Agent::ClaudeCode => claude(event, answer.exit, &fields, stderr),
        Agent::Codex => codex(answer, json, stderr),
        Agent::GeminiCli => gemini(answer, json),
        Agent::Cursor => cursor(event, answer, json, stderr),
        Agent::CopilotCli => copilot(event, answer.exit, &fields, stderr),
        Agent::OpenCode | Agent::Kilo | Agent::Cline => opencode(answer, json, stderr),
        Agent::Antigravity => antigravity(event, answer, json),
        Agent::Windsurf if answer.exit == 2 && event.starts_with("pre_") => Obeyed::Stopped(stderr),
        Agent::Windsurf => Obeyed::Proceeds,
        // The shape that most agents took over. A code besides 0 and 2 is a failure that stops nothing.
        _ if answer.exit == 2 => Obeyed::Stopped(stderr),
        Agent::VsCode | Agent::Factory => claude_json(&fields),
        Agent::Goose => decided(&fields, "block"),
        Agent::Crush if answer.exit == 0 => decided(&fields, "deny"),
        _ if answer.exit != 0 => Obeyed::Proceeds,
        _ => claude_json(&fields),
    }
}

/// One field value stops, with the reason in another field.
fn decided(fields: &Map<String, Value>, stops: &str) -> Obeyed {
    match fields.get("decision") {
        Some(word) if word == stops => Obeyed::Stopped(said(text(fields, "reason"))),
        _ => Obeyed::Proceeds,
    }
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name)?.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

fn inner(fields: &Map<String, Value>, name: &str) -> Map<String, Value> {
    fields.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn said(reason: Option<String>) -> String {
    reason.unwrap_or_default()
}

fn claude(event: &str, exit: u8, fields: &Map<String, Value>, stderr: String) -> Obeyed {
    const DEAF: [&str; 14] = [
        "PermissionRequest",
        "SessionStart",
        "SessionEnd",
        "SubagentStart",
        "Setup",
        "Notification",
        "InstructionsLoaded",
        "MessageDisplay",
        "PermissionDenied",
        "StopFailure",
        "CwdChanged",
        "FileChanged",
        "DirectoryAdded",
        "PostCompact",
    ];
    match claude_json(fields) {
        Obeyed::Stopped(reason) => Obeyed::Stopped(reason),
        _ if exit == 2 && !DEAF.contains(&event) => Obeyed::Stopped(stderr),
        other => other,
    }
}

fn claude_json(fields: &Map<String, Value>) -> Obeyed {
    let specific = inner(fields, "hookSpecificOutput");
    let decision = inner(&specific, "decision");
    let word = |fields: &Map<String, Value>, name: &str| text(fields, name).unwrap_or_default();
    if fields.get("continue") == Some(&Value::Bool(false)) {
        return Obeyed::Stopped(word(fields, "stopReason"));
    }
    if word(&decision, "behavior") == "deny" {
        return Obeyed::Stopped(word(&decision, "message"));
    }
    for place in [fields, &specific] {
        if word(place, "decision") == "block" {
            return Obeyed::Stopped(word(place, "reason"));
        }
    }
    match word(&specific, "permissionDecision").as_str() {
        "deny" => Obeyed::Stopped(word(&specific, "permissionDecisionReason")),
        "ask" => Obeyed::Asks(word(&specific, "permissionDecisionReason")),
        _ => text(&specific, "additionalContext").map_or(Obeyed::Proceeds, Obeyed::Told),
    }
}

/// Anything that is not in the closed schema fails the run, and a failed run lets the action through.
fn codex(answer: &Rendered, json: Option<Map<String, Value>>, stderr: String) -> Obeyed {
    if answer.exit == 2 && !stderr.is_empty() {
        return Obeyed::Stopped(stderr);
    }
    let Some(fields) = json.filter(|_| answer.exit == 0) else { return Obeyed::Proceeds };
    let specific = inner(&fields, "hookSpecificOutput");
    let decision = inner(&specific, "decision");
    let known = |fields: &Map<String, Value>, names: &[&str]| {
        fields.keys().all(|name| names.contains(&name.as_str()))
    };
    let valid = known(&fields, &["decision", "reason", "systemMessage", "hookSpecificOutput"])
        && known(
            &specific,
            &[
                "hookEventName",
                "permissionDecision",
                "permissionDecisionReason",
                "additionalContext",
                "decision",
            ],
        )
        && known(&decision, &["behavior", "message"]);
    match claude_json(&fields) {
        _ if !valid => Obeyed::Proceeds,
        Obeyed::Stopped(reason) if reason.trim().is_empty() => Obeyed::Proceeds,
        Obeyed::Asks(_) => Obeyed::Proceeds,
        other => other,
    }
}

/// JSON decides whatever the exit code is; text with a code above one refuses; silence never does.
fn gemini(answer: &Rendered, json: Option<Map<String, Value>>) -> Obeyed {
    let output = if answer.stdout.trim().is_empty() { &answer.stderr } else { &answer.stdout };
    let Some(fields) = json.or_else(|| object(output)) else {
        let refuses = answer.exit > 1 && !output.trim().is_empty();
        return if refuses { Obeyed::Stopped(output.trim().to_owned()) } else { Obeyed::Proceeds };
    };
    match text(&fields, "decision").as_deref() {
        Some("deny" | "block") => Obeyed::Stopped(said(text(&fields, "reason"))),
        Some("ask") => Obeyed::Asks(said(text(&fields, "reason"))),
        _ => match claude_json(&fields) {
            Obeyed::Proceeds => text(&fields, "systemMessage").map_or(Obeyed::Proceeds, Obeyed::Told),
            other => other,
        },
    }
}

fn cursor(event: &str, answer: &Rendered, json: Option<Map<String, Value>>, stderr: String) -> Obeyed {
    if answer.exit == 2 {
        return Obeyed::Stopped(stderr);
    }
    if answer.exit != 0 || answer.stdout.trim().is_empty() {
        return Obeyed::Proceeds;
    }
    let permission = event == "preToolUse" || event.starts_with("before") || event == "subagentStart";
    let Some(fields) = json else {
        return if permission { Obeyed::Stopped("invalid output".to_owned()) } else { Obeyed::Proceeds };
    };
    let user = || said(text(&fields, "user_message"));
    match text(&fields, "permission").as_deref() {
        Some("deny") => return Obeyed::Stopped(user()),
        Some("ask") if event == "subagentStart" => return Obeyed::Stopped(user()),
        Some("ask") if ["beforeShellExecution", "beforeMCPExecution"].contains(&event) => {
            return Obeyed::Asks(user());
        }
        _ => {}
    }
    if fields.get("continue") == Some(&Value::Bool(false)) {
        return Obeyed::Stopped(user());
    }
    let follow_up = text(&fields, "followup_message").map(Obeyed::Stopped);
    follow_up.or_else(|| text(&fields, "additional_context").map(Obeyed::Told)).unwrap_or(Obeyed::Proceeds)
}

fn copilot(event: &str, exit: u8, fields: &Map<String, Value>, stderr: String) -> Obeyed {
    let refuses = match event {
        "preToolUse" => exit != 0,
        "permissionRequest" => exit == 2,
        _ => false,
    };
    if refuses {
        return Obeyed::Stopped(stderr);
    }
    let word = |name: &str| text(fields, name).unwrap_or_default();
    match (word("permissionDecision").as_str(), word("behavior").as_str(), word("decision").as_str()) {
        ("deny", ..) => Obeyed::Stopped(word("permissionDecisionReason")),
        ("ask", ..) => Obeyed::Asks(word("permissionDecisionReason")),
        (_, "deny", _) => Obeyed::Stopped(word("message")),
        (.., "block") => Obeyed::Stopped(word("reason")),
        _ => text(fields, "additionalContext").map_or(Obeyed::Proceeds, Obeyed::Told),
    }
}

/// As the plugin does.
fn opencode(answer: &Rendered, json: Option<Map<String, Value>>, stderr: String) -> Obeyed {
    if answer.exit != 0 {
        return Obeyed::Stopped(stderr);
    }
    if answer.stdout.trim().is_empty() {
        return Obeyed::Proceeds;
    }
    let Some(fields) = json else { return Obeyed::Stopped("the answer is not JSON".to_owned()) };
    match text(&fields, "decision").as_deref() {
        Some("block") => Obeyed::Stopped(said(text(&fields, "reason"))),
        _ => text(&fields, "additionalContext").map_or(Obeyed::Proceeds, Obeyed::Told),
    }
}

/// Silence proceeds; anything else that is not a clear word refuses.
fn antigravity(event: &str, answer: &Rendered, json: Option<Map<String, Value>>) -> Obeyed {
    let fields = json.unwrap_or_default();
    let reason = said(text(&fields, "reason"));
    let word = text(&fields, "decision").unwrap_or_default();
    match (event, word.as_str()) {
        ("PreToolUse", _) if answer.exit != 0 => Obeyed::Stopped(answer.stderr.trim().to_owned()),
        ("PreToolUse", _) if answer.stdout.trim().is_empty() => Obeyed::Proceeds,
        ("PreToolUse", "allow") => Obeyed::Proceeds,
        ("PreToolUse", "ask" | "force_ask") => Obeyed::Asks(reason),
        ("PreToolUse", _) | ("Stop", "continue") => Obeyed::Stopped(reason),
        _ => {
            let step =
                fields.get("injectSteps").and_then(|steps| steps.get(0)?.get("ephemeralMessage")?.as_str());
            step.map_or(Obeyed::Proceeds, |step| Obeyed::Told(step.to_owned()))
        }
    }
}
