//! The replies that each agent accepts: `tests/schemas/`, whose readme describes the format.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::agent::Agent;
use crate::reply::Rendered;

/// The replies that one event of one agent accepts. Anything else is not possible.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepts {
    /// The one that blocks.
    pub block: Option<Value>,
    /// The one that asks a person.
    pub ask: Option<Value>,
    /// The one that tells the agent something.
    pub tell: Option<Value>,
    /// Recorded answers that have to be accepted.
    #[serde(default)]
    pub samples: BTreeMap<String, Vec<String>>,
}

impl Accepts {
    /// Whether it is an answer at all: silence, or one of the forms.
    #[must_use]
    pub fn answer(&self, answer: &Rendered) -> bool {
        let forms = [&self.block, &self.ask, &self.tell];
        *answer == Rendered::default() || forms.into_iter().flatten().any(|form| valid(form, answer))
    }
}

/// The events of an agent, with what each accepts.
///
/// # Errors
///
/// Data that is not as its readme says.
pub fn schema(agent: Agent) -> Result<BTreeMap<String, Accepts>, String> {
    let file = format!("{}/tests/schemas/{agent}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    serde_saphyr::from_str(&text).map_err(|error| error.to_string())
}

/// Whether an answer has that form.
#[must_use]
pub fn valid(schema: &Value, answer: &Rendered) -> bool {
    if schema == "exit2" {
        return answer.exit == 2 && answer.stdout.is_empty() && !answer.stderr.trim().is_empty();
    }
    let Ok(value) = serde_json::from_str::<Value>(&answer.stdout) else { return false };
    if let Some(both) = schema.get("exit2") {
        return answer.exit == 2 && !answer.stderr.trim().is_empty() && accepts(both, &value);
    }
    answer.exit == 0 && answer.stderr.is_empty() && accepts(schema, &value)
}

/// Whether a JSON answer is what the schema describes.
#[must_use]
pub fn accepts(schema: &Value, answer: &Value) -> bool {
    match (schema, answer) {
        (Value::Object(keys), Value::Object(fields)) => {
            let known = |name: &str| keys.contains_key(name) || keys.contains_key(&format!("{name}?"));
            fields.keys().all(|name| known(name))
                && keys.iter().all(|(key, inner)| match key.strip_suffix('?') {
                    Some(name) => fields.get(name).is_none_or(|field| accepts(inner, field)),
                    None => fields.get(key).is_some_and(|field| accepts(inner, field)),
                })
        }
        (Value::Array(inner), Value::Array(items)) => match (inner.as_slice(), items.as_slice()) {
            ([inner], [item]) => accepts(inner, item),
            _ => false,
        },
        (Value::String(word), Value::String(text)) => match word.strip_prefix('=') {
            Some(word) => word == text,
            None => word == "text" && !text.trim().is_empty(),
        },
        (Value::Bool(a), Value::Bool(b)) => a == b,
        _ => false,
    }
}
