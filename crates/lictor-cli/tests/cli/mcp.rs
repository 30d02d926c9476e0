//! `lictor mcp run` as a process: what its server gets, what it survives, and how it ends.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use crate::sandbox::Sandbox;

fn started(sandbox: &Sandbox, server: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lictor"));
    command
        .args(["mcp", "run", "--name", "demo", "--env", "WANTED", "--"])
        .args(server)
        .current_dir(sandbox.project())
        .env("HOME", sandbox.home())
        .env("WANTED", "yes")
        .env("SECRET_TOKEN", "hush")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn a_server_gets_a_clean_environment_and_limits() {
    let sandbox = Sandbox::new();
    let line = "env > env.txt; ulimit -n > files.txt; ulimit -c > core.txt";
    let mut child = started(&sandbox, &["sh", "-c", line]);
    assert!(child.wait().unwrap().success());
    let read = |file: &str| fs::read_to_string(sandbox.project().join(file)).unwrap();
    assert!(
        read("env.txt").contains("WANTED=yes") && !read("env.txt").contains("hush"),
        "{}",
        read("env.txt")
    );
    assert!(read("files.txt").trim().parse::<u64>().unwrap() <= 4096);
    assert_eq!(read("core.txt").trim(), "0");
}

#[test]
fn a_server_ends_with_the_proxy_however_that_ends() {
    let sandbox = Sandbox::new();
    let line = "echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":'$$'}}'; exec sleep 300";
    let mut child = started(&sandbox, &["sh", "-c", line]);
    let mut told = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut told).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let server = told["params"]["data"].as_u64().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // It is killed by the kernel, a moment later; then nobody or somebody else has its number.
    let is_there =
        || fs::read_to_string(format!("/proc/{server}/comm")).is_ok_and(|name| name.trim() == "sleep");
    while is_there() {
        std::thread::yield_now();
    }
}

#[test]
fn a_line_of_64_megabytes_is_refused_and_the_next_one_heard() {
    let sandbox = Sandbox::new();
    let mut child = started(&sandbox, &["cat"]);
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let part = vec![b'a'; 1 << 20];
        for _ in 0..64 {
            stdin.write_all(&part).unwrap();
        }
        stdin.write_all(b"\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"shell/run\"}\n").unwrap();
    });
    let mut told = String::new();
    child.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    writer.join().unwrap();
    child.wait().unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        matches!(lines[..], [long, next] if long.contains("longer than") && next.contains("\"id\":7")),
        "{told}"
    );
}
