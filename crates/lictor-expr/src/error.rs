//! Errors of expressions: at load and at evaluation.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::span::Span;

/// A problem found when an expression is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}{}", .help.as_deref().map(|help| format!("; {help}")).unwrap_or_default())]
pub struct CompileError {
    /// The part of the source that is wrong.
    pub span: Span,
    /// The message.
    pub message: String,
    /// What to write instead, when that is known.
    pub help: Option<String>,
}

impl CompileError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Why an expression has no value for an action. Never to be read as `false`.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum EvalError {
    /// A field, key or root that does not exist.
    #[error("there is no `{name}`; test for it first, with `has` or `in`")]
    Missing {
        /// The access.
        span: Span,
        /// Its name, as written.
        name: String,
    },
    /// A list index outside the list.
    #[error("index {index} is outside a list of {len}; test `size()` first")]
    OutOfRange {
        /// The access.
        span: Span,
        /// The index asked for.
        index: i64,
        /// The length of the list.
        len: usize,
    },
    /// A value of a type that the operation does not accept.
    #[error("{operation} needs {wanted}, but this is {found}")]
    WrongType {
        /// The operand.
        span: Span,
        /// The operation, in backticks where it is user text.
        operation: String,
        /// The types that it accepts.
        wanted: String,
        /// The types that it got.
        found: String,
    },
    /// `==`, `!=` or `in` on values of different types, which would always be false.
    #[error("{left} is never equal to {right}; convert one of them, for example with `string()`")]
    NeverEqual {
        /// The comparison.
        span: Span,
        /// Type on the left.
        left: String,
        /// Type on the right.
        right: String,
    },
    /// An ordering with NaN, which would always be false.
    #[error("one side is not a number (NaN), so it is neither less nor greater")]
    NoOrder {
        /// The comparison.
        span: Span,
    },
    /// The result does not fit into an int.
    #[error("the result does not fit into a 64-bit int")]
    Overflow {
        /// The operation.
        span: Span,
    },
    /// Division or remainder of ints by zero.
    #[error("division by zero; test the divisor first")]
    DivisionByZero {
        /// The operation.
        span: Span,
    },
    /// Text that cannot be converted to a number.
    #[error("`{text}` is not {wanted}")]
    BadConversion {
        /// The conversion.
        span: Span,
        /// The text, shortened.
        text: String,
        /// What was expected.
        wanted: String,
    },
    /// The same key twice in a map literal.
    #[error("the key `{key}` is given twice")]
    DuplicateKey {
        /// The second key.
        span: Span,
        /// The key, shortened.
        key: String,
    },
    /// The environment has no value for a history operator.
    #[error("the history that `{operator}` asks about is not available here")]
    NoHistory {
        /// The operator.
        span: Span,
        /// The operator as written.
        operator: String,
    },
    /// The evaluation took more than [`crate::limits::STEP_BUDGET`] steps.
    #[error("the expression took more than {} steps; make it look at less", crate::limits::STEP_BUDGET)]
    CostLimit {
        /// Where the budget ran out.
        span: Span,
    },
    /// The compiled form was not produced by this crate.
    #[error("the compiled expression is damaged; delete the cached policy")]
    Damaged {
        /// Where it was detected.
        span: Span,
    },
}

impl EvalError {
    /// The part of the source that the error is about.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Missing { span, .. }
            | Self::OutOfRange { span, .. }
            | Self::WrongType { span, .. }
            | Self::NeverEqual { span, .. }
            | Self::NoOrder { span }
            | Self::Overflow { span }
            | Self::DivisionByZero { span }
            | Self::BadConversion { span, .. }
            | Self::DuplicateKey { span, .. }
            | Self::NoHistory { span, .. }
            | Self::CostLimit { span }
            | Self::Damaged { span } => *span,
        }
    }

    /// Errors that `&&`, `||`, `all` and `exists` must not hide by the value of another operand.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, Self::CostLimit { .. } | Self::Damaged { .. })
    }
}
