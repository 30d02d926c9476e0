//! The state of a command line: variables, functions, aliases, directories, files it wrote.
//!
//! Every change is journalled, so that a subshell can be undone and the branches of a condition compared at the
//! cost of their changes, not of the whole state.

mod loaded;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::ast;
use crate::operand::{Arg, Cwd, Found, Known, Taint};

/// What is known about one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Datum {
    pub value: Known,
    pub taint: Taint,
    /// It contains an unquoted glob: it matches any number of names.
    pub glob: bool,
    /// The value with its gaps as references to [`GAP`], when there are gaps: for text that is run as code.
    pub template: Option<Rc<str>>,
    /// It represents names from a list.
    pub found: Option<Arc<Found>>,
}

/// A variable that nothing ever sets: the placeholder for unknown parts of text that is run as code.
pub(crate) const GAP: &str = "__LICTOR_UNKNOWN__";

impl Datum {
    pub(crate) fn known(text: impl AsRef<str>) -> Self {
        Self {
            value: Known::Text(text.as_ref().into()),
            taint: Taint::default(),
            glob: false,
            template: None,
            found: None,
        }
    }

    pub(crate) fn unknown(taint: Taint) -> Self {
        Self { value: Known::Nothing, taint, glob: false, template: None, found: None }
    }

    /// Text that may contain gaps.
    pub(crate) fn open(text: &str) -> Self {
        match open_gaps(text) {
            Some(value) => {
                Self { template: Some(text.into()), ..Self { value, ..Self::unknown(Taint::default()) } }
            }
            None => Self::known(text),
        }
    }

    /// The value of a word.
    pub(crate) fn of(arg: &Arg) -> Self {
        Self {
            value: arg.value.clone(),
            taint: arg.taint,
            glob: arg.glob,
            template: None,
            found: arg.found.clone(),
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Known::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// What is known about a text with gaps; `None` when there are none.
pub(crate) fn open_gaps(text: &str) -> Option<Known> {
    let (before, _) = text.split_once(GAP)?;
    let (_, after) = text.rsplit_once(GAP)?;
    let prefix = before.strip_suffix("${").unwrap_or(before).to_owned();
    let suffix = after.strip_prefix('}').unwrap_or(after).to_owned();
    Some(if prefix.is_empty() && suffix.is_empty() {
        Known::Nothing
    } else {
        Known::Partly { prefix, suffix }
    })
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Scalar(Datum),
    /// An indexed array with all its elements; `Rc` because arrays are read far more often than changed.
    List(Rc<Vec<Datum>>),
    /// An array whose elements have names, with all of them.
    Keyed(Rc<Vec<(String, Datum)>>),
    /// Another name for this variable.
    Reference(Rc<str>),
    Unset,
}

impl Value {
    /// The text of a plain variable, when all of it is known.
    fn plain_text(&self) -> Option<String> {
        match self {
            Self::Scalar(datum) if datum.taint == Taint::default() && !datum.glob => {
                datum.text().map(str::to_owned)
            }
            _ => None,
        }
    }

    pub(crate) fn unknown(taint: Taint) -> Self {
        Self::Scalar(Datum::unknown(taint))
    }

    /// The path that the value is, or may be, when it names a secret.
    fn names_secret(&self) -> Option<&str> {
        match self {
            Self::Scalar(datum) => match &datum.value {
                Known::Partly { prefix, suffix } if prefix.is_empty() => Some(suffix.as_str()),
                _ => datum.text(),
            },
            Self::List(_) | Self::Keyed(_) | Self::Reference(_) | Self::Unset => None,
        }
        .filter(|path| crate::programs::is_secret_path(path))
    }

    pub(crate) fn taint(&self) -> Taint {
        match self {
            Self::Scalar(datum) => datum.taint,
            Self::List(list) => list.iter().fold(Taint::default(), |taint, datum| taint.and(datum.taint)),
            Self::Keyed(pairs) => {
                pairs.iter().fold(Taint::default(), |taint, (_, datum)| taint.and(datum.taint))
            }
            Self::Reference(_) | Self::Unset => Taint::default(),
        }
    }
}

/// A function that the line defined.
#[derive(Debug, Clone)]
pub(crate) struct Defined {
    pub function: Rc<ast::Function>,
    /// The definition is known to have been run: it does not come from a branch that may not have been taken.
    pub certain: bool,
    /// Index into the walker's list of all functions.
    pub index: usize,
}

/// What the line wrote into a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Content {
    /// What it wrote, when known. With `>>` there may be earlier content.
    pub text: Option<Rc<str>>,
    pub taint: Taint,
    /// It was made from files that were there before, without text of the line.
    pub own: bool,
    /// It is a link that the line made, to this path.
    pub link: Option<Rc<str>>,
    /// It is a list of files of which the shape is known: what `find` or `ls` printed.
    pub names: Rc<[Arg]>,
}

impl Content {
    /// A list of files.
    pub(crate) fn listing(names: Vec<Arg>) -> Self {
        let taint = names.iter().fold(Taint::default(), |taint, name| taint.and(name.taint));
        Self { taint, names: names.into(), ..Self::default() }
    }

    pub(crate) fn known(text: Rc<str>) -> Self {
        Self { text: Some(text), ..Self::default() }
    }

    pub(crate) fn unknown(taint: Taint) -> Self {
        Self { taint, ..Self::default() }
    }
}

/// Where commands run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directories {
    pub now: Cwd,
    /// The alternative directory: a `cd` after `&&` or in a branch may not have happened.
    pub instead: Option<Cwd>,
    pub previous: Cwd,
    pub stack: Rc<Vec<Cwd>>,
}

/// Shell options and how far the line certainly gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    pub pipefail: bool,
    pub errexit: bool,
    /// The shell has certainly ended (`exit`, `exec`).
    pub ended: bool,
    /// The shell may have ended with success.
    pub may_have_ended: bool,
}

/// `$1`, `$2`, …
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Positional {
    Known(Rc<Vec<Datum>>),
    /// Any number of them, from there.
    Unknown(Taint),
}

impl Positional {
    pub(crate) fn taint(&self) -> Taint {
        match self {
            Self::Known(list) => list.iter().fold(Taint::default(), |taint, datum| taint.and(datum.taint)),
            Self::Unknown(taint) => *taint,
        }
    }
}

pub(crate) struct State {
    /// The values of `$0` and `$BASH_SOURCE` until the line sets them: an agent's command runs in a shell.
    shell: Value,
    variables: BTreeMap<String, Value>,
    /// The alternative values of variables that depend on a condition.
    either: BTreeMap<String, Vec<String>>,
    functions: BTreeMap<String, Defined>,
    aliases: BTreeMap<String, Rc<str>>,
    files: BTreeMap<String, Content>,
    git_aliases: BTreeMap<String, Rc<str>>,
    directories: Directories,
    positional: Positional,
    flags: Flags,
    /// Variables that the line loaded from environment files.
    loaded: Option<BTreeMap<String, Value>>,
    journal: Vec<Change>,
}

/// One entry of the journal: what was there before.
enum Change {
    Variable(String, Option<Value>),
    Function(String, Option<Defined>),
    Alias(String, Option<Rc<str>>),
    File(String, Option<Content>),
    GitAlias(String, Option<Rc<str>>),
    Directories(Directories),
    Positional(Positional),
    Flags(Flags),
}

/// A place in the journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(usize);

/// The changes of a branch, removed from the state.
pub(crate) struct Branch {
    changes: Vec<Change>,
}

impl State {
    pub(crate) fn new() -> Self {
        Self {
            shell: Value::Scalar(Datum::known("bash")),
            variables: BTreeMap::new(),
            either: BTreeMap::new(),
            functions: BTreeMap::new(),
            aliases: BTreeMap::new(),
            files: BTreeMap::new(),
            git_aliases: BTreeMap::new(),
            directories: Directories {
                now: Cwd::Start,
                instead: None,
                previous: Cwd::Unknown,
                stack: Rc::new(Vec::new()),
            },
            positional: Positional::Unknown(Taint::default()),
            flags: Flags::default(),
            loaded: None,
            journal: Vec::new(),
        }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&Value> {
        self.variables.get(name).or_else(|| matches!(name, "0" | "BASH_SOURCE").then_some(&self.shell))
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let meant = match (self.variables.get(name), &value) {
            (Some(Value::Reference(meant)), value)
                if !matches!(value, Value::Reference(_) | Value::Unset) =>
            {
                Some(Rc::clone(meant))
            }
            _ => None,
        };
        let name = meant.as_deref().unwrap_or(name);
        self.either.remove(name);
        let before = self.variables.insert(name.to_owned(), value);
        self.journal.push(Change::Variable(name.to_owned(), before));
    }

    pub(crate) fn function(&self, name: &str) -> Option<&Defined> {
        self.functions.get(name)
    }

    pub(crate) fn define(&mut self, name: &str, function: Defined) {
        let before = self.functions.insert(name.to_owned(), function);
        self.journal.push(Change::Function(name.to_owned(), before));
    }

    pub(crate) fn forget_function(&mut self, name: &str) {
        if let Some(before) = self.functions.remove(name) {
            self.journal.push(Change::Function(name.to_owned(), Some(before)));
        }
    }

    pub(crate) fn alias(&self, name: &str) -> Option<&Rc<str>> {
        self.aliases.get(name)
    }

    pub(crate) fn set_alias(&mut self, name: &str, text: &str) {
        let before = self.aliases.insert(name.to_owned(), text.into());
        self.journal.push(Change::Alias(name.to_owned(), before));
    }

    pub(crate) fn file(&self, path: &str) -> Option<&Content> {
        self.files.get(path)
    }

    /// Every file that the line wrote.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&String, &Content)> {
        self.files.iter()
    }

    /// Few enough to inspect each.
    pub(crate) fn wrote_few(&self) -> bool {
        self.files.len() <= 16
    }

    pub(crate) fn wrote_nothing(&self) -> bool {
        self.files.is_empty()
    }

    pub(crate) fn set_file(&mut self, path: String, content: Content) {
        let before = self.files.insert(path.clone(), content);
        self.journal.push(Change::File(path, before));
    }

    pub(crate) fn git_alias(&self, name: &str) -> Option<&str> {
        self.git_aliases.get(name).map(AsRef::as_ref)
    }

    pub(crate) fn set_git_alias(&mut self, name: &str, text: &str) {
        let before = self.git_aliases.insert(name.to_owned(), text.into());
        self.journal.push(Change::GitAlias(name.to_owned(), before));
    }

    pub(crate) fn directories(&self) -> &Directories {
        &self.directories
    }

    pub(crate) fn set_directories(&mut self, directories: Directories) {
        let before = std::mem::replace(&mut self.directories, directories);
        self.journal.push(Change::Directories(before));
    }

    pub(crate) fn positional(&self) -> &Positional {
        &self.positional
    }

    pub(crate) fn set_positional(&mut self, positional: Positional) {
        let before = std::mem::replace(&mut self.positional, positional);
        self.journal.push(Change::Positional(before));
    }

    pub(crate) fn flags(&self) -> Flags {
        self.flags
    }

    pub(crate) fn set_flags(&mut self, flags: Flags) {
        if flags != self.flags {
            self.journal.push(Change::Flags(self.flags));
            self.flags = flags;
        }
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark(self.journal.len())
    }

    /// Ends a subshell: what it changed in the shell is gone, what it changed in the world stays.
    pub(crate) fn leave(&mut self, mark: Mark) {
        for change in self.take(mark).changes {
            match change {
                Change::File(path, Some(content)) => self.set_file(path, content),
                Change::GitAlias(name, Some(text)) => self.set_git_alias(&name, &text),
                _ => {}
            }
        }
    }

    /// Puts everything back to where it was at the mark and keeps what was changed.
    pub(crate) fn take(&mut self, mark: Mark) -> Branch {
        let mut changes = self.journal.split_off(mark.0.min(self.journal.len()));
        for change in changes.iter_mut().rev() {
            self.swap(change);
        }
        Branch { changes }
    }

    /// Swaps an entry's value with the current one.
    fn swap(&mut self, change: &mut Change) {
        fn exchange<V>(map: &mut BTreeMap<String, V>, name: &str, held: &mut Option<V>) {
            let now = match held.take() {
                Some(value) => map.insert(name.to_owned(), value),
                None => map.remove(name),
            };
            *held = now;
        }
        match change {
            Change::Variable(name, held) => {
                self.either.remove(name.as_str());
                exchange(&mut self.variables, name, held);
            }
            Change::Function(name, held) => exchange(&mut self.functions, name, held),
            Change::Alias(name, held) => exchange(&mut self.aliases, name, held),
            Change::File(name, held) => exchange(&mut self.files, name, held),
            Change::GitAlias(name, held) => exchange(&mut self.git_aliases, name, held),
            Change::Directories(held) => std::mem::swap(&mut self.directories, held),
            Change::Positional(held) => std::mem::swap(&mut self.positional, held),
            Change::Flags(held) => std::mem::swap(&mut self.flags, held),
        }
    }

    /// Goes on as if what changed since the mark had happened, or not.
    pub(crate) fn doubt(&mut self, mark: Mark) {
        // Most commands change nothing.
        if mark.0 < self.journal.len() {
            let branch = self.take(mark);
            self.merge(vec![branch], false);
        }
    }

    /// Goes on as if any of the branches had been taken, or none of them unless `exhaustive`.
    pub(crate) fn merge(&mut self, branches: Vec<Branch>, exhaustive: bool) {
        let base = self.flags;
        let mut variables: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let mut directories: Vec<Directories> = Vec::new();
        let mut positional: Vec<Positional> = Vec::new();
        let mut flags: Vec<Flags> = Vec::new();
        let count = branches.len();
        for branch in branches {
            // The last entry for a name holds its value at the end of the branch.
            let mut ends: BTreeMap<String, Value> = BTreeMap::new();
            let (mut directory, mut words, mut flag) = (None, None, base);
            for change in branch.changes {
                match change {
                    Change::Variable(name, value) => {
                        ends.insert(name, value.unwrap_or(Value::Unset));
                    }
                    Change::Directories(held) => directory = Some(held),
                    Change::Positional(held) => words = Some(held),
                    Change::Flags(held) => flag = held,
                    // Possibly defined functions are kept: that only adds to the analysis.
                    Change::Function(name, Some(mut defined)) => {
                        defined.certain = false;
                        self.define(&name, defined);
                    }
                    Change::Alias(name, Some(text)) => self.set_alias(&name, &text),
                    Change::File(path, Some(content)) => self.set_file(path, content),
                    Change::GitAlias(name, Some(text)) => self.set_git_alias(&name, &text),
                    Change::Function(..) | Change::Alias(..) | Change::File(..) | Change::GitAlias(..) => {}
                }
            }
            for (name, value) in ends {
                variables.entry(name).or_default().push(value);
            }
            directories.extend(directory);
            positional.extend(words);
            flags.push(flag);
        }
        for (name, values) in variables {
            let everywhere = exhaustive && values.len() == count;
            self.merge_variable(&name, values, everywhere);
        }
        self.merge_directories(directories, exhaustive, count);
        if let Some(first) = positional.first() {
            let same =
                exhaustive && positional.len() == count && positional.iter().all(|other| other == first);
            let taint = || positional.iter().fold(Taint::default(), |taint, each| taint.and(each.taint()));
            let merged = if same { first.clone() } else { Positional::Unknown(taint()) };
            self.set_positional(merged);
        }
        if !exhaustive {
            flags.push(base);
        }
        self.set_flags(Flags {
            pipefail: flags.iter().all(|flags| flags.pipefail),
            errexit: flags.iter().all(|flags| flags.errexit),
            ended: flags.iter().all(|flags| flags.ended),
            may_have_ended: flags.iter().any(|flags| flags.may_have_ended),
        });
    }

    fn merge_variable(&mut self, name: &str, mut values: Vec<Value>, everywhere: bool) {
        if !everywhere && let Some(before) = self.variable(name) {
            values.push(before.clone());
        }
        let either: Option<Vec<String>> = values.iter().map(Value::plain_text).collect();
        let known_before = self.variable(name).is_some();
        let either = either.filter(|_| everywhere || known_before);
        let same = values.windows(2).all(|pair| pair.first() == pair.last());
        let first = values.first().cloned();
        let merged = match &first {
            Some(value) if same && (everywhere || known_before) => value.clone(),
            _ => {
                let taint = values.iter().fold(Taint::default(), |taint, value| taint.and(value.taint()));
                let all = values.iter().all(|value| value.names_secret().is_some());
                match first.as_ref().and_then(Value::names_secret).filter(|_| all) {
                    // Not known, but it may well be this: a deletion of it stays open, a reading is one of a secret.
                    Some(path) => Value::Scalar(Datum {
                        value: Known::Partly { prefix: String::new(), suffix: path.to_owned() },
                        ..Datum::unknown(taint)
                    }),
                    None => Value::unknown(taint),
                }
            }
        };
        self.set(name, merged);
        if let Some(either) = either.filter(|_| !same) {
            self.either.insert(name.to_owned(), either);
        }
    }

    /// Sets a variable to one of several values: which one is not known.
    pub(crate) fn set_either(&mut self, name: &str, values: Vec<String>) {
        self.set(name, Value::unknown(Taint::default()));
        self.either.insert(name.to_owned(), values);
    }

    /// The values of a variable of which a condition decides.
    pub(crate) fn either(&self, name: &str) -> Option<&[String]> {
        self.either.get(name).map(Vec::as_slice)
    }

    fn merge_directories(&mut self, ends: Vec<Directories>, exhaustive: bool, count: usize) {
        if ends.is_empty() {
            return;
        }
        let mut places: Vec<Cwd> = Vec::new();
        let base = self.directories.clone();
        let stays = !exhaustive || ends.len() < count;
        let last = ends.last().cloned();
        let candidates = ends.into_iter().rev().chain(stays.then_some(base));
        for candidate in candidates {
            for place in std::iter::once(candidate.now).chain(candidate.instead) {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        let Some(mut merged) = last else { return };
        let mut places = places.into_iter();
        merged.now = places.next().unwrap_or(Cwd::Unknown);
        merged.instead = places.next();
        if places.next().is_some() {
            merged.now = Cwd::Unknown;
            merged.instead = None;
        }
        self.set_directories(merged);
    }
}
