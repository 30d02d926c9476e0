//! What Lictor costs between a client and a server: time added to a call, and memory; beside another proxy where both stand
//! before a server that is reached by an address.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::client::Client;
use super::conformance::{Running, started};
use super::session::Scratch;
use super::spec::{self, Era, ServerFile};
use crate::bench::paper;
use crate::shell;

/// The server that is called: its `echo` costs next to nothing.
pub const SERVER: &str = "everything";
/// Another proxy that programs start in a server's place. It judges nothing.
const OTHER: &str = "mcp-remote@0.15.1";
const ROUNDS: usize = 500;
const PORT: u16 = 4801;

fn cache() -> PathBuf {
    shell::target().join("mcp/other-proxy")
}

/// Installs the server and the other proxy.
pub fn install() -> Result<()> {
    super::install(SERVER)?;
    if cache().join("node_modules/.bin/mcp-remote").exists() {
        return Ok(());
    }
    spec::npm(&cache(), &[OTHER.to_owned()])
}

/// Calls the same tool with and without Lictor, in turns, so that all see the same machine, and writes the figures down.
pub fn run(lictor: &Path) -> Result<()> {
    let server = lictor.with_file_name("lictor-server");
    ensure!(
        server.exists(),
        "`{}` is missing, which stands before addresses; `cargo xtask install --server` builds it",
        server.display()
    );
    let servers = spec::servers()?;
    let server = servers.iter().find(|server| server.name == SERVER).context("the server to call")?;
    let scratch = Scratch::new("bench")?;
    let direct = Client::start(scratch.server(server, None)?, Era::Handshake)?;
    let governed = Client::start(scratch.server(server, Some(lictor))?, Era::Handshake)?;
    let mut rows =
        measure(vec![("a server over stdio, directly", direct), ("behind `lictor mcp run`", governed)])?;
    let listening = listening(&scratch, server)?;
    let address = format!("http://127.0.0.1:{PORT}/mcp");
    let mut own = scratch.command(lictor);
    own.args(["mcp", "run", "--name", SERVER, "--url", &address]);
    let mut other = scratch.command(cache().join("node_modules/.bin/mcp-remote"));
    other.args([&address, "--allow-http", "--transport", "http-only"]);
    rows.extend(measure(vec![
        ("the same server over HTTP, behind `lictor mcp run --url`", quiet(own, &scratch)?),
        ("the same, behind mcp-remote, which judges nothing", quiet(other, &scratch)?),
    ])?);
    drop(listening);
    let head = format!(
        "{ROUNDS} calls of `echo` of server-everything each; `{OTHER}`.\n\n\
         | milliseconds | p50 | p99 | added, p50 | MB |\n|---|---|---|---|---|\n"
    );
    let table = rows.iter().fold(head, |table, row| table + &row.line());
    println!("{table}");
    paper::write("mcp", &table)
}

/// One line of the table.
struct Row {
    what: String,
    middle: f64,
    late: f64,
    /// Against the first of those that were measured together, call by call.
    added: Option<f64>,
    memory: f64,
}

impl Row {
    fn line(&self) -> String {
        let Self { what, middle, late, memory, .. } = self;
        let added = self.added.map_or_else(|| "–".to_owned(), |added| format!("{added:.3}"));
        format!("| {what} | {middle:.3} | {late:.3} | {added} | {memory:.1} |\n")
    }
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

fn measure(mut clients: Vec<(&str, Client)>) -> Result<Vec<Row>> {
    let mut times: Vec<Vec<f64>> = clients.iter().map(|_| Vec::new()).collect();
    for round in 0..ROUNDS + 20 {
        for ((_, client), times) in clients.iter_mut().zip(&mut times) {
            let start = Instant::now();
            let call = json!({"name": "echo", "arguments": {"message": format!("hello {round}")}});
            let answer = client.request("tools/call", call)?;
            let time = start.elapsed();
            ensure!(answer.to_string().contains(&format!("hello {round}")), "not the echo: {answer}");
            // The first calls start the server's own machinery.
            if round >= 20 {
                times.push(time.as_secs_f64() * 1000.0);
            }
        }
    }
    let first = times.first().cloned().unwrap_or_default();
    let mut rows = Vec::new();
    for (number, ((what, client), times)) in clients.into_iter().zip(times).enumerate() {
        let more: Vec<f64> = times.iter().zip(&first).map(|(time, first)| time - first).collect();
        rows.push(Row {
            what: what.to_owned(),
            middle: at(&times, 50),
            late: at(&times, 99),
            added: (number > 0).then(|| at(&more, 50)),
            memory: peak_memory(client.pid())? / 1024.0,
        });
        client.end()?;
    }
    Ok(rows)
}

/// That percentile.
fn at(times: &[f64], share: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() * share / 100).copied().unwrap_or_default()
}

/// In kilobytes.
fn peak_memory(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("the peak of its memory")?;
    let number = line.split_ascii_whitespace().nth(1).context("a number")?;
    Ok(number.parse()?)
}
