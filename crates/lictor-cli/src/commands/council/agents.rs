//! Agents as reviewers: plans and reports.

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Args};
use lictor::{ActiveCouncils, Invited, Project, ProjectLedger};
use lictor_ledger::council::{Council, Plan};
use lictor_ledger::{Level, PlanHash, jsonl};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::exit::{self, Exit};
use crate::output;
use crate::time_format;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("result").required(true).args(["clean", "findings"])), after_help = "\
Examples:
  lictor council report --plan-hash 3f2a --reviewer sec --token T --clean
  lictor council report --plan-hash 3f2a --reviewer sec --token T --findings f.jsonl

A line of findings: {\"level\": \"HIGH\", \"title\": \"SQL injection\",
\"evidence\": [\"src/users.py:42:unescaped input\"], \"rationale\": \"why\"}")]
pub struct ReportArgs {
    /// The plan that was looked at.
    #[arg(long, value_name = "HASH")]
    plan_hash: PlanHash,
    /// Who looked.
    #[arg(long, value_name = "NAME")]
    reviewer: String,
    /// The token from the plan. It is valid once.
    #[arg(long)]
    token: String,
    /// It looked and found nothing.
    #[arg(long)]
    clean: bool,
    /// The findings, one JSON object per line; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,
}

/// A plan with the agents that were handed it.
#[derive(Serialize)]
struct Handed<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    #[serde(skip_serializing_if = "Option::is_none")]
    invited: Option<Vec<Json>>,
}

/// Shows what a council would review, and invites the agents among its reviewers: each gets a token with which it
/// can report, once. Under a governed agent no token is issued.
pub fn plan(
    active: &ActiveCouncils,
    project: Project,
    name: &str,
    council: &Council,
    json: bool,
) -> Result<Exit> {
    let agents: Vec<&str> =
        council.reviewers.iter().filter(|one| one.agent).map(|one| one.name.as_str()).collect();
    let above = if agents.is_empty() { None } else { lictor::governed::above(&project) };
    let ledger = ProjectLedger::open(project, true)?;
    let plan = ledger.plan(active, name, council)?;
    let invited = if above.is_none() { ledger.invite(&plan, &agents)? } else { Vec::new() };
    if json {
        let invited = (!agents.is_empty()).then(|| invited.iter().map(|one| row(&plan, one)).collect());
        output::print_json(&Handed { plan: &plan, invited })?;
        return Ok(Exit::Ok);
    }
    let mut text =
        format!("[plan] {}  council={}  scope={}\n", plan.plan_hash, plan.council, plan.scope_mode);
    for reviewer in &plan.reviewers {
        let agent = if agents.contains(&reviewer.as_str()) { "  (agent)" } else { "" };
        text += &format!("  reviewer: {reviewer}{agent}\n");
    }
    for file in plan.files.keys() {
        text += &format!("  file: {}\n", lictor_ledger::plain::Plain(file));
    }
    for one in &invited {
        text += &format!("\n{}", instructions(&plan, one));
    }
    if above.is_some() {
        text += "\nTokens for the agents among the reviewers are handed out to people; run this in a terminal of your own.\n";
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn command(plan: &Plan, invited: &Invited) -> String {
    let quoted = invited.reviewer.replace('\'', "'\\''");
    format!(
        "lictor council report --plan-hash {} --reviewer '{quoted}' --token {}",
        plan.plan_hash, invited.token
    )
}

fn row(plan: &Plan, invited: &Invited) -> Json {
    let command = command(plan, invited);
    json!({
        "reviewer": invited.reviewer,
        "token": invited.token,
        "expires": invited.expires,
        "tree": plan.tree,
        "files": plan.files.keys().collect::<Vec<_>>(),
        "report": {"clean": format!("{command} --clean"), "findings": format!("{command} --findings -")},
    })
}

/// The instructions for an agent: what to review, and how to report.
fn instructions(plan: &Plan, invited: &Invited) -> String {
    let Invited { reviewer, expires, .. } = invited;
    let command = command(plan, invited);
    format!(
        "For {reviewer}, until {}: look at the files above as they are in tree {} (`git show {}:FILE`), then report once.\n  \
         nothing found:  {command} --clean\n  findings:       {command} --findings found.jsonl\n  \
         one finding a line: {{\"level\": \"HIGH\", \"title\": \"…\", \"evidence\": [\"file:line:note\"], \"rationale\": \"…\"}}\n",
        time_format::local(*expires),
        plan.tree,
        plan.tree,
    )
}

/// Takes the report of an agent.
pub fn report(project: Project, args: &ReportArgs, json: bool) -> Result<Exit> {
    let claims = match &args.findings {
        None => Vec::new(),
        Some(file) => {
            let mut text = String::new();
            if file.as_os_str() == "-" {
                std::io::stdin().lock().read_to_string(&mut text)?;
            } else {
                text = fs::read_to_string(file).map_err(|error| exit::unreadable(file, &error))?;
            }
            let claims = jsonl::read(&text, &args.reviewer).map_err(|problem| {
                exit::usage(format!("`{}`: {problem}; nothing was reported", file.display()))
            })?;
            if claims.is_empty() {
                return Err(exit::usage(
                    "there is no finding in it; say `--clean` if nothing was found".to_owned(),
                ));
            }
            claims
        }
    };
    let ledger = ProjectLedger::open(project, true)?;
    let recorded = ledger.hear(&args.plan_hash, &args.reviewer, &args.token, claims)?;
    let level = ledger.verdict(args.plan_hash.as_str())?.level();
    if json {
        output::print_json(&json!({
            "plan_hash": args.plan_hash,
            "reviewer": args.reviewer,
            "ids": recorded.iter().map(|one| &one.id).collect::<Vec<_>>(),
            "level": level,
        }))?;
    } else {
        let what = match recorded.len() {
            0 => "clean".to_owned(),
            count => format!("{count} finding(s)"),
        };
        output::print(&format!("[council] {} reported on plan={}: {what}\n", args.reviewer, args.plan_hash))?;
    }
    Ok(Exit::Ok)
}

/// Plans and their results, newest first.
pub fn history(project: Project, limit: usize, json: bool) -> Result<Exit> {
    let project = ProjectLedger::open(project, false)?;
    let ledger = project.reading();
    let mut rows = Vec::new();
    let mut text = String::new();
    for recent in ledger.retro(limit, Level::Low)? {
        let attested = ledger.attestation(&recent.plan)?;
        let reviewers: Vec<Json> = attested
            .iter()
            .flat_map(|attestation| &attestation.reviewers)
            .map(|one| json!({"name": one.name, "state": one.state.to_string()}))
            .collect();
        let state = match &attested {
            None if recent.council.is_some() => "planned",
            None => "recorded",
            Some(attestation) if attestation.is_complete() => "attested",
            Some(_) => "incomplete",
        };
        let council = recent.council.clone().unwrap_or_default();
        text += &format!(
            "{}  {:16}  {:10}  {:8}  {}  {}\n",
            time_format::local(recent.updated_at),
            recent.plan,
            state,
            recent.tally.level(),
            recent.tally.summary(),
            council
        );
        rows.push(json!({
            "plan_hash": recent.plan,
            "council": recent.council,
            "state": state,
            "level": recent.tally.level(),
            "summary": recent.tally.summary(),
            "reviewers": reviewers,
            "created_at": recent.created_at,
            "updated_at": recent.updated_at,
        }));
    }
    if json {
        output::print_json(&rows)?;
    } else {
        output::print(if text.is_empty() { "no plans yet\n" } else { &text })?;
    }
    Ok(Exit::Ok)
}
