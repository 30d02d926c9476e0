//! Lists of tools, prompts and resources: compared with their pins, filtered, and never cached.

use serde_json::{Value, json};

use super::{Gateway, Listing, Out};
use crate::message::Message;
use crate::pins::{PinError, Standing};
use crate::poison;

/// A list that clients ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    pub(super) fn of(method: &str) -> Option<Self> {
        [Self::Tools, Self::Prompts, Self::Resources, Self::Templates]
            .into_iter()
            .find(|list| list.method() == method)
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
        }
    }

    fn field(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// The kind in the keys of pins; resources are data, not definitions.
    fn pinned_as(self) -> Option<&'static str> {
        match self {
            Self::Tools => Some("tool"),
            Self::Prompts => Some("prompt"),
            Self::Resources | Self::Templates => None,
        }
    }
}

impl Gateway {
    /// A list for the client: without what is quarantined or hides text.
    pub(super) fn listed(&mut self, list: List, mut message: Message) -> Message {
        let Some(Value::Object(result)) = message.0.get_mut("result") else { return message };
        let items = match result.remove(list.field()) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        // Without pins nothing can be told from what it was, so nothing is offered.
        let kept = self.sorted_out(list, items).unwrap_or_default();
        result.insert(list.field().to_owned(), Value::Array(kept));
        result.insert("ttlMs".to_owned(), json!(0));
        result.insert("cacheScope".to_owned(), json!("private"));
        message
    }

    /// A list that the gateway asked for itself.
    pub(super) fn learned(&mut self, list: List, message: Message) -> Vec<Out> {
        let result = message.0.get("result").and_then(Value::as_object);
        let items = result.and_then(|result| result.get(list.field())).and_then(Value::as_array);
        // A server without prompts answers with an error, which is a list of none.
        let _ = self.sorted_out(list, items.cloned().unwrap_or_default());
        if let Some(cursor) =
            result.and_then(|result| result.get("nextCursor")).filter(|cursor| !cursor.is_null())
        {
            let cursor = cursor.clone();
            return vec![self.ask_for(list, Some(&cursor))];
        }
        let asking = self.waiting.values().any(|waiting| matches!(waiting, super::Waiting::Own(_)));
        if asking {
            return Vec::new();
        }
        self.state = Listing::Known;
        self.release()
    }

    /// Compares definitions with their pins; gives those that may be offered.
    fn sorted_out(&mut self, list: List, items: Vec<Value>) -> Result<Vec<Value>, PinError> {
        let Some(kind) = list.pinned_as() else { return Ok(items) };
        let keyed: Vec<(String, Value)> = items
            .into_iter()
            .filter_map(|item| Some((format!("{kind}/{}", item.get("name")?.as_str()?), item)))
            .collect();
        let (identity, name) = (self.identity.clone(), self.name.clone());
        let standings = self.pins.change(|all| {
            let server = all.servers.entry(identity).or_default();
            server.name = name;
            keyed.iter().map(|(key, item)| server.see(key, item)).collect::<Vec<_>>()
        })?;
        let mut kept = Vec::new();
        for ((key, item), standing) in keyed.into_iter().zip(standings) {
            let hides = poison::suspicions(&item).iter().any(poison::Suspicion::is_certain);
            let twice = self.known.contains(&key)
                && kept.iter().any(|known: &Value| known.get("name") == item.get("name"));
            if standing == Standing::Changed || hides || twice {
                self.known.remove(&key);
                self.quarantined.insert(key);
            } else {
                self.quarantined.remove(&key);
                self.known.insert(key);
                kept.push(item);
            }
        }
        Ok(kept)
    }
}
