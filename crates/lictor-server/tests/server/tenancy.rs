//! Nothing of a tenant reaches another one: every address of the server and of its page, with every kind of token.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::hostile::endpoints;
use crate::page::{Browser, csrf};
use crate::world::{POLICY, World};

/// What only the other tenant has.
const THEIRS: [&str; 4] = ["blue", "marlin", "teal-session", "azure"];

/// Addresses that the sources name: one that is added is tried without anybody remembering it.
fn routes() -> Vec<(&'static str, String)> {
    let sources = [include_str!("../../src/http.rs"), include_str!("../../src/page.rs")];
    let named = |text: &'static str, before: &'static str, method: &'static str| {
        text.split(before).skip(1).filter_map(move |rest| {
            let (path, rest) = rest.split_once('"')?;
            path.starts_with('/').then(|| {
                let posts = rest.lines().next().is_some_and(|line| line.contains("post("));
                (if posts { "POST" } else { method }, path.to_owned())
            })
        })
    };
    let mut all = Vec::new();
    for text in sources {
        for (before, method) in
            [(".route(\"", "GET"), ("(Method::GET, \"", "GET"), ("(Method::POST, \"", "POST")]
        {
            all.extend(named(text, before, method));
        }
    }
    assert!(all.len() > 35, "{all:?}");
    all
}

fn filled(path: &str) -> String {
    [
        ("{tenant}", "blue"),
        ("{id}", "1"),
        ("{seq}", "1"),
        ("{machine}", "marlin"),
        ("{plan}", "p1"),
        ("{uid}", "ada"),
        ("{session}", "account:ada"),
        ("{digest}", "0"),
        ("{name}", "page.css"),
    ]
    .iter()
    .fold(path.to_owned(), |path, (name, value)| path.replace(name, value))
}

/// Two tenants; the other one has something of everything.
fn two() -> (World, String) {
    let world = World::new();
    world.tenant("red", &json!({}), POLICY);
    let policy = "{version: 1, known_tools: {known: [blue_tool]}, guards: {azure: {expr: 'action.tool != \"write\"', decision: ask, reason: azure, fix: azure}}, policy: azure}";
    world.tenant("blue", &json!({"name": "Azure"}), policy);
    let blue = world.token("blue", "person", "ada");
    for tool in ["blue_tool", "write"] {
        let action = json!({"kind": "tool", "tool": tool, "session_id": "teal-session"});
        world.ask("POST", "/v1/evaluate", &blue, &json!({"action": action, "unattended": true}));
    }
    let finding = json!({"finding": {"plan": "p1", "level": "HIGH", "title": "azure hole"}});
    world.ask("POST", "/v1/findings", &blue, &finding);
    (world, blue)
}

/// Tokens of the first tenant, of every kind and of every role, and what is no token any more.
fn tokens(world: &World) -> Vec<(String, String)> {
    let roles = ["viewer", "auditor", "approver", "author", "publisher", "admin"];
    let people: Vec<Value> = roles.iter().map(|role| json!({"uid": role, "roles": [role]})).collect();
    let gone = json!({"uid": "gone", "roles": roles});
    world.ask("PUT", "/v1/tenants/red/people", &world.operator, &json!({"people": people}));
    world.ask("PUT", "/v1/tenants/red/people", &world.operator, &json!({"people": [gone]}));
    let mut all: Vec<(String, String)> =
        roles.iter().map(|role| ((*role).to_owned(), world.token("red", "person", role))).collect();
    for (kind, owner) in [("person", "ada"), ("machine", "box"), ("service", "job"), ("person", "gone")] {
        all.push((format!("{kind} {owner}"), world.token("red", kind, owner)));
    }
    let disabled = json!({"people": [{"uid": "gone", "roles": roles, "disabled": true}]});
    world.ask("PUT", "/v1/tenants/red/people", &world.operator, &disabled);
    let short = json!({"kind": "person", "owner": "ada", "for_seconds": 0});
    let ended = world.ask("POST", "/v1/tenants/red/tokens", &world.operator, &short);
    all.push(("ended".to_owned(), ended["secret"].as_str().unwrap().to_owned()));
    let made = world.ask(
        "POST",
        "/v1/tenants/red/tokens",
        &world.operator,
        &json!({"kind": "person", "owner": "ada"}),
    );
    let id = made["token"]["id"].as_str().unwrap();
    world.ask("DELETE", &format!("/v1/tenants/red/tokens/{id}"), &world.operator, &json!({}));
    all.push(("revoked".to_owned(), made["secret"].as_str().unwrap().to_owned()));
    all.push(("nobody".to_owned(), String::new()));
    all.push(("garbage".to_owned(), "lictor_0000".to_owned()));
    all
}

fn nothing_of_theirs(text: &str, what: &str) {
    let lower = text.to_lowercase();
    assert!(THEIRS.iter().all(|word| !lower.contains(word)), "{what}: {text:.2000}");
}

fn nothing_changed(world: &World, blue: &str) {
    let count =
        |path: &str, field: &str| world.ask("GET", path, blue, &json!({}))[field].as_array().unwrap().len();
    assert_eq!(count("/v1/records?kind=evaluated", "records"), 2, "nothing was added");
    assert_eq!(count("/v1/tenants/blue/policies", "policies"), 1, "nothing was published");
    assert_eq!(count("/v1/approvals", "approvals"), 1, "nothing was answered");
    assert_eq!(count("/v1/tenants/blue/people", "people"), 3, "nobody was added");
    assert_eq!(count("/v1/tenants/blue/tokens", "tokens"), 1, "no token was made");
}

#[test]
fn no_token_reaches_another_tenant() {
    let (world, blue) = two();
    let tokens = tokens(&world);
    let waiting = world.ask("GET", "/v1/approvals", &blue, &json!({}));
    let question = waiting["approvals"][0]["id"].as_str().unwrap().to_owned();
    let mut all = endpoints(&world, "blue");
    for verb in ["approve", "deny"] {
        all.push(("POST".to_owned(), format!("/v1/approvals/{question}/{verb}")));
    }
    all.extend(
        ["/v1/records?machine=ada.marlin", "/v1/verify?machine=ada.marlin"]
            .map(|path| ("GET".to_owned(), path.to_owned())),
    );
    for (method, path) in all {
        for (kind, token) in &tokens {
            let named = json!({"tenant": "blue", "text": "{version: 1}", "people": [], "kind": "person", "owner": "ada",
                               "action": {"kind": "tool", "tool": "read", "tenant": "blue"}, "version": 1});
            for body in [json!({}), named] {
                let body = (method != "GET").then_some(&body);
                let reply = world.send(&method, &path, token, body);
                let text = reply.body.to_string();
                let what = format!("{kind}: {method} {path}: {} {text}", reply.status);
                assert!(reply.status < 500, "{what}");
                if reply.status < 400 && path != "/openapi.json" {
                    nothing_of_theirs(&text, &what);
                }
                if path.contains("/blue") {
                    assert!([401, 403].contains(&reply.status), "{what}");
                }
                if reply.status >= 400 {
                    assert_eq!(reply.kind, "application/problem+json", "{what}");
                }
                if ["ended", "revoked", "nobody", "garbage", "person gone"].contains(&kind.as_str())
                    && path.starts_with("/v1")
                    && !["/v1/setup", "/v1/sign-in"].contains(&path.as_str())
                {
                    assert_eq!(reply.status, 401, "{what}");
                }
            }
        }
    }
    nothing_changed(&world, &blue);
}

/// What an address sends within a moment, for those that never end.
fn glimpse(world: &World, path: &str, header: &str) -> String {
    let host = world.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(700))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\n{header}\r\nconnection: close\r\n\r\n").unwrap();
    let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        text.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn no_page_and_no_stream_shows_another_tenant() {
    let (world, blue) = two();
    let red = world.token("red", "person", "ada");
    let ada = Browser::sign_in(&world, &red);
    let word = csrf(&ada.send("GET", "/feed", ""));
    let nobody = Browser { world: &world, cookie: String::new() };
    let waiting = world.ask("GET", "/v1/approvals", &blue, &json!({}));
    let question = waiting["approvals"][0]["id"].as_str().unwrap().to_owned();
    let mut tried = 0;
    for (method, path) in routes() {
        let endless = ["/live", "/v1/records/stream"].contains(&path.as_str());
        if path.starts_with("/v1") || endless || path == "/sign-out" || path == "/openapi.json" {
            continue;
        }
        tried += 1;
        let mut path = filled(&path).replace("/approvals/1", &format!("/approvals/{question}"));
        if method == "GET" {
            path += "?tenant=blue&project=blue&key=account:ada&machine=ada.marlin&decision=1&rule=a&text=";
        }
        let form =
            format!("csrf={word}&answer=once&tenant=blue&what=person&uid=eve&text=version%3A+1&act=publish");
        let page = ada.send(method, &path, if method == "GET" { "" } else { &form });
        let what = format!("{method} {path}: {}", page.status);
        assert!(page.status < 500, "{what} {}", page.body);
        // What a person typed into the address may stand in a link of the page; nothing else may.
        let said = page
            .body
            .to_lowercase()
            .replace("tenant=blue", "")
            .replace("`blue`", "")
            .replace("project=blue", "")
            .replace("ada.marlin", "");
        nothing_of_theirs(&said, &what);
        let page = nobody.send(method, &path, if method == "GET" { "" } else { &form });
        assert!(page.status < 500, "nobody: {what}");
        nothing_of_theirs(&page.body.to_lowercase().replace("tenant=blue", "").replace("`blue`", ""), &what);
    }
    assert!(tried > 20, "{tried}");
    let cookie = format!("cookie: {}", ada.cookie);
    nothing_of_theirs(&glimpse(&world, "/live?since=0&tenant=blue", &cookie), "/live");
    let header = format!("authorization: Bearer {red}");
    let streamed = glimpse(&world, "/v1/records/stream?since=0&tenant=blue", &header);
    nothing_of_theirs(&streamed, "/v1/records/stream");
    let own = glimpse(&world, "/v1/records/stream?since=0", &format!("authorization: Bearer {blue}"));
    assert!(own.contains("blue_tool"), "the stream has something to show: {own}");
    nothing_changed(&world, &blue);
}
