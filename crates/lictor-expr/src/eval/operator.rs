//! Arithmetic and relations.

use core::cmp::Ordering;

use super::{Evaluator, Found};
use crate::error::EvalError;
use crate::program::{BinaryOp, NodeId};
use crate::value::{List, Text, Value};

impl<'a> Evaluator<'a> {
    /// Whether a comparison holds; `None` when the operator is not a comparison.
    pub(super) fn relation(
        &mut self,
        id: NodeId,
        op: BinaryOp,
        left: NodeId,
        right: NodeId,
    ) -> Option<Found<bool>> {
        let accepted: &[Ordering] = match op {
            BinaryOp::Equal => return Some(self.are_equal(id, left, right)),
            BinaryOp::NotEqual => return Some(self.are_equal(id, left, right).map(core::ops::Not::not)),
            BinaryOp::In => return Some(self.is_in(id, left, right)),
            BinaryOp::Less => &[Ordering::Less],
            BinaryOp::LessEqual => &[Ordering::Less, Ordering::Equal],
            BinaryOp::Greater => &[Ordering::Greater],
            BinaryOp::GreaterEqual => &[Ordering::Greater, Ordering::Equal],
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder => return None,
        };
        Some(self.ordered(id, op, left, right).map(|ordering| accepted.contains(&ordering)))
    }

    fn are_equal(&mut self, id: NodeId, left: NodeId, right: NodeId) -> Found<bool> {
        self.with_both(left, right, |this, a, b| this.equal(id, a, b))
    }

    fn is_in(&mut self, id: NodeId, item: NodeId, container: NodeId) -> Found<bool> {
        self.with_both(item, container, |this, a, b| this.contained(id, container, a, b))
    }

    fn ordered(&mut self, id: NodeId, op: BinaryOp, left: NodeId, right: NodeId) -> Found<Ordering> {
        self.with_both(left, right, |this, a, b| this.order(id, op.text(), a, b))
    }

    #[inline]
    fn with_both<T>(
        &mut self,
        left: NodeId,
        right: NodeId,
        look: impl FnOnce(&mut Self, &Value<'a>, &Value<'a>) -> Found<T>,
    ) -> Found<T> {
        let Some(a) = &self.operand(left) else { return None };
        let Some(b) = &self.operand(right) else { return None };
        look(self, a, b)
    }

    pub(super) fn arithmetic(
        &mut self,
        id: NodeId,
        op: BinaryOp,
        a: &Value<'a>,
        b: &Value<'a>,
    ) -> Found<Value<'a>> {
        match (op, a, b) {
            (_, Value::Int(a), Value::Int(b)) => self.int_arithmetic(id, op, *a, *b),
            (BinaryOp::Add, Value::Double(a), Value::Double(b)) => Some(Value::Double(a + b)),
            (BinaryOp::Subtract, Value::Double(a), Value::Double(b)) => Some(Value::Double(a - b)),
            (BinaryOp::Multiply, Value::Double(a), Value::Double(b)) => Some(Value::Double(a * b)),
            (BinaryOp::Divide, Value::Double(a), Value::Double(b)) => Some(Value::Double(a / b)),
            (BinaryOp::Add, Value::Text(a), Value::Text(b)) => {
                let (a, b) = (a.as_str(), b.as_str());
                self.charge_bytes(id, a.len().saturating_add(b.len()))?;
                Some(Value::Text(Text::Shared([a, b].concat().into())))
            }
            (BinaryOp::Add, Value::List(a), Value::List(b)) => {
                self.charge(id, a.len().saturating_add(b.len()))?;
                let items = |list: List<'a>| (0..list.len()).filter_map(move |index| list.get(index));
                Some(items(a.clone()).chain(items(b.clone())).collect())
            }
            _ => self.fail(EvalError::WrongType {
                span: self.span(id),
                operation: format!("`{}`", op.text()),
                wanted: match op {
                    BinaryOp::Add => "two ints, two doubles, two strings or two lists".to_owned(),
                    BinaryOp::Remainder => "two ints".to_owned(),
                    _ => "two ints or two doubles".to_owned(),
                },
                found: format!("{} and {}", a.kind().article(), b.kind().article()),
            }),
        }
    }

    fn int_arithmetic(&mut self, id: NodeId, op: BinaryOp, a: i64, b: i64) -> Found<Value<'a>> {
        let span = self.span(id);
        let result = match op {
            BinaryOp::Subtract => a.checked_sub(b),
            BinaryOp::Multiply => a.checked_mul(b),
            BinaryOp::Divide | BinaryOp::Remainder if b == 0 => {
                return self.fail(EvalError::DivisionByZero { span });
            }
            BinaryOp::Divide => a.checked_div(b),
            BinaryOp::Remainder => a.checked_rem(b),
            _ => a.checked_add(b),
        };
        result.map(Value::Int).or_else(|| self.fail(EvalError::Overflow { span }))
    }

    pub(super) fn negate(&mut self, id: NodeId, operand: NodeId) -> Found<Value<'a>> {
        match self.value(operand)? {
            Value::Int(value) => value
                .checked_neg()
                .map(Value::Int)
                .or_else(|| self.fail(EvalError::Overflow { span: self.span(id) })),
            Value::Double(value) => Some(Value::Double(-value)),
            other => self.wrong_type(operand, "`-`", "a number", &other),
        }
    }
}
