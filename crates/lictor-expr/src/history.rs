//! The history operators: conditions on earlier actions of the session.
//!
//! This crate parses and checks them; the value comes from the environment, which keeps one small automaton or
//! counter per operator instead of rescanning the log.

use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::CompileError;
use crate::limits::MAX_WINDOW_SECONDS;
use crate::parser;
use crate::program::GlobPattern;
use crate::span::Span;
use crate::syntax::{Expr, Kind, quoted};

/// One question about the past.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HistoryOp {
    /// `formerly(P)`, `formerly(P, "1h")`: an earlier action matched, at most `within` ago.
    Formerly {
        /// The pattern.
        pattern: Pattern,
        /// The window.
        within: Option<Duration>,
    },
    /// `previous(P)`: the action just before this one matched.
    Previous {
        /// The pattern.
        pattern: Pattern,
    },
    /// `since(P, Q)`, `since(not(P), Q)`: an earlier action matched `start`, and from then on every action matched
    /// `held`, or none did.
    Since {
        /// The pattern that must have held since then.
        held: Pattern,
        /// It must not have been.
        negated: bool,
        /// Since when.
        start: Pattern,
    },
    /// `count(P)`, `count(P, "10m")`: how many earlier actions matched.
    Count {
        /// The pattern.
        pattern: Pattern,
        /// The window.
        within: Option<Duration>,
    },
}

/// The environment's answer to a [`HistoryOp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HistoryValue {
    /// For `formerly`, `previous` and `since`.
    Bool(bool),
    /// For `count`.
    Int(i64),
}

/// Which earlier actions a history operator or a tool rule refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pattern {
    /// The required outcome. Without one, a history operator counts every action that was allowed to run.
    pub outcome: Option<Outcome>,
    /// What the action was.
    pub what: What,
    /// `on("write", "src/**")`: a glob that some path it touches must match.
    pub path: Option<String>,
    /// `with("deploy", "env", "prod")`: fields of its input and their values, sorted.
    pub with: Vec<(String, String)>,
    /// `write_table(table: $t)`: input fields that are bound to variables of the rule, sorted.
    #[serde(default)]
    pub vars: Vec<(String, String)>,
}

/// How an earlier action ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// It ran and succeeded: `ok(…)`.
    Ok,
    /// It ran and failed: `failed(…)`.
    Failed,
    /// It was not allowed to run: `blocked(…)`.
    Blocked,
}

/// What an earlier action was.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum What {
    /// `"write"`: the kind of the action or the name of its tool.
    Name(String),
    /// `"delete file"`: a `verb → object` fact of the action.
    Fact {
        /// The verb.
        verb: String,
        /// The object.
        object: String,
    },
    /// `bash("cargo test")`: some simple command on the line whose words start with these.
    Bash(Vec<String>),
}

const OUTCOMES: [(&str, Outcome); 3] =
    [("ok", Outcome::Ok), ("failed", Outcome::Failed), ("blocked", Outcome::Blocked)];

/// Characters that `bash("…")` must not contain: it names one command, not a line.
const SHELL_SYNTAX: [char; 14] = ['|', '&', ';', '<', '>', '(', ')', '$', '`', '"', '\'', '\\', '*', '?'];

/// The names that only mean something inside a history operator.
pub(crate) const PATTERN_FUNCTIONS: [&str; 7] = ["bash", "ok", "failed", "blocked", "not", "on", "with"];

impl Pattern {
    /// Parses a pattern from `tools:` of governance.yaml, where plain names need no quotes: `test`, `delete
    /// file`, `bash("git push")`, `ok(bash("cargo test"))`.
    ///
    /// # Errors
    ///
    /// When the text is not a pattern; the span is into `text`.
    ///
    /// ```
    /// use lictor_expr::{Pattern, What};
    ///
    /// let pattern = Pattern::parse(r#"bash("git push")"#)?;
    /// assert_eq!(pattern.what, What::Bash(vec!["git".into(), "push".into()]));
    /// assert_eq!(Pattern::parse("write")?.what, What::Name("write".into()));
    /// # Ok::<(), lictor_expr::CompileError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, CompileError> {
        if text.contains('$') && !text.contains(['"', '\'']) {
            return Self::keyed(text);
        }
        if text.contains(['(', '"', '\'']) {
            return Self::from_expr(&parser::parse(text)?);
        }
        let what = What::named(text).map_err(|problem| problem.at(Span::new(0, text.len())))?;
        Ok(Self::of(what))
    }

    /// An action that was allowed to run, on any path and with any input.
    #[must_use]
    pub fn of(what: What) -> Self {
        Self { outcome: None, what, path: None, with: Vec::new(), vars: Vec::new() }
    }

    /// `write_table(table: $t, mode: append)`: a name with fields of its input, each a variable or a value.
    fn keyed(text: &str) -> Result<Self, CompileError> {
        let problem = |message: &str| {
            CompileError::new(Span::new(0, text.len()), message)
                .help("for example `write_table(table: $t): [read_table(table: $t)]`")
        };
        let (name, fields) = text
            .trim()
            .strip_suffix(')')
            .and_then(|text| text.split_once('('))
            .ok_or_else(|| problem("variables stand in parentheses behind a name"))?;
        let what = What::named(name).map_err(|problem| problem.at(Span::new(0, name.len())))?;
        let mut pattern = Self::of(what);
        for field in fields.split(',') {
            let (field, value) = field
                .split_once(':')
                .map(|(field, value)| (field.trim().to_owned(), value.trim()))
                .filter(|(field, value)| !field.is_empty() && !value.is_empty())
                .ok_or_else(|| problem("a field is written `field: $variable` or `field: value`"))?;
            match value.strip_prefix('$') {
                None => pattern.with.push((field, value.to_owned())),
                Some(name)
                    if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') =>
                {
                    pattern.vars.push((field, name.to_owned()));
                }
                Some(_) => return Err(problem("a variable is `$` and a word of letters, digits and `_`")),
            }
        }
        pattern.with.sort();
        pattern.vars.sort();
        Ok(pattern)
    }

    pub(crate) fn from_expr(expr: &Expr) -> Result<Self, CompileError> {
        let outcome = match &expr.kind {
            Kind::Call { target: None, function, arguments } => OUTCOMES
                .iter()
                .find(|(name, _)| *name == function.text)
                .map(|(_, outcome)| (*outcome, arguments)),
            _ => None,
        };
        match outcome {
            Some((outcome, arguments)) => match arguments.as_slice() {
                [inner] => Ok(Self { outcome: Some(outcome), ..Self::narrowed(inner)? }),
                _ => Err(CompileError::new(expr.span, "an outcome takes one pattern")
                    .help("for example `ok(bash(\"cargo test\"))`")),
            },
            None => Self::narrowed(expr),
        }
    }

    /// `on(P, "glob")`, `with(P, "field", "value")`, or a plain action.
    fn narrowed(expr: &Expr) -> Result<Self, CompileError> {
        let Kind::Call { target: None, function, arguments } = &expr.kind else {
            return Ok(Self::of(What::from_expr(expr)?));
        };
        match (function.text.as_str(), arguments.as_slice()) {
            ("on", [inner, Expr { kind: Kind::Text(glob), span, .. }]) => {
                let mut pattern = Self::narrowed(inner)?;
                GlobPattern::new(glob).map_err(|problem| CompileError::new(*span, problem))?;
                if pattern.path.replace(glob.clone()).is_some() {
                    return Err(CompileError::new(expr.span, "a pattern has one path")
                        .help("write both into one glob: `{src,tests}/**`"));
                }
                Ok(pattern)
            }
            ("with", [inner, Expr { kind: Kind::Text(field), .. }, Expr { kind: Kind::Text(value), .. }]) => {
                let mut pattern = Self::narrowed(inner)?;
                pattern.with.push((field.clone(), value.clone()));
                pattern.with.sort();
                Ok(pattern)
            }
            ("on", _) => Err(CompileError::new(expr.span, "`on` takes a pattern and a glob")
                .help("for example `on(\"write\", \"src/**\")`")),
            ("with", _) => Err(CompileError::new(expr.span, "`with` takes a pattern, a field and its value")
                .help("for example `with(\"deploy\", \"env\", \"prod\")`")),
            _ => Ok(Self::of(What::from_expr(expr)?)),
        }
    }
}

impl What {
    fn from_expr(expr: &Expr) -> Result<Self, CompileError> {
        let result = match &expr.kind {
            Kind::Text(text) => Self::named(text),
            Kind::Call { target: None, function, arguments } if function.text == "bash" => {
                match arguments.as_slice() {
                    [Expr { kind: Kind::Text(words), .. }] => Self::command(words),
                    _ => Err(Problem {
                        message: "`bash` takes one literal text".to_owned(),
                        help: "for example `bash(\"cargo test\")`".to_owned(),
                    }),
                }
            }
            _ => Err(Problem {
                message: "a pattern must be written out".to_owned(),
                help: "for example `\"write\"`, `\"delete file\"` or `bash(\"cargo test\")`".to_owned(),
            }),
        };
        result.map_err(|problem| problem.at(expr.span))
    }

    fn named(text: &str) -> Result<Self, Problem> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            [] => Err(Problem {
                message: "the pattern is empty".to_owned(),
                help: "name a kind such as `write`, a tool, or a verb and an object".to_owned(),
            }),
            [name] => Ok(Self::Name((*name).to_owned())),
            [verb, object] => Ok(Self::Fact { verb: (*verb).to_owned(), object: (*object).to_owned() }),
            _ => Err(Problem {
                message: format!("a pattern has one word, or a verb and an object; this has {}", words.len()),
                help: "for a command write `bash(\"…\")`".to_owned(),
            }),
        }
    }

    fn command(text: &str) -> Result<Self, Problem> {
        if let Some(c) = text.chars().find(|c| SHELL_SYNTAX.contains(c)) {
            return Err(Problem {
                message: format!("`bash` takes the words of one command, not `{c}`"),
                help: "write the plain words that the command starts with".to_owned(),
            });
        }
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(Problem {
                message: "`bash` without words would match every command".to_owned(),
                help: "for every command write `\"bash\"`".to_owned(),
            });
        }
        Ok(Self::Bash(words))
    }
}

struct Problem {
    message: String,
    help: String,
}

impl Problem {
    fn at(self, span: Span) -> CompileError {
        CompileError::new(span, self.message).help(self.help)
    }
}

/// Reads a window such as `"90s"`, `"10m"`, `"1h30m"` or `"2d"`.
pub(crate) fn window(expr: &Expr) -> Result<Duration, CompileError> {
    let problem = |message: &str| {
        CompileError::new(expr.span, message).help("write for example `\"30s\"`, `\"10m\"` or `\"1h\"`")
    };
    let Kind::Text(text) = &expr.kind else {
        return Err(problem("a window must be written out as text"));
    };
    let mut seconds: u64 = 0;
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, tail) = rest.split_at_checked(digits).unwrap_or(("", rest));
        let mut tail = tail.chars();
        let unit = match tail.next() {
            Some('s') => 1,
            Some('m') => 60,
            Some('h') => 60 * 60,
            Some('d') => 24 * 60 * 60,
            _ => return Err(problem("this is not a duration")),
        };
        let Ok(number) = number.parse::<u64>() else {
            return Err(problem("this is not a duration"));
        };
        seconds = seconds.saturating_add(number.saturating_mul(unit));
        rest = tail.as_str();
    }
    if seconds == 0 {
        return Err(problem("a window must be longer than nothing"));
    }
    if seconds > MAX_WINDOW_SECONDS {
        return Err(problem("a window must not be longer than a year"));
    }
    Ok(Duration::from_secs(seconds))
}

impl fmt::Display for HistoryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, pattern, within) = match self {
            Self::Formerly { pattern, within } => ("formerly", pattern, within),
            Self::Previous { pattern } => ("previous", pattern, &None),
            Self::Since { held, negated: false, start } => return write!(f, "since({held}, {start})"),
            Self::Since { held, negated: true, start } => return write!(f, "since(not({held}), {start})"),
            Self::Count { pattern, within } => ("count", pattern, within),
        };
        match within {
            Some(within) => write!(f, "{name}({pattern}, \"{}s\")", within.as_secs()),
            None => write!(f, "{name}({pattern})"),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = self.outcome.and_then(|ours| OUTCOMES.iter().find(|(_, outcome)| *outcome == ours));
        if let Some((name, _)) = outcome {
            write!(f, "{name}(")?;
        }
        self.with.iter().try_for_each(|_| f.write_str("with("))?;
        if let Some(path) = &self.path {
            write!(f, "on({}, ", self.what)?;
            quoted(f, path)?;
            f.write_str(")")?;
        } else {
            self.what.fmt(f)?;
        }
        for (field, value) in &self.with {
            f.write_str(", ")?;
            quoted(f, field)?;
            f.write_str(", ")?;
            quoted(f, value)?;
            f.write_str(")")?;
        }
        if outcome.is_some() { f.write_str(")") } else { Ok(()) }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => quoted(f, name),
            Self::Fact { verb, object } => quoted(f, &format!("{verb} {object}")),
            Self::Bash(words) => {
                f.write_str("bash(")?;
                quoted(f, &words.join(" "))?;
                f.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests;
