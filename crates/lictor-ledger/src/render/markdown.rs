//! A summary for a pull request or a job page.

use std::fmt::Write as _;

use super::text::headline;
use crate::gate::GateOutcome;
use crate::plain::Plain;

/// The gate's outcome, as Markdown.
#[must_use]
pub fn gate(event: &str, outcome: &GateOutcome) -> String {
    let mut out = String::new();
    let seen = match outcome {
        GateOutcome::Ok(seen) => {
            _ = writeln!(out, "## Lictor: {event} passed\n");
            Some(seen)
        }
        GateOutcome::Error { reason } => {
            _ = writeln!(out, "## Lictor: {event} failed\n\n{}\n", cell(reason));
            None
        }
        GateOutcome::Blocked(blocked, seen) => {
            _ = writeln!(out, "## Lictor: {event} blocked\n\n{}\n", headline(blocked));
            if !blocked.findings.is_empty() {
                out.push_str("| level | finding | reviewer | where | why |\n|---|---|---|---|---|\n");
            }
            for blocker in &blocked.findings {
                let finding = &blocker.finding;
                let places: Vec<String> =
                    blocker.evidence.iter().map(|place| cell(&place.to_string())).collect();
                _ = writeln!(
                    out,
                    "| {} | {} | {} | {} | {} |",
                    finding.level,
                    cell(&finding.title),
                    cell(&finding.agent),
                    places.join("<br>"),
                    cell(finding.rationale.lines().next().unwrap_or_default()),
                );
            }
            for reason in &blocked.reasons {
                _ = writeln!(out, "- {}", cell(reason));
            }
            if !blocked.next.is_empty() {
                out.push_str("\nNext:\n\n```sh\n");
                for command in &blocked.next {
                    _ = writeln!(out, "{}", Plain(command));
                }
                out.push_str("```\n");
            }
            Some(seen)
        }
    };
    let Some(seen) = seen else { return out };
    if !seen.attestations.is_empty() {
        out.push_str("\n| council | reviewer | state |\n|---|---|---|\n");
    }
    for attestation in &seen.attestations {
        for reported in &attestation.reviewers {
            let state = reported.state.to_string();
            _ = writeln!(
                out,
                "| {} | {} | {} |",
                cell(&attestation.council),
                cell(&reported.name),
                cell(&state)
            );
        }
    }
    for note in &seen.notes {
        _ = writeln!(out, "\n> {}", cell(note));
    }
    out
}

/// Text that neither ends a table cell nor is parsed as markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in Plain(text).to_string().chars() {
        match character {
            '|' | '*' | '_' | '`' | '[' | ']' | '#' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            other => out.push(other),
        }
    }
    out
}
