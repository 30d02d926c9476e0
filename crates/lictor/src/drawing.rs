//! Display data for a policy graph and the trace of one decision through it, shared by the command and the page.

pub mod svg;

use std::collections::HashMap;

use lictor_core::graph::Outline;
use lictor_core::{Branch, Evaluation, NodeKind, Status, Trace, TraceEntry, Value};

/// The trace of one decision, by node path.
#[derive(Debug, Clone)]
pub struct Path {
    visited: HashMap<String, Visit>,
}

/// How one decision treated a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// It was asked and this counts.
    Counts(Value),
    /// It was asked and does not count.
    Superseded(Value),
    /// It was not asked.
    Skipped,
}

impl Path {
    /// The path of that trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let visited = trace.iter().map(|entry| {
            let visit = match (entry.value, entry.status) {
                (Some(value), Status::Active) => Visit::Counts(value),
                (Some(value), _) => Visit::Superseded(value),
                (None, _) => Visit::Skipped,
            };
            (entry.path.into_owned(), visit)
        });
        visited.collect()
    }

    /// How the decision treated a node.
    #[must_use]
    pub fn at(&self, node: &Outline) -> Visit {
        self.visited.get(&*node.path).copied().unwrap_or(Visit::Skipped)
    }
}

impl FromIterator<(String, Visit)> for Path {
    fn from_iter<T: IntoIterator<Item = (String, Visit)>>(visited: T) -> Self {
        Self { visited: visited.into_iter().collect() }
    }
}

/// The name of a combinator's kind, and a node's own name if it has one.
#[must_use]
pub fn title(node: &Outline) -> (&'static str, String) {
    let word = match node.kind {
        NodeKind::Guard | NodeKind::Observer => "",
        combinator => combinator.as_str(),
    };
    // Unnamed combinators have their kind as name.
    let name = if &*node.name == word { "" } else { &*node.name };
    let name = match node.at_least {
        Some(at_least) => format!("{at_least} of {} {name}", node.children.len()).trim_end().to_owned(),
        None => name.to_owned(),
    };
    (word, name)
}

/// The same as one text.
#[must_use]
pub fn label(node: &Outline) -> String {
    let (word, name) = title(node);
    [word, &name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// One node of the tree that explains a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// How far below the root.
    pub depth: usize,
    /// The guard, or the combinator and its name.
    pub name: String,
    /// Its value; `None` when it was skipped.
    pub value: Option<Value>,
    /// The branch taken.
    pub branch: Option<Branch>,
    /// It objected, and that does not count.
    pub superseded: bool,
}

/// The explanation of a decision: parents before children. Traces are recorded as nodes finish; a tree is
/// displayed from its root.
#[must_use]
pub fn steps(evaluation: &Evaluation) -> Vec<Step> {
    let mut entries: Vec<TraceEntry<'_>> = evaluation.trace.iter().collect();
    entries.sort_by_cached_key(|entry| places(&entry.path));
    entries.iter().map(|entry| step(entry, evaluation)).collect()
}

fn step(entry: &TraceEntry<'_>, evaluation: &Evaluation) -> Step {
    let name = match (entry.kind, &*entry.name) {
        (NodeKind::Guard, name) => name.to_owned(),
        // Unnamed combinators have their kind as name.
        (kind, name) if name.is_empty() || name == kind.as_str() => kind.as_str().to_owned(),
        (kind, name) => format!("{} {name}", kind.as_str()),
    };
    let superseded = evaluation.verdicts.iter().any(|given| {
        given.path() == entry.path
            && given.status == Status::Superseded
            && given.verdict.value() > Value::Pass
    });
    Step { depth: places(&entry.path).len(), name, value: entry.value, branch: entry.branch, superseded }
}

/// The steps of a node's path, comparable so that siblings keep their order.
fn places(path: &str) -> Vec<(String, usize)> {
    path.split('/')
        .filter(|step| !step.is_empty())
        .map(|step| match step.split_once('[') {
            Some((word, index)) => (word.to_owned(), index.trim_end_matches(']').parse().unwrap_or(0)),
            // `primary` before `fallback`, `then` before `otherwise`.
            None => (String::new(), usize::from(matches!(step, "fallback" | "otherwise"))),
        })
        .collect()
}

/// Text that stays text in markup.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
