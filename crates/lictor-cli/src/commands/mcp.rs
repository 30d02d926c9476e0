//! `lictor mcp`: proxies an MCP server, and manages the pins of its tools.

mod scan;
mod serve;

use std::ffi::OsString;
use std::io;
use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use lictor::Runtime;
use lictor_mcp::pins::{Item, Pinned, Pins, Server};
use lictor_mcp::{ServerCommand, StartError};
use serde_json::{Value, json};

use crate::args::Common;
use crate::exit::{self, Exit};
use crate::here;
use crate::output;

/// Govern MCP servers.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor mcp run -- npx @modelcontextprotocol/server-filesystem .
  lictor mcp serve --name files -- npx @modelcontextprotocol/server-filesystem .
  lictor mcp scan
  lictor mcp pins")]
pub struct McpArgs {
    #[command(subcommand)]
    command: McpCommand,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    /// Proxy a stdio server: judge its calls, pin its definitions.
    Run(RunArgs),
    /// Serve MCP servers over HTTP on this machine, governed in the same way.
    Serve(serve::ServeArgs),
    /// Show the pins of servers' tools and prompts, or accept a change.
    Pins(PinsArgs),
    /// Inspect every configured MCP server, changing nothing.
    Scan(scan::ScanArgs),
    /// Set limits and execute a server; used by `run`.
    #[command(hide = true)]
    Become(BecomeArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor mcp run -- npx @modelcontextprotocol/server-filesystem .
  lictor mcp run --name github --env GITHUB_TOKEN -- github-mcp-server stdio
  lictor mcp run --name docs --url https://example.com --header Authorization=KEY

Put it before the server in the agent's MCP settings. Rules on `mcp__NAME__TOOL` hold here and
in hooks.")]
struct RunArgs {
    /// The server's name in rules; the program's own name if not given.
    #[arg(long)]
    name: Option<String>,
    /// A variable for the server, besides PATH, HOME and similar ones.
    #[arg(long, value_name = "NAME")]
    env: Vec<OsString>,
    /// Directory of the project.
    #[arg(long, value_name = "DIR", default_value = ".")]
    cwd: std::path::PathBuf,
    /// The URL of an HTTP server.
    #[arg(long, conflicts_with_all = ["server", "env"])]
    url: Option<String>,
    /// A header for the HTTP server, with the value of a variable.
    #[arg(long, value_name = "NAME=VARIABLE", requires = "url")]
    header: Vec<String>,
    /// The server and its arguments.
    #[arg(last = true, required_unless_present = "url")]
    server: Vec<OsString>,
}

#[derive(Debug, Args)]
struct BecomeArgs {
    /// The server and its arguments.
    #[arg(last = true, required = true)]
    server: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor mcp pins
  lictor mcp pins diff
  lictor mcp pins accept github
  lictor mcp pins forget --all

A definition that changed after it was pinned is hidden from the agent, and calls to it are
refused, until it is accepted. One with suspicious text is shown, and calls to it ask.
Exit codes: 0 nothing waits for a look or it was accepted, 1 something does.")]
struct PinsArgs {
    /// What to do.
    #[arg(value_enum, default_value_t = PinsAction::List)]
    action: PinsAction,
    /// Only this server.
    server: Option<String>,
    /// Forget the pins of every server, even if the file is damaged.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PinsAction {
    /// List servers and what has changed.
    List,
    /// Show each change as a diff, and suspicious texts.
    Diff,
    /// Accept changed or suspicious definitions.
    Accept,
    /// Forget: the next sight is the first.
    Forget,
}

/// Runs the command.
pub fn run(args: &McpArgs) -> Result<Exit> {
    match &args.command {
        McpCommand::Run(args) => stand_between(args),
        McpCommand::Serve(args) => serve::run(args),
        McpCommand::Pins(args) => pins(args),
        McpCommand::Scan(args) => scan::run(args),
        McpCommand::Become(args) => become_server(args),
    }
}

fn stand_between(args: &RunArgs) -> Result<Exit> {
    let name = match &args.name {
        Some(name) => name.clone(),
        None if args.url.is_some() => return Err(exit::usage("name the server: `--name NAME`")),
        None => named_after(args.server.first()),
    };
    check_name(&name)?;
    if let Some(url) = &args.url {
        return serve::on_stdio(&name, url, &args.header, &args.cwd);
    }
    let runtime = Runtime::of_project(here::project(&args.cwd))?;
    let through = through()?;
    let (argv, env, settings) = (args.server.clone(), args.env.clone(), Vec::new());
    let server = ServerCommand { name, argv, env, settings, through };
    let ended =
        lictor_mcp::run(runtime, &server, io::stdin(), io::stdout()).map_err(|error| match error {
            StartError::Start { .. } => exit::not_there(error.to_string()),
            error => error.into(),
        })?;
    Ok(if ended.success() { Exit::Ok } else { Exit::Problems })
}

/// The command line that sets limits and then executes a server.
fn through() -> Result<Vec<OsString>> {
    Ok(vec![std::env::current_exe()?.into(), "mcp".into(), "become".into(), "--".into()])
}

fn check_name(name: &str) -> Result<()> {
    if lictor_mcp::is_server_name(name) {
        return Ok(());
    }
    Err(exit::usage(format!(
        "`{name}` cannot be a server's name: use letters, digits, `-` and single `_`, for example `--name files`"
    )))
}

/// Returns only if the server cannot be started.
fn become_server(args: &BecomeArgs) -> Result<Exit> {
    use std::os::unix::process::CommandExt as _;
    let Some((program, rest)) = args.server.split_first() else { return Err(exit::usage("name the server")) };
    lictor_mcp::confine()?;
    let error = std::process::Command::new(program).args(rest).exec();
    Err(exit::not_there(format!("`{}` cannot be started: {error}", program.to_string_lossy())))
}

fn named_after(program: Option<&OsString>) -> String {
    let file = program.and_then(|program| Path::new(program).file_stem());
    file.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn pins(args: &PinsArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    if matches!(args.action, PinsAction::Accept | PinsAction::Forget) {
        here::people_only("mcp pins", &project)?;
    }
    let pins = Pins::in_directory(&project.dirs().state);
    if args.action == PinsAction::Forget && args.all {
        pins.forget_all()?;
        return said(args, &json!({"forgotten": "all"}), "every pin is forgotten\n");
    }
    let pinned = pins.read()?;
    let chosen = chosen(&pinned, args.server.as_deref())?;
    match args.action {
        PinsAction::List => list(args, &chosen),
        PinsAction::Diff => diff(args, &chosen),
        PinsAction::Accept => {
            let names: Vec<String> = chosen.iter().map(|(identity, _)| (*identity).clone()).collect();
            let accepted = pins.change(|all| {
                let servers = all.servers.iter_mut().filter(|(identity, _)| names.contains(identity));
                servers.map(|(_, server)| server.accept(None)).sum::<usize>()
            })?;
            said(args, &json!({"accepted": accepted}), &format!("{accepted} definitions are accepted\n"))
        }
        PinsAction::Forget => {
            if args.server.is_none() {
                return Err(exit::usage("name the server to forget, or give `--all`"));
            }
            let names: Vec<String> = chosen.iter().map(|(identity, _)| (*identity).clone()).collect();
            pins.change(|all| all.servers.retain(|identity, _| !names.contains(identity)))?;
            said(args, &json!({"forgotten": names}), &format!("{} servers are forgotten\n", names.len()))
        }
    }
}

type Chosen<'a> = Vec<(&'a String, &'a Server)>;

fn chosen<'a>(pinned: &'a Pinned, name: Option<&str>) -> Result<Chosen<'a>> {
    let fits = |server: &Server| name.is_none_or(|name| server.name == name);
    let found: Chosen<'a> = pinned.servers.iter().filter(|(_, server)| fits(server)).collect();
    match name {
        Some(name) if found.is_empty() => {
            let known: Vec<&str> = pinned.servers.values().map(|server| server.name.as_str()).collect();
            let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
            Err(exit::not_there(format!("no server `{name}` has been seen; known: {known}")))
        }
        _ => Ok(found),
    }
}

fn list(args: &PinsArgs, chosen: &Chosen<'_>) -> Result<Exit> {
    let mut rows = Vec::new();
    let mut text = String::new();
    for (identity, server) in chosen {
        let (changed, suspicious) = server.open();
        let also =
            if suspicious.is_empty() { String::new() } else { format!(", {} suspicious", suspicious.len()) };
        text += &format!("{}  {} pinned, {} changed{also}\n", server.name, server.items.len(), changed.len());
        rows.push(json!({
            "server": server.name,
            "identity": identity,
            "pinned": server.items.len(),
            "changed": changed,
            "suspicious": suspicious,
        }));
    }
    if chosen.is_empty() {
        text += "no server has been seen yet; `lictor mcp run -- SERVER` governs one\n";
    }
    said(args, &json!({"servers": rows}), &text)?;
    Ok(after(chosen))
}

fn diff(args: &PinsArgs, chosen: &Chosen<'_>) -> Result<Exit> {
    let (mut rows, mut text) = (Vec::new(), String::new());
    for (_, server) in chosen {
        for (key, item) in server.items.iter().filter(|(_, item)| item.is_open()) {
            text += &open_item(server, key, item);
            rows.push(json!({
                "server": server.name,
                "item": key,
                "accepted": item.accepted,
                "changed": item.changed,
                "reasons": item.reasons,
                "renamed_from": item.renamed_from,
            }));
        }
    }
    if rows.is_empty() {
        text += "nothing has changed\n";
    }
    // Definitions come from servers: control characters are escaped.
    let shown: Vec<String> = text.lines().map(|line| lictor_core::text::clean(line, usize::MAX)).collect();
    said(args, &json!({"changes": rows}), &format!("{}\n", shown.join("\n")))?;
    Ok(after(chosen))
}

/// One definition for a person to look at: why, and how it differs from what was accepted, also under an earlier name.
fn open_item(server: &Server, key: &str, item: &Item) -> String {
    let full = format!("{}/{key}", server.name);
    let now = item.changed.as_ref().unwrap_or(&item.accepted);
    let mut text = String::new();
    if !item.reasons.is_empty() {
        text += &format!("{full} has {}\n", item.reasons.join(", "));
    }
    let earlier = item.renamed_from.as_ref().and_then(|old| Some((old, &server.items.get(old)?.accepted)));
    let (before, accepted) = match (earlier, &item.changed) {
        (Some((old, accepted)), _) => (format!("{}/{old} as accepted", server.name), accepted),
        (None, Some(_)) => (format!("{full} as accepted"), &item.accepted),
        (None, None) => return text + &format!("{now:#}\n"),
    };
    text += &format!("--- {before}\n+++ {full} now\n");
    let [old, new] = [accepted, now].map(|definition| format!("{definition:#}\n"));
    text + &lictor::diff::unified(&old, &new, 3).into_iter().map(|line| line + "\n").collect::<String>()
}

fn after(chosen: &Chosen<'_>) -> Exit {
    let changed = chosen.iter().flat_map(|(_, server)| server.items.values()).any(Item::is_open);
    if changed { Exit::Problems } else { Exit::Ok }
}

fn said(args: &PinsArgs, data: &Value, text: &str) -> Result<Exit> {
    if args.common.json {
        output::print_json(data)?;
    } else {
        output::print(text)?;
    }
    Ok(Exit::Ok)
}
