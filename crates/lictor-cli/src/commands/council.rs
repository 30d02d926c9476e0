//! `lictor council`: runs and inspects councils.

mod agents;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use lictor::{ActiveCouncils, CouncilMoment, Looked, Project, ProjectLedger, Snapshot};
use lictor_ledger::council::{Council, Scope, ScopeFiles};
use lictor_ledger::render;
use serde_json::{Value as Json, json};

use super::verdict::live;
use crate::args::Common;
use crate::exit::Exit;
use crate::here;
use crate::output;

/// Run and inspect councils of reviewers.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor council list
  lictor council plan ship-it
  lictor council run ship-it --files src/auth.rs
  lictor council history --limit 5")]
pub struct CouncilArgs {
    #[command(subcommand)]
    command: CouncilCommand,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum CouncilCommand {
    /// List the councils.
    List,
    /// Show what a council would review now; give each agent among its reviewers a token.
    Plan(MeetArgs),
    /// Report what an agent found as a reviewer, or that it found nothing.
    Report(agents::ReportArgs),
    /// List past reviews and their results, newest first.
    History {
        /// At most so many.
        #[arg(long, default_value = "20", value_parser = crate::args::some)]
        limit: usize,
    },
    /// Run a council now and record its findings; exit 2 when a guardrail is hit.
    Run(RunArgs),
}

/// A moment of an agent's work at which councils may meet.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum MomentArg {
    /// A session starts.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// Files were saved.
    FileSave,
}

impl From<MomentArg> for CouncilMoment {
    fn from(moment: MomentArg) -> Self {
        match moment {
            MomentArg::SessionStart => Self::SessionStart,
            MomentArg::SessionEnd => Self::SessionEnd,
            MomentArg::FileSave => Self::FileSave,
        }
    }
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
    /// The council. Without one: those that run on `--trigger`.
    #[arg(required_unless_present = "trigger")]
    name: Option<String>,
    /// Only these files, instead of the council's scope. Patterns are fine.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "trigger")]
    files: Vec<String>,
    /// The event. Summons during a run are handled together; reviewed content is not reviewed again.
    #[arg(long, value_enum)]
    trigger: Option<MomentArg>,
    /// With `--trigger file-save`: a saved file, relative to the project root. May be repeated.
    #[arg(long, value_name = "FILE", requires = "trigger")]
    saved: Vec<String>,
}

/// Runs the command.
pub fn run(args: &CouncilArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    let active = ActiveCouncils::of(&Snapshot::read(&project)?.policy)?;
    let json = args.common.json;
    match &args.command {
        CouncilCommand::List => list(&active, json),
        CouncilCommand::Plan(meet) => {
            let council = with_files(active.get(&meet.name)?, &meet.files);
            agents::plan(&active, project, &meet.name, &council, json)
        }
        CouncilCommand::Report(report) => agents::report(project, report, json),
        CouncilCommand::History { limit } => agents::history(project, *limit, json),
        CouncilCommand::Run(run) => match (run.trigger, &run.name) {
            (Some(moment), name) => {
                let ledger = ProjectLedger::open(project, true)?;
                called(&ledger, &active, name.as_deref(), moment.into(), &run.saved, json)
            }
            (None, name) => {
                let meet = MeetArgs { name: name.clone().unwrap_or_default(), files: run.files.clone() };
                look(&active, project, &meet, json)
            }
        },
    }
}

fn list(active: &ActiveCouncils, json: bool) -> Result<Exit> {
    if json {
        let rows: Vec<_> = active
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
    for (name, council) in &active.councils {
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

fn look(active: &ActiveCouncils, project: Project, meet: &MeetArgs, json: bool) -> Result<Exit> {
    let council = with_files(active.get(&meet.name)?, &meet.files);
    let ledger = ProjectLedger::open(project, true)?;
    let (plan, looked) = ledger.convene(active, &meet.name, &council, &live)?;
    if json {
        let verdict: Json = serde_json::from_str(&render::json::verdict(&looked.verdict, |_| &[]))?;
        output::print_json(&json!({"plan": plan, "attestation": looked.attestation, "verdict": verdict}))?;
    } else {
        output::print(&told(&looked))?;
    }
    Ok(if looked.stopped { Exit::Block } else { Exit::Ok })
}

/// Runs the councils that an event summons. Hooks start this and do not wait for it.
fn called(
    ledger: &ProjectLedger,
    active: &ActiveCouncils,
    named: Option<&str>,
    moment: CouncilMoment,
    saved: &[String],
    json: bool,
) -> Result<Exit> {
    let mut stopped = false;
    let (mut rows, mut printed) = (Vec::new(), Ok(()));
    ledger.summon(active, named, moment, saved, &live, &mut |looked| {
        stopped |= looked.stopped;
        if json {
            let verdict: Json =
                serde_json::from_str(&render::json::verdict(&looked.verdict, |_| &[])).unwrap_or_default();
            rows.push(json!({"attestation": looked.attestation, "verdict": verdict}));
        } else if printed.is_ok() {
            printed = output::print(&told(&looked));
        }
    })?;
    printed?;
    if json {
        output::print_json(&rows)?;
    }
    Ok(if stopped { Exit::Block } else { Exit::Ok })
}

fn told(looked: &Looked) -> String {
    let (found, who) = (render::text::explain(&looked.verdict), render::text::attested(&looked.attestation));
    format!("{found}{who}")
}

fn with_files(council: &Council, files: &[String]) -> Council {
    let mut council = council.clone();
    if !files.is_empty() {
        council.scope =
            Scope { files: ScopeFiles::Explicit(files.to_vec()), dependents: council.scope.dependents };
    }
    council
}
