//! `find` and `fd`: what they match, and their actions on it.

use lictor_core::facts::Access;

use super::files::write_maybe_device;
use super::report::{below, glob, listed};
use crate::call::{Call, Report};
use crate::describe::Trait;
use crate::operand::{Arg, Known, Listed};

/// Which entries below a root an expression lets through.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Matched {
    /// All of them, or all of a type.
    All,
    /// Everything below the root but not the root.
    Below,
    /// Some, by age, size or another test that names nothing.
    Some,
    /// Entries that only the file system can tell: by their age, number, owner. It may be any of them.
    Any,
    /// Those with one of these names or paths.
    Named(Vec<String>),
}

impl Matched {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Named(names), _) | (_, Self::Named(names)) => Self::Named(names),
            (Self::Some, _) | (_, Self::Some) => Self::Some,
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Below, _) | (_, Self::Below) => Self::Below,
            (Self::All, Self::All) => Self::All,
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Below, _) | (_, Self::Below) => Self::Below,
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Some, _) | (_, Self::Some) => Self::Some,
            (Self::Named(mut names), Self::Named(more)) => {
                names.extend(more);
                Self::Named(names)
            }
        }
    }

    /// The operands for the matches below `root`, and whether whole trees match.
    fn operands(&self, root: &Arg) -> Vec<(Arg, bool)> {
        match self {
            Self::All => vec![(root.clone(), true)],
            Self::Below => vec![(below(root, "*"), true)],
            // Any number of entries, but not simply all of them.
            Self::Some => vec![(below(root, "**/?"), false)],
            Self::Any => vec![(below(root, "**/*"), false)],
            Self::Named(names) => names
                .iter()
                .map(|name| {
                    let fixed = name.split(['*', '?', '[']).next().unwrap_or_default();
                    if fixed.contains('/') {
                        (glob(name), false)
                    } else {
                        (below(root, &format!("**/{name}")), false)
                    }
                })
                .collect(),
        }
    }
}

enum Action {
    Delete,
    Exec { argv: Vec<Arg>, in_dir: bool },
    Write(Arg),
}

/// Deepest nesting of parentheses that is followed.
const DEPTH: usize = 64;

struct Expression<'a> {
    args: std::iter::Peekable<std::slice::Iter<'a, Arg>>,
    actions: Vec<(Matched, Action)>,
    /// Whether the whole goes deeper than is followed.
    too_deep: bool,
}

impl Expression<'_> {
    /// Reads alternatives up to a closing parenthesis or the end. `outer` is what held before.
    fn alternatives(&mut self, outer: &Matched, depth: usize) -> Matched {
        let mut whole: Option<Matched> = None;
        let mut current = outer.clone();
        let mut own = Matched::All;
        let mut negated = false;
        while let Some(arg) = self.args.next() {
            let word = arg.known().unwrap_or_default();
            let mut test = match word {
                ")" => break,
                "(" if depth >= DEPTH => {
                    self.too_deep = true;
                    return Matched::All;
                }
                "(" => self.alternatives(&current, depth + 1),
                "!" | "-not" => {
                    negated = !negated;
                    continue;
                }
                "-a" | "-and" => continue,
                "-o" | "-or" | "," => {
                    whole = Some(match whole {
                        Some(whole) => whole.or(own),
                        None => own,
                    });
                    own = Matched::All;
                    current = outer.clone();
                    negated = false;
                    continue;
                }
                word => self.primary(word, &current),
            };
            // After excluding some names nearly everything still matches.
            if negated {
                test = if test == Matched::Below { Matched::Some } else { Matched::All };
                negated = false;
            }
            current = current.and(test.clone());
            own = own.and(test);
        }
        match whole {
            Some(whole) => whole.or(own),
            None => own,
        }
    }

    /// Reads what one word of an expression asks for or does, and its value.
    fn primary(&mut self, word: &str, current: &Matched) -> Matched {
        match word {
            "-delete" => self.actions.push((current.clone(), Action::Delete)),
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let argv = self.command();
                self.actions.push((current.clone(), Action::Exec { argv, in_dir: word.ends_with("dir") }));
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = self.args.next() {
                    self.actions.push((current.clone(), Action::Write(file.clone())));
                }
                if word == "-fprintf" {
                    self.args.next();
                }
            }
            "-name" | "-iname" | "-lname" | "-ilname" | "-path" | "-ipath" | "-wholename" | "-iwholename" => {
                let folds = word.starts_with("-i");
                let whole = word.ends_with("path") || word.ends_with("wholename");
                return match self.args.next().and_then(Arg::known) {
                    Some("*" | "**" | "./*" | "*.*" | ".*" | "?*") => Matched::Below,
                    Some(path) if whole => Matched::Named(path_patterns(path, folds)),
                    Some(name) => Matched::Named(in_either_case(name.to_owned(), folds)),
                    None => Matched::Some,
                };
            }
            "-regex" | "-iregex" => {
                return match self.args.next().and_then(Arg::known) {
                    Some(pattern) if pattern.chars().all(|letter| ".*+?/^$()|\\".contains(letter)) => {
                        Matched::Below
                    }
                    Some(pattern) => match as_path_pattern(pattern) {
                        Some(path) => Matched::Named(path_patterns(&path, word == "-iregex")),
                        None => Matched::Some,
                    },
                    None => Matched::Some,
                };
            }
            "-mindepth" => {
                let depth = self.args.next().and_then(Arg::known).unwrap_or_default();
                return if depth == "0" { Matched::All } else { Matched::Below };
            }
            "-empty" | "-nouser" | "-nogroup" | "-executable" | "-writable" | "-readable" => {
                return Matched::Some;
            }
            "-type" | "-xtype" | "-maxdepth" | "-printf" | "-fstype" | "-D" | "-regextype" => {
                self.args.next();
            }
            _ if is_test_with_value(word) => {
                self.args.next();
                // A size selects specific files; an age does not.
                return if word == "-size" { Matched::Some } else { Matched::Any };
            }
            _ => {}
        }
        Matched::All
    }

    fn command(&mut self) -> Vec<Arg> {
        let mut argv: Vec<Arg> = Vec::new();
        while let Some(arg) = self.args.next() {
            match arg.known() {
                Some(";") => break,
                Some("+") if argv.last().is_some_and(|last| last.known() == Some("{}")) => break,
                Some("+") if self.args.peek().is_none_or(|next| next.prefix().starts_with('-')) => break,
                _ => argv.push(arg.clone()),
            }
        }
        argv
    }
}

/// A pattern, and the same in lower case where case does not count.
fn in_either_case(pattern: String, folds: bool) -> Vec<String> {
    let lower = pattern.to_lowercase();
    if folds && lower != pattern { vec![pattern, lower] } else { vec![pattern] }
}

/// The globs for a pattern of whole paths, in which a star takes in slashes as well.
fn path_patterns(path: &str, folds: bool) -> Vec<String> {
    let bare = path.strip_prefix("*/").unwrap_or(path);
    let mut found = in_either_case(bare.to_owned(), folds);
    if bare.ends_with('*') {
        // Placed first: a command that uses its last operand then uses the named one.
        let inside: Vec<String> = found.iter().map(|pattern| format!("{pattern}/**")).collect();
        found.splice(..0, inside);
    }
    found
}

/// A regular expression that is equivalent to a glob: `.*/build/.*`.
fn as_path_pattern(regex: &str) -> Option<String> {
    let glob = regex.trim_start_matches('^').trim_end_matches('$').replace("\\.", "\0").replace(".*", "*");
    let plain = !glob.contains(['.', '+', '?', '[', '(', '|', '\\', '{']);
    plain.then(|| glob.replace('\0', "."))
}

fn is_test_with_value(word: &str) -> bool {
    crate::words::FIND_TESTS.contains(&word) || word.starts_with("-newer")
}

/// `find` itself.
pub(crate) fn find(call: &Call<'_>, report: &mut Report) {
    let starts_expression = |arg: &&Arg| {
        let word = arg.prefix();
        !(word.starts_with('-') && word.len() > 1 || matches!(word, "(" | ")" | "!" | ","))
    };
    let mut rest = call.args;
    while let Some((first, tail)) = rest.split_first() {
        match first.known() {
            Some("-H" | "-L" | "-P" | "-E" | "-X" | "-x" | "-s" | "-d") => rest = tail,
            Some("-f") | Some("-D") => rest = tail.get(1..).unwrap_or_default(),
            Some(word) if word.starts_with("-O") => rest = tail,
            _ => break,
        }
    }
    let mut roots: Vec<Arg> = rest.iter().take_while(starts_expression).cloned().collect();
    let expression = rest.get(roots.len()..).unwrap_or_default();
    if roots.is_empty() {
        roots.push(Arg::literal("."));
    }
    let mut parsed = Expression { args: expression.iter().peekable(), actions: Vec::new(), too_deep: false };
    let mut matched = parsed.alternatives(&Matched::All, 0);
    while parsed.args.peek().is_some() {
        // A stray parenthesis: what follows counts as well.
        matched = parsed.alternatives(&Matched::All, 0);
    }
    if parsed.too_deep {
        report.opaque(lictor_core::facts::OpaqueWhat::Limit, &super::report::written(call));
    }
    for root in &roots {
        report.file(call, Access::List, root, true);
    }
    for (matched, action) in &parsed.actions {
        match action {
            Action::Write(file) => write_maybe_device(call, report, file, Access::Write),
            Action::Delete => {
                for (target, recursive) in roots.iter().flat_map(|root| matched.operands(root)) {
                    report.file(call, Access::Delete, &target, recursive);
                }
            }
            Action::Exec { argv, in_dir } => {
                let through = if *in_dir { "find -execdir" } else { "find -exec" };
                report.then_argv(&on_found(call, argv, matched, &roots), through);
            }
        }
    }
    report.names = roots.iter().flat_map(|root| matched.operands(root)).map(|(target, _)| target).collect();
    listed(call, &mut report.names, Listed::All, None);
}

/// The words of a command that is run with what was found.
fn on_found(call: &Call<'_>, argv: &[Arg], matched: &Matched, roots: &[Arg]) -> Vec<Arg> {
    let program = argv.first().and_then(Arg::known).unwrap_or_default();
    let everything = matches!(matched, Matched::All | Matched::Below);
    let mut argv = argv.to_vec();
    // One by one over a whole tree is as good as at once.
    if everything && matches!(program, "chmod" | "chown" | "chgrp") {
        argv.insert(1, Arg::literal("-R"));
    }
    let mut targets: Vec<Arg> = if everything && super::is(program, Trait::SendsFiles) {
        roots.iter().map(|root| below(root, "**/*")).collect()
    } else if everything && super::is(program, Trait::EditsInPlace) {
        roots.iter().map(|root| below(root, "*")).collect()
    } else {
        let found = roots.iter().flat_map(|root| matched.operands(root));
        found.map(|(target, _)| target).take(16).collect()
    };
    listed(call, &mut targets, Listed::All, None);
    substitute(&argv, "{}", &targets)
}

/// Replaces a placeholder with operands: as separate words if it is a whole word, as text inside words.
pub(crate) fn substitute(argv: &[Arg], placeholder: &str, targets: &[Arg]) -> Vec<Arg> {
    let mut out = Vec::with_capacity(argv.len() + targets.len());
    for arg in argv {
        match arg.known() {
            Some(word) if word == placeholder => out.extend(targets.iter().cloned()),
            Some(word) if !placeholder.is_empty() && word.contains(placeholder) => {
                let with = match targets {
                    [only] => match &only.value {
                        Known::Text(text) => text.to_string(),
                        Known::Partly { prefix, suffix } => {
                            format!("{prefix}{}{suffix}", super::report::UNKNOWN)
                        }
                        Known::Nothing => super::report::UNKNOWN.to_owned(),
                    },
                    [] => super::report::UNKNOWN.to_owned(),
                    many => many
                        .iter()
                        .map(|arg| arg.known().unwrap_or(super::report::UNKNOWN))
                        .collect::<Vec<_>>()
                        .join(" "),
                };
                let mut replaced = Arg::literal(word.replace(placeholder, &with));
                replaced.glob = targets.iter().any(|target| target.glob);
                replaced.taint = targets.iter().fold(arg.taint, |taint, target| taint.and(target.taint));
                out.push(replaced);
            }
            _ => out.push(arg.clone()),
        }
    }
    out
}

/// `fd`.
pub(crate) fn fd(call: &Call<'_>, report: &mut Report) {
    let at =
        call.args.iter().position(|arg| matches!(arg.known(), Some("-x" | "-X" | "--exec" | "--exec-batch")));
    let (front, command) = match at {
        Some(at) => (call.args.get(..at).unwrap_or_default(), call.args.get(at + 1..).unwrap_or_default()),
        None => (call.args, [].as_slice()),
    };
    let options = super::spelling(call).parse(front);
    let pattern = match (options.text(&["e", "extension"]), options.word(0)) {
        (Some(extension), _) => format!("**/*.{extension}"),
        (None, "" | ".") => "**".to_owned(),
        (None, word) => format!("**/*{}*", word.trim_start_matches('^').trim_end_matches('$')),
    };
    let mut roots = options.from(1).to_vec();
    if roots.is_empty() {
        roots.push(
            options.value(&["base-directory", "search-path"]).cloned().unwrap_or_else(|| Arg::literal(".")),
        );
    }
    let all = pattern == "**" && !options.has(&["S", "size", "changed-within", "changed-before", "owner"]);
    let which = super::reads::visible(call, &options);
    let pattern = match (all, which) {
        (true, Listed::Visible) => "*",
        (true, _) => "**/*",
        (false, _) => pattern.as_str(),
    };
    report.names = roots.iter().map(|root| below(root, pattern)).collect();
    listed(call, &mut report.names, which, None);
    for root in &roots {
        report.file(call, Access::List, root, true);
    }
    if command.is_empty() {
        return;
    }
    let holds = command.iter().any(|arg| arg.known().is_some_and(|word| word.contains('{')));
    let mut argv = substitute(command, "{}", &report.names);
    if !holds {
        argv.extend(report.names.iter().cloned());
    }
    report.then_argv(&argv, "fd");
}
