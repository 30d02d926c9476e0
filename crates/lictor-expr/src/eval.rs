//! Evaluation: the value of a program in an environment, within a budget of steps.
//!
//! Recurses along the tree, whose depth was bounded at load. Declared types are not trusted: each operation
//! checks the values it gets.

use crate::error::EvalError;
use crate::history::{HistoryOp, HistoryValue};
use crate::limits::{BYTES_PER_STEP, STEP_BUDGET};
use crate::program::{Macro, Node, NodeId, Program};
use crate::span::Span;
use crate::value::{List, Map, Text, Value};

mod call;
mod compare;
mod operator;

/// The values that an expression reads.
pub trait Env {
    /// The value of a root; `None` when it is absent, which is an error for the expression.
    fn root(&self, name: &str) -> Option<Value<'_>>;

    /// The value of the history operator at this index of [`Program::history`]; `None` when there is no history,
    /// which is an error for the expression.
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
    let mut evaluator = Evaluator::new(program, env, STEP_BUDGET);
    evaluator.value(program.root_node()).ok_or_else(|| evaluator.error())
}

/// Evaluates a program whose result must be a bool.
pub(crate) fn test(program: &Program, env: &dyn Env) -> Result<bool, EvalError> {
    let mut evaluator = Evaluator::new(program, env, STEP_BUDGET);
    evaluator.bool(program.root_node(), CONDITION).ok_or_else(|| evaluator.error())
}

/// The operation name in errors when the whole expression must be a bool.
pub(crate) const CONDITION: &str = "a condition";

/// One evaluation.
pub(crate) struct Evaluator<'a> {
    program: &'a Program,
    env: &'a dyn Env,
    /// Variables of the macros around the current node, outermost first.
    locals: Vec<Value<'a>>,
    budget: u32,
    /// The latest error; read where nothing was [`Found`]. `None` if the value is merely absent.
    error: Option<Box<EvalError>>,
    /// The root or field that was looked for last.
    looked_for: NodeId,
}

/// A result; `None` on an error, which the evaluator then holds. Errors are rare and large. Kept out of the
/// result, a bool is returned in a register, and a value is returned as the environment gave it. For the same
/// reason values are inspected by reference: a move would wait for the whole value to be written.
type Found<T> = Option<T>;

impl<'a> Evaluator<'a> {
    pub(crate) fn new(program: &'a Program, env: &'a dyn Env, budget: u32) -> Self {
        Self { program, env, locals: Vec::new(), budget, error: None, looked_for: program.root_node() }
    }

    /// The latest error.
    pub(crate) fn error(&mut self) -> EvalError {
        *self.why()
    }

    #[cold]
    fn why(&mut self) -> Box<EvalError> {
        let id = self.looked_for;
        self.error.take().unwrap_or_else(|| {
            Box::new(EvalError::Missing { span: self.span(id), name: self.program.text(id) })
        })
    }

    #[cold]
    fn fail<T>(&mut self, error: EvalError) -> Found<T> {
        self.error = Some(Box::new(error));
        None
    }

    /// Sets the current error aside, because another operand may still decide the result; keeps the first of
    /// several. A fatal error cannot be set aside.
    #[cold]
    fn put_aside(&mut self, first: &mut Option<Box<EvalError>>) -> Found<()> {
        let error = self.why();
        if error.is_fatal() {
            self.error = Some(error);
            return None;
        }
        first.get_or_insert(error);
        Some(())
    }

    /// The result, unless an error was set aside.
    fn settled<T>(&mut self, result: T, aside: Option<Box<EvalError>>) -> Found<T> {
        match aside {
            None => Some(result),
            error => {
                self.error = error;
                None
            }
        }
    }

    #[inline]
    fn node(&mut self, id: NodeId) -> Found<&'a Node> {
        self.program.nodes.get(id.index()).or_else(|| self.damaged(id))
    }

    fn span(&self, id: NodeId) -> Span {
        self.program.span(id)
    }

    #[inline]
    fn charge(&mut self, id: NodeId, steps: usize) -> Found<()> {
        match u32::try_from(steps).ok().and_then(|steps| self.budget.checked_sub(steps)) {
            Some(left) => {
                self.budget = left;
                Some(())
            }
            None => self.too_much(id),
        }
    }

    #[inline]
    fn charge_bytes(&mut self, id: NodeId, bytes: usize) -> Found<()> {
        self.charge(id, bytes / BYTES_PER_STEP)
    }

    #[cold]
    fn too_much<T>(&mut self, id: NodeId) -> Found<T> {
        self.budget = 0;
        self.fail(EvalError::CostLimit { span: self.span(id) })
    }

    /// The value of a node.
    pub(crate) fn value(&mut self, id: NodeId) -> Found<Value<'a>> {
        self.charge(id, 1)?;
        let node = self.node(id)?;
        self.value_of(id, node)
    }

    /// As [`value`](Self::value), without a call for the common operands: literals and roots.
    #[inline]
    fn operand(&mut self, id: NodeId) -> Found<Value<'a>> {
        self.charge(id, 1)?;
        match self.node(id)? {
            Node::Int(value) => Some(Value::Int(*value)),
            Node::Text(text) => Some(Value::text(text)),
            Node::Root(index) => self.root(id, *index),
            node => self.value_of(id, node),
        }
    }

    /// The value of a node whose step is already counted.
    fn value_of(&mut self, id: NodeId, node: &'a Node) -> Found<Value<'a>> {
        match node {
            Node::Null => Some(Value::Null),
            Node::Bool(value) => Some(Value::Bool(*value)),
            Node::Int(value) => Some(Value::Int(*value)),
            Node::Double(value) => Some(Value::Double(*value)),
            Node::Text(text) => Some(Value::text(text)),
            Node::Root(index) => self.root(id, *index),
            Node::Select { target, field } => self.select(id, *target, field),
            node => self.computed(id, node),
        }
    }

    #[inline]
    fn select(&mut self, id: NodeId, target: NodeId, field: &str) -> Found<Value<'a>> {
        match &self.operand(target) {
            Some(Value::Map(map)) => {
                self.charge_bytes(id, field.len())?;
                self.field(id, map, field)
            }
            Some(other) => self.wrong_type(target, "a field", "a map", other),
            None => None,
        }
    }

    /// The value of a field. The error for an absent field is built only when it is needed, so that a found value
    /// is returned without a move.
    fn field(&mut self, id: NodeId, map: &Map<'a>, field: &str) -> Found<Value<'a>> {
        self.looked_for = id;
        map.get(field)
    }

    /// The value of a node that is neither a literal nor a field. A separate function, so that reading a field,
    /// which nearly every expression does, needs less stack.
    #[inline(never)]
    fn computed(&mut self, id: NodeId, node: &'a Node) -> Found<Value<'a>> {
        if let Some(holds) = self.condition(id, node) {
            return holds.map(Value::Bool);
        }
        match node {
            Node::List(items) => items.iter().map(|item| self.value(*item)).collect(),
            Node::Map(entries) => self.map_literal(entries),
            Node::Local(index) => self.locals.get(*index).cloned().or_else(|| self.damaged(id)),
            Node::Index { target, index } => self.index(id, *target, *index),
            Node::Negate(operand) => self.negate(id, *operand),
            Node::Binary { op, left, right } => {
                let (a, b) = (self.value(*left)?, self.value(*right)?);
                self.arithmetic(id, *op, &a, &b)
            }
            Node::Choose { condition, then, otherwise } => {
                let chosen = if self.bool(*condition, "`?`")? { then } else { otherwise };
                self.value(*chosen)
            }
            Node::Each { kind, over, condition, body } => self.each(id, *kind, *over, *condition, *body),
            Node::Call { function, argument } => self.call(id, *function, *argument),
            Node::History(index) => self.history(id, *index),
            _ => self.damaged(id),
        }
    }

    /// The bool of a node that can only be a bool, without constructing a `Value`.
    fn condition(&mut self, id: NodeId, node: &'a Node) -> Option<Found<bool>> {
        Some(match node {
            Node::Not(operand) => self.bool(*operand, "`!`").map(core::ops::Not::not),
            Node::And(operands) => self.decided(operands, false, "`&&`"),
            Node::Or(operands) => self.decided(operands, true, "`||`"),
            Node::Has { target, field } => self.has(id, *target, field),
            Node::Binary { op, left, right } => return self.relation(id, *op, *left, *right),
            Node::Compare { function, text, part } => self.text_test(id, *function, *text, *part),
            Node::Matches { text, regex } => self.matches(id, *text, *regex),
            Node::Glob { text, glob } => self.glob(id, *text, *glob),
            _ => return None,
        })
    }

    /// The value of a node that must be a bool.
    pub(crate) fn bool(&mut self, id: NodeId, operation: &str) -> Found<bool> {
        self.charge(id, 1)?;
        let node = self.node(id)?;
        if let Some(holds) = self.condition(id, node) {
            return holds;
        }
        match &self.value_of(id, node) {
            Some(Value::Bool(value)) => Some(*value),
            Some(other) => self.wrong_type(id, operation, "a bool", other),
            None => None,
        }
    }

    /// The first operand that is `decisive` determines the result, even when one before it had an error.
    fn decided(&mut self, operands: &[NodeId], decisive: bool, operator: &str) -> Found<bool> {
        let mut failed = None;
        for operand in operands {
            match self.bool(*operand, operator) {
                Some(value) if value == decisive => return Some(decisive),
                Some(_) => {}
                None => self.put_aside(&mut failed)?,
            }
        }
        self.settled(!decisive, failed)
    }

    fn has(&mut self, id: NodeId, target: NodeId, field: &str) -> Found<bool> {
        match &self.operand(target) {
            Some(Value::Map(map)) => {
                self.charge_bytes(id, field.len())?;
                Some(map.get(field).is_some())
            }
            Some(other) => self.wrong_type(target, "`has`", "a map", other),
            None => None,
        }
    }

    fn text(&mut self, id: NodeId, operation: &str) -> Found<Text<'a>> {
        match self.operand(id)? {
            Value::Text(text) => Some(text),
            other => self.wrong_type(id, operation, "a string", &other),
        }
    }

    #[cold]
    fn wrong_type<T>(&mut self, id: NodeId, operation: &str, wanted: &str, found: &Value<'_>) -> Found<T> {
        self.fail(EvalError::WrongType {
            span: self.span(id),
            operation: operation.to_owned(),
            wanted: wanted.to_owned(),
            found: found.kind().article().to_owned(),
        })
    }

    #[cold]
    fn damaged<T>(&mut self, id: NodeId) -> Found<T> {
        self.fail(EvalError::Damaged { span: self.span(id) })
    }

    #[inline]
    fn root(&mut self, id: NodeId, index: usize) -> Found<Value<'a>> {
        match self.program.roots.get(index) {
            Some(name) => {
                self.looked_for = id;
                self.env.root(name)
            }
            None => self.damaged(id),
        }
    }

    fn history(&mut self, id: NodeId, index: usize) -> Found<Value<'a>> {
        let op = self.program.history.get(index).or_else(|| self.damaged(id))?;
        match (op, self.env.history(index)) {
            (HistoryOp::Count { .. }, Some(HistoryValue::Int(count))) => Some(Value::Int(count)),
            (
                HistoryOp::Formerly { .. } | HistoryOp::Previous { .. } | HistoryOp::Since { .. },
                Some(HistoryValue::Bool(answer)),
            ) => Some(Value::Bool(answer)),
            _ => {
                let operator = self.program.text(id);
                self.fail(EvalError::NoHistory { span: self.span(id), operator })
            }
        }
    }

    fn map_literal(&mut self, entries: &[(NodeId, NodeId)]) -> Found<Value<'a>> {
        let mut map = std::collections::BTreeMap::new();
        for (key, value) in entries {
            let text = self.text(*key, "a key")?;
            self.charge_bytes(*key, text.as_str().len())?;
            let value = self.value(*value)?;
            let shown = crate::value::shortened(text.as_str());
            if map.insert(text, value).is_some() {
                return self.fail(EvalError::DuplicateKey { span: self.span(*key), key: shown });
            }
        }
        Some(Value::Map(Map::Shared(map.into())))
    }

    fn index(&mut self, id: NodeId, target: NodeId, index: NodeId) -> Found<Value<'a>> {
        let target_value = self.value(target)?;
        let index_value = self.value(index)?;
        match (&target_value, &index_value) {
            (Value::List(list), Value::Int(position)) => {
                let found = usize::try_from(*position).ok().and_then(|position| list.get(position));
                found.or_else(|| {
                    let (span, len) = (self.span(id), list.len());
                    self.fail(EvalError::OutOfRange { span, index: *position, len })
                })
            }
            (Value::Map(map), Value::Text(key)) => {
                self.charge_bytes(id, key.as_str().len())?;
                self.field(id, map, key.as_str())
            }
            (Value::List(_), other) => self.wrong_type(index, "a list index", "an int", other),
            (Value::Map(_), other) => self.wrong_type(index, "a key", "a string", other),
            (other, _) => self.wrong_type(target, "`[…]`", "a list or a map", other),
        }
    }

    fn each(
        &mut self,
        id: NodeId,
        kind: Macro,
        over: NodeId,
        condition: Option<NodeId>,
        body: NodeId,
    ) -> Found<Value<'a>> {
        let items = match self.value(over)? {
            Value::List(list) => list,
            Value::Map(map) => {
                let keys = map.keys();
                self.charge(id, keys.len())?;
                List::Shared(keys.into_iter().map(Value::Text).collect())
            }
            other => return self.wrong_type(over, kind.shown(), "a list or a map", &other),
        };
        let mut state = Each { kind, matched: 0, failed: None, kept: Vec::new() };
        for position in 0..items.len() {
            self.charge(id, 1)?;
            let Some(item) = items.get(position) else {
                return self.damaged(over);
            };
            self.locals.push(item);
            let finished = self.each_item(&mut state, condition, body);
            self.locals.pop();
            if finished? {
                break;
            }
        }
        let failed = state.failed.take();
        match kind {
            Macro::All | Macro::Exists if state.matched == 0 => self.settled(state.result(), failed),
            _ => Some(state.result()),
        }
    }

    /// Evaluates one element, the innermost variable; true when the rest of the list cannot change the result.
    fn each_item(&mut self, state: &mut Each<'a>, condition: Option<NodeId>, body: NodeId) -> Found<bool> {
        match state.kind {
            Macro::All | Macro::Exists => match self.bool(body, state.kind.shown()) {
                Some(value) if value == (state.kind == Macro::Exists) => {
                    state.matched = 1;
                    return Some(true);
                }
                Some(_) => {}
                None => self.put_aside(&mut state.failed)?,
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
        Some(false)
    }
}

/// The intermediate result of a macro.
struct Each<'a> {
    kind: Macro,
    matched: usize,
    failed: Option<Box<EvalError>>,
    kept: Vec<Value<'a>>,
}

impl<'a> Each<'a> {
    fn result(self) -> Value<'a> {
        match self.kind {
            Macro::All => Value::Bool(self.matched == 0),
            Macro::Exists => Value::Bool(self.matched > 0),
            Macro::ExistsOne => Value::Bool(self.matched == 1),
            Macro::Filter | Macro::Map => self.kept.into_iter().collect(),
        }
    }
}
