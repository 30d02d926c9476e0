//! Single values: words, numbers, times, patterns, expressions.

use std::sync::Arc;

use lictor_core::Decision;
use lictor_expr::{CompileError, Pattern, Program, Type};
use serde_json::{Map, Value as Json};

use super::{Reader, is_null, shorten};
use crate::diagnostic::suggest;
use crate::expressions;
use crate::yaml::{Tree, Yaml};

/// The maximum size of a compiled regular expression: the limit of the guards that use it.
pub(crate) const REGEX_SIZE: usize = 1 << 20;

/// Words for decisions.
pub(crate) const DECISIONS: [(&str, Decision); 4] =
    [("pass", Decision::Pass), ("warn", Decision::Warn), ("ask", Decision::Ask), ("block", Decision::Block)];

impl Reader<'_> {
    /// The items of a list; one value alone counts as a list of one.
    pub(crate) fn list<'t>(&mut self, tree: &'t Tree, what: &str) -> Vec<&'t Tree> {
        match &tree.value {
            Yaml::List(items) => items.iter().collect(),
            Yaml::Scalar { text, quoted: false } if is_null(text) => Vec::new(),
            Yaml::Scalar { .. } => vec![tree],
            Yaml::Map(_) => {
                self.wrong_type(tree, what, "a list");
                Vec::new()
            }
        }
    }

    /// The items of a list of maps; one map alone counts as a list of one.
    pub(crate) fn maps<'t>(&mut self, tree: &'t Tree, what: &str) -> Vec<&'t Tree> {
        match &tree.value {
            Yaml::Map(_) => vec![tree],
            _ => self.list(tree, what),
        }
    }

    /// Every item of a list, read in some way.
    pub(crate) fn each<T>(
        &mut self,
        tree: &Tree,
        what: &str,
        read: impl Fn(&mut Self, &Tree, &str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.list(tree, what);
        Some(items.into_iter().filter_map(|item| read(self, item, what)).collect())
    }

    /// Text. Numbers and booleans without quotes are taken as written.
    pub(crate) fn text(&mut self, tree: &Tree, what: &str) -> Option<String> {
        match &tree.value {
            Yaml::Scalar { text, quoted } if *quoted || !is_null(text) => {
                let hidden = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
                if let Some(hidden) = hidden {
                    let code = format!("U+{:04X}", u32::from(hidden));
                    self.error(
                        tree.span,
                        format!("{what} holds the control character {code}"),
                        "leave it out",
                    );
                    return None;
                }
                Some(text.clone())
            }
            _ => {
                self.wrong_type(tree, what, "text");
                None
            }
        }
    }

    /// Text that is not empty.
    pub(crate) fn sentence(&mut self, tree: &Tree, what: &str) -> Option<String> {
        let text = self.text(tree, what)?;
        if text.trim().is_empty() {
            self.error(tree.span, format!("{what} is empty"), "say it in a few words");
            return None;
        }
        Some(text)
    }

    /// A list of texts that are not empty.
    pub(crate) fn texts(&mut self, tree: &Tree, what: &str) -> Option<Vec<String>> {
        self.each(tree, what, Self::sentence)
    }

    pub(crate) fn boolean(&mut self, tree: &Tree, what: &str) -> Option<bool> {
        match &tree.value {
            Yaml::Scalar { text, quoted: false } if text == "true" => Some(true),
            Yaml::Scalar { text, quoted: false } if text == "false" => Some(false),
            _ => {
                let help = match tree.scalar().unwrap_or_default().to_ascii_lowercase().as_str() {
                    "true" | "yes" | "on" | "y" | "1" => "write `true`, without quotes",
                    "false" | "no" | "off" | "n" | "0" => "write `false`, without quotes",
                    _ => "",
                };
                self.wrong_type_but(tree, what, "`true` or `false`", help);
                None
            }
        }
    }

    pub(crate) fn integer(&mut self, tree: &Tree, what: &str) -> Option<u64> {
        let value = match &tree.value {
            Yaml::Scalar { text, quoted: false } if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok()
            }
            _ => None,
        };
        if value.is_none() {
            self.wrong_type(tree, what, "a whole number, 0 or more");
        }
        value
    }

    /// A number from 0 to 1.
    pub(crate) fn fraction(&mut self, tree: &Tree, what: &str) -> Option<f64> {
        let value = match &tree.value {
            Yaml::Scalar { text, quoted: false } => text.parse::<f64>().ok(),
            _ => None,
        };
        let value = value.filter(|number| (0.0..=1.0).contains(number));
        if value.is_none() {
            self.wrong_type(tree, what, "a number from 0 to 1");
        }
        value
    }

    /// A number, 0 or more.
    pub(crate) fn number(&mut self, tree: &Tree, what: &str) -> Option<f64> {
        let value = match &tree.value {
            Yaml::Scalar { text, quoted: false }
                if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') =>
            {
                text.parse::<f64>().ok()
            }
            _ => None,
        };
        let value = value.filter(|number| number.is_finite());
        if value.is_none() {
            self.wrong_type(tree, what, "a number, 0 or more");
        }
        value
    }

    /// A map of the author's own.
    pub(crate) fn data(&mut self, tree: &Tree, what: &str) -> Option<Map<String, Json>> {
        let Yaml::Map(entries) = &tree.value else {
            self.wrong_type(tree, what, "a map");
            return None;
        };
        Some(entries.iter().map(|(key, value)| (key.text.clone(), data(value))).collect())
    }

    /// A length of time: `500ms`, `1.5s`, `10m`, `2h`, `1d`. In milliseconds, more than 0.
    pub(crate) fn duration(&mut self, tree: &Tree, what: &str) -> Option<u64> {
        let value = match &tree.value {
            Yaml::Scalar { text, .. } => millis(text),
            _ => None,
        };
        match value {
            Some(0) => {
                self.error(tree.span, format!("{what} must be longer than nothing"), "");
                None
            }
            Some(value) => Some(value),
            None => {
                self.wrong_type(tree, what, "a length of time such as `30s`, `10m` or `2h`");
                None
            }
        }
    }

    /// One of a closed set of words.
    pub(crate) fn choice<T: Copy>(&mut self, tree: &Tree, what: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(tree, what)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let all = words.iter().map(|(word, _)| *word);
            let help = match another_word(&text).filter(|meant| all.clone().any(|word| word == *meant)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => suggest(&text, "use one of", all),
            };
            self.error(tree.span, format!("{what} cannot be `{}`", shorten(&text)), help);
        }
        found
    }

    /// A decision.
    pub(crate) fn decision(&mut self, tree: &Tree, what: &str) -> Option<Decision> {
        self.choice(tree, what, &DECISIONS)
    }

    /// A decision other than `pass`.
    pub(crate) fn objection(&mut self, tree: &Tree, what: &str) -> Option<Decision> {
        let [_, objections @ ..] = DECISIONS;
        self.choice(tree, what, &objections)
    }

    /// A regular expression that can be matched in linear time.
    pub(crate) fn regex(&mut self, tree: &Tree, what: &str) -> Option<String> {
        let source = self.text(tree, what)?;
        // A block (`|`) ends with an unintended line break.
        let source = source.strip_suffix('\n').map_or(source.clone(), str::to_owned);
        if source.is_empty() {
            self.error(tree.span, format!("{what} is empty and would match everything"), "leave it out");
            return None;
        }
        let problem = match regex_syntax::parse(&source) {
            Ok(_) => None,
            Err(regex_syntax::Error::Parse(error)) => Some((*error.span(), error.kind().to_string())),
            Err(regex_syntax::Error::Translate(error)) => Some((*error.span(), error.kind().to_string())),
            Err(other) => {
                self.error(tree.span, format!("{what} is not a regular expression: {other}"), "");
                return None;
            }
        };
        if let Some((span, problem)) = problem {
            let span = self.inside(tree, span.start.offset, span.end.offset);
            let help = if problem.contains("look-around") || problem.contains("backreference") {
                "patterns are matched in linear time; write it without"
            } else {
                "check brackets and backslashes; a literal character such as `(` is written `\\(`"
            };
            self.error(span, format!("not a regular expression: {problem}"), help);
            return None;
        }
        if regex::RegexBuilder::new(&source).size_limit(REGEX_SIZE).build().is_err() {
            self.error(
                tree.span,
                "this regular expression is too large to be matched",
                "use smaller repetitions",
            );
            return None;
        }
        Some(source)
    }

    /// A list of regular expressions.
    pub(crate) fn regexes(&mut self, tree: &Tree, what: &str) -> Option<Vec<String>> {
        self.each(tree, what, Self::regex)
    }

    /// A path or a glob that something can match.
    pub(crate) fn path(&mut self, tree: &Tree, what: &str) -> Option<String> {
        let text = self.sentence(tree, what)?;
        let trouble = if text == "~" || text.starts_with("~/") {
            Some((
                "`~` does not stand for the home directory here",
                "write the whole path, or a glob such as `**/.ssh/**`",
            ))
        } else if text.split('/').any(|part| part == "..") {
            Some(("a path with `..` matches nothing", "write it from the project's root, or the whole path"))
        } else if text.contains('\n') {
            Some(("a path has one line", "write one path for each entry of the list"))
        } else if let Some(open) = unclosed(&text) {
            let help = if open == '{' {
                "close it, or write `\\\\{` for the character itself"
            } else {
                "close it, or write `\\\\[` for the character itself"
            };
            Some(("a bracket of this glob is not closed", help))
        } else {
            None
        };
        if let Some((problem, help)) = trouble {
            self.error(tree.span, problem, help);
            return None;
        }
        Some(text)
    }

    /// A list of paths and globs.
    pub(crate) fn paths(&mut self, tree: &Tree, what: &str) -> Option<Vec<String>> {
        self.each(tree, what, Self::path)
    }

    /// A condition, checked against what conditions can read.
    pub(crate) fn condition(&mut self, tree: &Tree, what: &str) -> Option<Arc<Program>> {
        let source = self.text(tree, what)?;
        match Program::compile(&source, &expressions::schema(), &Type::Bool) {
            Ok(program) => Some(Arc::new(program)),
            Err(errors) => {
                for error in errors {
                    self.compile_error(tree, error);
                }
                None
            }
        }
    }

    /// Which actions a rule is about.
    pub(crate) fn actions(&mut self, tree: &Tree, what: &str) -> Option<Pattern> {
        let text = self.text(tree, what)?;
        match Pattern::parse(&text) {
            Ok(pattern) => Some(pattern),
            Err(mut error) => {
                // `bash(git push)`: the words of a command are one text.
                if let Some(words) = text.strip_prefix("bash(").and_then(|rest| rest.strip_suffix(')'))
                    && !words.contains(['"', '\''])
                {
                    error.help = Some(format!("write the words in quotes: `bash(\"{words}\")`"));
                }
                self.compile_error(tree, error);
                None
            }
        }
    }

    /// Reports an error of an expression at its place inside the scalar.
    pub(crate) fn compile_error(&mut self, tree: &Tree, error: CompileError) {
        let span = self.inside(tree, error.span.start as usize, error.span.end as usize);
        self.error(span, error.message, error.help.unwrap_or_default());
    }
}

/// The names of decisions in other tools.
fn another_word(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "deny" | "refuse" | "reject" | "forbid" | "stop" | "error" => "block",
        "allow" | "permit" | "accept" | "ok" => "pass",
        "confirm" | "prompt" | "approve" | "approval" => "ask",
        "inform" | "notice" => "warn",
        _ => return None,
    })
}

/// The last bracket that is not closed.
fn unclosed(glob: &str) -> Option<char> {
    let mut open = Vec::new();
    let mut chars = glob.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '[' | '{' => open.push(c),
            ']' if open.last() == Some(&'[') => drop(open.pop()),
            '}' if open.last() == Some(&'{') => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

/// A value as JSON. Unquoted words follow YAML: numbers, booleans and null.
fn data(tree: &Tree) -> Json {
    match &tree.value {
        Yaml::Scalar { text, quoted: true } => Json::from(text.as_str()),
        Yaml::Scalar { text, .. } if is_null(text) => Json::Null,
        Yaml::Scalar { text, .. } => match serde_json::from_str(text) {
            Ok(value @ (Json::Bool(_) | Json::Number(_))) => value,
            _ => Json::from(text.as_str()),
        },
        Yaml::List(items) => items.iter().map(data).collect(),
        Yaml::Map(entries) => entries.iter().map(|(key, value)| (key.text.clone(), data(value))).collect(),
    }
}

/// Milliseconds of `500ms`, `1.5s`, `10m`, `2h`, `1d`. A bare number has no unit and is refused.
#[must_use]
pub fn millis(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (number, decimals) = number.split_once('.').unwrap_or((number, "0"));
    // A duration has at least one millisecond, and more digits would not be exact.
    if decimals.is_empty() || decimals.len() > 9 || decimals.contains('.') {
        return None;
    }
    let factor: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let whole = number.parse::<u64>().ok()?.checked_mul(factor)?;
    let scale = 10_u64.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    let part = decimals.parse::<u64>().ok()?.checked_mul(factor)? / scale;
    whole.checked_add(part)
}

#[cfg(test)]
mod tests;
