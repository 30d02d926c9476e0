//! `lictor report`: statistics of a period, as text, Markdown, JSON or one HTML page.

mod html;
mod markdown;
mod text;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::past::{Summary, first_since};
use lictor::{Project, Snapshot};
use lictor_core::Timestamp;
use lictor_guards::Pack;
use lictor_store::{Query, Store, StoreExt as _};
use serde_json::json;

use super::log;
use crate::args::Common;
use crate::exit::Exit;
use crate::here;
use crate::output::{self, Style};
use crate::time_format;

/// Summarise a period: calls, decisions, rules, approvals, findings.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor report
  lictor report --since 30d --all
  lictor report --since monday --markdown > report.md
  lictor report --html report.html")]
pub struct ReportArgs {
    /// The start, as for `lictor log`; default: a week ago.
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: String,
    /// Of all projects on this machine.
    #[arg(long)]
    all: bool,
    /// Print Markdown.
    #[arg(long, conflicts_with_all = ["html", "json"])]
    markdown: bool,
    /// Write one self-contained HTML page with plots.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// A summary with its title and period.
pub struct Report {
    /// Its title.
    pub title: String,
    /// From when on.
    pub since: Option<Timestamp>,
    /// To when.
    pub until: Timestamp,
    /// How many projects.
    pub projects: u64,
    /// What was found.
    pub summary: Summary,
    /// Rules of the packs in force that never fired.
    pub silent: Vec<&'static str>,
}

/// So many records are read at a time.
const PAGE: usize = 500;

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<Exit> {
    let since = log::moment(Some(&args.since), "--since")?;
    let project = here::project(&args.common.cwd);
    let mut summary = Summary::default();
    let mut projects = 0;
    if args.all {
        for file in here::all_stores() {
            match log::open(&file).and_then(|store| gather(&store, since, &mut summary)) {
                Ok(()) => projects += 1,
                Err(error) => {
                    output::tell(&format!("note: `{}`: {}\n", file.display(), output::chain(&error)))
                }
            }
        }
    } else {
        gather(&*project.existing_store()?, since, &mut summary)?;
        projects = 1;
    }
    let title = match args.all {
        true => "all projects".to_owned(),
        false => project.root.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let silent = silent(&project, &summary);
    let report = Report { title, since, until: time_format::now(), projects, summary, silent };
    show(&report, args.markdown, args.html.as_deref(), args.common.json)
}

/// Prints a report in the form that was asked for.
pub fn show(report: &Report, markdown: bool, html: Option<&std::path::Path>, json: bool) -> Result<Exit> {
    if let Some(file) = html {
        fs::write(file, html::page(report)).with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    if json {
        let mut value = serde_json::to_value(&report.summary)?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("title".to_owned(), report.title.clone().into());
            fields.insert("since".to_owned(), json!(report.since));
            fields.insert("until".to_owned(), json!(report.until));
            fields.insert("projects".to_owned(), report.projects.into());
            fields.insert("silent_rules".to_owned(), json!(report.silent));
        }
        output::print_json(&value)?;
    } else if let Some(file) = html {
        output::print(&format!("wrote {}\n", file.display()))?;
    } else if markdown {
        output::print_exact(&markdown::page(report))?;
    } else {
        output::print(&text::page(report, Style::stdout()))?;
    }
    Ok(Exit::Ok)
}

fn gather(store: &dyn Store, since: Option<Timestamp>, summary: &mut Summary) -> Result<()> {
    let mut after = since.map_or(Ok(1), |since| first_since(store, since))?.saturating_sub(1);
    loop {
        let page = store.view(|view| view.records(&Query::all().after(after).limit(PAGE)))?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.seq;
        for record in &page {
            summary.record(record, time_format::day);
        }
    }
}

/// The rules of the active packs that never fired. Empty if the policy cannot be read.
pub fn silent(project: &Project, summary: &Summary) -> Vec<&'static str> {
    let Ok(current) = Snapshot::read(project) else { return Vec::new() };
    let mut packs: Vec<&'static Pack> = Vec::new();
    let mut open: Vec<&str> = current.policy.base_packs();
    while let Some(pack) = open.pop().and_then(Pack::named) {
        if !packs.iter().any(|known| known.name == pack.name) {
            packs.push(pack);
            open.extend(pack.extends);
        }
    }
    let rules = packs.iter().flat_map(|pack| pack.rules()).map(|rule| rule.id);
    rules.filter(|rule| !summary.rules.contains_key(*rule)).collect()
}

/// One day.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

fn span(report: &Report) -> String {
    match report.since {
        // A report on hours shows the times.
        Some(since) if report.until.millis_since(since) < 2 * DAY_MS => {
            format!("{} to {}", time_format::minute(since), time_format::minute(report.until))
        }
        Some(since) => format!("{} to {}", time_format::day(since), time_format::day(report.until)),
        None => format!("up to {}", time_format::day(report.until)),
    }
}
