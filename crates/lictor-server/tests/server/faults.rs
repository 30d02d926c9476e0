//! What happens to machines: processes that are killed, networks that are cut, disks that are full, clocks that go back.
//!
//! `LICTOR_SERVER_KILLS=200 cargo test -p lictor-server --test server faults` kills more often than the default.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::away::Client;
use crate::cluster::Cluster;
use crate::world::{POLICY, World, send, tool};

const FAST: &str = "{version: 1, known_tools: {known: [read_file]}}";

/// Asks, and limits nothing: many rounds fit into a minute.
const ASKING: &str = "
version: 1
known_tools: {known: [write_file]}
guards:
  careful: {expr: 'action.tool != \"write_file\"', decision: ask, reason: really write?, fix: ask a person}
policy: careful
";

fn rounds() -> usize {
    std::env::var("LICTOR_SERVER_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(3)
}

/// Four clients judge until something fails; the numbers of what was acknowledged.
fn busy(url: &str, token: &str, enough: impl FnOnce(&Mutex<Vec<u64>>)) -> Vec<u64> {
    let (over, acknowledged) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let body = json!({"action": tool("read_file")}).to_string();
                    let sent = std::panic::catch_unwind(|| {
                        send(url, "POST", "/v1/evaluate", token, Some(&body), &[])
                    });
                    match sent {
                        Ok(reply) if reply.status == 200 && reply.body["decision"] == "pass" => {
                            acknowledged.lock().unwrap().push(reply.body["id"].as_u64().unwrap());
                        }
                        _ => break,
                    }
                }
            });
        }
        enough(&acknowledged);
        over.store(true, Ordering::Relaxed);
    });
    acknowledged.into_inner().unwrap()
}

/// Waits until so many were acknowledged.
fn until(count: usize) -> impl Fn(&Mutex<Vec<u64>>) {
    move |acknowledged| {
        while acknowledged.lock().unwrap().len() < count {
            std::thread::yield_now();
        }
    }
}

/// So many records are checked in one request: what is looked at for too long is not answered.
const CHECKED: u64 = 2_000;

/// The chain is sound from this record on, and everything that was acknowledged is in it, once. Returns the last record.
fn sound_after(world: &World, ada: &str, mut checked: u64, acknowledged: &mut Vec<u64>) -> u64 {
    let head = loop {
        let path = format!("/v1/verify?since={checked}&until={}", checked + CHECKED);
        let found = world.ask("GET", &path, ada, &json!({}));
        assert_eq!((&found["sound"], &found["faults"]), (&json!(true), &json!([])), "{found}");
        let head = found["head"]["seq"].as_u64().unwrap();
        checked += CHECKED;
        if checked >= head {
            break head;
        }
    };
    acknowledged.sort_unstable();
    assert!(
        acknowledged.windows(2).all(|pair| pair[0] != pair[1]),
        "one number, two answers: {acknowledged:?}"
    );
    let newest = acknowledged.last().copied().unwrap_or_default();
    assert!(head >= newest, "{head} is the last, {newest} was acknowledged");
    head
}

/// The same from the first record on.
fn sound(world: &World, ada: &str, acknowledged: &mut Vec<u64>) {
    sound_after(world, ada, 0, acknowledged);
}

#[test]
fn what_was_acknowledged_survives_kill_9_of_the_server() {
    let mut world = World::new();
    world.tenant("acme", &json!({}), FAST);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let (mut acknowledged, mut checked) = (Vec::new(), 0);
    for round in 0..rounds() {
        let url = world.url.clone();
        acknowledged.extend(busy(&url, &bob, |seen| {
            until(5 + 7 * (round % 5))(seen);
            world.kill();
        }));
        world.restart();
        checked = sound_after(&world, &ada, checked, &mut acknowledged);
    }
    sound(&world, &ada, &mut acknowledged);
}

#[test]
fn what_was_acknowledged_survives_kill_9_of_server_and_database() {
    let cluster = Cluster::start();
    drop(cluster.database("lictor"));
    let mut world = World::on(Some(cluster.url("owner", "lictor")));
    world.tenant("acme", &json!({}), FAST);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let (mut acknowledged, mut checked) = (Vec::new(), 0);
    for round in 0..rounds() {
        let url = world.url.clone();
        acknowledged.extend(busy(&url, &bob, |seen| {
            until(5 + 7 * (round % 5))(seen);
            if round % 2 == 0 {
                cluster.kill();
            } else {
                world.kill();
            }
        }));
        if round % 2 == 0 {
            cluster.up();
        } else {
            world.restart();
        }
        checked = sound_after(&world, &ada, checked, &mut acknowledged);
    }
    sound(&world, &ada, &mut acknowledged);
}

/// A yes is used once, however often what uses it is interrupted.
#[test]
fn a_yes_counts_once_across_kills() {
    let mut world = World::new();
    world.tenant("acme", &json!({}), ASKING);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    for round in 0..rounds() {
        let write = json!({"action": {"kind": "tool", "tool": "write_file", "session_id": format!("s{round}")}, "unattended": true});
        world.ask("POST", "/v1/evaluate", &bob, &write);
        let waiting = world.ask("GET", "/v1/approvals", &ada, &json!({}));
        let id = waiting["approvals"][0]["id"].as_str().expect("a question").to_owned();
        world.ask("POST", &format!("/v1/approvals/{id}/approve"), &ada, &json!({}));
        let (url, passed, body) = (world.url.clone(), AtomicUsize::new(0), write.to_string());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let sent = std::panic::catch_unwind(|| {
                        send(&url, "POST", "/v1/evaluate", &bob, Some(&body), &[])
                    });
                    let went =
                        sent.is_ok_and(|reply| reply.status == 200 && reply.body["decision"] == "pass");
                    passed.fetch_add(usize::from(went), Ordering::Relaxed);
                });
            }
            if round % 2 == 0 {
                world.kill();
            }
        });
        if round % 2 == 0 {
            world.restart();
        }
        let again = world.ask("POST", "/v1/evaluate", &bob, &write);
        let after = usize::from(again["decision"] == "pass");
        let used = passed.load(Ordering::Relaxed) + after;
        assert!(used <= 1, "round {round}: it passed {used} times");
        // What still waits would be asked about in the next round.
        let deny = world.ask("GET", "/v1/approvals", &ada, &json!({}));
        for one in deny["approvals"].as_array().unwrap() {
            let path = format!("/v1/approvals/{}/deny", one["id"].as_str().unwrap());
            world.ask("POST", &path, &ada, &json!({}));
        }
    }
}

/// Between a client and a server: passes everything on until it is told to lose answers.
struct Cable {
    url: String,
    cut: Arc<AtomicBool>,
}

impl Cable {
    fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (url, cut) =
            (format!("http://{}", listener.local_addr().unwrap()), Arc::new(AtomicBool::new(false)));
        let (server, lost) = (server.trim_start_matches("http://").to_owned(), Arc::clone(&cut));
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(&server) else { continue };
                let lost = Arc::clone(&lost);
                let (mut from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                });
                std::thread::spawn(move || back(far, near, &lost));
            }
        });
        Self { url, cut }
    }
}

/// Passes answers back; cut, the request has arrived and its answer gets lost.
fn back(mut far: TcpStream, mut near: TcpStream, lost: &AtomicBool) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = far.read(&mut buffer) {
        if lost.load(Ordering::Relaxed) || near.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = near.shutdown(std::net::Shutdown::Both);
}

/// The server has judged, and the answer never arrives: the client lets nothing pass, sends nothing a second time, and
/// goes on by itself afterwards.
#[test]
fn an_answer_that_gets_lost_passes_nothing_and_is_not_asked_for_twice() {
    let world = World::new();
    world.tenant("acme", &json!({"away": "block"}), FAST);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let cable = Cable::to(&world.url);
    let mut client = Client::at(&cable.url, &world, "client", &bob);
    assert_eq!(client.judge("read_file")["decision"], "pass");
    let judged = || {
        let found = world.ask("GET", "/v1/records?kind=evaluated&limit=1000", &ada, &json!({}));
        found["records"].as_array().unwrap().len()
    };
    assert_eq!(judged(), 1);
    cable.cut.store(true, Ordering::Relaxed);
    let lost = client.judge("read_file");
    assert_eq!((&lost["decision"], &lost["away"]), (&json!("block"), &json!(true)), "{lost}");
    assert!(judged() <= 2, "it was sent once: {}", judged());
    cable.cut.store(false, Ordering::Relaxed);
    let before = judged();
    assert_eq!(client.judge("read_file")["decision"], "pass");
    assert_eq!(judged(), before + 1);
}

/// A disk that fills up: no pass without a record, and what was acknowledged stays.
#[test]
fn a_full_disk_stops_everything_that_cannot_be_recorded() {
    let mut world = World::unstarted();
    let state = world.state();
    std::fs::create_dir_all(&state).unwrap();
    let mount = "mount -t tmpfs -o size=1500k tmpfs \"$1\" && shift && exec \"$@\"";
    let words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"];
    world.under =
        words.iter().map(|word| (*word).to_owned()).chain([state.to_string_lossy().into_owned()]).collect();
    world.begin();
    world.tenant("acme", &json!({}), FAST);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let mut passed: Vec<u64> = Vec::new();
    let mut stopped = 0;
    let mut noise = 1_u64;
    for _ in 0..2_000 {
        // Text that cannot be packed.
        let text: String = (0..1_500)
            .map(|_| {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from(b'!' + u8::try_from((noise >> 33) % 90).unwrap())
            })
            .collect();
        let action = json!({"kind": "tool", "tool": "read_file", "payload": {"text": text}});
        let reply = world.send("POST", "/v1/evaluate", &bob, Some(&json!({"action": action})));
        if reply.status == 200 && reply.body["decision"] == "pass" {
            passed.push(reply.body["id"].as_u64().expect("what passes has a number"));
        } else {
            assert!(
                reply.status >= 500 || reply.body["decision"] == "block",
                "{} {}",
                reply.status,
                reply.body
            );
            stopped += 1;
            if stopped > 5 {
                break;
            }
        }
    }
    assert!(stopped > 0, "the disk never filled up");
    assert!(passed.len() > 5, "{passed:?}");
    sound(&world, &ada, &mut passed);
}

/// What starts a program with another clock.
fn clock(offset: &str) -> Vec<String> {
    let libraries = std::fs::read_dir("/usr/lib").unwrap().flatten();
    let library =
        libraries.map(|entry| entry.path().join("faketime/libfaketime.so.1")).find(|file| file.is_file());
    let library = library.expect("this test needs libfaketime: `apt-get install libfaketime`");
    let words = [format!("LD_PRELOAD={}", library.display()), format!("FAKETIME={offset}")];
    let fixed = ["env", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"].map(str::to_owned);
    fixed.into_iter().chain(words).collect()
}

/// A clock that goes back: what was used stays used, what was counted stays counted, and the chain goes on.
#[test]
fn a_clock_that_goes_back_gives_nothing_back() {
    let mut world = World::new();
    world.tenant("acme", &json!({}), POLICY);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let write =
        json!({"action": {"kind": "tool", "tool": "write_file", "session_id": "s"}, "unattended": true});
    world.ask("POST", "/v1/evaluate", &bob, &write);
    let waiting = world.ask("GET", "/v1/approvals", &ada, &json!({}));
    let id = waiting["approvals"][0]["id"].as_str().expect("a question").to_owned();
    world.ask("POST", &format!("/v1/approvals/{id}/approve"), &ada, &json!({}));
    let decision =
        |world: &World, body: &Value| world.ask("POST", "/v1/evaluate", &bob, body)["decision"].clone();
    assert_eq!(decision(&world, &write), "pass");
    while decision(&world, &json!({"action": tool("read_file")})) == "pass" {}
    world.kill();
    world.under = clock("-20s");
    world.restart();
    assert_ne!(decision(&world, &write), "pass", "a yes that was used");
    assert_ne!(decision(&world, &json!({"action": tool("read_file")})), "pass", "a rate that was used up");
    sound(&world, &ada, &mut Vec::new());
}
