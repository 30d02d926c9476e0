//! Findings of reviewers, and the commit gate's outcome for each branch.

use std::process::Stdio;

use askama::Template;
use axum::http::StatusCode;
use lictor::ledger::repository::quiet;
use lictor::ledger::{Disposition, Finding, LedgerError, Level};

use super::words::{self, When};
use super::{Frame, Shown, Visit, shown};
use crate::http::Problem;
use crate::tenants::now;

/// The maximum number of plans that are read.
const PLANS: usize = 60;
/// Findings in one column.
const COLUMN: usize = 60;
/// Branches that are shown.
const BRANCHES: usize = 12;

/// One finding.
struct Card {
    level: &'static str,
    class: &'static str,
    title: String,
    agent: String,
    place: String,
    rationale: String,
    plan: String,
    id: String,
    age: String,
    at: When,
    ruling: Option<String>,
}

/// One column of the board.
struct Column {
    name: &'static str,
    about: &'static str,
    cards: Vec<Card>,
    more: usize,
}

/// The gate's outcome for a branch.
struct Branch {
    name: String,
    class: &'static str,
    word: &'static str,
    note: String,
}

#[derive(Template)]
#[template(path = "findings.html")]
struct Page {
    frame: Frame,
    columns: Vec<Column>,
    branches: Vec<Branch>,
    any: bool,
}

pub(super) fn board(visit: &Visit) -> Result<Shown, Problem> {
    let open = visit.open()?;
    let ledger = open.runtime.ledger();
    let reading = ledger.reading();
    let failed =
        |error: LedgerError| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "ledger", error.to_string());
    let mut found: Vec<(String, Finding)> = Vec::new();
    for recent in reading.retro(PLANS, Level::Low).map_err(failed)? {
        let verdict = reading.verdict(recent.plan.as_str()).map_err(failed)?;
        found.extend(
            verdict.open.into_iter().chain(verdict.closed).map(|finding| (recent.plan.to_string(), finding)),
        );
    }
    found.sort_by_key(|(_, finding)| (std::cmp::Reverse(finding.level), finding.created_at));
    let column = |name, about, fits: fn(&Disposition) -> bool| {
        let all: Vec<_> = found.iter().filter(|(_, finding)| fits(&finding.disposition)).collect();
        let cards = all.iter().take(COLUMN).map(|(plan, finding)| card(plan, finding)).collect();
        Column { name, about, cards, more: all.len().saturating_sub(COLUMN) }
    };
    let columns = vec![
        column("Open", "they count at the commit gate", Disposition::is_open),
        column("Waived", "a person accepted the risk", Disposition::is_waiver),
        column("Cleared", "repaired or withdrawn", |is| matches!(is, Disposition::Fixed(_))),
    ];
    let mut gates = Vec::new();
    for (name, tree) in branches(&open.runtime.project().root) {
        gates.push(match reading.judgement(&tree).map_err(failed)? {
            None => Branch { name, class: "", word: "not judged", note: String::new() },
            Some(said) if said.ok => {
                Branch { name, class: "pass", word: "passes", note: format!("at {}", said.event) }
            }
            Some(said) => {
                let why = format!("{} blocking findings; {}", said.blocking, said.reasons.join("; "));
                Branch { name, class: "block", word: "stopped", note: words::clipped(&why, 300) }
            }
        });
    }
    let frame = visit.frame("Findings", "/findings");
    shown(&Page { frame, any: !found.is_empty(), columns, branches: gates })
}

fn card(plan: &str, finding: &Finding) -> Card {
    let evidence = finding.evidence.first();
    let ruling = finding.disposition.ruling();
    Card {
        level: finding.level.as_str(),
        class: match finding.level {
            Level::Critical | Level::High => "block",
            Level::Medium => "warn",
            Level::Low => "",
        },
        title: words::clipped(&finding.title, 300),
        agent: finding.agent.clone(),
        place: evidence.map(|one| words::clipped(&one.to_string(), 200)).unwrap_or_default(),
        rationale: words::clipped(&finding.rationale, 1_000),
        plan: words::clipped(plan, 16),
        id: finding.id.to_string(),
        age: words::length(now().millis_since(finding.created_at)),
        at: When(finding.created_at),
        ruling: ruling.map(|ruling| {
            let why = words::clipped(&ruling.reason, 300);
            format!("{} by {} {why}", finding.disposition.as_str(), ruling.by)
        }),
    }
}

/// The branches of a repository with their trees, the newest first.
fn branches(root: &std::path::Path) -> Vec<(String, String)> {
    let count = format!("--count={BRANCHES}");
    let format = "--format=%(refname:short) %(tree)";
    let listed = quiet::<&str>(root, &[])
        .args(["for-each-ref", "--sort=-committerdate", &count, format, "refs/heads"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(listed) = listed else { return Vec::new() };
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let pairs = text.lines().filter_map(|line| line.rsplit_once(' '));
    pairs.map(|(name, tree)| (name.to_owned(), tree.to_owned())).collect()
}
