//! Explains the result of a condition by the values of its parts.

use crate::error::EvalError;
use crate::eval::{CONDITION, Env, Evaluator};
use crate::limits::EXPLAIN_BUDGET;
use crate::program::{Node, NodeId, Program};
use crate::span::Span;
use crate::syntax::Precedence;

/// One part of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The part of the source.
    pub span: Span,
    /// Its depth below the whole condition, which has depth 0.
    pub depth: usize,
    /// Its outcome.
    pub outcome: Outcome,
    /// Whether this part determined the result: on the path from the root, it is the first operand with the same
    /// outcome as its parent. The last decisive step is the reason for the result.
    pub decisive: bool,
    /// For a comparison: its operands, each with its span and its value, shortened.
    pub operands: Vec<(Span, String)>,
}

/// The outcome of a part of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was true.
    True,
    /// It was false.
    False,
    /// It had no value.
    Error(EvalError),
}

/// Evaluates each part of the condition by itself, outermost first.
pub(crate) fn explain(program: &Program, env: &dyn Env) -> Vec<Step> {
    let evaluator = Evaluator::new(program, env, EXPLAIN_BUDGET);
    let mut walk = Walk { program, evaluator, steps: Vec::new() };
    let root = program.root_node();
    let outcome = walk.outcome(root);
    walk.part(root, outcome, 0, true);
    walk.steps
}

struct Walk<'a> {
    program: &'a Program,
    evaluator: Evaluator<'a>,
    steps: Vec<Step>,
}

impl Walk<'_> {
    fn part(&mut self, id: NodeId, outcome: Outcome, depth: usize, decisive: bool) {
        let operands = self.operands(id);
        let span = self.program.span(id);
        let (parts, any): (&[NodeId], bool) = match self.program.node(id) {
            Ok(Node::And(parts) | Node::Or(parts)) => (parts, false),
            Ok(Node::Not(part)) => (core::slice::from_ref(part), true),
            _ => (&[], false),
        };
        self.steps.push(Step { span, depth, outcome: outcome.clone(), decisive, operands });
        let mut settled = !decisive;
        for part in parts {
            let found = self.outcome(*part);
            let settles = !settled && (any || found == outcome);
            settled |= settles;
            self.part(*part, found, depth + 1, settles);
        }
    }

    fn outcome(&mut self, id: NodeId) -> Outcome {
        match self.evaluator.bool(id, CONDITION) {
            Some(true) => Outcome::True,
            Some(false) => Outcome::False,
            None => Outcome::Error(self.evaluator.error()),
        }
    }

    /// The operands of a comparison or text test that are not literals.
    fn operands(&mut self, id: NodeId) -> Vec<(Span, String)> {
        let compared: Vec<NodeId> = match self.program.node(id) {
            Ok(Node::Binary { left, right, op }) if op.precedence() == Precedence::Relation => {
                vec![*left, *right]
            }
            Ok(Node::Compare { text, part, .. }) => vec![*text, *part],
            Ok(Node::Matches { text, .. } | Node::Glob { text, .. }) => vec![*text],
            _ => Vec::new(),
        };
        compared
            .into_iter()
            .filter(|id| !is_literal(self.program, *id))
            .filter_map(|id| {
                let value = self.evaluator.value(id)?;
                Some((self.program.span(id), value.to_string()))
            })
            .collect()
    }
}

fn is_literal(program: &Program, id: NodeId) -> bool {
    match program.node(id) {
        Ok(Node::Null | Node::Bool(_) | Node::Int(_) | Node::Double(_) | Node::Text(_)) => true,
        Ok(Node::List(items)) => items.iter().all(|item| is_literal(program, *item)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
