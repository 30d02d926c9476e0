//! The real hook of `lictor` with its record in a database, and with a policy that a server publishes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use lictor_store::{PipedStore, Store, conformance};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::world::{PROGRAM, World};

/// `lictor` beside the server, built where it is missing: tests of one crate do not build the programs of another.
fn lictor() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        let beside = Path::new(PROGRAM).with_file_name("lictor");
        if !beside.is_file() {
            let built = Command::new(env!("CARGO")).args(["build", "--quiet", "-p", "lictor-cli"]).status();
            assert!(built.unwrap().success(), "`lictor` cannot be built");
        }
        beside
    })
}

/// A repository, and a home with a policy of the user.
struct Machine {
    directory: TempDir,
}

impl Machine {
    fn new(policy: &str) -> Self {
        let machine = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir_all(machine.config()).unwrap();
        fs::create_dir_all(machine.project().join(".git")).unwrap();
        fs::write(machine.project().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(machine.config().join("governance.yaml"), format!("version: 1\n{policy}\n")).unwrap();
        machine
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    fn config(&self) -> PathBuf {
        self.home().join(".config/lictor")
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    fn run(&self, program: &Path, args: &[&str], input: &str) -> Output {
        self.run_with(program, args, &[], input)
    }

    fn run_with(&self, program: &Path, args: &[&str], settings: &[(&str, &str)], input: &str) -> Output {
        let mut child = Command::new(program)
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            .env("LICTOR_TEST_HOME", self.home())
            .envs(settings.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn lictor(&self, args: &[&str]) -> String {
        let output = self.run(lictor(), args, "");
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {text}{errors}");
        text
    }

    /// The exit code of the hook for a command: 0 passes, 2 blocks.
    fn hook(&self, command: &str) -> (i32, String) {
        let event = json!({
            "session_id": "s1", "cwd": self.project(), "hook_event_name": "PreToolUse", "permission_mode": "default",
            "transcript_path": "/tmp/t.jsonl", "tool_name": "Bash", "tool_input": {"command": command},
        });
        let output = self.run(lictor(), &["hook", "claude-code", "PreToolUse"], &event.to_string());
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn sync(&self) -> Output {
        self.run(Path::new(PROGRAM), &["sync"], "")
    }
}

#[test]
fn a_store_through_pipes_does_what_every_store_must() {
    let cluster = Cluster::start();
    drop(cluster.database("lictor"));
    let count = std::cell::Cell::new(0);
    let make = || {
        count.set(count.get() + 1);
        let mut command = Command::new(PROGRAM);
        command.args(["hold-store", "--wait", "2000", "--chain", &format!("chain {}", count.get())]);
        command.env("LICTOR_STORE_ADDRESS", cluster.url("owner", "lictor"));
        PipedStore::start(command, "postgres://test", None).unwrap()
    };
    for (name, check) in conformance::CHECKS {
        let store = make();
        assert_eq!(check(&store as &dyn Store).map_err(|error| error.to_string()), Ok(()), "{name}");
    }
}

#[test]
fn a_hook_keeps_its_record_in_a_database() {
    let cluster = Cluster::start();
    drop(cluster.database("lictor"));
    let machine = Machine::new(&format!("store: {}", cluster.url("owner", "lictor")));
    assert_eq!(machine.hook("ls").0, 0);
    assert_eq!(machine.hook("rm -rf ~").0, 2);
    let verified: Value = serde_json::from_str(&machine.lictor(&["audit", "verify", "--json"])).unwrap();
    assert_eq!(verified["sound"], true, "{verified}");
    let log = machine.lictor(&["log"]);
    assert!(log.contains("ls") && log.contains("rm -rf ~"), "{log}");
    let found = fs::read_dir(machine.home().join(".local/state/lictor")).unwrap().flatten();
    let files: Vec<_> = found.filter(|entry| entry.path().join("lictor.db").exists()).collect();
    assert!(files.is_empty(), "nothing is kept in a file: {files:?}");
    // The record follows the machine, and another one has its own.
    let other = Machine::new(&format!("store: {}", cluster.url("owner", "lictor")));
    assert_eq!(other.hook("pwd").0, 0);
    assert!(!other.lictor(&["log"]).contains("ls"), "chains do not mix");
    cluster.kill();
    let (code, said) = machine.hook("ls");
    assert_eq!(code, 2, "without its record nothing passes: {said}");
    cluster.up();
    assert_eq!(machine.hook("ls").0, 0, "it recovers by itself");
}

#[test]
fn what_the_server_publishes_counts_on_the_machine() {
    let mut world = World::new();
    world.tenant(
        "acme",
        &json!({"max_age": 3600}),
        "{version: 1, bash_safety: {blocked_programs: [terraform]}}",
    );
    let machine = Machine::new(&format!("server: {{url: '{}'}}", world.url));
    let (code, _) = machine.hook("ls");
    assert_eq!(code, 2, "without a token no policy can be had");
    fs::write(machine.config().join("server.token"), world.token("acme", "machine", "laptop")).unwrap();
    assert_eq!(machine.hook("ls").0, 0);
    let (code, said) = machine.hook("terraform plan");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("terraform"), "{said}");
    // What was recorded arrives, each record once.
    let sent = machine.sync();
    assert!(sent.status.success(), "{sent:?}");
    let again = machine.sync();
    assert!(String::from_utf8_lossy(&again.stdout).contains("; 0 records sent"), "{again:?}");
    let machines = world.ask("GET", "/v1/machines", &world.token("acme", "person", "ada"), &json!({}));
    let name = machines["machines"][0]["name"].as_str().unwrap_or_else(|| panic!("{machines}")).to_owned();
    let path = format!("/v1/records?kind=evaluated&machine={name}");
    let records = world.ask("GET", &path, &world.token("acme", "person", "ada"), &json!({}));
    let decisions: Vec<_> =
        records["records"].as_array().unwrap().iter().map(|row| row["decision"].clone()).collect();
    assert_eq!(decisions, ["pass", "block"], "{records}");
    // The server is gone: the last policy counts, until it is too old.
    world.kill();
    assert_eq!(machine.hook("ls").0, 0);
    assert_eq!(machine.hook("terraform plan").0, 2);
    age(&machine, 3_601);
    let (code, said) = machine.hook("ls");
    assert_eq!(code, 2, "an expired policy lets nothing pass: {said}");
    world.restart();
    assert_eq!(machine.hook("ls").0, 0, "it recovers by itself");
}

/// Makes what was fetched older than it is.
fn age(machine: &Machine, seconds: i64) {
    let file = machine.home().join(".local/state/lictor/server/bundle.json");
    let mut bundle: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let fetched = bundle["fetched"].as_i64().unwrap();
    bundle["fetched"] = json!(fetched - seconds * 1_000);
    fs::write(&file, bundle.to_string()).unwrap();
}

/// Calls of `lictor rpc --server`, and what was answered.
fn rpc(machine: &Machine, world: &World, token: &str, calls: &[(&str, Value)]) -> Vec<Value> {
    let lines: String = calls
        .iter()
        .enumerate()
        .map(|(id, (method, params))| {
            format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        })
        .collect();
    let args = ["rpc", "--server", &world.url];
    let output =
        machine.run_with(lictor(), &args, &[("LICTOR_TOKEN", token)], &format!("not a call\n{lines}"));
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        answers.remove(0)["error"]["data"]["kind"],
        "parse",
        "a bad line gets an error and loses nothing"
    );
    for (id, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], id, "in order: {text}");
    }
    assert_eq!(answers.len(), calls.len(), "{text}");
    answers
}

#[test]
fn any_program_is_governed_by_a_server_through_rpc() {
    let mut world = World::new();
    world.tenant("acme", &json!({"away": "last_good", "max_age": 3600}), crate::world::POLICY);
    let bob = world.token("acme", "person", "bob");
    let ada = world.token("acme", "person", "ada");
    let machine = Machine::new("");
    let refused = machine.run(lictor(), &["rpc", "--server", &world.url], "");
    assert_eq!(refused.status.code(), Some(64), "without a token: {refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("LICTOR_TOKEN"), "{refused:?}");

    let session = json!({"session_id": "s1"});
    let action =
        |name: &str| json!({"action": {"kind": "tool", "tool": name, "payload": {}, "session_id": "s1"}});
    let post = |name: &str| {
        let mut params = action(name);
        params["outcome"] = json!({"success": true});
        params
    };
    let answers = rpc(
        &machine,
        &world,
        &bob,
        &[
            ("version", Value::Null),
            ("evaluate", action("read_file")),
            ("post", post("read_file")),
            ("evaluate", action("grant")),
            ("evaluate", json!({"action": {"kind": "tool", "comand": "x"}})),
            ("prompt", session.clone()),
            ("stop", session.clone()),
            ("session", session.clone()),
            ("approvals", Value::Null),
            ("gate", json!({"event": "pre-commit"})),
            ("nonsense", Value::Null),
            ("end", session.clone()),
        ],
    );
    let result = |at: usize| &answers[at]["result"];
    assert!(result(0)["methods"].as_array().unwrap().contains(&json!("gate")), "{answers:?}");
    assert_eq!(result(1)["decision"], "pass", "{answers:?}");
    assert_eq!(result(2)["standing"], "governed", "{answers:?}");
    assert_eq!(result(3)["decision"], "block", "bob has no such scope: {answers:?}");
    assert!(answers[4]["error"]["message"].as_str().unwrap().contains("comand"), "{answers:?}");
    let (code, kind) = (&answers[4]["error"]["code"], &answers[4]["error"]["data"]["kind"]);
    assert_eq!((code, kind), (&json!(-32_602), &json!("invalid_params")), "as without a server: {answers:?}");
    assert_eq!(result(6)["outcome"], "complete", "{answers:?}");
    assert_eq!(result(7)["state"]["action_count"], 2, "{answers:?}");
    assert_eq!(
        answers[8]["error"]["data"]["kind"], "forbidden",
        "bob may not look at questions: {answers:?}"
    );
    assert_eq!(result(9)["outcome"], "ok", "{answers:?}");
    assert_eq!(answers[10]["error"]["data"]["kind"], "unknown_method", "{answers:?}");
    assert_eq!(rpc(&machine, &world, &ada, &[("approvals", Value::Null)])[0]["result"], json!([]));

    // The server is away: the last policy judges, what cannot be known is an error, and nothing is made up.
    world.kill();
    let answers = rpc(
        &machine,
        &world,
        &bob,
        &[
            ("evaluate", action("read_file")),
            ("evaluate", action("grant")),
            ("post", post("read_file")),
            ("stop", session.clone()),
            ("session", session.clone()),
            ("gate", json!({"event": "pre-commit"})),
        ],
    );
    let result = |at: usize| &answers[at]["result"];
    assert_eq!((&result(0)["decision"], &result(0)["away"]), (&json!("pass"), &json!(true)), "{answers:?}");
    assert_eq!(result(1)["decision"], "block", "{answers:?}");
    assert_eq!(result(2)["away"], true, "{answers:?}");
    assert_eq!(result(3)["outcome"], "released_unmet", "{answers:?}");
    for at in [4, 5] {
        assert_eq!(answers[at]["error"]["data"]["kind"], "server_away", "{answers:?}");
    }
    // It is back: what happened meanwhile arrives, once.
    world.restart();
    let sent = || {
        assert_eq!(
            rpc(&machine, &world, &bob, &[("evaluate", action("read_file"))])[0]["result"]["decision"],
            "pass"
        );
        let machines = world.ask("GET", "/v1/machines", &ada, &json!({}));
        let name =
            machines["machines"][0]["name"].as_str().unwrap_or_else(|| panic!("{machines}")).to_owned();
        let records = world.ask("GET", &format!("/v1/records?machine={name}"), &ada, &json!({}));
        records["records"].as_array().unwrap().len()
    };
    let first = sent();
    assert!(first >= 4, "two judgements, an outcome and a wish to stop: {first}");
    assert_eq!(sent(), first, "nothing is sent twice");
}
