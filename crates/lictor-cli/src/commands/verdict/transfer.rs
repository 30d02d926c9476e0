//! `lictor verdict import` and `export`.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use lictor::ProjectLedger;
use lictor_ledger::{Claim, Level, PlanHash, PlanVerdict, jsonl, sarif};

use crate::exit::{self, Exit};
use crate::output;
use crate::progress::Progress;

/// Record findings from a file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor verdict import scan.sarif --plan-hash abc123
  my-linter --json-lines | lictor verdict import - --plan-hash abc123 --agent my-linter

A line of JSON lines: {\"level\": \"HIGH\", \"title\": \"SQL injection\",
\"evidence\": [\"src/users.py:42:unescaped input\"], \"rationale\": \"why\"}")]
pub struct ImportArgs {
    /// The file; `-` for standard input.
    file: PathBuf,
    /// The plan to record under.
    #[arg(long, value_name = "HASH")]
    plan_hash: PlanHash,
    /// Who says so, instead of the tool that the file names.
    #[arg(long)]
    agent: Option<String>,
    /// What the file is; told by its beginning when absent.
    #[arg(long, value_enum)]
    format: Option<TransferFormat>,
}

/// Print findings.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor verdict export > findings.sarif
  lictor verdict export --plan-hash abc123 --format jsonl")]
pub struct ExportArgs {
    /// The plans; the last changed ones when absent.
    #[arg(long, value_name = "HASH")]
    plan_hash: Vec<String>,
    /// Without plans: how many of the last changed.
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// What to print.
    #[arg(long, value_enum, default_value = "sarif")]
    format: TransferFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TransferFormat {
    /// SARIF 2.1.0.
    Sarif,
    /// One finding a line.
    Jsonl,
}

/// Runs `import`.
pub fn import(args: &ImportArgs, cwd: &Path, json: bool) -> Result<Exit> {
    let progress = Progress::new("reading");
    let mut text = String::new();
    if args.file.as_os_str() == "-" {
        std::io::stdin().lock().read_to_string(&mut text)?;
    } else {
        text = fs::read_to_string(&args.file).map_err(|error| exit::unreadable(&args.file, &error))?;
    }
    let ledger = super::ledger(cwd, true)?;
    let claims = read(args, &text, &ledger).map_err(|problem| {
        let why = output::chain(&problem);
        exit::usage(format!("`{}`: {why}; nothing was recorded", args.file.display()))
    })?;
    progress.next("recording", 0);
    let recorded = ledger.record_all(&args.plan_hash, Claim::coalesce(claims))?;
    drop(progress);
    super::tell_kept(&args.plan_hash, &recorded);
    if json {
        output::print_json(&serde_json::json!({
            "plan_hash": args.plan_hash,
            "ids": recorded.iter().map(|recorded| &recorded.id).collect::<Vec<_>>(),
        }))?;
    } else {
        output::print(&format!(
            "[verdict] recorded {} finding(s) in plan={}\n",
            recorded.len(),
            args.plan_hash
        ))?;
    }
    Ok(Exit::Ok)
}

fn read(args: &ImportArgs, text: &str, ledger: &ProjectLedger) -> Result<Vec<Claim>> {
    Ok(match args.format.unwrap_or_else(|| format_of(text)) {
        TransferFormat::Sarif => sarif::import(text, args.agent.as_deref(), Some(&ledger.project().root))?,
        TransferFormat::Jsonl => jsonl::read(text, args.agent.as_deref().unwrap_or_default())?,
    })
}

/// SARIF is one object over many lines; broken SARIF is still SARIF, so that what is wrong with it can be said.
fn format_of(text: &str) -> TransferFormat {
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text);
    let is_sarif = match json(text).or_else(|_| json(first)) {
        Ok(value) => value.get("runs").is_some(),
        Err(_) => text.contains("\"runs\""),
    };
    if is_sarif { TransferFormat::Sarif } else { TransferFormat::Jsonl }
}

/// Runs `export`.
pub fn export(args: &ExportArgs, cwd: &Path) -> Result<Exit> {
    let project = super::ledger(cwd, false)?;
    let ledger = project.reading();
    let plans: Vec<String> = if args.plan_hash.is_empty() {
        ledger.retro(args.limit, Level::Low)?.into_iter().map(|recent| recent.plan.to_string()).collect()
    } else {
        args.plan_hash.clone()
    };
    let verdicts: Vec<PlanVerdict> =
        plans.iter().map(|plan| ledger.verdict(plan)).collect::<Result<_, _>>()?;
    match args.format {
        TransferFormat::Sarif => output::print_json(&sarif::export(&verdicts))?,
        TransferFormat::Jsonl => output::print(&jsonl::write(&verdicts))?,
    }
    Ok(Exit::Ok)
}
