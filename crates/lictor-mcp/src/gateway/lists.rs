//! Lists of tools, prompts and resources: compared with their pins, filtered, and never cached.

use std::collections::HashSet;

use lictor::guards::ServersWord;
use serde_json::{Map, Value, json};

use super::calls::Form;
use super::{Gateway, Listing, Out, reply};
use crate::identity::Running;
use crate::message::Message;
use crate::mirror::{self, Argument};
use crate::pins::{PinError, Pinned, Server, Standing};
use crate::poison::{self, Origin, Suspicion};

/// A definition that may be used.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The names of a tool's arguments.
    pub(super) properties: Vec<String>,
    /// Those that are repeated in headers.
    pub(super) mirrored: Vec<Argument>,
    /// Why a person should look at each call, where nobody has accepted the definition.
    pub(super) suspicious: Option<String>,
    /// What the server says that calls of it do.
    pub(super) word: ServersWord,
}

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
    /// A list for the client: without what is quarantined or hides text. It may be another one in a moment, so nobody
    /// keeps it.
    pub(super) fn listed(&mut self, list: List, mut message: Message) -> Message {
        let Some(result) = message.result_mut() else { return reply::looked_through(message, Form::Error) };
        let items = match result.remove(list.field()) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        // Earlier revisions have no such fields, and no client that minds them.
        let cached = result.contains_key("resultType") || result.contains_key("ttlMs");
        // Without pins nothing can be told from what it was, so nothing is offered.
        let kept = self.sorted_out(list, items).unwrap_or_default();
        if let Some(result) = message.result_mut() {
            result.insert(list.field().to_owned(), Value::Array(kept));
            if cached {
                result.insert("ttlMs".to_owned(), json!(0));
                result.insert("cacheScope".to_owned(), json!("private"));
            }
        }
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
            let meta = self.held.iter().find_map(|held| held.param("_meta")).cloned().map(super::own_meta);
            let cursor = cursor.clone();
            return vec![self.ask_for(list, Some(&cursor), meta.as_ref())];
        }
        let asking = self.waiting.values().any(|waiting| matches!(waiting, super::Waiting::Own(_)));
        if asking {
            return Vec::new();
        }
        self.state = Listing::Known;
        self.release()
    }

    /// What a server says about itself: its instructions go to the model, and its capabilities decide what it is asked. Both
    /// are pinned; what has changed is left out until a person accepts it.
    pub(super) fn introduced(&mut self, mut message: Message) -> Message {
        let Some(result) = message.result_mut() else { return reply::looked_through(message, Form::Error) };
        let instructions = result.get("instructions").cloned();
        let capabilities = result.get("capabilities").cloned();
        let (running, name) = (self.running(), self.name.clone());
        let looked = self.pins.change(|all| {
            let server = all.of(&running, &name);
            let held = server.is_held();
            let spoken = instructions.as_ref().map(|text| {
                let suspicious = !poison::suspicions(text, Origin::Definition).is_empty();
                server.see("server/instructions", text, suspicious).may_be_used() && !held
            });
            let able = capabilities.as_ref().map(|able| {
                let seen = server.see("server/capabilities", able, false);
                (seen.standing != Standing::Changed, server.accepted("server/capabilities").cloned())
            });
            (spoken, able, held)
        });
        let (spoken, able, held) = looked.unwrap_or((Some(false), None, true));
        self.held_back = held;
        if let Some(result) = message.result_mut() {
            if spoken == Some(false) {
                result.remove("instructions");
            }
            // Of capabilities that have changed, those stay that were accepted.
            if let (Some((false, accepted)), Some(Value::Object(now))) =
                (able, result.get_mut("capabilities"))
            {
                now.retain(|name, _| accepted.as_ref().is_some_and(|accepted| accepted.get(name).is_some()));
            }
        }
        message
    }

    /// Compares definitions with their pins; gives those that may be offered.
    fn sorted_out(&mut self, list: List, items: Vec<Value>) -> Result<Vec<Value>, PinError> {
        let (running, name) = (self.running(), self.name.clone());
        let Some(kind) = list.pinned_as() else {
            if self.identity.has_package() {
                self.held_back = self.pins.change(|all| all.of(&running, &name).is_held())?;
            }
            return Ok(if self.held_back { Vec::new() } else { items });
        };
        let keyed: Vec<(String, Value)> = items
            .into_iter()
            .filter_map(|item| Some((format!("{kind}/{}", item.get("name")?.as_str()?), item)))
            .collect();
        let (looked, held) = self.pins.change(|all| {
            let mut looked = Vec::new();
            for (key, item) in &keyed {
                let found = about(all, &running, &keyed, key, item);
                let server = all.of(&running, &name);
                let renamed = renamed_from(server, &keyed, key, item);
                let seen = server.see(key, item, !found.is_empty() || renamed.is_some());
                looked.push((seen, found, renamed));
            }
            (looked, all.of(&running, &name).is_held())
        })?;
        self.held_back = held;
        let mut kept: Vec<Value> = Vec::new();
        let mut names = HashSet::new();
        for ((key, item), (seen, found, renamed)) in keyed.into_iter().zip(looked) {
            let hides = found.iter().any(Suspicion::is_certain) || !is_usable_name(&key);
            let twice = !names.insert(key.clone());
            if twice {
                kept.retain(|known| known.get("name") != item.get("name"));
            }
            let mirrored = mirror::declared(&item);
            if self.is_out_of_use(&key) || mirrored.is_none() {
                self.known.remove(&key);
            } else if held || seen.standing == Standing::Changed || hides || twice {
                self.known.remove(&key);
                self.quarantined.insert(key);
            } else {
                let suspicious = (!seen.reviewed).then(|| why(&key, &found, renamed.as_deref())).flatten();
                self.quarantined.remove(&key);
                let mirrored = mirrored.unwrap_or_default();
                let (properties, word) = (properties(&item), servers_word(&item));
                self.known.insert(key, Known { properties, mirrored, suspicious, word });
                kept.push(item);
            }
        }
        Ok(kept)
    }

    /// Which server it is, with the version that runs: looked up when the server answers for the first time.
    fn running(&mut self) -> Running {
        self.running.get_or_insert_with(|| self.identity.running()).clone()
    }

    /// Whether the policy blocks the tool whatever it is called with: nobody needs to see it.
    fn is_out_of_use(&self, key: &str) -> bool {
        let Some(name) = key.strip_prefix("tool/") else { return false };
        let full = format!("mcp__{}__{name}", self.name);
        self.runtime.policy().is_tool_blocked(&full)
    }
}

/// What is suspicious about a definition, among those of its server and of others.
fn about(
    all: &Pinned,
    running: &Running,
    keyed: &[(String, Value)],
    key: &str,
    item: &Value,
) -> Vec<Suspicion> {
    let mut found = poison::suspicions(item, Origin::Definition);
    let others: Vec<(&str, &str)> = all
        .servers
        .iter()
        .filter(|(other, _)| running.version_in(other).is_none())
        .flat_map(|(_, server)| server.items.keys().map(|key| (server.name.as_str(), key.as_str())))
        .filter_map(|(server, key)| Some((server, key.strip_prefix("tool/")?)))
        .collect();
    let own = |name: &str| keyed.iter().any(|(key, _)| key.strip_prefix("tool/") == Some(name));
    found.extend(poison::references(item, &own, others.iter().copied()));
    if let Some(name) = key.strip_prefix("tool/") {
        let siblings = keyed.iter().filter_map(|(key, _)| key.strip_prefix("tool/"));
        found.extend(poison::looks_like(name, siblings.chain(others.iter().map(|(_, tool)| *tool))));
    }
    found
}

/// A new name for what was there under another one, which is gone: the known way around pins.
fn renamed_from(server: &Server, keyed: &[(String, Value)], key: &str, item: &Value) -> Option<String> {
    // A new name stays one until a person has looked at it.
    if server.items.get(key).is_some_and(|known| !known.is_open()) || server.items.is_empty() {
        return None;
    }
    let schema = item.get("inputSchema").filter(|schema| schema.get("properties").is_some())?;
    let kind = key.split_once('/').map(|(kind, _)| kind)?;
    server
        .items
        .iter()
        .filter(|(old, _)| old.starts_with(kind) && !keyed.iter().any(|(now, _)| now == *old))
        .find(|(_, old)| old.accepted.get("inputSchema") == Some(schema))
        .map(|(old, _)| old.clone())
}

fn why(key: &str, found: &[Suspicion], renamed: Option<&str>) -> Option<String> {
    let mut reasons: Vec<String> = found.iter().map(Suspicion::describe).collect();
    reasons.extend(renamed.map(|old| format!("the arguments of `{old}`, which is gone")));
    if reasons.is_empty() {
        return None;
    }
    let key = lictor_core::text::clean(key, 80);
    Some(format!(
        "the definition of `{key}` has {}; `lictor mcp pins accept` after a look",
        reasons.join(", ")
    ))
}

/// The names that the protocol allows. A colon is none of them: it marks what is not a tool.
fn is_usable_name(key: &str) -> bool {
    let name = key.split_once('/').map_or(key, |(_, name)| name);
    let prompt = key.starts_with("prompt/");
    let usable = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/') || prompt && !c.is_control()
    };
    !name.is_empty() && name.len() <= 256 && name.chars().all(usable)
}

/// What annotations say. What they do not say is not taken for said: `destructiveHint` would be true of nearly every tool.
fn servers_word(item: &Value) -> ServersWord {
    let hint =
        |name: &str| item.get("annotations").and_then(|said| said.get(name)) == Some(&Value::Bool(true));
    ServersWord { destructive: hint("destructiveHint"), read_only: hint("readOnlyHint") }
}

fn properties(item: &Value) -> Vec<String> {
    let properties = item.get("inputSchema").and_then(|schema| schema.get("properties"));
    properties
        .and_then(Value::as_object)
        .map(|fields: &Map<String, Value>| fields.keys().cloned().collect())
        .unwrap_or_default()
}
