//! `lictor rpc`: the runtime for programs in any language, one JSON-RPC message per line.

use std::io::{self, BufWriter};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::rpc::{self, Access};
use lictor::{Runtime, companion};
use lictor_core::Digest;

use crate::args;
use crate::exit::{self, Exit};
use crate::here;

/// Govern any program: JSON-RPC 2.0 on standard input and output, one message per line.
#[derive(Debug, Args)]
#[command(after_help = "\
Methods: evaluate, post, stop, resolve, delegate, session, reset, end, approvals, record, gate,
version. Calls count: they are recorded, move counters and use grants. docs/rpc.md has the forms.
Answers come in the order of the calls. A line that is not a call gets an error and loses nothing.
Under a governed agent, only sessions that were opened here can be used, and nothing resolved.

Examples:
  lictor rpc --cwd ~/project
  LICTOR_TOKEN=… lictor rpc --server https://lictor.example.com
  echo '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"version\"}' | lictor rpc")]
pub struct RpcArgs {
    /// Directory of the project.
    #[arg(long, value_name = "DIR", default_value = ".", value_parser = args::directory)]
    cwd: PathBuf,
    /// Use this server; the token is in `LICTOR_TOKEN`. The tenant configures what happens while it is
    /// unreachable.
    #[arg(long, value_name = "URL", conflicts_with = "cwd")]
    server: Option<String>,
}

/// Runs the command.
pub fn run(args: &RpcArgs) -> Result<Exit> {
    if let Some(server) = &args.server {
        return on_server(server);
    }
    let project = here::project(&args.cwd);
    let access = match lictor::governed::above(&project) {
        None => Access::Full,
        Some(_) => Access::own_sessions(),
    };
    let runtime = Runtime::of_project(project)?;
    let output = BufWriter::new(io::stdout().lock());
    match rpc::serve_lines(&runtime, &access, io::stdin().lock(), output) {
        // The caller has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other.context("standard input or output failed")?,
    }
    Ok(Exit::Ok)
}

/// Executes the client of a server, which is a separate program so that hooks stay small.
fn on_server(url: &str) -> Result<Exit> {
    here::people_only("rpc --server", &here::project(Path::new("")))?;
    let token = std::env::var("LICTOR_TOKEN").ok().filter(|token| !token.is_empty()).ok_or_else(|| {
        exit::usage(
            "`LICTOR_TOKEN` is not set; let it hold a token of the server (`POST /v1/tenants/NAME/tokens` makes one)",
        )
    })?;
    // Data that is kept while the server is unreachable belongs to one server and one caller.
    let whose = Digest::of(format!("{url}\n{token}").as_bytes());
    let state = here::dirs().state.join("clients").join(whose.to_string());
    lictor::dirs::create_private(&state)?;
    let program = companion::find(&here::options()).map_err(|error| exit::not_there(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["rpc", "--server", url, "--state"]).arg(state);
    Err(command.exec()).with_context(|| format!("`{}` cannot be started", companion::PROGRAM))
}
