//! `lictor council`: who has to look at what.

mod called;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use lictor_ledger::council::{Council, Reviewer, Scope, ScopeFiles, Where};
use lictor_ledger::gate::Gate;
use lictor_ledger::render;
use serde_json::json;

use super::verdict::Desk;
use crate::councils::{InForce, Moment};
use crate::exit::Exit;
use crate::output;

/// Who has to look at what before work goes on.
#[derive(Debug, Args)]
pub struct CouncilArgs {
    #[command(subcommand)]
    command: CouncilCommand,
    /// Directory of the project.
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    cwd: PathBuf,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
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
    let desk = Desk::open(&args.cwd, true)?;
    let in_force = InForce::load(&desk.project)?;
    match &args.command {
        CouncilCommand::List => list(&in_force, args.json),
        CouncilCommand::Plan(meet) => self::meet(&desk, &in_force, meet, false, args.json),
        CouncilCommand::Run(run) => match (run.trigger, &run.name) {
            (Some(moment), name) => {
                called::run(&desk, &in_force, name.as_deref(), moment, &run.saved, args.json)
            }
            (None, name) => {
                let meet = MeetArgs { name: name.clone().unwrap_or_default(), files: run.files.clone() };
                self::meet(&desk, &in_force, &meet, true, args.json)
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

fn meet(desk: &Desk, in_force: &InForce, meet: &MeetArgs, run: bool, json: bool) -> Result<Exit> {
    let Some(council) = in_force.councils.get(&meet.name) else {
        let known: Vec<&str> = in_force.councils.keys().map(String::as_str).collect();
        bail!("there is no council `{}`; known: {}", meet.name, known.join(", "));
    };
    let council = with_files(council, &meet.files);
    let Some(git) = desk.git() else { bail!("councils need a git repository; run `git init`") };
    let ledger = desk.ledger();
    let trust =
        |name: &str, reviewer: &Reviewer| in_force.trust(&desk.store, &desk.project.root, name, reviewer);
    let progress = super::verdict::live;
    let gate = Gate {
        ledger: &ledger,
        repository: &git,
        councils: &in_force.councils,
        trust: &trust,
        progress: &progress,
    };
    let plan = gate.plan(&meet.name, &council)?;
    if !run {
        if json {
            output::print_json(&plan)?;
        } else {
            let mut text =
                format!("[plan] {}  council={}  scope={}\n", plan.plan_hash, plan.council, plan.scope_mode);
            plan.reviewers.iter().for_each(|name| text += &format!("  reviewer: {name}\n"));
            plan.files
                .keys()
                .for_each(|file| text += &format!("  file: {}\n", lictor_ledger::plain::Plain(file)));
            output::print(&text)?;
        }
        return Ok(Exit::Ok);
    }
    let attestation = gate.convene("manual", &plan, &council, Where::InPlace)?;
    let verdict = ledger.verdict(plan.plan_hash.as_str())?;
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
