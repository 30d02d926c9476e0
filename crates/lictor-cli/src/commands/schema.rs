//! `lictor schema`: the JSON Schema of policy files, and of what commands print with `--json`.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::companion;
use lictor_config::diagnostic::closest;

use crate::exit::{self, Exit};
use crate::here;
use crate::output;
use crate::schemas;

/// Print the JSON Schema that editors check governance.yaml with, or that of a command's `--json`.
#[derive(Debug, Args)]
#[command(after_help = "\
Put this at the head of governance.yaml, and editors that know YAML schemas complete and check it:
  # yaml-language-server: $schema=governance.schema.json
after `lictor schema > governance.schema.json`.

Examples:
  lictor schema --output eval
  lictor schema --output verdict show
  lictor schema --output openapi          the addresses of `lictor serve`

Later versions may add fields to what commands print; they do not remove or change any.")]
pub struct SchemaArgs {
    /// Print the reference as Markdown instead.
    #[arg(long)]
    markdown: bool,
    /// Print the schema of what this command prints with `--json`.
    #[arg(long, value_name = "COMMAND", num_args = 1..=2, conflicts_with = "markdown")]
    output: Vec<String>,
}

/// Runs the command.
pub fn run(args: &SchemaArgs) -> Result<Exit> {
    if args.markdown {
        output::print_exact(&lictor_config::reference_markdown())?;
        return Ok(Exit::Ok);
    }
    if args.output.is_empty() {
        output::print_json(&lictor_config::schema())?;
        return Ok(Exit::Ok);
    }
    let command = args.output.join(" ");
    if command == "openapi" {
        let server = companion::find(&here::options()).map_err(|error| exit::not_there(error.to_string()))?;
        let error = Command::new(server).arg("openapi").exec();
        return Err(error).with_context(|| format!("`{}` cannot be started", companion::PROGRAM));
    }
    let Some(schema) = schemas::of(&command)? else {
        let all = schemas::COMMANDS.iter().map(|(name, _)| *name);
        let mut known: Vec<&str> =
            all.clone().filter(|name| name.split(' ').next() == Some(&command)).collect();
        if let Some(near) = closest(&command, all.clone()).filter(|_| known.is_empty()) {
            return Err(exit::usage(format!("`{command}` has no JSON output; did you mean `{near}`?")));
        }
        if known.is_empty() {
            known = all.collect();
        }
        return Err(exit::usage(format!("`{command}` has no JSON output; there is: {}", known.join(", "))));
    };
    output::print_json(&schema)?;
    Ok(Exit::Ok)
}
