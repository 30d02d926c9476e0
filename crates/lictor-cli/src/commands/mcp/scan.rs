//! `lictor mcp scan`: inspects every configured server, changing nothing.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use lictor_agents::install::servers::{ConfiguredServer, ServerSettings};
use lictor_mcp::{Scan, ServerCommand};
use serde_json::{Value, json};

use super::serve;
use crate::args::Common;
use crate::exit::Exit;
use crate::here;
use crate::output;

/// The timeout for a server to list its tools. Some are downloaded first.
const PATIENCE: Duration = Duration::from_secs(30);

/// Inspect every configured MCP server.
#[derive(Debug, Args)]
#[command(after_help = "\
Starts each server once, asks what it has, and ends it; nothing is called, pinned or written.
What it finds is heuristic: the usual ways of poisoning a model, not all of them.

Examples:
  lictor mcp scan
  lictor mcp scan --json

Exit codes: 0 nothing to look at, 1 something should be looked at or a server did not answer.")]
pub struct ScanArgs {
    #[command(flatten)]
    common: Common,
}

/// The result for one server.
struct Looked {
    agent: String,
    file: String,
    server: ConfiguredServer,
    scan: Result<Scan, String>,
}

/// Runs the command.
pub fn run(args: &ScanArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    here::people_only("mcp scan", &project)?;
    let mut looked = Vec::new();
    for settings in ServerSettings::all(&project.agent_settings()) {
        let Ok(text) = fs::read_to_string(settings.path()) else { continue };
        let (agent, file) = (settings.agent().to_string(), settings.path().display().to_string());
        let servers = settings.servers(&text).map_err(|why| anyhow::anyhow!("`{file}` is {why}"))?;
        looked.extend(servers.into_iter().map(|server| {
            let scan = look(&server);
            Looked { agent: agent.clone(), file: file.clone(), server, scan }
        }));
    }
    compare(&mut looked);
    if args.common.json {
        let rows: Vec<Value> = looked.iter().map(Looked::to_json).collect();
        output::print_json(&json!({"servers": rows}))?;
    } else {
        output::print(&shown(&looked))?;
    }
    let open = looked.iter().any(|one| one.scan.as_ref().map_or(true, |scan| !scan.findings.is_empty()));
    Ok(if open { Exit::Problems } else { Exit::Ok })
}

fn look(server: &ConfiguredServer) -> Result<Scan, String> {
    let command = match &server.address {
        Some(address) => connected(server, address),
        None => started(server),
    };
    let command = command.map_err(|error| error.to_string())?;
    lictor_mcp::scan(&command, PATIENCE).map_err(|error| error.to_string())
}

fn started(server: &ConfiguredServer) -> Result<ServerCommand> {
    Ok(ServerCommand {
        name: server.name.clone(),
        argv: server.command.iter().map(Into::into).collect(),
        env: server.env.iter().map(Into::into).collect(),
        settings: fixed(&server.values).map(|(name, value)| (name.into(), value.into())).collect(),
        through: super::through()?,
    })
}

/// The program that speaks HTTP, which connects with the server and judges nothing.
fn connected(server: &ConfiguredServer, address: &str) -> Result<ServerCommand> {
    let mut argv = serve::program("connect", Path::new("."))?;
    let (mut env, mut settings) = (Vec::new(), Vec::new());
    argv.extend(["--name", "scanned", "--url", address].map(OsString::from));
    for (number, (header, value)) in fixed(&server.headers).enumerate() {
        let variable = format!("LICTOR_HEADER_{number}");
        argv.extend(["--header".into(), format!("{header}={variable}").into()]);
        settings.push((variable.into(), value.into()));
    }
    // As Lictor is told in the settings: `--header NAME=VARIABLE`.
    for given in server.before.windows(2).filter(|pair| matches!(pair, [option, _] if option == "--header")) {
        argv.extend(given.iter().map(OsString::from));
        env.extend(given.last().and_then(|header| header.split_once('=')).map(|(_, name)| name.into()));
    }
    Ok(ServerCommand { name: server.name.clone(), argv, env, settings, through: super::through()? })
}

/// Values without a reference to a variable, which the agent would fill in.
fn fixed(values: &[(String, String)]) -> impl Iterator<Item = &(String, String)> {
    values.iter().filter(|(_, value)| !value.contains("${"))
}

fn compare(looked: &mut [Looked]) {
    let mut scans: Vec<(String, Scan)> =
        looked.iter().map(|one| (one.server.name.clone(), one.scan.clone().unwrap_or_default())).collect();
    lictor_mcp::compare(&mut scans);
    for (one, (_, scan)) in looked.iter_mut().zip(scans) {
        if let Ok(own) = &mut one.scan {
            *own = scan;
        }
    }
}

impl Looked {
    fn to_json(&self) -> Value {
        let (tools, findings, problem) = match &self.scan {
            Ok(scan) => {
                let found =
                    scan.findings.iter().map(|(item, has)| json!({"item": item, "has": has.describe()}));
                (json!(scan.tools), found.collect(), Value::Null)
            }
            Err(why) => (json!([]), Vec::new(), json!(why)),
        };
        json!({
            "agent": self.agent,
            "file": self.file,
            "server": self.server.name,
            "command": self.server.command,
            "wrapped": self.server.wrapped,
            "tools": tools,
            "findings": findings,
            "problem": problem,
        })
    }
}

fn shown(looked: &[Looked]) -> String {
    if looked.is_empty() {
        return "no agent here is told of an MCP server\n".to_owned();
    }
    let mut text = String::new();
    for one in looked {
        let before = if one.server.wrapped { "behind Lictor" } else { "not behind Lictor" };
        text += &format!("{}  {} in {}, {before}\n", one.server.name, one.agent, one.file);
        match &one.scan {
            Ok(scan) => {
                text += &format!("  {} tools\n", scan.tools.len());
                for (name, found) in &scan.findings {
                    text += &format!("  {name} has {}\n", found.describe());
                }
            }
            Err(why) => text += &format!("  not looked at: {why}\n"),
        }
    }
    if looked.iter().any(|one| !one.server.wrapped && !one.server.command.is_empty()) {
        text += "\n`lictor init --mcp` puts Lictor before them\n";
    }
    // Names and texts come from servers and settings.
    let lines: Vec<String> = text.lines().map(|line| lictor_core::text::clean(line, usize::MAX)).collect();
    format!("{}\n", lines.join("\n"))
}
