//! What each group of endpoints is for.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{POLICY, World, send, tool};

fn world() -> World {
    let world = World::new();
    world.tenant("acme", &json!({}), POLICY);
    world
}

#[test]
fn who_an_action_is_for_comes_from_the_token_alone() {
    let world = world();
    world.tenant("other", &json!({}), POLICY);
    let bob = world.token("acme", "person", "bob");
    let refused =
        |action: Value| world.send("POST", "/v1/evaluate", &bob, Some(&json!({"action": action}))).status;
    assert_eq!(refused(json!({"kind": "tool", "tool": "read_file", "tenant": "other"})), 403);
    assert_eq!(refused(json!({"kind": "tool", "tool": "read_file", "user": "ada"})), 403);
    assert_eq!(refused(json!({"kind": "tool", "tool": "read_file", "chain": ["boss", "worker"]})), 403);
    assert_eq!(refused(json!({"kind": "tool", "tool": "read_file", "email": "ada@example.com"})), 400);
    let named = json!({"kind": "tool", "tool": "read_file", "tenant": "acme", "user": "bob"});
    assert_eq!(world.judge(&bob, &named)["decision"], "pass");
    assert_eq!(world.judge(&bob, &tool("grant"))["decision"], "block");
    let eve = world.token("acme", "person", "eve");
    let records = world.ask("GET", "/v1/records?kind=evaluated&user=bob", &eve, &json!({}));
    let records = records["records"].as_array().unwrap();
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|record| record["email"] == "bob@example.com" && record["tenant"] == "acme"));
    assert_eq!(records[1]["rule"], "access.scope");
    assert!(records[1]["reason"].as_str().unwrap().contains("admin.write"));
    let refusals = world.ask("GET", "/v1/records?kind=request.refused", &eve, &json!({}));
    assert_eq!(refusals["records"].as_array().unwrap().len(), 3, "{refusals}");
    assert!(refusals["records"][0]["reason"].as_str().unwrap().contains("`other`"), "{refusals}");
    let theirs = world.token("other", "person", "eve");
    assert_eq!(world.ask("GET", "/v1/records", &theirs, &json!({}))["records"], json!([]));
}

#[test]
fn scopes_shrink_along_the_chain_and_the_chain_is_on_record() {
    let world = world();
    let ada = world.token("acme", "person", "ada");
    assert_eq!(world.judge(&ada, &tool("grant"))["decision"], "pass");
    let delegate = |parent: &str, child: &str, scopes: Value| {
        let body = json!({"parent": parent, "child": child, "limit": {"scopes": scopes}});
        world.ask("POST", "/v1/delegate", &ada, &body)
    };
    assert_eq!(delegate("main", "helper", json!(["admin.write"]))["chain"], json!(["main", "helper"]));
    assert_eq!(
        delegate("helper", "reader", json!(["tools.read"]))["chain"],
        json!(["main", "helper", "reader"])
    );
    let by =
        |session: &str| json!({"kind": "tool", "tool": "grant", "session_id": session, "tier": "subagent"});
    assert_eq!(world.judge(&ada, &by("helper"))["decision"], "pass");
    let blocked = world.judge(&ada, &by("reader"));
    assert_eq!(blocked["decision"], "block");
    assert!(blocked["reason"].as_str().unwrap().contains("not passed on"), "{blocked}");
    let records = world.ask("GET", "/v1/records?decision=block", &ada, &json!({}));
    assert_eq!(records["records"][0]["chain"], json!(["main", "helper", "reader"]));
    assert_eq!(records["records"][0]["tier"], "subagent");
    let around =
        world.send("POST", "/v1/delegate", &ada, Some(&json!({"parent": "reader", "child": "main"})));
    assert_ne!(around.status, 200, "a loop: {}", around.body);
    // Another person's session of the same name is another session.
    let bob = world.token("acme", "person", "bob");
    let own = world.judge(&bob, &json!({"kind": "tool", "tool": "read_file", "session_id": "reader"}));
    assert_eq!(own["decision"], "pass");
}

/// Sixteen agents of one person at once: exactly as many pass as may.
#[test]
fn rates_count_for_the_person_and_are_exact() {
    let world = world();
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let passed = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..16)
            .map(|agent| {
                let (world, ada) = (&world, &ada);
                scope.spawn(move || {
                    let action =
                        json!({"kind": "tool", "tool": "read_file", "session_id": format!("agent-{agent}")});
                    (0..3).filter(|_| world.judge(ada, &action)["decision"] == "pass").count()
                })
            })
            .collect();
        agents.into_iter().map(|agent| agent.join().unwrap()).sum::<usize>()
    });
    assert_eq!(passed, 20);
    assert_eq!(world.judge(&bob, &tool("read_file"))["decision"], "pass", "bob has an account of his own");
    let checked = world.ask("GET", "/v1/verify", &ada, &json!({}));
    assert_eq!((&checked["sound"], &checked["faults"]), (&json!(true), &json!([])));
}

#[test]
fn questions_are_answered_by_people_with_that_role() {
    let world = world();
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let (machine, service) = (world.token("acme", "machine", "box"), world.token("acme", "service", "job"));
    let write =
        json!({"action": {"kind": "tool", "tool": "write_file", "session_id": "s"}, "unattended": true});
    world.ask("POST", "/v1/evaluate", &bob, &write);
    let waiting = world.ask("GET", "/v1/approvals", &ada, &json!({}));
    let id = waiting["approvals"][0]["id"].as_str().expect("a question").to_owned();
    for token in [&bob, &machine, &service, &world.operator] {
        for answer in ["approve", "deny"] {
            let reply = world.send("POST", &format!("/v1/approvals/{id}/{answer}"), token, Some(&json!({})));
            assert_eq!(reply.status, 403, "{}", reply.body);
        }
        assert_eq!(
            world.send("POST", "/v1/resolve", token, Some(&json!({"id": 1, "answers": [true]}))).status,
            403
        );
    }
    world.ask("POST", &format!("/v1/approvals/{id}/approve"), &ada, &json!({}));
    let again = world.send("POST", &format!("/v1/approvals/{id}/deny"), &ada, Some(&json!({})));
    assert_eq!(again.status, 409, "{}", again.body);
    let judged = |body: &Value| world.ask("POST", "/v1/evaluate", &bob, body)["decision"].clone();
    assert_eq!(judged(&write), "pass", "a yes counts");
    assert_ne!(judged(&write), "pass", "once");
}

#[test]
fn policies_have_versions_and_hold_from_the_next_call_on() {
    let world = world();
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let publish = |token: &str, text: &str| {
        world.send("PUT", "/v1/tenants/acme/policy", token, Some(&json!({"text": text})))
    };
    assert_eq!(world.judge(&bob, &tool("read_file"))["decision"], "pass");
    let strict = "{version: 1, access: [{user: bob, decision: block, reason: not today}]}";
    assert_eq!(publish(&bob, strict).status, 403);
    let bad = publish(&ada, "{version: 1, acess: []}");
    assert_eq!((bad.status, bad.kind.as_str()), (422, "application/problem+json"));
    assert!(bad.body["detail"].as_str().unwrap().contains("acess"), "{}", bad.body);
    let tried = world.ask("POST", "/v1/policy/simulate", &ada, &json!({"text": strict}));
    assert_eq!(tried["changed"][0]["would_be"], "block", "{tried}");
    assert_eq!(publish(&ada, strict).body["version"], 2);
    let blocked = world.judge(&bob, &tool("read_file"));
    assert_eq!((&blocked["decision"], &blocked["policy_version"]), (&json!("block"), &json!(2)));
    let back = world.send("PATCH", "/v1/tenants/acme/policy", &ada, Some(&json!({"version": 1})));
    assert_eq!(back.body["version"], 3, "{}", back.body);
    assert_eq!(world.judge(&bob, &tool("read_file"))["decision"], "pass");
    let all = world.ask("GET", "/v1/tenants/acme/policies", &ada, &json!({}));
    assert_eq!(all["policies"].as_array().unwrap().len(), 3);
}

/// Without its key, a request that is sent again would take effect twice.
#[test]
fn a_key_that_cannot_be_used_is_refused_and_not_passed_over() {
    let world = World::new();
    world.tenant("acme", &json!({}), POLICY);
    let ada = world.token("acme", "person", "ada");
    let body = json!({"action": tool("read_file")}).to_string();
    let (longest, longer) = ("k".repeat(200), "k".repeat(201));
    let usable: [&[&str]; 2] = [&[&longest], &["two words"]];
    let useless: [&[&str]; 6] =
        [&[&longer], &[""], &["schlüssel"], &["a\tb"], &["one", "two"], &["one", "one"]];
    let cases = usable.iter().map(|keys| (keys, 200)).chain(useless.iter().map(|keys| (keys, 400)));
    for (keys, status) in cases {
        let headers: Vec<_> = keys.iter().map(|key| ("idempotency-key", *key)).collect();
        let reply = send(&world.url, "POST", "/v1/evaluate", &ada, Some(&body), &headers);
        assert_eq!(reply.status, status, "{keys:?}: {}", reply.body);
    }
    let records = world.ask("GET", "/v1/records?kind=evaluated", &ada, &json!({}));
    assert_eq!(records["records"].as_array().unwrap().len(), usable.len(), "{records}");
}

#[test]
fn a_key_belongs_to_the_method_as_well() {
    let world = World::new();
    let (op, body) = (&world.operator, json!({"away": "pass"}).to_string());
    world.ask("PUT", "/v1/tenants/acme", op, &json!({"name": "Acme", "away": "block"}));
    let names = ["PATCH", "PUT"].map(|method| {
        let reply =
            send(&world.url, method, "/v1/tenants/acme", op, Some(&body), &[("idempotency-key", "one")]);
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.body["settings"]["name"].clone()
    });
    assert_eq!(names, [json!("Acme"), json!("")], "what PUT does not name is emptied");
}

#[test]
fn a_request_that_is_sent_again_counts_once() {
    let world = world();
    let bob = world.token("acme", "person", "bob");
    let body = json!({"action": tool("read_file")}).to_string();
    let ask = |key: &str| {
        send(&world.url, "POST", "/v1/evaluate", &bob, Some(&body), &[("idempotency-key", key)]).body
    };
    let first = ask("one");
    assert_eq!(ask("one"), first);
    assert_ne!(ask("two")["id"], first["id"]);
    // At the same time: one counts, the others are told that it is under way or get its answer.
    let ids: std::collections::BTreeSet<String> = std::thread::scope(|scope| {
        let same: Vec<_> = (0..8).map(|_| scope.spawn(|| ask("three"))).collect();
        let answers = same.into_iter().map(|one| one.join().unwrap());
        answers.filter(|answer| answer["status"] != 409).map(|answer| answer["id"].to_string()).collect()
    });
    assert_eq!(ids.len(), 1, "{ids:?}");
}

/// A server that ends between an answer and its arrival does not make the same request count twice.
fn is_remembered_across_a_restart(mut world: World) {
    world.tenant("acme", &json!({}), POLICY);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let body = json!({"action": tool("read_file")}).to_string();
    let other = json!({"action": tool("write_file")}).to_string();
    let ask = |world: &World, path: &str, token: &str, body: &str| {
        send(&world.url, "POST", path, token, Some(body), &[("idempotency-key", "one")])
    };
    let first = ask(&world, "/v1/evaluate", &bob, &body).body;
    let tokens = "/v1/tenants/acme/tokens";
    let mint = json!({"kind": "machine", "owner": "box"}).to_string();
    let made = ask(&world, tokens, &ada, &mint).body;
    assert!(made["secret"].is_string(), "{made}");
    world.kill();
    world.restart();
    assert_eq!(ask(&world, "/v1/evaluate", &bob, &body).body, first);
    let changed = ask(&world, "/v1/evaluate", &bob, &other);
    assert_eq!((changed.status, &changed.body["type"]), (409, &json!("urn:lictor:key_used")));
    let again = ask(&world, tokens, &ada, &mint);
    assert_eq!((again.status, &again.body["type"]), (409, &json!("urn:lictor:done")), "{}", again.body);
    let all = world.ask("GET", tokens, &ada, &json!({}));
    let boxes = all["tokens"].as_array().unwrap().iter().filter(|token| token["owner"] == "box").count();
    assert_eq!(boxes, 1, "{all}");
    let records = world.ask("GET", "/v1/records?kind=evaluated", &ada, &json!({}));
    assert_eq!(records["records"].as_array().unwrap().len(), 1, "{records}");
    assert_eq!(world.ask("GET", "/v1/verify", &ada, &json!({}))["sound"], true);
}

#[test]
fn a_request_is_remembered_across_a_restart() {
    is_remembered_across_a_restart(World::new());
}

#[test]
fn a_request_is_remembered_across_a_restart_on_postgres() {
    let cluster = crate::cluster::Cluster::start();
    drop(cluster.database("lictor"));
    is_remembered_across_a_restart(World::on(Some(cluster.url("owner", "lictor"))));
}

#[test]
fn judgement_and_outcome_share_an_id() {
    let world = world();
    let (bob, eve) = (world.token("acme", "person", "bob"), world.token("acme", "person", "eve"));
    let judged = world.judge(&bob, &tool("read_file"));
    let id = judged["correlation_id"].as_str().unwrap();
    let mut action = tool("read_file");
    action["tool_use_id"] = json!(id);
    let posted =
        world.ask("POST", "/v1/post", &bob, &json!({"action": action, "outcome": {"success": true}}));
    assert_eq!(posted["standing"], "governed", "{posted}");
    // An outcome is found by whose action it was, as the judgement is.
    for filter in ["", "?user=bob&tool=read_file"] {
        let records = world.ask("GET", &format!("/v1/records{filter}"), &eve, &json!({}));
        let records = records["records"].as_array().unwrap().iter();
        let same: Vec<_> = records.filter(|record| record["correlation_id"] == json!(id)).collect();
        let kinds: Vec<&str> = same.iter().map(|record| record["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["evaluated", "happened"], "{filter}");
        for record in same {
            let whose =
                ["tenant", "user", "email", "tier", "tool", "action_kind"].map(|field| &record[field]);
            let known = ["acme", "bob", "bob@example.com", "interactive", "read_file", "tool"];
            assert_eq!(whose, known, "{record}");
        }
    }
}

#[test]
fn a_token_that_was_taken_back_counts_no_more() {
    let world = world();
    let ada = world.token("acme", "person", "ada");
    let made = world.ask("POST", "/v1/tenants/acme/tokens", &ada, &json!({"kind": "person", "owner": "bob"}));
    let (secret, id) = (made["secret"].as_str().unwrap(), made["token"]["id"].as_str().unwrap());
    assert_eq!(world.judge(secret, &tool("read_file"))["decision"], "pass");
    world.ask("DELETE", &format!("/v1/tenants/acme/tokens/{id}"), &ada, &json!({}));
    assert_eq!(world.send("GET", "/v1/whoami", secret, None).status, 401);
    let bob = world.token("acme", "person", "bob");
    let gone = json!({"people": [{"uid": "bob", "disabled": true}]});
    world.ask("PUT", "/v1/tenants/acme/people", &ada, &gone);
    assert_eq!(world.send("GET", "/v1/whoami", &bob, None).status, 401, "a person who left");
    let listed = world.ask("GET", "/v1/tenants/acme/tokens", &ada, &json!({})).to_string();
    assert!(!listed.contains("lictor_"), "no secret is shown again");
    let raw = std::fs::read(find_db(&world.state())).unwrap_or_default();
    assert!(!raw.windows(bob.len()).any(|part| part == bob.as_bytes()), "secrets are kept hashed");
}

fn find_db(state: &std::path::Path) -> std::path::PathBuf {
    let stores = std::fs::read_dir(state.join("stores")).unwrap();
    stores.flatten().map(|store| store.path().join("lictor.db")).next().unwrap()
}

/// Reads server-sent events until `count` records came.
fn follow(url: &str, token: &str, after: Option<u64>, count: usize, meanwhile: impl FnOnce()) -> Vec<u64> {
    follow_some(url, token, "", after, count, meanwhile)
}

/// The same for records that a query asks for.
fn follow_some(
    url: &str,
    token: &str,
    query: &str,
    after: Option<u64>,
    count: usize,
    meanwhile: impl FnOnce(),
) -> Vec<u64> {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let resume = after.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
    write!(
        stream,
        "GET /v1/records/stream{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{resume}\r\n"
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().contains("200"));
    assert!(lines.any(|line| line.is_empty()), "the end of the head");
    meanwhile();
    lines.filter_map(|line| line.strip_prefix("id: ")?.trim().parse().ok()).take(count).collect()
}

#[test]
fn records_can_be_followed_and_taken_up_again_after_a_restart() {
    let mut world = world();
    let (bob, eve) = (world.token("acme", "person", "bob"), world.token("acme", "person", "eve"));
    let seen = follow(&world.url, &eve, None, 2, || {
        world.judge(&bob, &tool("read_file"));
        world.judge(&bob, &tool("read_file"));
    });
    assert_eq!(seen, [1, 2], "{seen:?}");
    assert_eq!(world.end(), Some(0), "asked to end, it ends well");
    world.restart();
    world.judge(&bob, &tool("read_file"));
    let rest = follow(&world.url, &eve, Some(1), 3, || {});
    assert_eq!(rest, [2, 3, 4]);
    assert_eq!(world.send("GET", "/v1/records/stream", &bob, None).status, 403);
}

#[test]
fn only_the_wanted_records_are_followed() {
    let world = world();
    let (bob, eve) = (world.token("acme", "person", "bob"), world.token("acme", "person", "eve"));
    let seqs = |query: &str| -> Vec<u64> {
        let page = world.ask("GET", &format!("/v1/records{query}"), &eve, &json!({}));
        page["records"].as_array().unwrap().iter().map(|record| record["seq"].as_u64().unwrap()).collect()
    };
    for name in ["read_file", "write_file", "read_file", "write_file"] {
        world.ask("POST", "/v1/evaluate", &bob, &json!({"action": tool(name), "unattended": true}));
    }
    for query in ["?tool=write_file", "?decision=ask", "?kind=evaluated", "?user=bob&tool=read_file"] {
        let listed = seqs(query);
        assert!(listed.len() > 1, "{query}: {listed:?}");
        let streamed = follow_some(&world.url, &eve, query, Some(0), listed.len(), || {});
        assert_eq!(streamed, listed, "{query}");
        let resumed = follow_some(&world.url, &eve, query, Some(listed[0]), listed.len() - 1, || {});
        assert_eq!(resumed, listed[1..], "{query}");
    }
    assert_ne!(seqs("?tool=write_file"), seqs(""), "something was left out");
    let wrong = world.send("GET", "/v1/records/stream?decision=perhaps", &eve, None);
    assert_eq!((wrong.status, wrong.kind.as_str()), (400, "application/problem+json"), "{}", wrong.body);
}

#[test]
fn the_gate_answers_by_the_findings_on_record() {
    let world = world();
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let gate = |event: Value| world.ask("POST", "/v1/gate", &bob, &json!({"event": event}));
    assert_eq!(gate(json!("pre-commit"))["outcome"], "ok");
    let finding = json!({"plan": "p1", "level": "HIGH", "title": "a password in the code", "agent": "reviewer",
                         "evidence": ["src/lib.rs:3:here"]});
    let recorded = world.ask("POST", "/v1/findings", &bob, &json!({"finding": finding}));
    for event in [json!("pre-commit"), json!({"pre-push": []}), json!({"ci": {}})] {
        let said = gate(event);
        assert_eq!(said["outcome"], "blocked", "{said}");
        assert_eq!(said["findings"][0]["title"], "a password in the code", "{said}");
    }
    let low = json!({"plan": "p1", "level": "LOW", "title": "a long line", "agent": "reviewer"});
    world.ask("POST", "/v1/findings", &bob, &json!({"finding": low}));
    let path = format!("/v1/findings/p1/{}/waive", recorded["id"].as_str().unwrap());
    world.ask("POST", &path, &ada, &json!({"reason": "it is a sample"}));
    assert_eq!(gate(json!("pre-commit"))["outcome"], "ok", "a waived finding and a low one stop nothing");
    let wrong = world.send("POST", "/v1/gate", &bob, Some(&json!({"event": "lunch"})));
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    let councils = "{version: 1, councils: {ship: {on: [pre-commit], guardrail: true, reviewers: [{name: r, command: [./r.sh]}]}}}";
    let published = world.send("PUT", "/v1/tenants/acme/policy", &ada, Some(&json!({"text": councils})));
    assert_eq!(published.status, 200, "{}", published.body);
    let said = gate(json!("pre-commit"));
    assert_eq!(said["outcome"], "blocked", "nobody has looked: {said}");
    assert!(said["reasons"][0].as_str().unwrap().contains("no repository here"), "{said}");
}

/// The budget of a person is that of all their sessions: a new one is no way around it, and nobody is told so.
#[test]
fn a_budget_that_is_used_up_by_the_person_says_so() {
    let world = World::new();
    world.tenant(
        "acme",
        &json!({}),
        "{version: 1, known_tools: {known: [read_file]}, budget: {max_actions: 2}}",
    );
    let bob = world.token("acme", "person", "bob");
    let judge = |session: &str| {
        world.judge(&bob, &json!({"kind": "tool", "tool": "read_file", "session_id": session}))
    };
    assert_eq!(judge("a")["decision"], "pass");
    assert_eq!(judge("b")["decision"], "warn", "the limit is near");
    let blocked = judge("c");
    assert_eq!(blocked["decision"], "block");
    assert_eq!(blocked["reason"], "the account of `bob` has used its budget of 2 actions (2 used)");
    let fix = blocked["fix"].as_str().unwrap();
    assert!(fix.contains("publishes the policy") && !fix.contains("session"), "{fix}");
}

/// Whatever a session begins with, and whatever its agent is called, it stands below the account of its person.
#[test]
fn no_session_stands_beside_the_account() {
    let world = World::new();
    world.tenant(
        "acme",
        &json!({}),
        "{version: 1, known_tools: {known: [read_file]}, budget: {max_actions: 1}}",
    );
    let bob = world.token("acme", "person", "bob");
    for begun in ["prompt", "stop", "end"] {
        let (path, body) = (format!("/v1/{begun}"), json!({"session_id": begun}));
        assert_eq!(world.send("POST", &path, &bob, Some(&body)).status, 200);
    }
    let action = |session: &str, agent: &str| json!({"action": {"kind": "tool", "tool": "read_file", "session_id": session, "agent": agent}});
    let judge =
        |session: &str, agent: &str| world.send("POST", "/v1/evaluate", &bob, Some(&action(session, agent)));
    assert_eq!(judge("first", "x").body["decision"], "warn");
    for session in ["prompt", "stop", "end"] {
        assert_eq!(judge(session, "").body["decision"], "block", "begun by {session}");
    }
    assert_eq!(judge("first", "account").status, 403, "an account is nobody's agent");
}

#[test]
fn a_wrong_number_of_answers_leaves_the_question_open() {
    let world = world();
    let ada = world.token("acme", "person", "ada");
    let asked = world.judge(&ada, &json!({"kind": "tool", "tool": "write_file", "session_id": "s"}));
    assert_eq!(asked["decision"], "ask", "{asked}");
    let answer = |answers: Value| {
        world.send("POST", "/v1/resolve", &ada, Some(&json!({"id": asked["id"], "answers": answers})))
    };
    for wrong in [json!([]), json!([true, true])] {
        let refused = answer(wrong);
        assert_eq!(refused.status, 400, "{}", refused.body);
        assert!(refused.body["detail"].as_str().unwrap().contains("1 needed"), "{}", refused.body);
    }
    let answered = answer(json!([true]));
    assert_eq!((answered.status, &answered.body["decision"]), (200, &json!("pass")), "{}", answered.body);
}

#[test]
fn tests_that_cannot_be_read_are_refused() {
    let world = world();
    let ada = world.token("acme", "person", "ada");
    for tests in ["tests: [", "nonsense", "tests: [{name: x, expects: block}]"] {
        let refused = world.send("POST", "/v1/policy/test", &ada, Some(&json!({"tests": tests})));
        assert_eq!(refused.status, 422, "{tests}: {}", refused.body);
        assert!(!refused.body["problems"].as_array().unwrap().is_empty(), "{tests}: {}", refused.body);
    }
}

#[test]
fn the_scheme_of_a_token_is_written_in_any_case() {
    let world = world();
    let bob = world.token("acme", "person", "bob");
    for (value, status) in [
        (format!("bearer {bob}"), 200),
        (format!("BEARER  {bob}"), 200),
        (format!("Basic {bob}"), 401),
        (format!("Bearer{bob}"), 401),
        ("Bearer ".to_owned(), 401),
        (bob.clone(), 401),
    ] {
        let reply = send(&world.url, "GET", "/v1/whoami", "", None, &[("authorization", &value)]);
        assert_eq!(reply.status, status, "{value}: {}", reply.body);
    }
}

#[test]
fn a_question_that_nobody_asked_here_is_not_found() {
    let world = world();
    world.tenant("other", &json!({}), POLICY);
    let (ada, theirs) = (world.token("acme", "person", "ada"), world.token("other", "person", "ada"));
    let write =
        json!({"action": {"kind": "tool", "tool": "write_file", "session_id": "s"}, "unattended": true});
    world.ask("POST", "/v1/evaluate", &ada, &write);
    let waiting = world.ask("GET", "/v1/approvals", &ada, &json!({}));
    let id = waiting["approvals"][0]["id"].as_str().expect("a question");
    for (id, token) in [(id, &theirs), ("nothing", &ada)] {
        for answer in ["approve", "deny"] {
            let path = format!("/v1/approvals/{id}/{answer}");
            assert_eq!(world.send("POST", &path, token, Some(&json!({}))).status, 404, "{path}");
        }
    }
}

#[test]
fn a_body_is_an_object_and_what_does_not_fit_is_named() {
    let world = world();
    let bob = world.token("acme", "person", "bob");
    let said = |path: &str, body: &str| {
        let reply = send(&world.url, "POST", path, &bob, Some(body), &[]);
        assert_eq!(reply.status, 400, "{path} {body}: {}", reply.body);
        let detail = reply.body["detail"].as_str().unwrap().to_owned();
        assert!(!detail.contains("struct") && !detail.contains("Params"), "{detail}");
        detail
    };
    let by_position = json!([tool("read_file"), "enforce", false]).to_string();
    for body in ["[]", "null", "1", "\"text\"", &by_position] {
        for path in ["/v1/evaluate", "/v1/stop", "/v1/session", "/v1/delegate"] {
            assert!(said(path, body).contains("must be a JSON object"));
        }
    }
    assert!(said("/v1/evaluate", "{\"action\": null}").contains("`action`"));
    assert!(said("/v1/evaluate", "{\"action\": [\"bash\"]}").contains("`action`"));
    assert!(said("/v1/evaluate", "{}").contains("`action`"));
    assert!(said("/v1/stop", "{\"session_id\": []}").contains("`session_id`"));
}
