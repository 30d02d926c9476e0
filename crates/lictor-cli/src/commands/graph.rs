//! `lictor graph`: the policy graph as text, Mermaid or SVG, with the path of one decision where asked for.

mod mermaid;
mod text;

use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use lictor::drawing::{Path, svg};
use lictor::{Runtime, Snapshot, SystemClock};

use super::explain;
use crate::args::Common;
use crate::exit::Exit;
use crate::here;
use crate::output::{self, Style};

/// Draw the policy graph.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor graph
  lictor graph --format mermaid
  lictor graph --format svg --highlight 12 > why.svg")]
pub struct GraphArgs {
    /// How to draw it.
    #[arg(long, value_enum, default_value = "text", conflicts_with = "json")]
    format: Format,
    /// Mark the path of this decision (its number, as `explain` takes it).
    #[arg(long, value_name = "ID", value_parser = crate::args::decision)]
    highlight: Option<u64>,
    #[command(flatten)]
    common: Common,
}

/// How a graph is drawn.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// An indented tree.
    Text,
    /// A Mermaid flowchart.
    Mermaid,
    /// A picture.
    Svg,
}

/// Runs the command.
pub fn run(args: &GraphArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    let current = Arc::new(Snapshot::read(&project)?);
    let runtime = Runtime::in_memory(&project, current, SystemClock)?;
    let engine = runtime.engine();
    let outline = engine.graph().outline();
    if args.common.json {
        output::print_json(&outline)?;
        return Ok(Exit::Ok);
    }
    let path = match args.highlight {
        None => None,
        Some(id) => {
            let record = explain::find(&*project.existing_store()?, id)?;
            let evaluated: lictor::log::Evaluated<'_> = serde_json::from_str(&record.body)
                .with_context(|| format!("record {id} is not a decision"))?;
            if evaluated.evaluation.policy != engine.policy() {
                output::tell(&format!(
                    "note: the policy has changed since decision {id}; the path may not fit\n"
                ));
            }
            Some(Path::of(&evaluated.evaluation.trace))
        }
    };
    let drawn = match args.format {
        Format::Text => text::draw(&outline, path.as_ref(), Style::stdout()),
        Format::Mermaid => mermaid::draw(&outline, path.as_ref()),
        Format::Svg => svg::draw(&outline, path.as_ref(), svg::Look::Alone),
    };
    output::print_exact(&drawn)?;
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests;
