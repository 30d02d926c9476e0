//! Functions, methods and macros.

use super::{Checked, Checker, article, listed};
use crate::error::CompileError;
use crate::history::PATTERN_FUNCTIONS;
use crate::program::{Function, GlobPattern, Macro, Node, RegexPattern, TextTest};
use crate::schema::Type;
use crate::span::Span;
use crate::suggest::closest;
use crate::syntax::{Expr, Kind, Name};

/// How a function is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `f(x)`.
    Function,
    /// `x.f()`.
    Method,
    /// Both.
    Either,
}

#[derive(Clone, Copy)]
enum Callee {
    Unary(Function),
    Text(TextTest),
    Matches,
    Glob,
    Has,
    Macro(Macro),
    History,
}

/// Every function: its name, how it is called, and the number of its arguments, including the receiver.
const FUNCTIONS: [(&str, Form, usize, Callee); 21] = [
    ("size", Form::Either, 1, Callee::Unary(Function::Size)),
    ("lowerAscii", Form::Method, 1, Callee::Unary(Function::LowerAscii)),
    ("upperAscii", Form::Method, 1, Callee::Unary(Function::UpperAscii)),
    ("int", Form::Function, 1, Callee::Unary(Function::ToInt)),
    ("double", Form::Function, 1, Callee::Unary(Function::ToDouble)),
    ("string", Form::Function, 1, Callee::Unary(Function::ToText)),
    ("startsWith", Form::Method, 2, Callee::Text(TextTest::StartsWith)),
    ("endsWith", Form::Method, 2, Callee::Text(TextTest::EndsWith)),
    ("contains", Form::Method, 2, Callee::Text(TextTest::Contains)),
    ("matches", Form::Either, 2, Callee::Matches),
    ("glob", Form::Either, 2, Callee::Glob),
    ("has", Form::Function, 1, Callee::Has),
    ("all", Form::Method, 3, Callee::Macro(Macro::All)),
    ("exists", Form::Method, 3, Callee::Macro(Macro::Exists)),
    ("exists_one", Form::Method, 3, Callee::Macro(Macro::ExistsOne)),
    ("filter", Form::Method, 3, Callee::Macro(Macro::Filter)),
    ("map", Form::Method, 3, Callee::Macro(Macro::Map)),
    ("formerly", Form::Function, 0, Callee::History),
    ("previous", Form::Function, 0, Callee::History),
    ("since", Form::Function, 0, Callee::History),
    ("count", Form::Function, 0, Callee::History),
];

fn find(name: &str) -> Option<(Form, usize, Callee)> {
    FUNCTIONS
        .iter()
        .find(|(known, ..)| *known == name)
        .map(|(_, form, takes, callee)| (*form, *takes, *callee))
}

/// Whether this is the name of a method.
pub(super) fn is_method(name: &str) -> bool {
    find(name).is_some_and(|(form, ..)| form != Form::Function)
}

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        span: Span,
        target: Option<&Expr>,
        function: &Name,
        arguments: &[Expr],
    ) -> Checked {
        let name = &function.text;
        let Some((form, takes, callee)) = find(name) else {
            return self.unknown(target, function, arguments);
        };
        let error = match (form, target) {
            (Form::Function, Some(_)) => Some(format!("write `{name}(…)`")),
            (Form::Method, None) => Some(format!("write `value.{name}(…)`")),
            _ => None,
        };
        if let Some(help) = error {
            let message = format!("`{name}` is not called this way");
            return self.fail(CompileError::new(function.span, message).help(help));
        }
        if matches!(callee, Callee::History) {
            return self.history(span, function, arguments);
        }
        let values: Vec<&Expr> = target.into_iter().chain(arguments).collect();
        match (callee, values.as_slice()) {
            (Callee::Unary(function), [value]) => self.unary_call(span, function, value),
            (Callee::Text(test), [text, part]) => {
                let text = self.operand(text, &Type::String, test.shown());
                let part = self.operand(part, &Type::String, test.shown());
                self.push(span, Node::Compare { function: test, text, part }, Type::Bool)
            }
            (Callee::Matches, [text, pattern]) => self.matches(span, text, pattern),
            (Callee::Glob, [text, pattern]) => self.glob(span, text, pattern),
            (Callee::Has, [value]) => self.has(span, value),
            (Callee::Macro(kind), [over, variable, body]) => {
                self.each(span, kind, over, variable, None, body)
            }
            (Callee::Macro(Macro::Map), [over, variable, condition, body]) => {
                self.each(span, Macro::Map, over, variable, Some(condition), body)
            }
            _ => {
                let before = usize::from(target.is_some());
                let wanted = match takes - before.min(takes) {
                    0 => "no arguments".to_owned(),
                    1 => "one argument".to_owned(),
                    2 if matches!(callee, Callee::Macro(_)) => "a variable and an expression".to_owned(),
                    n => format!("{n} arguments"),
                };
                let message = format!("`{name}` takes {wanted}, not {}", arguments.len());
                self.fail(CompileError::new(span, message))
            }
        }
    }

    fn unknown(&mut self, target: Option<&Expr>, function: &Name, arguments: &[Expr]) -> Checked {
        // The arguments are checked too, so that their problems are reported at the same time. A first argument
        // that is a plain unknown name is assumed to be the variable of a misspelt macro.
        target.map(|target| self.expr(target));
        let variable = match arguments {
            [Expr { kind: Kind::Name(name), .. }, ..] if target.is_some() => {
                self.schema.root(name).is_none().then(|| name.clone())
            }
            _ => None,
        };
        let bound = self.variables.len();
        self.variables.extend(variable.map(|name| (name, Type::Dyn)));
        for argument in arguments {
            self.expr(argument);
        }
        self.variables.truncate(bound);
        let name = function.text.as_str();
        let error = CompileError::new(function.span, format!("there is no function `{name}`"));
        let method = target.is_some();
        let names = FUNCTIONS
            .iter()
            .filter(|(_, form, ..)| *form == Form::Either || (*form == Form::Method) == method)
            .map(|(name, ..)| *name);
        let methods = FUNCTIONS.iter().filter(|(_, form, ..)| *form == Form::Method).map(|(name, ..)| *name);
        let behind = closest(name, methods).filter(|_| !method);
        let error = match (name, closest(name, names.clone())) {
            (name, _) if PATTERN_FUNCTIONS.contains(&name) && !method => error
                .help(format!("patterns stand inside history operators, for example `formerly({name}(…))`")),
            ("len" | "length" | "count", _) => error.help("write `size(…)`"),
            ("includes" | "has" | "include", _) if method => error.help("write `contains(…)` or `in`"),
            ("lower" | "toLower" | "to_lower" | "lowercase", _) => error.help("write `lowerAscii()`"),
            ("upper" | "toUpper" | "to_upper" | "uppercase", _) => error.help("write `upperAscii()`"),
            ("any" | "some", _) => error.help("write `exists(x, …)`"),
            ("every", _) => error.help("write `all(x, …)`"),
            ("not", _) => error.help("write `!`"),
            (_, Some(close)) => error.help(format!("did you mean `{close}`?")),
            (_, None) if behind.is_some() => {
                error.help(format!("it stands behind a value: `value.{}(…)`", behind.unwrap_or_default()))
            }
            (_, None) => error.help(format!("known here: {}", listed(names))),
        };
        self.fail(error)
    }

    fn unary_call(&mut self, span: Span, function: Function, argument: &Expr) -> Checked {
        let (id, of) = self.expr(argument);
        let (fits, wanted, result) = match function {
            Function::Size => (
                matches!(of, Type::String | Type::List(_) | Type::Map(_)),
                "a string, a list or a map",
                Type::Int,
            ),
            Function::LowerAscii | Function::UpperAscii => (of == Type::String, "a string", Type::String),
            Function::ToInt | Function::ToDouble => (
                of.is_numeric() || of == Type::String,
                "a number or a string",
                if function == Function::ToInt { Type::Int } else { Type::Double },
            ),
            Function::ToText => (
                of.is_numeric() || matches!(of, Type::String | Type::Bool),
                "a string, a number or a bool",
                Type::String,
            ),
        };
        if !fits && of != Type::Dyn {
            let message = format!("{} needs {wanted}, but this is {}", function.shown(), article(&of));
            self.errors.push(CompileError::new(argument.span, message));
        }
        self.push(span, Node::Call { function, argument: id }, result)
    }

    fn matches(&mut self, span: Span, text: &Expr, pattern: &Expr) -> Checked {
        let text = self.operand(text, &Type::String, "`matches`");
        let Kind::Text(source) = &pattern.kind else {
            let error =
                CompileError::new(pattern.span, "the pattern of `matches` must be written out as text");
            return self.fail(error.help("for text that is not known here, use `contains` or `startsWith`"));
        };
        let known = self.regexes.iter().position(|regex| regex.source() == source);
        let regex = known.unwrap_or(self.regexes.len());
        if known.is_none() {
            match RegexPattern::new(source) {
                Ok(compiled) => self.regexes.push(compiled),
                Err(message) => return self.fail(CompileError::new(pattern.span, message)),
            }
        }
        self.push(span, Node::Matches { text, regex }, Type::Bool)
    }

    fn glob(&mut self, span: Span, text: &Expr, pattern: &Expr) -> Checked {
        let text = self.operand(text, &Type::String, "`glob`");
        let Kind::Text(source) = &pattern.kind else {
            let message = "the pattern of `glob` must be written out as text";
            return self.fail(CompileError::new(pattern.span, message));
        };
        match GlobPattern::new(source) {
            Ok(glob) => {
                let known = self.globs.iter().position(|other| *other == glob);
                let index = known.unwrap_or(self.globs.len());
                if known.is_none() {
                    self.globs.push(glob);
                }
                self.push(span, Node::Glob { text, glob: index }, Type::Bool)
            }
            Err(message) => self.fail(CompileError::new(pattern.span, message)),
        }
    }

    fn has(&mut self, span: Span, argument: &Expr) -> Checked {
        let Kind::Member { target, field } = &argument.kind else {
            let error =
                CompileError::new(argument.span, "`has` needs a field, such as `has(payload.ticket)`");
            return self.fail(if matches!(argument.kind, Kind::Index { .. }) {
                error.help("for a key that is no name, write `\"key\" in map`")
            } else {
                error
            });
        };
        let (target, of) = self.expr(target);
        match self.field_type(&of, field) {
            Ok(_) => self.push(span, Node::Has { target, field: field.text.clone() }, Type::Bool),
            Err(error) => self.fail(error),
        }
    }

    fn each(
        &mut self,
        span: Span,
        kind: Macro,
        over: &Expr,
        variable: &Expr,
        condition: Option<&Expr>,
        body: &Expr,
    ) -> Checked {
        let (over_id, of) = self.expr(over);
        let item = match &of {
            Type::List(item) => item.read().clone(),
            Type::Map(_) => Type::String,
            Type::Dyn => Type::Dyn,
            other => {
                let message =
                    format!("{} needs a list or a map, but this is {}", kind.shown(), article(other));
                self.errors.push(CompileError::new(over.span, message));
                Type::Dyn
            }
        };
        let name = match &variable.kind {
            Kind::Name(name) if self.schema.root(name).is_none() => name.clone(),
            Kind::Name(name) => {
                let message = format!("`{name}` is a root, so it cannot be a variable");
                self.errors.push(CompileError::new(variable.span, message).help("choose another name"));
                name.clone()
            }
            _ => {
                let error = CompileError::new(variable.span, "a variable must be a plain name");
                self.errors.push(error.help("for example `list.all(x, x != \"\")`"));
                String::new()
            }
        };
        self.variables.push((name, item.clone()));
        let condition = condition.map(|condition| self.operand(condition, &Type::Bool, kind.shown()));
        let (body, result) = match kind {
            Macro::Map => {
                let (body, of) = self.expr(body);
                (body, Type::list(of))
            }
            Macro::Filter => (self.operand(body, &Type::Bool, kind.shown()), Type::list(item)),
            Macro::All | Macro::Exists | Macro::ExistsOne => {
                (self.operand(body, &Type::Bool, kind.shown()), Type::Bool)
            }
        };
        self.variables.pop();
        self.push(span, Node::Each { kind, over: over_id, condition, body }, result)
    }
}
