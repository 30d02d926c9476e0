//! git: global options, aliases, and the commands that are not about the working tree, pushing or configuration.

mod config;
mod grammar;
mod notes;
mod push;
mod shown;
mod tree;
mod words;

use lictor_core::facts::{Access, GitEffect, GuardOff, OpaqueWhat};

use super::network;
use super::options::{Grammar, Options};
use super::report::{chdir, joined};
use crate::call::{Call, Next, Report, Stdin};
use crate::operand::{Arg, Cwd, Incoming};

pub(crate) use grammar::GLOBAL;
pub(crate) use shown::shown_paths;
pub use words::GitWords;

/// Commands that an alias cannot hide.
const BUILTIN: &str = " add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout \
    checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects credential \
    daemon describe diff diff-files diff-index diff-tree difftool fast-export fast-import fetch filter-branch fmt-merge-msg \
    for-each-ref for-each-repo format-patch fsck gc grep gui hash-object help hook init instaweb interpret-trailers log \
    ls-files ls-remote ls-tree mailinfo maintenance merge merge-base merge-file merge-tree mergetool mktree mv name-rev \
    notes pack-objects pack-refs prune pull push range-diff read-tree rebase reflog remote repack replace request-pull \
    rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stage stash \
    status submodule switch symbolic-ref tag unpack-objects update-index update-ref update-server-info var verify-commit \
    verify-pack verify-tag version whatchanged worktree write-tree ";

fn is_builtin(name: &str) -> bool {
    !name.is_empty() && BUILTIN.split_ascii_whitespace().any(|builtin| builtin == name)
}

/// One git command with its options taken apart.
pub(super) struct Git<'a, 'b> {
    call: &'a Call<'b>,
    args: &'a [Arg],
}

impl Git<'_, '_> {
    fn parse(&self, grammar: Grammar) -> Options {
        grammar.parse(self.args)
    }

    /// The words of a command, by its own options.
    fn options(&self, command: &str) -> Options {
        grammar::of(command).parse(self.args)
    }

    /// Files whose names only git knows are written below a directory.
    fn fills(&self, report: &mut Report, directory: &Arg) {
        report.arrives(self.call, Access::MakeDirectory, directory, false, Incoming::Unknown);
    }
}

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let mut global = GLOBAL.parse(call.args);
    // `git -- reset` runs reset all the same.
    if global.operands.first().and_then(Arg::known) == Some("--") {
        global.operands.remove(0);
    }
    if let Some(programs) = global.value(&["exec-path"]) {
        report.git(GitEffect::ConfigureExecution, Some(&format!("--exec-path={}", programs.text)));
    }
    let mut cwd = call.cwd.clone();
    for dir in global.values(&["C"]) {
        cwd = chdir(&cwd, dir);
    }
    let mut aliases: Vec<(String, String)> = Vec::new();
    let mut settings: Vec<(String, Arg)> = Vec::new();
    for setting in global.values(&["c"]) {
        settings.extend(config::split(setting));
    }
    for setting in global.values(&["config-env"]) {
        if let Some((key, _)) = setting.known().and_then(|text| text.split_once('=')) {
            settings.push((key.to_owned(), Arg::unknown(setting.text.clone())));
        }
    }
    settings.extend(config::from_environment(call.assignments));
    for (key, value) in &settings {
        if let Some(name) = key.strip_prefix("alias.") {
            aliases.push((name.to_owned(), value.known().unwrap_or_default().to_owned()));
        } else {
            config::in_force(report, key, value, false);
        }
    }
    config::environment(call.assignments, report);
    let Some((command, args)) = global.operands.split_first() else { return };
    let Some(name) = command.known() else {
        return report.opaque(OpaqueWhat::Program, &format!("git {}", command.text));
    };
    let inner = Call { cwd: &cwd, args, ..*call };
    if !is_builtin(name) {
        let alias = aliases.into_iter().rev().find(|(alias, _)| alias == name).map(|(_, value)| value);
        if let Some(value) = alias.or_else(|| call.env.git_alias(name)) {
            return follow_alias(&inner, report, &value, &cwd);
        }
    }
    let force_not_needed = settings
        .iter()
        .any(|(key, value)| key.eq_ignore_ascii_case("clean.requireforce") && config::is_false(value));
    let prunes_now = settings.iter().any(|(key, value)| {
        key.to_ascii_lowercase().starts_with("gc.")
            && key.to_ascii_lowercase().contains("expire")
            && config::is_now(value)
    });
    // Wherever it stands, git only shows the manual then.
    if args.iter().take_while(|arg| arg.known() != Some("--")).any(|arg| arg.known() == Some("--help")) {
        return;
    }
    let git = Git { call: &inner, args };
    transports(&git, report, name);
    if let Some(directory) = work_tree(call, &global).filter(|_| tree::writes(name)) {
        git.fills(report, directory);
    }
    if notes::of_record(&git, name) {
        return report.guard_off(GuardOff::LictorBinary, &super::report::written(call));
    }
    if makes_commits(name) && is_elsewhere(call, &global) {
        report.git(GitEffect::SkipHooks, Some(&super::report::written(call)));
    }
    match name {
        "checkout" => tree::checkout(&git, report),
        "switch" => tree::switch(&git, report),
        "restore" => tree::restore(&git, report),
        "reset" => tree::reset(&git, report),
        "clean" => tree::clean(&git, report, force_not_needed),
        "stash" => tree::stash(&git, report),
        "read-tree" => tree::read_tree(&git, report),
        "checkout-index" => tree::checkout_index(&git, report),
        "rm" | "mv" => tree::rm_mv(&git, report, name),
        "send-pack" => {
            if !args.iter().any(|arg| arg.known() == Some("--dry-run")) {
                report.git(GitEffect::SkipHooks, Some("send-pack"));
            }
            push::push(&git, report);
        }
        "push" => push::push(&git, report),
        "fetch" | "pull" | "clone" | "ls-remote" | "remote" | "fetch-pack" => push::fetch(&git, report, name),
        "config" => config::judge(&git, report),
        "commit" | "merge" | "cherry-pick" | "revert" => commit(&git, report, name),
        "rebase" => rebase(&git, report),
        "branch" => branch(&git, report),
        "worktree" => worktree(&git, report),
        "submodule" => submodule(&git, report),
        "add" | "stage" => {
            // What has to stay out of commits is put into one by its name.
            let options = git.parse(Grammar::anywhere("", "force all patch update dry-run intent-to-add"));
            let secret = options.operands.iter().find(|arg| super::secrets::is_secret(arg));
            if let Some(file) = secret.filter(|_| !options.has(&["n", "dry-run"])) {
                super::secrets::read(git.call, report, file, false);
            }
        }
        // Commits by hooks of its own.
        "am" if !args.iter().any(|arg| {
            matches!(arg.known(), Some("--abort" | "--quit" | "--show-current-patch" | "--skip"))
        }) =>
        {
            commit(&git, report, "am");
            for file in args.iter().filter(|arg| !arg.prefix().starts_with('-')) {
                crate::patch::report_diff_file(git.call, report, file, 1, None);
            }
        }
        // Commits and refs that no hook sees.
        "fast-import" | "http-push" | "commit-tree" | "quiltimport" | "cvsimport" | "receive-pack" => {
            report.git(GitEffect::SkipHooks, Some(name));
        }
        "update-index" => tree::update_index(&git, report),
        "merge-file" => {
            let options = git.parse(Grammar::anywhere("L", "stdout ours theirs union object-id"));
            if let Some(file) = options.operands.first().filter(|_| !options.has(&["p", "stdout"])) {
                report.file(git.call, Access::Modify, file, false);
            }
        }
        "subtree" => {
            let options = git.parse(Grammar::anywhere("Pmb", "prefix= message= branch= onto= squash"));
            if let Some(directory) = options.value(&["P", "prefix"]) {
                git.fills(report, directory);
            }
        }
        "blame" | "annotate" => {
            let options = git.parse(Grammar::anywhere("LCMS", "contents= ignore-rev= ignore-revs-file="));
            options.operands.iter().for_each(|file| super::secrets::read(git.call, report, file, false));
        }
        "hash-object" => {
            let options = git.parse(Grammar::anywhere("t", "path= stdin stdin-paths literally no-filters"));
            if options.text(&["t"]) == Some("commit") {
                report.git(GitEffect::SkipHooks, Some(name));
            }
            // What is put into git's store can be taken out again under another name.
            for file in options.operands.iter().filter(|_| options.has(&["w"])) {
                super::secrets::read(git.call, report, file, false);
            }
        }
        "init" => {
            if let Some(directory) = global.value(&["git-dir"]) {
                report.file(git.call, Access::MakeDirectory, directory, false);
            }
            init(&git, report);
        }
        "bisect" => {
            if let Some((sub, command)) = args.split_first()
                && sub.known() == Some("run")
            {
                report.then_argv(command, "git bisect run");
            }
        }
        "filter-branch" | "filter-repo" => filter(&git, report),
        "reflog" | "gc" | "prune" | "update-ref" | "symbolic-ref" | "replace" | "maintenance" | "lfs" => {
            history(&git, report, name, prunes_now);
        }
        "apply" => apply(&git, report),
        "submodule--helper" => submodule(&git, report),
        "difftool" | "mergetool" => {
            let options = git.parse(Grammar::anywhere("xt", "extcmd= tool="));
            if let Some(command) = options.value(&["x", "extcmd"]) {
                report.then_shell(command, &[], "git difftool");
            }
        }
        "grep" => {
            let options = git
                .parse(Grammar::anywhere("efmABC", "open-files-in-pager? threads= max-depth=").attached("O"));
            if let Some(pager) = options.value(&["O", "open-files-in-pager"]) {
                report.then_shell(pager, &[], "git grep");
            }
            let lists =
                options.has(&["l", "L", "c", "files-with-matches", "name-only", "count", "quiet", "q"]);
            if !lists {
                shown::paths(&git, report, options.from(1));
            }
            // A pattern that every line fits shows whole files.
            if !lists && options.operands.len() == 1 && matches!(options.word(0), "" | "." | ".*" | "^" | "$")
            {
                super::secrets::read(git.call, report, &Arg::literal("."), true);
            }
            report.names = vec![super::report::glob("./**")];
            report.names.retain(|_| options.has(&["l", "files-with-matches", "name-only"]));
        }
        "archive" | "diff" | "log" | "show" | "format-patch" | "bundle" | "diff-tree" | "diff-index"
        | "diff-files" | "whatchanged" | "range-diff" => shown::output(&git, report, name),
        "credential" if args.first().is_some_and(|arg| arg.known() == Some("fill")) => {
            super::secrets::reveals(report);
        }
        "cat-file" => {
            let options = git.parse(Grammar::anywhere("", "batch? batch-check? filters textconv path="));
            if !options.has(&["e", "t", "s"]) {
                shown::kept(&git, report, &options.operands);
            }
            // `--batch` reads the names of what it prints.
            if let (true, Stdin::Text(names)) = (options.has(&["batch"]), git.call.stdin) {
                let objects: Vec<Arg> = names.lines().map(|name| Arg::literal(name.trim())).collect();
                shown::kept(&git, report, &objects);
            }
        }
        "ls-files" => {
            let options = git
                .parse(Grammar::anywhere("xX", "exclude= exclude-from= exclude-per-directory= with-tree="));
            report.names = match options.operands.as_slice() {
                [] => vec![super::report::glob("./**")],
                paths => paths.to_vec(),
            };
        }
        "hook" => {
            // `git hook run` only runs what is installed.
        }
        "rev-parse" if args.iter().any(|arg| arg.known() == Some("--show-toplevel")) => {}
        // The number of a file stands for the file.
        "rev-parse" => {
            let path = |arg: &Arg| arg.known()?.split_once(':').map(|(_, path)| Arg::literal(path));
            report.names = args.iter().filter_map(path).collect();
        }
        _ => {}
    }
}

fn makes_commits(name: &str) -> bool {
    matches!(name, "commit" | "merge" | "cherry-pick" | "revert" | "rebase" | "am" | "pull" | "push")
}

/// Whether git is pointed at another repository or other programs than those whose hooks govern.
fn is_elsewhere(call: &Call<'_>, global: &Options) -> bool {
    let own = |value: &Arg| matches!(value.prefix().trim_end_matches('/'), ".git" | "./.git");
    let moved = |name: &str, value: &Arg| match name {
        "GIT_DIR" | "GIT_COMMON_DIR" => !own(value),
        "GIT_OBJECT_DIRECTORY" | "GIT_EXEC_PATH" => true,
        // Another configuration of the person may move the hooks.
        "HOME" | "XDG_CONFIG_HOME" => true,
        _ => false,
    };
    global.value(&["git-dir"]).is_some_and(|value| !own(value))
        || call.assignments.iter().any(|(name, value)| moved(name, value))
}

/// The work tree that git is told to fill instead of the one it stands in.
fn work_tree<'a>(call: &'a Call<'_>, global: &'a Options) -> Option<&'a Arg> {
    let set = || call.assignments.iter().find(|(name, _)| name == "GIT_WORK_TREE").map(|(_, value)| value);
    global.value(&["work-tree"]).or_else(set)
}

/// Programs that git is told to talk to the other side with: `ext::command`, `--upload-pack=command`.
fn transports(git: &Git<'_, '_>, report: &mut Report, name: &str) {
    if !matches!(
        name,
        "clone"
            | "fetch"
            | "pull"
            | "push"
            | "ls-remote"
            | "remote"
            | "submodule"
            | "fetch-pack"
            | "send-pack"
            | "archive"
    ) {
        return;
    }
    let mut before = "";
    for arg in git.args {
        let word = arg.prefix();
        if word.starts_with("ext::") {
            report.then_shell(&super::options::after(arg, 5), &[], "git");
            report.git(GitEffect::ConfigureExecution, Some(word));
        }
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, value),
            None => (before, word),
        };
        if matches!(option, "--upload-pack" | "--receive-pack" | "--exec") && !value.is_empty() {
            report.then_shell(&Arg::literal(value), &[], "git");
            report.git(GitEffect::ConfigureExecution, Some(option));
        }
        before = if word.contains('=') { "" } else { word };
    }
}

/// Replaces an alias by what it stands for.
fn follow_alias(call: &Call<'_>, report: &mut Report, value: &str, cwd: &Cwd) {
    if let Some(command) = value.trim_start().strip_prefix('!') {
        let mut words = vec![Arg::literal(command)];
        words.extend(call.args.iter().cloned());
        return report.then_shell(&super::report::templated(&words), &[], "git alias");
    }
    let mut argv = vec![Arg::literal("git")];
    argv.extend(super::wrappers::split_words(value).into_iter().map(Arg::literal));
    argv.extend(call.args.iter().cloned());
    report.next.push(Next::Argv {
        argv,
        assignments: Vec::new(),
        cwd: Some(cwd.clone()),
        through: "git alias".to_owned(),
        more: false,
        elsewhere: false,
    });
}

fn commit(git: &Git<'_, '_>, report: &mut Report, name: &str) {
    let options = git.options(name);
    if options.has(&["dry-run"]) {
        return;
    }
    if options.has(&["no-verify"]) || (name == "commit" && options.has(&["n"])) {
        report.git(GitEffect::SkipHooks, Some(name));
    }
    if matches!(name, "commit" | "am") {
        report.git(GitEffect::Commit, None);
    }
}

fn rebase(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("rebase");
    for command in options.values(&["x", "exec"]) {
        report.then_shell(command, &[], "git rebase --exec");
    }
    if options.has(&["no-verify"]) {
        report.git(GitEffect::SkipHooks, Some("rebase"));
    }
}

fn branch(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("branch");
    let force = options.has(&["f", "force"]);
    let moves = options.has(&["m", "move", "c", "copy", "M", "C"]);
    let target = joined(&options.operands).text;
    let deletes = options.has(&["D"]) || (options.has(&["d", "delete"]) && force);
    if deletes || (force && !moves && !options.operands.is_empty()) {
        report.git(GitEffect::DiscardCommits, Some(&target));
    }
}

fn worktree(git: &Git<'_, '_>, report: &mut Report) {
    let Some((sub, args)) = git.args.split_first() else { return };
    let options = grammar::of("worktree").parse(args);
    match sub.known() {
        Some("remove") if options.has(&["f", "force"]) => {
            let tree = options.operands.first().map(|arg| arg.known().unwrap_or(&arg.text));
            report.git(GitEffect::DiscardCommits, tree);
        }
        Some("add") => {
            if let Some(path) = options.operands.first() {
                git.fills(report, path);
            }
        }
        Some("move") => {
            if let [from, to] = options.operands.as_slice() {
                report.file(git.call, Access::MoveAway, from, true);
                git.fills(report, to);
            }
        }
        _ => {}
    }
}

fn submodule(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("submodule");
    match options.word(0) {
        "foreach" => {
            let at = git.args.iter().position(|arg| arg.known() == Some("foreach")).unwrap_or_default();
            let command: Vec<Arg> = git
                .args
                .iter()
                .skip(at + 1)
                .skip_while(|arg| arg.prefix().starts_with('-'))
                .cloned()
                .collect();
            match command.as_slice() {
                [text] => report.then_shell(text, &[], "git submodule foreach"),
                words => report.then_argv(words, "git submodule foreach"),
            }
        }
        "deinit" if options.has(&["f", "force"]) => report.git(GitEffect::DiscardWork, Some("submodule")),
        "update" if options.has(&["f", "force"]) => report.git(GitEffect::DiscardWork, Some("submodule")),
        "add" => {
            if let Some(url) = options.operands.get(1) {
                network::reach(report, url, false);
            }
            if let Some(path) = options.operands.get(2) {
                git.fills(report, path);
            }
        }
        _ => {}
    }
}

fn filter(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.parse(Grammar::anywhere(
        "d",
        "tree-filter= index-filter= env-filter= parent-filter= msg-filter= commit-filter= tag-name-filter= setup= \
         subdirectory-filter= original= state-branch= path= path-glob= replace-text= mailmap= refs= message-callback= \
         commit-callback= blob-callback= filename-callback= dry-run analyze force invert-paths",
    ));
    if options.has(&["analyze", "dry-run"]) {
        return;
    }
    report.git(GitEffect::RewriteHistory, None);
    for command in
        options.values(&["tree-filter", "index-filter", "env-filter", "msg-filter", "commit-filter", "setup"])
    {
        report.then_shell(command, &[], "git filter-branch");
    }
}

fn history(git: &Git<'_, '_>, report: &mut Report, name: &str, prunes_now: bool) {
    let options = git.parse(
        Grammar::anywhere(
            "m",
            "prune? expire= expire-unreachable= dry-run delete stdin no-deref create-reflog aggressive auto all updateref \
             rewrite force quiet no-prune task= edit graft",
        ),
    );
    let dry = options.has(&["n", "dry-run"]);
    let target = options.operands.first().map(|arg| arg.text.as_str());
    match name {
        _ if dry => {}
        "reflog" if matches!(options.word(0), "expire" | "delete") => {
            report.git(GitEffect::ExpireHistory, target);
        }
        "gc" if prunes_now || options.value(&["prune"]).is_some_and(config::is_now) => {
            report.git(GitEffect::ExpireHistory, None);
        }
        "prune" => report.git(GitEffect::ExpireHistory, None),
        "update-ref" if options.has(&["d", "delete"]) => report.git(GitEffect::ExpireHistory, target),
        "update-ref" if options.has(&["stdin"]) => match git.call.stdin {
            Stdin::Text(text) if !text.lines().any(|line| line.trim_start().starts_with("delete")) => {
                report.git(GitEffect::DiscardCommits, None);
            }
            _ => report.git(GitEffect::ExpireHistory, None),
        },
        "update-ref" if options.operands.len() == 2 && keeps_aside(options.word(0), options.word(1)) => {}
        "update-ref" if options.operands.len() >= 2 => report.git(GitEffect::DiscardCommits, target),
        "symbolic-ref" if options.has(&["d", "delete"]) => report.git(GitEffect::DiscardCommits, target),
        "replace" if options.has(&["d", "delete", "l", "list"]) => {}
        "replace" if options.operands.len() >= 2 || options.has(&["edit", "graft"]) => {
            report.git(GitEffect::RewriteHistory, target);
        }
        _ => {}
    }
}

/// A ref that is made to keep commits: outside of branches and tags, or set to what another name stands for now. What is
/// set back to an older commit loses those in between, whatever it is called.
fn keeps_aside(name: &str, value: &str) -> bool {
    let known = ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/stash", "HEAD"];
    let older = value.contains(['~', '^', '{']) || value.chars().all(|c| c.is_ascii_hexdigit());
    name.starts_with("refs/")
        && (!known.iter().any(|start| name.starts_with(start)) || name.starts_with("refs/heads/") && !older)
}

/// A new repository: where its directory is made, and whether this one's is moved away.
fn init(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.parse(Grammar::anywhere(
        "b",
        "separate-git-dir= template= initial-branch= object-format= ref-format= shared? quiet bare",
    ));
    let here = Arg::literal(".");
    let directory = options.operands.first().unwrap_or(&here);
    if !options.operands.is_empty() {
        report.file(git.call, Access::MakeDirectory, directory, false);
    }
    // Hooks are copied out of it into a repository that is there.
    let fills =
        options.has(&["template"]) || git.call.assignments.iter().any(|(name, _)| name == "GIT_TEMPLATE_DIR");
    if options.has(&["separate-git-dir"]) || fills && matches!(directory.known(), Some("." | "./")) {
        report.guard_off(GuardOff::Hooks, &super::report::written(git.call));
    }
    if let Some((_, moved)) = git.call.assignments.iter().find(|(name, _)| name == "GIT_DIR") {
        report.file(git.call, Access::MakeDirectory, moved, false);
    }
    let bare = options.has(&["bare"]);
    let made = if bare { directory.clone() } else { super::report::below(directory, ".git") };
    report.file(git.call, Access::MakeDirectory, &made, false);
}

fn apply(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.parse(Grammar::anywhere(
        "pCR",
        "directory= exclude= include= whitespace= check stat numstat summary cached index reverse reject 3way unsafe-paths",
    ));
    if options.has(&["check", "stat", "numstat", "summary", "cached"]) && !options.has(&["apply"]) {
        return;
    }
    let strip = options.text(&["p"]).and_then(|n| n.parse().ok()).unwrap_or(1);
    let is_input = |arg: &Arg| matches!(arg.known(), Some("-" | "/dev/stdin"));
    for file in options.operands.iter().filter(|arg| !is_input(arg)) {
        report.file(git.call, Access::Read, file, false);
        crate::patch::report_diff_file(git.call, report, file, strip, options.value(&["directory"]));
    }
    if options.operands.is_empty() || options.operands.iter().any(is_input) {
        crate::patch::report_diff(git.call, report, strip, options.value(&["directory"]));
    }
}
