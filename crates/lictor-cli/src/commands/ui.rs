//! `lictor ui`: the local page for one person. `lictor-server` serves it.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::companion;

use crate::args;
use crate::exit::{self, Exit};
use crate::here;

/// Watch agents on this machine, and answer their questions, in a browser.
#[derive(Debug, Args)]
#[command(after_help = "\
Needs no account. The link that is printed opens the page once, in one browser; only this
machine can reach it. Ctrl-C ends it.

Examples:
  lictor ui
  lictor ui --no-open --port 4700")]
pub struct UiArgs {
    /// Print the link and open no browser.
    #[arg(long)]
    no_open: bool,
    /// The port to listen on; default: any free port.
    #[arg(long)]
    port: Option<u16>,
    /// Directory of the project that comes first.
    #[arg(long, value_name = "DIR", default_value = ".", value_parser = args::directory)]
    cwd: PathBuf,
}

/// Becomes the server's program.
pub fn run(args: &UiArgs) -> Result<Exit> {
    here::people_only("ui", &here::project(&args.cwd))?;
    let mut command =
        Command::new(companion::find(&here::options()).map_err(|error| exit::not_there(error.to_string()))?);
    command.arg("ui").arg("--cwd").arg(here::absolute(&args.cwd));
    if args.no_open {
        command.arg("--no-open");
    }
    if let Some(port) = args.port {
        command.args(["--port", &port.to_string()]);
    }
    Err(command.exec()).context("`lictor-server` cannot be started")
}
