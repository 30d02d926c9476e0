//! A report for pull requests and wikis.

use lictor::past::Counts;

use super::text::share;
use super::{Report, span};
use crate::output;
use crate::time_format;

pub(super) fn page(report: &Report) -> String {
    let Report { title, summary, .. } = report;
    let mut text = format!("# Lictor: {}\n\n{}\n\n", cell(title), span(report));
    let Counts { calls, pass, warn, ask, block } = summary.total;
    text += &format!(
        "{} in {}.\n\n| decision | calls | share |\n|---|---:|---:|\n",
        output::count(calls, "call"),
        output::count(summary.sessions, "session")
    );
    for (word, count) in [("pass", pass), ("warn", warn), ("ask", ask), ("block", block)] {
        text += &format!("| {word} | {count} | {} |\n", share(count, calls));
    }
    text += "\n## Agents\n\n| agent | calls | asked about | stopped |\n|---|---:|---:|---:|\n";
    for (agent, counts) in &summary.agents {
        text += &format!("| {} | {} | {} | {} |\n", cell(agent), counts.calls, counts.ask, counts.block);
    }
    text += "\n## Rules\n\n| rule | times | strictest | for example |\n|---|---:|---|---|\n";
    for (rule, used) in summary.busiest() {
        let example =
            used.examples.first().map(|example| format!("`{}`", code(&example.action))).unwrap_or_default();
        text += &format!("| {} | {} | {} | {example} |\n", cell(rule), used.count, used.decision);
    }
    if !report.silent.is_empty() {
        text += &format!("\n{} rules of the packs never fired.\n", report.silent.len());
    }
    let waits = &summary.approvals;
    text += &format!(
        "\n## People\n\n{} questions, {} granted, {} denied",
        waits.requested, waits.granted, waits.denied
    );
    if let (Some(median), Some(longest)) = (waits.median_ms(), waits.longest_ms()) {
        text += &format!(
            "; median wait {}, longest {}",
            time_format::length(median),
            time_format::length(longest)
        );
    }
    text += &format!(". {} decisions marked as wrong.\n", summary.wrong);
    for (level, count) in &summary.findings {
        text += &format!("\n- {count} findings at {}\n", cell(level));
    }
    text
}

/// Text that cannot end a cell or start other markup.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

/// Text between backticks in a cell.
fn code(text: &str) -> String {
    let short: String = text.chars().take(100).collect();
    short.replace('`', "'").replace('|', "\\|")
}
