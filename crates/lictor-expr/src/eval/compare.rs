//! Equality and order.

use core::cmp::Ordering;

use super::{Evaluator, Found};
use crate::error::EvalError;
use crate::limits::{BYTES_PER_STEP, MAX_VALUE_DEPTH};
use crate::program::NodeId;
use crate::value::{List, Map, Value};

impl<'a> Evaluator<'a> {
    /// Whether two values are equal. Values of different types are an error, not false: a rule that
    /// compares an int with a string has no meaning that could be enforced. `null` is comparable
    /// with everything, ints and doubles compare by their numbers.
    pub(super) fn equal(&mut self, id: NodeId, left: &Value<'a>, right: &Value<'a>) -> Found<bool> {
        self.equal_within(id, left, right, MAX_VALUE_DEPTH)
    }

    fn equal_within(&mut self, id: NodeId, left: &Value<'a>, right: &Value<'a>, depth: usize) -> Found<bool> {
        Some(match (left, right) {
            (Value::Null, Value::Null) => true,
            (Value::Null, _) | (_, Value::Null) => false,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => {
                self.charge_bytes(id, a.as_str().len().min(b.as_str().len()))?;
                a == b
            }
            (Value::List(a), Value::List(b)) => self.equal_lists(id, a, b, depth)?,
            (Value::Map(a), Value::Map(b)) => self.equal_maps(id, a, b, depth)?,
            (a, b) => match numbers(a, b) {
                Some(ordering) => ordering == Some(Ordering::Equal),
                None => {
                    return self.fail(EvalError::NeverEqual {
                        span: self.span(id),
                        left: a.kind().article().to_owned(),
                        right: b.kind().article().to_owned(),
                    });
                }
            },
        })
    }

    fn equal_lists(&mut self, id: NodeId, left: &List<'a>, right: &List<'a>, depth: usize) -> Found<bool> {
        if left.len() != right.len() {
            return Some(false);
        }
        let pairs = (0..left.len()).map(|index| (left.get(index), right.get(index)));
        self.equal_pairs(id, pairs, depth)
    }

    fn equal_maps(&mut self, id: NodeId, left: &Map<'a>, right: &Map<'a>, depth: usize) -> Found<bool> {
        let (keys, others) = (left.keys(), right.keys());
        self.charge(id, keys.len().saturating_add(others.len()))?;
        if keys.len() != others.len() {
            return Some(false);
        }
        let pairs = keys.iter().map(|key| (left.get(key.as_str()), right.get(key.as_str())));
        self.equal_pairs(id, pairs, depth)
    }

    /// Like `&&` over the pairs: one that differs decides, even after an error.
    fn equal_pairs(
        &mut self,
        id: NodeId,
        pairs: impl Iterator<Item = (Option<Value<'a>>, Option<Value<'a>>)>,
        depth: usize,
    ) -> Found<bool> {
        let Some(depth) = depth.checked_sub(1) else {
            return self.fail(EvalError::CostLimit { span: self.span(id) });
        };
        let mut failed = None;
        for pair in pairs {
            self.charge(id, 1)?;
            let (Some(left), Some(right)) = pair else {
                return Some(false);
            };
            match self.equal_within(id, &left, &right, depth) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => self.put_aside(&mut failed)?,
            }
        }
        self.settled(true, failed)
    }

    /// Whether a value is an element of a list or a key of a map.
    pub(super) fn contained(
        &mut self,
        id: NodeId,
        right: NodeId,
        item: &Value<'a>,
        container: &Value<'a>,
    ) -> Found<bool> {
        match (item, container) {
            (Value::Text(key), Value::Map(map)) => {
                self.charge_bytes(id, key.as_str().len())?;
                Some(map.get(key.as_str()).is_some())
            }
            (key, Value::Map(_)) => self.wrong_type(id, "a key", "a string", key),
            (Value::Text(text), Value::List(list)) => self.listed_text(id, item, text.as_str(), list),
            (item, Value::List(list)) => self.listed(id, item, list, 0),
            (_, other) => self.wrong_type(right, "`in`", "a list or a map", other),
        }
    }

    /// Whether a list contains a text: the most common use of `in`.
    fn listed_text(&mut self, id: NodeId, item: &Value<'a>, text: &str, list: &List<'a>) -> Found<bool> {
        // A comparison with a longer text costs steps by its length.
        if text.len() >= BYTES_PER_STEP {
            return self.listed(id, item, list, 0);
        }
        let (looked, found) = list.find_text(text);
        self.charge(id, looked)?;
        if found || looked == list.len() {
            return Some(found);
        }
        // The list has other elements: the general path checks whether they are comparable.
        self.listed(id, item, list, looked)
    }

    /// Whether a list contains a value, starting at an index. Like `||`: an equal element decides, even after an
    /// error.
    fn listed(&mut self, id: NodeId, item: &Value<'a>, list: &List<'a>, from: usize) -> Found<bool> {
        let mut failed = None;
        for index in from..list.len() {
            self.charge(id, 1)?;
            let Some(element) = list.get(index) else { break };
            match self.equal(id, item, &element) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => self.put_aside(&mut failed)?,
            }
        }
        self.settled(false, failed)
    }

    /// How two values are ordered. NaN is an error: `risk > 0.8` must not pass because of it.
    pub(super) fn order(
        &mut self,
        id: NodeId,
        operator: &str,
        left: &Value<'a>,
        right: &Value<'a>,
    ) -> Found<Ordering> {
        match (left, right) {
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Text(a), Value::Text(b)) => {
                self.charge_bytes(id, a.as_str().len().min(b.as_str().len()))?;
                Some(a.cmp(b))
            }
            (a, b) => match numbers(a, b) {
                Some(ordering) => ordering.or_else(|| self.fail(EvalError::NoOrder { span: self.span(id) })),
                None => self.fail(EvalError::WrongType {
                    span: self.span(id),
                    operation: format!("`{operator}`"),
                    wanted: "two numbers or two strings".to_owned(),
                    found: format!("{} and {}", a.kind().article(), b.kind().article()),
                }),
            },
        }
    }
}

/// How two numbers are ordered: the outer `None` when one of the values is not a number, the inner one for NaN.
fn numbers(left: &Value<'_>, right: &Value<'_>) -> Option<Option<Ordering>> {
    Some(match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Double(b)) => int_with_double(*a, *b),
        (Value::Double(a), Value::Int(b)) => int_with_double(*b, *a).map(Ordering::reverse),
        _ => return None,
    })
}

/// Exact: the int is not rounded to a double first.
fn int_with_double(int: i64, double: f64) -> Option<Ordering> {
    /// 2⁶³, the first double above every int.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if double.is_nan() {
        return None;
    }
    if double >= LIMIT {
        return Some(Ordering::Less);
    }
    if double < -LIMIT {
        return Some(Ordering::Greater);
    }
    let whole = double.trunc();
    #[expect(clippy::cast_possible_truncation, reason = "within the range of i64, without fraction")]
    let by_whole = int.cmp(&(whole as i64));
    Some(by_whole.then(0.0_f64.partial_cmp(&(double - whole)).unwrap_or(Ordering::Equal)))
}
