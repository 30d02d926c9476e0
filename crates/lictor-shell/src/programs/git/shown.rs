//! Commands that print files from git's object store, and where their output goes.

use lictor_core::facts::{Access, GitEffect};

use super::super::options::Grammar;
use super::super::{report, secrets};
use super::Git;
use crate::call::{Call, Report, Stdin};
use crate::operand::Arg;

/// `REV:path` takes a file out of git's store.
pub(super) fn kept(git: &Git<'_, '_>, report: &mut Report, objects: &[Arg]) {
    for object in objects {
        let path = object.known().and_then(|object| object.split_once(':')).map(|(_, path)| path);
        if let Some(path) = path.filter(|path| !path.is_empty() && !path.starts_with(['/', ' '])) {
            // `:0:path` names a stage of the index.
            let path = path
                .strip_prefix(|stage: char| stage.is_ascii_digit())
                .and_then(|p| p.strip_prefix(':'))
                .unwrap_or(path);
            secrets::read(git.call, report, &Arg::literal(path), false);
        }
    }
}

/// Paths whose content a command prints from git's object store: those after `--`, or all words that name a
/// secret.
pub(super) fn paths(git: &Git<'_, '_>, report: &mut Report, operands: &[Arg]) {
    let behind =
        git.args.iter().position(|arg| arg.known() == Some("--")).map_or(0, |at| git.args.len() - at - 1);
    let from = operands.len().saturating_sub(behind);
    for (at, path) in operands.iter().enumerate() {
        if behind > 0 && at >= from || secrets::is_secret(path) {
            secrets::read(git.call, report, path, false);
        }
    }
}

/// Words that name commits, not files.
fn is_revision(word: &str) -> bool {
    word.is_empty() || word == "HEAD" || word.contains("..") || word.contains(['^', '~', '@', ':'])
}

/// Commands that can show content as git has it.
const SHOWING: [&str; 9] =
    ["log", "reflog", "show", "diff", "whatchanged", "format-patch", "fast-export", "cat-file", "bundle"];

/// Paths whose content a command shows as git has it; `.` where it shows the content of everything there ever was.
pub(crate) fn shown_paths(call: &Call<'_>) -> Vec<String> {
    let global = super::grammar::global().parse(call.args);
    let Some((verb, args)) = global.operands.split_first() else { return Vec::new() };
    let verb = verb.known().unwrap_or_default();
    if !SHOWING.contains(&verb) {
        return Vec::new();
    }
    let options = Grammar::anywhere(
        "OGSLno",
        "output= max-count= skip= since= after= until= before= author= grep= format= pretty? diff-filter= root all patch \
         name-only name-status stat shortstat numstat summary no-patch quiet stdin",
    )
    .parse(args);
    let short =
        ["name-only", "name-status", "stat", "shortstat", "numstat", "summary", "no-patch", "s", "quiet"];
    let shows = match verb {
        "log" | "reflog" => options.has(&["p", "u", "patch", "cc", "c"]),
        "bundle" => options.word(0) == "create",
        _ => true,
    };
    if !shows || options.has(&short) {
        return Vec::new();
    }
    let limited = options.has(&["n", "max-count", "since", "after", "until", "before"])
        || options.given().any(|(name, _)| name.bytes().all(|byte| byte.is_ascii_digit()))
        || options.words().any(|word| word.contains(".."));
    let named: Vec<String> = options.words().filter(|word| !is_revision(word)).map(str::to_owned).collect();
    let everything = match verb {
        "log" | "whatchanged" => named.is_empty() && !limited,
        "fast-export" | "bundle" => !limited,
        "format-patch" => options.has(&["root"]),
        _ => false,
    };
    if everything { vec![".".to_owned()] } else { named }
}

pub(super) fn output(git: &Git<'_, '_>, report: &mut Report, name: &str) {
    let options = git.options(name);
    if let Some(path) = options.value(&["o", "output"]) {
        if name == "format-patch" {
            git.fills(report, path);
        } else {
            report.file(git.call, Access::Write, path, false);
        }
    }
    if let Some(command) = options.value(&["exec"]) {
        report.then_shell(command, &[], "git archive --exec");
    }
    let short = [
        "name-only",
        "name-status",
        "stat",
        "shortstat",
        "numstat",
        "summary",
        "quiet",
        "s",
        "no-patch",
        "no-index",
    ];
    let shows = match name {
        "log" | "whatchanged" | "diff-tree" | "diff-index" | "diff-files" => {
            options.has(&["p", "u", "patch", "cc", "c"])
                || git.args.iter().any(|arg| arg.prefix().starts_with("-L"))
        }
        "diff" | "show" | "format-patch" | "range-diff" => true,
        _ => false,
    };
    // `-L 1,5:path`
    for path in options.values(&["L"]).filter_map(|range| Some(range.known()?.rsplit_once(':')?.1)) {
        secrets::read(git.call, report, &Arg::literal(path), false);
    }
    if name == "archive" {
        for path in options.from(1) {
            secrets::read(git.call, report, path, true);
        }
        if options.operands.len() == 1 && !options.has(&["remote"]) {
            secrets::read(git.call, report, &Arg::literal("."), true);
        }
    }
    if shows && !options.has(&short) {
        paths(git, report, &options.operands);
    }
    if name == "show" {
        kept(git, report, &options.operands);
    }
    if name == "diff" && options.has(&["no-index"]) {
        for arg in &options.operands {
            secrets::read(git.call, report, arg, false);
        }
    }
    if options.has(&["name-only"]) {
        report.names = vec![report::glob("./**")];
        report::listed(git.call, &mut report.names, super::known_to(git, false), None);
    }
    // Objects of commits that no hook saw.
    if name == "bundle" && options.word(0) == "unbundle" {
        report.git(GitEffect::SkipHooks, Some("bundle unbundle"));
    }
    if name == "bundle"
        && options.word(0) == "create"
        && let Some(path) = options.operands.get(1)
    {
        report.file(git.call, Access::Write, path, false);
    }
}

pub(super) fn grep(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("grep");
    if let Some(pager) = options.value(&["O", "open-files-in-pager"]) {
        report.then_shell(pager, &[], "git grep");
    }
    let lists = options.has(&["l", "L", "c", "files-with-matches", "name-only", "count", "quiet", "q"]);
    if !lists {
        paths(git, report, options.from(1));
    }
    // A pattern that every line fits shows whole files.
    if !lists && options.operands.len() == 1 && matches!(options.word(0), "" | "." | ".*" | "^" | "$") {
        secrets::read(git.call, report, &Arg::literal("."), true);
    }
    report.names = vec![report::glob("./**")];
    report.names.retain(|_| options.has(&["l", "files-with-matches", "name-only"]));
    let pattern: Vec<&Arg> = options.operands.first().into_iter().collect();
    let holding = crate::programs::reads::one_text(&pattern);
    let known = !options.has(&["untracked", "no-index", "no-exclude-standard"]);
    let listed = if known { super::known_to(git, true) } else { crate::operand::Listed::All };
    let holding = holding.filter(|_| !options.has(&["v", "e", "f", "invert-match"]));
    report::listed(git.call, &mut report.names, listed, holding);
}

pub(super) fn cat_file(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("cat-file");
    if !options.has(&["e", "t", "s"]) {
        kept(git, report, &options.operands);
    }
    // `--batch` reads the names of what it prints.
    if let (true, Stdin::Text(names)) = (options.has(&["batch"]), git.call.stdin) {
        let objects: Vec<Arg> = names.lines().map(|name| Arg::literal(name.trim())).collect();
        kept(git, report, &objects);
    }
}
