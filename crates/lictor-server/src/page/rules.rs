//! Rules: how often they fired, how often people overrode them, and those that have never fired.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::http::StatusCode;
use lictor::log::Evaluated;
use lictor_core::{Decision, Timestamp};
use lictor_guards::Pack;
use lictor_store::{Draft, Durability, StoreExt as _};
use serde_json::json;

use super::feed::{self, Row, Sought};
use super::plot::{self, Bar};
use super::tally::{Rule, Tally};
use super::words::{self, When};
use super::{Frame, Shown, Visit, explain, shown};
use crate::http::Problem;
use crate::tenants::now;

/// The time limit of counting before the view shows partial results.
const PATIENCE: Duration = Duration::from_millis(50);
/// Days that are drawn.
const DAYS: i64 = 30;
const DAY_MS: i64 = 86_400_000;
/// Decisions of one rule that are shown.
const EXAMPLES: usize = 20;

/// One rule of the table.
struct Line {
    name: String,
    fired: String,
    warned: u64,
    asked: u64,
    blocked: u64,
    overridden: u64,
    denied: u64,
    wrong: u64,
    spark: String,
    last: Option<When>,
}

#[derive(Template)]
#[template(path = "rules.html")]
struct Page {
    frame: Frame,
    lines: Vec<Line>,
    silent: Vec<&'static str>,
    plot: String,
    share: Option<u64>,
}

#[derive(Template)]
#[template(path = "rule.html")]
struct One {
    frame: Frame,
    line: Line,
    rows: Vec<Row>,
    plot: String,
    share: Option<u64>,
}

fn tally(visit: &Visit) -> Result<Arc<Tally>, Problem> {
    let store = visit.store()?;
    let machine = visit.asked("machine").unwrap_or_default();
    // A project that had no record a moment ago has another store now.
    let version = visit.open()?.version;
    let name = format!("{} {machine} {version}", visit.project());
    Ok(visit.server.entrance.tallies.of(&name, &store, PATIENCE)?)
}

/// How much of the record is in it, in percent, while it is not all of it.
fn share(tally: &Tally) -> Option<u64> {
    (tally.through < tally.head).then(|| tally.through * 100 / tally.head.max(1))
}

/// The last days, the oldest first.
fn days() -> Vec<String> {
    let today = now();
    (0..DAYS).rev().map(|back| words::day(Timestamp(today.0 - back * DAY_MS))).collect()
}

fn line(name: &str, rule: &Rule, days: &[String]) -> Line {
    let counts: Vec<u64> = days.iter().map(|day| rule.days.get(day).copied().unwrap_or(0)).collect();
    let [_, warned, asked, blocked] = rule.counts;
    Line {
        name: name.to_owned(),
        fired: words::number(rule.counts.iter().sum()),
        warned,
        asked,
        blocked,
        overridden: rule.overridden,
        denied: rule.denied,
        wrong: rule.wrong,
        spark: plot::spark(&counts),
        last: rule.last.map(When),
    }
}

pub(super) fn list(visit: &Visit) -> Result<Shown, Problem> {
    let tally = tally(visit)?;
    let days = days();
    let mut rules: Vec<(&String, &Rule)> = tally.rules.iter().collect();
    rules.sort_by_key(|(name, rule)| (std::cmp::Reverse(rule.counts.iter().sum::<u64>()), (*name).clone()));
    let bars: Vec<Bar> = days
        .iter()
        .map(|day| Bar { label: day.clone(), parts: tally.days.get(day).copied().unwrap_or_default() })
        .collect();
    shown(&Page {
        frame: visit.frame("Rules", "/rules"),
        lines: rules.iter().map(|(name, rule)| line(name, rule, &days)).collect(),
        silent: silent(visit, &tally),
        plot: plot::bars(&bars, "Decisions a day over the last 30 days"),
        share: share(&tally),
    })
}

/// The rules of the active packs that have never fired.
fn silent(visit: &Visit, tally: &Tally) -> Vec<&'static str> {
    let Ok(open) = visit.open() else { return Vec::new() };
    let mut packs: Vec<&'static Pack> = Vec::new();
    let mut waiting: Vec<&str> = open.runtime.policy().base_packs();
    while let Some(pack) = waiting.pop().and_then(Pack::named) {
        if !packs.iter().any(|known| known.name == pack.name) {
            packs.push(pack);
            waiting.extend(pack.extends);
        }
    }
    let rules = packs.iter().flat_map(|pack| pack.rules()).map(|rule| rule.id);
    let mut silent: Vec<&'static str> = rules.filter(|rule| !tally.rules.contains_key(*rule)).collect();
    silent.sort_unstable();
    silent.dedup();
    silent
}

pub(super) fn one(visit: &Visit) -> Result<Shown, Problem> {
    let missing = || Problem::new(StatusCode::NOT_FOUND, "not_found", "no rule is named");
    let name = visit.asked("rule").ok_or_else(missing)?;
    let tally = tally(visit)?;
    let days = days();
    let none = Rule::default();
    let rule = tally.rules.get(name).unwrap_or(&none);
    let found = feed::newest(&*visit.store()?, &Sought::of_rule(name), u64::MAX, EXAMPLES)?;
    let bars: Vec<Bar> = days
        .iter()
        .map(|day| Bar { label: day.clone(), parts: [0, 0, 0, rule.days.get(day).copied().unwrap_or(0)] })
        .collect();
    shown(&One {
        frame: visit.frame(&format!("Rule {}", words::clipped(name, 60)), "/rules"),
        line: line(name, rule, &days),
        rows: found.rows.iter().map(Row::of).collect(),
        plot: plot::bars(&bars, "How often it fired, by day"),
        share: share(&tally),
    })
}

/// A person marks a decision as wrong. On this machine that adds a policy test, as `lictor wrong` does.
pub(super) fn wrong(visit: &Visit) -> Result<Shown, Problem> {
    let open = visit.open()?;
    let record = explain::record(&*open.store, visit.part("seq"))?;
    let told: Evaluated<'_> = serde_json::from_str(&record.body)
        .map_err(|_| Problem::bad("only a decision can be wrong, and this record is none"))?;
    let was = told.evaluation.decision;
    let said = |name: &str| visit.form.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
    let should = said("should").and_then(words::decision);
    let should = should.unwrap_or(if was.allows() { Decision::Block } else { Decision::Pass });
    if should == was {
        return Err(Problem::bad(format!("the decision already is `{was}`; say what it should have been")));
    }
    let reason = said("reason").map(|text| words::clipped(text, 2_000));
    let on_disk = visit.server.tenants.local.is_some() && visit.project() != crate::local::DEMO;
    match beside("lictor").filter(|_| on_disk) {
        Some(program) => {
            let (seq, reason) = (record.seq.to_string(), reason.map(|reason| format!("--reason={reason}")));
            let args = ["wrong", &seq, "--should", words::word(should)];
            run(&program, &open.runtime.project().root, args.into_iter().chain(reason.as_deref()))?;
        }
        None => {
            let body = json!({"id": record.seq, "was": was, "should": should, "reason": reason,
                              "by": visit.caller.owner});
            let (kind, session) = ("decision.wrong".to_owned(), record.session.clone());
            let draft = Draft { at: now(), session, kind, body: body.to_string() };
            Arc::clone(&open.store).update(Durability::Power, |tx| tx.append(draft))?;
        }
    }
    visit.server.tenants.changed();
    Ok(Shown::Go(format!("/decisions/{}{}", record.seq, visit.keep())))
}

/// Runs a command for people in a project; its error output is the problem.
pub(crate) fn run<'a>(
    program: &Path,
    root: &Path,
    args: impl IntoIterator<Item = &'a str>,
) -> Result<(), Problem> {
    let mut command = Command::new(program);
    command.args(args).arg("--cwd").arg(root).stdin(Stdio::null());
    let output = command.output().map_err(|error| {
        let text = format!("`{}` cannot be started: {error}", program.display());
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", text)
    })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Problem::new(StatusCode::CONFLICT, "refused", text))
}

/// A program that was installed with this one.
pub(crate) fn beside(name: &str) -> Option<std::path::PathBuf> {
    let own = std::env::current_exe().ok()?.with_file_name(name);
    own.is_file().then_some(own)
}
