//! One test of one value, with the required outcome.

use crate::eval::{Evaluator, Nothing};
use crate::limits::STEP_BUDGET;
use crate::program::{BinaryOp, Function, Node, NodeId, Program, TextTest};
use crate::schema::{Schema, Type};

/// A test with its required truth value.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    /// The tested term; equal texts denote equal values.
    pub(super) term: String,
    pub(super) test: Test,
    pub(super) wanted: bool,
    /// Whether the term can only be a whole number.
    pub(super) whole: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Test {
    /// The term is a condition that is not analysed further.
    Holds,
    /// It does not depend on anything: it is this.
    Is(bool),
    /// The term exists: a field that is read.
    There,
    /// The term is a field that may be there.
    Has,
    /// The term has fields.
    Map,
    Equal(Constant),
    In(Vec<Constant>),
    Less(Constant),
    LessOrEqual(Constant),
    Text(TextTest, String),
    Matches(String),
}

/// A literal value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constant {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
}

/// Up to this, every integer is a distinct double; beyond it nothing is concluded.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// The literals that a node needs for a truth value: its own test, and the fields that it reads.
pub(super) fn of(program: &Program, schema: &Schema, id: NodeId, wanted: bool) -> Vec<Literal> {
    let reader = Reader { program, schema };
    if let Some(value) = Evaluator::new(program, &Nothing, STEP_BUDGET).bool(id, "a condition") {
        return vec![Literal { term: String::new(), test: Test::Is(value), wanted, whole: false }];
    }
    let mut found = Vec::new();
    let (term, test, flipped) = reader.test(id);
    let whole = term.is_some_and(|term| reader.is_whole(term));
    let text = reader.name(term.unwrap_or(id));
    match term.and_then(|term| program.node(term).ok()) {
        Some(Node::Has { target, .. }) if matches!(test, Test::Has) => {
            reader.needs(*target, &mut found);
            found.push(there(reader.name(*target), Test::Map));
        }
        _ => reader.needs(term.unwrap_or(id), &mut found),
    }
    found.push(Literal { term: text, test, wanted: wanted != flipped, whole });
    found
}

fn there(term: String, test: Test) -> Literal {
    Literal { term, test, wanted: true, whole: false }
}

struct Reader<'a> {
    program: &'a Program,
    schema: &'a Schema,
}

impl Reader<'_> {
    fn node(&self, id: NodeId) -> Option<&Node> {
        self.program.node(id).ok()
    }

    /// The tested term, the test, and whether the test is negated. Without a term, the condition as a whole.
    fn test(&self, id: NodeId) -> (Option<NodeId>, Test, bool) {
        let whole = (None, Test::Holds, false);
        match self.node(id) {
            Some(Node::Has { .. }) => (Some(id), Test::Has, false),
            Some(Node::Binary { op, left, right }) => self.relation(*op, *left, *right).unwrap_or(whole),
            Some(Node::Compare { function, text, part }) => match self.constant(*part) {
                Some(Constant::Text(part)) => (Some(*text), Test::Text(*function, part), false),
                _ => whole,
            },
            Some(Node::Matches { text, regex }) => match self.program.regexes.get(*regex) {
                Some(pattern) => (Some(*text), Test::Matches(pattern.source().to_owned()), false),
                None => whole,
            },
            Some(Node::Root(_) | Node::Select { .. } | Node::Index { .. }) => {
                (Some(id), Test::Equal(Constant::Bool(true)), false)
            }
            _ => whole,
        }
    }

    fn relation(&self, op: BinaryOp, left: NodeId, right: NodeId) -> Option<(Option<NodeId>, Test, bool)> {
        use BinaryOp::{Equal, Greater, GreaterEqual, In, Less, LessEqual, NotEqual};
        if op == In {
            let Some(Node::List(items)) = self.node(right) else { return None };
            let constants = items.iter().map(|item| self.constant(*item)).collect::<Option<Vec<_>>>()?;
            return Some((Some(left), Test::In(constants), false));
        }
        let (term, constant, op) = match (self.constant(left), self.constant(right)) {
            (None, Some(constant)) => (left, constant, op),
            (Some(constant), None) => {
                let turned = match op {
                    Less => Greater,
                    LessEqual => GreaterEqual,
                    Greater => Less,
                    GreaterEqual => LessEqual,
                    same => same,
                };
                (right, constant, turned)
            }
            _ => return None,
        };
        let (test, flipped) = match op {
            Equal => (Test::Equal(constant), false),
            NotEqual => (Test::Equal(constant), true),
            Less => (Test::Less(constant), false),
            GreaterEqual => (Test::Less(constant), true),
            LessEqual => (Test::LessOrEqual(constant), false),
            Greater => (Test::LessOrEqual(constant), true),
            _ => return None,
        };
        Some((Some(term), test, flipped))
    }

    fn constant(&self, id: NodeId) -> Option<Constant> {
        let number = |number: f64| (number.abs() <= EXACT).then_some(Constant::Number(number));
        match self.node(id)? {
            Node::Null => Some(Constant::Null),
            Node::Bool(value) => Some(Constant::Bool(*value)),
            Node::Int(value) => number(*value as f64),
            Node::Double(value) => number(*value),
            Node::Text(text) => Some(Constant::Text(text.clone())),
            Node::Negate(inner) => match self.constant(*inner)? {
                Constant::Number(number) => Some(Constant::Number(-number)),
                _ => None,
            },
            _ => None,
        }
    }

    /// A name for the value of a node: its path, or its text.
    fn name(&self, id: NodeId) -> String {
        match self.node(id) {
            Some(Node::Root(index)) => self.program.roots.get(*index).cloned().unwrap_or_default(),
            Some(Node::Select { target, field } | Node::Has { target, field }) => self.field(*target, field),
            Some(Node::Index { target, index }) => match self.node(*index) {
                Some(Node::Text(field)) => self.field(*target, field),
                _ => self.text(id),
            },
            _ => self.text(id),
        }
    }

    /// The length distinguishes fields with unusual characters.
    fn field(&self, target: NodeId, field: &str) -> String {
        format!("{}.{}:{field}", self.name(target), field.len())
    }

    /// Starts with a bracket, so that it never equals a path.
    fn text(&self, id: NodeId) -> String {
        let written = self.program.span(id).text(&self.program.source);
        format!("({})", crate::program::format(written).unwrap_or_else(|_| written.to_owned()))
    }

    /// The fields that must exist for a node to have a value.
    fn needs(&self, id: NodeId, found: &mut Vec<Literal>) {
        let Some(node) = self.node(id) else { return };
        match node {
            Node::Select { target, .. } => {
                self.needs(*target, found);
                found.push(there(self.name(*target), Test::Map));
                found.push(there(self.name(id), Test::There));
            }
            Node::Index { target, index } => {
                self.needs(*target, found);
                self.needs(*index, found);
                if matches!(self.node(*index), Some(Node::Text(_))) {
                    found.push(there(self.name(id), Test::There));
                }
            }
            Node::Has { target, .. } => self.needs(*target, found),
            Node::Each { over, .. } => self.needs(*over, found),
            Node::Choose { condition, .. } => self.needs(*condition, found),
            // One side may decide although the other has no value.
            Node::And(_) | Node::Or(_) => {}
            _ => node.children(|child, _| self.needs(child, found)),
        }
    }

    /// Whether the value can only be a whole number.
    fn is_whole(&self, id: NodeId) -> bool {
        match self.node(id) {
            Some(Node::Call { function: Function::Size | Function::ToInt, .. } | Node::History(_)) => true,
            _ => self.type_of(id).is_some_and(|of| matches!(of.read(), Type::Int)),
        }
    }

    fn type_of(&self, id: NodeId) -> Option<&Type> {
        match self.node(id)? {
            Node::Root(index) => self.schema.root(self.program.roots.get(*index)?),
            Node::Select { target, field } => match self.type_of(*target)?.read() {
                Type::Record(record) => record.field(field),
                Type::Map(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }
}
