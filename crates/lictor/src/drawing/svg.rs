//! The graph as SVG: root on the left, one row per leaf. The same graph gives the same bytes.

use std::fmt::Write as _;

use lictor_core::graph::Outline;
use lictor_core::{Layer, Value};

use super::{Path, Visit, escaped, label};

const ROW: usize = 40;
const BOX: usize = 28;
const GAP: usize = 48;
const MARGIN: usize = 16;
/// Width of one character of the font; close enough to keep text inside its box.
const CHARACTER: usize = 7;
const LONGEST: usize = 44;

/// Where a picture's colours come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Inline styles: the picture is self-contained.
    Alone,
    /// From the style sheet of the surrounding page: classes only.
    InPage,
}

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
#[must_use]
pub fn draw(root: &Outline, path: Option<&Path>, look: Look) -> String {
    let mut widths = Vec::new();
    measure(root, 0, &mut widths);
    let mut row = 0;
    let placed = place(root, 0, &widths, &mut row);
    let width = MARGIN * 2 + widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    let height = MARGIN * 2 + row * ROW;
    let mut out = look.head(width, height);
    edges(&placed, path, look, &mut out);
    boxes(&placed, path, look, &mut out);
    out.push_str("</svg>\n");
    out
}

fn shown(node: &Outline) -> String {
    let text = label(node);
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// The width of each column.
fn measure(node: &Outline, depth: usize, widths: &mut Vec<usize>) {
    let wanted = shown(node).chars().count() * CHARACTER + 20;
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
    let text = shown(node);
    let width = text.chars().count() * CHARACTER + 20;
    Placed { at: node, text, x, y, width, children }
}

fn edges(node: &Placed<'_>, path: Option<&Path>, look: Look, out: &mut String) {
    for child in &node.children {
        let (x1, x2) = (node.x + node.width, child.x);
        let middle = usize::midpoint(x1, x2);
        let drawn = look.edge(path.map(|path| path.at(child.at)));
        let _ = writeln!(
            out,
            "<path d=\"M{x1} {} C{middle} {} {middle} {} {x2} {}\" {drawn}/>",
            node.y, node.y, child.y, child.y
        );
        if let Some(role) = child.at.role {
            let (x, y) = (x2.saturating_sub(4), child.y.saturating_sub(5));
            let drawn = look.role();
            let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\" {drawn}>{role}</text>");
        }
        edges(child, path, look, out);
    }
}

fn boxes(node: &Placed<'_>, path: Option<&Path>, look: Look, out: &mut String) {
    let visit = path.map(|path| path.at(node.at));
    let Drawn { group, rect, text } = look.node(node.at, visit);
    let radius = if node.at.children.is_empty() { 4 } else { 14 };
    let top = node.y.saturating_sub(BOX / 2);
    let said = match visit {
        Some(Visit::Counts(value)) => value.to_string(),
        Some(Visit::Superseded(value)) => format!("{value}, does not count"),
        Some(Visit::Skipped) => "not asked".to_owned(),
        None => node.at.layer.to_string(),
    };
    let _ = writeln!(
        out,
        "<g{group}><title>{said}</title><rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{BOX}\" rx=\"{radius}\"{rect}/>\
         <text x=\"{}\" y=\"{}\"{text}>{}</text></g>",
        node.x,
        node.width,
        node.x + 10,
        node.y + 4,
        escaped(&node.text)
    );
    for child in &node.children {
        boxes(child, path, look, out);
    }
}

/// Attributes of a node's parts.
struct Drawn {
    group: String,
    rect: String,
    text: String,
}

impl Look {
    fn head(self, width: usize, height: usize) -> String {
        let size = format!("width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\"");
        match self {
            Self::Alone => format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" {size} \
                 font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"12\">\n\
                 <title>policy graph</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
            ),
            Self::InPage => {
                format!("<svg class=\"graph\" {size} role=\"img\" aria-label=\"The policy graph\">\n")
            }
        }
    }

    fn edge(self, visit: Option<Visit>) -> &'static str {
        match (self, visit) {
            (Self::Alone, None) => "fill=\"none\" stroke=\"#9aa0a6\"",
            (Self::Alone, Some(Visit::Counts(_))) => "fill=\"none\" stroke=\"#3c4043\" stroke-width=\"2\"",
            (Self::Alone, Some(_)) => "fill=\"none\" stroke=\"#dadce0\" stroke-dasharray=\"4 3\"",
            (Self::InPage, None | Some(Visit::Counts(_))) => "class=\"edge\"",
            (Self::InPage, Some(_)) => "class=\"edge quiet\"",
        }
    }

    fn role(self) -> &'static str {
        match self {
            Self::Alone => "font-size=\"10\" fill=\"#5f6368\"",
            Self::InPage => "class=\"role\"",
        }
    }

    fn node(self, node: &Outline, visit: Option<Visit>) -> Drawn {
        match self {
            Self::Alone => {
                let (fill, stroke, text) = colours(node, visit);
                Drawn {
                    group: String::new(),
                    rect: format!(" fill=\"{fill}\" stroke=\"{stroke}\""),
                    text: format!(" fill=\"{text}\""),
                }
            }
            Self::InPage => {
                let class = match visit {
                    Some(Visit::Counts(Value::Pass)) => "n-pass",
                    Some(Visit::Counts(Value::Warn)) => "n-warn",
                    Some(Visit::Counts(Value::Ask)) => "n-ask",
                    Some(Visit::Counts(Value::Error | Value::Block)) => "n-block",
                    Some(Visit::Superseded(_) | Visit::Skipped) => "n-quiet",
                    None => "n-plain",
                };
                let group = format!(" class=\"node {class}\"");
                Drawn { group, rect: String::new(), text: String::new() }
            }
        }
    }
}

/// Fill, border and text: by decision, else by layer.
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
