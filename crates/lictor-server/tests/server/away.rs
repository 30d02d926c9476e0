//! The client, while the server is there and while it is not.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::world::{POLICY, PROGRAM, World, tool};

pub(crate) struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    fn new(world: &World, name: &str, token: &str) -> Self {
        Self::at(&world.url, world, name, token)
    }

    /// One that thinks that the server is elsewhere.
    pub(crate) fn at(url: &str, world: &World, name: &str, token: &str) -> Self {
        Self::under(&[], url, world, name, token)
    }

    /// One that is started by these words.
    pub(crate) fn under(words: &[String], url: &str, world: &World, name: &str, token: &str) -> Self {
        let mut words = words.iter().map(String::as_str).chain([PROGRAM]);
        let mut child = Command::new(words.next().unwrap_or(PROGRAM))
            .args(words)
            .args(["rpc", "--server", url, "--state"])
            .arg(world.path().join(name))
            .env("LICTOR_TOKEN", token)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout }
    }

    fn say(&mut self, method: &str, params: Value) {
        writeln!(self.stdin, "{}", json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
            .unwrap();
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.say(method, params);
        self.end()
    }

    /// Asks, and does not wait for the answer.
    pub(crate) fn begin(&mut self, name: &str) {
        self.say("evaluate", json!({"action": tool(name)}));
    }

    /// The next answer.
    pub(crate) fn end(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], 7);
        answer
    }

    pub(crate) fn judge(&mut self, name: &str) -> Value {
        self.call("evaluate", json!({"action": tool(name)}))["result"].clone()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn world(settings: &Value) -> (World, String) {
    let world = World::new();
    world.tenant("acme", settings, POLICY);
    let bob = world.token("acme", "person", "bob");
    (world, bob)
}

#[test]
fn block_lets_nothing_pass_and_recovers_by_itself() {
    let (mut world, bob) = world(&json!({"away": "block"}));
    let mut client = Client::new(&world, "client", &bob);
    assert_eq!(client.judge("read_file")["decision"], "pass");
    world.kill();
    let blocked = client.judge("read_file");
    assert_eq!((&blocked["decision"], &blocked["away"]), (&json!("block"), &json!(true)));
    world.restart();
    let back = client.judge("read_file");
    assert_eq!((&back["decision"], &back["away"]), (&json!("pass"), &Value::Null));
}

#[test]
fn the_last_good_policy_judges_until_it_is_too_old() {
    let (mut world, bob) = world(&json!({"away": "last_good"}));
    let mut client = Client::new(&world, "client", &bob);
    assert_eq!(client.judge("read_file")["away"], Value::Null);
    world.kill();
    assert_eq!(client.judge("read_file")["decision"], "pass");
    let blocked = client.judge("grant");
    assert_eq!(blocked["decision"], "block");
    assert!(blocked["reason"].as_str().unwrap().contains("admin.write"), "by the policy: {blocked}");
    // A week later, as far as the file says.
    let file = world.path().join("client/bundle.json");
    let mut bundle: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    bundle["fetched"] = json!(bundle["fetched"].as_i64().unwrap() - 8 * 24 * 60 * 60 * 1000);
    std::fs::write(&file, bundle.to_string()).unwrap();
    drop(client);
    let mut later = Client::new(&world, "client", &bob);
    let expired = later.judge("read_file");
    assert_eq!(expired["decision"], "block");
    assert!(expired["reason"].as_str().unwrap().contains("expired"), "{expired}");
}

#[test]
fn without_ever_having_seen_the_server_nothing_passes() {
    let (mut world, bob) = world(&json!({"away": "pass"}));
    world.kill();
    let mut client = Client::new(&world, "fresh", &bob);
    assert_eq!(client.judge("read_file")["decision"], "block");
}

/// What passed ungoverned is on record, reaches the server, and arrives once.
#[test]
fn what_passed_meanwhile_is_sent_exactly_once() {
    let (mut world, bob) = world(&json!({"away": "pass"}));
    let mut client = Client::new(&world, "client", &bob);
    assert_eq!(client.judge("grant")["decision"], "block");
    world.kill();
    for _ in 0..3 {
        let passed = client.judge("grant");
        assert_eq!((&passed["decision"], &passed["away"]), (&json!("pass"), &json!(true)));
    }
    let kept = client.call("records", json!({}));
    let kept = kept["result"]["records"].as_array().unwrap();
    assert!(
        kept.iter().all(|record| record["kind"] == "governance.absent" && record["user"] == "bob"),
        "{kept:?}"
    );
    assert_eq!(kept.len(), 3);
    world.restart();
    client.judge("read_file");
    client.judge("read_file");
    drop(client);
    // A client that has forgotten what it sent sends it again; the server has it.
    let mut again = Client::new(&world, "client", &bob);
    again.judge("read_file");
    let machine = std::fs::read_to_string(world.path().join("client/machine")).unwrap();
    let eve = world.token("acme", "person", "eve");
    let records = world.ask(
        "GET",
        &format!("/v1/records?machine=bob.{machine}&kind=governance.absent"),
        &eve,
        &json!({}),
    );
    assert_eq!(records["records"].as_array().unwrap().len(), 3, "{records}");
    let checked = world.ask("GET", &format!("/v1/verify?machine=bob.{machine}"), &eve, &json!({}));
    assert_eq!(checked["sound"], true, "{checked}");
}

#[test]
fn a_machine_cannot_rewrite_what_it_sent() {
    let (world, bob) = world(&json!({}));
    let mut head = lictor_store::Head::START;
    let record = |head: &mut lictor_store::Head, body: &str| {
        let draft = lictor_store::Draft {
            at: lictor_core::Timestamp(1),
            session: None,
            kind: "test".to_owned(),
            body: body.to_owned(),
        };
        let record = lictor_store::Record::after(*head, draft);
        *head = record.head();
        record
    };
    let (one, two) = (record(&mut head, "1"), record(&mut head, "2"));
    let send = |records: Value| {
        world.send("POST", "/v1/machines/box/records", &bob, Some(&json!({"records": records})))
    };
    assert_eq!(send(json!([one])).body["head"]["seq"], 1);
    assert_eq!(send(json!([one, two])).body["head"]["seq"], 2, "what is there is passed over");
    let mut start = lictor_store::Head::START;
    let other = record(&mut start, "another past");
    assert_eq!(send(json!([other])).status, 409);
    let mut changed = json!(two);
    changed["body"] = json!("changed");
    assert_eq!(send(json!([changed])).status, 409);
    let mut gap = lictor_store::Head { seq: 7, hash: head.hash };
    let far = record(&mut gap, "far");
    assert_eq!(send(json!([far])).status, 409);
}

/// A record without entries is sound: a name that was misspelt must not look like a machine that is.
#[test]
fn nothing_is_said_of_a_machine_that_sent_nothing() {
    let (world, bob) = world(&json!({}));
    let eve = world.token("acme", "person", "eve");
    let empty = json!({"records": []});
    assert_eq!(world.send("POST", "/v1/machines/box/records", &bob, Some(&empty)).status, 200);
    for (machine, status) in [("bob.box", 200), ("bob.bx", 404)] {
        for path in ["verify", "records", "records/export", "records/1"] {
            let reply = world.send("GET", &format!("/v1/{path}?machine={machine}"), &eve, None);
            let expected = if path == "records/1" { 404 } else { status };
            assert_eq!(reply.status, expected, "{path} {machine}: {}", reply.body);
        }
    }
    let reply = world.send("GET", "/v1/records/stream?machine=bob.bx", &eve, None);
    assert_eq!(reply.body["detail"], "there is no machine `bob.bx`");
}

#[test]
fn what_was_fetched_with_one_token_does_not_count_for_another() {
    let (mut world, bob) = world(&json!({"away": "last_good"}));
    let ada = world.token("acme", "person", "ada");
    assert_eq!(Client::new(&world, "client", &ada).judge("read_file")["decision"], "pass");
    world.kill();
    let mut own = Client::new(&world, "client", &ada);
    assert_eq!(own.judge("read_file")["decision"], "pass", "the last policy judges");
    drop(own);
    let said = Client::new(&world, "client", &bob).judge("read_file");
    assert_eq!(said["decision"], "block", "nothing was fetched for bob: {said}");
}

/// What was fetched with a token is gone when the token is: in the process that heard of it, and in the next one.
#[test]
fn a_token_that_was_taken_back_judges_nothing_without_the_server() {
    let (mut world, _) = world(&json!({"away": "last_good"}));
    let tokens = "/v1/tenants/acme/tokens";
    let made = world.ask("POST", tokens, &world.operator, &json!({"kind": "person", "owner": "bob"}));
    let (secret, id) = (made["secret"].as_str().unwrap(), made["token"]["id"].as_str().unwrap());
    let mut client = Client::new(&world, "client", secret);
    assert_eq!(client.judge("read_file")["decision"], "pass");
    world.ask("DELETE", &format!("{tokens}/{id}"), &world.operator, &json!({}));
    let refused = client.call("evaluate", json!({"action": tool("read_file")}));
    assert_eq!(refused["error"]["data"]["kind"], "unauthorized", "{refused}");
    world.kill();
    assert_eq!(client.judge("read_file")["decision"], "block");
    drop(client);
    assert_eq!(Client::new(&world, "client", secret).judge("read_file")["decision"], "block");
}

/// What a session of the client gets for a tool.
fn judge_in(client: &mut Client, session: &str, name: &str) -> Value {
    let action = json!({"kind": "tool", "tool": name, "session_id": session});
    client.call("evaluate", json!({"action": action}))["result"].clone()
}

#[test]
fn the_policy_that_judges_alone_is_the_one_that_was_in_force_last() {
    let (mut world, bob) = world(&json!({}));
    let mut client = Client::new(&world, "client", &bob);
    assert_eq!(client.judge("read_file")["decision"], "pass");
    let text =
        "{version: 1, known_tools: {known: [read_file]}, access: [{decision: block, reason: not today}]}";
    world.ask("PUT", "/v1/tenants/acme/policy", &world.operator, &json!({"text": text}));
    assert_eq!(client.judge("read_file")["policy_version"], 2);
    world.kill();
    let blocked = client.judge("read_file");
    assert_eq!((&blocked["decision"], &blocked["reason"]), (&json!("block"), &json!("not today")));
}

#[test]
fn what_was_not_passed_on_is_not_there_while_the_server_is_away() {
    let (mut world, bob) = world(&json!({}));
    let mut client = Client::new(&world, "client", &bob);
    let narrow = |parent: &str, child: &str| json!({"parent": parent, "child": child, "limit": {"scopes": ["tools.read"]}});
    client.call("delegate", narrow("main", "early"));
    world.kill();
    let late = client.call("delegate", narrow("early", "late"));
    assert_eq!(late["result"]["chain"], json!(["main", "early", "late"]), "{late}");
    for child in ["early", "late"] {
        let blocked = judge_in(&mut client, child, "write_file");
        assert_eq!(blocked["decision"], "block", "{child}: {blocked}");
        assert!(blocked["reason"].as_str().unwrap().contains("was not passed on"), "{blocked}");
        assert_eq!(judge_in(&mut client, child, "read_file")["decision"], "pass", "{child}");
    }
    assert_eq!(judge_in(&mut client, "main", "write_file")["decision"], "ask", "only what a rule asks about");
    drop(client);
    // Another process of the same client, and the server that was away, know of it.
    let mut client = Client::new(&world, "client", &bob);
    assert_eq!(judge_in(&mut client, "late", "write_file")["decision"], "block");
    world.restart();
    let there = judge_in(&mut client, "late", "write_file");
    assert_eq!((&there["decision"], &there["away"]), (&json!("block"), &Value::Null), "{there}");
    let eve = world.token("acme", "person", "eve");
    let records = world.ask("GET", "/v1/records?kind=evaluated", &eve, &json!({}));
    assert_eq!(records["records"][0]["chain"], json!(["main", "early", "late"]), "{records}");
    assert_eq!(records["records"][0]["tier"], "subagent");
}

#[test]
fn who_calls_is_the_same_while_the_server_is_away() {
    let (mut world, bob) = world(&json!({}));
    let service = world.token("acme", "service", "ada");
    let (mut person, mut program) =
        (Client::new(&world, "person", &bob), Client::new(&world, "program", &service));
    for client in [&mut person, &mut program] {
        assert_eq!(client.judge("read_file")["away"], Value::Null);
    }
    world.kill();
    for (field, value) in [
        ("tenant", json!("blue")),
        ("user", json!("ada")),
        ("chain", json!(["a", "b"])),
        ("agent", json!("account")),
    ] {
        let mut action = json!({"kind": "tool", "tool": "read_file", "session_id": "s"});
        action[field] = value;
        let refused = person.call("evaluate", json!({"action": action}));
        assert_eq!(refused["error"]["data"]["kind"], "not_yours", "{field}: {refused}");
    }
    // A person's limit counts over all of their agents.
    let passed = (0..24)
        .filter(|call| judge_in(&mut person, &format!("s{}", call % 3), "read_file")["decision"] == "pass")
        .count();
    assert_eq!(passed, 20);
    // A service that is called like a person has nothing of that person's.
    let blocked = program.judge("grant");
    assert_eq!(blocked["decision"], "block", "{blocked}");
    assert!(blocked["reason"].as_str().unwrap().contains("`nobody` does not have it"), "{blocked}");
    let kept = program.call("records", json!({}));
    let last = kept["result"]["records"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["user"], &last["tier"]), (&Value::Null, &json!("api")), "{last}");
}

#[test]
fn secrets_stay_out_of_what_is_kept_meanwhile() {
    for away in ["pass", "block", "last_good"] {
        let (mut world, bob) = world(&json!({"away": away}));
        let mut client = Client::new(&world, "client", &bob);
        assert_eq!(client.judge("read_file")["away"], Value::Null);
        world.kill();
        let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        let action =
            json!({"kind": "tool", "tool": "read_file", "payload": {"note": format!("token {secret}")}});
        client.call("evaluate", json!({"action": action}));
        client.call("post", json!({"action": action, "outcome": {"success": false, "error": secret}}));
        client.call("prompt", json!({"session_id": "s", "text": secret}));
        drop(client);
        for file in std::fs::read_dir(world.path().join("client")).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{away}");
        }
        assert!(world.path().join("client/client.db").exists());
    }
}
