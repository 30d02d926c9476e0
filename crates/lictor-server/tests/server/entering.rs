//! How people and connections come in: passwords, an OpenID provider of the test's own, TLS, and those who are slow.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::certificate::certificate;
use crate::world::{POLICY, PROGRAM, World, send};

#[test]
fn a_password_is_guessed_only_so_often() {
    let world = World::new();
    world.tenant("acme", &json!({}), POLICY);
    let ada = world.token("acme", "person", "ada");
    let path = "/v1/tenants/acme/people/bob/password";
    assert_eq!(world.send("PUT", path, &ada, Some(&json!({"password": "short"}))).status, 400);
    world.ask("PUT", path, &ada, &json!({"password": "correct horse battery"}));
    let sign_in = |uid: &str, password: &str| {
        let body = json!({"tenant": "acme", "uid": uid, "password": password});
        world.send("POST", "/v1/sign-in", "", Some(&body))
    };
    let token = sign_in("bob", "correct horse battery").body["secret"].as_str().unwrap().to_owned();
    assert_eq!(world.ask("GET", "/v1/whoami", &token, &json!({}))["owner"], "bob");
    let (wrong, nobody) = (sign_in("bob", "wrong horse battery"), sign_in("nobody", "wrong horse battery"));
    assert_eq!((wrong.status, nobody.status), (401, 401));
    assert_eq!(wrong.body, nobody.body, "who is there is not told");
    for _ in 0..4 {
        assert_eq!(sign_in("bob", "wrong horse battery").status, 401);
    }
    assert_eq!(sign_in("bob", "correct horse battery").status, 429, "even the right one has to wait");
    let stored = std::fs::read_dir(world.state().join("stores")).unwrap().flatten();
    for file in stored.map(|entry| entry.path().join("lictor.db")) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        assert!(!bytes.windows(13).any(|part| part == b"correct horse"), "{}", file.display());
    }
}

/// A provider that answers discovery, keys and tokens. What it says about the person, and the challenge and nonce that the
/// browser would have brought, are the test's to set.
#[derive(Clone, Default)]
struct Said {
    claims: Value,
    challenge: String,
}

fn provider(said: Arc<Mutex<Said>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let address = issuer.clone();
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head += &line;
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let answer = answer(&head, &String::from_utf8(body).unwrap(), &address, &pair, &said);
            let (status, text) =
                answer.map_or(("400 Bad Request", "{}".to_owned()), |value| ("200 OK", value.to_string()));
            let _ = write!(
                reader.get_mut(),
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                text.len()
            );
        }
    });
    issuer
}

fn answer(head: &str, body: &str, issuer: &str, pair: &EcdsaKeyPair, said: &Mutex<Said>) -> Option<Value> {
    if head.contains("openid-configuration") {
        return Some(json!({"issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
                           "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys")}));
    }
    if head.contains("/keys") {
        let point = pair.public_key().as_ref();
        return Some(json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "k",
            "x": BASE64.encode(&point[1..33]), "y": BASE64.encode(&point[33..])}]}));
    }
    let said = said.lock().unwrap().clone();
    let verifier = body.split('&').find_map(|pair| pair.strip_prefix("code_verifier="))?;
    let challenge = ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes());
    if BASE64.encode(challenge.as_ref()) != said.challenge || !body.contains("code=good") {
        return None;
    }
    let header = BASE64.encode(json!({"alg": "ES256", "kid": "k"}).to_string());
    let text = format!("{header}.{}", BASE64.encode(said.claims.to_string()));
    let seal = pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
    Some(json!({"id_token": format!("{text}.{}", BASE64.encode(seal)), "token_type": "Bearer"}))
}

/// Begins a sign-in as a browser does, without following: the state, and what the provider is asked with.
fn begin(world: &World) -> (String, String, String) {
    let mut stream = TcpStream::connect(world.url.trim_start_matches("http://")).unwrap();
    let host = world.url.trim_start_matches("http://");
    write!(stream, "GET /oidc/acme/start HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 303"), "{text}");
    let location = text.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_owned();
    let part = |name: &str| {
        let found = location.split(['?', '&']).find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        found.unwrap_or_else(|| panic!("{location}")).to_owned()
    };
    assert_eq!(part("code_challenge_method"), "S256");
    (part("state"), part("nonce"), part("code_challenge"))
}

#[test]
fn people_sign_in_with_a_provider() {
    let world = World::new();
    let said = Arc::new(Mutex::new(Said::default()));
    let issuer = provider(Arc::clone(&said));
    let settings =
        json!({"oidc": {"issuer": issuer, "client_id": "lictor", "roles": {"leads": ["approver"]}}});
    world.tenant("acme", &settings, POLICY);
    let until = i64::MAX / 4;
    let claims = |nonce: &str, email: &str, verified: bool| {
        json!({"iss": issuer, "aud": "lictor", "sub": "u-1", "exp": until, "nonce": nonce, "email": email,
               "email_verified": verified, "groups": ["leads"]})
    };
    let finish = |state: &str, cookie: &str, code: &str| {
        let path = format!("/oidc/callback?state={state}&code={code}");
        send(&world.url, "GET", &path, "", None, &[("cookie", &format!("lictor-sign-in={cookie}"))])
    };
    let ready = |email: &str, verified: bool| {
        let (state, nonce, challenge) = begin(&world);
        *said.lock().unwrap() = Said { claims: claims(&nonce, email, verified), challenge };
        state
    };
    let state = ready("BOB@example.com", true);
    let entered = finish(&state, &state, "good");
    assert_eq!(entered.status, 200, "{}", entered.body);
    let me = world.ask("GET", "/v1/whoami", entered.body["secret"].as_str().unwrap(), &json!({}));
    assert_eq!((&me["owner"], &me["roles"]), (&json!("bob"), &json!(["approver"])));
    assert_eq!(finish(&state, &state, "good").status, 403, "an answer counts once");
    for (what, email, verified, other_browser, code, status) in [
        ("an address that nobody verified", "bob@example.com", false, false, "good", 403),
        ("a stranger", "mallory@example.com", true, false, "good", 403),
        ("another browser", "bob@example.com", true, true, "good", 403),
        ("a code that the provider does not know", "bob@example.com", true, false, "bad", 502),
    ] {
        let state = ready(email, verified);
        let cookie = if other_browser { "elsewhere" } else { state.as_str() };
        assert_eq!(finish(&state, cookie, code).status, status, "{what}");
    }
    let state = ready("bob@example.com", true);
    said.lock().unwrap().claims["nonce"] = json!("another");
    assert_eq!(finish(&state, &state, "good").status, 403, "a token of another sign-in");
}

#[test]
fn the_server_speaks_tls_and_refuses_other_machines_without() {
    let directory = tempfile::tempdir().unwrap();
    let (cert, key) = certificate(directory.path(), "own", "DNS:localhost, IP:127.0.0.1");
    let mut world = World::unstarted();
    let plain = world.refused(&["--listen", "0.0.0.0:0"]);
    assert!(plain.contains("unencrypted"), "{plain}");
    let (cert_text, key_text) = (cert.to_string_lossy(), key.to_string_lossy());
    let lines = world.start_with("0.0.0.0:0", &["--tls-cert", &cert_text, "--tls-key", &key_text]);
    let port = lines[0].rsplit_once(':').unwrap().1.to_owned();
    assert!(lines[0].contains("https://"), "{lines:?}");
    let pem = std::fs::read(&cert).unwrap();
    let root = ureq::tls::Certificate::from_pem(&pem).unwrap();
    let tls =
        ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::new_with_certs(&[root])).build();
    let agent: ureq::Agent = ureq::Agent::config_builder().tls_config(tls).build().into();
    let mut answer = agent.get(format!("https://localhost:{port}/healthz")).call().unwrap();
    assert_eq!(answer.body_mut().read_to_string().unwrap(), "ok\n");
    let strangers: ureq::Agent = ureq::Agent::config_builder().build().into();
    assert!(strangers.get(format!("https://localhost:{port}/healthz")).call().is_err(), "checked");
}

#[test]
fn a_client_that_never_finishes_its_request_is_let_go() {
    let mut world = World::unstarted();
    world.start_with("127.0.0.1:0", &["--patience", "300"]);
    let address = world.url.trim_start_matches("http://").to_owned();
    let mut slow: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(&address).unwrap()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nx-slow: ").unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    }
    assert_eq!(world.send("GET", "/healthz", "", None).status, 200, "others are served meanwhile");
    for mut stream in slow {
        let mut rest = Vec::new();
        // The end of the connection, not a timeout of ours.
        stream.read_to_end(&mut rest).unwrap();
    }
}

#[test]
fn heads_that_are_too_large_or_not_http_are_refused() {
    let world = World::new();
    let address = world.url.trim_start_matches("http://").to_owned();
    let many: String = (0..200).map(|number| format!("x-{number}: y\r\n")).collect();
    let large = format!("x: {}\r\n", "y".repeat(2_000_000));
    for head in [
        format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{many}\r\n"),
        format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{large}\r\n"),
        "GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n".to_owned(),
        "GET /healthz HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\0\0\r\n\r\n".to_owned(),
    ] {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let _ = stream.write_all(head.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap_or("0").to_owned();
        assert!(answer.is_empty() || status.starts_with('4'), "{head:.60}: {answer:.200}");
    }
    assert_eq!(world.send("GET", "/healthz", "", None).status, 200);
}

/// 2 is a block, as `lictor` has it; whoever reads exit codes must not take a slip for one.
#[test]
fn a_wrong_command_line_ends_as_that_of_lictor_does() {
    let world = World::unstarted();
    let ended = |words: &[&str]| {
        let output = Command::new(PROGRAM).args(words).arg("--state").arg(world.state()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for address in ["foo", "127.0.0.1:99999", "localhost", "localhost:http", "example.com:80"] {
        let (code, said) = ended(&["serve", "--listen", address]);
        assert_eq!(code, Some(64), "{said}");
        assert!(said.contains(address) && said.contains("127.0.0.1:4747"), "{said}");
    }
    for address in
        ["foo", "lictor.example.com", "ftp://example.com", "https://", "https://example.com/lictor"]
    {
        let (code, said) = ended(&["serve", "--address", address]);
        assert_eq!(code, Some(64), "{address}: {said}");
        assert!(said.contains("https://lictor.example.com"), "{said}");
    }
    assert_eq!(ended(&["serve", "--rate", "0"]).0, Some(64), "nothing would be answered");
    assert_eq!(ended(&["serve", "--nonsense"]).0, Some(64));
    assert_eq!(ended(&["nonsense"]).0, Some(64));
    assert_eq!(Command::new(PROGRAM).arg("--version").output().unwrap().status.code(), Some(0));
}

#[test]
fn this_machine_is_called_localhost_too() {
    let mut world = World::unstarted();
    world.begin_at("localhost:0", &[]);
    assert!(world.url.starts_with("http://127.0.0.1:"), "{}", world.url);
}
