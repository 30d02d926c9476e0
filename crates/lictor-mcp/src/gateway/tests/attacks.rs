//! Attacks as data: what comes from either side, and what may come of it.

use std::collections::BTreeMap;

use lictor::store::{Query, StoreExt as _};
use serde::Deserialize;

use super::*;
use crate::pins::Doubts;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    /// What the server says it has at first.
    #[serde(default = "tools")]
    tools: Value,
    /// Other servers that were seen before, with their tools.
    #[serde(default)]
    neighbours: BTreeMap<String, Vec<Value>>,
    /// Servers that an agent is told of and that nobody has seen.
    #[serde(default)]
    configured: Vec<String>,
    steps: Vec<Step>,
}

/// One thing that happens, and what comes of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// A line of the client's or the server's: an object is made a message of JSON-RPC, a text is sent as it is.
    #[serde(default)]
    client: Option<Value>,
    #[serde(default)]
    server: Option<Value>,
    /// The server has other tools from now on; without a word, or with the notification.
    #[serde(default)]
    tools: Option<Value>,
    /// A new process before the same server, with the same pins.
    #[serde(default)]
    restart: bool,
    /// A new process that fetches the server as a package in this version.
    #[serde(default)]
    version: Option<String>,
    /// Other servers that are seen now.
    #[serde(default)]
    neighbours: BTreeMap<String, Vec<Value>>,
    /// A kind of record that is there afterwards.
    #[serde(default)]
    recorded: Option<String>,
    /// A person accepts what has changed.
    #[serde(default)]
    accept: bool,
    /// The file of pins is overwritten with this.
    #[serde(default)]
    pins: Option<String>,
    /// Whether the other side hears of it.
    #[serde(default)]
    reaches: Option<bool>,
    /// What stands in what comes of it, for either side.
    #[serde(default)]
    says: Option<String>,
    /// What does not.
    #[serde(default)]
    hides: Option<String>,
}

struct Stage {
    world: World,
    tools: Value,
    identity: Identity,
    configured: Vec<String>,
}

impl Stage {
    fn meet(&self, neighbours: &BTreeMap<String, Vec<Value>>) {
        let pins = Pins::in_directory(&self.world.home.path().join("state"));
        let met = pins.change(|all| {
            for (name, tools) in neighbours {
                let server = all.servers.entry(format!("/bin/other-{name}")).or_default();
                name.clone_into(&mut server.name);
                for tool in tools {
                    let key = format!("tool/{}", tool["name"].as_str().expect("a name"));
                    server.see(&key, tool, &Doubts::default());
                }
            }
        });
        met.expect("pins");
    }

    fn has_recorded(&self, kind: &str) -> bool {
        let store = self.world.gateway.runtime.store();
        !store.view(|view| view.records(&Query::all().kind(kind))).expect("records").is_empty()
    }

    /// What is sent on to the other side, and what is told to either, after the gateway's own questions are answered.
    fn settle(&mut self, mut out: Vec<Out>) -> Vec<Out> {
        let mut settled = Vec::new();
        while !out.is_empty() {
            let is_own = |asked: &Message| {
                asked.id().is_some_and(|id| id.to_string().contains("lictor-"))
                    && asked.method().is_some_and(|method| method.ends_with("/list"))
            };
            let (own, others): (Vec<Out>, Vec<Out>) =
                out.into_iter().partition(|one| matches!(one, Out::Server(asked) if is_own(asked)));
            settled.extend(others);
            out = lists(&mut self.world.gateway, &own, &self.tools);
        }
        settled
    }

    fn line(value: &Value) -> String {
        match value {
            Value::String(line) => line.clone(),
            Value::Object(fields) => {
                let mut fields = fields.clone();
                fields.entry("jsonrpc").or_insert_with(|| "2.0".into());
                Value::Object(fields).to_string()
            }
            other => other.to_string(),
        }
    }

    fn take(&mut self, step: &Step) -> (bool, String) {
        if let Some(tools) = &step.tools {
            self.tools = tools.clone();
        }
        if let Some(pins) = &step.pins {
            std::fs::write(self.world.home.path().join("state/mcp-pins.json"), pins).expect("pins");
        }
        if step.accept {
            let pins = Pins::in_directory(&self.world.home.path().join("state"));
            let accepted =
                pins.change(|all| all.servers.values_mut().map(|server| server.accept(None)).sum::<usize>());
            assert!(accepted.expect("pins") > 0, "nothing to accept");
        }
        if let Some(version) = &step.version {
            self.identity = Identity::of_command(&["npx".into(), format!("demo@{version}").into()]);
        }
        if step.restart || step.accept || step.version.is_some() {
            self.world.gateway = again_as(&self.world.home, self.identity.clone());
        }
        if !step.neighbours.is_empty() {
            self.meet(&step.neighbours);
        }
        self.world.gateway.configured = Some(self.configured.clone());
        let (from_client, value) = match (&step.client, &step.server) {
            (Some(value), None) => (true, value),
            (None, Some(value)) => (false, value),
            _ => return (false, String::new()),
        };
        let line = Self::line(value).replace("{w}", &self.world.home.path().to_string_lossy());
        let out = match Message::parse(line.as_bytes()) {
            Ok(message) if from_client => self.world.gateway.from_client(message),
            Ok(message) => self.world.gateway.from_server(message),
            Err(error) => return (false, error.to_string()),
        };
        let out = self.settle(out);
        let other =
            |one: &Out| matches!((one, from_client), (Out::Server(_), true) | (Out::Client(_), false));
        let told = out.iter().map(|one| match one {
            Out::Client(message) | Out::Server(message) => message.to_line(),
        });
        (out.iter().any(other), told.collect())
    }
}

#[test]
fn no_attack_gets_through_and_every_twin_does() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("attacks.yaml")).expect("the cases");
    assert!(cases.len() >= 30, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let identity = Identity::of_address("/bin/demo".to_owned());
        let configured = case.configured.clone();
        let mut stage = Stage { world: world(), tools: case.tools.clone(), identity, configured };
        std::fs::create_dir_all(stage.world.home.path().join("state")).expect("a state directory");
        if !case.neighbours.is_empty() {
            stage.meet(&case.neighbours);
        }
        for (number, step) in case.steps.iter().enumerate() {
            let (reached, told) = stage.take(step);
            let as_told = step.reaches.is_none_or(|reaches| reaches == reached)
                && step.says.as_ref().is_none_or(|says| told.contains(says))
                && step.recorded.as_ref().is_none_or(|kind| stage.has_recorded(kind))
                && step.hides.as_ref().is_none_or(|hides| !told.contains(hides));
            if !as_told {
                wrong.push(format!("{} step {}: reached {reached}: {told}", case.id, number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
