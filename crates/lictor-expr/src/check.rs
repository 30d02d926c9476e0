//! Syntax tree + schema → program. Reports as many problems as possible: an invalid part gets the type `dyn`, so
//! that one mistake does not cause errors in the parts around it.

use crate::error::CompileError;
use crate::history::HistoryOp;
use crate::program::{BinaryOp, GlobPattern, Node, NodeId, Program, RegexPattern};
use crate::schema::{Schema, Type};
use crate::span::Span;
use crate::suggest::closest;
use crate::syntax::{Expr, Kind, Name};

mod call;
mod history;
mod operator;

/// Checks a parsed expression.
pub(crate) fn check(
    source: &str,
    expr: &Expr,
    schema: &Schema,
    want: &Type,
) -> Result<Program, Vec<CompileError>> {
    let mut checker = Checker {
        schema,
        errors: Vec::new(),
        variables: Vec::new(),
        nodes: Vec::new(),
        spans: Vec::new(),
        roots: Vec::new(),
        history: Vec::new(),
        regexes: Vec::new(),
        globs: Vec::new(),
    };
    let (_, found) = checker.expr(expr);
    if !found.fits(want) {
        let message = format!("the result must be {}, not {}", article(want), article(&found));
        checker.errors.push(CompileError::new(expr.span, message));
    }
    if checker.errors.is_empty() {
        return Ok(Program {
            source: source.to_owned(),
            nodes: checker.nodes,
            spans: checker.spans.into_iter().collect(),
            roots: checker.roots,
            history: checker.history,
            regexes: checker.regexes,
            globs: checker.globs,
        });
    }
    checker.errors.sort_by_key(|error| error.span);
    Err(checker.errors)
}

struct Checker<'s> {
    schema: &'s Schema,
    errors: Vec<CompileError>,
    /// The variables of the macros around the current expression, outermost first.
    variables: Vec<(String, Type)>,
    nodes: Vec<Node>,
    spans: Vec<Span>,
    roots: Vec<String>,
    history: Vec<HistoryOp>,
    regexes: Vec<RegexPattern>,
    globs: Vec<GlobPattern>,
}

/// A checked node and its type.
type Checked = (NodeId, Type);

impl Checker<'_> {
    fn push(&mut self, span: Span, node: Node, of: Type) -> Checked {
        let id = NodeId::new(self.nodes.len());
        self.nodes.push(node);
        self.spans.push(span);
        (id, of)
    }

    /// Reports an error and continues with a value of unknown type.
    fn fail(&mut self, error: CompileError) -> Checked {
        let span = error.span;
        self.errors.push(error);
        self.push(span, Node::Null, Type::Dyn)
    }

    fn expr(&mut self, expr: &Expr) -> Checked {
        let span = expr.span;
        match &expr.kind {
            Kind::Null => self.push(span, Node::Null, Type::Null),
            Kind::Bool(value) => self.push(span, Node::Bool(*value), Type::Bool),
            Kind::Int(value) => self.push(span, Node::Int(*value), Type::Int),
            Kind::Double(value) => self.push(span, Node::Double(*value), Type::Double),
            Kind::Text(text) => self.push(span, Node::Text(text.clone()), Type::String),
            Kind::List(items) => {
                let checked: Vec<Checked> = items.iter().map(|item| self.expr(item)).collect();
                let (ids, types): (Vec<NodeId>, Vec<Type>) = checked.into_iter().unzip();
                self.push(span, Node::List(ids), Type::list(common(types)))
            }
            Kind::Map(entries) => self.map(span, entries),
            Kind::Name(name) => self.name(span, name),
            Kind::Member { target, field } => {
                let target = self.expr(target);
                self.field(span, target, field)
            }
            Kind::Index { target, index } => self.index(span, target, index),
            Kind::Call { target, function, arguments } => {
                self.call(span, target.as_deref(), function, arguments)
            }
            Kind::Not(operand) => {
                let id = self.operand(operand, &Type::Bool, "`!`");
                self.push(span, Node::Not(id), Type::Bool)
            }
            Kind::Negate(operand) => self.negate(span, operand),
            Kind::Binary { op, left, right } => self.binary(span, *op, left, right),
            Kind::And(operands) => {
                let ids = operands.iter().map(|operand| self.operand(operand, &Type::Bool, "`&&`")).collect();
                self.push(span, Node::And(ids), Type::Bool)
            }
            Kind::Or(operands) => {
                let ids = operands.iter().map(|operand| self.operand(operand, &Type::Bool, "`||`")).collect();
                self.push(span, Node::Or(ids), Type::Bool)
            }
            Kind::Choose { condition, then, otherwise } => {
                let condition = self.operand(condition, &Type::Bool, "`?`");
                let (then, of) = self.expr(then);
                let (otherwise, other) = self.expr(otherwise);
                self.push(span, Node::Choose { condition, then, otherwise }, of.join(&other))
            }
        }
    }

    /// An operand that must be of one type.
    fn operand(&mut self, expr: &Expr, want: &Type, operation: &str) -> NodeId {
        let (id, found) = self.expr(expr);
        if !found.fits(want) {
            let message = format!("{operation} needs {}, but this is {}", article(want), article(&found));
            self.errors.push(CompileError::new(expr.span, message));
        }
        id
    }

    fn map(&mut self, span: Span, entries: &[(Expr, Expr)]) -> Checked {
        let mut ids = Vec::with_capacity(entries.len());
        let mut types = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self.operand(key, &Type::String, "a key");
            let (value, of) = self.expr(value);
            ids.push((key, value));
            types.push(of);
        }
        self.push(span, Node::Map(ids), Type::map(common(types)))
    }

    fn name(&mut self, span: Span, name: &str) -> Checked {
        let variable = self.variables.iter().rposition(|(variable, _)| variable == name);
        if let Some(index) = variable
            && let Some((_, of)) = self.variables.get(index)
        {
            let of = of.clone();
            return self.push(span, Node::Local(index), of);
        }
        if let Some(of) = self.schema.root(name) {
            let of = of.read().clone();
            let known = self.roots.iter().position(|root| root == name);
            let index = known.unwrap_or(self.roots.len());
            if known.is_none() {
                self.roots.push(name.to_owned());
            }
            return self.push(span, Node::Root(index), of);
        }
        let error = CompileError::new(span, format!("there is no `{name}`"));
        let names = self.schema.roots().chain(self.variables.iter().map(|(name, _)| name.as_str()));
        let error = match closest(name, names) {
            Some(close) => error.help(format!("did you mean `{close}`?")),
            None if self.schema.roots().next().is_none() => error.help("nothing can be read here"),
            None => error.help(format!("known here: {}", listed(self.schema.roots()))),
        };
        self.fail(error)
    }

    /// `target.field`, or `target["field"]` on a record.
    fn field(&mut self, span: Span, (target, of): Checked, field: &Name) -> Checked {
        match self.field_type(&of, field) {
            Ok(of) => self.push(span, Node::Select { target, field: field.text.clone() }, of),
            Err(error) => self.fail(error),
        }
    }

    fn field_type(&self, of: &Type, field: &Name) -> Result<Type, CompileError> {
        let name = &field.text;
        match of {
            Type::Dyn => Ok(Type::Dyn),
            Type::Map(value) => Ok(value.read().clone()),
            Type::Record(record) => record.field(name).map(|of| of.read().clone()).ok_or_else(|| {
                let error = CompileError::new(field.span, format!("there is no field `{name}`"));
                match closest(name, record.names()) {
                    Some(close) => error.help(format!("did you mean `{close}`?")),
                    None => error.help(format!("known fields: {}", listed(record.names()))),
                }
            }),
            other => {
                let error = CompileError::new(
                    field.span,
                    format!("{} has no fields, so there is no `{name}`", article(other)),
                );
                Err(if call::is_method(name) {
                    error.help(format!("to call it, write `.{name}(…)`"))
                } else if matches!(other, Type::List(_)) {
                    error.help(format!("look at its elements, for example `.exists(x, x.{name} == …)`"))
                } else {
                    error
                })
            }
        }
    }

    fn index(&mut self, span: Span, target: &Expr, index: &Expr) -> Checked {
        let (target_id, of) = self.expr(target);
        match (&of, &index.kind) {
            (Type::Record(_), Kind::Text(field)) => {
                let field = Name { span: index.span, text: field.clone() };
                self.field(span, (target_id, of), &field)
            }
            (Type::Record(_), _) => {
                let error = CompileError::new(index.span, "a field of a record must be written out");
                self.fail(error.help("write `.name`"))
            }
            (Type::List(item), _) => {
                let item = item.read().clone();
                let index = self.operand(index, &Type::Int, "a list index");
                self.push(span, Node::Index { target: target_id, index }, item)
            }
            (Type::Map(value), _) => {
                let value = value.read().clone();
                let index = self.operand(index, &Type::String, "a key");
                self.push(span, Node::Index { target: target_id, index }, value)
            }
            (Type::Dyn, _) => {
                let (index_id, index_type) = self.expr(index);
                if !index_type.fits(&Type::Int) && !index_type.fits(&Type::String) {
                    let message =
                        format!("an index is an int or a string, but this is {}", article(&index_type));
                    self.errors.push(CompileError::new(index.span, message));
                }
                self.push(span, Node::Index { target: target_id, index: index_id }, Type::Dyn)
            }
            (other, _) => {
                let error = CompileError::new(
                    target.span,
                    format!("`[…]` needs a list or a map, but this is {}", article(other)),
                );
                self.fail(error)
            }
        }
    }
}

/// The common type of all items, `dyn` when they differ or there are none.
fn common(types: Vec<Type>) -> Type {
    types.into_iter().reduce(|a, b| a.join(&b)).unwrap_or(Type::Dyn)
}

/// A type in a sentence.
fn article(of: &Type) -> String {
    match of.read() {
        Type::Null | Type::Dyn => of.to_string(),
        Type::Int => "an int".to_owned(),
        other => format!("a {other}"),
    }
}

/// Names in a sentence.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
