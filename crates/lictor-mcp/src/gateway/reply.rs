//! What clients are told: refusals that models read, and results with a remark.

use serde_json::{Value, json};

use crate::message::Message;
use crate::poison;

/// A refusal is a result that the model reads, not an error of the protocol that it never sees.
pub(super) fn refusal(id: &Value, reason: &str, fix: &str, explained: Option<&str>) -> Message {
    let mut text = format!("Blocked by Lictor: {reason}");
    if !fix.is_empty() {
        text.push_str(&format!("\nHow to go on: {fix}"));
    }
    if let Some(id) = explained {
        text.push_str(&format!("\nMore: lictor explain {id}"));
    }
    Message::result(
        id,
        json!({
            "resultType": "complete",
            "isError": true,
            "content": [{"type": "text", "text": text}],
            "_meta": {"dev.lictor/decision": "block"},
        }),
    )
}

/// Why something that has changed is refused, and what a person does about it.
pub(super) fn changed(kind: &str, name: &str) -> (String, String) {
    (
        format!("the {kind} `{name}` is not what it was when it was accepted, or hides text"),
        "a person has to look at it: `lictor mcp pins diff`, then `lictor mcp pins accept`".to_owned(),
    )
}

/// The result with what the agent is told, refused where it hides text from people.
pub(super) fn checked(mut message: Message, told: &str) -> Message {
    let Some(Value::Object(result)) = message.0.get_mut("result") else { return message };
    let hides = poison::suspicions(&Value::Object(result.clone())).iter().any(poison::Suspicion::is_certain);
    if hides && let Some(id) = message.0.get("id") {
        let fix = "go on without this result; a person can look at the server";
        return refusal(&id.clone(), "the result has characters that people cannot see", fix, None);
    }
    if let Some(Value::Object(result)) = message.0.get_mut("result")
        && !told.is_empty()
        && let Some(Value::Array(content)) = result.get_mut("content")
    {
        content.push(json!({"type": "text", "text": told}));
    }
    message
}
