//! `lictor verdict`: findings of reviewers, and the commit gate.

mod gate;
mod transfer;

use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use lictor::ProjectLedger;
use lictor_ledger::council::Patience;
use lictor_ledger::ledger::{Change, Recorded, Verb};
use lictor_ledger::{Claim, Evidence, FindingId, Ledger, LedgerError, Level, PlanHash, render};

use crate::args::Common;
use crate::exit::{self, Exit};
use crate::here;
use crate::output;

pub use gate::live;

/// Findings of reviewers, and the commit gate.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor verdict record --plan-hash abc123 --level HIGH \\
      --title 'SQL injection' --agent security-reviewer \\
      --evidence 'src/users.py:42:unescaped input'
  lictor verdict show --plan-hash abc123
  lictor verdict waive --plan-hash abc123 --id 3f2a --reason known --until 30d
  lictor verdict import scan.sarif --plan-hash abc123
  lictor verdict gate --event ci --base origin/main --format github")]
pub struct VerdictArgs {
    #[command(subcommand)]
    command: VerdictCommand,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum VerdictCommand {
    /// Record a finding. The same finding again refines it or raises its level, and never lowers it.
    Record(RecordArgs),
    /// Show a plan's verdict.
    Show(PlanArgs),
    /// Show a plan's verdict with its evidence.
    Explain(PlanArgs),
    /// List the verdicts that changed last.
    Retro {
        /// At most so many.
        #[arg(long, default_value = "10", value_parser = crate::args::some)]
        limit: usize,
        /// Only this level and worse: LOW, MEDIUM, HIGH, CRITICAL.
        #[arg(long, value_name = "LEVEL", default_value = "LOW")]
        min_level: Level,
    },
    /// Clear a finding: it no longer counts, but stays on record.
    Clear {
        #[command(flatten)]
        finding: FindingArgs,
        /// Why.
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// Lower the level of another person's finding. For people, not for agents.
    Lower {
        #[command(flatten)]
        finding: FindingArgs,
        /// LOW, MEDIUM or HIGH.
        #[arg(long)]
        level: Level,
        /// Why.
        #[arg(long)]
        reason: String,
    },
    /// Waive a finding that somebody else recorded, with a reason.
    Waive {
        #[command(flatten)]
        finding: FindingArgs,
        /// Why.
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
        /// What it is.
        #[arg(long = "as", value_enum, default_value = "accepted-risk")]
        ruling: RulingArg,
        /// How long it is valid: 12h, 30d. Default: forever.
        #[arg(long, value_name = "TIME")]
        until: Option<Patience>,
    },
    /// Remove a plan and its findings from the lists; the log keeps them. Clear or waive open findings that stop
    /// commits first. For people, not for agents.
    Purge {
        /// The plan; its beginning is enough.
        #[arg(long, value_name = "HASH")]
        plan_hash: String,
        /// Why.
        #[arg(long, default_value = "", hide_default_value = true)]
        reason: String,
        /// Who decides this.
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Judge what is about to be committed or pushed: exit 0 go on, 2 stop.
    Gate(gate::GateArgs),
    /// Record findings from SARIF or JSON lines, all of them or none.
    Import(transfer::ImportArgs),
    /// Print findings as SARIF or JSON lines.
    Export(transfer::ExportArgs),
}

#[derive(Debug, Args)]
struct RecordArgs {
    /// The plan: 1 to 64 letters, digits, `_` or `-`.
    #[arg(long, value_name = "HASH")]
    plan_hash: PlanHash,
    /// LOW, MEDIUM, HIGH or CRITICAL.
    #[arg(long)]
    level: Level,
    /// What is wrong, in a few words.
    #[arg(long)]
    title: String,
    /// Who says so.
    #[arg(long, default_value = "", hide_default_value = true)]
    agent: String,
    /// Where: file, file:line, file:line:note or file:line:column:note. May be repeated; quote notes with blanks.
    #[arg(long, value_name = "SPEC")]
    evidence: Vec<String>,
    /// Why it is wrong.
    #[arg(long, default_value = "", hide_default_value = true)]
    rationale: String,
    /// A custom id; the default is derived from agent, title and file.
    #[arg(long, default_value = "", hide_default_value = true)]
    id: String,
    /// Words that belong to nothing.
    #[arg(hide = true, value_name = "")]
    stray: Vec<String>,
}

#[derive(Debug, Args)]
struct PlanArgs {
    /// The plan; its beginning is enough.
    #[arg(long, value_name = "HASH")]
    plan_hash: String,
}

#[derive(Debug, Args)]
struct FindingArgs {
    /// The plan; its beginning is enough.
    #[arg(long, value_name = "HASH")]
    plan_hash: String,
    /// The finding; the beginning of its id is enough.
    #[arg(long)]
    id: String,
    /// Who decides this.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

impl FindingArgs {
    fn actor(&self) -> String {
        self.by.clone().unwrap_or_else(here::person)
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RulingArg {
    /// Correct, and a person accepts the risk.
    AcceptedRisk,
    /// Wrong.
    FalsePositive,
    /// Repaired or withdrawn.
    Fixed,
    /// Seen; it still counts.
    Acknowledged,
    /// Ends a waiver: it counts again.
    Open,
}

impl From<RulingArg> for Verb {
    fn from(ruling: RulingArg) -> Self {
        match ruling {
            RulingArg::AcceptedRisk => Self::AcceptRisk,
            RulingArg::FalsePositive => Self::FalsePositive,
            RulingArg::Fixed => Self::Fixed,
            RulingArg::Acknowledged => Self::Acknowledge,
            RulingArg::Open => Self::Reopen,
        }
    }
}

/// The project's findings.
pub fn ledger(cwd: &Path, create: bool) -> Result<ProjectLedger> {
    Ok(ProjectLedger::open(here::project(cwd), create)?)
}

/// Runs the command.
pub fn run(args: &VerdictArgs) -> Result<Exit> {
    let result = match &args.command {
        VerdictCommand::Gate(gate) => gate::run(gate, &args.common.cwd, args.common.json),
        VerdictCommand::Record(record) => self::record(record, args),
        VerdictCommand::Import(import) => transfer::import(import, &args.common.cwd, args.common.json),
        VerdictCommand::Export(export) => transfer::export(export, &args.common.cwd),
        VerdictCommand::Show(plan) => show(&plan.plan_hash, args),
        VerdictCommand::Explain(plan) => show(&plan.plan_hash, args),
        VerdictCommand::Retro { limit, min_level } => retro(*limit, *min_level, args),
        VerdictCommand::Clear { finding, reason } => clear(finding, reason, args),
        VerdictCommand::Lower { finding, level, reason } => lower(finding, *level, reason, args),
        VerdictCommand::Purge { plan_hash, reason, by } => purge(plan_hash, reason, by.as_deref(), args),
        VerdictCommand::Waive { finding, reason, ruling, until } => {
            waive(finding, reason, (*ruling).into(), *until, args)
        }
    };
    match result.as_ref().map_err(|error| error.downcast_ref::<LedgerError>()) {
        // The message that scripts rely on.
        Err(Some(error @ LedgerError::NoPlan(_))) => {
            output::tell(&format!("{error}\n"));
            Ok(Exit::Problems)
        }
        _ => result,
    }
}

fn record(record: &RecordArgs, args: &VerdictArgs) -> Result<Exit> {
    if let Some(word) = record.stray.first() {
        let spec =
            record.evidence.last().map_or_else(String::new, |last| format!(" --evidence '{last} {word}'"));
        return Err(exit::usage(format!(
            "`{word}` belongs to nothing; text with blanks needs quotes:{spec}"
        )));
    }
    let claim = claim(record).map_err(|problem| exit::usage(output::chain(&problem)))?;
    let ledger = ledger(&args.common.cwd, true)?;
    let recorded = ledger.record(&record.plan_hash, claim)?;
    tell_kept(&record.plan_hash, std::slice::from_ref(&recorded));
    let verdict = ledger.verdict(record.plan_hash.as_str())?;
    if args.common.json {
        output::print_json_text(&render::json::verdict(&verdict, |_| &[]))?;
    } else {
        let tally = verdict.tally();
        let waived = if recorded.open { "" } else { "  (waived earlier)" };
        output::print(&format!(
            "[verdict] recorded {} in plan={}  level={}  {}{waived}\n",
            recorded.id,
            record.plan_hash,
            tally.level(),
            tally.summary()
        ))?;
    }
    Ok(Exit::Ok)
}

/// Reports which findings keep a higher level or another text than reported, and who can change that.
fn tell_kept(plan: &PlanHash, recorded: &[Recorded]) {
    for kept in recorded.iter().filter(|recorded| recorded.change == Change::Kept) {
        output::tell(&format!(
            "finding `{id}` stays {level}: reporting it again does not lower it; a person can (`lictor verdict lower --plan-hash {plan} --id {id} --level LEVEL --reason TEXT`)\n",
            id = kept.id,
            level = kept.level,
        ));
    }
    for kept in recorded.iter().filter(|recorded| recorded.words_kept) {
        output::tell(&format!(
            "finding `{id}` keeps its title and rationale: reporting it again does not change its words; record a finding of its own (another `--id`)\n",
            id = kept.id,
        ));
    }
}

fn claim(record: &RecordArgs) -> Result<Claim> {
    let mut evidence = Vec::new();
    for spec in &record.evidence {
        let place = Evidence::parse(spec)?;
        if !place.points_somewhere() && !spec.trim().is_empty() {
            output::tell(&format!("warning: evidence `{spec}` names no file and is left out\n"));
        }
        evidence.push(place);
    }
    let id: Option<FindingId> = match record.id.as_str() {
        "" => None,
        id => Some(id.parse()?),
    };
    Ok(Claim::new(record.level, record.title.as_str(), record.agent.as_str())?
        .with_evidence(evidence)?
        .with_rationale(record.rationale.as_str())?
        .with_id(id))
}

fn show(plan: &str, args: &VerdictArgs) -> Result<Exit> {
    let Some(project) = existing(args)? else { return Err(LedgerError::NoPlan(plan.to_owned()).into()) };
    let ledger = project.reading();
    let verdict = ledger.verdict(plan)?;
    if !args.common.json {
        output::print(&render::text::explain(&verdict))?;
        return Ok(Exit::Ok);
    }
    let mut history = std::collections::HashMap::new();
    for finding in verdict.open.iter().chain(&verdict.closed) {
        history.insert(finding.id.clone(), ledger.history(&verdict.plan, &finding.id)?);
    }
    output::print_json_text(&render::json::verdict(&verdict, |id| {
        history.get(id).map_or(&[], Vec::as_slice)
    }))?;
    Ok(Exit::Ok)
}

fn retro(limit: usize, min_level: Level, args: &VerdictArgs) -> Result<Exit> {
    let recent = match existing(args)? {
        Some(ledger) => ledger.reading().retro(limit, min_level)?,
        None => Vec::new(),
    };
    let text =
        if args.common.json { render::json::retro(&recent) } else { render::text::retro(&recent, min_level) };
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn clear(finding: &FindingArgs, reason: &str, args: &VerdictArgs) -> Result<Exit> {
    let Some(project) = ruling("verdict clear", args)? else {
        return Err(LedgerError::NoPlan(finding.plan_hash.clone()).into());
    };
    let ledger = project.writing()?;
    if ledger.clear(&finding.plan_hash, &finding.id, &finding.actor(), reason)?.is_none() {
        output::tell(&format!(
            "no open finding `{}` in plan {}; nothing has changed\n",
            finding.id, finding.plan_hash
        ));
    }
    after(&ledger, &finding.plan_hash, args)
}

fn lower(finding: &FindingArgs, level: Level, reason: &str, args: &VerdictArgs) -> Result<Exit> {
    let Some(project) = ruling("verdict lower", args)? else {
        return Err(LedgerError::NoPlan(finding.plan_hash.clone()).into());
    };
    let ledger = project.writing()?;
    if ledger.lower(&finding.plan_hash, &finding.id, level, &finding.actor(), reason)?.is_none() {
        output::tell(&format!("finding `{}` is not worse than {level}; nothing has changed\n", finding.id));
    }
    after(&ledger, &finding.plan_hash, args)
}

fn waive(
    finding: &FindingArgs,
    reason: &str,
    verb: Verb,
    until: Option<Patience>,
    args: &VerdictArgs,
) -> Result<Exit> {
    let Some(project) = ruling("verdict waive", args)? else {
        return Err(LedgerError::NoPlan(finding.plan_hash.clone()).into());
    };
    let ledger = project.writing()?;
    let until = until
        .map(|Patience(time)| ledger.now().plus_millis(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)));
    ledger.rule(&finding.plan_hash, &finding.id, verb, &finding.actor(), reason, until)?;
    after(&ledger, &finding.plan_hash, args)
}

fn purge(plan: &str, reason: &str, by: Option<&str>, args: &VerdictArgs) -> Result<Exit> {
    let Some(project) = ruling("verdict purge", args)? else {
        return Err(LedgerError::NoPlan(plan.to_owned()).into());
    };
    let by = by.map_or_else(here::person, str::to_owned);
    let plan = project.purge(plan, &by, reason)?;
    if args.common.json {
        output::print_json(&serde_json::json!({"plan_hash": plan}))?;
    } else {
        output::print(&format!("[verdict] plan={plan} is no longer listed; the log keeps what happened\n"))?;
    }
    Ok(Exit::Ok)
}

/// Prints the verdict of a plan after a ruling.
fn after(ledger: &Ledger<'_>, plan: &str, args: &VerdictArgs) -> Result<Exit> {
    let verdict = ledger.verdict(plan)?;
    let text = if args.common.json {
        render::json::verdict(&verdict, |_| &[])
    } else {
        render::text::explain(&verdict)
    };
    output::print(&text)?;
    Ok(Exit::Ok)
}

/// The project's ledger, for a person's ruling.
fn ruling(what: &str, args: &VerdictArgs) -> Result<Option<ProjectLedger>> {
    here::people_only(what, &here::project(&args.common.cwd))?;
    existing(args)
}

fn existing(args: &VerdictArgs) -> Result<Option<ProjectLedger>> {
    let project = here::project(&args.common.cwd);
    if project.has_store() { Ok(Some(ProjectLedger::open(project, false)?)) } else { Ok(None) }
}
