//! Builtins that set variables, options and positional parameters.

use std::rc::Rc;

use super::operands;
use crate::call::Stdin;
use crate::expand::fields::Expanded;
use crate::operand::{Arg, Known, Taint};
use crate::parser::name_prefix;
use crate::state::{Datum, Positional, Value};
use crate::walk::simple::{Argv, positional};
use crate::walk::{Output, Walker};

/// Builtins that declare variables.
pub(crate) fn is_declaration(name: &str) -> bool {
    matches!(name, "declare" | "typeset" | "local" | "export" | "readonly")
}

/// Most words of a line that `read -a` keeps.
const MOST_READ: usize = 256;

impl Walker<'_> {
    pub(super) fn declare(&mut self, builtin: &str, args: &[Expanded]) {
        let options: String =
            args.iter().filter_map(|word| word.arg.known()).filter(|arg| arg.starts_with('-')).collect();
        for word in args {
            let arg = &word.arg;
            let prefix = arg.prefix();
            if prefix.starts_with('-') || arg.value == Known::Nothing {
                continue;
            }
            let name = name_prefix(prefix).to_owned();
            if name.is_empty() {
                continue;
            }
            if builtin == "local" {
                self.hide(&name);
            }
            // A reference, and a number, may have code in its subscript.
            if options.contains(['n', 'i'])
                && builtin != "export"
                && let Some(text) = arg.known()
            {
                let value = text.get(name.len() + 1..).unwrap_or_default().to_owned();
                self.subscript(&value);
            }
            if options.contains('n') && builtin != "export" {
                let meant = strip(arg, name.len());
                let value = match meant.as_ref().and_then(Datum::text).filter(|meant| *meant != name) {
                    Some(meant) => Value::Reference(meant.into()),
                    None => Value::unknown(Taint::default()),
                };
                self.state.set(&name, value);
                continue;
            }
            if options.contains('A') {
                // Its elements were set with it, or follow.
                if !matches!(self.state.variable(&name), Some(Value::Keyed(_))) {
                    self.state.set(&name, Value::unknown(Taint::default()));
                }
                continue;
            }
            let Some(value) = strip(arg, name.len()) else {
                if builtin == "local" {
                    self.state.set(&name, Value::Unset);
                }
                continue;
            };
            let arg = Arg { value: value.value.clone(), ..arg.clone() };
            self.state.set(&name, Value::Scalar(value));
            self.assigned(&name, &arg);
        }
    }

    /// Remembers the value that `local` hides until the function returns.
    fn hide(&mut self, name: &str) {
        let before = self.state.variable(name).cloned();
        if let Some(frame) = self.locals.last_mut() {
            frame.push((name.to_owned(), before));
        }
    }

    pub(super) fn set(&mut self, args: &[Expanded]) {
        let mut flags = self.state.flags();
        let mut rest = args.iter().enumerate();
        while let Some((index, word)) = rest.next() {
            let Some(text) = word.arg.known() else {
                // `set $X` may set anything.
                self.state.set_positional(Positional::Unknown(word.arg.taint));
                break;
            };
            let on = text.starts_with('-');
            match text {
                "--" | "-" => {
                    let words = args.get(index + 1..).unwrap_or_default();
                    if text == "--" || !words.is_empty() {
                        self.state.set_positional(positional(words));
                    }
                    break;
                }
                text if on || text.starts_with('+') => {
                    if text.contains('e') {
                        flags.errexit = on;
                    }
                    if text.contains('o') {
                        match rest.next().and_then(|(_, word)| word.arg.known()) {
                            Some("pipefail") => flags.pipefail = on,
                            Some("errexit") => flags.errexit = on,
                            _ => {}
                        }
                    }
                }
                _ => {
                    self.state.set_positional(positional(args.get(index..).unwrap_or_default()));
                    break;
                }
            }
        }
        self.state.set_flags(flags);
    }

    pub(super) fn shift(&mut self, args: &[Expanded]) {
        let count = match args.first() {
            None => Some(1),
            Some(word) => word.arg.known().and_then(|text| text.parse::<usize>().ok()),
        };
        let shifted = match (self.state.positional(), count) {
            (Positional::Known(list), Some(count)) => {
                Positional::Known(Rc::new(list.iter().skip(count).cloned().collect()))
            }
            (before, _) => Positional::Unknown(before.taint()),
        };
        self.state.set_positional(shifted);
    }

    pub(super) fn unset(&mut self, args: &[Expanded]) {
        let functions = args.iter().any(|word| word.arg.known() == Some("-f"));
        for name in operands(args).filter_map(Arg::known) {
            if !functions {
                self.state.set(name, Value::Unset);
            }
            if functions || self.state.variable(name).is_none() {
                self.state.forget_function(name);
            }
        }
    }

    pub(super) fn set_aliases(&mut self, args: &[Expanded]) {
        for word in args {
            if let Some((name, text)) = word.arg.known().and_then(|text| text.split_once('=')) {
                self.state.set_alias(name, text);
                // An everyday name is used without a thought; a new one is only what its maker calls.
                let everyday = matches!(
                    name,
                    "cd" | "pwd"
                        | "exit"
                        | "ll"
                        | "la"
                        | "l"
                        | ".."
                        | "clear"
                        | "history"
                        | "jobs"
                        | "help"
                        | "fg"
                        | "bg"
                );
                if everyday || crate::programs::is_known(name) {
                    self.aliased.push(text.to_owned());
                }
            }
        }
    }

    /// `read`: the words of a known line, or something unknown with the taint of what is read.
    pub(super) fn read_line(&mut self, args: &[Expanded], by: Option<&str>) {
        let taint = self.stdin_taint();
        // `IFS== read name value`: the text before the sign is not a secret.
        let splits_off_name = by == Some("=");
        let line = match self.input() {
            Stdin::Text(text) => text.lines().next().map(str::to_owned),
            _ => None,
        };
        let separators = by.map(str::to_owned).or_else(|| self.separators());
        let line = line.filter(|_| separators.is_some());
        let separators = separators.unwrap_or_default();
        let splits = |letter: char| separators.contains(letter);
        // Blanks around words belong to the separators, other characters do not.
        let blank = |letter: char| splits(letter) && letter.is_whitespace();
        let line = line.map(|line| line.trim_matches(blank).to_owned());
        let listed = args
            .iter()
            .any(|word| word.arg.known().is_some_and(|text| text.starts_with('-') && text.ends_with('a')));
        let takes_value = |option: &str| matches!(option, "-p" | "-d" | "-n" | "-N" | "-t" | "-u" | "-i");
        let odd =
            args.iter().any(|word| word.arg.known().is_some_and(|text| takes_value(text) && text != "-p"));
        let mut names: Vec<&str> = Vec::new();
        let mut skip = false;
        for word in args {
            let Some(text) = word.arg.known() else { continue };
            if std::mem::take(&mut skip) {
                continue;
            }
            if text.starts_with('-') {
                skip = takes_value(text);
            } else if !name_prefix(text).is_empty() {
                names.push(text);
            }
        }
        if names.is_empty() {
            names.push("REPLY");
        }
        if let (true, Some(name), Some(line)) = (listed, names.first(), line.as_ref().filter(|_| !odd)) {
            let words = line.split(splits).filter(|word| !word.is_empty()).map(Datum::open);
            let list = words.take(MOST_READ).collect();
            return self.state.set(name, Value::List(Rc::new(list)));
        }
        let last = names.len() - 1;
        let mut rest = line.filter(|_| !odd && !listed);
        for (index, name) in names.into_iter().enumerate() {
            let value = match rest.take() {
                None if index == 0 && last > 0 && splits_off_name => Value::unknown(Taint::default()),
                None => Value::unknown(taint),
                Some(line) if index == last => Value::Scalar(Datum::open(&line)),
                Some(line) => {
                    let (word, after) = line.split_once(splits).unwrap_or((&line, ""));
                    let value = Value::Scalar(Datum::open(word));
                    rest = Some(after.trim_start_matches(blank).to_owned());
                    value
                }
            };
            self.state.set(name, value);
        }
    }

    /// Names that a builtin sets to something unknown.
    pub(super) fn unsettle_names(&mut self, args: &[Expanded]) {
        let taint = self.stdin_taint();
        for arg in operands(args) {
            let name = name_prefix(arg.prefix()).to_owned();
            if !name.is_empty() {
                self.state.set(&name, Value::unknown(taint));
            }
        }
    }

    /// `mapfile NAME`: an array of the names that its input lists.
    pub(super) fn map_lines(&mut self, args: &[Expanded]) {
        let Some(names) = self.names_on_input() else { return };
        let names: Vec<Datum> = names.iter().map(Datum::of).collect();
        let array = operands(args).last().map(|arg| name_prefix(arg.prefix()).to_owned());
        if let Some(array) = array.filter(|array| !array.is_empty()) {
            self.state.set(&array, Value::List(Rc::new(names)));
        }
    }

    /// `printf -v NAME FORMAT …`.
    pub(super) fn print_into(&mut self, mut argv: Argv) -> Output {
        let attached = argv.words.get(1).and_then(|word| word.arg.known()?.strip_prefix("-v"));
        let (name, own) = match attached {
            Some("") | None => (argv.words.get(2).and_then(|word| word.arg.known()), 3),
            Some(name) => (Some(name), 2),
        };
        let name = name.unwrap_or_default().to_owned();
        self.subscript(&name);
        argv.words.drain(1..argv.words.len().min(own));
        argv.scene.capture = true;
        let plumbing = std::mem::take(&mut argv.plumbing);
        let value = match self.program("printf", argv) {
            Output::Text(text) => Datum::open(&text),
            other => Datum::unknown(other.taint()),
        };
        if !name_prefix(&name).is_empty() {
            self.state.set(name_prefix(&name), Value::Scalar(value));
        }
        self.report_plumbing(plumbing, None, Some(Output::silent()))
    }
}

/// The value behind `NAME=`; `None` when there is no `=`.
fn strip(arg: &Arg, name: usize) -> Option<Datum> {
    let mut datum = Datum::of(arg);
    datum.value = match &arg.value {
        Known::Text(text) => Known::Text(text.get(name..)?.strip_prefix('=')?.into()),
        Known::Partly { prefix, suffix } => {
            let prefix = prefix.get(name..)?.strip_prefix('=')?.to_owned();
            if prefix.is_empty() && suffix.is_empty() {
                Known::Nothing
            } else {
                Known::Partly { prefix, suffix: suffix.clone() }
            }
        }
        Known::Nothing => return None,
    };
    Some(datum)
}
