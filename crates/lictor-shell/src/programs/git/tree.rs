//! Commands that change the working tree: what they discard.

use lictor_core::facts::{Access, GitEffect};

use super::super::options::Options;
use super::super::report::joined;
use super::Git;
use crate::call::Report;
use crate::operand::{Arg, Coding, Incoming, Known};

fn discard(report: &mut Report, what: &[Arg]) {
    report.git(
        GitEffect::DiscardWork,
        Some(&joined(what).text).filter(|text| !text.is_empty()).map(|text| &**text),
    );
}

/// The whole work tree is restored. The observer determines whether that loses anything.
fn put_all_back(git: &Git<'_, '_>, report: &mut Report) {
    if super::is_led_elsewhere(git) {
        return discard(report, &[]);
    }
    report.file(git.call, Access::Restore, &Arg::literal("."), true);
}

/// The files of a commit take the place of the whole work tree, and the branch leads there where it `moves`.
fn take_over(git: &Git<'_, '_>, report: &mut Report, commit: &[Arg], moves: bool) {
    match commit {
        [] => put_all_back(git, report),
        [name] if is_last_commit(name) => put_all_back(git, report),
        [name] if !super::is_led_elsewhere(git) => {
            let incoming = Incoming::Commit { name: name.clone(), moves };
            report.arrives(git.call, Access::Restore, &Arg::literal("."), true, incoming);
        }
        words => discard(report, words),
    }
}

/// Named files are restored one by one; an operand that is not a plain path may match anything. They get the
/// content of the index or the last commit, or, with `other`, of another commit.
fn put_back(git: &Git<'_, '_>, report: &mut Report, what: &[Arg], other: bool) {
    let whole = |arg: &Arg| matches!(arg.prefix().trim_end_matches('/'), "" | "." | ".." | "../..");
    let plain = |arg: &Arg| {
        let word = arg.prefix();
        !arg.glob && !whole(arg) && !word.starts_with(':') && !word.contains(['*', '?', '['])
    };
    if let ([Arg { value: Known::Text(_), .. }], false) = (what, other)
        && what.iter().all(whole)
    {
        return put_all_back(git, report);
    }
    if what.is_empty() || !what.iter().all(plain) {
        return discard(report, what);
    }
    for path in what {
        report.arrives(git.call, Access::Restore, path, false, Incoming::Unknown);
    }
}

pub(super) fn checkout(git: &Git<'_, '_>, report: &mut Report) {
    let mut options = git.options("checkout");
    let names_files = options.ended_at.is_some_and(|at| options.operands.len() > at);
    if options.has(&["f", "force"]) && !names_files {
        // With `-B` another branch may lose commits.
        return match options.has(&["B", "orphan"]) {
            true => discard(report, &options.operands),
            false => take_over(git, report, &options.operands, false),
        };
    }
    // Conflicts are resolved to one side; only unmerged paths are touched.
    if options.has(&["ours", "theirs"]) || options.has(&["b", "B", "orphan"]) {
        return;
    }
    drop_mode_word(git, &mut options);
    if options.has(&["pathspec-from-file", "p", "patch"]) {
        return discard(report, &options.operands);
    }
    let before = options.ended_at.unwrap_or(options.operands.len());
    let paths_after = options.operands.len() > before;
    if paths_after {
        let (from, paths) = options.operands.split_at_checked(before).unwrap_or_default();
        return put_back(git, report, paths, !from.iter().all(is_last_commit));
    }
    if before >= 2 || (before == 1 && options.operands.first().is_some_and(is_path)) {
        // The first of several words may be a commit.
        let commit = before >= 2 && options.operands.first().is_some_and(|first| !is_path(first));
        let (from, paths) = options.operands.split_at_checked(usize::from(commit)).unwrap_or_default();
        put_back(git, report, paths, !from.iter().all(is_last_commit));
    }
}

fn is_last_commit(arg: &Arg) -> bool {
    matches!(arg.known(), Some("HEAD" | "@"))
}

/// `--track direct main` and `--recurse-submodules checkout main`: the mode is in the position of a tree.
fn drop_mode_word(git: &Git<'_, '_>, options: &mut Options) {
    let mode_of = |option: &str| match option {
        "--track" => ["direct", "inherit"],
        _ => ["checkout", "on-demand"],
    };
    for pair in git.args.windows(2) {
        let [option, word] = pair else { continue };
        if let (Some(option @ ("--track" | "--recurse-submodules")), Some(word)) =
            (option.known(), word.known())
            && mode_of(option).contains(&word)
            && let Some(at) = options.operands.iter().position(|operand| operand.known() == Some(word))
        {
            options.operands.remove(at);
        }
    }
}

/// Whether the only operand of `checkout` must be a path: no branch is called like this.
fn is_path(arg: &Arg) -> bool {
    if arg.glob {
        return true;
    }
    let Some(word) = arg.known() else { return false };
    if matches!(word, "." | ".." | ":/" | "*")
        || word.starts_with("./")
        || word.starts_with("../")
        || word.starts_with('/')
        || word.starts_with(":(")
        || word.starts_with(":/")
        || word.ends_with('/')
        || word.contains('*')
    {
        return true;
    }
    let name = word.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, ending)| crate::words::FILE_ENDINGS.contains(&ending))
        || matches!(
            name,
            "Makefile" | "Dockerfile" | "Gemfile" | "Rakefile" | "LICENSE" | ".gitignore" | ".env"
        )
}

pub(super) fn switch(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("switch");
    if options.has(&["f", "force", "discard-changes"]) {
        match options.has(&["C", "force-create", "orphan"]) {
            true => discard(report, &options.operands),
            false => take_over(git, report, &options.operands, false),
        }
    }
}

pub(super) fn restore(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("restore");
    let staged_only = options.has(&["S", "staged"]) && !options.has(&["W", "worktree"]);
    let names_something = !options.operands.is_empty() || options.has(&["pathspec-from-file", "p", "patch"]);
    if !staged_only && names_something && !options.has(&["ours", "theirs"]) {
        if options.has(&["pathspec-from-file", "p", "patch"]) {
            return discard(report, &options.operands);
        }
        let source = options.value(&["s", "source"]);
        put_back(git, report, &options.operands, !source.into_iter().all(is_last_commit));
    }
}

pub(super) fn reset(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("reset");
    if options.has(&["hard", "merge", "keep"]) {
        take_over(git, report, &options.operands, true);
    }
}

pub(super) fn clean(git: &Git<'_, '_>, report: &mut Report, force_not_needed: bool) {
    let options = git.options("clean");
    if options.has(&["n", "dry-run"]) || (options.has(&["i", "interactive"]) && !options.has(&["f", "force"]))
    {
        return;
    }
    if !options.has(&["f", "force"]) && !force_not_needed {
        return;
    }
    // Files that git ignores below a path: no more than deleting the path.
    if options.has(&["X"]) && !options.operands.is_empty() {
        for path in &options.operands {
            report.file(git.call, Access::Delete, path, true);
        }
        return;
    }
    discard(report, &options.operands);
}

pub(super) fn stash(git: &Git<'_, '_>, report: &mut Report) {
    let sub = git.args.iter().find(|arg| !arg.prefix().starts_with('-')).and_then(Arg::known);
    let options = git.options("stash");
    let all = options.has(&["a", "all"]);
    let untracked = all || options.has(&["u", "include-untracked"]);
    if untracked && !matches!(sub, Some("list" | "show" | "pop" | "apply" | "branch" | "drop" | "clear")) {
        let word = usize::from(matches!(sub, Some("push" | "save")));
        let named = options.operands.get(word..).unwrap_or_default();
        // `save` takes a message, not paths.
        let named = if sub == Some("save") { &[] } else { named };
        report.git(
            if all { GitEffect::StashAll } else { GitEffect::StashUntracked },
            Some(&joined(named).text).filter(|text| !text.is_empty()).map(|text| &**text),
        );
    }
    if sub == Some("show") {
        super::shown::paths(git, report, options.from(1));
    }
    if let Some("drop" | "clear") = sub {
        let target =
            git.args.iter().filter_map(Arg::known).find(|word| !matches!(*word, "drop" | "clear" | "-q"));
        report.git(GitEffect::DropStash, target);
    }
}

pub(super) fn read_tree(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("read-tree");
    if let Some(directory) = options.value(&["prefix"]).filter(|_| options.has(&["u"])) {
        git.fills(report, directory);
    }
    let last = options.operands.iter().all(is_last_commit);
    if options.has(&["u"]) && options.has(&["reset"]) && !last {
        unread(git, report, &Arg::literal("."));
    }
    // With `-u` files of another commit take the place of those in the work tree.
    let takes = options.has(&["reset"]) || options.has(&["m"]) && options.operands.len() > 1;
    if takes && options.has(&["u"]) && !options.has(&["n", "dry-run"]) {
        match options.operands.as_slice() {
            [commit] => take_over(git, report, std::slice::from_ref(commit), false),
            commits => discard(report, commits),
        }
    }
}

/// Files that git has, and that are not read here, arrive in a directory.
fn unread(git: &Git<'_, '_>, report: &mut Report, directory: &Arg) {
    let files = vec![Arg::unknown("git")];
    let archive = Incoming::Archive { files, coding: Coding::Other, strip: 0, flat: false, only: Vec::new() };
    report.arrives(git.call, Access::MakeDirectory, directory, false, archive);
}

pub(super) fn checkout_index(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("checkout-index");
    if let Some(directory) = options.value(&["prefix"]) {
        // A prefix of nothing is the work tree itself.
        let here = matches!(directory.known(), Some("" | "." | "./"));
        if here && options.has(&["f", "force"]) {
            discard(report, &options.operands);
        }
        git.fills(report, directory);
        // What the index of another repository has is not known.
        unread(git, report, directory);
        if options.has(&["a", "all"]) && !here {
            super::super::secrets::read(git.call, report, &Arg::literal("."), true);
        }
        options.operands.iter().for_each(|file| super::super::secrets::read(git.call, report, file, false));
    } else if options.has(&["temp", "stdout"]) {
        options.operands.iter().for_each(|file| super::super::secrets::read(git.call, report, file, false));
    } else if options.has(&["f", "force"]) {
        match options.has(&["a", "all"]) && options.operands.is_empty() {
            true => put_all_back(git, report),
            false => discard(report, &options.operands),
        }
    }
}

/// `--cacheinfo` puts a file into the index, from where the work tree takes it.
pub(super) fn update_index(git: &Git<'_, '_>, report: &mut Report) {
    let mut words = git.args.iter();
    while let Some(word) = words.next() {
        let Some(given) = word.prefix().strip_prefix("--cacheinfo") else { continue };
        let file = match given.strip_prefix('=') {
            Some(given) => given.splitn(3, ',').nth(2).map(Arg::literal),
            None => words.next().and_then(|first| match first.prefix().splitn(3, ',').nth(2) {
                Some(file) => Some(Arg::literal(file)),
                // An older form has three words.
                None => words.nth(1).cloned(),
            }),
        };
        if let Some(file) = file {
            report.file(git.call, Access::Write, &file, false);
        }
    }
}

pub(super) fn rm_mv(git: &Git<'_, '_>, report: &mut Report, name: &str) {
    let options = git.options(name);
    if options.has(&["n", "dry-run", "cached"]) {
        return;
    }
    if name == "rm" {
        for path in &options.operands {
            // git expands patterns itself, also quoted ones.
            let all = matches!(path.known(), Some("*" | ":/" | ":/*" | "**" | "./*" | ":(top)"));
            let path = if all { &Arg::literal(".") } else { path };
            report.file(git.call, Access::Delete, path, options.has(&["r"]));
        }
    } else if let Some((destination, sources)) = options.operands.split_last() {
        for source in sources {
            report.file(git.call, Access::MoveAway, source, false);
        }
        report.file(git.call, Access::Write, destination, false);
    }
}
