//! `feedback:`.

use serde::{Deserialize, Serialize};

use super::command::{self, Command};
use crate::reader::{Fields, Reader};
use crate::table::{Key, Shape, Table};
use crate::yaml::Tree;

pub(crate) static TABLE: Table = Table {
    name: "feedback[]",
    about: "What the agent is told after a tool call. It needs something to say (`say`, `deadline` or `command`) and at \
            least one moment (`every_n_calls`, `every_n_seconds`, `on_file_created`); any of them is enough.",
    keys: &[
        Key::new("name", Shape::Text, "deadline", "What it is called; the agent sees it.").required(),
        Key::new("every_n_calls", Shape::Integer, "10", "After so many tool calls since it last spoke."),
        Key::new("every_n_seconds", Shape::Integer, "300", "After so many seconds since it last spoke."),
        Key::new(
            "on_file_created",
            Shape::Text,
            "PLAN.md",
            "When this file appears, once a session. Relative to the project's root.",
        ),
        Key::new("say", Shape::Text, "Follow PLAN.md.", "What it says."),
        Key::new(
            "deadline",
            Shape::Duration,
            "45m",
            "Tells how much is left of this time, counted from the session's start.",
        ),
        Key::new(
            "warn_below",
            Shape::Duration,
            "120s",
            "With `deadline`: from here on it is urgent. 120s when it is not said.",
        ),
        command::COMMAND,
        command::TIMEOUT,
    ],
};

/// Something the agent is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// What it is called.
    pub name: String,
    /// When it speaks.
    pub trigger: Trigger,
    /// What it says.
    pub says: Says,
}

/// When feedback speaks: any of these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// After so many tool calls.
    pub every_n_calls: Option<u64>,
    /// After so many seconds.
    pub every_n_seconds: Option<u64>,
    /// When this file appears.
    pub on_file_created: Option<String>,
}

/// What feedback says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Says {
    /// Always the same.
    Text(String),
    /// How much time is left. In milliseconds.
    Deadline {
        /// Of this.
        deadline: u64,
        /// Urgent below this.
        warn_below: u64,
    },
    /// What a program prints.
    Command(Command),
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<Vec<Feedback>> {
    let mut all: Vec<Feedback> = Vec::new();
    for item in r.maps(tree, "`feedback`") {
        let Some(f) = r.fields(item, &TABLE) else { continue };
        let Some(one) = one(r, &f) else { continue };
        if let Some(place) = f.get("name").filter(|_| all.iter().any(|known| known.name == one.name)) {
            r.error(place.span, format!("there are two called `{}`", one.name), "give each its own name");
        }
        all.push(one);
    }
    Some(all)
}

fn one(r: &mut Reader<'_>, f: &Fields<'_>) -> Option<Feedback> {
    let name = r.field(f, "name", Reader::sentence);
    let trigger = Trigger {
        every_n_calls: r.field(f, "every_n_calls", at_least_one),
        every_n_seconds: r.field(f, "every_n_seconds", at_least_one),
        on_file_created: r.field(f, "on_file_created", Reader::path),
    };
    if !["every_n_calls", "every_n_seconds", "on_file_created"].iter().any(|key| f.get(key).is_some()) {
        r.error(
            f.span,
            "it would never speak",
            "add `every_n_calls`, `every_n_seconds` or `on_file_created`",
        );
    }
    let sources: Vec<&str> =
        ["say", "deadline", "command"].into_iter().filter(|key| f.get(key).is_some()).collect();
    if let Some(place) = f.get("warn_below").filter(|_| f.get("deadline").is_none()) {
        r.error(place.span, "`warn_below` belongs to a `deadline`", "add `deadline: 45m`, or leave it out");
    }
    let says = match sources.as_slice() {
        ["say"] => Says::Text(r.field(f, "say", Reader::sentence)?),
        ["deadline"] => deadline(r, f)?,
        ["command"] => Says::Command(command::of(r, f)?),
        [] => {
            r.error(f.span, "it has nothing to say", "add `say`, `deadline` or `command`");
            return None;
        }
        several => {
            r.error(f.span, format!("it has both `{}`", several.join("` and `")), "make two of it");
            return None;
        }
    };
    Some(Feedback { name: name?, trigger, says })
}

fn deadline(r: &mut Reader<'_>, f: &Fields<'_>) -> Option<Says> {
    let warn_below = r.field(f, "warn_below", Reader::duration);
    let deadline = r.field(f, "deadline", Reader::duration)?;
    if let (Some(warn), Some(place)) = (warn_below, f.get("warn_below"))
        && warn >= deadline
    {
        r.warning(place.span, "it is urgent from the start", "let `warn_below` be shorter than `deadline`");
    }
    Some(Says::Deadline { deadline, warn_below: warn_below.unwrap_or(120_000) })
}

fn at_least_one(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<u64> {
    let number = r.integer(tree, what)?;
    if number == 0 {
        r.error(tree.span, format!("{what} must be at least 1"), "");
        return None;
    }
    Some(number)
}
