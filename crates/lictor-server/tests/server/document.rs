//! Answers are what `/openapi.json` says they are: every field is in the document, and every field of the document comes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::world::{World, tool};

const POLICY: &str = "
version: 1
known_tools: {known: [read_file, write_file]}
guards:
  careful: {expr: 'action.tool != \"write_file\"', decision: ask, reason: really write?, fix: ask a person}
policy: careful
";

/// The document, what was asked, and which fields came.
struct Walk<'a> {
    world: &'a World,
    document: Value,
    asked: BTreeSet<(String, String)>,
    /// The fields that came, by the place of their schema.
    came: BTreeMap<String, BTreeSet<String>>,
    declared: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> Walk<'a> {
    fn new(world: &'a World) -> Self {
        let document = world.send("GET", "/openapi.json", "", None).body;
        let (asked, came, declared) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        Self { world, document, asked, came, declared }
    }

    /// Asks, expects success, and holds the answer against the document.
    fn ask(&mut self, method: &str, path: &str, token: &str, body: &Value) -> Value {
        let template = self.template(method, path);
        let sent = (!["GET", "DELETE"].contains(&method)).then_some(body);
        let reply = self.world.send(method, path, token, sent);
        assert_eq!(reply.status, 200, "{method} {path}: {}", reply.body);
        let operation = &self.document["paths"][&template][method.to_ascii_lowercase()];
        let schema = operation["responses"]["200"]["content"]["application/json"]["schema"].clone();
        assert!(schema.is_object(), "{method} {template} has no schema");
        self.fits(&schema, &reply.body, &format!("{method} {template}"));
        self.asked.insert((method.to_owned(), template));
        reply.body
    }

    /// The address in the document.
    fn template(&self, method: &str, path: &str) -> String {
        let path: Vec<&str> = path.split('?').next().unwrap_or_default().split('/').collect();
        let paths = self.document["paths"].as_object().unwrap();
        let fits = |template: &&String| {
            let parts: Vec<&str> = template.split('/').collect();
            let alike = |(part, said): (&&str, &&str)| part == said || part.starts_with('{');
            parts.len() == path.len() && parts.iter().zip(&path).all(alike)
        };
        // A name stands before a placeholder.
        let mut found: Vec<&String> = paths.keys().filter(fits).collect();
        found.retain(|template| paths[*template].get(method.to_ascii_lowercase()).is_some());
        found.sort_by_key(|template| template.matches('{').count());
        (*found.first().unwrap_or_else(|| panic!("{method} {path:?} is not in the document"))).clone()
    }

    fn fits(&mut self, schema: &Value, value: &Value, at: &str) {
        if let Some(target) = schema["$ref"].as_str() {
            let schema = self.document.pointer(target.trim_start_matches('#')).unwrap().clone();
            return self.fits(&schema, value, target.rsplit('/').next().unwrap());
        }
        if let Some(options) = schema["anyOf"].as_array() {
            let open = |option: &Value| alike(&self.document, option, value);
            let chosen = options.iter().find(|option| open(option)).cloned();
            let chosen = chosen.unwrap_or_else(|| panic!("{at}: {value} is none of {options:?}"));
            return self.fits(&chosen, value, at);
        }
        if schema["allOf"].is_array() {
            let whole = merged(&self.document, schema);
            return self.fits(&whole, value, at);
        }
        assert!(alike(&self.document, schema, value), "{at}: {value} is not {schema}");
        match value {
            Value::Object(fields) => self.object(schema, fields, at),
            Value::Array(items) => {
                for item in items {
                    self.fits(&schema["items"], item, &format!("{at}[]"));
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, schema: &Value, fields: &Map<String, Value>, at: &str) {
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(fields.contains_key(name.as_str().unwrap()), "{at}: {name} is missing");
        }
        let Some(properties) = schema["properties"].as_object() else {
            for (name, value) in fields.iter().filter(|_| schema["additionalProperties"].is_object()) {
                self.fits(&schema["additionalProperties"], value, &format!("{at}.{name}"));
            }
            return;
        };
        self.declared.entry(at.to_owned()).or_default().extend(properties.keys().cloned());
        for (name, value) in fields {
            let part = properties.get(name);
            let part = part.unwrap_or_else(|| panic!("{at}: `{name}` is not in the document"));
            self.came.entry(at.to_owned()).or_default().insert(name.clone());
            self.fits(part, value, &format!("{at}.{name}"));
        }
    }

    /// Every address was asked, and every field that is promised came somewhere.
    fn is_whole(&self) {
        let other =
            ["/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/records/stream", "/v1/records/export"];
        let paths = self.document["paths"].as_object().unwrap();
        let all = paths.iter().filter(|(path, _)| !other.contains(&path.as_str()));
        let all = all.flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(|method| (method.to_ascii_uppercase(), path.clone()))
        });
        let missing: Vec<_> = all.filter(|one| !self.asked.contains(one)).collect();
        assert!(missing.is_empty(), "nobody looks at the answers of {missing:?}: ask for them above");
        let mut never = Vec::new();
        for (at, fields) in &self.declared {
            let came = self.came.get(at).cloned().unwrap_or_default();
            never.extend(fields.difference(&came).map(|field| format!("{at}.{field}")));
        }
        // Forms of the command line, which has tests of its own for them; and what only an observing policy says.
        let elsewhere = [
            "Evaluation.",
            "verdict.",
            "trace_entry.",
            "plan_verdict.",
            "gate_outcome.",
            "finding.",
            "Stopped.observed",
        ];
        never.retain(|one| !elsewhere.iter().any(|form| one.starts_with(form)));
        assert!(never.is_empty(), "the document promises what never comes: {never:?}");
    }
}

/// Whether a value is of the kind that a schema says.
fn alike(document: &Value, schema: &Value, value: &Value) -> bool {
    if let Some(target) = schema["$ref"].as_str() {
        return alike(document, document.pointer(target.trim_start_matches('#')).unwrap(), value);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.contains(value);
    }
    if let Some(only) = schema.get("const") {
        return only == value;
    }
    if let Some(options) = schema["anyOf"].as_array() {
        return options.iter().any(|option| alike(document, option, value));
    }
    // Forms that are told apart by a word.
    let words = schema["properties"].as_object().into_iter().flatten();
    let mut words = words.filter_map(|(name, part)| Some((name, part.get("const")?)));
    if words.any(|(name, word)| value.get(name).is_some_and(|said| said != word)) {
        return false;
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    kinds.is_empty()
        || kinds.iter().any(|kind| match *kind {
            "string" => value.is_string(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("{other}"),
        })
}

/// All parts of an `allOf` as one object.
fn merged(document: &Value, schema: &Value) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    let mut rest: Vec<Value> = schema["allOf"].as_array().unwrap().clone();
    while let Some(part) = rest.pop() {
        if let Some(target) = part["$ref"].as_str() {
            rest.push(document.pointer(target.trim_start_matches('#')).unwrap().clone());
            continue;
        }
        rest.extend(part["allOf"].as_array().into_iter().flatten().cloned());
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        required.extend(part["required"].as_array().into_iter().flatten().cloned());
    }
    json!({"type": "object", "properties": properties, "required": required})
}

/// The first record of a machine.
fn first() -> lictor_store::Record {
    let (at, kind) = (lictor_core::Timestamp(1_700_000_000_000), "evaluated".to_owned());
    lictor_store::Record::after(
        lictor_store::Head::START,
        lictor_store::Draft { at, session: None, kind, body: "{}".to_owned() },
    )
}

fn of_judging(walk: &mut Walk<'_>, ada: &str, bob: &str) {
    let mut action = tool("read_file");
    action["session_id"] = json!("s");
    let judged = walk.ask("POST", "/v1/evaluate", bob, &json!({"action": action}));
    action["tool_use_id"] = judged["correlation_id"].clone();
    walk.ask("POST", "/v1/post", bob, &json!({"action": action, "outcome": {"success": true}}));
    walk.ask(
        "POST",
        "/v1/delegate",
        bob,
        &json!({"parent": "s", "child": "c", "limit": {"read_only": true}}),
    );
    walk.ask("POST", "/v1/prompt", bob, &json!({"session_id": "s", "text": "go on"}));
    walk.ask("POST", "/v1/session", bob, &json!({"session_id": "s"}));
    walk.ask("POST", "/v1/stop", bob, &json!({"session_id": "s"}));
    walk.ask("POST", "/v1/reset", bob, &json!({"session_id": "s"}));
    walk.ask("POST", "/v1/end", bob, &json!({"session_id": "c"}));
    let listed = walk.ask("GET", "/v1/sessions", ada, &json!({}));
    let key = listed["sessions"][0].as_str().unwrap().replace('/', "%2F");
    walk.ask("GET", &format!("/v1/sessions/{key}"), ada, &json!({}));
    walk.ask("GET", "/v1/whoami", ada, &json!({}));
    walk.ask("GET", "/v1/bundle", ada, &json!({}));
}

fn of_questions(walk: &mut Walk<'_>, ada: &str, bob: &str) {
    let question = |walk: &mut Walk<'_>, session: &str| {
        let action = json!({"kind": "tool", "tool": "write_file", "session_id": session});
        walk.ask("POST", "/v1/evaluate", bob, &json!({"action": action, "unattended": true}));
        let waiting = walk.ask("GET", "/v1/approvals", ada, &json!({}));
        waiting["approvals"][0]["id"].as_str().expect("a question").to_owned()
    };
    let first = question(walk, "q1");
    walk.ask("POST", &format!("/v1/approvals/{first}/approve"), ada, &json!({}));
    let second = question(walk, "q2");
    walk.ask("POST", &format!("/v1/approvals/{second}/deny"), ada, &json!({"reason": "not now"}));
    let action = json!({"kind": "tool", "tool": "write_file", "session_id": "q3"});
    let asked = walk.ask("POST", "/v1/evaluate", bob, &json!({"action": action}));
    walk.ask("POST", "/v1/resolve", ada, &json!({"id": asked["id"], "answers": [true]}));
}

fn of_records(walk: &mut Walk<'_>, ada: &str, machine: &str) {
    walk.ask("POST", "/v1/machines/box/records", machine, &json!({"records": [first()]}));
    walk.ask("GET", "/v1/machines", ada, &json!({}));
    walk.ask("GET", "/v1/records?limit=1000", ada, &json!({}));
    walk.ask("GET", "/v1/records/1", ada, &json!({}));
    walk.ask("GET", "/v1/verify", ada, &json!({}));
    for (number, plan) in ["p1", "p2"].into_iter().enumerate() {
        let finding = json!({"finding": {"plan": plan, "level": "HIGH", "title": "a hole"}});
        let path = ["/v1/findings", "/v1/record"][number];
        let made = walk.ask("POST", path, ada, &finding);
        walk.ask("POST", "/v1/gate", ada, &json!({"event": "pre-commit"}));
        walk.ask("GET", "/v1/findings", ada, &json!({}));
        let id = made["id"].as_str().unwrap();
        let verb = ["clear", "waive"][number];
        walk.ask("POST", &format!("/v1/findings/{plan}/{id}/{verb}"), ada, &json!({"reason": "mended"}));
    }
}

fn of_tenants(walk: &mut Walk<'_>, ada: &str) {
    let op = walk.world.operator.clone();
    let oidc = json!({"issuer": "https://id.example", "client_id": "x", "client_secret_file": "/run/secret", "roles": {"staff": ["viewer"]}});
    walk.ask("PUT", "/v1/tenants/other", &op, &json!({"name": "Other", "oidc": oidc}));
    walk.ask("PATCH", "/v1/tenants/other", &op, &json!({"away": "block"}));
    walk.ask("GET", "/v1/tenants", &op, &json!({}));
    walk.ask("GET", "/v1/tenants/acme", ada, &json!({}));
    walk.ask("PUT", "/v1/tenants/acme/people", ada, &json!({"people": [{"uid": "zoe"}]}));
    walk.ask("GET", "/v1/tenants/acme/people", ada, &json!({}));
    let password = "a long password";
    walk.ask("PUT", "/v1/tenants/acme/people/zoe/password", ada, &json!({"password": password}));
    walk.ask("POST", "/v1/sign-in", "", &json!({"tenant": "acme", "uid": "zoe", "password": password}));
    let made = walk.ask("POST", "/v1/tenants/acme/tokens", ada, &json!({"kind": "service", "owner": "job"}));
    walk.ask("GET", "/v1/tenants/acme/tokens", ada, &json!({}));
    let id = made["token"]["id"].as_str().unwrap();
    walk.ask("DELETE", &format!("/v1/tenants/acme/tokens/{id}"), ada, &json!({}));
    let policy = "/v1/tenants/acme/policy";
    walk.ask("POST", "/v1/policy/check", ada, &json!({"text": POLICY}));
    let tests = "tests: [{name: reads, steps: [{bash: ls, expect: pass}]}]";
    walk.ask("POST", "/v1/policy/test", ada, &json!({"tests": tests}));
    let strict =
        "{version: 1, known_tools: {known: [write_file]}, access: [{tool: read_file, decision: block}]}";
    walk.ask("POST", "/v1/policy/simulate", ada, &json!({"text": strict}));
    walk.ask("PUT", policy, ada, &json!({"text": strict}));
    walk.ask("PATCH", policy, ada, &json!({"version": 1}));
    walk.ask("GET", policy, ada, &json!({}));
    walk.ask("GET", "/v1/tenants/acme/policies", ada, &json!({}));
}

#[test]
fn answers_are_what_the_document_says() {
    let world = World::new();
    world.tenant("acme", &json!({}), POLICY);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let machine = world.token("acme", "machine", "box");
    let mut walk = Walk::new(&world);
    // Asked when the server was started.
    walk.asked.insert(("POST".to_owned(), "/v1/setup".to_owned()));
    of_judging(&mut walk, &ada, &bob);
    of_questions(&mut walk, &ada, &bob);
    of_records(&mut walk, &ada, &machine);
    of_tenants(&mut walk, &ada);
    walk.is_whole();
}
