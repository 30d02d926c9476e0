//! `lictor serve`: starts the server, which is a separate program so that hooks stay small.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::companion;

use crate::exit::{self, Exit};
use crate::here;

/// Serve teams and other programs over HTTP.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor serve
  lictor serve --socket /run/user/1000/lictor.sock
  lictor serve --store postgres://lictor@localhost/lictor")]
pub struct ServeArgs {
    /// The address to listen on; default: 127.0.0.1:4747.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<OsString>,
    /// A Unix socket to listen on as well.
    #[arg(long, value_name = "PATH")]
    socket: Option<OsString>,
    /// Where records are stored: `sqlite:DIRECTORY` or `postgres://user@host/database`.
    #[arg(long)]
    store: Option<OsString>,
    /// The directory for the key that seals records, and for records when `--store` is not given.
    #[arg(long, value_name = "DIRECTORY")]
    state: Option<OsString>,
    /// A proxy terminates TLS: other addresses than this machine's are allowed.
    #[arg(long)]
    behind_proxy: bool,
    /// Requests per second for each token; default: 500.
    #[arg(long)]
    rate: Option<OsString>,
    /// Write every request to standard error, as a line of JSON.
    #[arg(long)]
    log: bool,
    /// The certificate chain, in PEM: the server terminates TLS itself.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<OsString>,
    /// Its key.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<OsString>,
    /// The address under which browsers reach the server, if it is not its own.
    #[arg(long, value_name = "URL")]
    address: Option<OsString>,
}

/// Becomes the server.
pub fn run(args: &ServeArgs) -> Result<Exit> {
    here::people_only("serve", &here::project(Path::new("")))?;
    let mut command =
        Command::new(companion::find(&here::options()).map_err(|error| exit::not_there(error.to_string()))?);
    command.arg("serve");
    let options = [
        ("--listen", &args.listen),
        ("--socket", &args.socket),
        ("--store", &args.store),
        ("--state", &args.state),
        ("--rate", &args.rate),
        ("--tls-cert", &args.tls_cert),
        ("--tls-key", &args.tls_key),
        ("--address", &args.address),
    ];
    for (name, value) in options {
        if let Some(value) = value {
            command.arg(name).arg(value);
        }
    }
    if args.behind_proxy {
        command.arg("--behind-proxy");
    }
    if args.log {
        command.arg("--log");
    }
    Err(command.exec()).with_context(|| format!("`{}` cannot be started", companion::PROGRAM))
}
