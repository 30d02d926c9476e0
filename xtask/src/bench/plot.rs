//! Times of processes as a picture: for each subject a bar from p10 to p99, on a logarithmic scale.

use std::fmt::Write as _;

/// One row.
pub struct Row {
    pub name: String,
    /// p10, p50, p95, p99 in milliseconds.
    pub times: [f64; 4],
}

/// A letter of a name takes about so much.
const LETTER: f64 = 7.2;
const WIDTH: f64 = 620.0;
const ROW: f64 = 46.0;
const TOP: f64 = 62.0;

/// The picture.
pub fn draw(title: &str, rows: &[Row]) -> String {
    let all = || rows.iter().flat_map(|row| row.times);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let (from, to) = (least.log10().floor(), most.log10().ceil());
    let longest = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
    let left = 34.0 + LETTER * longest as f64;
    let x = |time: f64| left + WIDTH * (time.log10() - from) / (to - from).max(1.0);
    let height = TOP + ROW * rows.len() as f64 + 40.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{height}\" viewBox=\"0 0 {0} {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"20\" y=\"28\" font-size=\"16\" font-weight=\"bold\" fill=\"#1f2328\">{title}</text>\n",
        left + WIDTH + 40.0,
    );
    let bottom = TOP + ROW * rows.len() as f64;
    for decade in (from as i32)..=(to as i32) {
        let at = x(10f64.powi(decade));
        let _ = write!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#d0d7de\"/>\n\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#59636e\">{} ms</text>\n",
            bottom + 20.0,
            10f64.powi(decade),
        );
    }
    for (number, Row { name, times: [p10, p50, p95, p99] }) in rows.iter().enumerate() {
        let middle = TOP + ROW * (number as f64 + 0.5);
        let bar = |to: f64, colour: &str| {
            format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\" rx=\"2\" fill=\"{colour}\"/>\n",
                x(*p10),
                middle - 7.0,
                (x(to) - x(*p10)).max(1.0),
            )
        };
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#1f2328\">{name}</text>\n{}{}\
             <rect x=\"{:.1}\" y=\"{:.1}\" width=\"3\" height=\"22\" fill=\"#0a3069\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#59636e\" font-size=\"11\">p50 {p50:.2} · p95 {p95:.2} · p99 {p99:.2}</text>\n",
            left - 14.0,
            middle + 4.0,
            bar(*p99, "#b6e3ff"),
            bar(*p95, "#54aeff"),
            x(*p50) - 1.5,
            middle - 11.0,
            (x(*p10)).min(left + WIDTH - 170.0),
            middle + 22.0,
        );
    }
    svg.push_str("</svg>\n");
    svg
}
