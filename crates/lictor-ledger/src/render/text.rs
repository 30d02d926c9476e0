//! Text for people.

use std::fmt::Write as _;

use crate::council::{Attestation, Reported};
use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::gate::{Blocked, GateOutcome, Seen};
use crate::ledger::Recent;
use crate::level::Level;
use crate::plain::Plain;
use crate::verdict::PlanVerdict;

/// A verdict and its evidence, worst finding first.
#[must_use]
pub fn explain(verdict: &PlanVerdict) -> String {
    let tally = verdict.tally();
    let mut out = format!("[verdict] plan={}  level={}  {}\n", verdict.plan, tally.level(), tally.summary());
    for finding in &verdict.open {
        describe(&mut out, finding, &finding.evidence);
    }
    out
}

fn describe(out: &mut String, finding: &Finding, evidence: &[Evidence]) {
    _ = write!(out, "  - [{}] {}", finding.level, Plain(&finding.title));
    if !finding.agent.is_empty() {
        _ = write!(out, "  (agent: {})", Plain(&finding.agent));
    }
    out.push('\n');
    if !finding.rationale.is_empty() {
        let mut lines = finding.rationale.trim_end().lines();
        _ = writeln!(out, "      why: {}", Plain(lines.next().unwrap_or_default()));
        for line in lines {
            _ = writeln!(out, "           {}", Plain(line));
        }
    }
    for place in evidence {
        _ = write!(out, "      evidence: {}", Plain(&place.to_string()));
        if !place.note.is_empty() {
            _ = write!(out, " — {}", Plain(&place.note));
        }
        out.push('\n');
    }
}

/// The plans that changed last.
#[must_use]
pub fn retro(recent: &[Recent], at_least: Level) -> String {
    if recent.is_empty() {
        return match at_least {
            Level::Low => "[retro] no verdicts yet.\n".to_owned(),
            level => format!("[retro] no verdicts of level {level} or above.\n"),
        };
    }
    let width = recent.iter().map(|entry| entry.plan.as_str().len()).max().unwrap_or(0);
    let mut out = format!("[retro] {} recent verdict(s):\n", recent.len());
    for entry in recent {
        let level = entry.tally.level();
        let mark = if level.blocks() { "BLOCK" } else { "ok" };
        _ = writeln!(out, "  - {:width$}  {level:8}  {mark:5}  {}", entry.plan, entry.tally.summary());
    }
    out
}

/// The gate's outcome.
#[must_use]
pub fn gate(event: &str, outcome: &GateOutcome) -> String {
    match outcome {
        GateOutcome::Ok(seen) => format!("[gate] {event} ok{}\n{}", trees(seen), remarks(seen)),
        GateOutcome::Error { reason } => format!("[gate] {event} error: {}\n", Plain(reason)),
        GateOutcome::Blocked(blocked, seen) => {
            let mut out = format!("[gate] {event} BLOCK{}  {}\n", trees(seen), headline(blocked));
            for blocker in &blocked.findings {
                describe(&mut out, &blocker.finding, &blocker.evidence);
                _ = writeln!(out, "      plan: {}  id: {}", blocker.plan, Plain(blocker.finding.id.as_str()));
            }
            if blocked.more {
                out.push_str("  … and more\n");
            }
            for reason in &blocked.reasons {
                _ = writeln!(out, "  - {}", Plain(reason));
            }
            out.push_str(&remarks(seen));
            if !blocked.next.is_empty() {
                out.push_str("next:\n");
                for command in &blocked.next {
                    _ = writeln!(out, "  {}", Plain(command));
                }
            }
            out
        }
    }
}

/// `1 finding(s): 1 high` and the other reasons, in a few words.
pub(super) fn headline(blocked: &Blocked) -> String {
    let mut parts = Vec::new();
    if !blocked.findings.is_empty() {
        let more = if blocked.more { "more than " } else { "" };
        parts.push(format!("{more}{}", blocked.tally().summary()));
    }
    if !blocked.reasons.is_empty() {
        parts.push(format!("{} reason(s)", blocked.reasons.len()));
    }
    parts.join("; ")
}

fn trees(seen: &Seen) -> String {
    let short: Vec<String> = seen.trees.iter().map(|tree| tree.chars().take(12).collect()).collect();
    if short.is_empty() { String::new() } else { format!("  tree={}", short.join(",")) }
}

fn remarks(seen: &Seen) -> String {
    let mut out = String::new();
    for attestation in &seen.attestations {
        out.push_str(&attested(attestation));
    }
    for note in &seen.notes {
        _ = writeln!(out, "  note: {}", Plain(note));
    }
    out
}

/// What a council did, a line per reviewer.
#[must_use]
pub fn attested(attestation: &Attestation) -> String {
    let mut out = String::new();
    for reported in &attestation.reviewers {
        out.push_str(&reviewer(&attestation.council, reported));
    }
    out
}

/// What one reviewer did.
#[must_use]
pub fn reviewer(council: &str, reported: &Reported) -> String {
    let state = reported.state.to_string();
    format!("  {}/{}: {}\n", Plain(council), Plain(&reported.name), Plain(&state))
}
