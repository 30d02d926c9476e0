use super::{Advice, Feedback, Said};

/// The longest text of one block.
const MAX_BLOCK: usize = 4_000;

/// The text for the agent: one block for each provider, in the order given, joined by blank lines. Text from
/// files or tools cannot forge a tag.
#[must_use]
pub fn render(advice: &[Advice]) -> String {
    let blocks: Vec<String> = advice
        .iter()
        .filter_map(|advice| match &advice.said {
            Said::Feedback(feedback) => Some(block(&advice.provider, feedback)),
            Said::Nothing | Said::Fault(_) => None,
        })
        .collect();
    blocks.join("\n\n")
}

fn block(name: &str, feedback: &Feedback) -> String {
    let mut body = clean(&feedback.summary);
    if !feedback.observations.is_empty() {
        body.push('\n');
        for seen in &feedback.observations {
            body.push_str(&format!("\n• {}: {}", clean(&seen.category), clean(&seen.description)));
        }
    }
    if !feedback.suggestions.is_empty() {
        body.push('\n');
        for suggestion in &feedback.suggestions {
            body.push_str(&format!("\n→ {}", clean(suggestion)));
        }
    }
    if body.chars().count() > MAX_BLOCK {
        body = body.chars().take(MAX_BLOCK - 1).chain(['…']).collect();
    }
    format!("<feedback provider={}>\n{body}\n</feedback>", attribute(name))
}

/// Single quotes, or double ones when the name holds an apostrophe.
fn attribute(name: &str) -> String {
    let clean: String = clean(name).chars().filter(|c| *c != '\n').collect();
    if !clean.contains('\'') { format!("'{clean}'") } else { format!("\"{}\"", clean.replace('"', "&quot;")) }
}

fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
