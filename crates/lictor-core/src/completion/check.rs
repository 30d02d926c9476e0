use std::cell::RefCell;

use serde::{Deserialize, Serialize};

use super::{Checked, Pass, Ran, Situation, Surveyor};
use crate::digest::Digest;
use crate::level::Level;

/// How deep checks may be nested.
pub const MAX_DEPTH: usize = 16;
/// How many files, findings or items a message names; the rest is given as a number.
const NAMED: usize = 3;

/// A condition that must hold before an agent may stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Check {
    /// All of these, checked in order up to the first that is not met.
    All(Vec<Check>),
    /// One of these, checked in order up to the first that is met. An empty list is not met.
    Any(Vec<Check>),
    /// Files that must exist.
    Files(Vec<FileCheck>),
    /// A program that must succeed.
    Command(CommandCheck),
    /// No open findings of this level or above.
    Findings {
        /// The lowest level that is not allowed.
        below: Level,
    },
    /// Nothing open on the agent's own to-do list. Met if the agent has no list.
    Todos,
    /// A check in code, by its name.
    Custom(String),
}

/// A file that must exist.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileCheck {
    /// Path or glob, relative to the project root. A glob needs one matching file.
    pub path: String,
    /// Whether an empty file is enough.
    pub may_be_empty: bool,
    /// Whether it must have been created or changed in this session.
    pub changed: bool,
}

impl FileCheck {
    /// A file that is not empty.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), may_be_empty: false, changed: false }
    }
}

/// A program that must succeed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CommandCheck {
    /// The program and its arguments. No shell.
    pub argv: Vec<String>,
    /// How many milliseconds it may take.
    pub timeout: u64,
    /// Whether a pass is remembered for the tree that the command ran on. Not for a program that judges the
    /// agent's last message.
    #[serde(default = "yes")]
    pub remember: bool,
    /// The project files that determine what it does, for callers that pin them.
    #[serde(default)]
    pub reads: Vec<String>,
}

fn yes() -> bool {
    true
}

/// Invalid checks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// `any` of nothing.
    #[error("`any` without checks can never be met; name at least one, or leave it out")]
    EmptyAny,
    /// A command without a program.
    #[error("a `command` names no program; for example `[cargo, test]`")]
    NoProgram,
    /// Nested too deep.
    #[error("checks are nested more than {MAX_DEPTH} deep")]
    TooDeep,
}

/// The result of a check.
pub(super) enum Answer {
    Met,
    Unmet(Vec<Shortfall>),
}

/// A missing part.
pub(super) struct Shortfall {
    /// In words for the agent.
    pub(super) reason: String,
    /// Identifies the shortfall: the same as long as the same thing is missing.
    pub(super) evidence: String,
    /// Only a person can fix it: the agent is told once, and not sent back again.
    pub(super) for_person: bool,
}

impl Shortfall {
    fn plain(reason: String) -> Self {
        Self { evidence: reason.clone(), reason, for_person: false }
    }
}

/// The inputs of checks, and the commands that have passed so far.
pub(super) struct World<'a> {
    situation: Situation<'a>,
    surveyor: &'a dyn Surveyor,
    passes: RefCell<Vec<Pass>>,
}

impl<'a> World<'a> {
    pub(super) fn new(situation: Situation<'a>, surveyor: &'a dyn Surveyor) -> Self {
        Self { situation, surveyor, passes: RefCell::default() }
    }

    pub(super) fn passes(&self) -> Vec<Pass> {
        self.passes.take()
    }
}

impl Check {
    /// Validates the check as written.
    ///
    /// # Errors
    /// The first invalid part.
    pub fn validate(&self) -> Result<(), CheckError> {
        self.validate_at(0)
    }

    fn validate_at(&self, depth: usize) -> Result<(), CheckError> {
        if depth > MAX_DEPTH {
            return Err(CheckError::TooDeep);
        }
        match self {
            Self::Any(checks) if checks.is_empty() => Err(CheckError::EmptyAny),
            Self::All(checks) | Self::Any(checks) => {
                checks.iter().try_for_each(|check| check.validate_at(depth + 1))
            }
            Self::Command(command) if command.argv.first().is_none_or(String::is_empty) => {
                Err(CheckError::NoProgram)
            }
            Self::Command(_) | Self::Files(_) | Self::Findings { .. } | Self::Todos | Self::Custom(_) => {
                Ok(())
            }
        }
    }

    /// Whether it is this check or contains it.
    #[must_use]
    pub fn names(&self, other: &Self) -> bool {
        match self {
            Self::All(checks) | Self::Any(checks) => checks.iter().any(|check| check.names(other)),
            check => check == other,
        }
    }

    /// The commands it may run, in order.
    #[must_use]
    pub fn commands(&self) -> Vec<&CommandCheck> {
        match self {
            Self::All(checks) | Self::Any(checks) => checks.iter().flat_map(Self::commands).collect(),
            Self::Command(command) => vec![command],
            Self::Files(_) | Self::Findings { .. } | Self::Todos | Self::Custom(_) => Vec::new(),
        }
    }

    pub(super) fn watched<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Self::All(checks) | Self::Any(checks) => checks.iter().for_each(|check| check.watched(into)),
            Self::Files(files) => {
                into.extend(files.iter().filter(|file| file.changed).map(|file| file.path.as_str()));
            }
            Self::Command(_) | Self::Findings { .. } | Self::Todos | Self::Custom(_) => {}
        }
    }

    pub(super) fn ask(&self, world: &World<'_>) -> Answer {
        match self {
            Self::All(checks) => checks
                .iter()
                .map(|check| check.ask(world))
                .find(|answer| matches!(answer, Answer::Unmet(_)))
                .unwrap_or(Answer::Met),
            Self::Any(checks) => any(checks, world),
            Self::Files(wanted) => files(wanted, world),
            Self::Command(wanted) => command(wanted, world),
            Self::Findings { below } => findings(*below, world),
            Self::Todos => todos(world),
            Self::Custom(name) => custom(name, world),
        }
    }
}

fn unmet(reason: String) -> Answer {
    Answer::Unmet(vec![Shortfall::plain(reason)])
}

fn any(checks: &[Check], world: &World<'_>) -> Answer {
    let mut missing = Vec::new();
    for check in checks {
        match check.ask(world) {
            Answer::Met => return Answer::Met,
            Answer::Unmet(shortfalls) => missing.extend(shortfalls),
        }
    }
    if missing.is_empty() {
        return unmet("No checks are configured, so none can pass.".to_owned());
    }
    Answer::Unmet(missing)
}

/// The problem with a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    Missing,
    Empty,
    NotAFile,
    Unchanged,
}

fn files(wanted: &[FileCheck], world: &World<'_>) -> Answer {
    let mut faults: Vec<(Fault, &str)> = Vec::new();
    for file in wanted {
        match fault(file, world) {
            Ok(None) => {}
            Ok(Some(fault)) => faults.push((fault, &file.path)),
            Err(error) => return unmet(format!("Whether `{}` is there cannot be told: {error}.", file.path)),
        }
    }
    let shortfalls = [
        (Fault::Missing, "required output file(s) not found"),
        (Fault::NotAFile, "required output(s) are not files"),
        (Fault::Empty, "required output file(s) are empty"),
        (Fault::Unchanged, "required output file(s) were not changed in this session"),
    ]
    .into_iter()
    .filter_map(|(kind, words)| {
        let names: Vec<&str> =
            faults.iter().filter(|(fault, _)| *fault == kind).map(|(_, name)| *name).collect();
        let evidence = format!("{words}: {}", names.join("\n"));
        (!names.is_empty()).then(|| Shortfall { reason: named(words, &names), evidence, for_person: false })
    })
    .collect::<Vec<_>>();
    if shortfalls.is_empty() { Answer::Met } else { Answer::Unmet(shortfalls) }
}

fn fault(file: &FileCheck, world: &World<'_>) -> Result<Option<Fault>, String> {
    let found = world.surveyor.look(&file.path)?;
    if found.is_empty() {
        return Ok(Some(Fault::Missing));
    }
    if !found.iter().any(|found| found.is_file) {
        return Ok(Some(Fault::NotAFile));
    }
    if !file.may_be_empty && !found.iter().any(|found| found.is_file && found.bytes > 0) {
        return Ok(Some(Fault::Empty));
    }
    if file.changed {
        let now = world.surveyor.fingerprint(&file.path)?;
        if !world.situation.session.watched.has_changed(&file.path, now) {
            return Ok(Some(Fault::Unchanged));
        }
    }
    Ok(None)
}

/// `4 files are missing: a, b, c...`
fn named(words: &str, names: &[&str]) -> String {
    let shown = names.get(..NAMED).unwrap_or(names).join(", ");
    let more = if names.len() > NAMED { "..." } else { "" };
    format!("{} {words}: {shown}{more}", names.len())
}

fn command(wanted: &CommandCheck, world: &World<'_>) -> Answer {
    let line = wanted.argv.join(" ");
    let tree = match world.surveyor.tree() {
        Ok(tree) => tree,
        Err(error) => return unmet(format!("`{line}` was not run: {error}.")),
    };
    let id = Digest::of_parts(wanted.argv.iter().map(String::as_bytes));
    let pass = tree.map(|tree| Pass { command: id, tree }).filter(|_| wanted.remember);
    if pass.is_some_and(|pass| world.situation.session.completion.has_passed(pass)) {
        return Answer::Met;
    }
    let ran = world.surveyor.run(wanted, &world.situation);
    let for_person = matches!(ran, Ran::NotRun(_));
    let (how, tail) = match ran {
        Ran::Ended { code: Some(0), .. } => {
            // A pass belongs to a tree only if the tree was the same before and after the run.
            if let Some(pass) = pass
                && world.surveyor.tree().is_ok_and(|after| after == tree)
            {
                world.passes.borrow_mut().push(pass);
            }
            return Answer::Met;
        }
        Ran::Incomplete(reason) => return unmet(reason),
        Ran::Ended { code: Some(code), tail } => (format!("failed with exit code {code}"), tail),
        Ran::Ended { code: None, tail } => ("was ended by a signal".to_owned(), tail),
        Ran::TimedOut { tail } => (
            format!(
                "did not finish in {}",
                crate::feedback::duration(i64::try_from(wanted.timeout).unwrap_or(i64::MAX))
            ),
            tail,
        ),
        Ran::NotRun(why) => (format!("was not run: {why}"), String::new()),
    };
    let tail = tail.trim_end();
    let reason = if tail.is_empty() {
        format!("`{line}` {how}.")
    } else {
        format!("`{line}` {how}. The end of what it printed:\n{tail}")
    };
    let evidence = format!("{line} {how}\n{}", without_times(tail));
    Answer::Unmet(vec![Shortfall { reason, evidence, for_person }])
}

/// Normalises a text so that two runs that differ only in duration give the same text: numbers followed by a unit
/// of time or inside a clock time are left out.
fn without_times(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace).map(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let number = bare.trim_end_matches(|c: char| c.is_alphabetic());
        let unit = bare.get(number.len()..).unwrap_or_default();
        let numeric = number.starts_with(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ':' | '-' | 'T'));
        let time = matches!(unit, "s" | "ms" | "us" | "µs" | "ns" | "sec" | "secs" | "m" | "Z");
        if numeric && (time || number.contains(':')) { "# " } else { word }
    });
    words.collect()
}

fn findings(below: Level, world: &World<'_>) -> Answer {
    match world.surveyor.open_findings(below) {
        Err(error) => unmet(format!("Open findings cannot be read: {error}.")),
        Ok(titles) if titles.is_empty() => Answer::Met,
        Ok(titles) => {
            let names: Vec<&str> = titles.iter().map(String::as_str).collect();
            let words = format!("open finding(s) of level {below} or above");
            let evidence = format!("{words}: {}", names.join("\n"));
            Answer::Unmet(vec![Shortfall { reason: named(&words, &names), evidence, for_person: false }])
        }
    }
}

fn todos(world: &World<'_>) -> Answer {
    let Some(todos) = world.situation.session.todos.as_ref().filter(|todos| todos.open > 0) else {
        return Answer::Met;
    };
    let shown: Vec<&str> = todos.items.iter().take(NAMED).map(String::as_str).collect();
    let more = if todos.open > u64::try_from(NAMED).unwrap_or(u64::MAX) { "..." } else { "" };
    let reason = format!("{} item(s) of your own list are open: {}{more}", todos.open, shown.join(", "));
    Answer::Unmet(vec![Shortfall {
        reason,
        evidence: format!("todos {}\n{}", todos.open, todos.items.join("\n")),
        for_person: false,
    }])
}

fn custom(name: &str, world: &World<'_>) -> Answer {
    match world.surveyor.ask(name, &world.situation) {
        Ok(Checked::Complete) => Answer::Met,
        Ok(Checked::Incomplete(reason)) => unmet(reason),
        Err(why) => unmet(format!("The check `{name}` has no answer: {why}.")),
    }
}
