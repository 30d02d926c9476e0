//! `lictor why-not`: which rules were considered for an action, and what kept them from deciding.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor_core::{NodeKind, Value};
use lictor_guards::{Rules, RulesConfig};
use serde_json::json;

use super::{eval, explain};
use crate::exit::Exit;
use crate::output::{self, Style};

/// So many rules are shown; the others are further away.
const SHOWN: usize = 10;

/// Show which rules came close to deciding about an action, and what kept them from it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor why-not bash 'rm -rf build'
  lictor why-not write src/main.rs --json")]
pub struct WhyNotArgs {
    /// What kind of action, as for `lictor eval`.
    kind: String,
    /// What it does.
    what: String,
    /// Directory that the action happens in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    cwd: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &WhyNotArgs) -> Result<Exit> {
    let (runtime, evaluation) = eval::judge_one(&args.kind, &args.what, &args.cwd)?;
    let id = evaluation.id.context("the judgement could not be recorded")?;
    let record = explain::find(&**runtime.engine.store(), id)?;
    let evaluated: lictor::log::Evaluated<'_> = serde_json::from_str(&record.body)?;
    let packs: Vec<String> = runtime.policy.base_packs().into_iter().map(str::to_owned).collect();
    let rules = Rules::new(&RulesConfig { packs, ..RulesConfig::default() })?;
    let near = rules.near(&evaluated.facts);
    let guards: Vec<(&str, Option<Value>)> = evaluation
        .trace
        .iter()
        .filter(|entry| entry.kind == NodeKind::Guard)
        .map(|entry| (&*entry.name, entry.value))
        .collect();
    if args.json {
        let near: Vec<_> = near
            .iter()
            .map(
                |(rule, unmet)| json!({"rule": rule.id, "decision": rule.decision, "unmet": unmet.condition}),
            )
            .collect();
        output::print_json(
            &json!({"decision": evaluation.decision, "id": id, "guards": guards, "near": near}),
        )?;
        return Ok(Exit::Ok);
    }
    let style = Style::stdout();
    let mut text = format!(
        "{} {}\n\n  guards that were asked\n",
        style.decision(evaluation.decision),
        explain::title(&evaluated.action)
    );
    for (name, value) in guards {
        let said = value.map_or_else(|| style.dim("skipped"), |value| style.decision(value.settle()));
        text += &format!("    {name:<24} {said}\n");
    }
    text += "\n  rules of the packs that came close\n";
    for (rule, unmet) in near.iter().take(SHOWN) {
        text += &format!(
            "    {:<24} would {}, but `{}` does not hold\n",
            rule.id,
            style.decision(rule.decision),
            unmet.condition
        );
    }
    if near.is_empty() {
        text += "    none is about anything that this does\n";
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}
