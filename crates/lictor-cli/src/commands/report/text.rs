//! A report for terminals.

use lictor::past::{Counts, Summary};

use super::{Report, span};
use crate::output::{self, Style};
use crate::time_format;

/// So many rules are listed.
const RULES: usize = 12;
/// How wide the longest bar is.
const BAR: u64 = 30;

pub(super) fn page(report: &Report, style: Style) -> String {
    let Report { title, summary, .. } = report;
    let mut text = format!("{}  {}\n\n", style.bold(title), style.dim(&span(report)));
    let Counts { calls, pass, warn, ask, block } = summary.total;
    if calls == 0 {
        return text + "no calls in this time\n";
    }
    let sessions = output::count(summary.sessions, "session");
    text += &format!("{} in {sessions}", output::count(calls, "call"));
    if report.projects > 1 {
        text += &format!(" of {} projects", report.projects);
    }
    text += "\n";
    let words = [("pass", pass), ("warn", warn), ("ask", ask), ("block", block)];
    for (word, count) in words.into_iter().filter(|(_, count)| *count > 0) {
        text += &format!("  {word:<6} {count:>8}  {:>5}  {}\n", share(count, calls), bar(count, calls));
    }
    if summary.observed > 0 {
        text += &format!("  {} judged without being enforced\n", summary.observed);
    }
    text += &agents(summary, style);
    text += &rules(report, style);
    text += &people(summary, style);
    text
}

fn agents(summary: &Summary, style: Style) -> String {
    let mut text = format!("\n{}\n", style.bold("agents"));
    for (agent, counts) in &summary.agents {
        let stopped = counts.ask + counts.block;
        text += &format!(
            "  {agent:<14} {:>8}, {stopped} asked about or stopped\n",
            output::count(counts.calls, "call")
        );
    }
    text
}

fn rules(report: &Report, style: Style) -> String {
    let busiest = report.summary.busiest();
    let mut text = format!("\n{}\n", style.bold("rules"));
    if busiest.is_empty() {
        text += "  no rule fired\n";
    }
    for (rule, used) in busiest.iter().take(RULES) {
        text += &format!("  {:>5}  {:<5}  {rule}\n", used.count, style.decision(used.decision));
        for example in &used.examples {
            let id = if example.id == 0 { String::new() } else { format!("#{} ", example.id) };
            text += &style
                .dim(&format!("         {}\n", output::clipped(&format!("{id}{}", example.action), 70)));
        }
    }
    if busiest.len() > RULES {
        text += &format!("  … {} more; `--json` lists them\n", busiest.len() - RULES);
    }
    if !report.silent.is_empty() {
        text += &style.dim(&format!(
            "  {} of the packs never fired\n",
            output::count(report.silent.len() as u64, "rule")
        ));
    }
    text
}

fn people(summary: &Summary, style: Style) -> String {
    let waits = &summary.approvals;
    let mut text = String::new();
    if waits.requested > 0 {
        text += &format!(
            "\n{}\n  {} asked, {} granted, {} denied\n",
            style.bold("approvals"),
            waits.requested,
            waits.granted,
            waits.denied
        );
        if let (Some(median), Some(longest)) = (waits.median_ms(), waits.longest_ms()) {
            text += &format!(
                "  median wait {}, longest {}\n",
                time_format::length(median),
                time_format::length(longest)
            );
        }
    }
    if summary.wrong > 0 {
        text += &format!("\n{} marked as wrong (`lictor wrong`)\n", output::count(summary.wrong, "decision"));
    }
    if !summary.findings.is_empty() {
        let levels: Vec<String> =
            summary.findings.iter().map(|(level, count)| format!("{count} {level}")).collect();
        text += &format!("\n{}\n  {}\n", style.bold("findings"), levels.join(", "));
    }
    text
}

/// In percent, to one place.
pub(super) fn share(part: u64, whole: u64) -> String {
    let thousandths = (part * 1000 + whole / 2).checked_div(whole).unwrap_or_default();
    format!("{}.{}%", thousandths / 10, thousandths % 10)
}

fn bar(part: u64, whole: u64) -> String {
    let length = (part * BAR).checked_div(whole).unwrap_or_default().max(1);
    "█".repeat(usize::try_from(length).unwrap_or_default())
}
