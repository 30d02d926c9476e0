//! `lictor why-not`: which rules were considered for an action, and which condition failed.

use anyhow::{Context as _, Result};
use clap::Args;
use lictor_core::{NodeKind, Value};
use lictor_guards::{Rules, RulesConfig};
use serde_json::json;

use super::{eval, explain};
use crate::args::Common;
use crate::exit::Exit;
use crate::output::{self, Style};

/// How many rules are shown; the others are less close.
const SHOWN: usize = 10;

/// Show which rules almost applied to an action, and which condition failed.
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
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
pub fn run(args: &WhyNotArgs) -> Result<Exit> {
    let (runtime, evaluation) = eval::judge_one(&args.kind, &args.what, &args.common.cwd)?;
    let id = evaluation.id.context("the judgement could not be recorded")?;
    let record = explain::find(&**runtime.engine().store(), id)?;
    let evaluated: lictor::log::Evaluated<'_> = serde_json::from_str(&record.body)?;
    let packs: Vec<String> = runtime.policy().base_packs().into_iter().map(str::to_owned).collect();
    let rules = Rules::new(&RulesConfig { packs, ..RulesConfig::default() })?;
    let near = rules.near(&evaluated.facts);
    let guards: Vec<(String, Option<Value>)> = evaluation
        .trace
        .iter()
        .filter(|entry| entry.kind == NodeKind::Guard)
        .map(|entry| (entry.name.into_owned(), entry.value))
        .collect();
    if args.common.json {
        let near: Vec<_> = near
            .iter()
            .map(|(rule, unmet)| {
                json!({"rule": rule.id, "decision": rule.decision, "unmet": unmet.condition,
                                       "because": because(unmet.condition)})
            })
            .collect();
        let guards: Vec<_> =
            guards.iter().map(|(guard, value)| json!({"guard": guard, "value": value})).collect();
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
    let decided: Vec<_> =
        evaluation.active().into_iter().filter(|given| given.verdict.rule().is_some()).collect();
    if !decided.is_empty() {
        text += "\n  rules that decided\n";
    }
    for given in decided {
        let rule = given.verdict.rule().unwrap_or_default();
        text += &format!("    {rule:<24} {}\n", style.value(given.verdict.value()));
        text += &output::wrapped("      ", given.verdict.reason());
    }
    text += "\n  rules of the packs that came close\n";
    for (rule, unmet) in near.iter().take(SHOWN) {
        text += &format!(
            "    {:<24} would {}, but {}\n",
            rule.id,
            style.decision(rule.decision),
            because(unmet.condition)
        );
    }
    if near.len() > SHOWN {
        text += &style.dim(&format!("    … {} more; `--json` lists them\n", near.len() - SHOWN));
    }
    if near.is_empty() {
        text += "    no other rule is about anything that this does\n";
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

/// A failed condition of a pack rule, in words.
fn because(condition: &str) -> &str {
    match condition {
        "access" => "something else is done to the file",
        "zone" => "the place is not one that it protects",
        "existence" => "it depends on whether the file is there",
        "tree" => "it is about another number of files",
        "secret" => "the file is not known to hold secrets",
        "malformed" => "the path is well formed",
        "below" => "the path is elsewhere",
        "ends" => "the file has another name",
        "not_below" | "not_ends" => "the file is one that it leaves out",
        "by" => "another program does it",
        "not_by" => "the program is one that it leaves out",
        "git" | "process" | "database" | "privilege" | "guard_off" => "the effect is another one",
        "tool" => "it is about another tool",
        "mass" => "another amount is touched",
        "from" => "the data comes from elsewhere",
        "to" => "the data goes elsewhere",
        "words" | "not_words" => "the command begins otherwise",
        "flag" => "the flag is not there",
        "sends" => "data flows the other way",
        "verb" | "object" | "not_verb" => "it is about another verb or object",
        other => other,
    }
}
