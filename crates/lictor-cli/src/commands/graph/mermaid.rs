//! The graph as a Mermaid flowchart.

use lictor::drawing::{Path, Visit, label, title};
use lictor_core::graph::Outline;

/// Draws it.
pub(super) fn draw(root: &Outline, path: Option<&Path>) -> String {
    let mut drawing = Drawing { out: "flowchart TD\n".to_owned(), path, next: 0 };
    drawing.node(root);
    for (class, style) in [
        ("pass", "fill:#e6f4ea,stroke:#137333,color:#0b3d1e"),
        ("warn", "fill:#fef7e0,stroke:#b06000,color:#5c3200"),
        ("ask", "fill:#feefc3,stroke:#b06000,color:#5c3200"),
        ("error", "fill:#fce8e6,stroke:#a50e0e,color:#5f0909"),
        ("block", "fill:#fce8e6,stroke:#a50e0e,color:#5f0909"),
        ("skipped", "fill:#f8f9fa,stroke:#bdc1c6,color:#80868b,stroke-dasharray:4"),
    ] {
        if drawing.path.is_some() {
            drawing.out += &format!("  classDef {class} {style}\n");
        }
    }
    drawing.out
}

struct Drawing<'a> {
    out: String,
    path: Option<&'a Path>,
    next: usize,
}

impl Drawing<'_> {
    fn node(&mut self, at: &Outline) -> usize {
        let id = self.next;
        self.next += 1;
        let (word, _) = title(at);
        let text = escape(&label(at));
        let shape = match word {
            "" => format!("[\"{text}\"]"),
            "when" => format!("{{\"{text}\"}}"),
            _ => format!("(\"{text}\")"),
        };
        let class = match self.path.map(|path| path.at(at)) {
            None => String::new(),
            Some(Visit::Counts(value)) => format!(":::{value}"),
            Some(Visit::Superseded(_) | Visit::Skipped) => ":::skipped".to_owned(),
        };
        self.out += &format!("  n{id}{shape}{class}\n");
        for child in &at.children {
            let below = self.node(child);
            let arrow = child.role.map_or_else(|| "-->".to_owned(), |role| format!("-->|{role}|"));
            self.out += &format!("  n{id} {arrow} n{below}\n");
        }
        id
    }
}

/// Text escaped for Mermaid.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
