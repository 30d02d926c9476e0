//! A checked expression, ready to run and to be stored.

use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::{CompileError, EvalError};
use crate::eval::{self, Env, Nothing};
use crate::explain::{self, Step};
use crate::history::HistoryOp;
use crate::parser;
use crate::schema::{Schema, Type};
use crate::span::Span;
use crate::value::Value;

mod node;
mod pattern;
mod spans;
mod stored;

pub(crate) use node::{BinaryOp, Function, Macro, Node, NodeId, TextTest};
pub(crate) use pattern::{GlobPattern, RegexPattern};
pub(crate) use spans::Spans;

/// A checked expression.
///
/// Can be stored with any serde format; deserialised programs are validated again, so that damaged bytes give an
/// error and not a misbehaving program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "stored::Stored")]
pub struct Program {
    pub(crate) source: String,
    /// Children before parents; the last node is the whole expression.
    pub(crate) nodes: Vec<Node>,
    /// The span of each node, parallel to `nodes`.
    pub(crate) spans: Spans,
    pub(crate) roots: Vec<String>,
    pub(crate) history: Vec<HistoryOp>,
    pub(crate) regexes: Vec<RegexPattern>,
    pub(crate) globs: Vec<GlobPattern>,
}

impl Program {
    /// Parses and checks an expression whose result must be of type `want`.
    ///
    /// # Errors
    ///
    /// Every problem that was found, in the order of the source.
    pub fn compile(source: &str, schema: &Schema, want: &Type) -> Result<Self, Vec<CompileError>> {
        let expr = parser::parse(source).map_err(|error| vec![error])?;
        check::check(source, &expr, schema, want)
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    ///
    /// When the expression has no value for this environment.
    pub fn evaluate<'a>(&'a self, env: &'a dyn Env) -> Result<Value<'a>, EvalError> {
        eval::evaluate(self, env)
    }

    /// Evaluates a condition.
    ///
    /// # Errors
    ///
    /// When the expression has no value for this environment, or one that is not a bool.
    pub fn test(&self, env: &dyn Env) -> Result<bool, EvalError> {
        eval::test(self, env)
    }

    /// The value of a condition that is the same for every environment.
    ///
    /// Evaluates with an empty environment, where every access is an error; a result then does not depend on any
    /// access.
    #[must_use]
    pub fn constant(&self) -> Option<bool> {
        self.test(&Nothing).ok()
    }

    /// The outcome of each part of a condition, outermost first: the operands of `&&`, `||` and `!` with their
    /// values. The step marked `decisive` determined the result.
    #[must_use]
    pub fn explain(&self, env: &dyn Env) -> Vec<Step> {
        explain::explain(self, env)
    }

    /// The text that the program was compiled from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The history operators, in the order of the indexes that [`Env::history`] is asked for.
    #[must_use]
    pub fn history(&self) -> &[HistoryOp] {
        &self.history
    }

    /// How far the history operator at this index has to count: the expression compares the count only with
    /// smaller literals, so larger counts make no difference. `None` when any count may matter.
    #[must_use]
    pub fn counts_to(&self, index: usize) -> Option<u64> {
        let mut most = None;
        let asks =
            |id: &NodeId| matches!(self.nodes.get(id.index()), Some(Node::History(asked)) if *asked == index);
        if asks(&self.root_node()) {
            return None;
        }
        for node in &self.nodes {
            let (number, comparison) = match node {
                Node::Binary { op, left, right } if asks(left) => (right, op),
                Node::Binary { op, left, right } if asks(right) => (left, op),
                _ => {
                    let mut asked = false;
                    node.children(|child, _| asked |= asks(&child));
                    if asked {
                        return None;
                    }
                    continue;
                }
            };
            let Some(Node::Int(number)) = self.nodes.get(number.index()).filter(|_| comparison.compares())
            else {
                return None;
            };
            most = most.max(Some(u64::try_from(*number).unwrap_or(0).saturating_add(1)));
        }
        most
    }

    /// The roots that the expression reads, each once.
    #[must_use]
    pub fn roots(&self) -> &[String] {
        &self.roots
    }

    /// The paths that the expression reads, such as `action.kind` and `payload.ticket`, sorted.
    #[must_use]
    pub fn reads(&self) -> Vec<String> {
        let mut paths: Vec<Option<String>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let extended = match node {
                Node::Root(index) => self.roots.get(*index).cloned(),
                Node::Select { target, field } | Node::Has { target, field } => {
                    paths.get_mut(target.index()).and_then(Option::take).map(|path| format!("{path}.{field}"))
                }
                _ => None,
            };
            paths.push(extended);
        }
        let mut paths: Vec<String> = paths.into_iter().flatten().collect();
        paths.sort();
        paths.dedup();
        paths
    }

    pub(crate) fn root_node(&self) -> NodeId {
        NodeId::new(self.nodes.len().saturating_sub(1))
    }

    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> Result<&Node, Box<EvalError>> {
        self.nodes.get(id.index()).ok_or_else(|| Box::new(EvalError::Damaged { span: Span::default() }))
    }

    pub(crate) fn span(&self, id: NodeId) -> Span {
        self.spans.get(id.index()).unwrap_or_default()
    }

    /// The source of a node, shortened.
    pub(crate) fn text(&self, id: NodeId) -> String {
        crate::value::shortened(self.span(id).text(&self.source))
    }
}

/// The expression in one normal form: one space around operators, double quotes, no needless parentheses, no
/// comments. Names and types are not checked.
///
/// # Errors
///
/// When the text cannot be parsed.
///
/// ```
/// assert_eq!(lictor_expr::format("( risk<=0.3 )&&'a' in [ 'a' ]")?, r#"risk <= 0.3 && "a" in ["a"]"#);
/// # Ok::<(), lictor_expr::CompileError>(())
/// ```
pub fn format(source: &str) -> Result<String, CompileError> {
    parser::parse(source).map(|expr| expr.to_string())
}

#[cfg(test)]
mod tests;
