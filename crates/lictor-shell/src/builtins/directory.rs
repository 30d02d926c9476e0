//! `cd`, `pushd`, `popd`, `dirs`.

use std::rc::Rc;

use crate::expand::fields::Expanded;
use crate::operand::{Arg, Cwd, Known, Taint};
use crate::paths;
use crate::state::{Datum, Directories, Value};
use crate::walk::{Output, Walker};

impl Walker<'_> {
    /// `searched` is the search path in front of the command.
    pub(super) fn change_directory(&mut self, args: &[Expanded], searched: Option<&str>) {
        let target = super::operands(args).next().cloned();
        let back = args.iter().any(|word| word.arg.known() == Some("-"));
        let mut directories = self.state.directories().clone();
        let from = directories.now.clone();
        if back {
            directories.now = directories.previous.clone();
            directories.instead = None;
        } else {
            let home = self.home().unwrap_or_else(|| "~".to_owned());
            let target = target.unwrap_or_else(|| Arg::literal(home));
            directories.now = entered(&from, &target);
            directories.instead = directories
                .instead
                .map(|from| entered(&from, &target))
                .filter(|other| *other != directories.now);
            // The directory that `cd` searches first, if the line sets one.
            let relative = |path: &str| {
                !path.starts_with(['/', '~']) && !matches!(path.split('/').next(), Some("." | ".."))
            };
            if let Some(first) = searched.map_or_else(|| self.search_path(), first_of)
                && target.known().is_some_and(relative)
            {
                let there = entered(&first, &target);
                directories.instead = Some(std::mem::replace(&mut directories.now, there));
            }
        }
        directories.previous = from;
        self.state.set_directories(directories);
    }

    /// The first directory of `CDPATH`, when the line sets it or may have set it.
    fn search_path(&self) -> Option<Cwd> {
        let Value::Scalar(datum) = self.state.variable("CDPATH")? else { return None };
        match datum.text() {
            Some(places) => first_of(places),
            None => Some(Cwd::Unknown),
        }
    }

    pub(super) fn push_directory(&mut self, args: &[Expanded]) {
        let words = || args.iter().filter_map(|word| word.arg.known());
        if words().any(|word| word == "-n") {
            return;
        }
        let mut directories = self.state.directories().clone();
        let from = directories.now.clone();
        let mut all = listed(&directories);
        let target = super::operands(args).next().filter(|target| !target.prefix().starts_with('+')).cloned();
        match (target, words().find_map(|word| position(word, all.len()))) {
            (Some(target), _) => all.insert(0, entered(&from, &target)),
            (None, Some(at)) if at < all.len() => all.rotate_left(at),
            (None, None) if all.len() > 1 => all.swap(0, 1),
            _ => all.insert(0, Cwd::Unknown),
        }
        directories.instead = None;
        directories.previous = from;
        put(&mut directories, all);
        self.state.set_directories(directories);
    }

    pub(super) fn pop_directory(&mut self, args: &[Expanded]) {
        let mut directories = self.state.directories().clone();
        let mut all = listed(&directories);
        let at = args.iter().find_map(|word| position(word.arg.known()?, all.len())).unwrap_or(0);
        if at < all.len() {
            all.remove(at);
        }
        if at == 0 {
            directories.previous = directories.now.clone();
            directories.instead = None;
        }
        if all.is_empty() {
            all.push(Cwd::Unknown);
        }
        put(&mut directories, all);
        self.state.set_directories(directories);
    }

    /// `dirs`, `dirs +1`, `dirs -l -p`.
    pub(super) fn print_directories(&self, args: &[Expanded]) -> Output {
        let all = listed(self.state.directories());
        let words = || args.iter().filter_map(|word| word.arg.known());
        let one = words().find_map(|word| position(word, all.len()));
        let chosen = all.iter().enumerate().filter(|(at, _)| one.is_none_or(|one| one == *at));
        let paths: Option<Vec<String>> = chosen.map(|(_, place)| place.absolute(self.outside())).collect();
        let between = if words().any(|word| word == "-p") { "\n" } else { " " };
        paths.map_or_else(Output::unknown, |paths| Output::Text(paths.join(between) + "\n"))
    }

    /// The directory that `~+`, `~-` or an entry of the stack (`~1`, `~-0`) refers to.
    pub(crate) fn directory_named(&self, name: &str) -> Option<String> {
        let directories = self.state.directories();
        let variable = match name {
            "+" => "PWD",
            "-" => "OLDPWD",
            name => {
                let all = listed(directories);
                return all.get(position(name, all.len())?)?.absolute(self.outside());
            }
        };
        match self.state.variable(variable) {
            Some(Value::Scalar(datum)) => datum.text().map(str::to_owned),
            Some(_) => None,
            None if name == "+" => self.working_directory(),
            None => directories.previous.absolute(self.outside()),
        }
    }

    /// `DIRSTACK`, unless the line has made another variable of it.
    pub(crate) fn directory_stack(&self, variable: &str) -> Option<Value> {
        if variable != "DIRSTACK" {
            return None;
        }
        let place = |place: &Cwd| match place.absolute(self.outside()) {
            Some(path) => Datum::known(path),
            None => Datum::unknown(Taint::default()),
        };
        Some(Value::List(Rc::new(listed(self.state.directories()).iter().map(place).collect())))
    }
}

/// Whether the text after a tilde names a directory from the shell's stack, and not a user.
pub(crate) fn names_directory(name: &str) -> bool {
    matches!(name, "+" | "-") || position(name, 0).is_some()
}

/// The index of an entry in a list of directories: `2`, `+2` from the front, `-0` from the back.
fn position(word: &str, count: usize) -> Option<usize> {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let number = digits.parse::<usize>().unwrap_or(usize::MAX);
    if word.starts_with('-') { Some(count.wrapping_sub(1).wrapping_sub(number)) } else { Some(number) }
}

/// The current directory and the stack, the latest first.
fn listed(directories: &Directories) -> Vec<Cwd> {
    std::iter::once(&directories.now).chain(directories.stack.iter().rev()).cloned().collect()
}

fn put(directories: &mut Directories, mut all: Vec<Cwd>) {
    all.reverse();
    directories.now = all.pop().unwrap_or(Cwd::Unknown);
    directories.stack = Rc::new(all);
}

fn entered(from: &Cwd, target: &Arg) -> Cwd {
    match target.known() {
        Some("") => from.clone(),
        Some(path) if target.glob => paths::enter_any(from, path),
        Some(path) => paths::enter(from, path),
        // A new temporary directory is empty, whatever its name.
        None if paths::is_temporary(target.prefix()) => match &target.value {
            Known::Partly { prefix, suffix } if !suffix.contains("..") => {
                Cwd::Glob(format!("{prefix}*{suffix}"))
            }
            _ => Cwd::Unknown,
        },
        None => Cwd::Unknown,
    }
}

/// The first directory of a search path that is not the current one.
fn first_of(places: &str) -> Option<Cwd> {
    let first = places.split(':').find(|place| !matches!(*place, "" | "."))?;
    Some(Cwd::Known(first.to_owned()))
}
