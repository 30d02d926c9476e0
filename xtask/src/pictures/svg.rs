//! A terminal's text as a picture.
//!
//! Not by `anstyle-svg`: it does not break long lines, and it leaves the width of text to the reader's font, so that columns
//! of a table do not stand below each other.

use std::fmt::Write as _;

/// Columns of the terminal; longer lines go on in the next row, under their own beginning.
const COLUMNS: usize = 108;
const CELL: f64 = 8.4;
const ROW: usize = 20;
const MARGIN: usize = 18;
const BAR: usize = 34;

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Look {
    bold: bool,
    dim: bool,
    colour: Option<&'static str>,
}

impl Look {
    /// The look after an escape sequence's numbers.
    fn after(self, codes: &str) -> Self {
        codes.split(';').fold(self, |look, code| match code {
            "1" => Self { bold: true, ..look },
            "2" => Self { dim: true, ..look },
            "31" | "91" => Self { colour: Some("#ff7b72"), ..look },
            "32" | "92" => Self { colour: Some("#7ee787"), ..look },
            "33" | "93" => Self { colour: Some("#f2cc60"), ..look },
            "34" | "94" | "36" | "96" => Self { colour: Some("#79c0ff"), ..look },
            "" | "0" => Self::default(),
            _ => look,
        })
    }

    fn attributes(self) -> String {
        let mut text =
            format!(" fill=\"{}\"", self.colour.unwrap_or(if self.dim { "#8b949e" } else { "#e6edf3" }));
        if self.bold {
            text.push_str(" font-weight=\"bold\"");
        }
        text
    }
}

/// Characters with their look, one list per row of the terminal.
fn rows(text: &str) -> Vec<Vec<(char, Look)>> {
    let mut rows = Vec::new();
    let mut look = Look::default();
    for line in text.lines() {
        let mut row = Vec::new();
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            if let Some((codes, after)) = rest.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')) {
                look = look.after(codes);
                rest = after;
            } else {
                row.push((c, look));
                rest = rest.strip_prefix(c).unwrap_or_default();
            }
        }
        rows.extend(wrapped(row));
    }
    rows
}

/// A line in rows that fit, broken at spaces where there are any.
fn wrapped(mut line: Vec<(char, Look)>) -> Vec<Vec<(char, Look)>> {
    let indent = line.iter().take_while(|(c, _)| *c == ' ').count().min(COLUMNS / 2);
    let mut rows = Vec::new();
    while line.len() > COLUMNS {
        let space = line.iter().take(COLUMNS).rposition(|(c, _)| *c == ' ').filter(|at| *at > indent);
        let rest = line.split_off(space.map_or(COLUMNS, |at| at + 1));
        rows.push(line);
        line = vec![(' ', Look::default()); indent];
        line.extend(rest);
    }
    rows.push(line);
    rows
}

/// The picture.
pub fn draw(title: &str, text: &str) -> String {
    let rows = rows(text.trim_end());
    let width = (COLUMNS as f64 * CELL).ceil() as usize + 2 * MARGIN;
    let height = BAR + rows.len() * ROW + 2 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#0d1117\"/>\n"
    );
    for (index, colour) in ["#ff5f57", "#febc2e", "#28c840"].iter().enumerate() {
        let _ = writeln!(out, "<circle cx=\"{}\" cy=\"18\" r=\"6\" fill=\"{colour}\"/>", 20 + index * 20);
    }
    let style = "font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,monospace\" font-size=\"14\" xml:space=\"preserve\"";
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"23\" fill=\"#8b949e\" text-anchor=\"middle\" {style}>$ {}</text>",
        width / 2,
        escaped(title)
    );
    let _ = writeln!(out, "<g {style}>");
    for (index, row) in rows.iter().enumerate() {
        let y = BAR + MARGIN + index * ROW + 4;
        let mut column = 0;
        for run in row.chunk_by(|a, b| a.1 == b.1) {
            let text: String = run.iter().map(|(c, _)| c).collect();
            if let (false, Some((_, look))) = (text.trim().is_empty(), run.first()) {
                let x = MARGIN as f64 + column as f64 * CELL;
                let length = run.len() as f64 * CELL;
                // The length keeps columns straight in whatever font there is.
                let _ = writeln!(
                    out,
                    "<text x=\"{x:.1}\" y=\"{y}\" textLength=\"{length:.1}\"{}>{}</text>",
                    look.attributes(),
                    escaped(&text)
                );
            }
            column += run.len();
        }
    }
    out + "</g>\n</svg>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
