//! `lictor graph`: the policy graph as text, Mermaid or SVG, with the path of one decision where asked for.

mod mermaid;
mod svg;
mod text;

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use lictor::{Runtime, Snapshot, SystemClock};
use lictor_core::graph::Outline;
use lictor_core::{NodeKind, Status, Trace, Value};

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
    #[arg(long, value_name = "ID")]
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

/// What one decision did at each node, by the node's path.
struct Path {
    visited: HashMap<String, Visit>,
}

/// What one decision did at one node.
#[derive(Clone, Copy)]
enum Visit {
    /// It was asked and this counts.
    Counts(Value),
    /// It was asked and does not count.
    Superseded(Value),
    /// It was not asked.
    Skipped,
}

impl Path {
    fn of(trace: &Trace) -> Self {
        let visited = trace.iter().map(|entry| {
            let visit = match (entry.value, entry.status) {
                (Some(value), Status::Active) => Visit::Counts(value),
                (Some(value), _) => Visit::Superseded(value),
                (None, _) => Visit::Skipped,
            };
            (entry.path.into_owned(), visit)
        });
        Self { visited: visited.collect() }
    }

    fn at(&self, node: &Outline) -> Visit {
        self.visited.get(&*node.path).copied().unwrap_or(Visit::Skipped)
    }
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
        Format::Svg => svg::draw(&outline, path.as_ref()),
    };
    output::print(&drawn)?;
    Ok(Exit::Ok)
}

/// The word for a combinator, and its name where it has one.
fn title(node: &Outline) -> (&'static str, String) {
    let word = match node.kind {
        NodeKind::Guard | NodeKind::Observer => "",
        combinator => combinator.as_str(),
    };
    let name = node.name.to_string();
    // The graph names combinators after what they are when nobody else does.
    let name = if name == word { String::new() } else { name };
    let name = match node.at_least {
        Some(at_least) => format!("{at_least} of {} {name}", node.children.len()).trim_end().to_owned(),
        None => name,
    };
    (word, name)
}

#[cfg(test)]
mod tests;
