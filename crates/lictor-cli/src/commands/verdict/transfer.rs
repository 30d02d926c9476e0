//! `lictor verdict import` and `export`.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use lictor::ProjectLedger;
use lictor_ledger::ctx::{self, VerdictFile};
use lictor_ledger::{Claim, Level, PlanHash, PlanVerdict, jsonl, sarif};

use crate::exit::{self, Exit};
use crate::output;
use crate::progress::Progress;

/// Record findings from a file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor verdict import scan.sarif --plan-hash abc123
  lictor verdict import .toolbox/    (all *.verdict.json of ctx, by plan)
  my-linter --json-lines | lictor verdict import - --plan-hash abc123 --agent my-linter

A line of JSON lines: {\"level\": \"HIGH\", \"title\": \"SQL injection\",
\"evidence\": [\"src/users.py:42:unescaped input\"], \"rationale\": \"why\"}")]
pub struct ImportArgs {
    /// The file; `-` for standard input. A directory means its verdict files (`*.verdict.json`).
    file: PathBuf,
    /// The plan to record under. A verdict file names its own.
    #[arg(long, value_name = "HASH")]
    plan_hash: Option<PlanHash>,
    /// The author, instead of the tool that the file names.
    #[arg(long)]
    agent: Option<String>,
    /// The format; default: detected from the content.
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
    #[arg(long, default_value = "100", value_parser = crate::args::some)]
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

/// Records verdict files of ctx, each under its own plan. All are read before the first is recorded.
fn import_verdicts(files: &[(PathBuf, String)], cwd: &Path, json: bool) -> Result<Exit> {
    let mut verdicts = Vec::new();
    for (path, text) in files {
        let read = ctx::read(text)
            .map_err(|why| exit::usage(format!("`{}`: {why}; nothing was recorded", path.display())))?;
        verdicts.push(read);
    }
    let ledger = super::ledger(cwd, true)?;
    let mut rows = Vec::new();
    let mut said = String::new();
    for VerdictFile { plan, claims } in verdicts {
        let recorded = ledger.record_all(&plan, claims)?;
        super::tell_kept(&plan, &recorded);
        said += &format!("[verdict] recorded {} finding(s) in plan={plan}\n", recorded.len());
        let ids: Vec<_> = recorded.iter().map(|recorded| &recorded.id).collect();
        rows.push(serde_json::json!({"plan_hash": plan, "ids": ids}));
    }
    if json {
        output::print_json(&rows)?;
    } else {
        output::print(&said)?;
    }
    Ok(Exit::Ok)
}

/// The verdict files of a directory, in the order of their names.
fn verdict_files(directory: &Path) -> Result<Vec<(PathBuf, String)>> {
    let unreadable = |error: std::io::Error| exit::unreadable(directory, &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ctx::SUFFIX)) {
            let text = fs::read_to_string(&path).map_err(|error| exit::unreadable(&path, &error))?;
            files.push((path, text));
        }
    }
    if files.is_empty() {
        return Err(exit::usage(format!("no `*{}` in `{}`", ctx::SUFFIX, directory.display())));
    }
    files.sort();
    Ok(files)
}

/// Runs `import`.
pub fn import(args: &ImportArgs, cwd: &Path, json: bool) -> Result<Exit> {
    if args.file.is_dir() {
        return import_verdicts(&verdict_files(&args.file)?, cwd, json);
    }
    let progress = Progress::new("reading");
    let mut text = String::new();
    if args.file.as_os_str() == "-" {
        std::io::stdin().lock().read_to_string(&mut text)?;
    } else {
        text = fs::read_to_string(&args.file).map_err(|error| exit::unreadable(&args.file, &error))?;
    }
    if args.format.is_none() && ctx::is_verdict(&text) {
        return import_verdicts(&[(args.file.clone(), text)], cwd, json);
    }
    let Some(plan_hash) = &args.plan_hash else {
        return Err(exit::usage("say under which plan: `--plan-hash HASH`".to_owned()));
    };
    let ledger = super::ledger(cwd, true)?;
    let claims = read(args, &text, &ledger).map_err(|problem| {
        let why = output::chain(&problem);
        exit::usage(format!("`{}`: {why}; nothing was recorded", args.file.display()))
    })?;
    progress.next("recording", 0);
    let recorded = ledger.record_all(plan_hash, Claim::coalesce(claims))?;
    drop(progress);
    super::tell_kept(plan_hash, &recorded);
    if json {
        output::print_json(&serde_json::json!({
            "plan_hash": plan_hash,
            "ids": recorded.iter().map(|recorded| &recorded.id).collect::<Vec<_>>(),
        }))?;
    } else {
        output::print(&format!("[verdict] recorded {} finding(s) in plan={}\n", recorded.len(), plan_hash))?;
    }
    Ok(Exit::Ok)
}

fn read(args: &ImportArgs, text: &str, ledger: &ProjectLedger) -> Result<Vec<Claim>> {
    Ok(match args.format.unwrap_or_else(|| format_of(text)) {
        TransferFormat::Sarif => sarif::import(text, args.agent.as_deref(), Some(&ledger.project().root))?,
        TransferFormat::Jsonl => jsonl::read(text, args.agent.as_deref().unwrap_or_default())?,
    })
}

/// SARIF is one object over many lines; invalid SARIF still counts as SARIF, so that its error can be reported.
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
        TransferFormat::Jsonl => output::print_json_text(&jsonl::write(&verdicts))?,
    }
    Ok(Exit::Ok)
}
