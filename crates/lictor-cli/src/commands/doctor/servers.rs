//! Checks proxied MCP servers: runs the exact command line in an agent's settings, with an echo server instead of
//! the real one. The person's servers are not started.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use lictor::Project;
use lictor_agents::install::servers::{ConfiguredServer, ServerSettings};
use lictor_core::text;
use lictor_mcp::pins::Pins;
use serde_json::{Value, json};

use super::Report;

/// The timeout of a response.
const PATIENCE: Duration = Duration::from_secs(10);
/// A method that no server has, so that a refusal comes from Lictor.
const CANARY: &str = "lictor/canary";
const UNKNOWN_METHOD: i64 = -32601;

/// Sends canaries through every proxied server, and reports servers without the proxy.
pub fn wrapped(report: &mut Report, project: &Project) {
    for settings in ServerSettings::all(&project.agent_settings()) {
        let Ok(servers) = fs::read_to_string(settings.path()).map(|text| settings.servers(&text)) else {
            continue;
        };
        let file = settings.path().display();
        let Ok(servers) = servers else {
            report.note(format!("`{file}` is not JSON"), "mend it; its MCP servers are not looked at");
            continue;
        };
        for server in servers {
            let what = format!("MCP server `{}` of {} ({file})", server.name, settings.agent());
            if !server.wrapped {
                report.note(format!("{what}: only hooks govern it"), not_wrapped(&server));
                continue;
            }
            match fly(project, &server) {
                Ok(true) => report.ok(format!("{what}: a forbidden request was refused")),
                Ok(false) => report.problem(
                    format!("{what}: a forbidden request went through"),
                    "run `lictor init --mcp` again",
                ),
                Err(error) => report.problem(
                    format!("{what}: Lictor does not answer before it: {error:#}"),
                    "run `lictor init --mcp --uninstall`, then `lictor init --mcp`",
                ),
            }
        }
    }
}

/// Definitions that wait for a person: clients are not told why those are gone.
pub fn pins(report: &mut Report, project: &Project) {
    let pinned = match Pins::in_directory(&project.dirs().state).read() {
        Ok(pinned) => pinned,
        Err(error) => {
            report
                .problem(format!("no tool of an MCP server can be used: {error}"), "look at the file first");
            return;
        }
    };
    for server in pinned.servers.values() {
        let (changed, suspicious) = server.open();
        if !changed.is_empty() {
            let what = format!(
                "MCP server `{}`: changed since accepted, so not offered: {}",
                server.name,
                named(&changed)
            );
            report.note(what, LOOK);
        }
        if !suspicious.is_empty() {
            let what = format!(
                "MCP server `{}`: suspicious, so calls ask or it is not offered: {}",
                server.name,
                named(&suspicious)
            );
            report.note(what, LOOK);
        }
    }
}

/// What a person does about them.
const LOOK: &str = "run `lictor mcp pins diff`, then `lictor mcp pins accept`";

/// The first few, and how many more there are.
fn named(keys: &[&str]) -> String {
    let shown: Vec<String> = keys.iter().take(3).map(|key| format!("`{}`", text::clean(key, 60))).collect();
    let more = keys.len().saturating_sub(shown.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", shown.join(", "))
}

fn not_wrapped(server: &ConfiguredServer) -> &'static str {
    if server.command.is_empty() {
        "it is reached by an address: put `lictor mcp run --name NAME --url ADDRESS` in its place"
    } else {
        "run `lictor init --mcp`"
    }
}

/// An address of this machine where no server is.
const NOWHERE: &str = "http://127.0.0.1:9/";

/// Whether a forbidden request is refused and a harmless one comes through. A server with a URL is not contacted, so there
/// the harmless one must fail for want of a server.
fn fly(project: &Project, server: &ConfiguredServer) -> Result<bool> {
    let nowhere = |word: &String| match &server.address {
        Some(address) => word.replace(address, NOWHERE),
        None => word.clone(),
    };
    let before: Vec<String> = server.before.iter().map(nowhere).collect();
    let (program, options) = before.split_first().context("there is no command")?;
    let echo: &[&str] = if server.address.is_some() { &[] } else { &["--", "cat"] };
    let scratch = tempfile::tempdir().context("cannot make a directory for the canaries' record")?;
    let mut child = Command::new(program)
        .args(options)
        .args(echo)
        .current_dir(&project.root)
        .env("LICTOR_STATE_DIR", scratch.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("`{program}` cannot be started"))?;
    let answered = exchange(&mut child, server.address.is_none());
    let _ = child.kill();
    let _ = child.wait();
    answered
}

fn exchange(child: &mut Child, echoes: bool) -> Result<bool> {
    let mut stdin = child.stdin.take().context("it has no input")?;
    let answers = lines(child.stdout.take().context("it has no output")?);
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (id, method) in [(1, CANARY), (2, "ping")] {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": about}});
        writeln!(stdin, "{request}")?;
    }
    let next = || answers.recv_timeout(PATIENCE).context("no answer came in time");
    // A forwarded request is echoed; a refused one has an error response.
    let refused = |answer: &Value| {
        answer.get("id") == Some(&json!(1))
            && answer.get("error").and_then(|error| error.get("code")) == Some(&json!(UNKNOWN_METHOD))
    };
    let forbidden = next()?;
    let harmless = next()?;
    let came = if echoes { harmless.get("method") == Some(&json!("ping")) } else { is_unreached(&harmless) };
    Ok(refused(&forbidden) && came)
}

fn is_unreached(answer: &Value) -> bool {
    answer.get("id") == Some(&json!(2)) && answer.get("error").is_some()
}

fn lines(stdout: ChildStdout) -> Receiver<Value> {
    let (sender, answers) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let Ok(value) = serde_json::from_str(&line) else { return };
            if sender.send(value).is_err() {
                return;
            }
        }
    });
    answers
}
