//! A network that is cut while a request is under way: client and server on two ends of a cable, in network namespaces.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::away::Client;
use crate::world::World;

const POLICY: &str = "{version: 1, known_tools: {known: [read_file]}}";
const NEEDS: &str = "this test needs network namespaces (`unshare --user --net`) and `ip` (`apt-get install iproute2`); \
                     in a container, run it with `--cap-add SYS_ADMIN --cap-add NET_ADMIN`";

fn sh(words: &[&str]) {
    let done = Command::new(words[0]).args(&words[1..]).output().expect(NEEDS);
    assert!(done.status.success(), "{words:?}: {}\n{NEEDS}", String::from_utf8_lossy(&done.stderr));
}

/// A cable from this network to another one, where clients are.
struct Cable {
    far: Child,
}

const NEAR: &str = "10.77.0.1";

impl Cable {
    fn new() -> Self {
        sh(&["ip", "link", "set", "lo", "up"]);
        let far = Command::new("unshare").args(["--net", "sleep", "600"]).spawn().expect(NEEDS);
        let cable = Self { far };
        let of = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        let pid = cable.pid();
        until(NEEDS, || of(&pid).is_some() && of(&pid) != of("self"));
        sh(&["ip", "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", &pid]);
        sh(&["ip", "address", "add", &format!("{NEAR}/24"), "dev", "near"]);
        sh(&["ip", "link", "set", "near", "up"]);
        for words in [&["address", "add", "10.77.0.2/24", "dev", "far"][..], &["link", "set", "far", "up"]] {
            sh(&[&["nsenter", "--target", &pid, "--net", "ip"], words].concat());
        }
        cable
    }

    fn pid(&self) -> String {
        self.far.id().to_string()
    }

    /// What starts a program at the other end.
    fn at_the_far_end(&self) -> Vec<String> {
        ["nsenter", "--target", &self.pid(), "--net"].map(str::to_owned).to_vec()
    }

    fn cut(&self) {
        sh(&["ip", "link", "set", "near", "down"]);
    }

    fn mend(&self) {
        sh(&["ip", "link", "set", "near", "up"]);
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        let _ = self.far.kill();
        let _ = self.far.wait();
    }
}

/// How many judgements the server has on record.
fn judged(world: &World, ada: &str) -> usize {
    let found = world.ask("GET", "/v1/records?kind=evaluated&limit=1000", ada, &json!({}));
    found["records"].as_array().unwrap().len()
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let waited = Instant::now();
    while !holds() {
        assert!(waited.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether every thread of the server stands still: the signal reaches them one after the other.
fn sleeps(world: &World) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", world.pid())).unwrap().flatten();
    threads
        .map(|thread| std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default())
        .all(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')))
}

/// Whether something has arrived that the server has not read.
fn has_arrived(world: &World) -> bool {
    let port: u16 = world.url.rsplit_once(':').unwrap().1.parse().unwrap();
    let end = format!(":{port:04X}");
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).any(|fields| {
        let queued = fields.get(4).and_then(|queues| queues.split_once(':')).map(|(_, read)| read);
        // In state 01, a connection; what listens counts connections there.
        fields.get(1).is_some_and(|own| own.ends_with(&end))
            && fields.get(3) == Some(&"01")
            && queued.is_some_and(|queued| queued.chars().any(|digit| digit != '0'))
    })
}

/// Stops the server for as long as something is done: what arrives meanwhile waits in front of it.
fn while_it_sleeps(world: &World, act: impl FnOnce()) {
    let server = Pid::from_raw(i32::try_from(world.pid()).unwrap()).unwrap();
    kill_process(server, Signal::STOP).unwrap();
    until("the server does not stop", || sleeps(world));
    act();
    kill_process(server, Signal::CONT).unwrap();
}

#[test]
fn a_cut_in_the_middle_of_a_request_passes_nothing_and_counts_once() {
    let own = std::env::current_exe().unwrap();
    let done = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net"])
        .arg(own)
        .args(["--exact", "--ignored", "--nocapture", "network::in_a_network_of_its_own"])
        .stdin(Stdio::null())
        .output()
        .expect(NEEDS);
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}\n{NEEDS}");
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "the test above starts it in a network namespace"]
fn in_a_network_of_its_own() {
    let cable = Cable::new();
    let mut world = World::unstarted();
    world.begin_at(&format!("{NEAR}:0"), &["--behind-proxy"]);
    world.tenant("acme", &json!({"away": "block"}), POLICY);
    let (ada, bob) = (world.token("acme", "person", "ada"), world.token("acme", "person", "bob"));
    let mut client = Client::under(&cable.at_the_far_end(), &world.url, &world, "client", &bob);
    assert_eq!(client.judge("read_file")["decision"], "pass");
    assert_eq!(judged(&world, &ada), 1);
    for round in 1..=2 {
        // The request has arrived, nobody has looked at it yet, and its answer finds no way back.
        while_it_sleeps(&world, || {
            client.begin("read_file");
            until("the request does not arrive", || has_arrived(&world));
            cable.cut();
        });
        let lost = &client.end()["result"];
        assert_eq!((&lost["decision"], &lost["away"]), (&json!("block"), &json!(true)), "{lost}");
        assert_eq!(judged(&world, &ada), 2 * round, "it was judged, and once");
        // Nothing arrives at all.
        assert_eq!(client.judge("read_file")["decision"], "block");
        assert_eq!(judged(&world, &ada), 2 * round);
        cable.mend();
        // The client finds back by itself, and sends what it decided alone.
        let waited = Instant::now();
        while client.judge("read_file")["decision"] != "pass" {
            assert!(waited.elapsed() < Duration::from_secs(60), "the client does not find back");
        }
        assert_eq!(judged(&world, &ada), 2 * round + 1);
    }
    let checked = world.ask("GET", "/v1/verify", &ada, &json!({}));
    assert_eq!((&checked["sound"], &checked["faults"]), (&json!(true), &json!([])), "{checked}");
    let machines = world.ask("GET", "/v1/machines", &ada, &json!({}));
    let name = machines["machines"][0]["name"].as_str().expect("what was decided alone was sent").to_owned();
    let alone = world.ask("GET", &format!("/v1/records?machine={name}&limit=1000"), &ada, &json!({}));
    let alone = alone["records"].as_array().unwrap().iter().filter(|one| one["decision"] == "block").count();
    assert!(alone >= 4, "each block without the server is here once: {machines}");
    let checked = world.ask("GET", &format!("/v1/verify?machine={name}"), &ada, &json!({}));
    assert_eq!(checked["sound"], true, "{checked}");
}
