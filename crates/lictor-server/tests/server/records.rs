//! Looking through the record: filters, exports, streams that end, policies tried on history, old records moved away.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::world::{POLICY, PROGRAM, World, send, tool};

fn world() -> World {
    let world = World::new();
    world.tenant("acme", &json!({}), POLICY);
    world
}

/// A stream of records that is open, and the rest of it once it has ended.
fn stream(world: &World, token: &str) -> impl FnOnce() -> String + use<> {
    let mut stream = TcpStream::connect(world.url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "GET /v1/records/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n")
        .unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.contains("200"), "{line}");
    move || {
        let mut rest = String::new();
        reader.read_to_string(&mut rest).expect("the stream ends");
        rest
    }
}

#[test]
fn a_stream_ends_with_the_token_that_opened_it() {
    let world = world();
    let ada = world.token("acme", "person", "ada");
    let eve = world.token("acme", "person", "eve");
    let rest = stream(&world, &eve);
    let tokens = world.ask("GET", "/v1/tenants/acme/tokens", &ada, &json!({}));
    let of_eve = tokens["tokens"].as_array().unwrap().iter().find(|token| token["owner"] == "eve").unwrap();
    let id = of_eve["id"].as_str().unwrap();
    world.ask("DELETE", &format!("/v1/tenants/acme/tokens/{id}"), &ada, &json!({}));
    world.judge(&ada, &tool("read_file"));
    assert!(rest().ends_with("0\r\n\r\n"), "it has an end");
}

#[test]
fn a_server_that_ends_lets_its_streams_end_well() {
    let mut world = world();
    let rest = stream(&world, &world.token("acme", "person", "ada"));
    assert_eq!(world.end(), Some(0));
    assert!(rest().ends_with("0\r\n\r\n"), "it was not cut off");
}

#[test]
fn records_are_found_by_time_text_and_person() {
    let world = world();
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let call = |token: &str, text: &str| {
        world.judge(token, &json!({"kind": "tool", "tool": "read_file", "payload": {"note": text}}))
    };
    call(&ada, "the \"Green\" one");
    call(&bob, "another");
    let found = |query: &str| {
        let found = world.ask("GET", &format!("/v1/records?kind=evaluated&{query}"), &ada, &json!({}));
        found["records"].as_array().unwrap().len()
    };
    assert_eq!((found("text=the%20%22green%22"), found("text=nothing")), (1, 0));
    assert_eq!((found("user=bob"), found("user=bob&text=green")), (1, 0));
    assert_eq!((found("from=2000-01-01"), found("from=2100-01-01")), (2, 0));
    assert_eq!((found("until=2000-01-01"), found("until=2100-01-01T00:00:00Z")), (0, 2));
    let wrong = world.send("GET", "/v1/records?from=yesterday", &ada, None);
    assert_eq!(wrong.status, 400, "{}", wrong.body);
}

#[test]
fn an_export_names_its_filter_its_ends_and_the_head() {
    let world = world();
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    for token in [&ada, &bob, &ada, &bob, &ada] {
        world.judge(token, &tool("read_file"));
    }
    let of_bob = world.ask("GET", "/v1/records?kind=evaluated&user=bob", &ada, &json!({}));
    let seqs: Vec<u64> =
        of_bob["records"].as_array().unwrap().iter().map(|one| one["seq"].as_u64().unwrap()).collect();
    let head = world.ask("GET", "/v1/verify", &ada, &json!({}))["head"].clone();
    let text = |format: &str| match world
        .send("GET", &format!("/v1/records/export?kind=evaluated&user=bob&format={format}"), &ada, None)
        .body
    {
        Value::String(text) => text,
        other => panic!("{other}"),
    };
    let lines: Vec<Value> = text("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = &lines[0]["export"];
    assert_eq!(told["filter"], "kind=evaluated&user=bob");
    assert_eq!((&told["first"], &told["last"]), (&json!(seqs[0]), &json!(seqs[1])));
    assert_eq!(told["head"], head);
    assert_eq!(lines.len(), 3, "two records of bob");
    for (format, records) in [("csv", 2), ("ocsf", 2), ("cef", 2)] {
        let text = text(format);
        let named = text.contains("\"first\"") || text.contains("first");
        assert!(named && text.contains(head["hash"].as_str().unwrap()), "{format}: {text}");
        let titles = usize::from(format == "csv");
        assert_eq!(text.lines().count(), 1 + titles + records, "{format}: {text}");
    }
    let none = world.send("GET", "/v1/records/export?format=xml", &ada, None);
    assert_eq!(none.status, 400, "{}", none.body);
    for token in [&bob, &world.token("acme", "service", "job")] {
        assert_eq!(world.send("GET", "/v1/records/export", token, None).status, 403, "no auditor");
    }
}

/// The policy that is in force changes nothing about what it has decided, whatever people answered and however fast it
/// goes now.
#[test]
fn a_policy_simulated_on_its_own_history_changes_nothing() {
    let world = world();
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let write =
        json!({"action": {"kind": "tool", "tool": "write_file", "session_id": "s"}, "unattended": true});
    world.ask("POST", "/v1/evaluate", &bob, &write);
    let waiting = world.ask("GET", "/v1/approvals", &ada, &json!({}));
    let id = waiting["approvals"][0]["id"].as_str().expect("a question");
    world.ask("POST", &format!("/v1/approvals/{id}/approve"), &ada, &json!({}));
    assert_eq!(world.ask("POST", "/v1/evaluate", &bob, &write)["decision"], "pass");
    world.judge(&bob, &json!({"kind": "tool", "tool": "write_file", "session_id": "t"}));
    world.judge(&bob, &tool("grant"));
    let simulate = |text: &str| world.ask("POST", "/v1/policy/simulate", &ada, &json!({"text": text}));
    let same = simulate(POLICY);
    assert_eq!((&same["judged"], &same["changed"]), (&json!(4), &json!([])), "{same}");
    let stricter = simulate(&POLICY.replace("decision: ask", "decision: block"));
    let changed = stricter["changed"].as_array().unwrap();
    assert_eq!(changed.len(), 3, "{stricter}");
    assert!(changed.iter().all(|one| one["was"] == "ask" && one["would_be"] == "block"), "{stricter}");
}

/// What was passed on to an agent is no policy's to say, and may be older than what is simulated.
#[test]
fn a_simulation_knows_what_was_passed_on() {
    let world = world();
    let ada = world.token("acme", "person", "ada");
    for (parent, child, scopes) in
        [("main", "helper", json!(["admin.write"])), ("helper", "reader", json!([]))]
    {
        world.ask(
            "POST",
            "/v1/delegate",
            &ada,
            &json!({"parent": parent, "child": child, "limit": {"scopes": scopes}}),
        );
    }
    let judge =
        |session: &str| world.judge(&ada, &json!({"kind": "tool", "tool": "grant", "session_id": session}));
    let (first, last) = (judge("helper"), judge("reader"));
    assert_eq!((&first["decision"], &last["decision"]), (&json!("pass"), &json!("block")));
    let simulate = |body: Value| world.ask("POST", "/v1/policy/simulate", &ada, &body);
    for since in [json!(0), first["id"].clone()] {
        let same = simulate(json!({"text": POLICY, "since": since}));
        assert_eq!(same["changed"], json!([]), "{since}: {same}");
    }
    // Who asks for a part is told where the rest begins.
    let part = simulate(json!({"text": POLICY, "limit": 1}));
    assert_eq!((&part["judged"], &part["next"]), (&json!(1), &first["id"]), "{part}");
    let rest = simulate(json!({"text": POLICY, "limit": 1, "since": part["next"]}));
    assert_eq!((&rest["judged"], &rest["next"]), (&json!(1), &Value::Null), "{rest}");
}

/// Agents call their sessions what they like, and all of them are listed and can be looked at.
#[test]
fn sessions_are_listed_page_by_page_whatever_they_are_called() {
    let world = world();
    let ada = world.token("acme", "person", "ada");
    let names =
        ["plain", "a:b", "\u{7}bell", "\\u{7}bell", "line\nbreak", "\u{202e}left", "z", "100%", "a b", "ü"];
    for (index, name) in names.iter().enumerate() {
        let agent = ["", "x:y"][index % 2];
        let action = json!({"kind": "tool", "tool": "read_file", "session_id": name, "agent": agent});
        world.judge(&ada, &action);
    }
    let whole = world.ask("GET", "/v1/sessions", &ada, &json!({}));
    let whole = whole["sessions"].as_array().unwrap();
    assert!(whole.len() >= names.len() - 1, "{whole:?}");
    let (mut paged, mut since) = (Vec::new(), String::new());
    loop {
        let encoded: String = since.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let query = if since.is_empty() { String::new() } else { format!("&since={encoded}") };
        let page = world.ask("GET", &format!("/v1/sessions?limit=1{query}"), &ada, &json!({}));
        paged.extend(page["sessions"].as_array().unwrap().iter().cloned());
        assert!(paged.len() <= whole.len(), "{paged:?}");
        let Some(next) = page["next"].as_str() else { break };
        since = next.to_owned();
    }
    assert_eq!(paged, *whole);
    for name in whole {
        let encoded: String = name.as_str().unwrap().bytes().map(|byte| format!("%{byte:02x}")).collect();
        world.ask("GET", &format!("/v1/sessions/{encoded}"), &ada, &json!({}));
    }
}

fn archive(world: &World, store: Option<&str>, keep: &str) -> String {
    let mut command = Command::new(PROGRAM);
    command.args(["archive", "--keep", keep, "--state"]).arg(world.state());
    if let Some(store) = store {
        command.args(["--store", store]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What is moved away while the server runs is in files, and what is left verifies and goes on.
fn old_records_move_to_files(world: &World, store: Option<&str>) {
    world.tenant("acme", &json!({}), POLICY);
    let ada = world.token("acme", "person", "ada");
    world.judge(&ada, &tool("read_file"));
    assert!(archive(world, store, "1d").contains("no record is older"), "nothing is old yet");
    let told = archive(world, store, "0s");
    assert!(told.contains("tenant `acme`") && told.contains("records moved"), "{told}");
    let archives: Vec<_> = std::fs::read_dir(world.state().join("archives")).unwrap().flatten().collect();
    assert!(archives.iter().any(|place| std::fs::read_dir(place.path()).unwrap().count() > 0));
    let checked = world.ask("GET", "/v1/verify", &ada, &json!({}));
    assert_eq!((&checked["sound"], &checked["faults"]), (&json!(true), &json!([])), "{checked}");
    world.judge(&ada, &tool("read_file"));
    let checked = world.ask("GET", "/v1/verify", &ada, &json!({}));
    assert_eq!(checked["sound"], true, "{checked}");
}

#[test]
fn old_records_are_moved_away_while_the_server_runs() {
    old_records_move_to_files(&World::new(), None);
}

#[test]
fn old_records_of_a_database_are_moved_away_and_empty_months_dropped() {
    let cluster = Cluster::start();
    drop(cluster.database("lictor"));
    let url = cluster.url("owner", "lictor");
    let world = World::on(Some(url.clone()));
    old_records_move_to_files(&world, Some(&url));
    // Months ago, as far as the database can tell.
    cluster.sql(
        "lictor",
        "SELECT lictor.make_month('2025-01-10'); SET row_security = off;
         UPDATE lictor.log SET received = '2025-01-10' WHERE seq <= 2",
    );
    // The server's own chain stays as it is, and holds on to the month.
    assert!(!archive(&world, Some(&url), "0s").contains("log_2025_01"));
    cluster.sql(
        "lictor",
        "SET row_security = off; UPDATE lictor.log SET received = now() WHERE tenant = '(server)'",
    );
    assert!(archive(&world, Some(&url), "0s").contains("dropped `log_2025_01`"));
    let ada = world.token("acme", "person", "ada");
    assert_eq!(world.ask("GET", "/v1/verify", &ada, &json!({}))["sound"], true);
}

/// A browser is told in words what a program is told as JSON.
#[test]
fn a_browser_gets_a_page_where_nothing_is() {
    let world = World::new();
    let asked = |accept: &str| send(&world.url, "GET", "/nowhere", "", None, &[("accept", accept)]);
    let page = asked("text/html,application/xhtml+xml");
    assert_eq!((page.status, page.kind.as_str()), (404, "text/html; charset=utf-8"));
    let json = asked("*/*");
    assert_eq!((json.status, json.kind.as_str()), (404, "application/problem+json"));
}
