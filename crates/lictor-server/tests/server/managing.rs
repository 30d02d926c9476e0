//! Tenants and their settings, what the operator may do and nobody else, and what stands behind the question mark.

use serde_json::{Value, json};

use crate::world::{POLICY, World, send, tool};

/// Every address of the document that needs a token, with the names of its parameters.
fn documented(world: &World) -> Vec<(String, String, Vec<String>)> {
    let document = world.send("GET", "/openapi.json", "", None).body;
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if operation["security"].is_null() {
                continue;
            }
            let parameters = operation["parameters"].as_array().unwrap();
            let named = parameters.iter().filter(|one| one["in"] == "query");
            let names = named.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
            let path = path
                .replace("{tenant}", "acme")
                .replace("{uid}", "ada")
                .replace("{session}", "account:ada")
                .replace("{seq}", "1")
                .replace("{machine}", "box")
                .replace("{plan}", "p1")
                .replace("{id}", "1");
            all.push((method.to_uppercase(), path, names));
        }
    }
    assert!(all.len() > 35, "{all:?}");
    all
}

#[test]
fn parameters_that_an_address_does_not_know_are_refused_by_name() {
    let world = World::new();
    world.tenant("acme", &json!({}), POLICY);
    let op = &world.operator;
    for (method, path, known) in documented(&world) {
        let body = (method != "GET").then(|| json!({}));
        let ask =
            |query: &str, token: &str| world.send(&method, &format!("{path}?{query}"), token, body.as_ref());
        let what = format!("{method} {path}");
        let refused = ask("colour=1", op);
        assert_eq!(refused.status, 400, "{what}: {}", refused.body);
        assert_eq!(refused.kind, "application/problem+json");
        assert_eq!(refused.body["detail"], "unknown parameter `colour`", "{what}");
        let fix = refused.body["fix"].as_str().unwrap();
        let expected = if known.is_empty() { "no parameters".to_owned() } else { known.join(", ") };
        assert!(fix.contains(&expected), "{what}: {fix}");
        for name in &known {
            // A letter too many.
            let misspelt = ask(&format!("{name}x=1"), op);
            assert_eq!(misspelt.status, 400, "{what} {name}");
            assert_eq!(misspelt.body["fix"], format!("did you mean `{name}`?"), "{what}");
            let twice = ask(&format!("{name}=1&{name}=2"), op);
            assert_eq!(twice.body["detail"], format!("the parameter `{name}` stands twice"), "{what}");
        }
        // Who it is comes first: nobody learns from outside what an address takes.
        assert_eq!(ask("colour=1", "").status, 401, "{what}");
    }
    for path in ["/v1/setup", "/v1/sign-in"] {
        let refused = world.send("POST", &format!("{path}?colour=1"), "", Some(&json!({})));
        assert_eq!(refused.body["detail"], "unknown parameter `colour`", "{path}");
        let list = world.send("POST", path, "", Some(&json!(["a", "b", "c"])));
        assert_eq!(list.status, 400, "{path}: {}", list.body);
        let twice = "{\"code\": \"a\", \"code\": \"b\", \"owner\": \"op\"}";
        let twice = send(&world.url, "POST", path, "", Some(twice), &[]);
        let said = twice.body["detail"].as_str().unwrap();
        assert!(twice.status == 400 && said.contains("`code` is there twice"), "{path}: {said}");
    }
    // A filter that is read in part would look for something else.
    for query in ["text=100%", "text=%zz", "text=%f", "text=%+1", "text=%ff", "te%zzxt=1"] {
        let refused = world.send("GET", &format!("/v1/records?{query}"), op, None);
        assert_eq!(refused.status, 400, "{query}: {}", refused.body);
        assert!(refused.body["fix"].as_str().unwrap().contains("`%25`"), "{query}: {}", refused.body);
    }
    world.ask("GET", "/v1/records?text=100%25+%C3%BC", op, &json!({}));
    // What is hostile in a name is shown, not obeyed.
    let hostile = world.send("GET", "/v1/records?%1b%5b31m%0a=1", op, None);
    let said = hostile.body["detail"].as_str().unwrap();
    assert!(hostile.status == 400 && !said.contains('\u{1b}') && !said.contains('\n'), "{said:?}");
}

#[test]
fn a_stream_begins_where_it_is_told_or_not_at_all() {
    let world = World::new();
    world.tenant("acme", &json!({}), POLICY);
    let eve = world.token("acme", "person", "eve");
    for since in ["x", "-1", "9007199254740992", ""] {
        let refused = world.send("GET", &format!("/v1/records/stream?since={since}"), &eve, None);
        assert_eq!(refused.status, 400, "{since}: {}", refused.body);
        let headers = [("last-event-id", since)];
        if !since.is_empty() {
            let refused = send(&world.url, "GET", "/v1/records/stream", &eve, None, &headers);
            assert_eq!(refused.status, 400, "{since}: {}", refused.body);
        }
    }
}

#[test]
fn settings_that_are_not_named_stay_or_go_as_it_was_asked() {
    let world = World::new();
    let op = &world.operator;
    let oidc = json!({"issuer": "https://id.example.com", "client_id": "lictor"});
    let settings = |reply: Value| reply["settings"].clone();
    let put = |body: &Value| settings(world.ask("PUT", "/v1/tenants/acme", op, body));
    let patch = |body: &Value| settings(world.ask("PATCH", "/v1/tenants/acme", op, body));
    let whole = json!({"name": "Acme", "away": "block", "max_age": 60, "oidc": oidc});
    assert_eq!(put(&whole), whole);
    // A part is changed; the rest stays.
    assert_eq!(patch(&json!({})), whole);
    assert_eq!(patch(&json!({"max_age": 90}))["away"], "block");
    assert_eq!(patch(&json!({"name": "Acme Inc"}))["oidc"], oidc);
    // To take something away, one has to say so.
    let without = patch(&json!({"oidc": null}));
    assert_eq!(without, json!({"name": "Acme Inc", "away": "block", "max_age": 90}));
    assert_eq!(settings(world.ask("GET", "/v1/tenants/acme", op, &json!({}))), without);
    // All of it is replaced, and the answer says by what.
    assert_eq!(
        put(&json!({"name": "Acme"})),
        json!({"name": "Acme", "away": "last_good", "max_age": 604_800})
    );
    for (body, status) in
        [(json!({"awya": "block"}), 400), (json!({"oidc": {"issuer": "x", "client_id": "y"}}), 400)]
    {
        assert_eq!(world.send("PATCH", "/v1/tenants/acme", op, Some(&body)).status, status, "{body}");
    }
    assert_eq!(world.send("PATCH", "/v1/tenants/none", op, Some(&json!({}))).status, 404);
}

/// The operator manages every tenant and is a person of none; an administrator manages one.
#[test]
fn the_operator_is_above_tenants_and_administrators_are_not() {
    let world = World::new();
    for tenant in ["default", "acme"] {
        world.tenant(tenant, &json!({}), POLICY);
    }
    let (home, acme) = (world.token("default", "person", "ada"), world.token("acme", "person", "ada"));
    let op = &world.operator;
    // In a body, a tenant has to be the token's, whoever has the token.
    let action = json!({"kind": "tool", "tool": "read_file", "tenant": "acme"});
    let named = world.send("POST", "/v1/evaluate", op, Some(&json!({"action": action})));
    assert_eq!((named.status, &named.body["type"]), (403, &json!("urn:lictor:not_yours")));
    // Records of another tenant cannot be asked for, and questions are for people.
    world.judge(&acme, &tool("read_file"));
    let own = world.ask("GET", "/v1/records?kind=evaluated", op, &json!({}));
    assert_eq!(own["records"], json!([]));
    let asked =
        world.ask("POST", "/v1/evaluate", &home, &json!({"action": tool("write_file"), "unattended": true}));
    assert_eq!(asked["decision"], "block", "{asked}");
    let waiting = world.ask("GET", "/v1/approvals", &home, &json!({}));
    let id = waiting["approvals"][0]["id"].as_str().unwrap();
    for verb in ["approve", "deny"] {
        let refused = world.send("POST", &format!("/v1/approvals/{id}/{verb}"), op, Some(&json!({})));
        assert_eq!(refused.status, 403, "{verb}: {}", refused.body);
    }
    // The operator's token belongs to `default`; whoever manages that tenant cannot take it away.
    let tokens = world.ask("GET", "/v1/tenants/default/tokens", &home, &json!({}));
    let mut tokens = tokens["tokens"].as_array().unwrap().iter();
    let id = tokens.find(|token| token["kind"] == "operator").unwrap()["id"].as_str().unwrap();
    let path = format!("/v1/tenants/default/tokens/{id}");
    assert_eq!(world.send("DELETE", &path, &home, None).status, 403);
    for (method, path, body) in [
        ("POST", "/v1/tenants/default/tokens", json!({"kind": "operator", "owner": "ada"})),
        ("PUT", "/v1/tenants/acme/policy", json!({"text": "{version: 1}"})),
        ("POST", "/v1/tenants/acme/tokens", json!({"kind": "person", "owner": "bob"})),
        ("PUT", "/v1/tenants/acme/people", json!({"people": []})),
        ("PUT", "/v1/tenants/new", json!({})),
        ("PATCH", "/v1/tenants/default", json!({})),
    ] {
        assert_eq!(world.send(method, path, &home, Some(&body)).status, 403, "{method} {path}");
    }
    let second = world.token("default", "operator", "op2");
    assert_eq!(world.ask("DELETE", &path, &second, &json!({}))["revoked"], id);
}
