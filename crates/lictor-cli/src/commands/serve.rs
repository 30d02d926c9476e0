//! `lictor serve`: starts the server, which is a program of its own so that hooks stay small.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::exit::{self, Exit};

/// The program.
const PROGRAM: &str = "lictor-server";

/// Serve teams and other programs over HTTP.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor serve
  lictor serve --socket /run/user/1000/lictor.sock
  lictor serve --store postgres://lictor@localhost/lictor")]
pub struct ServeArgs {
    /// The address to listen on; 127.0.0.1:4747 when it is not said.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<OsString>,
    /// A Unix socket to listen on as well.
    #[arg(long, value_name = "PATH")]
    socket: Option<OsString>,
    /// Where records are kept: `sqlite:DIRECTORY` or `postgres://user@host/database`.
    #[arg(long)]
    store: Option<OsString>,
    /// The directory for the key that seals records, and for records when `--store` is not given.
    #[arg(long, value_name = "DIRECTORY")]
    state: Option<OsString>,
    /// Something in front of the server speaks TLS: other addresses than this machine's are allowed.
    #[arg(long)]
    behind_proxy: bool,
    /// Requests a second for each token; 500 when it is not said.
    #[arg(long)]
    rate: Option<OsString>,
}

/// Becomes the server.
pub fn run(args: &ServeArgs) -> Result<Exit> {
    let mut command = Command::new(program()?);
    command.arg("serve");
    let options = [
        ("--listen", &args.listen),
        ("--socket", &args.socket),
        ("--store", &args.store),
        ("--state", &args.state),
        ("--rate", &args.rate),
    ];
    for (name, value) in options {
        if let Some(value) = value {
            command.arg(name).arg(value);
        }
    }
    if args.behind_proxy {
        command.arg("--behind-proxy");
    }
    Err(command.exec()).with_context(|| format!("`{PROGRAM}` cannot be started"))
}

/// The server's program: beside this one, or wherever programs are.
pub(super) fn program() -> Result<PathBuf> {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let elsewhere =
        std::env::split_paths(&path).filter(|place| place.is_absolute()).map(|place| place.join(PROGRAM));
    beside.into_iter().chain(elsewhere).find(|file| file.is_file()).ok_or_else(|| {
        exit::not_there(format!(
            "`{PROGRAM}` is neither beside `lictor` nor on the PATH; install it with the same release"
        ))
    })
}
