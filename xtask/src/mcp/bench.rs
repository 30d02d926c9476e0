//! What Lictor costs between a client and a server: time added to a call, and memory.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::json;

use super::client::Client;
use super::session::Scratch;
use super::spec::{self, Era};

/// The server that is called: its `echo` costs next to nothing.
pub const SERVER: &str = "everything";
const ROUNDS: usize = 500;

/// Calls the same tool with and without Lictor, in turns, so that both see the same machine.
pub fn run(lictor: &Path) -> Result<()> {
    let servers = spec::servers()?;
    let server = servers.iter().find(|server| server.name == SERVER).context("the server to call")?;
    let scratch = Scratch::new("bench")?;
    let mut direct = Client::start(scratch.server(server, None)?, Era::Handshake)?;
    let mut governed = Client::start(scratch.server(server, Some(lictor))?, Era::Handshake)?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + 20 {
        for (client, times) in [(&mut direct, &mut without), (&mut governed, &mut with)] {
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
    let memory = peak_memory(governed.pid())?;
    direct.end()?;
    governed.end()?;
    let (without, with) = (percentiles(&mut without), percentiles(&mut with));
    println!("calls of `echo` of server-everything over stdio, {ROUNDS} each, in turns");
    println!("  without Lictor: p50 {:.3} ms, p99 {:.3} ms", without.0, without.1);
    println!("  with Lictor:    p50 {:.3} ms, p99 {:.3} ms", with.0, with.1);
    println!("  added:          p50 {:.3} ms", with.0 - without.0);
    println!("  memory of `lictor mcp run`, at most: {:.1} MB", memory / 1024.0);
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
