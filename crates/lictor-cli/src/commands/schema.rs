//! `lictor schema`: the JSON Schema of policy files.

use anyhow::Result;
use clap::Args;

use crate::exit::Exit;
use crate::output;

/// Print the JSON Schema that editors check governance.yaml with.
#[derive(Debug, Args)]
#[command(after_help = "\
Put this at the head of governance.yaml, and editors that know YAML schemas complete and check it:
  # yaml-language-server: $schema=governance.schema.json
after `lictor schema > governance.schema.json`.")]
pub struct SchemaArgs {
    /// Print the reference as Markdown instead.
    #[arg(long)]
    markdown: bool,
}

/// Runs the command.
pub fn run(args: &SchemaArgs) -> Result<Exit> {
    if args.markdown {
        output::print(&lictor_config::reference_markdown())?;
    } else {
        output::print_json(&lictor_config::schema())?;
    }
    Ok(Exit::Ok)
}
