//! Lists of tools, prompts and resources: compared with their pins, filtered, and never cached.

use std::collections::HashSet;

use lictor::guards::ServersWord;
use serde_json::{Map, Value, json};

use super::calls::{Concern, Form};
use super::neighbours::{self, Around};
use super::{Gateway, Listing, Out, UNKNOWN_METHOD, Waiting, changes};
use crate::identity::Running;
use crate::message::Message;
use crate::mirror::{self, Argument};
use crate::pins::{Doubts, PACKAGE, PinError, Seen, Server, Standing};
use crate::poison::{self, Origin, Suspicion};

/// How many pages of a list the gateway asks for. A server with more is assumed to be endless.
const MOST_PAGES: usize = 256;

/// A definition that may be used.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The schema of a tool's arguments.
    pub(super) schema: Value,
    /// Those that are repeated in headers.
    pub(super) mirrored: Vec<Argument>,
    /// Why a person should review each call, if the definition was not accepted.
    pub(super) suspicious: Option<String>,
    /// The server's annotations of it.
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
    /// A list for the client: without quarantined definitions and those with hidden text. It may change at any
    /// time, so it must not be cached.
    pub(super) fn listed(&mut self, list: List, begins: bool, mut message: Message) -> Message {
        let Some(result) = message.result_mut() else { return self.looked_through(message, Form::Error) };
        let items = match result.remove(list.field()) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        let whole = begins && next_page(result).is_none();
        let kept = self.sorted_out(list, items, whole).unwrap_or_else(|_| self.without_pins());
        if let Some(result) = message.result_mut() {
            result.insert(list.field().to_owned(), Value::Array(kept));
            never_cached(result);
        }
        message
    }

    /// A list that the gateway asked for itself. All its pages are checked together.
    pub(super) fn learned(
        &mut self,
        list: List,
        mut pages: Vec<Vec<Value>>,
        mut message: Message,
    ) -> Vec<Out> {
        let next = message.result_mut().and_then(|result| {
            // A page without definitions counts too: a server could send such pages forever.
            pages.push(match result.remove(list.field()) {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            });
            next_page(result).cloned()
        });
        if let Some(cursor) = next.filter(|_| pages.len() < MOST_PAGES) {
            let meta = self.held.iter().find_map(super::own_meta);
            return vec![self.ask_for(list, Some(&cursor), meta.as_ref(), pages)];
        }
        // A server without tools or prompts answers that it does not know the method. Anything else has another reason,
        // for example that it does not speak the client's revision.
        if list == List::Tools && message.error_code().is_some_and(|code| code != UNKNOWN_METHOD) {
            self.no_tools = Some(self.looked_through(message, Form::Error));
        }
        if self.sorted_out(list, pages.into_iter().flatten().collect(), true).is_err() {
            self.without_pins();
        }
        if self.waiting.values().any(|waiting| matches!(waiting, Waiting::Own(..))) {
            return Vec::new();
        }
        self.state = Listing::Known;
        let released = self.release();
        if self.unpinned || self.no_tools.is_some() {
            // The next call asks again.
            self.state = Listing::Unknown;
        }
        released
    }

    /// Without pins changes cannot be detected, so nothing is offered.
    fn without_pins(&mut self) -> Vec<Value> {
        self.known.clear();
        (self.held_back, self.unpinned) = (true, true);
        if self.state == Listing::Known {
            self.state = Listing::Unknown;
        }
        Vec::new()
    }

    /// A server's description of itself: its instructions go to the model, and its capabilities determine the
    /// requests. Both are pinned; a change is left out until a person accepts it.
    pub(super) fn introduced(&mut self, mut message: Message) -> Message {
        let Some(result) = message.result_mut() else { return self.looked_through(message, Form::Error) };
        let instructions = result.get("instructions").cloned();
        let capabilities = result.get("capabilities").cloned();
        let (running, name) = (self.running(), self.name.clone());
        let configured = self.configured().to_vec();
        let looked = self.pins.change(|all| {
            all.of(&running, &name);
            let around = Around::of(all, &running, &name, &configured, &[]);
            let doubts = |text: &Value| Doubts {
                reasons: around
                    .suspicions("server/instructions", text)
                    .iter()
                    .map(Suspicion::describe)
                    .collect(),
                renamed_from: None,
            };
            let doubts = instructions.as_ref().map(doubts).unwrap_or_default();
            let server = all.of(&running, &name);
            let held = server.is_held();
            let spoken = instructions.as_ref().map(|text| {
                let seen = server.see("server/instructions", text, &doubts);
                (seen, seen.may_be_used() && !held)
            });
            let able = capabilities.as_ref().map(|able| {
                let seen = server.see("server/capabilities", able, &Doubts::default());
                (seen, server.accepted("server/capabilities").cloned())
            });
            let news = [
                ("server/instructions", spoken.map(|(seen, _)| seen)),
                ("server/capabilities", able.as_ref().map(|(seen, _)| *seen)),
            ];
            let changes = news.into_iter().filter(|(_, seen)| seen.is_some_and(Seen::is_change));
            let changes = changes.filter_map(|(key, _)| changes::of(server, key)).collect::<Vec<_>>();
            (spoken.map(|(_, usable)| usable), able, held, changes)
        });
        let (spoken, able, held, changes) = looked.unwrap_or((Some(false), None, true, Vec::new()));
        self.record_changes(&changes);
        self.set_held_back(held);
        if let Some(result) = message.result_mut() {
            if spoken == Some(false) {
                result.remove("instructions");
            }
            // Of capabilities that have changed, those stay that were accepted.
            if let (Some((seen, accepted)), Some(now)) = (able, result.get_mut("capabilities"))
                && seen.standing == Standing::Changed
            {
                *now = in_both(now, accepted.as_ref().unwrap_or(&Value::Null)).unwrap_or_else(|| json!({}));
            }
            never_cached(result);
        }
        self.looked_through(message, Form::Error)
    }

    /// Compares definitions with their pins; returns those that may be offered. `whole`: they are all definitions
    /// of the server.
    fn sorted_out(&mut self, list: List, items: Vec<Value>, whole: bool) -> Result<Vec<Value>, PinError> {
        let (running, name) = (self.running(), self.name.clone());
        let Some(kind) = list.pinned_as() else {
            let held = self.pins.change(|all| all.of(&running, &name).is_held())?;
            self.set_held_back(held);
            let hides =
                |item: &Value| poison::suspicions(item, Origin::Definition).iter().any(Suspicion::is_certain);
            let offered = |item: &Value| !self.held_back && !hides(item) && !self.is_out_of_reach(item);
            return Ok(items.into_iter().filter(offered).collect());
        };
        let keyed: Vec<(String, Value)> = items
            .into_iter()
            .filter_map(|item| Some((format!("{kind}/{}", item.get("name")?.as_str()?), item)))
            .collect();
        let keys: HashSet<String> = keyed.iter().map(|(key, _)| key.clone()).collect();
        if whole {
            self.present.retain(|key| !key.starts_with(kind));
        }
        self.present.extend(keys);
        let (present, configured) = (self.present.clone(), self.configured().to_vec());
        let (looked, held, changes) = self.pins.change(|all| {
            all.of(&running, &name);
            let around = Around::of(all, &running, &name, &configured, &keyed);
            let found: Vec<Vec<Suspicion>> =
                keyed.iter().map(|(key, item)| around.suspicions(key, item)).collect();
            let server = all.of(&running, &name);
            let mut changes = Vec::new();
            let looked: Vec<Looked> = keyed
                .iter()
                .zip(found)
                .map(|((key, item), found)| {
                    let looked = looked_at(server, &present, key, item, &found);
                    if looked.seen.is_change() || looked.seen.is_news && looked.hides {
                        changes.extend(changes::of(server, key));
                    }
                    looked
                })
                .collect();
            (looked, server.is_held(), changes)
        })?;
        self.set_held_back(held);
        self.record_changes(&changes);
        Ok(self.offered(keyed, looked))
    }

    /// The server runs in a version that was not accepted: a person is notified once.
    fn set_held_back(&mut self, held: bool) {
        if held && !std::mem::replace(&mut self.held_back, held) {
            let running = self.running();
            let pinned = self.pins.read().unwrap_or_default();
            let server = pinned.servers.get(&running.key());
            let change = server.and_then(|server| changes::of(server, PACKAGE));
            self.record_changes(change.as_slice());
        }
        self.held_back = held;
    }

    /// The definitions that may be used, which are those that the client hears of.
    fn offered(&mut self, keyed: Vec<(String, Value)>, looked: Vec<Looked>) -> Vec<Value> {
        let mut kept: Vec<Value> = Vec::new();
        let mut names = HashSet::new();
        for ((key, item), looked) in keyed.into_iter().zip(looked) {
            let twice = !names.insert(key.clone());
            if twice {
                kept.retain(|known| known.get("name") != item.get("name"));
            }
            let mirrored = mirror::declared(&item).filter(|_| !self.is_out_of_use(&key));
            let is_hidden =
                self.held_back || looked.seen.standing == Standing::Changed || looked.hides || twice;
            let Some(mirrored) = mirrored.filter(|_| !is_hidden) else {
                self.known.remove(&key);
                continue;
            };
            let suspicious = looked.caution.filter(|_| !looked.seen.reviewed);
            let (schema, word) = (item.get("inputSchema").cloned().unwrap_or_default(), servers_word(&item));
            self.known.insert(key, Known { schema, mirrored, suspicious, word });
            kept.push(item);
        }
        kept
    }

    /// The names of the servers in agents' settings: loaded when a server first lists its definitions.
    fn configured(&mut self) -> &[String] {
        self.configured.get_or_insert_with(|| neighbours::configured(self.runtime.project()))
    }

    /// Which server it is, with the version that runs: determined at the server's first response.
    fn running(&mut self) -> Running {
        self.running.get_or_insert_with(|| self.identity.running()).clone()
    }

    /// Whether the policy blocks the tool or prompt for every input: then it is not listed.
    fn is_out_of_use(&self, key: &str) -> bool {
        let name = match key.split_once('/') {
            Some(("tool", name)) => name.to_owned(),
            Some((kind, name)) => format!("{kind}:{name}"),
            None => return false,
        };
        let full = format!("mcp__{}__{name}", self.name);
        self.runtime.policy().is_tool_blocked(&full)
    }

    /// Whether the policy blocks reading the resource: then it is not listed.
    fn is_out_of_reach(&self, item: &Value) -> bool {
        let Some(uri) = item.get("uri").and_then(Value::as_str) else { return false };
        let Some(action) = self.access_to(uri, &Value::Null) else { return false };
        let evaluation = self.looked_at(&action, &Concern::default());
        !evaluation.passed() && !evaluation.is_blocked_question()
    }
}

/// The result of checking one definition.
struct Looked {
    seen: Seen,
    /// It has text that people cannot see, or a name that cannot be used.
    hides: bool,
    /// The note for a person at each call.
    caution: Option<String>,
}

fn looked_at(
    server: &mut Server,
    present: &HashSet<String>,
    key: &str,
    item: &Value,
    found: &[Suspicion],
) -> Looked {
    let renamed_from = renamed_from(server, present, key, item);
    let mut reasons: Vec<String> = found.iter().map(Suspicion::describe).collect();
    reasons.extend(renamed_from.as_ref().map(|old| format!("the arguments of `{old}`, which is gone")));
    let caution = (!reasons.is_empty()).then(|| {
        let key = lictor_core::text::clean(key, 80);
        format!("the definition of `{key}` has {}; `lictor mcp pins accept` after a look", reasons.join(", "))
    });
    let hides = found.iter().any(Suspicion::is_certain) || !is_usable_name(key);
    let seen = server.see(key, item, &Doubts { reasons, renamed_from });
    Looked { seen, hides, caution }
}

/// What the policy leaves out may change at any time. Earlier revisions have no such fields, and no client that minds
/// them.
fn never_cached(result: &mut Map<String, Value>) {
    if result.contains_key("resultType") || result.contains_key("ttlMs") {
        result.insert("ttlMs".to_owned(), json!(0));
        result.insert("cacheScope".to_owned(), json!("private"));
    }
}

/// The part of a value that was accepted like this.
fn in_both(now: &Value, accepted: &Value) -> Option<Value> {
    match (now, accepted) {
        (Value::Object(now), Value::Object(accepted)) => {
            let both =
                now.iter().filter_map(|(key, now)| Some((key.clone(), in_both(now, accepted.get(key)?)?)));
            Some(Value::Object(both.collect()))
        }
        _ => (now == accepted).then(|| now.clone()),
    }
}

/// Where the next page of a list begins.
fn next_page(result: &Map<String, Value>) -> Option<&Value> {
    result.get("nextCursor").filter(|cursor| !cursor.is_null())
}

/// A new name for what was there under another one, which is gone: the known way around pins. It has the same arguments, or
/// is the same but for its name where there are no arguments to compare.
fn renamed_from(server: &Server, present: &HashSet<String>, key: &str, item: &Value) -> Option<String> {
    // A new name stays new until a person has reviewed it.
    if server.is_settled(key) || server.items.is_empty() {
        return None;
    }
    let (kind, _) = key.split_once('/')?;
    let gone = server.items.iter().filter(|(old, _)| {
        old.split_once('/').is_some_and(|(of, _)| of == kind) && !present.contains(old.as_str())
    });
    let is_same = |old: &Value| match arguments(item) {
        Some(arguments_now) => arguments(old) == Some(arguments_now),
        None => without_name(old) == without_name(item),
    };
    gone.map(|(old, was)| (old, &was.accepted)).find(|(_, was)| is_same(was)).map(|(old, _)| old.clone())
}

/// The arguments of a tool or a prompt, if it has any.
fn arguments(definition: &Value) -> Option<&Value> {
    let schema = definition.get("inputSchema");
    let takes = |schema: &&Value| {
        schema.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty())
    };
    let listed =
        definition.get("arguments").filter(|list| list.as_array().is_some_and(|list| !list.is_empty()));
    schema.filter(takes).or(listed)
}

/// A definition without its name.
fn without_name(definition: &Value) -> Option<Map<String, Value>> {
    let mut fields = definition.as_object()?.clone();
    fields.retain(|field, _| !matches!(field.as_str(), "name" | "title" | "_meta"));
    (!fields.is_empty()).then_some(fields)
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

/// The annotations of a tool. The protocol's defaults are not applied: `destructiveHint` would be true for nearly
/// every tool.
fn servers_word(item: &Value) -> ServersWord {
    let hint =
        |name: &str| item.get("annotations").and_then(|said| said.get(name)) == Some(&Value::Bool(true));
    ServersWord { destructive: hint("destructiveHint"), read_only: hint("readOnlyHint") }
}
