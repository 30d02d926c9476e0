//! The nodes of a checked expression.

use serde::{Deserialize, Serialize};

/// The place of a node in its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeId(u16);

impl NodeId {
    /// Out-of-range indexes saturate; no program has that many nodes.
    pub(crate) fn new(index: usize) -> Self {
        Self(u16::try_from(index).unwrap_or(u16::MAX))
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
    List(Vec<NodeId>),
    Map(Vec<(NodeId, NodeId)>),
    /// Index into the program's roots.
    Root(usize),
    /// Variable of an enclosing macro, counted from the outermost.
    Local(usize),
    Select {
        target: NodeId,
        field: String,
    },
    Has {
        target: NodeId,
        field: String,
    },
    Index {
        target: NodeId,
        index: NodeId,
    },
    Not(NodeId),
    Negate(NodeId),
    Binary {
        op: BinaryOp,
        left: NodeId,
        right: NodeId,
    },
    And(Vec<NodeId>),
    Or(Vec<NodeId>),
    Choose {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    Each {
        kind: Macro,
        over: NodeId,
        condition: Option<NodeId>,
        body: NodeId,
    },
    Call {
        function: Function,
        argument: NodeId,
    },
    /// `left.function(right)` on text.
    Compare {
        function: TextTest,
        text: NodeId,
        part: NodeId,
    },
    /// Index into the program's regexes.
    Matches {
        text: NodeId,
        regex: usize,
    },
    /// Index into the program's globs.
    Glob {
        text: NodeId,
        glob: usize,
    },
    /// Index into the program's history operators.
    History(usize),
}

impl Node {
    /// Calls `f` for each child, with whether the child is inside one more macro variable.
    pub(crate) fn children(&self, mut f: impl FnMut(NodeId, bool)) {
        match self {
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Double(_)
            | Self::Text(_)
            | Self::Root(_)
            | Self::Local(_)
            | Self::History(_) => {}
            Self::List(items) | Self::And(items) | Self::Or(items) => {
                items.iter().for_each(|item| f(*item, false));
            }
            Self::Map(entries) => entries.iter().for_each(|(key, value)| {
                f(*key, false);
                f(*value, false);
            }),
            Self::Select { target, .. } | Self::Has { target, .. } => f(*target, false),
            Self::Index { target, index } => {
                f(*target, false);
                f(*index, false);
            }
            Self::Not(operand) | Self::Negate(operand) => f(*operand, false),
            Self::Binary { left, right, .. } => {
                f(*left, false);
                f(*right, false);
            }
            Self::Choose { condition, then, otherwise } => {
                f(*condition, false);
                f(*then, false);
                f(*otherwise, false);
            }
            Self::Each { over, condition, body, .. } => {
                f(*over, false);
                condition.iter().for_each(|condition| f(*condition, true));
                f(*body, true);
            }
            Self::Call { argument, .. } => f(*argument, false),
            Self::Compare { text, part, .. } => {
                f(*text, false);
                f(*part, false);
            }
            Self::Matches { text, .. } | Self::Glob { text, .. } => f(*text, false),
        }
    }
}

/// Operators with two operands, except `&&` and `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BinaryOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl BinaryOp {
    /// Whether it only compares two numbers.
    pub(crate) fn compares(self) -> bool {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }

    /// The operator as written.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "in",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }
}

/// The macros that look at every element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Macro {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

impl Macro {
    /// The name, as messages show it.
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Self::All => "`all`",
            Self::Exists => "`exists`",
            Self::ExistsOne => "`exists_one`",
            Self::Filter => "`filter`",
            Self::Map => "`map`",
        }
    }
}

/// Functions of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Function {
    Size,
    LowerAscii,
    UpperAscii,
    ToInt,
    ToDouble,
    ToText,
}

/// Tests of one text against another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TextTest {
    StartsWith,
    EndsWith,
    Contains,
}

impl TextTest {
    /// The name, as messages show it.
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Self::StartsWith => "`startsWith`",
            Self::EndsWith => "`endsWith`",
            Self::Contains => "`contains`",
        }
    }
}

impl Function {
    /// The name, as messages show it.
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Self::Size => "`size`",
            Self::LowerAscii => "`lowerAscii`",
            Self::UpperAscii => "`upperAscii`",
            Self::ToInt => "`int`",
            Self::ToDouble => "`double`",
            Self::ToText => "`string`",
        }
    }
}
