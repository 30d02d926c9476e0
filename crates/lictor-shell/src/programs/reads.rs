//! Read-only tools: readers, searchers, listers.

use lictor_core::facts::Access;

use super::options::{Grammar, Options};
use super::report::{below, glob, listed};
use super::{secrets, text};
use crate::call::{Call, Report};
use crate::describe::Trait;
use crate::operand::{Arg, Known, Listed};

/// Reports every operand of the call with `access`.
pub(crate) fn operands(call: &Call<'_>, report: &mut Report, access: Access) {
    let options = Grammar::anywhere("", "").parse(call.args);
    touch(call, report, access, &options.operands, false);
}

fn touch(call: &Call<'_>, report: &mut Report, access: Access, args: &[Arg], recursive: bool) {
    for arg in args.iter().filter(|arg| arg.known() != Some("-")) {
        match access {
            Access::Read => secrets::read(call, report, arg, recursive),
            access => report.file(call, access, arg, recursive),
        }
    }
}

/// `grep` and its relatives.
pub(crate) fn grep(call: &Call<'_>, report: &mut Report) {
    search(call, report, false);
}

/// `rg` and its relatives.
pub(crate) fn ripgrep(call: &Call<'_>, report: &mut Report) {
    search(call, report, true);
}

/// `jq` and its relatives.
pub(crate) fn filter(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let skip = usize::from(!options.has(&["f", "from-file"]));
    let edits = call.program == "yq" && options.has(&["i", "inplace"]);
    let access = if edits { Access::Modify } else { Access::Read };
    touch(call, report, access, options.from(skip), false);
    // `--rawfile NAME FILE` puts a file into a variable.
    for pair in call.args.windows(3) {
        if let [option, _, file] = pair
            && matches!(option.known(), Some("--rawfile" | "--slurpfile"))
        {
            secrets::read(call, report, file, false);
        }
    }
    text::derive(call, report);
    // A filter may print any text, but only a decoding filter taints its output.
    report.taint.decoded = options.words().any(|word| word.contains("@base64d"));
}

/// `wc`.
pub(crate) fn count(call: &Call<'_>, report: &mut Report) {
    // The length of a secret reveals little about it.
    let options = super::parsed(call);
    report.lists.extend(options.value(&["files0-from"]).cloned());
    let listed = |arg: &Arg| secrets::is_secret(arg) || arg.found.is_some();
    let (counted, files): (Vec<Arg>, Vec<Arg>) = options.operands.into_iter().partition(listed);
    touch(call, report, Access::List, &counted, false);
    lines(call, report, &files);
}

/// `less`, `more`.
pub(crate) fn pager(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let (commands, files): (Vec<Arg>, Vec<Arg>) =
        options.operands.into_iter().partition(|arg| arg.prefix().starts_with('+'));
    // `+!cmd` is typed into the pager when it starts.
    for command in commands.iter().filter_map(Arg::known) {
        if let Some(text) = command.trim_start_matches('+').strip_prefix(['!', '#', '|']) {
            report.then_shell(&Arg::literal(text), &[], call.program);
        }
    }
    lines(call, report, &files);
}

/// Files if there are any, else the input, line by line.
fn lines(call: &Call<'_>, report: &mut Report, files: &[Arg]) {
    touch(call, report, Access::Read, files, false);
    if files.is_empty() {
        text::pass_on(call, report);
    }
}

/// `ripgrep`: it searches trees by default, and skips files that git ignores.
fn search(call: &Call<'_>, report: &mut Report, ripgrep: bool) {
    let options = super::parsed(call);
    let lists = options.has(&["files"]);
    let skip = usize::from(!lists && !options.has(&["e", "f", "regexp", "file"]));
    let recursive = ripgrep || options.has(&["r", "R", "recursive"]);
    touch(call, report, if lists { Access::List } else { Access::Read }, options.from(skip), recursive);
    if ripgrep && options.from(skip).is_empty() && options.has(&["u", "unrestricted", "no-ignore"]) && !lists
    {
        // Without a path it searches the current directory; by default it skips hidden and ignored files.
        secrets::read(call, report, &Arg::literal("."), true);
    }
    // `grep -r x . --include=.env` reads the files of that name.
    for named in options
        .values(&["include", "g", "glob", "iglob"])
        .filter(|arg| secrets::is_secret(arg) && !arg.prefix().starts_with('!'))
    {
        secrets::read(call, report, named, false);
    }
    if let Some(program) = options.value(&["pre"]) {
        report.then_argv(std::slice::from_ref(program), call.program);
    }
    if options.from(skip).is_empty() {
        text::pass_on(call, report);
        // Lines are picked, so the literal text is only an upper bound: it stays right for what may be run.
        if !options.has(&["v", "invert-match"]) && !picks_all(&options) {
            report.names = report.names.iter().map(some_of).collect();
        }
    }
    if lists || options.has(&["l", "L", "files-with-matches", "files-without-match"]) {
        report.stdout = None;
        report.names = names_below(&options, skip);
        let wanted: Vec<&str> = options.values(&["g", "glob", "include"]).filter_map(Arg::known).collect();
        if let [only] = wanted.as_slice()
            && !only.starts_with('!')
            && let [Arg { glob: true, .. }] = report.names.as_slice()
        {
            let root = options.from(skip).first().and_then(Arg::known).unwrap_or(".");
            report.names = vec![glob(&format!("{}/**/{only}", root.trim_end_matches('/')))];
        }
        let mut holding = None;
        if !lists && !options.has(&["L", "files-without-match", "v", "invert-match", "f", "file"]) {
            let mut patterns: Vec<&Arg> = options.values(&["e", "regexp"]).collect();
            patterns.extend(options.operands.first().filter(|_| skip > 0));
            holding = one_text(&patterns);
        }
        listed(call, &mut report.names, visible(call, &options), holding);
    }
}

/// Which files a search reads. A configuration file or a name pattern may change that.
pub(crate) fn visible(call: &Call<'_>, options: &Options) -> Listed {
    const CONFIGURATION: &str = "RIPGREP_CONFIG_PATH";
    let configured = call.env.variable(CONFIGURATION).is_some()
        || call.env.is_set_here(CONFIGURATION)
        || call.assignments.iter().any(|(name, _)| name == CONFIGURATION);
    let taken_in =
        options.has(&["hidden", ".", "H", "u", "uu", "uuu", "unrestricted", "a", "all-types", "all-text"])
            || options.values(&["g", "glob", "iglob"]).any(|glob| !glob.prefix().starts_with('!'));
    let skips = super::is(call.program, Trait::SkipsHidden);
    if skips && !configured && !taken_in { Listed::Visible } else { Listed::All }
}

/// The text that every matching file contains, if the search pattern is a plain text.
pub(crate) fn one_text(patterns: &[&Arg]) -> Option<String> {
    let [Arg { value: Known::Text(pattern), .. }] = patterns else { return None };
    let plain = |letter: char| letter.is_alphanumeric() || " _-/:,'\"=<>@#%&~".contains(letter);
    (!pattern.is_empty() && pattern.chars().all(plain)).then(|| pattern.to_string())
}

/// Whether the pattern lets every line through.
fn picks_all(options: &Options) -> bool {
    let pattern = options.text(&["e", "regexp"]).unwrap_or_else(|| options.word(0));
    pattern.chars().all(|letter| ".*+?^$".contains(letter))
}

/// A subset of the names that an operand matches.
pub(crate) fn some_of(names: &Arg) -> Arg {
    let some = |pattern: &str| Arg { found: names.found.clone(), ..glob(pattern) };
    match names.known().and_then(|pattern| pattern.strip_suffix("**").or_else(|| pattern.strip_suffix('*'))) {
        Some(start) if names.glob && (start.is_empty() || start.ends_with('/')) => {
            some(&format!("{start}**/?"))
        }
        // Everything at or below a directory.
        None if !names.glob && names.known().is_some() => {
            let root = names.known().unwrap_or_default().trim_end_matches('/');
            some(&format!("{root}/**/?"))
        }
        _ => names.clone(),
    }
}

/// Names that a recursive search prints.
fn names_below(options: &Options, skip: usize) -> Vec<Arg> {
    match options.from(skip) {
        [] => vec![glob("./**")],
        roots => roots.iter().map(|root| if root.glob { root.clone() } else { below(root, "**") }).collect(),
    }
}

/// `ls` and its relatives.
pub(crate) fn list(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    touch(call, report, Access::List, &options.operands, options.has(&["R", "recursive"]));
    if options.has(&["l", "long"]) {
        return;
    }
    // Names in a listed directory come without it; a glob's names come as the shell wrote them.
    let as_written = options.has(&["d", "directory"]) || options.operands.iter().any(|arg| arg.glob);
    report.names =
        if as_written && !options.operands.is_empty() { options.operands.clone() } else { vec![glob("*")] };
    if !as_written && options.has(&["a", "A", "all", "almost-all"]) {
        report.names.push(glob(".*"));
    }
    listed(call, &mut report.names, Listed::All, None);
}
