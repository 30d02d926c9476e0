//! A report as one HTML page: no script, no external resources, plots as SVG.

use std::fmt::Write as _;

use lictor::drawing::escaped;
use lictor::past::Counts;

use super::text::share;
use super::{Report, span};
use crate::output;
use crate::time_format;

/// How large the plot of days is.
const WIDE: u64 = 720;
const HIGH: u64 = 160;
/// The maximum width of a day's column, and the minimum width of its label.
const COLUMN: u64 = 60;
const NAME: u64 = 70;
/// So many rules are plotted.
const RULES: usize = 20;

const STYLE: &str = "\
:root{color-scheme:light dark;--pass:#3a9d5d;--warn:#e6c229;--ask:#3b7dd8;--block:#cf3030;--line:#8884}
body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin-bottom:0}h2{font-size:1.1rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}td,th{padding:.25rem .5rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}code{font-size:.85em;overflow-wrap:anywhere}
.pass{fill:var(--pass)}.warn{fill:var(--warn)}.ask{fill:var(--ask)}.block{fill:var(--block)}
svg{height:auto}.axis{stroke:var(--line)}svg text{fill:currentColor;font:11px system-ui,sans-serif}.quiet{opacity:.7}.days{overflow-x:auto}
.bar{width:100px}.key{width:.8em;height:.8em;margin:0 .3em 0 .8em}
@media(max-width:600px){.bar{width:48px}.rules tr{display:grid;grid-template-columns:1fr auto 56px}.rules td:last-child,.rules th:last-child{grid-column:1/-1}
.rules td{border:0;padding-bottom:0}.rules th{display:none}.rules tr{border-bottom:1px solid var(--line);padding-bottom:.25rem}}";

pub(super) fn page(report: &Report) -> String {
    let Report { title, summary, .. } = report;
    let mut out = String::new();
    let title = escaped(title);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Lictor: {title}</title>\
         <style>{STYLE}</style></head><body>\n<h1>Lictor: {title}</h1><p class=\"quiet\">{}</p>\n",
        escaped(&span(report))
    );
    let Counts { calls, pass, warn, ask, block } = summary.total;
    let _ = write!(
        out,
        "<p>{} in {}.</p>\n<table><tr><th>decision<th class=\"n\">calls<th class=\"n\">share</tr>\n",
        output::count(calls, "call"),
        output::count(summary.sessions, "session")
    );
    for (word, count) in [("pass", pass), ("warn", warn), ("ask", ask), ("block", block)] {
        let _ = writeln!(
            out,
            "<tr><td>{word}<td class=\"n\">{count}<td class=\"n\">{}</tr>",
            share(count, calls)
        );
    }
    out.push_str("</table>\n<h2>By day</h2>\n<p>");
    for class in ["pass", "warn", "ask", "block"] {
        let _ = write!(
            out,
            "<svg class=\"key\" viewBox=\"0 0 10 10\"><rect class=\"{class}\" width=\"10\" height=\"10\"/></svg>{class}"
        );
    }
    out.push_str("</p>\n");
    out.push_str(&days(report));
    out.push_str("<h2>Rules</h2>\n");
    out.push_str(&rules(report));
    out.push_str("<h2>Agents</h2>\n<table><tr><th>agent<th class=\"n\">calls<th class=\"n\">asked about<th class=\"n\">stopped</tr>\n");
    for (agent, counts) in &summary.agents {
        let _ = writeln!(
            out,
            "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}</tr>",
            escaped(agent),
            counts.calls,
            counts.ask,
            counts.block
        );
    }
    out.push_str("</table>\n<h2>People</h2>\n");
    let waits = &summary.approvals;
    let _ =
        write!(out, "<p>{} questions, {} granted, {} denied", waits.requested, waits.granted, waits.denied);
    if let (Some(median), Some(longest)) = (waits.median_ms(), waits.longest_ms()) {
        let _ = write!(
            out,
            "; median wait {}, longest {}",
            time_format::length(median),
            time_format::length(longest)
        );
    }
    let _ = writeln!(out, ". {} decisions marked as wrong.</p>", summary.wrong);
    for (level, count) in &summary.findings {
        let _ = writeln!(out, "<p>{count} findings at {}.</p>", escaped(level));
    }
    out.push_str("</body></html>\n");
    out
}

/// One column a day, the strictest at the bottom.
fn days(report: &Report) -> String {
    let days = &report.summary.days;
    let most = days.values().map(|counts| counts.calls).max().unwrap_or(0).max(1);
    // The plot is narrow for few days, so that labels stay readable on a small screen.
    let wanted = (days.len() as u64 * (COLUMN + 12)).clamp(NAME, WIDE);
    let step = wanted / (days.len() as u64).max(1);
    let mut out = format!(
        "<div class=\"days\"><svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"calls by day\">\n",
        wanted,
        HIGH + 20
    );
    let _ = writeln!(
        out,
        "<line class=\"axis\" x1=\"0\" y1=\"{HIGH}\" x2=\"{wanted}\" y2=\"{HIGH}\"/>\
         <line class=\"axis\" x1=\"0\" y1=\"0\" x2=\"{wanted}\" y2=\"0\"/>\
         <text x=\"{wanted}\" y=\"11\" text-anchor=\"end\">{}</text>",
        output::count(most, "call")
    );
    for (index, (day, counts)) in days.iter().enumerate() {
        let left = index as u64 * step;
        let mut bottom = HIGH;
        let parts =
            [("block", counts.block), ("ask", counts.ask), ("warn", counts.warn), ("pass", counts.pass)];
        for (class, count) in parts.into_iter().filter(|(_, count)| *count > 0) {
            let high = (count * HIGH / most).max(2).min(bottom);
            bottom -= high;
            let wide = step.saturating_sub(2).clamp(1, COLUMN);
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{left}\" y=\"{bottom}\" width=\"{wide}\" height=\"{high}\"><title>{}: {count} {class}</title></rect>",
                escaped(day)
            );
        }
        // As many labels as fit side by side.
        if (index as u64).is_multiple_of(NAME.div_ceil(step.max(1)).max(1)) {
            let _ = writeln!(out, "<text x=\"{left}\" y=\"{}\">{}</text>", HIGH + 14, escaped(day));
        }
    }
    out.push_str("</svg></div>\n");
    out
}

/// One bar a rule with an example.
fn rules(report: &Report) -> String {
    let busiest = report.summary.busiest();
    let most = busiest.first().map_or(1, |(_, used)| used.count.max(1));
    let mut out =
        "<table class=\"rules\"><tr><th>rule<th class=\"n\">times<th><th>for example</tr>\n".to_owned();
    for (rule, used) in busiest.iter().take(RULES) {
        let wide = (used.count * 100 / most).max(1);
        let example = used.examples.first().map(|example| escaped(&example.action)).unwrap_or_default();
        let _ = writeln!(
            out,
            "<tr><td>{}<td class=\"n\">{}<td><svg class=\"bar\" viewBox=\"0 0 100 10\"><rect class=\"{}\" width=\"{wide}\" height=\"10\"/></svg><td><code>{example}</code></tr>",
            escaped(rule),
            used.count,
            used.decision
        );
    }
    out.push_str("</table>\n");
    if busiest.len() > RULES {
        let _ = writeln!(out, "<p class=\"quiet\">… {} more</p>", busiest.len() - RULES);
    }
    if !report.silent.is_empty() {
        let _ =
            writeln!(out, "<p class=\"quiet\">{} rules of the packs never fired.</p>", report.silent.len());
    }
    out
}
