//! The four model APIs, as far as the agents use them.

use serde_json::{Value, json};

use super::server::{Act, Turn};
use super::spec::Api;

/// Whether the path is the one that asks the model.
pub fn is_question(api: Api, path: &str) -> bool {
    match api {
        Api::Messages => path.contains("/v1/messages") && !path.contains("count_tokens"),
        Api::Responses => path.contains("/responses"),
        Api::Chat => path.contains("/chat/completions"),
        Api::Gemini => path.to_ascii_lowercase().contains("generatecontent"),
    }
}

/// Whether the question is the agent's main one: titles and summaries are asked for without tools.
pub fn has_tools(api: Api, body: &Value) -> bool {
    let tools = body.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    match api {
        Api::Gemini => tools.iter().any(|tool| tool.get("functionDeclarations").is_some()),
        Api::Messages => tools.iter().any(|tool| tool.get("name").is_some_and(|name| name == "Bash")),
        Api::Responses | Api::Chat => !tools.is_empty(),
    }
}

/// What is said to a question without tools.
pub fn side_answer(api: Api, body: &Value) -> &'static str {
    let wants_json =
        body.pointer("/generationConfig/responseMimeType").is_some_and(|kind| kind == "application/json");
    match api {
        Api::Gemini if wants_json => {
            r#"{"reasoning": "x", "next_speaker": "user", "model_choice": "flash", "complexity_score": 10, "complexity_reasoning": "x"}"#
        }
        _ => "ok",
    }
}

/// Anything else that an agent asks for at its start.
pub fn other(api: Api, path: &str) -> (u16, &'static str, String) {
    let body = match api {
        Api::Messages if path.contains("count_tokens") => json!({"input_tokens": 10}),
        Api::Gemini if path.contains("countTokens") => json!({"totalTokens": 5}),
        Api::Gemini => json!({"models": []}),
        Api::Responses | Api::Chat if path.contains("models") => {
            json!({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})
        }
        _ => return (404, "application/json", "{}".to_owned()),
    };
    (200, "application/json", body.to_string())
}

/// The turn in the API's words.
///
/// Where the conversation is long, the model says that it has read as many tokens as that.
pub fn reply(api: Api, path: &str, body: &Value, turn: &Turn, long: u64) -> (u16, &'static str, String) {
    match api {
        Api::Messages => messages(body, turn),
        Api::Responses => responses(turn),
        Api::Chat => chat(body, turn, long),
        Api::Gemini => gemini(path, turn),
    }
}

fn event(text: &mut String, kind: &str, mut data: Value) {
    data["type"] = json!(kind);
    text.push_str(&format!("event: {kind}\ndata: {data}\n\n"));
}

fn messages(body: &Value, turn: &Turn) -> (u16, &'static str, String) {
    let blocks: Vec<Value> = turn
        .iter()
        .map(|act| match act {
            Act::Say(text) => json!({"type": "text", "text": text}),
            Act::Call { id, name, input } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        })
        .collect();
    let calls = turn.iter().any(|act| matches!(act, Act::Call { .. }));
    let reason = if calls { "tool_use" } else { "end_turn" };
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "content": blocks,
        "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    });
    if body.get("stream") != Some(&Value::Bool(true)) {
        return (200, "application/json", message.to_string());
    }
    let mut text = String::new();
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    event(&mut text, "message_start", json!({"message": start}));
    for (index, block) in blocks.iter().enumerate() {
        let (begin, delta) = if block["type"] == "text" {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]}))
        } else {
            let mut begin = block.clone();
            begin["input"] = json!({});
            (begin, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
        };
        event(&mut text, "content_block_start", json!({"index": index, "content_block": begin}));
        event(&mut text, "content_block_delta", json!({"index": index, "delta": delta}));
        event(&mut text, "content_block_stop", json!({"index": index}));
    }
    event(
        &mut text,
        "message_delta",
        json!({"delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 5}}),
    );
    event(&mut text, "message_stop", json!({}));
    (200, "text/event-stream", text)
}

fn responses(turn: &Turn) -> (u16, &'static str, String) {
    let items: Vec<Value> = turn
        .iter()
        .map(|act| match act {
            Act::Say(text) => json!({
                "type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": text}]
            }),
            Act::Call { id, name, input } => match input {
                // A tool that takes text as it is.
                Value::String(text) => {
                    json!({"type": "custom_tool_call", "call_id": id, "name": name, "input": text})
                }
                input => {
                    let call = json!({
                        "type": "function_call", "call_id": id, "name": name, "arguments": input.to_string()
                    });
                    in_namespace(call, name)
                }
            },
        })
        .collect();
    let mut text = String::new();
    event(&mut text, "response.created", json!({"response": {"id": "r"}}));
    for (index, item) in items.iter().enumerate() {
        event(&mut text, "response.output_item.done", json!({"output_index": index, "item": item}));
    }
    let usage = json!({
        "input_tokens": 1, "input_tokens_details": null, "output_tokens": 1, "output_tokens_details": null, "total_tokens": 2
    });
    event(&mut text, "response.completed", json!({"response": {"id": "r", "output": items, "usage": usage}}));
    (200, "text/event-stream", text)
}

fn chat(body: &Value, turn: &Turn, long: u64) -> (u16, &'static str, String) {
    let said: Vec<&str> = turn
        .iter()
        .filter_map(|act| match act {
            Act::Say(text) => Some(text.as_str()),
            Act::Call { .. } => None,
        })
        .collect();
    let calls: Vec<Value> = turn
        .iter()
        .filter_map(|act| match act {
            Act::Call { id, name, input } => Some(json!({
                "id": id, "type": "function", "function": {"name": name, "arguments": input.to_string()}
            })),
            Act::Say(_) => None,
        })
        .collect();
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    let read = long.max(1);
    let usage = json!({"prompt_tokens": read, "completion_tokens": 1, "total_tokens": read + 1});
    if body.get("stream") != Some(&Value::Bool(true)) {
        let mut message = json!({"role": "assistant", "content": said.join("\n")});
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        let answer = json!({
            "id": "c", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage
        });
        return (200, "application/json", answer.to_string());
    }
    let mut text = String::new();
    let mut chunk = |delta: Value, finish: Option<&str>| {
        let chunk = json!({
            "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            "usage": finish.map(|_| usage.clone())
        });
        text.push_str(&format!("data: {chunk}\n\n"));
    };
    chunk(json!({"role": "assistant", "content": said.join("\n")}), None);
    for (index, mut call) in calls.into_iter().enumerate() {
        call["index"] = json!(index);
        chunk(json!({"tool_calls": [call]}), None);
    }
    chunk(json!({}), Some(reason));
    text.push_str("data: [DONE]\n\n");
    (200, "text/event-stream", text)
}

fn gemini(path: &str, turn: &Turn) -> (u16, &'static str, String) {
    let parts: Vec<Value> = turn
        .iter()
        .map(|act| match act {
            Act::Say(text) => json!({"text": text}),
            Act::Call { id, name, input } => json!({"functionCall": {"id": id, "name": name, "args": input}}),
        })
        .collect();
    let answer = json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    });
    if path.to_ascii_lowercase().contains("stream") {
        return (200, "text/event-stream", format!("data: {answer}\r\n\r\n"));
    }
    (200, "application/json", answer.to_string())
}

/// A tool of a namespace is called by both names: `mcp__files/write_file`.
fn in_namespace(mut call: Value, name: &str) -> Value {
    if let Some((namespace, name)) = name.split_once('/') {
        call["namespace"] = json!(namespace);
        call["name"] = json!(name);
    }
    call
}

/// What the model has been told since the person's prompt: results of its calls and words put in by hooks. System
/// prompts are the agent's.
pub fn told(api: Api, request: &Value) -> Vec<String> {
    let list = match api {
        Api::Messages | Api::Chat => "messages",
        Api::Responses => "input",
        Api::Gemini => "contents",
    };
    let mut texts = Vec::new();
    for (at, message) in request.get(list).and_then(Value::as_array).into_iter().flatten().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let kind = message.get("type").and_then(Value::as_str).unwrap_or_default();
        // The first is the agent's own prompt; later ones carry what hooks say.
        let by_model = matches!(role, "assistant" | "model")
            || (at, role) == (0, "system")
            || matches!(kind, "function_call" | "custom_tool_call" | "reasoning");
        if !by_model {
            strings(message, &mut texts);
        }
    }
    texts
}

fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(fields) => {
            let inner = fields.iter().filter(|(name, _)| {
                !matches!(
                    name.as_str(),
                    "role" | "type" | "id" | "tool_use_id" | "tool_call_id" | "call_id" | "name"
                )
            });
            inner.for_each(|(_, item)| strings(item, into));
        }
        _ => {}
    }
}
