//! Questions that one person alone does not decide.

use serde_json::{Value, json};

use crate::world::{POLICY, World};

/// A world in which these people may answer, and in which so many have to.
fn world(rule: &str) -> World {
    let world = World::new();
    world.tenant("acme", &json!({}), &format!("{POLICY}approvals: {rule}\n"));
    let people: Vec<Value> = ["bob", "cleo", "dan"]
        .iter()
        .map(|uid| json!({"uid": uid, "scopes": ["tools.write"], "roles": ["viewer", "approver"]}))
        .collect();
    world.ask("PUT", "/v1/tenants/acme/people", &world.operator, &json!({"people": people}));
    world
}

/// Bob's agent asks; the id of the question.
fn ask(world: &World, bob: &str) -> String {
    let write = json!({"action": {"kind": "tool", "tool": "write_file", "session_id": "s"}});
    let judged = world.ask("POST", "/v1/evaluate", bob, &write);
    assert_eq!(judged["decision"], "block", "nobody's own prompt counts: {judged}");
    let waiting = world.ask("GET", "/v1/approvals", bob, &json!({}));
    waiting["approvals"][0]["id"].as_str().expect("a question").to_owned()
}

fn decision(world: &World, bob: &str) -> Value {
    let write = json!({"action": {"kind": "tool", "tool": "write_file", "session_id": "s"}});
    world.ask("POST", "/v1/evaluate", bob, &write)["decision"].clone()
}

#[test]
fn two_people_have_to_say_yes_and_both_are_on_record() {
    let world = world("{quorum: 2}");
    let token = |who: &str| world.token("acme", "person", who);
    let (bob, cleo, dan, ada) = (token("bob"), token("cleo"), token("dan"), token("ada"));
    let id = ask(&world, &bob);
    let approve = format!("/v1/approvals/{id}/approve");
    let first = world.ask("POST", &approve, &cleo, &json!({}));
    assert_eq!((&first["grant"], &first["missing"]), (&Value::Null, &json!(1)), "{first}");
    assert_eq!(decision(&world, &bob), "block", "one yes is not enough");
    let again = world.send("POST", &approve, &cleo, Some(&json!({})));
    assert_eq!(again.status, 409, "{}", again.body);
    assert!(again.body["detail"].as_str().unwrap().contains("already"), "{}", again.body);
    let second = world.ask("POST", &approve, &dan, &json!({}));
    assert_eq!((second["grant"].is_object(), &second["missing"]), (true, &json!(0)), "{second}");
    assert_eq!(decision(&world, &bob), "pass");
    assert_eq!(decision(&world, &bob), "block", "once");
    let counted = world.ask("GET", "/v1/records?kind=approval.counted", &ada, &json!({}));
    let seq = counted["records"][0]["seq"].as_u64().expect("the first yes is on record");
    let record = world.ask("GET", &format!("/v1/records/{seq}"), &ada, &json!({}));
    assert_eq!(record["body"]["approval"]["yes"][0]["by"], "cleo", "{record}");
}

#[test]
fn one_no_is_enough() {
    let world = world("{quorum: 3}");
    let token = |who: &str| world.token("acme", "person", who);
    let (bob, cleo, dan) = (token("bob"), token("cleo"), token("dan"));
    let id = ask(&world, &bob);
    world.ask("POST", &format!("/v1/approvals/{id}/approve"), &cleo, &json!({}));
    world.ask("POST", &format!("/v1/approvals/{id}/deny"), &dan, &json!({"reason": "no"}));
    let late = world.send("POST", &format!("/v1/approvals/{id}/approve"), &bob, Some(&json!({})));
    assert_eq!(late.status, 409, "{}", late.body);
    assert_eq!(decision(&world, &bob), "block");
}

#[test]
fn nobody_says_yes_to_their_own_agent() {
    let world = world("{four_eyes: true}");
    let (bob, cleo) = (world.token("acme", "person", "bob"), world.token("acme", "person", "cleo"));
    let id = ask(&world, &bob);
    let approve = format!("/v1/approvals/{id}/approve");
    let own = world.send("POST", &approve, &bob, Some(&json!({})));
    assert_eq!(own.status, 409, "{}", own.body);
    assert!(own.body["detail"].as_str().unwrap().contains("somebody else"), "{}", own.body);
    let judged = world.send("POST", "/v1/resolve", &bob, Some(&json!({"id": 1, "answers": [true]})));
    assert_ne!(judged.status, 200, "an answer on the spot is no way around it: {}", judged.body);
    assert_eq!(decision(&world, &bob), "block");
    world.ask("POST", &approve, &cleo, &json!({}));
    assert_eq!(decision(&world, &bob), "pass");
}

/// Whoever leaves while a question waits neither answers nor uses an answer.
#[test]
fn people_who_leave_while_a_question_waits_count_no_more() {
    let world = world("{quorum: 2}");
    let token = |who: &str| world.token("acme", "person", who);
    let (bob, cleo, dan, ada) = (token("bob"), token("cleo"), token("dan"), token("ada"));
    let id = ask(&world, &bob);
    let approve = format!("/v1/approvals/{id}/approve");
    let leave = |who: &str| {
        let gone = json!({"people": [{"uid": who, "roles": ["approver"], "disabled": true}]});
        world.ask("PUT", "/v1/tenants/acme/people", &world.operator, &gone);
    };
    world.ask("POST", &approve, &ada, &json!({}));
    leave("cleo");
    assert_eq!(world.send("POST", &approve, &cleo, Some(&json!({}))).status, 401);
    assert_eq!(decision(&world, &bob), "block", "one yes is still missing");
    world.ask("POST", &approve, &dan, &json!({}));
    leave("bob");
    let write = json!({"action": {"kind": "tool", "tool": "write_file", "session_id": "s"}});
    assert_eq!(world.send("POST", "/v1/evaluate", &bob, Some(&write)).status, 401);
}
