//! The syntax tree of a shell text.
//!
//! The tree owns its text, so that function bodies can outlive the text they were read from (`eval`).

use std::cell::OnceCell;
use std::rc::Rc;

/// A whole text, or the inside of `$(…)`, `{ …; }`, a loop.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub items: Vec<Item>,
}

/// A chain of pipelines up to `;`, `&` or the end of the line.
#[derive(Debug)]
pub(crate) struct Item {
    pub first: Pipeline,
    pub rest: Vec<(Joint, Pipeline)>,
    pub background: bool,
}

/// The operator between two pipelines of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    And,
    Or,
}

#[derive(Debug)]
pub(crate) struct Pipeline {
    pub negated: bool,
    pub stages: Vec<Node>,
}

/// One command of a pipeline.
#[derive(Debug)]
pub(crate) enum Node {
    Simple(Simple),
    Compound { body: Rc<Compound>, redirects: Vec<Redirect> },
    Function(Rc<Function>),
}

/// `NAME=value … word … redirections`, in any order the grammar allows.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) struct Assignment {
    pub name: String,
    /// `NAME[index]=value`: only one element is set.
    pub element: Option<Vec<Part>>,
    /// `+=`.
    pub append: bool,
    pub value: Assigned,
}

#[derive(Debug)]
pub(crate) enum Assigned {
    Scalar(Word),
    /// `(a b c)`; `keyed` when an element has the form `[key]=value`.
    Array {
        words: Vec<Word>,
        keyed: bool,
    },
}

#[derive(Debug)]
pub(crate) struct Function {
    pub name: String,
    pub body: Node,
}

#[derive(Debug)]
pub(crate) enum Compound {
    Group(Script),
    Subshell(Script),
    If {
        /// Condition and body of `if` and of each `elif`.
        arms: Vec<(Script, Script)>,
        otherwise: Option<Script>,
    },
    /// `while` and `until`.
    While {
        until: bool,
        condition: Script,
        body: Script,
        changes: Changes,
    },
    /// `for` and `select`. `words` is `None` for `for x; do`, which walks over `"$@"`.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
        changes: Changes,
    },
    /// `for ((a; b; c))`.
    CountingFor {
        header: Vec<Part>,
        body: Script,
        changes: Changes,
    },
    Case {
        subject: Word,
        arms: Vec<CaseArm>,
    },
    /// `[[ … ]]`: only the words matter, for the substitutions in them.
    Test(Vec<Word>),
    /// `(( … ))`.
    Arithmetic(Vec<Part>),
    /// Its descriptors are in an array of that name.
    Coprocess {
        name: String,
        body: Node,
    },
}

#[derive(Debug)]
pub(crate) struct CaseArm {
    pub patterns: Vec<Word>,
    pub body: Script,
}

/// What the body of a loop may change from one round to the next.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub names: Vec<String>,
    pub directory: bool,
}

#[derive(Debug)]
pub(crate) struct Redirect {
    /// The file descriptor in front; `None` when absent or `{name}`.
    pub fd: Option<u32>,
    /// `{name}` in front: the variable that gets the number of a new descriptor.
    pub variable: Option<String>,
    pub kind: RedirectKind,
    pub target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    Write,
    Append,
    ReadWrite,
    /// `&>`, `>&file`.
    WriteBoth,
    /// `&>>`.
    AppendBoth,
    DuplicateIn,
    DuplicateOut,
    HereDocument,
    HereString,
}

#[derive(Debug)]
pub(crate) enum Target {
    Word(Word),
    /// The body is read when the line ends, after the node was made.
    Here(Rc<OnceCell<HereBody>>),
}

#[derive(Debug)]
pub(crate) enum HereBody {
    /// The delimiter was quoted.
    Literal(String),
    Expanded(Vec<Part>),
}

/// A word before expansion.
#[derive(Debug, Default)]
pub(crate) struct Word {
    pub parts: Vec<Part>,
    /// As written, shortened. Empty when the word is plain: its only literal is the text.
    pub written: String,
    /// Some of it was quoted: not a reserved word, not an alias.
    pub quoted: bool,
    /// One literal without anything to expand.
    pub plain: bool,
    /// Holds an unquoted `{`.
    pub braces: bool,
}

impl Word {
    /// The text of a word that needs no expansion.
    pub(crate) fn literal(&self) -> Option<&str> {
        match (self.plain, self.parts.first()) {
            (true, Some(Part::Literal(text) | Part::Quoted(text))) => Some(text),
            (true, None) => Some(""),
            _ => None,
        }
    }

    /// The text when nothing in it was quoted: reserved words and aliases.
    pub(crate) fn bare(&self) -> Option<&str> {
        if self.quoted { None } else { self.literal() }
    }

    /// As written, shortened.
    pub(crate) fn written(&self) -> &str {
        self.literal().filter(|_| self.written.is_empty()).unwrap_or(&self.written)
    }
}

#[derive(Debug)]
pub(crate) enum Part {
    /// Unquoted text: globs, braces and a leading tilde in it are live.
    Literal(String),
    /// Quoted or escaped text.
    Quoted(String),
    /// `"…"`.
    Double(Vec<Part>),
    Parameter(Box<Parameter>),
    /// `$(…)` and backquotes.
    Command(Rc<Script>),
    /// `$((…))`.
    Arithmetic(Vec<Part>),
    /// `<(…)`.
    ProcessIn(Rc<Script>),
    /// `>(…)`.
    ProcessOut(Rc<Script>),
}

/// `$name`, `${name…}`.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub subscript: Option<Subscript>,
    /// `${!name}`.
    pub indirect: bool,
    pub operation: Operation,
}

#[derive(Debug)]
pub(crate) enum Subscript {
    /// `[@]`, `[*]`.
    All {
        /// In quotes it is one word.
        joined: bool,
    },
    Index(Vec<Part>),
}

#[derive(Debug)]
pub(crate) enum Operation {
    Plain,
    Length,
    /// `-`, `:-` and `=`, `:=` (`assigns`).
    Default {
        colon: bool,
        assigns: bool,
        word: Vec<Part>,
    },
    /// `+`, `:+`.
    Alternative {
        word: Vec<Part>,
    },
    /// `?`, `:?`.
    Required {
        word: Vec<Part>,
    },
    /// `#`, `##`, `%`, `%%`.
    Trim {
        end: bool,
        longest: bool,
        pattern: Vec<Part>,
    },
    /// `/`, `//`, `/#`, `/%`.
    Replace {
        place: ReplacePlace,
        pattern: Vec<Part>,
        with: Vec<Part>,
    },
    /// `^`, `^^`, `,`, `,,`.
    Case {
        upper: bool,
        all: bool,
    },
    /// `:offset`, `:offset:length`.
    Slice {
        offset: Vec<Part>,
        length: Option<Vec<Part>>,
    },
    /// Something else, with the substitutions in it.
    Other(Vec<Part>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplacePlace {
    First,
    All,
    Start,
    End,
}
