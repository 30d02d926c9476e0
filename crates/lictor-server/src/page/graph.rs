//! The policy graph as a picture, with the path of one decision. Classes only: the style sheet has the colours.

use std::collections::HashMap;
use std::fmt::Write as _;

use lictor_core::graph::Outline;
use lictor_core::{NodeKind, Status, Trace, Value};

use super::plot::escaped;

const ROW: usize = 34;
const BOX: usize = 24;
const GAP: usize = 40;
const MARGIN: usize = 10;
/// Width of one character; close enough to keep text inside its box.
const CHARACTER: usize = 7;
const LONGEST: usize = 40;

struct Placed<'a> {
    at: &'a Outline,
    text: String,
    x: usize,
    y: usize,
    width: usize,
    children: Vec<Placed<'a>>,
}

/// Draws it: root on the left, one row a leaf.
pub(crate) fn draw(root: &Outline, trace: Option<&Trace>) -> String {
    let path = trace.map(visits);
    let mut widths = Vec::new();
    measure(root, 0, &mut widths);
    let mut row = 0;
    let placed = place(root, 0, &widths, &mut row);
    let width = MARGIN * 2 + widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    let height = MARGIN * 2 + row * ROW;
    let mut out = format!(
        "<svg class=\"graph\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"The policy graph\">"
    );
    edges(&placed, path.as_ref(), &mut out);
    boxes(&placed, path.as_ref(), &mut out);
    out.push_str("</svg>");
    out
}

/// What one decision did at each node, by the node's path: a class, and a word.
fn visits(trace: &Trace) -> HashMap<String, (&'static str, String)> {
    let visits = trace.iter().map(|entry| {
        let visit = match (entry.value, entry.status) {
            (Some(value), Status::Active) => (class(value), value.to_string()),
            (Some(value), _) => ("n-quiet", format!("{value}, does not count")),
            (None, _) => ("n-quiet", "not asked".to_owned()),
        };
        (entry.path.into_owned(), visit)
    });
    visits.collect()
}

fn class(value: Value) -> &'static str {
    match value {
        Value::Pass => "n-pass",
        Value::Warn => "n-warn",
        Value::Ask => "n-ask",
        _ => "n-block",
    }
}

fn label(node: &Outline) -> String {
    let word = match node.kind {
        NodeKind::Guard | NodeKind::Observer => "",
        combinator => combinator.as_str(),
    };
    // The graph names combinators after what they are when nobody else does.
    let name = if &*node.name == word { "" } else { &node.name };
    let at_least = node.at_least.map(|least| format!("{least} of {}", node.children.len()));
    let parts = [word, at_least.as_deref().unwrap_or_default(), name];
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    super::words::clipped(&text, LONGEST)
}

fn measure(node: &Outline, depth: usize, widths: &mut Vec<usize>) {
    let wanted = label(node).chars().count() * CHARACTER + 18;
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
        (Some(first), Some(last)) => usize::midpoint(first.y, last.y),
        _ => {
            *row += 1;
            MARGIN + (*row - 1) * ROW + ROW / 2
        }
    };
    let x = MARGIN + widths.iter().take(depth).map(|width| width + GAP).sum::<usize>();
    let text = label(node);
    let width = text.chars().count() * CHARACTER + 18;
    Placed { at: node, text, x, y, width, children }
}

type Visits = HashMap<String, (&'static str, String)>;

fn edges(node: &Placed<'_>, path: Option<&Visits>, out: &mut String) {
    for child in &node.children {
        let (x1, x2) = (node.x + node.width, child.x);
        let middle = usize::midpoint(x1, x2);
        let quiet =
            path.is_some_and(|path| path.get(&*child.at.path).is_none_or(|visit| visit.0 == "n-quiet"));
        let class = if quiet { "edge quiet" } else { "edge" };
        let _ = write!(
            out,
            "<path class=\"{class}\" d=\"M{x1} {} C{middle} {} {middle} {} {x2} {}\"/>",
            node.y, node.y, child.y, child.y
        );
        edges(child, path, out);
    }
}

fn boxes(node: &Placed<'_>, path: Option<&Visits>, out: &mut String) {
    let visit =
        path.map(|path| path.get(&*node.at.path).cloned().unwrap_or(("n-quiet", "not asked".to_owned())));
    let (class, said) = visit.unwrap_or(("n-plain", node.at.layer.to_string()));
    let radius = if node.at.children.is_empty() { 4 } else { 12 };
    let top = node.y.saturating_sub(BOX / 2);
    let _ = write!(
        out,
        "<g class=\"node {class}\"><title>{}</title><rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{BOX}\" \
         rx=\"{radius}\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
        escaped(&said),
        node.x,
        node.width,
        node.x + 9,
        node.y + 4,
        escaped(&node.text)
    );
    for child in &node.children {
        boxes(child, path, out);
    }
}
