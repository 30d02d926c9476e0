//! `lictor council`: who has to look at what.

mod called;

use anyhow::Result;
use clap::{Args, Subcommand};
use lictor_ledger::council::{Council, Plan, Scope, ScopeFiles, Where};
use lictor_ledger::gate::Gate;
use lictor_ledger::render;
use serde_json::json;

use super::verdict::Desk;
use crate::args::Common;
use crate::councils::{InForce, Moment};
use crate::exit::{self, Exit};
use crate::output;
use crate::place::Project;

/// Who has to look at what before work goes on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor council list
  lictor council plan ship-it
  lictor council run ship-it --files src/auth.rs")]
pub struct CouncilArgs {
    #[command(subcommand)]
    command: CouncilCommand,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum CouncilCommand {
    /// The councils in force.
    List,
    /// What a council would look at now.
    Plan(MeetArgs),
    /// Let a council look now, and record what it finds: exit 2 when a guardrail is hit.
    Run(RunArgs),
}

#[derive(Debug, Args)]
struct MeetArgs {
    /// The council.
    name: String,
    /// Only these files, instead of the council's scope. Patterns are fine.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    files: Vec<String>,
}

#[derive(Debug, Args)]
struct RunArgs {
    /// The council. Without one: those that meet at the moment that `--trigger` names.
    #[arg(required_unless_present = "trigger")]
    name: Option<String>,
    /// Only these files, instead of the council's scope. Patterns are fine.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "trigger")]
    files: Vec<String>,
    /// What happened. Calls that come while a council looks are answered together; what it has looked at before, it does
    /// not look at again.
    #[arg(long, value_enum)]
    trigger: Option<Moment>,
    /// With `--trigger file-save`: a file that was saved, seen from the top of the project. May be repeated.
    #[arg(long, value_name = "FILE", requires = "trigger")]
    saved: Vec<String>,
}

/// Runs the command.
pub fn run(args: &CouncilArgs) -> Result<Exit> {
    let in_force = InForce::load(&Project::around(&args.common.cwd))?;
    match &args.command {
        CouncilCommand::List => list(&in_force, args.common.json),
        CouncilCommand::Plan(meet) => self::meet(&in_force, meet, false, &args.common),
        CouncilCommand::Run(run) => match (run.trigger, &run.name) {
            (Some(moment), name) => {
                let desk = Desk::open(&args.common.cwd, true)?;
                called::run(&desk, &in_force, name.as_deref(), moment, &run.saved, args.common.json)
            }
            (None, name) => {
                let meet = MeetArgs { name: name.clone().unwrap_or_default(), files: run.files.clone() };
                self::meet(&in_force, &meet, true, &args.common)
            }
        },
    }
}

fn list(in_force: &InForce, json: bool) -> Result<Exit> {
    if json {
        let rows: Vec<_> = in_force
            .councils
            .iter()
            .map(|(name, council)| {
                let reviewers: Vec<&str> = council.reviewers.iter().map(|reviewer| reviewer.name.as_str()).collect();
                json!({"name": name, "guardrail": council.guardrail, "scope": council.scope.mode(), "reviewers": reviewers})
            })
            .collect();
        output::print_json(&rows)?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for (name, council) in &in_force.councils {
        let reviewers: Vec<&str> = council.reviewers.iter().map(|reviewer| reviewer.name.as_str()).collect();
        let guardrail = if council.guardrail { "  guardrail" } else { "" };
        text += &format!("{name}  scope={}{guardrail}  {}\n", council.scope.mode(), reviewers.join(", "));
    }
    if text.is_empty() {
        text.push_str("no councils; add `councils:` to governance.yaml\n");
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn meet(in_force: &InForce, meet: &MeetArgs, run: bool, common: &Common) -> Result<Exit> {
    let Some(council) = in_force.councils.get(&meet.name) else {
        let known: Vec<&str> = in_force.councils.keys().map(String::as_str).collect();
        let next = if known.is_empty() {
            "add `councils:` to governance.yaml".to_owned()
        } else {
            format!("there is: {}", known.join(", "))
        };
        return Err(exit::not_there(format!("there is no council `{}`; {next}", meet.name)));
    };
    let council = with_files(council, &meet.files);
    let desk = Desk::open(&common.cwd, true)?;
    desk.at_gate(in_force, &desk.git_needed()?, |gate| {
        let plan = gate.plan(&meet.name, &council)?;
        if run { look(gate, &plan, &council, common.json) } else { show(&plan, common.json) }
    })?
}

fn show(plan: &Plan, json: bool) -> Result<Exit> {
    if json {
        output::print_json(plan)?;
    } else {
        let mut text =
            format!("[plan] {}  council={}  scope={}\n", plan.plan_hash, plan.council, plan.scope_mode);
        plan.reviewers.iter().for_each(|name| text += &format!("  reviewer: {name}\n"));
        plan.files
            .keys()
            .for_each(|file| text += &format!("  file: {}\n", lictor_ledger::plain::Plain(file)));
        output::print(&text)?;
    }
    Ok(Exit::Ok)
}

fn look(gate: &Gate<'_>, plan: &Plan, council: &Council, json: bool) -> Result<Exit> {
    let attestation = gate.convene("manual", plan, council, Where::InPlace)?;
    let verdict = gate.ledger.verdict(plan.plan_hash.as_str())?;
    if json {
        let verdict: serde_json::Value = serde_json::from_str(&render::json::verdict(&verdict, |_| &[]))?;
        output::print_json(&json!({"plan": plan, "attestation": attestation, "verdict": verdict}))?;
    } else {
        output::print(&format!(
            "{}{}",
            render::text::explain(&verdict),
            render::text::attested(&attestation)
        ))?;
    }
    let stopped = council.guardrail && (verdict.level().blocks() || !attestation.is_complete());
    Ok(if stopped { Exit::Block } else { Exit::Ok })
}

fn with_files(council: &Council, files: &[String]) -> Council {
    let mut council = council.clone();
    if !files.is_empty() {
        council.scope =
            Scope { files: ScopeFiles::Explicit(files.to_vec()), dependents: council.scope.dependents };
    }
    council
}
