//! The page of a server: signing in, roles, answers, who is told. The rest is tried in a browser (`cargo xtask ui-test`).

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::json;

use super::world::{POLICY, World, tool};

/// A browser without a screen: one request, no redirect followed.
pub(crate) struct Browser<'a> {
    pub(crate) world: &'a World,
    pub(crate) cookie: String,
}

pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl<'a> Browser<'a> {
    pub(crate) fn send(&self, method: &str, path: &str, form: &str) -> Page {
        self.send_from(&self.world.url, method, path, form)
    }

    /// The same from a page of another address.
    fn send_from(&self, origin: &str, method: &str, path: &str, form: &str) -> Page {
        let host = self.world.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        let length = form.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\norigin: {origin}\r\ncookie: {}\r\nconnection: close\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{form}",
            self.cookie
        )
        .unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Page { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn sign_in(world: &'a World, token: &str) -> Self {
        let mut browser = Self { world, cookie: String::new() };
        let page = browser.send("POST", "/sign-in", &format!("token={token}&next=/feed"));
        assert_eq!(page.status, 303, "{}", page.body);
        let cookie = page.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        for part in ["__host-lictor", "; secure", "; httponly", "; samesite=lax", "; path=/"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        browser.cookie = cookie.split(';').next().unwrap().replace("__host-", "__Host-");
        browser
    }
}

pub(crate) fn csrf(page: &Page) -> String {
    let rest = page.body.split_once("name=\"csrf\" value=\"").expect("a form").1;
    rest.split('"').next().unwrap().to_owned()
}

fn world() -> World {
    let world = World::new();
    world.tenant("team", &json!({}), POLICY);
    world
}

#[test]
fn people_sign_in_with_a_token_and_programs_do_not() {
    let world = world();
    let nobody = Browser { world: &world, cookie: String::new() };
    let page = nobody.send("GET", "/approvals?x=1", "");
    assert_eq!(page.status, 303);
    assert!(page.head.contains("location: /sign-in?next=/approvals%3fx%3d1"), "{}", page.head);
    assert!(page.head.contains("content-security-policy: default-src 'none'"));
    for token in ["", "nonsense", &world.token("team", "machine", "m1")] {
        let page = nobody.send("POST", "/sign-in", &format!("token={token}"));
        assert!(page.head.contains("location: /sign-in?wrong=1"), "{}", page.head);
    }
    let ada = Browser::sign_in(&world, &world.token("team", "person", "ada"));
    for view in [
        "/approvals",
        "/feed",
        "/sessions",
        "/rules",
        "/policy",
        "/findings",
        "/projects",
        "/audit",
        "/people",
    ] {
        let page = ada.send("GET", view, "");
        assert_eq!(page.status, 200, "{view}: {}", page.body);
    }
    let out = ada.send("POST", "/sign-out", &format!("csrf={}", csrf(&ada.send("GET", "/feed", ""))));
    assert_eq!(out.status, 303);
    assert_eq!(ada.send("GET", "/feed", "").status, 303, "signed out");
    let away = nobody.send("GET", "/sign-in?next=//evil.example", "");
    assert!(!away.body.contains("evil.example"));
}

#[test]
fn the_first_link_has_a_page_and_counts_once() {
    let mut world = World::unstarted();
    let lines = world.start("127.0.0.1:0");
    let code = lines.get(1).and_then(|line| line.rsplit_once("code=")).expect("a link").1;
    let browser = Browser { world: &world, cookie: String::new() };
    assert!(browser.send("GET", "/sign-in", "").body.contains("Nobody runs this installation yet"));
    let form = browser.send("GET", &format!("/setup?code={code}"), "");
    assert!(form.body.contains(&format!("name=\"code\" value=\"{code}\"")), "{}", form.body);
    assert_eq!(browser.send("POST", "/setup", "code=abc&owner=eve").status, 403, "another code");
    let claim = format!("code={code}&owner=op");
    assert!(browser.send("POST", "/setup", &claim).body.contains("lictor_"), "a token, once");
    assert_eq!(browser.send("POST", "/setup", &claim).status, 403, "it was used already");
    assert_eq!(
        browser.send("GET", &format!("/setup?code={code}"), "").status,
        303,
        "there is nothing to claim"
    );
    assert!(!browser.send("GET", "/sign-in", "").body.contains("Nobody runs"));
}

#[test]
fn roles_say_who_answers_and_who_manages() {
    let world = world();
    let service = world.token("team", "person", "bob");
    world.ask("POST", "/v1/evaluate", &service, &json!({"action": tool("write_file"), "unattended": true}));
    let waiting = world.ask("GET", "/v1/approvals", &world.token("team", "person", "ada"), &json!({}));
    let id = waiting["approvals"][0]["id"].as_str().expect("a question").to_owned();
    let bob = Browser::sign_in(&world, &service);
    assert_eq!(bob.send("GET", "/approvals", "").status, 403, "bob has no role");
    let eve = Browser::sign_in(&world, &world.token("team", "person", "eve"));
    let seen = eve.send("GET", "/approvals", "");
    assert!(seen.body.contains("write_file") && !seen.body.contains("Approve once"), "{}", seen.body);
    let path = format!("/approvals/{id}");
    let answer =
        |browser: &Browser<'_>, csrf: &str| browser.send("POST", &path, &format!("answer=once&csrf={csrf}"));
    assert_eq!(answer(&eve, &csrf(&seen)).status, 403, "an auditor does not answer");
    assert_eq!(eve.send("GET", "/people", "").status, 403);
    let ada = Browser::sign_in(&world, &world.token("team", "person", "ada"));
    assert_eq!(answer(&ada, &csrf(&seen)).status, 403, "the form of another person");
    let own = csrf(&ada.send("GET", "/approvals", ""));
    let changed = ada.send("POST", &path, &format!("answer=once&csrf={own}&seen=another"));
    assert_eq!(changed.status, 409, "{}", changed.body);
    assert_eq!(answer(&ada, &own).status, 303);
    let shown = ada.send("GET", &path, "");
    assert!(
        shown.body.contains("Approved once") && shown.body.contains("has not used it yet"),
        "{}",
        shown.body
    );
    assert_eq!(answer(&ada, &own).status, 409, "answered once");
}

/// Changing one thing about a person changes nothing else, and a password that is given signs in.
#[test]
fn people_are_changed_without_losing_what_they_may_do() {
    let world = world();
    let ada = Browser::sign_in(&world, &world.token("team", "person", "ada"));
    let form = ada.send("GET", "/people?edit=bob", "");
    for held in ["value=\"bob@example.com\"", "value=\"tools.write\""] {
        assert!(form.body.contains(held), "{held}: {}", form.body);
    }
    let csrf = csrf(&form);
    let change = format!(
        "do=person&uid=bob&email=new%40example.com&role=&scopes=tools.write%2C+tools.read&groups=core&viewer=on\
         &password=correct+horse+battery&csrf={csrf}"
    );
    assert_eq!(ada.send("POST", "/people", &change).status, 303);
    let people = world.ask("GET", "/v1/tenants/team/people", &world.operator, &json!({}));
    let bob = people["people"].as_array().unwrap().iter().find(|person| person["uid"] == "bob").unwrap();
    assert_eq!(bob["email"], "new@example.com");
    assert_eq!((&bob["scopes"], &bob["groups"]), (&json!(["tools.write", "tools.read"]), &json!(["core"])));
    let signed = Browser { world: &world, cookie: String::new() }.send(
        "POST",
        "/sign-in",
        "team=team&uid=bob&password=correct+horse+battery",
    );
    assert!(signed.head.contains("set-cookie: __host-lictor"), "{}", signed.head);
    let short = format!("do=person&uid=cleo&password=short&csrf={csrf}");
    let refused = ada.send("POST", "/people", &short);
    assert!(refused.status == 400 && refused.body.contains("12"), "{}", refused.body);
}

/// From the first link to a team whose administrator signs in, without a line of JSON.
#[test]
fn the_operator_makes_a_team_on_the_page() {
    let world = World::new();
    let operator = Browser::sign_in(&world, &world.operator);
    let page = operator.send("GET", "/people", "");
    let made =
        operator.send("POST", "/people", &format!("do=team&name=payments&uid=cleo&csrf={}", csrf(&page)));
    assert_eq!(made.status, 200, "{}", made.body);
    let secret = made.body.split("lictor_").nth(1).expect("a token, once");
    let secret: String = secret.chars().take_while(char::is_ascii_hexdigit).collect();
    let cleo = Browser::sign_in(&world, &format!("lictor_{secret}"));
    assert!(cleo.send("GET", "/people", "").body.contains("People of payments"));
    let other = cleo.send("GET", "/people?team=default", "");
    assert!(other.body.contains("People of payments"), "only the operator chooses: {}", other.body);
    let again =
        operator.send("POST", "/people", &format!("do=team&name=payments&uid=eve&csrf={}", csrf(&page)));
    assert_eq!(again.status, 409, "{}", again.body);
    let stolen = cleo.send("POST", "/people", &format!("do=team&name=mine&uid=cleo&csrf={}", csrf(&other)));
    assert_eq!(stolen.status, 403, "{}", stolen.body);
}

/// A proxy in front may put its own name into the request; the address that the server was told counts then.
#[test]
fn forms_count_through_a_proxy_that_changes_the_host() {
    let mut world = world();
    world.end();
    let listen = world.url.trim_start_matches("http://").to_owned();
    world.start_with(&listen, &["--address", "https://lictor.example.com"]);
    let ada = Browser::sign_in(&world, &world.token("team", "person", "ada"));
    let form = format!("do=person&uid=dan&csrf={}", csrf(&ada.send("GET", "/people", "")));
    let send = |origin: &str| ada.send_from(origin, "POST", "/people", &form).status;
    assert_eq!(send("https://lictor.example.com"), 303);
    assert_eq!(send("https://evil.example.com"), 403);
    assert_eq!(send("http://lictor.example.com"), 403, "without TLS it is another place");
}

/// On a server every session stands below the account of a person; that makes nobody a subagent.
#[test]
fn agents_of_a_team_are_counted() {
    let world = world();
    let bob = world.token("team", "person", "bob");
    let call = json!({"kind": "tool", "tool": "read_file", "session_id": "s", "agent": "planner"});
    world.judge(&bob, &call);
    let ada = Browser::sign_in(&world, &world.token("team", "person", "ada"));
    let places = ada.send("GET", "/projects", "").body;
    assert!(places.contains("<td>planner</td>") && !places.contains("lictor init"), "{places}");
    let sessions = ada.send("GET", "/sessions", "").body;
    assert!(sessions.contains("bob/s") && !sessions.contains('↳'), "{sessions}");
}

#[test]
fn a_rule_that_asked_where_nobody_was_there_has_asked() {
    let world = world();
    let bob = world.token("team", "person", "bob");
    let action = json!({"kind": "tool", "tool": "write_file", "session_id": "s", "agent": "planner"});
    world.ask("POST", "/v1/evaluate", &bob, &json!({"action": action, "unattended": true}));
    let ada = Browser::sign_in(&world, &world.token("team", "person", "ada"));
    let rule = ada.send("GET", "/rules/one?rule=user.careful", "").body;
    assert!(rule.contains("fired once: 0 warned, 1 asked, 0 blocked"), "{rule}");
    // What the rule asked is what the session was asked; that it was held back is in it as well.
    let session = ada.send("GET", "/session?key=planner:bob/s", "").body;
    assert!(session.contains("1 call, 0 warned, 1 asked, 1 blocked"), "{session}");
}

/// Every view, and every way to name somebody else's things in an address, with the cookie of another team.
#[test]
fn no_view_shows_another_team() {
    let world = world();
    world.tenant("blue", &json!({}), "{version: 1, known_tools: {known: [blue_secret_tool]}}");
    let theirs = world.token("blue", "person", "ada");
    let action = json!({"kind": "tool", "tool": "blue_secret_tool", "session_id": "blue_session"});
    world.judge(&theirs, &action);
    world.ask("POST", "/v1/evaluate", &theirs, &json!({"action": tool("blue_question"), "unattended": true}));
    let waiting = world.ask("GET", "/v1/approvals", &theirs, &json!({}));
    let id = waiting["approvals"][0]["id"].as_str().expect("a question").to_owned();
    let ada = Browser::sign_in(&world, &world.token("team", "person", "ada"));
    let form = csrf(&ada.send("GET", "/people", ""));
    let views = [
        "/approvals",
        "/feed",
        "/sessions",
        "/session?key=:ada/blue_session",
        "/rules",
        "/policy",
        "/findings",
        "/projects",
        "/audit",
        "/audit/export?format=jsonl",
        "/people",
        "/decisions/1",
        "/decisions/2",
    ];
    for view in views {
        for more in ["", "project=blue", "team=blue", "tenant=blue", "machine=main", "machine=../blue"] {
            let and = if view.contains('?') { '&' } else { '?' };
            let page = ada.send("GET", &format!("{view}{and}{more}"), "");
            assert!(page.status < 500, "{view} {more}: {}", page.status);
            let theirs = page.body.contains("blue_") || page.body.contains("of blue");
            assert!(!theirs, "{view} {more}: {}", page.body);
        }
    }
    assert_eq!(ada.send("GET", &format!("/approvals/{id}"), "").status, 404);
    let answer = ada.send("POST", &format!("/approvals/{id}"), &format!("answer=once&csrf={form}"));
    assert_eq!(answer.status, 404, "{}", answer.body);
    for what in ["do=person&uid=spy&admin=on", "do=token&kind=person&owner=ada"] {
        ada.send("POST", "/people?team=blue", &format!("{what}&csrf={form}"));
    }
    let people = world.ask("GET", "/v1/tenants/blue/people", &world.operator, &json!({}));
    assert!(!people.to_string().contains("spy"), "{people}");
    let tokens = world.ask("GET", "/v1/tenants/blue/tokens", &world.operator, &json!({}));
    assert_eq!(tokens["tokens"].as_array().unwrap().len(), 1, "{tokens}");
}

#[test]
fn an_earlier_policy_is_put_in_force_again_by_a_publisher() {
    let world = world();
    let ada_token = world.token("team", "person", "ada");
    let strict = "{version: 1, access: [{user: bob, decision: block, reason: not today}]}";
    world.ask("PUT", "/v1/tenants/team/policy", &ada_token, &json!({"text": strict}));
    let bob = world.token("team", "person", "bob");
    assert_eq!(world.judge(&bob, &tool("read_file"))["decision"], "block");
    let ada = Browser::sign_in(&world, &ada_token);
    let page = ada.send("GET", "/policy", "");
    assert!(page.body.contains("Put version 1 in force again"), "{}", page.body);
    assert!(!page.body.contains("Put version 2 in force again"), "that one is in force");
    let back = format!("do=rollback&version=1&csrf={}", csrf(&page));
    let eve = Browser::sign_in(&world, &world.token("team", "person", "eve"));
    let seen = eve.send("GET", "/policy", "");
    assert!(!seen.body.contains("in force again"), "{}", seen.body);
    let refused = eve.send("POST", "/policy", &format!("do=rollback&version=1&csrf={}", csrf(&seen)));
    assert_eq!(refused.status, 403, "{}", refused.body);
    let done = ada.send("POST", "/policy", &back);
    assert!(done.body.contains("Version 1 is in force again"), "{}", done.body);
    assert_eq!(world.judge(&bob, &tool("read_file"))["decision"], "pass");
    let missing = ada.send("POST", "/policy", &format!("do=rollback&version=99&csrf={}", csrf(&page)));
    assert_eq!(missing.status, 404, "{}", missing.body);
}

#[test]
fn a_question_is_told_until_it_was_taken() {
    let world = world();
    let ada = Browser::sign_in(&world, &world.token("team", "person", "ada"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hook = format!("http://{}/hook", listener.local_addr().unwrap());
    let form = csrf(&ada.send("GET", "/people", ""));
    let target = format!("do=target&name=desk&way=webhook&to={hook}&secret=a-shared-secret&csrf={form}");
    assert_eq!(ada.send("POST", "/people", &target).status, 303);
    let listed = ada.send("GET", "/people", "");
    assert!(listed.body.contains("desk") && !listed.body.contains("a-shared-secret"));
    let bob = world.token("team", "person", "bob");
    world.ask("POST", "/v1/evaluate", &bob, &json!({"action": tool("write_file"), "unattended": true}));
    let mut bodies = Vec::new();
    for answer in
        ["HTTP/1.1 503 later\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"]
    {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head += &line.to_ascii_lowercase();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        assert!(head.contains("lictor-signature: sha256="), "{head}");
        bodies.push(String::from_utf8(body).unwrap());
    }
    assert_eq!(bodies[0], bodies[1], "the same message again");
    assert!(bodies[0].contains("write_file") && bodies[0].contains("/approvals/"), "{}", bodies[0]);
    listener.set_nonblocking(true).unwrap();
    std::thread::sleep(Duration::from_millis(3_000));
    assert!(listener.accept().is_err(), "what was taken is not sent again");
}
