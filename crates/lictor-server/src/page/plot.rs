//! Plots as SVG with attributes and classes only: pages contain no inline styles.

use std::fmt::Write as _;

use lictor::drawing::escaped;

/// One bar: how many of each decision.
pub(crate) struct Bar {
    pub(crate) label: String,
    /// Pass, warn, ask, block.
    pub(crate) parts: [u64; 4],
}

const CLASSES: [&str; 4] = ["f-pass", "f-warn", "f-ask", "f-block"];

/// Stacked bars, the oldest on the left, at full width. Days are text below, so that they are readable at every
/// width.
pub(crate) fn bars(bars: &[Bar], what: &str) -> String {
    let (width, height) = (640_u64, 120_u64);
    let most = bars.iter().map(|bar| bar.parts.iter().sum::<u64>()).max().unwrap_or(0).max(1);
    let count = u64::try_from(bars.len()).unwrap_or(1).max(1);
    let step = width / count;
    let mut out = format!(
        "<svg class=\"plot\" viewBox=\"0 0 {width} {}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">",
        height + 1,
        escaped(what)
    );
    for (place, bar) in (0_u64..).zip(bars) {
        let x = place * step + step / 8;
        let wide = (step * 3 / 4).clamp(2, 40);
        let mut top = height;
        let total: u64 = bar.parts.iter().sum();
        let _ = write!(out, "<g><title>{}: {total}</title>", escaped(&bar.label));
        for (part, class) in bar.parts.iter().zip(CLASSES) {
            let tall = (part * (height - 4)).div_ceil(most);
            top = top.saturating_sub(tall);
            if *part > 0 {
                let _ = write!(
                    out,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{top}\" width=\"{wide}\" height=\"{tall}\"/>"
                );
            }
        }
        out.push_str("</g>");
    }
    let _ =
        write!(out, "<line class=\"axis\" x1=\"0\" y1=\"{height}\" x2=\"{width}\" y2=\"{height}\"/></svg>");
    let short = |bar: &Bar| escaped(bar.label.get(5..).unwrap_or(&bar.label));
    let ends = [bars.first(), bars.get(bars.len() / 2), bars.last()].into_iter().flatten();
    let days: Vec<String> = ends.map(|bar| format!("<span>{}</span>", short(bar))).collect();
    let _ = write!(out, "<p class=\"days\" aria-hidden=\"true\">{}</p>", days.join(""));
    out
}

/// A small line of counts over time.
pub(crate) fn spark(counts: &[u64]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let mut out =
        format!("<svg class=\"spark\" viewBox=\"0 0 {} 20\" aria-hidden=\"true\">", counts.len().max(1) * 5);
    for (place, count) in counts.iter().enumerate() {
        let tall = (count * 18).div_ceil(most);
        if tall > 0 {
            let _ = write!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"4\" height=\"{tall}\"/>",
                place * 5,
                20_u64.saturating_sub(tall)
            );
        }
    }
    out.push_str("</svg>");
    out
}

/// A mark on a strip.
pub(crate) struct Mark {
    /// Thousandths from the left.
    pub(crate) at: u64,
    pub(crate) lane: usize,
    pub(crate) class: &'static str,
    pub(crate) label: String,
}

/// Marks over time, one line a lane.
pub(crate) fn strip(marks: &[Mark], lanes: usize, what: &str) -> String {
    let height = lanes.max(1) * 18 + 8;
    let mut out = format!(
        "<svg class=\"strip\" viewBox=\"0 0 1016 {height}\" role=\"img\" aria-label=\"{}\">",
        escaped(what)
    );
    for lane in 0..lanes.max(1) {
        let y = lane * 18 + 13;
        let _ = write!(out, "<line class=\"axis\" x1=\"0\" y1=\"{y}\" x2=\"1016\" y2=\"{y}\"/>");
    }
    for mark in marks {
        let (x, y) = (mark.at + 8, mark.lane * 18 + 13);
        if mark.class == "f-policy" {
            let _ = write!(
                out,
                "<line class=\"f-policy\" x1=\"{x}\" y1=\"0\" x2=\"{x}\" y2=\"{height}\"><title>{}</title></line>",
                escaped(&mark.label)
            );
            continue;
        }
        let _ = write!(
            out,
            "<circle class=\"{}\" cx=\"{x}\" cy=\"{y}\" r=\"5\"><title>{}</title></circle>",
            mark.class,
            escaped(&mark.label)
        );
    }
    out.push_str("</svg>");
    out
}
