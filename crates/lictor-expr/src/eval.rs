//! Evaluation: the value of a program in an environment, within a budget of steps.
//!
//! Recurses along the tree, whose depth was bounded at load. Nothing here trusts the declared types:
//! each operation looks at the values it got.

use crate::error::EvalError;
use crate::history::{HistoryOp, HistoryValue};
use crate::limits::{BYTES_PER_STEP, STEP_BUDGET};
use crate::program::{BinaryOp, Macro, Node, NodeId, Program};
use crate::span::Span;
use crate::value::{List, Map, Text, Value};

mod call;
mod compare;
mod operator;

/// What an expression reads.
pub trait Env {
    /// The value of a root; none when it is absent, which is an error for the expression.
    fn root(&self, name: &str) -> Option<Value<'_>>;

    /// The answer to the history operator at this index of [`Program::history`]; none when there is
    /// no history, which is an error for the expression.
    fn history(&self, index: usize) -> Option<HistoryValue> {
        let _ = index;
        None
    }
}

/// The environment in which nothing can be read.
pub(crate) struct Nothing;

impl Env for Nothing {
    fn root(&self, _name: &str) -> Option<Value<'_>> {
        None
    }
}

/// Evaluates the whole program.
pub(crate) fn evaluate<'a>(program: &'a Program, env: &'a dyn Env) -> Result<Value<'a>, EvalError> {
    Evaluator::new(program, env, STEP_BUDGET).value(program.root_node()).map_err(|error| *error)
}

/// Evaluates a program that must come to a bool.
pub(crate) fn test(program: &Program, env: &dyn Env) -> Result<bool, EvalError> {
    Evaluator::new(program, env, STEP_BUDGET).bool(program.root_node(), CONDITION).map_err(|error| *error)
}

/// What a bool is needed for, when the whole expression must be one.
pub(crate) const CONDITION: &str = "a condition";

/// One evaluation.
pub(crate) struct Evaluator<'a> {
    program: &'a Program,
    env: &'a dyn Env,
    /// Variables of the macros around the current node, outermost first.
    locals: Vec<Value<'a>>,
    budget: u32,
}

/// Errors are rare and large: boxed, a value on its way up is a few words and not a dozen.
type Result<T, E = Box<EvalError>> = core::result::Result<T, E>;

impl<'a> Evaluator<'a> {
    pub(crate) fn new(program: &'a Program, env: &'a dyn Env, budget: u32) -> Self {
        Self { program, env, locals: Vec::new(), budget }
    }

    fn span(&self, id: NodeId) -> Span {
        self.program.span(id)
    }

    #[inline]
    fn charge(&mut self, id: NodeId, steps: usize) -> Result<()> {
        match u32::try_from(steps).ok().and_then(|steps| self.budget.checked_sub(steps)) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => {
                self.budget = 0;
                Err(Box::new(EvalError::CostLimit { span: self.span(id) }))
            }
        }
    }

    fn charge_bytes(&mut self, id: NodeId, bytes: usize) -> Result<()> {
        self.charge(id, bytes / BYTES_PER_STEP)
    }

    /// The value of a node.
    pub(crate) fn value(&mut self, id: NodeId) -> Result<Value<'a>> {
        self.charge(id, 1)?;
        Ok(match self.program.node(id)? {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(*value),
            Node::Int(value) => Value::Int(*value),
            Node::Double(value) => Value::Double(*value),
            Node::Text(text) => Value::text(text),
            Node::List(items) => items.iter().map(|item| self.value(*item)).collect::<Result<Value<'a>>>()?,
            Node::Map(entries) => self.map_literal(entries)?,
            Node::Root(index) => self.root(id, *index)?,
            Node::Local(index) => match self.locals.get(*index) {
                Some(value) => value.clone(),
                None => return Err(Box::new(EvalError::Damaged { span: self.span(id) })),
            },
            Node::Select { target, field } => {
                let map = self.map(*target, "a field")?;
                self.charge_bytes(id, field.len())?;
                match map.get(field) {
                    Some(value) => value,
                    None => return Err(self.missing(id)),
                }
            }
            Node::Has { target, field } => {
                let map = self.map(*target, "`has`")?;
                self.charge_bytes(id, field.len())?;
                Value::Bool(map.get(field).is_some())
            }
            Node::Index { target, index } => self.index(id, *target, *index)?,
            Node::Not(operand) => Value::Bool(!self.bool(*operand, "`!`")?),
            Node::Binary { op: BinaryOp::In, left, right } => Value::Bool(self.is_in(id, *left, *right)?),
            Node::Negate(operand) => self.negate(id, *operand)?,
            Node::Binary { op, left, right } => self.binary(id, *op, *left, *right)?,
            Node::And(operands) => Value::Bool(self.decided(operands, false, "`&&`")?),
            Node::Or(operands) => Value::Bool(self.decided(operands, true, "`||`")?),
            Node::Choose { condition, then, otherwise } => {
                let chosen = if self.bool(*condition, "`?`")? { then } else { otherwise };
                self.value(*chosen)?
            }
            Node::Each { kind, over, condition, body } => self.each(id, *kind, *over, *condition, *body)?,
            Node::Call { function, argument } => self.call(id, *function, *argument)?,
            Node::Compare { function, text, part } => self.text_test(id, *function, *text, *part)?,
            Node::Matches { text, regex } => self.matches(id, *text, *regex)?,
            Node::Glob { text, glob } => self.glob(id, *text, *glob)?,
            Node::History(index) => self.history(id, *index)?,
        })
    }

    /// The first operand that is `decisive` settles it, even when one before it had no value.
    fn decided(&mut self, operands: &[NodeId], decisive: bool, operator: &str) -> Result<bool> {
        let mut failed = None;
        for operand in operands {
            match self.bool(*operand, operator) {
                Ok(value) if value == decisive => return Ok(decisive),
                Ok(_) => {}
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(!decisive), Err)
    }

    /// The value of a node that must be a bool.
    pub(crate) fn bool(&mut self, id: NodeId, operation: &str) -> Result<bool> {
        // What can only be a bool need not become a value first.
        match self.program.node(id)? {
            Node::Not(operand) => {
                self.charge(id, 1)?;
                Ok(!self.bool(*operand, "`!`")?)
            }
            Node::Binary { op: BinaryOp::In, left, right } => {
                self.charge(id, 1)?;
                self.is_in(id, *left, *right)
            }
            Node::And(operands) => {
                self.charge(id, 1)?;
                self.decided(operands, false, "`&&`")
            }
            Node::Or(operands) => {
                self.charge(id, 1)?;
                self.decided(operands, true, "`||`")
            }
            _ => match self.value(id)? {
                Value::Bool(value) => Ok(value),
                other => Err(self.wrong_type(id, operation, "a bool", &other)),
            },
        }
    }

    fn map(&mut self, id: NodeId, operation: &str) -> Result<Map<'a>> {
        match self.value(id)? {
            Value::Map(map) => Ok(map),
            other => Err(self.wrong_type(id, operation, "a map", &other)),
        }
    }

    fn text(&mut self, id: NodeId, operation: &str) -> Result<Text<'a>> {
        match self.value(id)? {
            Value::Text(text) => Ok(text),
            other => Err(self.wrong_type(id, operation, "a string", &other)),
        }
    }

    #[cold]
    fn wrong_type(&self, id: NodeId, operation: &str, wanted: &str, found: &Value<'_>) -> Box<EvalError> {
        Box::new(EvalError::WrongType {
            span: self.span(id),
            operation: operation.to_owned(),
            wanted: wanted.to_owned(),
            found: found.kind().article().to_owned(),
        })
    }

    #[cold]
    fn missing(&self, id: NodeId) -> Box<EvalError> {
        Box::new(EvalError::Missing { span: self.span(id), name: self.program.text(id) })
    }

    fn root(&self, id: NodeId, index: usize) -> Result<Value<'a>> {
        let name = self
            .program
            .roots
            .get(index)
            .ok_or_else(|| Box::new(EvalError::Damaged { span: self.span(id) }))?;
        let env = self.env;
        env.root(name).ok_or_else(|| self.missing(id))
    }

    fn history(&self, id: NodeId, index: usize) -> Result<Value<'a>> {
        let span = self.span(id);
        let op = self.program.history.get(index).ok_or_else(|| Box::new(EvalError::Damaged { span }))?;
        match (op, self.env.history(index)) {
            (HistoryOp::Count { .. }, Some(HistoryValue::Int(count))) => Ok(Value::Int(count)),
            (
                HistoryOp::Formerly { .. } | HistoryOp::Previous { .. } | HistoryOp::Since { .. },
                Some(HistoryValue::Bool(answer)),
            ) => Ok(Value::Bool(answer)),
            _ => Err(Box::new(EvalError::NoHistory { span, operator: self.program.text(id) })),
        }
    }

    fn map_literal(&mut self, entries: &[(NodeId, NodeId)]) -> Result<Value<'a>> {
        let mut map = std::collections::BTreeMap::new();
        for (key, value) in entries {
            let text = self.text(*key, "a key")?;
            self.charge_bytes(*key, text.as_str().len())?;
            let value = self.value(*value)?;
            let shown = crate::value::shortened(text.as_str());
            if map.insert(text, value).is_some() {
                return Err(Box::new(EvalError::DuplicateKey { span: self.span(*key), key: shown }));
            }
        }
        Ok(Value::Map(Map::Shared(map.into())))
    }

    fn index(&mut self, id: NodeId, target: NodeId, index: NodeId) -> Result<Value<'a>> {
        let target_value = self.value(target)?;
        let index_value = self.value(index)?;
        match (&target_value, &index_value) {
            (Value::List(list), Value::Int(position)) => {
                let found = usize::try_from(*position).ok().and_then(|position| list.get(position));
                found.ok_or_else(|| {
                    Box::new(EvalError::OutOfRange { span: self.span(id), index: *position, len: list.len() })
                })
            }
            (Value::Map(map), Value::Text(key)) => {
                self.charge_bytes(id, key.as_str().len())?;
                map.get(key.as_str()).ok_or_else(|| self.missing(id))
            }
            (Value::List(_), other) => Err(self.wrong_type(index, "a list index", "an int", other)),
            (Value::Map(_), other) => Err(self.wrong_type(index, "a key", "a string", other)),
            (other, _) => Err(self.wrong_type(target, "`[…]`", "a list or a map", other)),
        }
    }

    fn each(
        &mut self,
        id: NodeId,
        kind: Macro,
        over: NodeId,
        condition: Option<NodeId>,
        body: NodeId,
    ) -> Result<Value<'a>> {
        let items = match self.value(over)? {
            Value::List(list) => list,
            Value::Map(map) => {
                let keys = map.keys();
                self.charge(id, keys.len())?;
                List::Shared(keys.into_iter().map(Value::Text).collect())
            }
            other => return Err(self.wrong_type(over, kind.shown(), "a list or a map", &other)),
        };
        let mut state = Each { kind, matched: 0, failed: None, kept: Vec::new() };
        for position in 0..items.len() {
            self.charge(id, 1)?;
            let Some(item) = items.get(position) else {
                return Err(Box::new(EvalError::Damaged { span: self.span(over) }));
            };
            self.locals.push(item);
            let finished = self.each_item(&mut state, condition, body);
            self.locals.pop();
            if finished? {
                break;
            }
        }
        state.result()
    }

    /// Looks at the innermost variable; true when the rest of the list cannot change the result.
    fn each_item(&mut self, state: &mut Each<'a>, condition: Option<NodeId>, body: NodeId) -> Result<bool> {
        match state.kind {
            Macro::All | Macro::Exists => match self.bool(body, state.kind.shown()) {
                Ok(value) if value == (state.kind == Macro::Exists) => {
                    state.matched = 1;
                    return Ok(true);
                }
                Ok(_) => {}
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => state.failed = state.failed.take().or(Some(error)),
            },
            Macro::ExistsOne => state.matched += usize::from(self.bool(body, state.kind.shown())?),
            Macro::Filter => {
                if self.bool(body, state.kind.shown())? {
                    state.kept.extend(self.locals.last().cloned());
                }
            }
            Macro::Map => {
                let wanted = match condition {
                    Some(condition) => self.bool(condition, state.kind.shown())?,
                    None => true,
                };
                if wanted {
                    state.kept.push(self.value(body)?);
                }
            }
        }
        Ok(false)
    }
}

/// What a macro has found so far.
struct Each<'a> {
    kind: Macro,
    matched: usize,
    failed: Option<Box<EvalError>>,
    kept: Vec<Value<'a>>,
}

impl<'a> Each<'a> {
    fn result(self) -> Result<Value<'a>> {
        Ok(match (self.kind, self.failed) {
            (Macro::All, _) if self.matched > 0 => Value::Bool(false),
            (Macro::Exists, _) if self.matched > 0 => Value::Bool(true),
            (Macro::All | Macro::Exists, Some(error)) => return Err(error),
            (Macro::All, None) => Value::Bool(true),
            (Macro::Exists, None) => Value::Bool(false),
            (Macro::ExistsOne, _) => Value::Bool(self.matched == 1),
            (Macro::Filter | Macro::Map, _) => self.kept.into_iter().collect(),
        })
    }
}
