//! Harder than AgentGovBench: exact limits under load, loops, spoofing, containment, changes by people who may not.

use serde_json::{Value, json};

use crate::world::{World, tool};

const POLICY: &str = "
version: 1
known_tools: {known: [read_file, write_file]}
access:
  - {max_per_minute: 60}
  - {tier: background, max_per_minute: 20}
";

fn world() -> (World, String) {
    let world = World::new();
    world.tenant("acme", &json!({}), POLICY);
    let bob = world.token("acme", "person", "bob");
    (world, bob)
}

/// How many of these calls pass, from 16 threads at once.
fn passed(world: &World, token: &str, calls: usize, action: &Value) -> usize {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|thread| {
                scope.spawn(move || {
                    let mut action = action.clone();
                    action["session_id"] = json!(format!("worker-{thread}"));
                    (0..calls / 16).filter(|_| world.judge(token, &action)["decision"] == "pass").count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn limits_are_exact_for_a_person_and_for_a_tier_whatever_runs_at_once() {
    let (world, bob) = world();
    let background = json!({"kind": "tool", "tool": "read_file", "tier": "background"});
    assert_eq!(passed(&world, &bob, 64, &background), 20, "a tier's own limit");
    let ada = world.token("acme", "person", "ada");
    assert_eq!(passed(&world, &ada, 112, &tool("read_file")), 60, "a person's limit, over sixteen agents");
    assert_eq!(world.judge(&ada, &tool("read_file"))["decision"], "block");
    // What was refused is on record, and refused calls do not count.
    let records =
        world.ask("GET", "/v1/records?kind=evaluated&user=ada&decision=block&limit=1000", &ada, &json!({}));
    assert_eq!(records["records"].as_array().unwrap().len(), 53);
}

/// How many of 128 calls pass, from 64 threads, by people, machines and services of a tenant.
fn passed_by(world: &World, tenant: &str) -> usize {
    let who =
        [("person", "ada"), ("person", "bob"), ("person", "eve"), ("machine", "box"), ("service", "job")];
    let tokens = who.map(|(kind, owner)| world.token(tenant, kind, owner));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..64)
            .zip(tokens.iter().cycle())
            .map(|(thread, token)| {
                let action =
                    json!({"kind": "tool", "tool": "read_file", "session_id": format!("agent-{thread}")});
                scope.spawn(move || {
                    (0..2).filter(|_| world.judge(token, &action)["decision"] != "block").count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

/// Tenants with limits of their own, beside one without.
pub(crate) fn tenants_count_exactly(world: &World) {
    let cases = [
        ("free", "{}", None),
        (
            "spent",
            "{budget: {max_actions: 40}}",
            Some("the tenant has used its budget of 40 actions (40 used)"),
        ),
        (
            "fast",
            "{rate_limit: {max_per_minute: 40}}",
            Some("40 actions of the tenant were allowed in the last minute, and 40 may be"),
        ),
    ];
    for (tenant, limits, said) in cases {
        let policy = format!("{{version: 1, known_tools: {{known: [read_file]}}, tenant: {limits}}}");
        world.tenant(tenant, &json!({}), &policy);
        assert_eq!(passed_by(world, tenant), if said.is_some() { 40 } else { 128 }, "{tenant}");
        let eve = world.token(tenant, "person", "eve");
        if let Some(said) = said {
            assert_eq!(world.judge(&eve, &tool("read_file"))["reason"], said);
        }
        let checked = world.ask("GET", "/v1/verify", &eve, &json!({}));
        assert_eq!(checked["sound"], true, "{checked}");
    }
}

#[test]
fn what_a_tenant_spends_is_reported_by_all_of_its_people() {
    let world = World::new();
    world.tenant(
        "acme",
        &json!({}),
        "{version: 1, known_tools: {known: [read_file]}, tenant: {budget: {max_tokens: 100}}}",
    );
    for (owner, passes) in [("ada", "pass"), ("bob", "pass"), ("eve", "block")] {
        let token = world.token("acme", "person", owner);
        let judged = world.judge(&token, &tool("read_file"));
        assert_eq!(judged["decision"], passes, "{owner}: {judged}");
        let mut action = tool("read_file");
        action["tool_use_id"] = judged["correlation_id"].clone();
        let outcome = json!({"success": true, "usage": {"tokens": 50}});
        world.ask("POST", "/v1/post", &token, &json!({"action": action, "outcome": outcome}));
    }
}

/// Programs may be called like people: sessions, accounts and the chains that they send stay apart.
#[test]
fn callers_of_one_name_do_not_meet() {
    let world = World::new();
    let policy = "{version: 1, known_tools: {known: [read_file]}, budget: {max_actions: 2}}";
    world.tenant("acme", &json!({}), policy);
    let person = world.token("acme", "person", "ada");
    let programs = ["machine", "service"].map(|kind| world.token("acme", kind, "ada"));
    let action = json!({"kind": "tool", "tool": "read_file", "session_id": "main"});
    for token in [&person, &programs[0], &programs[1]] {
        for expected in ["pass", "warn", "block"] {
            assert_eq!(world.judge(token, &action)["decision"], expected);
        }
    }
    let sessions = world.ask("GET", "/v1/sessions", &person, &json!({}))["sessions"].to_string();
    for name in ["\"ada/main\"", "\"machine=ada/main\"", "\"service=ada/main\""] {
        assert!(sessions.contains(name), "{sessions}");
    }
    // A dot in a name does not make it another's.
    let people = json!({"people": [{"uid": "ada.box", "roles": ["viewer"]}]});
    world.ask("PUT", "/v1/tenants/acme/people", &world.operator, &people);
    let dotted = world.token("acme", "person", "ada.box");
    let send = |token: &str, machine: &str, body: &str| {
        let draft = lictor_store::Draft {
            at: lictor_core::Timestamp(1),
            session: None,
            kind: "test".to_owned(),
            body: body.to_owned(),
        };
        let record = lictor_store::Record::after(lictor_store::Head::START, draft);
        world.send(
            "POST",
            &format!("/v1/machines/{machine}/records"),
            token,
            Some(&json!({"records": [record]})),
        )
    };
    assert_eq!(send(&dotted, "one", "\"dotted\"").status, 200);
    let refused = send(&person, "box.one", "\"ada\"");
    assert_eq!(refused.status, 400, "{}", refused.body);
    for (token, body) in [(&person, "1"), (&programs[0], "2"), (&programs[1], "3")] {
        assert_eq!(send(token, "one", body).status, 200, "{body}");
    }
    let machines = world.ask("GET", "/v1/machines", &person, &json!({}));
    let names: Vec<&str> =
        machines["machines"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ada.box.one", "ada.one", "machine=ada.one", "service=ada.one"]);
    for name in names {
        let own = world.ask("GET", &format!("/v1/records?machine={name}"), &person, &json!({}));
        assert_eq!(own["records"].as_array().unwrap().len(), 1, "{name}: {own}");
    }
    let long = "x".repeat(100);
    assert_eq!(send(&world.token("acme", "service", &long), &long, "1").status, 400);
}

/// What a token says of itself, and what is on record.
#[test]
fn nobody_is_taken_for_more_than_they_are() {
    let world = World::new();
    world.tenant("acme", &json!({}), "{version: 1, known_tools: {known: [read_file]}}");
    let (bob, eve) = (world.token("acme", "person", "bob"), world.token("acme", "person", "eve"));
    let (machine, service) = (world.token("acme", "machine", "box"), world.token("acme", "service", "job"));
    for token in [&bob, &service] {
        world.ask("POST", "/v1/delegate", token, &json!({"parent": "main", "child": "helper"}));
    }
    let cases = [
        // A person says how they work; who says nothing is not below anybody.
        (&bob, "main", None, json!("interactive")),
        (&bob, "main", Some("interactive"), json!("interactive")),
        (&bob, "main", Some("api"), json!("api")),
        // Who was delegated to is a subagent at most.
        (&bob, "helper", None, json!("subagent")),
        (&bob, "helper", Some("interactive"), json!("subagent")),
        (&bob, "helper", Some("background"), json!("background")),
        // Nobody sits in front of a program.
        (&machine, "main", None, json!("api")),
        (&machine, "main", Some("interactive"), json!("api")),
        (&service, "main", Some("subagent"), json!("api")),
        (&service, "main", Some("background"), json!("background")),
        (&service, "helper", Some("interactive"), json!("api")),
    ];
    for (token, session, said, expected) in cases {
        let mut action = json!({"kind": "tool", "tool": "read_file", "session_id": session});
        if let Some(said) = said {
            action["tier"] = json!(said);
        }
        let id = world.judge(token, &action)["id"].as_u64().unwrap();
        let record = world.ask("GET", &format!("/v1/records/{id}"), &eve, &json!({}));
        assert_eq!(record["tier"], expected, "{session} {said:?}: {record}");
    }
}

#[test]
fn rows_of_tiers_are_not_avoided_by_naming_none() {
    let world = World::new();
    let rows = "[{tier: interactive, decision: block}, {tier: subagent, decision: warn}]";
    world.tenant(
        "acme",
        &json!({}),
        &format!("{{version: 1, known_tools: {{known: [read_file]}}, access: {rows}}}"),
    );
    let bob = world.token("acme", "person", "bob");
    world.ask("POST", "/v1/delegate", &bob, &json!({"parent": "main", "child": "helper"}));
    for (session, decision) in [("main", "block"), ("helper", "warn")] {
        let action = json!({"kind": "tool", "tool": "read_file", "session_id": session});
        assert_eq!(world.judge(&bob, &action)["decision"], decision, "{session}");
    }
}

#[test]
fn a_tenant_has_limits_of_its_own_that_are_exact_whoever_calls() {
    tenants_count_exactly(&World::new());
}

#[test]
fn delegation_never_goes_in_a_circle_and_never_gives_more() {
    let (world, bob) = world();
    let delegate = |parent: &str, child: &str, limit: Value| {
        let body = json!({"parent": parent, "child": child, "limit": limit});
        world.send("POST", "/v1/delegate", &bob, Some(&body))
    };
    assert_eq!(delegate("a", "b", json!({"scopes": ["tools.read"]})).status, 200);
    assert_eq!(delegate("b", "c", json!({"scopes": ["tools.read", "admin.write"]})).status, 200);
    for (parent, child) in [("a", "a"), ("b", "a"), ("c", "a"), ("c", "b")] {
        assert_eq!(delegate(parent, child, json!({})).status, 409, "{parent} → {child}");
    }
    // A limit that would not hold any more is not acknowledged; one that holds may be said again.
    let late = delegate("a", "b", json!({"read_only": true}));
    assert_eq!((late.status, &late.body["type"]), (409, &json!("urn:lictor:has_begun")), "{}", late.body);
    assert_eq!(delegate("a", "b", json!({"scopes": ["tools.read"]})).status, 200);
    // Another parent, with more, is refused too.
    assert_eq!(delegate("other", "c", json!({})).status, 409);
    let action = json!({"kind": "tool", "tool": "read_file", "session_id": "c"});
    world.judge(&bob, &action);
    let eve = world.token("acme", "person", "eve");
    let records = world.ask("GET", "/v1/records?kind=evaluated", &eve, &json!({}));
    assert_eq!(records["records"][0]["chain"], json!(["a", "b", "c"]));
    let spoofed = json!({"action": {"kind": "tool", "tool": "read_file", "session_id": "c", "chain": ["c"]}});
    assert_eq!(world.send("POST", "/v1/evaluate", &bob, Some(&spoofed)).status, 403);
}

#[test]
fn a_person_who_is_contained_can_do_nothing_at_once_and_everything_after() {
    let (world, bob) = world();
    assert_eq!(world.judge(&bob, &tool("read_file"))["decision"], "pass");
    let set = |disabled: bool| {
        let person = json!({"uid": "bob", "email": "bob@example.com", "scopes": ["tools.write"], "disabled": disabled});
        world.ask("PUT", "/v1/tenants/acme/people", &world.operator, &json!({"people": [person]}));
    };
    set(true);
    for name in ["read_file", "write_file"] {
        let refused = world.send("POST", "/v1/evaluate", &bob, Some(&json!({"action": tool(name)})));
        assert_eq!(refused.status, 401, "{}", refused.body);
    }
    set(false);
    assert_eq!(world.judge(&bob, &tool("read_file"))["decision"], "pass");
}

#[test]
fn who_may_not_change_the_policy_changes_nothing() {
    let (world, bob) = world();
    let (eve, machine) = (world.token("acme", "person", "eve"), world.token("acme", "machine", "box"));
    for token in [&bob, &eve, &machine] {
        let open = json!({"text": "{version: 1, known_tools: {known: [\"*\"]}}"});
        for (method, path, body) in [
            ("PUT", "/v1/tenants/acme/policy", open),
            ("PATCH", "/v1/tenants/acme/policy", json!({"version": 1})),
            (
                "PUT",
                "/v1/tenants/acme/people",
                json!({"people": [{"uid": "bob", "scopes": ["admin.write"]}]}),
            ),
            ("POST", "/v1/tenants/acme/tokens", json!({"kind": "person", "owner": "ada"})),
        ] {
            assert_eq!(world.send(method, path, token, Some(&body)).status, 403, "{method} {path}");
        }
    }
    assert_eq!(world.judge(&bob, &tool("read_file"))["policy_version"], 1);
}

/// Many tenants judge at once, each with files and threads of its own: one judgement takes nothing from the others.
#[test]
fn sixty_four_tenants_judge_at_once() {
    let world = World::new();
    let tokens: Vec<String> = (0..64)
        .map(|number| {
            let name = format!("t{number}");
            world.tenant(&name, &json!({}), "{version: 1, known_tools: {known: [read_file]}}");
            world.token(&name, "person", "bob")
        })
        .collect();
    std::thread::scope(|scope| {
        for token in &tokens {
            let world = &world;
            scope.spawn(move || {
                for _ in 0..3 {
                    assert_eq!(world.judge(token, &tool("read_file"))["decision"], "pass");
                }
            });
        }
    });
}
