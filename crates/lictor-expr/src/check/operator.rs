//! Types of operators.

use super::{BinaryOp, Checked, Checker, article};
use crate::error::CompileError;
use crate::program::{Node, NodeId};
use crate::schema::Type;
use crate::span::Span;
use crate::syntax::{Expr, Kind};

impl Checker<'_> {
    pub(super) fn negate(&mut self, span: Span, operand: &Expr) -> Checked {
        let (id, of) = self.expr(operand);
        match of {
            Type::Int | Type::Double | Type::Dyn => self.push(span, Node::Negate(id), of),
            Type::Bool => {
                let error = CompileError::new(span, "`-` needs a number, but this is a bool");
                self.fail(error.help("to negate a condition, write `!`"))
            }
            other => {
                let message = format!("`-` needs a number, but this is {}", article(&other));
                self.fail(CompileError::new(operand.span, message))
            }
        }
    }

    pub(super) fn binary(&mut self, span: Span, op: BinaryOp, left: &Expr, right: &Expr) -> Checked {
        let (left_id, a) = self.expr(left);
        let (right_id, b) = self.expr(right);
        let result = match op {
            BinaryOp::Equal | BinaryOp::NotEqual => equality(op, (left, &a), (right, &b)),
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                order(op, &a, &b)
            }
            BinaryOp::In => membership(&a, &b),
            _ => arithmetic(op, &a, &b),
        };
        match result {
            Ok(of) => self.push(span, binary_node(op, left_id, right_id), of),
            Err((message, help)) => {
                let error = CompileError::new(span, message);
                self.fail(match help {
                    Some(help) => error.help(help),
                    None => error,
                })
            }
        }
    }
}

fn binary_node(op: BinaryOp, left: NodeId, right: NodeId) -> Node {
    Node::Binary { op, left, right }
}

/// The type of the result, or the problem and a suggestion.
type Outcome = Result<Type, (String, Option<String>)>;

fn equality(op: BinaryOp, (left, a): (&Expr, &Type), (right, b): (&Expr, &Type)) -> Outcome {
    if a.comparable(b) {
        return Ok(Type::Bool);
    }
    let message = format!("`{}` compares {} with {}", op.text(), article(a), article(b));
    let help = match (a, b) {
        (_, Type::Null) if matches!(left.kind, Kind::Member { .. }) => {
            Some(format!("to see whether it is there, write `has({left})`"))
        }
        (Type::Null, _) if matches!(right.kind, Kind::Member { .. }) => {
            Some(format!("to see whether it is there, write `has({right})`"))
        }
        (Type::String, number) | (number, Type::String) if number.is_numeric() => {
            Some("convert one of them with `int()`, `double()` or `string()`".to_owned())
        }
        (Type::List(_), Type::String) => Some(format!("to look for it, write `{right} in {left}`")),
        _ => None,
    };
    Err((message, help))
}

fn order(op: BinaryOp, a: &Type, b: &Type) -> Outcome {
    let ordered = |of: &Type| matches!(of, Type::Int | Type::Double | Type::String | Type::Bool | Type::Dyn);
    let together = a.comparable(b) && ordered(a) && ordered(b);
    if together {
        return Ok(Type::Bool);
    }
    Err((
        format!(
            "`{}` needs two numbers or two strings, but this is {} and {}",
            op.text(),
            article(a),
            article(b)
        ),
        None,
    ))
}

fn membership(a: &Type, b: &Type) -> Outcome {
    match b {
        Type::Dyn => Ok(Type::Bool),
        Type::List(item) if a.comparable(item) => Ok(Type::Bool),
        Type::Map(_) if a.fits(&Type::String) => Ok(Type::Bool),
        Type::List(item) => Err((format!("a list of {item} never contains {}", article(a)), None)),
        Type::Map(_) => Err((format!("a key is a string, but this is {}", article(a)), None)),
        Type::Record(_) => Err((
            "the fields of a record are known".to_owned(),
            Some("to see whether an optional field is there, write `has(….name)`".to_owned()),
        )),
        Type::String => Err((
            "`in` needs a list or a map, but this is a string".to_owned(),
            Some("to look for text in text, write `text.contains(\"…\")`".to_owned()),
        )),
        other => Err((format!("`in` needs a list or a map, but this is {}", article(other)), None)),
    }
}

fn arithmetic(op: BinaryOp, a: &Type, b: &Type) -> Outcome {
    let adds = op == BinaryOp::Add;
    let takes = |of: &Type| match of {
        Type::Int | Type::Dyn => true,
        Type::Double => op != BinaryOp::Remainder,
        Type::String | Type::List(_) => adds,
        _ => false,
    };
    match (a, b) {
        (Type::Dyn, other) | (other, Type::Dyn) if takes(other) => Ok(other.clone()),
        (Type::List(x), Type::List(y)) if adds => Ok(Type::list((**x).clone().join(y))),
        (a, b) if a == b && takes(a) => Ok(a.clone()),
        (a, b) => {
            let wanted = match op {
                BinaryOp::Add => "two ints, two doubles, two strings or two lists",
                BinaryOp::Remainder => "two ints",
                _ => "two ints or two doubles",
            };
            let help = match (a, b) {
                (Type::Double, Type::Double) => Some("convert both of them with `int()`".to_owned()),
                (a, b) if a.is_numeric() && b.is_numeric() => {
                    Some("convert one of them with `int()` or `double()`".to_owned())
                }
                (Type::String, other) | (other, Type::String) if adds && other.is_numeric() => {
                    Some("convert the number with `string()`".to_owned())
                }
                _ => None,
            };
            let message =
                format!("`{}` needs {wanted}, but this is {} and {}", op.text(), article(a), article(b));
            Err((message, help))
        }
    }
}
