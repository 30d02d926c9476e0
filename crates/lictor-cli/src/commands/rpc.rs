//! `lictor rpc`: the runtime for programs in any language, one JSON-RPC message a line.

use std::io::{self, BufWriter};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::Runtime;
use lictor::rpc::{self, Access};

use crate::args;
use crate::exit::Exit;
use crate::here;

/// Govern any program: JSON-RPC 2.0 on standard input and output, one message a line.
#[derive(Debug, Args)]
#[command(after_help = "\
Methods: evaluate, post, stop, resolve, delegate, session, reset, end, approvals, record, gate,
version. Calls count: they are recorded, move counters and use grants. docs/rpc.md has the forms.
Answers come in the order of the calls. A line that is not a call gets an error and loses nothing.
Under a governed agent, only sessions that were opened here can be used, and nothing resolved.

Examples:
  lictor rpc --cwd ~/project
  echo '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"version\"}' | lictor rpc")]
pub struct RpcArgs {
    /// Directory of the project.
    #[arg(long, value_name = "DIR", default_value = ".", value_parser = args::directory)]
    cwd: PathBuf,
}

/// Runs the command.
pub fn run(args: &RpcArgs) -> Result<Exit> {
    let project = here::project(&args.cwd);
    let access = match lictor::governed::above(&project) {
        None => Access::Full,
        Some(_) => Access::own_sessions(),
    };
    let runtime = Runtime::of_project(project)?;
    let output = BufWriter::new(io::stdout().lock());
    match rpc::serve_lines(&runtime, &access, io::stdin().lock(), output) {
        // Whoever called has gone away.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other.context("standard input or output failed")?,
    }
    Ok(Exit::Ok)
}
