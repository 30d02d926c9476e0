//! `feedback:`.

use std::num::NonZeroU64;

use lictor_core::feedback::{Provider, Source, Trigger};

use super::completion::LEVELS;
use super::section::{Section, value};
use super::{audience, command};
use crate::reader::{Fields, Reader};
use crate::table::{Key, Shape, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "feedback",
        Shape::List(&Shape::Fields(&TABLE)),
        "[{name: tests, every_n_calls: 20, say: Run the tests.}]",
        "What the agent is told after a tool call.",
    )],
    read: |r, file, said| said.feedback = value(r, file, "feedback", read).unwrap_or_default(),
    guards: &[],
};

pub(crate) static TABLE: Table = Table {
    name: "feedback[]",
    about: "What the agent is told after a tool call. It needs something to say (`say`, `deadline`, `budget`, `failures`, \
            `findings` or `command`) and at least one moment (`every_n_calls`, `every_n_seconds`, `on_file_created`); \
            any of them is enough, and `failures` has its own.",
    keys: &[
        Key::new("name", Shape::Text, "deadline", "What it is called; the agent sees it.").required(),
        Key::new("every_n_calls", Shape::Integer, "10", "After so many tool calls since it last spoke."),
        Key::new(
            "every_n_seconds",
            Shape::Number,
            "300",
            "After so many seconds since it last spoke; `0.5` is fine.",
        ),
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
        Key::new(
            "budget",
            Shape::Integer,
            "500",
            "Tells how many of so many actions of the session are left; from four fifths on it is urgent.",
        ),
        Key::new("failures", Shape::Integer, "3", "Speaks when so many calls failed one after the other."),
        Key::new(
            "findings",
            Shape::Word(&["LOW", "MEDIUM", "HIGH", "CRITICAL"]),
            "HIGH",
            "Tells which findings of this level or above are open. Silent when there are none.",
        ),
        command::COMMAND,
        command::TIMEOUT,
        command::READS,
        audience::FOR,
    ],
};

/// The keys of the sources.
const SOURCES: [&str; 6] = ["say", "deadline", "budget", "failures", "findings", "command"];
/// The part of a budget, in thousandths, from which on it is urgent.
const URGENT: u16 = 800;

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<Vec<Provider>> {
    let mut all: Vec<Provider> = Vec::new();
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

fn one(r: &mut Reader<'_>, f: &Fields<'_>) -> Option<Provider> {
    let name = r.field(f, "name", Reader::sentence);
    let mut trigger = Trigger {
        every_n_calls: r.field(f, "every_n_calls", at_least_one),
        every_n_millis: r.field(f, "every_n_seconds", seconds),
        on_file_created: r.field(f, "on_file_created", Reader::path),
    };
    let sources: Vec<&str> = SOURCES.into_iter().filter(|key| f.get(key).is_some()).collect();
    if let Some(place) = f.get("warn_below").filter(|_| f.get("deadline").is_none()) {
        r.error(place.span, "`warn_below` belongs to a `deadline`", "add `deadline: 45m`, or leave it out");
    }
    let source = match sources.as_slice() {
        ["say"] => Source::Static { say: r.field(f, "say", Reader::sentence)? },
        ["deadline"] => deadline(r, f)?,
        ["budget"] => {
            let max_actions = r.field(f, "budget", at_least_one)?.get();
            Source::Budget { max_actions, warn_at: URGENT }
        }
        ["failures"] => {
            let failures = r.field(f, "failures", at_least_one)?;
            trigger.every_n_calls = trigger.every_n_calls.or(Some(failures));
            Source::Stall { failures }
        }
        ["findings"] => {
            let at_least = r.field(f, "findings", |r, tree, what| r.choice(tree, what, &LEVELS))?;
            Source::Findings { at_least }
        }
        ["command"] => {
            let command = command::of(r, f)?;
            Source::Command { argv: command.argv, timeout: command.timeout, reads: command.reads }
        }
        [] if f.misspelt => return None,
        [] => {
            r.error(f.span, "it has nothing to say", "add `say`, `deadline` or `command`");
            return None;
        }
        several => {
            r.error(f.span, format!("it has both `{}`", several.join("` and `")), "make two of it");
            return None;
        }
    };
    let moments = ["every_n_calls", "every_n_seconds", "on_file_created", "failures"];
    if !moments.iter().any(|key| f.get(key).is_some()) {
        r.error(
            f.span,
            "it would never speak",
            "add `every_n_calls`, `every_n_seconds` or `on_file_created`",
        );
    }
    let audience = audience::of(r, f);
    if let Some(place) = f.get("for").filter(|_| !(audience.task.is_empty() && audience.subagent.is_empty()))
    {
        r.error(place.span, "feedback is for agents and prompts", "leave out `task` and `subagent`");
    }
    Some(Provider { name: name?, trigger, source, audience })
}

fn deadline(r: &mut Reader<'_>, f: &Fields<'_>) -> Option<Source> {
    let warn_below = r.field(f, "warn_below", Reader::duration);
    let after = r.field(f, "deadline", Reader::duration)?;
    if let (Some(warn), Some(place)) = (warn_below, f.get("warn_below"))
        && warn >= after
    {
        r.warning(place.span, "it is urgent from the start", "let `warn_below` be shorter than `deadline`");
    }
    Some(Source::Deadline { after, warn_below: warn_below.unwrap_or(120_000) })
}

/// Seconds as milliseconds, at least one.
fn seconds(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<NonZeroU64> {
    let seconds = r.number(tree, what)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 or more; too much is the most"
    )]
    let millis = NonZeroU64::new((seconds * 1_000.0).round() as u64);
    if millis.is_none() {
        r.error(tree.span, format!("{what} must be longer than nothing"), "for example `0.5`");
    }
    millis
}

fn at_least_one(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<NonZeroU64> {
    let number = NonZeroU64::new(r.integer(tree, what)?);
    if number.is_none() {
        r.error(tree.span, format!("{what} must be at least 1"), "");
    }
    number
}

#[cfg(test)]
mod tests;
