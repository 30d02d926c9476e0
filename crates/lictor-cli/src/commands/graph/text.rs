//! The graph as an indented tree.

use lictor::drawing::{Path, Visit, label, title};
use lictor_core::graph::Outline;

use crate::output::Style;

/// Draws it.
pub(super) fn draw(root: &Outline, path: Option<&Path>, style: Style) -> String {
    let mut out = String::new();
    node(root, "", "", path, style, &mut out);
    out
}

fn node(at: &Outline, first: &str, rest: &str, path: Option<&Path>, style: Style, out: &mut String) {
    out.push_str(first);
    out.push_str(&line(at, path, style));
    out.push('\n');
    let last = at.children.len().saturating_sub(1);
    for (index, child) in at.children.iter().enumerate() {
        let (branch, below) = if index == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        node(child, &format!("{rest}{branch}"), &format!("{rest}{below}"), path, style, out);
    }
}

fn line(at: &Outline, path: Option<&Path>, style: Style) -> String {
    let (word, _) = title(at);
    let mut text = match at.role {
        Some(role) => format!("{role}: "),
        None => String::new(),
    };
    let shown = label(at);
    let visit = path.map(|path| path.at(at));
    text += &match visit {
        Some(Visit::Skipped) => style.dim(&shown),
        _ if word.is_empty() => style.bold(&shown),
        _ => shown,
    };
    if at.short_circuit {
        text += &style.dim("  stops at the first block");
    }
    if word.is_empty() && path.is_none() {
        text += &style.dim(&format!("  {}", at.layer));
    }
    match visit {
        Some(Visit::Counts(value)) => text += &format!("  {}", style.value(value)),
        Some(Visit::Superseded(value)) => text += &style.dim(&format!("  {value} (does not count)")),
        Some(Visit::Skipped) => text += &style.dim("  not asked"),
        None => {}
    }
    text
}
