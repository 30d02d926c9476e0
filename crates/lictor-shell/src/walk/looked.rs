//! Secrets that are read or used but not shown: counted, hashed, masked, reduced to their names, put into a
//! variable.

mod plain;

use lictor_core::facts::{Access, Effect};

use super::{Output, Walker};
use crate::ast::{Node, Pipeline, RedirectKind, Simple, Target, Word};
use crate::describe::Trait;
use crate::operand::Operand;
use crate::programs;

/// How much of its input a command passes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    /// Any part of it.
    Content,
    /// The names before `=`, nothing after.
    Names,
    /// Lines of a file that are selected by a name that is not secret.
    Plain,
    /// Only its size, its existence, or a digest.
    Nothing,
}

impl Walker<'_> {
    /// Secrets that the pipeline reads are not shown if one of its commands passes nothing on. Returns whether
    /// that holds for all its reads and for its output.
    pub(super) fn only_looked_at(&mut self, pipeline: &Pipeline, printed: &Output) -> bool {
        if self.reads.is_empty() && !printed.taint().secret {
            return false;
        }
        if pipeline.stages.iter().any(copies_to_terminal) {
            return false;
        }
        let root = self.outside().project_root();
        if pipeline.stages.last().is_some_and(|stage| keeps_as_secret(stage, root.as_deref())) {
            self.joined_in_the_project(root.as_deref());
        }
        let shown = pipeline.stages.iter().map(shows);
        let least = shown.max_by_key(|shows| *shows as u8).unwrap_or(Shows::Content);
        if least == Shows::Content {
            return false;
        }
        let mut all = least == Shows::Nothing || !self.reads.is_empty();
        for at in std::mem::take(&mut self.reads) {
            let Some(Effect::File { access, target, .. }) = self.reading.effects.get_mut(at) else {
                continue;
            };
            let environment = is_of_variables(target);
            if programs::is_secret(&target.arg) && (least != Shows::Names || environment) {
                *access = Access::List;
            } else {
                all = false;
            }
        }
        all
    }

    /// Secrets of the project that go into another secret file of the project (`cat cert.pem key.pem > both.pem`)
    /// are not exposed.
    fn joined_in_the_project(&mut self, root: Option<&str>) {
        for at in &self.reads {
            if let Some(Effect::File { access, target, .. }) = self.reading.effects.get_mut(*at)
                && target.arg.known().is_some_and(|path| is_inside(path, root))
            {
                *access = Access::Execute;
            }
        }
    }

    /// Whether a command of a pipeline passes on nothing of the secrets that were read so far.
    pub(super) fn holds_back(&self, stage: &Node) -> bool {
        match shows(stage) {
            Shows::Content => false,
            Shows::Nothing => true,
            Shows::Plain => !self.reads.is_empty(),
            Shows::Names => {
                let mut files = self.reads.iter().filter_map(|at| match self.reading.effects.get(*at) {
                    Some(Effect::File { target, .. }) => Some(target),
                    _ => None,
                });
                !self.reads.is_empty() && files.all(is_of_variables)
            }
        }
    }

    /// `env | grep TOKEN`: selects and shows the variables with secrets.
    pub(super) fn picks_secret_variables(&mut self, pipeline: &Pipeline, scene: super::Scene) {
        let [Node::Simple(simple), rest @ ..] = pipeline.stages.as_slice() else { return };
        if rest.is_empty() || scene.capture || !simple.words.first().is_some_and(lists_variables) {
            return;
        }
        let words = literals(simple);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let lists = match words.as_slice() {
            ["env" | "printenv" | "set" | "export" | "declare" | "typeset"] => true,
            ["export" | "declare" | "typeset", options @ ..] => {
                options.iter().all(|word| word.starts_with("-p") || *word == "-x")
            }
            _ => false,
        };
        if !lists {
            return;
        }
        // The line itself put it there.
        let given = |name: &str| self.state.variable(name).is_some_and(|value| value.taint().secret);
        let picks = |stage: &Node| {
            let Node::Simple(simple) = stage else { return false };
            let words = literals(simple);
            let program = words.first().map(String::as_str).unwrap_or_default();
            (programs::is(program, Trait::Searches) || matches!(programs::canonical(program), "awk" | "sed"))
                && !words.iter().any(|word| word.starts_with("-v") || word == "--invert-match")
                && words.iter().skip(1).any(|word| {
                    let upper = word.to_ascii_uppercase();
                    crate::words::SECRET_VARIABLES.iter().any(|part| upper.contains(part))
                        || crate::words::SECRET_PREFIXES.contains(&upper.trim_matches(['"', '^', '_', '=']))
                        || given(word.trim_matches(['"', '^', '=']))
                })
        };
        let shown = pipeline.stages.iter().all(|stage| matches!(shows(stage), Shows::Content | Shows::Plain));
        let kept = rest
            .last()
            .is_some_and(|stage| matches!(stage, Node::Simple(simple) if !simple.redirects.is_empty()));
        if shown && !kept && rest.iter().any(picks) {
            self.reveal();
        }
    }

    /// A secret that no path names is shown.
    pub(crate) fn reveal(&mut self) {
        let mut report = crate::call::Report::default();
        programs::reveals(&mut report);
        report.effects.into_iter().for_each(|effect| self.effect(effect));
    }

    /// Data read since `from` went into a variable: it is judged again where it is printed or sent.
    pub(super) fn put_into_variable(&mut self, from: usize) {
        self.keep_effects(from, |effect| match effect {
            Effect::File { access, target, .. }
                if *access == Access::Read && programs::is_secret(&target.arg) =>
            {
                *access = Access::Execute;
                true
            }
            effect => !is_shown_secret(effect),
        });
    }

    /// A token that since `from` only went into a login, or whose length only was printed, was not shown.
    pub(crate) fn not_shown(&mut self, from: usize) {
        self.keep_effects(from, |effect| !is_shown_secret(effect));
    }
}

/// A program that can list variables.
fn lists_variables(word: &Word) -> bool {
    matches!(unquoted(word).as_str(), "env" | "printenv" | "set" | "export" | "declare" | "typeset")
}

fn is_shown_secret(effect: &Effect<Operand>) -> bool {
    matches!(effect, Effect::Deed { verb, object, .. } if verb == "read" && object == "secret")
}

/// A file of lines `name=value`.
fn is_of_variables(file: &Operand) -> bool {
    file.arg.known().is_some_and(|path| {
        programs::is_environment_path(path) || path.ends_with("/.npmrc") || path == ".npmrc"
    })
}

/// `> combined.pem`: the output goes into a project file that is itself a secret.
fn keeps_as_secret(stage: &Node, root: Option<&str>) -> bool {
    let Node::Simple(simple) = stage else { return false };
    let mut nowhere = false;
    let kept = simple.redirects.iter().any(|redirect| match &redirect.target {
        Target::Word(word)
            if redirect.kind == RedirectKind::Write && redirect.fd.is_none_or(|fd| fd == 1) =>
        {
            nowhere |= word.literal() == Some("/dev/null");
            word.literal().is_some_and(|path| is_inside(path, root) && programs::is_secret_path(path))
        }
        _ => false,
    });
    // `… | tee both.pem > /dev/null`.
    let words = literals(simple);
    let tees = || {
        words.first().is_some_and(|program| program == "tee")
            && words.len() > 1
            && words.iter().skip(1).all(|path| is_inside(path, root) && programs::is_secret_path(path))
    };
    kept || nowhere && tees()
}

/// Whether a path leads into the project.
fn is_inside(path: &str, root: Option<&str>) -> bool {
    let below = |root: &str| crate::paths::is_at_or_below(path, root);
    !path.contains("..") && (!path.starts_with(['/', '~', '-']) || root.is_some_and(below))
}

/// `tee /dev/tty`.
fn copies_to_terminal(stage: &Node) -> bool {
    let Node::Simple(simple) = stage else { return false };
    let mut words = simple.words.iter().filter_map(Word::literal);
    words.next() == Some("tee") && words.any(|word| word.starts_with("/dev/") && word != "/dev/null")
}

/// Whether the last command prints nothing of what others print but how much it is, or which names are in it.
pub(super) fn ends_in_silence(pipeline: &Pipeline) -> bool {
    let [_, .., last] = pipeline.stages.as_slice() else { return false };
    shows(last) == Shows::Nothing && !pipeline.stages.iter().any(copies_to_terminal)
}

fn shows(stage: &Node) -> Shows {
    let Node::Simple(simple) = stage else { return Shows::Content };
    let words = literals(simple);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((program, args)) = words.split_first() else { return Shows::Content };
    let short = |letters: &str| {
        args.iter().take_while(|arg| **arg != "--").any(|arg| {
            arg.strip_prefix('-')
                .is_some_and(|flags| !flags.starts_with('-') && flags.contains(|flag| letters.contains(flag)))
        })
    };
    let long = |names: &[&str]| args.iter().any(|arg| names.contains(arg));
    let measures = programs::is(program, Trait::Measures) && programs::is(program, Trait::ReadsToTheEnd);
    match *program {
        // Error messages about invalid list lines include their content.
        "wc" if args.iter().any(|arg| arg.starts_with("--files0")) => Shows::Content,
        _ if measures && (short("c") && !short("a") || long(&["--check"])) && *program != "wc" => {
            Shows::Content
        }
        _ if measures => Shows::Nothing,
        "cmp" if !short("lb") && !long(&["--verbose", "--print-bytes"]) => Shows::Nothing,
        "diff" if short("q") || long(&["--brief"]) => Shows::Nothing,
        "git" => Shows::Content,
        _ if programs::is(program, Trait::Searches) => {
            let counts = ["--count", "--quiet", "--silent", "--files-with-matches", "--files-without-match"];
            if short("cqlL") || long(&counts) {
                Shows::Nothing
            } else if (short("o") || long(&["--only-matching"])) && args.iter().any(|arg| names_only(arg)) {
                Shows::Names
            } else {
                grep(args)
            }
        }
        _ => by_program(programs::canonical(program), args),
    }
}

/// The same for programs with their own language, by their first name.
fn by_program(program: &str, args: &[&str]) -> Shows {
    match program {
        "cut" => cut(args),
        // With `--arg` and its like, words are names and values too.
        "jq" if args.iter().any(|arg| asks_for_keys(arg) || plain::is_field(arg))
            && !args.iter().any(|arg| arg.starts_with("--arg") || arg.ends_with("file")) =>
        {
            Shows::Nothing
        }
        "awk" => awk(args),
        "sed" => sed(args),
        _ => Shows::Content,
    }
}

/// The words of a command without their quotes.
fn literals(simple: &Simple) -> Vec<String> {
    simple.words.iter().map(unquoted).collect()
}

fn unquoted(word: &Word) -> String {
    match word.literal() {
        Some(text) => text.to_owned(),
        None => word.written().replace(['\'', '"'], ""),
    }
}

/// `grep '^PORT=' .env`: lines that are selected by a name that is not secret.
fn grep(args: &[&str]) -> Shows {
    let (options, words): (Vec<&str>, Vec<&str>) = args.iter().partition(|arg| arg.starts_with('-'));
    let plain = |option: &str| {
        option
            .strip_prefix('-')
            .is_some_and(|letters| letters.chars().all(|letter| "nEhHiswxo".contains(letter)))
    };
    match words.first() {
        Some(pattern) if options.into_iter().all(plain) && plain::is_pattern(pattern) => Shows::Plain,
        _ => Shows::Content,
    }
}

/// `.data | keys`: the names in it, or how many there are.
fn asks_for_keys(filter: &str) -> bool {
    let last = filter.rsplit('|').next().unwrap_or_default().trim();
    matches!(last.trim_end_matches("[]"), "keys" | "keys_unsorted" | "length" | "type")
        && !filter.contains(',')
}

/// `cut -d= -f1`.
fn cut(args: &[&str]) -> Shows {
    let value = |letter: char| {
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.strip_prefix('-').and_then(|rest| rest.strip_prefix(letter)) {
                Some("") => return args.next().copied(),
                Some(attached) => return Some(attached),
                None => {}
            }
        }
        None
    };
    match (value('d'), value('f')) {
        (Some("="), Some("1")) => Shows::Names,
        _ => Shows::Content,
    }
}

/// `awk -F= '{print $1}'`: of each line only the text before the first `=`.
fn awk(args: &[&str]) -> Shows {
    let separator = args.iter().enumerate().find_map(|(at, arg)| match arg.strip_prefix("-F")? {
        "" => args.get(at + 1).copied(),
        attached => Some(attached),
    });
    let program = args.iter().find(|arg| arg.contains('{'));
    // `/^PORT=/{print $2}`
    if program.is_some_and(|program| plain::is_rule(program)) {
        return Shows::Plain;
    }
    let (Some("="), Some(program)) = (separator, program) else { return Shows::Content };
    let parts: Vec<&str> = program.split('$').collect();
    let first = parts.len() > 1
        && parts.windows(2).all(|pair| {
            let [front, rest] = pair else { return true };
            let digits: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
            // `length($2)`: how long a secret is says little about it.
            let measured = front.trim_end().trim_end_matches('(').trim_end().ends_with("length");
            digits == "1" || measured && rest.strip_prefix(&*digits).is_some_and(|rest| rest.starts_with(')'))
        });
    let bare = program.split("print").skip(1).any(|rest| {
        let rest = rest.strip_prefix('f').unwrap_or(rest).trim_start();
        rest.is_empty() || rest.starts_with(['}', ';', '>', '|'])
    });
    let names = program.contains("FS") || program.contains("getline") || program.contains("system");
    if first && !bare && !names { Shows::Names } else { Shows::Content }
}

/// `sed 's/=.*/=***/'`: everything after the first `=` is replaced.
fn sed(args: &[&str]) -> Shows {
    let scripts: Vec<&str> =
        args.iter().filter(|arg| arg.len() > 1 && arg.starts_with('s')).copied().collect();
    let others = args.iter().any(|arg| matches!(*arg, "-i" | "-f" | "--in-place" | "--file"));
    if others || scripts.is_empty() {
        return Shows::Content;
    }
    // `sed -n 's/^PORT=//p'`
    let picks = |script: &&str| {
        let pattern =
            script.strip_prefix("s/").and_then(|rest| rest.split_once('/')).map(|(pattern, _)| pattern);
        pattern.is_some_and(plain::is_pattern)
    };
    if args.contains(&"-n") && scripts.iter().all(picks) {
        return Shows::Plain;
    }
    if scripts.iter().any(|script| masks(script)) { Shows::Names } else { Shows::Content }
}

fn masks(script: &str) -> bool {
    let mut rest = script.chars();
    let (Some('s'), Some(mark)) = (rest.next(), rest.next()) else { return false };
    let mut parts = rest.as_str().split(mark);
    let (Some(pattern), Some(replacement)) = (parts.next(), parts.next()) else { return false };
    let pattern = pattern.trim_end_matches('$');
    let Some(front) = pattern.strip_suffix(".*").or_else(|| pattern.strip_suffix(".+")) else { return false };
    // The text after `=` is in no capture group.
    let front = front.trim_end_matches([')', '\\']);
    front.ends_with('=') && !replacement.contains('&')
}

/// `^[^=]*`, `^[A-Z_]+=`: a pattern that ends where the value starts.
fn names_only(pattern: &str) -> bool {
    let Some(pattern) = pattern.strip_prefix('^') else { return false };
    let pattern = pattern.trim_end_matches('=');
    let negated =
        pattern.split("[^").skip(1).all(|class| class.split(']').next().is_some_and(|set| set.contains('=')));
    !pattern.is_empty()
        && !pattern.contains('.')
        && !pattern.contains('=') | pattern.contains("[^")
        && negated
}

#[cfg(test)]
mod tests;
