//! Deserialises a stored program. The invariants of the evaluator are checked again: children come before
//! parents, depth and size are bounded, every index points at something.

use serde::Deserialize;
use thiserror::Error;

use super::{GlobPattern, Node, Program, RegexPattern, Spans};
use crate::history::HistoryOp;
use crate::limits::{MAX_DEPTH, MAX_NODES, MAX_SOURCE};

/// The fields of [`Program`], in the same order.
#[derive(Deserialize)]
pub(super) struct Stored {
    source: String,
    nodes: Vec<Node>,
    spans: Spans,
    roots: Vec<String>,
    history: Vec<HistoryOp>,
    regexes: Vec<RegexPattern>,
    globs: Vec<GlobPattern>,
}

#[derive(Debug, Error)]
#[error("the stored expression is damaged; compile it again")]
pub(super) struct Damaged;

impl TryFrom<Stored> for Program {
    type Error = Damaged;

    fn try_from(stored: Stored) -> Result<Self, Damaged> {
        let Stored { source, nodes, spans, roots, history, regexes, globs } = stored;
        let program = Self { source, nodes, spans, roots, history, regexes, globs };
        if program.is_sound() { Ok(program) } else { Err(Damaged) }
    }
}

impl Program {
    fn is_sound(&self) -> bool {
        let sizes = (1..=MAX_NODES).contains(&self.nodes.len())
            && self.spans.count() == Some(self.nodes.len())
            && self.source.len() <= MAX_SOURCE;
        sizes
            && self.nodes_are_sound()
            && self.globs.iter().all(|glob| GlobPattern::new(glob.source()).is_ok())
    }

    fn nodes_are_sound(&self) -> bool {
        // Height of the tree and number of free variables, per node.
        let mut seen: Vec<(usize, usize)> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut sound = match node {
                Node::Root(index) => *index < self.roots.len(),
                Node::Local(index) => *index < MAX_DEPTH,
                Node::Matches { regex, .. } => *regex < self.regexes.len(),
                Node::Glob { glob, .. } => *glob < self.globs.len(),
                Node::History(index) => *index < self.history.len(),
                _ => true,
            };
            let mut height = 0;
            let mut free = if let Node::Local(index) = node { *index + 1 } else { 0 };
            node.children(|child, bound| match seen.get(child.index()) {
                Some((below, variables)) => {
                    height = height.max(*below);
                    free = free.max(variables.saturating_sub(usize::from(bound)));
                }
                None => sound = false,
            });
            if !sound || height >= MAX_DEPTH {
                return false;
            }
            seen.push((height + 1, free));
        }
        seen.last().is_some_and(|(_, free)| *free == 0)
    }
}
