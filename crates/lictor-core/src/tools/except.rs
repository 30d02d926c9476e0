use serde::{Deserialize, Serialize};

use crate::action::{Action, ActionKind};
use crate::facts::{Command, Facts, Place};
use crate::history::{Pattern, What};

/// An exception to a rule about the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Except {
    /// The rule's id, as in its verdicts; `require_first` alone matches every such rule.
    pub rule: String,
    /// The exception.
    pub what: Excepted,
}

/// Something that a rule does not hold for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Excepted {
    /// One simple command, or a whole line, word for word.
    Command(String),
    /// A file, by its absolute or project-relative path.
    File(String),
    /// A tool, by its full name.
    Tool(String),
}

/// The exceptions to `rule`.
fn of_rule<'a>(except: &'a [Except], rule: &'a str) -> impl Iterator<Item = &'a Excepted> {
    let family = rule.split_once('.').map(|(family, _)| family);
    let fits = move |one: &&Except| one.rule == rule || family == Some(one.rule.as_str());
    except.iter().filter(fits).map(|one| &one.what)
}

/// Whether an exception covers the gated part of an action.
pub(super) fn lifted(except: &[Except], rule: &str, gated: &Pattern, action: &Action, facts: &Facts) -> bool {
    let command = |text: &str| {
        of_rule(except, rule).any(|what| matches!(what, Excepted::Command(excepted) if excepted == text))
    };
    if let What::Bash(start) = &gated.what {
        let mut gated = facts.commands().filter(|command| command.words.starts_with(start)).peekable();
        return gated.peek().is_some() && gated.all(|one| whole(one).is_some_and(|text| command(&text)));
    }
    // A rule on deeds or kinds does not refer to a single command: only the whole line can be excepted.
    if action.kind == ActionKind::Bash {
        return action.text("command").is_some_and(|line| command(line.trim()));
    }
    let tool = of_rule(except, rule).any(|what| matches!(what, Excepted::Tool(tool) if *tool == action.tool));
    let mut files = facts.files().map(|(_, place)| place).peekable();
    tool || (files.peek().is_some() && files.all(|place| file_lifted(except, rule, place)))
}

/// Whether a rule does not hold for a file.
pub(super) fn file_lifted(except: &[Except], rule: &str, place: &Place) -> bool {
    of_rule(except, rule).any(|what| matches!(what, Excepted::File(file) if place.is_named(file)))
}

/// The text of a command whose words are all known.
fn whole(command: &Command) -> Option<String> {
    let args: Option<Vec<&str>> = command.args.iter().map(Option::as_deref).collect();
    Some(std::iter::once(command.program.as_str()).chain(args?).collect::<Vec<_>>().join(" "))
}
