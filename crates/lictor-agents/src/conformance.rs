//! The same intent in every agent's format, for tests that drive a real hook.
//!
//! The data is `tests/intents.yaml`; its header describes the format.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent::Agent;

mod host;
mod schema;

pub use host::{Obeyed, obey};
pub use schema::{Accepts, accepts, schema, valid};

/// An action, and the expected decision of the `recommended` policy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Intent {
    /// Its name.
    pub id: String,
    /// The kind of action: `bash`, `read`, `write`, ….
    pub deed: String,
    /// The expected reply.
    pub expect: Expect,
    /// The command, the path, ….
    #[serde(flatten)]
    pub values: BTreeMap<String, String>,
}

/// An expected reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// Silence, or a remark.
    Pass,
    /// The action does not go ahead: a block, or a question to a person.
    Block,
    /// The same on every agent.
    Same,
}

/// An agent's input to its hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// The event, as on the hook's command line.
    pub event: String,
    /// The payload.
    pub payload: Map<String, Value>,
}

/// The intents and their formats for every agent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conformance {
    agents: BTreeMap<String, Spelling>,
    /// In the order of the file.
    pub intents: Vec<Intent>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spelling {
    event: String,
    base: Map<String, Value>,
    deeds: BTreeMap<String, Map<String, Value>>,
}

impl Conformance {
    /// Reads the data that comes with this crate.
    ///
    /// # Errors
    ///
    /// Data that is not as its head says.
    pub fn load() -> Result<Self, String> {
        serde_saphyr::from_str(include_str!("../tests/intents.yaml")).map_err(|error| error.to_string())
    }

    /// The agent's input for this intent, in a project at `cwd` of a person with the home directory `home`.
    /// `None` when its hooks see no such tool.
    #[must_use]
    pub fn send(&self, agent: Agent, intent: &Intent, cwd: &str, home: &str) -> Option<Sent> {
        let spelling = self.agents.get(agent.name())?;
        let mut payload = spelling.base.clone();
        payload.extend(spelling.deeds.get(&intent.deed)?.clone());
        let mut values: BTreeMap<&str, String> = intent
            .values
            .iter()
            .map(|(name, value)| (name.as_str(), value.replace("{cwd}", cwd).replace("{home}", home)))
            .collect();
        values.insert("cwd", cwd.to_owned());
        values.insert("id", format!("{}-{}", agent.name(), intent.id));
        let payload: Map<String, Value> =
            payload.into_iter().map(|(name, value)| (name, filled(value, &values))).collect();
        let own =
            ["hook_event_name", "agent_action_name"].iter().find_map(|name| payload.get(*name)?.as_str());
        Some(Sent { event: own.unwrap_or(&spelling.event).to_owned(), payload })
    }
}

fn filled(value: Value, values: &BTreeMap<&str, String>) -> Value {
    match value {
        Value::String(text) => Value::String(match text.rsplit_once('$') {
            Some((before, name)) => {
                values.get(name).map_or_else(|| text.clone(), |value| format!("{before}{value}"))
            }
            None => text,
        }),
        Value::Array(items) => items.into_iter().map(|item| filled(item, values)).collect(),
        Value::Object(mut map) if map.len() == 1 && map.contains_key("json") => {
            let inner = filled(map.remove("json").unwrap_or_default(), values);
            Value::String(inner.to_string())
        }
        Value::Object(map) => map.into_iter().map(|(name, value)| (name, filled(value, values))).collect(),
        other => other,
    }
}
