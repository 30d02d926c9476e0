//! git: global options, aliases, and the commands that do not concern the working tree, remotes or configuration.

mod config;
mod grammar;
pub(crate) mod made;
mod notes;
mod push;
mod shown;
mod tree;
mod verbs;
mod words;

use lictor_core::facts::{Access, FlowSink, FlowSource, GitEffect, GuardOff, OpaqueWhat};

use super::network;
use super::options::Options;
use super::report::{chdir, joined};
use crate::call::{Call, Next, Report, Stdin};
use crate::operand::{Arg, Incoming, Listed};
use crate::paths;

pub(crate) use shown::shown_paths;
pub use verbs::GitChanges;
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

/// One git command with its parsed options.
pub(super) struct Git<'a, 'b> {
    call: &'a Call<'b>,
    args: &'a [Arg],
    /// The options before the command.
    global: &'a Options,
    /// Settings for this call only.
    settings: &'a [(String, Arg)],
}

impl Git<'_, '_> {
    /// The words of a command, by its own options.
    fn options(&self, command: &str) -> Options {
        grammar::of(command).parse(self.args)
    }

    /// Whether a setting of this call, by its name in small letters, has such a value.
    fn sets(&self, name: &str, holds: fn(&Arg) -> bool) -> bool {
        self.settings.iter().any(|(key, value)| key.eq_ignore_ascii_case(name) && holds(value))
    }

    /// Files whose names only git knows are written below a directory.
    fn fills(&self, report: &mut Report, directory: &Arg) {
        report.arrives(self.call, Access::MakeDirectory, directory, false, Incoming::Unknown);
    }
}

/// Settings in front of a command, and those that variables put there.
fn settings(call: &Call<'_>, global: &Options) -> Vec<(String, Arg)> {
    let mut settings: Vec<(String, Arg)> = global.values(&["c"]).filter_map(config::split).collect();
    for setting in global.values(&["config-env"]) {
        if let Some((key, _)) = setting.known().and_then(|text| text.split_once('=')) {
            settings.push((key.to_owned(), Arg::unknown(setting.text.clone())));
        }
    }
    settings.extend(config::from_environment(call));
    settings
}

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let mut global = grammar::global().parse(call.args);
    // `git -- reset` still runs reset.
    if global.operands.first().and_then(Arg::known) == Some("--") {
        global.operands.remove(0);
    }
    let named = || call.assignments.iter().find(|(name, _)| name == "GIT_EXEC_PATH").map(|(_, value)| value);
    if let Some(programs) = global.value(&["exec-path"]).or_else(named) {
        report.git(GitEffect::ConfigureExecution, Some(&format!("--exec-path={}", programs.text)));
    }
    let cwd = global.values(&["C"]).fold(call.cwd.clone(), |cwd, dir| chdir(&cwd, dir));
    let settings = settings(call, &global);
    for (key, value) in settings.iter().filter(|(key, _)| !key.starts_with("alias.")) {
        config::in_force(report, key, value, false);
    }
    config::environment(call.assignments, report);
    let Some((command, args)) = global.operands.split_first() else { return };
    let Some(name) = command.known() else {
        return report.opaque(OpaqueWhat::Program, &format!("git {}", command.text));
    };
    let inner = Call { cwd: &cwd, args, ..*call };
    if !is_builtin(name) {
        let mut aliases = settings.iter().rev();
        let alias = aliases.find(|(key, _)| key.strip_prefix("alias.") == Some(name));
        let alias = alias.map(|(_, value)| value.known().unwrap_or_default().to_owned());
        if let Some(value) = alias.or_else(|| call.env.git_alias(name)) {
            return follow_alias(&inner, report, &value, &settings);
        }
    }
    // At any position it only shows the manual.
    if args.iter().take_while(|arg| arg.known() != Some("--")).any(|arg| arg.known() == Some("--help")) {
        return;
    }
    let git = Git { call: &inner, args, global: &global, settings: &settings };
    transports(&git, report, name);
    let fills = || GitChanges::of(name).is_some_and(|changes| changes.tree);
    if let Some(directory) = work_tree(call, &global).filter(|_| fills()) {
        git.fills(report, directory);
    }
    if notes::of_record(&git, name) {
        return report.guard_off(GuardOff::LictorBinary, &super::report::written(call));
    }
    let unseen = crate::words::GIT_COMMITS.contains(&name) && is_elsewhere(call, &global)
        || takes_stash_for_commit(&git, name);
    if unseen {
        report.git(GitEffect::SkipHooks, Some(&super::report::written(call)));
    }
    // A message stays in the history.
    let keeps = matches!(name, "commit" | "commit-tree" | "tag" | "notes" | "merge");
    if let Some(message) = git.args.iter().find(|arg| keeps && arg.taint.secret) {
        report.flow(FlowSource::Secret, FlowSink::File, &message.text);
    }
    run(&git, report, name);
}

/// What a command does.
fn run(git: &Git<'_, '_>, report: &mut Report, name: &str) {
    match name {
        "checkout" => tree::checkout(git, report),
        "switch" => tree::switch(git, report),
        "restore" => tree::restore(git, report),
        "reset" => tree::reset(git, report),
        "clean" => tree::clean(git, report, git.sets("clean.requireforce", config::is_false)),
        "stash" => tree::stash(git, report),
        "read-tree" => tree::read_tree(git, report),
        // Tasks that the system then starts by itself, and a setting of the person's.
        "maintenance" if matches!(git.args.iter().find_map(Arg::known), Some("register" | "start")) => {
            report.deed("change", "startup");
        }
        "checkout-index" => tree::checkout_index(git, report),
        "rm" | "mv" => tree::rm_mv(git, report, name),
        "update-index" => tree::update_index(git, report),
        "send-pack" | "push" => push::push(git, report, name),
        "fetch" | "pull" | "clone" | "ls-remote" | "remote" | "fetch-pack" => push::fetch(git, report, name),
        "config" => config::judge(git, report),
        "commit" | "merge" | "cherry-pick" | "revert" => commit(git, report, name),
        "am" => am(git, report),
        "branch" => branch(git, report),
        "worktree" => worktree(git, report),
        "submodule" | "submodule--helper" => submodule(git, report),
        "add" | "stage" => add(git, report),
        "hash-object" => hash_object(git, report),
        "init" => init(git, report),
        "gc" | "update-ref" => history(git, report, name),
        "apply" => apply(git, report),
        "subtree" => {
            let options = git.options(name);
            options.value(&["P", "prefix"]).into_iter().for_each(|directory| git.fills(report, directory));
        }
        // A symbolic branch changes without a commit.
        "symbolic-ref" if leads_a_branch(git) => report.git(GitEffect::SkipHooks, Some(name)),
        "grep" => shown::grep(git, report),
        "cat-file" => shown::cat_file(git, report),
        "ls-files" => {
            let options = git.options(name);
            report.names = match options.operands.as_slice() {
                [] => vec![super::report::glob("./**")],
                paths => paths.iter().map(at_any_depth).collect(),
            };
            let listed = if options.has(&["o", "others"]) {
                Listed::All
            } else {
                known_to(git, !options.has(&["m", "modified", "d", "deleted"]))
            };
            super::report::listed(git.call, &mut report.names, listed, None);
        }
        "rev-parse" if git.args.iter().any(|arg| arg.known() == Some("--show-toplevel")) => {}
        // A blob id refers to the file.
        "rev-parse" => {
            let path = |arg: &Arg| arg.known()?.split_once(':').map(|(_, path)| Arg::literal(path));
            report.names = git.args.iter().filter_map(path).collect();
        }
        "archive" | "diff" | "log" | "show" | "format-patch" | "bundle" | "diff-tree" | "diff-index"
        | "diff-files" | "whatchanged" | "range-diff" => shown::output(git, report, name),
        _ => {
            if let Some(entry) = super::table::find(&format!("git-{name}")) {
                super::described::judge(&entry.program, git.call, report);
            }
        }
    }
}

/// Whether a stash is put on a branch. It is a commit that no hook has seen.
fn takes_stash_for_commit(git: &Git<'_, '_>, name: &str) -> bool {
    let words = || git.args.iter().filter_map(Arg::known);
    let moves = match name {
        "merge" | "cherry-pick" | "rebase" => true,
        // Paths of a stash are only restored.
        "reset" => !words().any(|word| word == "--"),
        "checkout" | "switch" => {
            words().any(|word| matches!(word, "-b" | "-B" | "-c" | "-C" | "--detach" | "-d"))
        }
        "branch" => words().any(|word| matches!(word, "-f" | "--force")),
        _ => false,
    };
    moves
        && words().any(|word| {
            let name = word.strip_prefix("refs/").unwrap_or(word);
            name == "stash" || name.starts_with("stash@{") || name.starts_with("stash^")
        })
}

/// A pattern that git fits to names: its `*` takes in slashes too.
fn at_any_depth(path: &Arg) -> Arg {
    let Some(pattern) = path.known().filter(|path| !path.starts_with(':')) else { return path.clone() };
    let Some(wild) = pattern.find(['*', '?', '[']).filter(|_| !path.glob) else { return path.clone() };
    let folder = pattern.get(..wild).and_then(|front| front.rfind('/')).map_or(0, |slash| slash + 1);
    let (folder, name) =
        (pattern.get(..folder).unwrap_or_default(), pattern.rsplit('/').next().unwrap_or_default());
    super::report::glob(&format!("{folder}**/{name}"))
}

/// A file that should not be committed is added by name.
fn add(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("add");
    let left_out = |arg: &&Arg| [":!", ":^", ":(exclude)"].iter().any(|mark| arg.prefix().starts_with(mark));
    let mut named = options.operands.iter().filter(|arg| !left_out(arg));
    let secret = named.find(|arg| super::secrets::is_secret(arg));
    if let Some(file) = secret.filter(|_| !options.has(&["n", "dry-run"])) {
        super::secrets::read(git.call, report, file, false);
    }
}

/// Commits with its own hooks.
fn am(git: &Git<'_, '_>, report: &mut Report) {
    let ends = ["--abort", "--quit", "--show-current-patch", "--skip"];
    if git.args.iter().filter_map(Arg::known).any(|word| ends.contains(&word)) {
        return;
    }
    commit(git, report, "am");
    for file in git.args.iter().filter(|arg| !arg.prefix().starts_with('-')) {
        crate::patch::report_diff_file(git.call, report, file, 1, None);
    }
}

fn hash_object(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("hash-object");
    if options.text(&["t"]) == Some("commit") {
        report.git(GitEffect::SkipHooks, Some("hash-object"));
    }
    // A file in git's object store can be written out under another name.
    for file in options.operands.iter().filter(|_| options.has(&["w"])) {
        super::secrets::read(git.call, report, file, false);
    }
}

/// Whether a symbolic ref other than the current branch is redirected.
fn leads_a_branch(git: &Git<'_, '_>) -> bool {
    let options = git.options("symbolic-ref");
    let name = options.word(0);
    // The main branch of a remote does not affect local branches.
    let own = name != "HEAD"
        && !(name.starts_with("refs/remotes/") && options.word(1).starts_with("refs/remotes/"));
    options.operands.len() >= 2 && own && !options.has(&["d", "delete"])
}

/// Whether git is pointed at another repository or other programs than those whose hooks govern.
fn is_elsewhere(call: &Call<'_>, global: &Options) -> bool {
    // Another configuration of the person may move the hooks, and another record knows no findings.
    if super::guard::is_led_elsewhere(call) {
        return true;
    }
    let own = |value: &Arg| matches!(value.prefix().trim_end_matches('/'), ".git" | "./.git");
    let moved = |name: &str, value: &Arg| match name {
        "GIT_DIR" | "GIT_COMMON_DIR" => !own(value),
        "GIT_OBJECT_DIRECTORY" | "GIT_EXEC_PATH" => true,
        // Hooks find their programs there.
        "PATH" => value
            .prefix()
            .split(':')
            .any(|folder| paths::TEMPORARY.iter().any(|temporary| paths::is_at_or_below(folder, temporary))),
        _ => false,
    };
    global.value(&["git-dir"]).is_some_and(|value| !own(value))
        || call.assignments.iter().any(|(name, value)| moved(name, value))
}

/// Which files git lists: those that it knows, unless it is led to another index or work tree.
fn known_to(git: &Git<'_, '_>, all: bool) -> Listed {
    if is_led_elsewhere(git) { Listed::All } else { Listed::Tracked { all } }
}

/// Whether git may use another index or work tree than those of the directory.
fn is_led_elsewhere(git: &Git<'_, '_>) -> bool {
    git.global.has(&["git-dir", "work-tree"])
        || git.call.assignments.iter().any(|(name, _)| name.starts_with("GIT_"))
        || ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"].iter().any(|name| git.call.env.is_set_here(name))
        || git.settings.iter().any(|(name, _)| name.starts_with("core."))
}

/// The work tree that git writes to instead of the current one.
fn work_tree<'a>(call: &'a Call<'_>, global: &'a Options) -> Option<&'a Arg> {
    let set = || call.assignments.iter().find(|(name, _)| name == "GIT_WORK_TREE").map(|(_, value)| value);
    global.value(&["work-tree"]).or_else(set)
}

/// Transport programs for git: `ext::command`, `--upload-pack=command`.
fn transports(git: &Git<'_, '_>, report: &mut Report, name: &str) {
    if !crate::words::GIT_TRANSPORTS.contains(&name) {
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

/// Expands an alias. The options before it also apply to the git commands that it starts.
fn follow_alias(call: &Call<'_>, report: &mut Report, value: &str, settings: &[(String, Arg)]) {
    let argv: Vec<Arg> = match value.trim_start().strip_prefix('!') {
        Some(command) => {
            let mut words = vec![Arg::literal(command)];
            words.extend(call.args.iter().cloned());
            vec![Arg::literal("sh"), Arg::literal("-c"), super::report::templated(&words)]
        }
        None => {
            let words = super::wrappers::split_words(value).into_iter().map(Arg::literal);
            std::iter::once(Arg::literal("git")).chain(words).chain(call.args.iter().cloned()).collect()
        }
    };
    let mut assignments = Vec::new();
    for (at, (key, value)) in settings.iter().enumerate() {
        assignments.push((format!("GIT_CONFIG_KEY_{at}"), Arg::literal(key)));
        assignments.push((format!("GIT_CONFIG_VALUE_{at}"), value.clone()));
    }
    report.next.push(Next::Argv {
        argv,
        assignments,
        cwd: Some(call.cwd.clone()),
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
            let here = Arg::literal(".");
            let tree = options.operands.first().unwrap_or(&here);
            report.arrives(git.call, Access::Restore, tree, true, Incoming::Nothing);
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
        "deinit" | "update" if options.has(&["f", "force"]) => {
            if is_led_elsewhere(git) {
                return report.git(GitEffect::DiscardWork, Some("submodule"));
            }
            report.arrives(git.call, Access::Restore, &Arg::literal("."), true, Incoming::Submodules);
        }
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

fn history(git: &Git<'_, '_>, report: &mut Report, name: &str) {
    let options = git.options(name);
    let target = options.operands.first().map(|arg| &*arg.text);
    let prunes_now = || {
        let expires = |key: &str| key.starts_with("gc.") && key.contains("expire");
        git.settings.iter().any(|(key, value)| expires(&key.to_ascii_lowercase()) && config::is_now(value))
            || options.value(&["prune"]).is_some_and(config::is_now)
    };
    match name {
        _ if options.has(&["n", "dry-run"]) => {}
        "gc" if prunes_now() => report.git(GitEffect::ExpireHistory, None),
        "gc" => {}
        _ if options.has(&["d", "delete"]) => report.git(GitEffect::ExpireHistory, target),
        _ if options.has(&["stdin"]) => match git.call.stdin {
            Stdin::Text(text) if !text.lines().any(|line| line.trim_start().starts_with("delete")) => {
                report.git(GitEffect::DiscardCommits, None);
            }
            _ => report.git(GitEffect::ExpireHistory, None),
        },
        _ if options.operands.len() == 2 && keeps_aside(options.word(0), options.word(1)) => {}
        _ if options.operands.len() >= 2 => report.git(GitEffect::DiscardCommits, target),
        _ => {}
    }
}

/// A ref that preserves commits: outside of branches and tags, or set to the current target of another name. A
/// ref that is reset to an older commit loses those in between, whatever its name.
fn keeps_aside(name: &str, value: &str) -> bool {
    let known = ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/stash", "HEAD"];
    let older = value.contains(['~', '^', '{']) || value.chars().all(|c| c.is_ascii_hexdigit());
    name.starts_with("refs/")
        && (!known.iter().any(|start| name.starts_with(start)) || name.starts_with("refs/heads/") && !older)
}

/// Whether a directory is where an agent creates files: in the project, or in a temporary place. A person's own
/// template is as trusted as their settings.
fn is_made_here(call: &Call<'_>, directory: &Arg) -> bool {
    let Some(path) = directory.known() else { return true };
    let inside = call.env.project_root().is_some_and(|root| paths::is_at_or_below(path, &root));
    let home = call.env.variable("HOME").is_some_and(|home| paths::is_at_or_below(path, &home));
    inside || paths::is_temporary(path) && !home || !path.is_empty() && !path.starts_with(['/', '~'])
}

/// A new repository: where its directory is made, and whether this one's is moved away.
fn init(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("init");
    if let Some(directory) = git.global.value(&["git-dir"]) {
        report.file(git.call, Access::MakeDirectory, directory, false);
    }
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
    let named = git.call.assignments.iter().find(|(name, _)| name == "GIT_TEMPLATE_DIR");
    let template = options.value(&["template"]).or(named.map(|(_, value)| value));
    if !bare && template.is_some_and(|template| is_made_here(git.call, template)) {
        report.file(git.call, Access::Write, &super::report::below(directory, ".git/config"), false);
    }
}

fn apply(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("apply");
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
