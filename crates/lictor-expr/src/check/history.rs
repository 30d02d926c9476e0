//! The history operators.

use super::{Checked, Checker};
use crate::error::CompileError;
use crate::history::{HistoryOp, Pattern, window};
use crate::program::Node;
use crate::schema::Type;
use crate::span::Span;
use crate::syntax::{Expr, Kind, Name};

impl Checker<'_> {
    pub(super) fn history(&mut self, span: Span, operator: &Name, arguments: &[Expr]) -> Checked {
        match read(operator, arguments) {
            Ok(op) => {
                let of = if matches!(op, HistoryOp::Count { .. }) { Type::Int } else { Type::Bool };
                let known = self.history.iter().position(|other| *other == op);
                let index = known.unwrap_or(self.history.len());
                if known.is_none() {
                    self.history.push(op);
                }
                self.push(span, Node::History(index), of)
            }
            Err(error) => self.fail(error),
        }
    }
}

fn read(operator: &Name, arguments: &[Expr]) -> Result<HistoryOp, CompileError> {
    let pattern = Pattern::from_expr;
    match (operator.text.as_str(), arguments) {
        ("formerly", [p]) => Ok(HistoryOp::Formerly { pattern: pattern(p)?, within: None }),
        ("formerly", [p, within]) => {
            Ok(HistoryOp::Formerly { pattern: pattern(p)?, within: Some(window(within)?) })
        }
        ("previous", [p]) => Ok(HistoryOp::Previous { pattern: pattern(p)? }),
        ("since", [p, q]) => since(p, q),
        ("count", [p]) => Ok(HistoryOp::Count { pattern: pattern(p)?, within: None }),
        ("count", [p, within]) => {
            Ok(HistoryOp::Count { pattern: pattern(p)?, within: Some(window(within)?) })
        }
        (name, _) => {
            let takes = match name {
                "previous" => "one pattern",
                "since" => "two patterns",
                _ => "a pattern and, if you like, a window such as `\"1h\"`",
            };
            Err(CompileError::new(operator.span, format!("`{name}` takes {takes}")))
        }
    }
}

/// `not(P)` is allowed only here: elsewhere `!` means the same.
fn since(held: &Expr, start: &Expr) -> Result<HistoryOp, CompileError> {
    let (held, negated, span) = match &held.kind {
        Kind::Call { target: None, function, arguments } if function.text == "not" => {
            match arguments.as_slice() {
                [inner] => (Pattern::from_expr(inner)?, true, held.span),
                _ => return Err(CompileError::new(held.span, "`not` takes one pattern")),
            }
        }
        _ => (Pattern::from_expr(held)?, false, held.span),
    };
    if !negated && held.outcome.is_some() {
        return Err(CompileError::new(
            span,
            "what held all along cannot be asked with an outcome, which comes later",
        )
        .help("leave the outcome out, or ask that something was not: `since(not(\"write\"), …)`"));
    }
    Ok(HistoryOp::Since { held, negated, start: Pattern::from_expr(start)? })
}
