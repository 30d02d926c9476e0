//! Workflow commands that GitHub shows as annotations.

use std::fmt::Write as _;

use crate::gate::{Blocker, GateOutcome};

/// The gate's outcome, as annotations.
#[must_use]
pub fn gate(event: &str, outcome: &GateOutcome) -> String {
    let mut out = String::new();
    match outcome {
        GateOutcome::Ok(seen) => {
            for note in &seen.notes {
                _ = writeln!(out, "::notice title={}::{}", property(&format!("lictor {event}")), data(note));
            }
        }
        GateOutcome::Blocked(blocked, seen) => {
            blocked.findings.iter().for_each(|blocker| finding(&mut out, blocker));
            for reason in &blocked.reasons {
                _ = writeln!(out, "::error title={}::{}", property(&format!("lictor {event}")), data(reason));
            }
            for note in &seen.notes {
                _ = writeln!(out, "::notice title={}::{}", property(&format!("lictor {event}")), data(note));
            }
        }
        GateOutcome::Error { reason } => {
            _ = writeln!(out, "::error title={}::{}", property(&format!("lictor {event}")), data(reason));
        }
    }
    out
}

fn finding(out: &mut String, blocker: &Blocker) {
    let finding = &blocker.finding;
    let mut place = String::new();
    if let Some(first) = blocker.evidence.first() {
        _ = write!(place, "file={},", property(&first.file));
        if let Some(line) = first.line.filter(|line| *line > 0) {
            _ = write!(place, "line={line},");
        }
        if let Some(column) = first.column.filter(|column| *column > 0) {
            _ = write!(place, "col={column},");
        }
    }
    let title = format!("{} {}", finding.level, finding.title);
    let mut text = if finding.agent.is_empty() { String::new() } else { format!("{}: ", finding.agent) };
    text.push_str(if finding.rationale.is_empty() { &finding.title } else { &finding.rationale });
    _ = writeln!(out, "::error {place}title={}::{}", property(&title), data(&text));
}

/// Text after `::`. Characters that would end the command are escaped.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which must not end early either.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
