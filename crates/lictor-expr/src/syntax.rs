//! The syntax tree, before names and types are checked.

use crate::span::Span;

mod print;
pub(crate) use print::quoted;

/// An expression with its span.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) span: Span,
    /// Height of the tree below, at least 1; never more than [`crate::limits::MAX_DEPTH`].
    pub(crate) depth: usize,
    pub(crate) kind: Kind,
}

/// A name with its span.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) span: Span,
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Name(String),
    Member {
        target: Box<Expr>,
        field: Name,
    },
    Index {
        target: Box<Expr>,
        index: Box<Expr>,
    },
    Call {
        target: Option<Box<Expr>>,
        function: Name,
        arguments: Vec<Expr>,
    },
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// At least two operands; a chain without parentheses is one node.
    And(Vec<Expr>),
    /// Like [`Kind::And`].
    Or(Vec<Expr>),
    Choose {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
}

pub(crate) use crate::program::BinaryOp;

/// How tightly operators bind, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precedence {
    Choose,
    Or,
    And,
    Relation,
    Sum,
    Product,
    Unary,
    Postfix,
}

impl BinaryOp {
    pub(crate) fn precedence(self) -> Precedence {
        match self {
            Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessEqual
            | Self::Greater
            | Self::GreaterEqual
            | Self::In => Precedence::Relation,
            Self::Add | Self::Subtract => Precedence::Sum,
            Self::Multiply | Self::Divide | Self::Remainder => Precedence::Product,
        }
    }
}
