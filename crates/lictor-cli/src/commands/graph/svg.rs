//! The graph as a picture: root on the left, one row a leaf. The same graph gives the same bytes.

use lictor_core::graph::Outline;
use lictor_core::{Layer, Value};

use super::{Path, Visit, title};

const ROW: usize = 40;
const BOX: usize = 28;
const GAP: usize = 48;
const MARGIN: usize = 16;
/// Width of one character of the font; close enough to keep text inside its box.
const CHARACTER: usize = 7;
const LONGEST: usize = 44;

/// A node with its place.
struct Placed<'a> {
    at: &'a Outline,
    text: String,
    x: usize,
    y: usize,
    width: usize,
    children: Vec<Placed<'a>>,
}

/// Draws it.
pub(super) fn draw(root: &Outline, path: Option<&Path>) -> String {
    let mut widths = Vec::new();
    measure(root, 0, &mut widths);
    let mut row = 0;
    let placed = place(root, 0, &widths, &mut row);
    let width = MARGIN * 2 + widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    let height = MARGIN * 2 + row * ROW;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"12\">\n\
         <title>policy graph</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    edges(&placed, path, &mut out);
    boxes(&placed, path, &mut out);
    out.push_str("</svg>\n");
    out
}

fn label(node: &Outline) -> String {
    let (word, name) = title(node);
    let text = [word, &name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// The width of each column.
fn measure(node: &Outline, depth: usize, widths: &mut Vec<usize>) {
    let wanted = label(node).chars().count() * CHARACTER + 20;
    match widths.get_mut(depth) {
        Some(width) => *width = wanted.max(*width),
        None => widths.push(wanted),
    }
    for child in &node.children {
        measure(child, depth + 1, widths);
    }
}

fn place<'a>(node: &'a Outline, depth: usize, widths: &[usize], row: &mut usize) -> Placed<'a> {
    let children: Vec<Placed<'a>> =
        node.children.iter().map(|child| place(child, depth + 1, widths, row)).collect();
    let y = match (children.first(), children.last()) {
        (Some(first), Some(last)) => (first.y + last.y) / 2,
        _ => {
            *row += 1;
            MARGIN + (*row - 1) * ROW + ROW / 2
        }
    };
    let x = MARGIN + widths.iter().take(depth).map(|width| width + GAP).sum::<usize>();
    let text = label(node);
    let width = text.chars().count() * CHARACTER + 20;
    Placed { at: node, text, x, y, width, children }
}

fn edges(node: &Placed<'_>, path: Option<&Path>, out: &mut String) {
    for child in &node.children {
        let (x1, x2) = (node.x + node.width, child.x);
        let middle = usize::midpoint(x1, x2);
        let stroke = match path.map(|path| path.at(child.at)) {
            None => "stroke=\"#9aa0a6\"",
            Some(Visit::Skipped | Visit::Superseded(_)) => "stroke=\"#dadce0\" stroke-dasharray=\"4 3\"",
            Some(Visit::Counts(_)) => "stroke=\"#3c4043\" stroke-width=\"2\"",
        };
        *out += &format!(
            "<path d=\"M{x1} {} C{middle} {} {middle} {} {x2} {}\" fill=\"none\" {stroke}/>\n",
            node.y, node.y, child.y, child.y
        );
        if let Some(role) = child.at.role {
            let (x, y) = (x2.saturating_sub(4), child.y.saturating_sub(5));
            *out += &format!(
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\" font-size=\"10\" fill=\"#5f6368\">{role}</text>\n"
            );
        }
        edges(child, path, out);
    }
}

fn boxes(node: &Placed<'_>, path: Option<&Path>, out: &mut String) {
    let visit = path.map(|path| path.at(node.at));
    let (fill, stroke, text) = colours(node.at, visit);
    let radius = if node.at.children.is_empty() { 4 } else { 14 };
    let top = node.y.saturating_sub(BOX / 2);
    let said = match visit {
        Some(Visit::Counts(value)) => format!("<title>{value}</title>"),
        Some(Visit::Superseded(value)) => format!("<title>{value}, does not count</title>"),
        Some(Visit::Skipped) => "<title>not asked</title>".to_owned(),
        None => format!("<title>{}</title>", node.at.layer),
    };
    *out += &format!(
        "<g>{said}<rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{BOX}\" rx=\"{radius}\" fill=\"{fill}\" \
         stroke=\"{stroke}\"/><text x=\"{}\" y=\"{}\" fill=\"{text}\">{}</text></g>\n",
        node.x,
        node.width,
        node.x + 10,
        node.y + 4,
        escape(&node.text)
    );
    for child in &node.children {
        boxes(child, path, out);
    }
}

/// Fill, border and text: by what was decided, else by layer.
fn colours(node: &Outline, visit: Option<Visit>) -> (&'static str, &'static str, &'static str) {
    const QUIET: (&str, &str, &str) = ("#f8f9fa", "#dadce0", "#9aa0a6");
    match visit {
        Some(Visit::Counts(Value::Pass)) => ("#e6f4ea", "#137333", "#0b3d1e"),
        Some(Visit::Counts(Value::Warn | Value::Ask)) => ("#fef7e0", "#b06000", "#5c3200"),
        Some(Visit::Counts(Value::Error | Value::Block)) => ("#fce8e6", "#a50e0e", "#5f0909"),
        Some(Visit::Superseded(_) | Visit::Skipped) => QUIET,
        None if !node.children.is_empty() => ("#ffffff", "#5f6368", "#202124"),
        None => match node.layer {
            Layer::Boundary => ("#e8f0fe", "#1a73e8", "#174ea6"),
            Layer::Resource => ("#f3e8fd", "#9334e6", "#681da8"),
            Layer::Intent => ("#e6f4ea", "#188038", "#0d652d"),
            Layer::Observe => QUIET,
        },
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
