//! `lictor explain [id]`: the trace of one recorded evaluation as a tree.

use std::str::FromStr;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::Project;
use lictor::drawing::{Step, steps};
use lictor::fault::{self, Fault};
use lictor::log::Evaluated;
use lictor_core::facts::Deed;
use lictor_core::{Action, Decision, Value};
use lictor_store::{Query, Record, StoreExt as _};

use crate::args::Common;
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};
use crate::time_format;

/// Show how a decision came about.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor explain
  lictor explain 12
  lictor explain 12 --json")]
pub struct ExplainArgs {
    /// The number of a decision, or the id of a fault; default: the newest decision that was not a pass.
    id: Option<Id>,
    #[command(flatten)]
    common: Common,
}

/// So many targets of one deed are shown.
const SHOWN: usize = 5;

#[derive(Debug, Clone)]
enum Id {
    Decision(u64),
    Fault(String),
}

impl FromStr for Id {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(number) => Ok(Self::Decision(number)),
            Err(_) if text.starts_with(fault::PREFIX) => Ok(Self::Fault(text.to_owned())),
            Err(_) => Err("neither the number of a decision nor the name of a fault".to_owned()),
        }
    }
}

/// Runs the command.
pub fn run(args: &ExplainArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    let record = match &args.id {
        // Without the store, which may be the cause of the fault.
        Some(Id::Fault(id)) => return explain_fault(&project, id, args.common.json),
        Some(Id::Decision(id)) => find(&*project.existing_store()?, *id)?,
        None => newest(&*project.existing_store()?)?,
    };
    let evaluated: Evaluated<'_> = serde_json::from_str(&record.body)
        .with_context(|| format!("record {} is not an evaluation", record.seq))?;
    if args.common.json {
        let mut value: serde_json::Value = serde_json::from_str(&record.body)?;
        if let Some(fields) = value.as_object_mut() {
            // The record only references silent passes; here every verdict and every step is printed.
            fields.insert("evaluation".to_owned(), serde_json::to_value(&evaluated.evaluation)?);
            fields.insert("id".to_owned(), record.seq.into());
            fields.insert("at".to_owned(), record.at.0.into());
        }
        output::print_json(&value)?;
    } else {
        output::print(&tell(record.seq, &evaluated, Style::stdout()))?;
    }
    Ok(Exit::Ok)
}

fn explain_fault(project: &Project, id: &str, json: bool) -> Result<Exit> {
    let found = fault::noted(project).into_iter().rev().find(|fault| fault.id() == id);
    let fault = found.ok_or_else(|| {
        exit::not_there(format!(
            "there is no `{id}` here; go to the directory that the agent was in, or run `lictor doctor`"
        ))
    })?;
    if json {
        output::print_json(&fault)?;
    } else {
        let Fault { at, agent, event, reason } = &fault;
        output::print(&format!("{id} {} {agent} {event}\n\n  {reason}\n", time_format::local(*at)))?;
    }
    Ok(Exit::Ok)
}

/// The record of that evaluation.
pub fn find(store: &dyn lictor_store::Store, id: u64) -> Result<Record> {
    let query =
        Query::all().after(id.saturating_sub(1)).before(id.saturating_add(1)).kind("evaluated").limit(1);
    let found = store.view(|view| view.records(&query))?.into_iter().next();
    found.ok_or_else(|| {
        exit::not_there(format!("there is no decision {id}; `lictor audit tail` shows the newest ones"))
    })
}

fn newest(store: &dyn lictor_store::Store) -> Result<Record> {
    let mut before = u64::MAX;
    loop {
        let query = Query::all().before(before).kind("evaluated").newest_first().limit(200);
        let page = store.view(|view| view.records(&query))?;
        for record in &page {
            let evaluated: Evaluated<'_> = serde_json::from_str(&record.body)?;
            if evaluated.evaluation.decision > Decision::Pass {
                return Ok(record.clone());
            }
        }
        match page.last() {
            Some(last) => before = last.seq,
            None => {
                return Err(exit::not_there(
                    "nothing but passes has been recorded; name a decision: `lictor explain ID`",
                ));
            }
        }
    }
}

fn tell(id: u64, evaluated: &Evaluated<'_>, style: Style) -> String {
    let Evaluated { action, facts, evaluation, .. } = evaluated;
    let mut text = format!(
        "{} {} {}\n",
        style.bold(&format!("#{id}")),
        style.decision(evaluation.decision),
        title(action)
    );
    for given in evaluation.active() {
        let rule = given.verdict.rule().map(|rule| format!(" [{rule}]")).unwrap_or_default();
        text +=
            &format!("\n  {} {}{}\n", style.bold(given.guard()), given.verdict.reason(), style.dim(&rule));
        if !given.verdict.fix().is_empty() {
            text += &format!("    fix: {}\n", given.verdict.fix());
        }
    }
    text += "\n  what it would do\n";
    let deeds = facts.deeds();
    for deed in &deeds {
        text += &format!("    {}\n", in_words(deed, style));
    }
    if deeds.is_empty() {
        text += "    nothing that policies know of\n";
    }
    text += "\n  how it was judged\n";
    for step in steps(evaluation) {
        text += &line(&step, style);
    }
    text += &style.dim(&format!(
        "\n  risk {}   action {}   policy {}\n",
        evaluation.risk,
        evaluation.action.short(),
        evaluation.policy.short()
    ));
    text
}

/// An action in one line.
pub fn title(action: &Action) -> String {
    output::clipped(&lictor::past::title(action), 125)
}

/// The verb, object and targets of a deed. Of many targets, the first ones.
pub fn in_words(deed: &Deed, style: Style) -> String {
    let mut named: Vec<&str> = Vec::new();
    for target in &deed.targets {
        if !named.contains(&target.as_str()) {
            named.push(target);
        }
    }
    let mut targets = named.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if named.len() > SHOWN {
        targets += &format!(", and {} more", named.len() - SHOWN);
    }
    format!("{} {} {}", deed.verb, deed.object, style.dim(&targets)).trim_end().to_owned()
}

fn line(step: &Step, style: Style) -> String {
    let Step { depth, name, value, branch, superseded } = step;
    let indent = "  ".repeat(depth + 2);
    let value = match value {
        None => return format!("{indent}{}\n", style.dim(&format!("{name}  skipped"))),
        Some(Value::Error) => style.red("error"),
        Some(value) => style.decision(value.settle()),
    };
    let branch = branch.map(|branch| format!(" → {}", branch.as_str())).unwrap_or_default();
    let mark = if *superseded { style.dim("  (does not count)") } else { String::new() };
    format!("{indent}{name}{branch}  {value}{mark}\n")
}
