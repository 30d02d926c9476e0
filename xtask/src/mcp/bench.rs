//! What Lictor costs between a client and a server: time added to a call, and memory; beside another proxy where both stand
//! before a server that is reached by an address.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::json;

use super::client::Client;
use super::conformance::{Running, started};
use super::session::Scratch;
use super::spec::{self, Era, ServerFile};
use crate::shell;

/// The server that is called: its `echo` costs next to nothing.
pub const SERVER: &str = "everything";
/// Another proxy that programs start in a server's place. It judges nothing.
const OTHER: &str = "mcp-remote@0.15.1";
const ROUNDS: usize = 500;
const PORT: u16 = 4801;

fn cache() -> PathBuf {
    shell::root().join("target/mcp/other-proxy")
}

/// Installs the server and the other proxy.
pub fn install() -> Result<()> {
    super::install(SERVER)?;
    if cache().join("node_modules/.bin/mcp-remote").exists() {
        return Ok(());
    }
    spec::npm(&cache(), &[OTHER.to_owned()])
}

/// Calls the same tool with and without Lictor, in turns, so that all see the same machine.
pub fn run(lictor: &Path) -> Result<()> {
    let servers = spec::servers()?;
    let server = servers.iter().find(|server| server.name == SERVER).context("the server to call")?;
    let scratch = Scratch::new("bench")?;
    println!("calls of `echo` of server-everything, {ROUNDS} each, in turns");
    let direct = Client::start(scratch.server(server, None)?, Era::Handshake)?;
    let governed = Client::start(scratch.server(server, Some(lictor))?, Era::Handshake)?;
    measure(vec![("a server over stdio, directly", direct), ("behind `lictor mcp run`", governed)])?;
    let _listening = listening(&scratch, server)?;
    let address = format!("http://127.0.0.1:{PORT}/mcp");
    let mut own = scratch.command(lictor);
    own.args(["mcp", "run", "--name", SERVER, "--url", &address]);
    let mut other = scratch.command(cache().join("node_modules/.bin/mcp-remote"));
    other.args([&address, "--allow-http", "--transport", "http-only"]);
    measure(vec![
        ("a server over HTTP, behind `lictor mcp run --url`", quiet(own, &scratch)?),
        ("behind mcp-remote", quiet(other, &scratch)?),
    ])
}

fn quiet(mut command: Command, scratch: &Scratch) -> Result<Client> {
    command.stderr(Stdio::from(fs::File::create(scratch.root.join("proxy.txt"))?));
    Client::start(command, Era::Handshake)
}

/// The same server, where it listens.
fn listening(scratch: &Scratch, server: &ServerFile) -> Result<Running> {
    let mut command = scratch.command(server.cache().join("node_modules/.bin/mcp-server-everything"));
    command.arg("streamableHttp").env("PORT", PORT.to_string());
    started(command, PORT)
}

fn measure(mut clients: Vec<(&str, Client)>) -> Result<()> {
    let mut times: Vec<Vec<Duration>> = clients.iter().map(|_| Vec::new()).collect();
    for round in 0..ROUNDS + 20 {
        for ((_, client), times) in clients.iter_mut().zip(&mut times) {
            let start = Instant::now();
            let call = json!({"name": "echo", "arguments": {"message": format!("hello {round}")}});
            let answer = client.request("tools/call", call)?;
            let time = start.elapsed();
            anyhow::ensure!(answer.to_string().contains(&format!("hello {round}")), "not the echo: {answer}");
            // The first calls start the server's own machinery.
            if round >= 20 {
                times.push(time);
            }
        }
    }
    for ((what, client), times) in clients.into_iter().zip(&mut times) {
        let (middle, late) = percentiles(times);
        let memory = peak_memory(client.pid())? / 1024.0;
        println!("  {what}: p50 {middle:.3} ms, p99 {late:.3} ms, at most {memory:.1} MB");
        client.end()?;
    }
    Ok(())
}

fn percentiles(times: &mut [Duration]) -> (f64, f64) {
    times.sort();
    let at =
        |share: usize| times.get(times.len() * share / 100).map_or(0.0, |time| time.as_secs_f64() * 1000.0);
    (at(50), at(99))
}

/// In kilobytes.
fn peak_memory(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("the peak of its memory")?;
    let number = line.split_ascii_whitespace().nth(1).context("a number")?;
    Ok(number.parse()?)
}
