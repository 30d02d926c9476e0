use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::Action;
use crate::digest::Digest;
use crate::facts::{Deed, Effect, Facts};

/// Which actions a history condition refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pattern {
    /// What the action was.
    pub what: What,
    /// How it ended; `None`: it was allowed to run.
    pub ended: Option<Ended>,
    /// A glob that some path it touches must match, relative to the project's root or absolute.
    pub path: Option<String>,
    /// Fields of its input that must have these values.
    pub with: Vec<(String, String)>,
    /// Input fields that are bound to variables of a rule, each with its variable. Each combination of values is
    /// tracked separately.
    #[serde(default)]
    pub vars: Vec<(String, String)>,
}

/// What an action was.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum What {
    /// The action's kind, the name of its tool, or its task type.
    Name(String),
    /// A `verb → object` pair among its facts.
    Deed {
        /// The verb.
        verb: String,
        /// The object.
        object: String,
    },
    /// Some simple command whose words start with these.
    Bash(Vec<String>),
}

/// How an action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It ran and succeeded.
    Ok,
    /// It ran and failed.
    Failed,
    /// It was not allowed to run.
    Blocked,
}

impl Pattern {
    /// A pattern for actions that were allowed to run.
    #[must_use]
    pub fn of(what: What) -> Self {
        Self { what, ended: None, path: None, with: Vec::new(), vars: Vec::new() }
    }

    /// The same for actions with this outcome.
    #[must_use]
    pub fn ended(mut self, ended: Ended) -> Self {
        self.ended = Some(ended);
        self
    }

    /// Whether an action matches, ignoring its outcome. `deeds` are those of `facts`.
    ///
    /// If success is required, only commands count whose failure would fail the whole line: only the line's exit
    /// status is known.
    #[must_use]
    pub fn matches(&self, action: &Action, facts: &Facts, deeds: &[Deed]) -> bool {
        let what = match &self.what {
            What::Name(name) => {
                action.kind.as_str() == name
                    || action.tool == *name
                    || action.task_type.as_deref() == Some(name)
                    || self.is_done_by_facts(name, facts)
            }
            What::Deed { verb, object } => {
                deeds.iter().any(|deed| deed.verb == *verb && same_object(&deed.object, object))
            }
            What::Bash(words) => facts.commands().any(|command| {
                starts_with(&command.words, words) && (self.ended != Some(Ended::Ok) || command.attributable)
            }),
        };
        what && self.path.as_deref().is_none_or(|glob| touches(facts, glob))
            && self.with.iter().all(|(field, value)| has(action, field, value))
    }

    /// Whether everything that matches `other` matches this, ignoring outcomes. True only when certain: `git
    /// push` covers `git push --force`, and every command is a `bash`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let what = match (&self.what, &other.what) {
            (What::Bash(start), What::Bash(words)) => starts_with(words, start),
            (What::Name(name), What::Bash(_)) if name == "bash" => true,
            (own, other) => own == other,
        };
        what && (self.path.is_none() || self.path == other.path)
            && self.with.iter().all(|field| other.with.contains(field))
            && self.vars.iter().all(|field| other.vars.contains(field))
    }

    /// The values of the variables in an action; `None` when one of them is missing.
    #[must_use]
    pub fn values(&self, action: &Action) -> Option<BTreeMap<&str, String>> {
        self.vars.iter().map(|(field, var)| Some((var.as_str(), scalar(action, field)?))).collect()
    }

    /// The key under which a session tracks it for these values.
    #[must_use]
    pub fn key_for(&self, key: &str, values: Option<&BTreeMap<&str, String>>) -> String {
        if self.vars.is_empty() {
            return key.to_owned();
        }
        let mut names: Vec<&str> = self.vars.iter().map(|(_, var)| var.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let of = |name: &&str| Some(format!("${name}={:?}", values?.get(name)?));
        match names.iter().map(of).collect::<Option<Vec<_>>>() {
            Some(parts) => format!("{key}{FOR_VALUES}{}]", parts.join(" ")),
            None => format!("{key}{FOR_VALUES}?]"),
        }
    }

    /// `write` means writing, whichever tool does it: `sed -i` counts, and so does `cat` for `read`.
    fn is_done_by_facts(&self, name: &str, facts: &Facts) -> bool {
        match name {
            "write" => facts.files().any(|(access, _)| !access.is_read_only()),
            "read" => facts.files().any(|(access, _)| access == crate::facts::Access::Read),
            "fetch" => facts.effects.iter().any(|effect| matches!(effect, Effect::Reach(_))),
            _ => false,
        }
    }
}

fn has(action: &Action, field: &str, value: &str) -> bool {
    match action.payload.get(field) {
        Some(Value::String(text)) => text == value,
        Some(Value::Number(number)) => number.to_string() == value,
        Some(Value::Bool(flag)) => flag.to_string() == value,
        _ => false,
    }
}

/// Separates the pattern from the values in a key.
pub(super) const FOR_VALUES: &str = " for [";
/// Longer values are remembered by their digest.
const VALUE_CHARS: usize = 120;

/// A field of the input as a text: short, and different for different values.
fn scalar(action: &Action, field: &str) -> Option<String> {
    let text = match action.payload.get(field)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => return None,
    };
    Some(if text.len() > VALUE_CHARS { Digest::of(text.as_bytes()).to_string() } else { text })
}

/// A secret is a file too.
fn same_object(found: &str, wanted: &str) -> bool {
    found == wanted || (found == "secret" && wanted == "file")
}

fn starts_with(words: &[String], start: &[String]) -> bool {
    !start.is_empty() && words.get(..start.len()) == Some(start)
}

fn touches(facts: &Facts, glob: &str) -> bool {
    facts.files().any(|(_, place)| {
        let relative = place.in_project.as_deref();
        relative.into_iter().chain(place.paths()).any(|path| fast_glob::glob_match(glob, path))
    })
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Deed { verb, object } => write!(f, "{verb} {object}"),
            Self::Bash(words) => write!(f, "bash({:?})", words.join(" ")),
        }
    }
}

/// The canonical text: equal exactly for equal patterns.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ended {
            None => write!(f, "{}", self.what)?,
            Some(Ended::Ok) => write!(f, "ok({})", self.what)?,
            Some(Ended::Failed) => write!(f, "failed({})", self.what)?,
            Some(Ended::Blocked) => write!(f, "blocked({})", self.what)?,
        }
        if let Some(path) = &self.path {
            write!(f, " on {path:?}")?;
        }
        self.with.iter().try_for_each(|(field, value)| write!(f, " with {field:?} {value:?}"))?;
        self.vars.iter().try_for_each(|(field, var)| write!(f, " where {field} = ${var}"))
    }
}
