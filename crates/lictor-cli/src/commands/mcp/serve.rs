//! `lictor mcp serve`, and servers with a URL: HTTP is implemented in `lictor-server`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::companion;

use crate::exit::{self, Exit};
use crate::here;

/// Serve MCP servers over HTTP.
#[derive(Debug, Args)]
#[command(after_help = "\
Each server has an address of its own: http://127.0.0.1:4748/NAME. Only programs on this machine
reach it, and what clients send to prove who they are is not passed on. Servers are named here,
or in a file as agents have it: {\"mcpServers\": {\"NAME\": {\"command\": …} or {\"url\": …}}}.

Examples:
  lictor mcp serve --name files -- npx @modelcontextprotocol/server-filesystem .
  lictor mcp serve --name docs --url https://example.com --header Authorization=KEY
  lictor mcp serve --config .mcp.json")]
pub struct ServeArgs {
    /// The address to listen on, of this machine.
    #[arg(long, default_value = "127.0.0.1:4748")]
    listen: SocketAddr,
    /// A file of servers.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "url", "server"])]
    config: Option<PathBuf>,
    /// The server's name in rules and in its address.
    #[arg(long, required_unless_present = "config")]
    name: Option<String>,
    /// The URL of an HTTP server.
    #[arg(long, conflicts_with = "server")]
    url: Option<String>,
    /// A header for the HTTP server, with the value of a variable.
    #[arg(long, value_name = "NAME=VARIABLE", requires = "url")]
    header: Vec<String>,
    /// A variable for the server, besides PATH, HOME and similar ones.
    #[arg(long, value_name = "NAME", requires = "server")]
    env: Vec<OsString>,
    /// Directory of the project.
    #[arg(long, value_name = "DIR", default_value = ".")]
    cwd: PathBuf,
    /// The server and its arguments.
    #[arg(last = true, required_unless_present_any = ["config", "url"])]
    server: Vec<OsString>,
}

/// Becomes the server's program.
pub fn run(args: &ServeArgs) -> Result<Exit> {
    here::people_only("mcp serve", &here::project(&args.cwd))?;
    let mut command = companion_command("serve", &args.cwd)?;
    command.arg("--listen").arg(args.listen.to_string());
    if let Some(config) = &args.config {
        command.arg("--config").arg(here::absolute(config));
    }
    if let Some(name) = &args.name {
        super::check_name(name)?;
        command.arg("--name").arg(name);
    }
    add_address(&mut command, args.url.as_deref(), &args.header);
    for variable in &args.env {
        command.arg("--env").arg(variable);
    }
    if !args.server.is_empty() {
        command.arg("--").args(&args.server);
    }
    Err(command.exec()).context("`lictor-server` cannot be started")
}

/// Executes the proxy between a client on stdio and a server with a URL.
pub fn on_stdio(name: &str, url: &str, headers: &[String], cwd: &Path) -> Result<Exit> {
    let mut command = companion_command("run", cwd)?;
    command.arg("--name").arg(name);
    add_address(&mut command, Some(url), headers);
    Err(command.exec()).context("`lictor-server` cannot be started")
}

fn add_address(command: &mut Command, url: Option<&str>, headers: &[String]) {
    if let Some(url) = url {
        command.arg("--url").arg(url);
    }
    for header in headers {
        command.arg("--header").arg(header);
    }
}

fn companion_command(what: &str, cwd: &Path) -> Result<Command> {
    let words = program(what, cwd)?;
    let Some((program, args)) = words.split_first() else { return Err(exit::usage("there is no program")) };
    let mut command = Command::new(program);
    command.args(args);
    for word in super::through()? {
        command.arg("--through").arg(word);
    }
    Ok(command)
}

/// The program that implements HTTP, and its first arguments.
pub fn program(what: &str, cwd: &Path) -> Result<Vec<OsString>> {
    let found = companion::find(&here::options()).map_err(|error| exit::not_there(error.to_string()))?;
    Ok(vec![found.into(), "mcp".into(), what.into(), "--cwd".into(), here::absolute(cwd).into()])
}
