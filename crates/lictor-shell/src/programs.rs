//! Effects of known programs, from their arguments.
//!
//! [`judge`] looks up the program by its base name and writes its effects, the programs it runs in turn and its
//! output into a [`Report`]. The walker of the tree adds the `Run` effect itself.
//!
//! One file per family. A family describes a call; guards decide whether it is allowed.

mod archive;
mod build;
mod clusters;
mod containers;
mod credentials;
mod databases;
mod described;
mod edit;
mod escapes;
mod files;
mod find;
mod forges;
mod git;
mod guard;
mod lictor;
mod local;
pub(crate) mod mentions;
mod network;
pub(crate) mod options;
mod packages;
mod powershell;
mod reads;
mod recipes;
mod remote;
pub(crate) mod report;
mod secret_tools;
mod secrets;
mod serving;
mod sessions;
mod shells;
mod socat;
pub(crate) mod sql;
mod ssh;
mod system;
pub(crate) mod table;
pub(crate) mod text;
mod uploads;
mod variables;
mod wrappers;
mod xargs;

use crate::patch::report_patch as apply_patch;
pub(crate) use containers::STARTED;
pub(crate) use git::made::by_code as made_by_code;
pub use git::{GitChanges, GitWords};
pub use guard::assignment as judge_assignment;
pub(crate) use lictor::NAME as GUARD;
pub use mentions::in_code as strings_in_code;
pub use network::host_of;
pub(crate) use recipes::{edited_scripts, set_scripts};
pub(crate) use secrets::is_environment_path;
pub use secrets::is_secret_path;
pub(crate) use secrets::{
    copies_to_terminal, is_credential_header, is_for, is_secret, is_secret_of_file, prints_secret, reveals,
    shows_input,
};
pub(crate) use serving::here as hands_out;
pub use text::{from_base64, from_hex};
pub(crate) use variables::stays as runs_by_variable;

use std::borrow::Cow;

use lictor_core::facts::GuardOff;

use table::{Entry, Family};

use crate::call::{Call, Report};
use crate::describe::{Style, Trait};
use crate::operand::Arg;

/// Whether the known prefix of a program's name identifies the program: one of the tables with a version behind
/// it, or a file below the current directory.
pub(crate) fn names_program(start: &str) -> bool {
    if start.contains('/') && !start.starts_with(['/', '~']) && !start.starts_with("..") {
        return true;
    }
    let name = start.rsplit('/').next().unwrap_or_default();
    let bare =
        name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-');
    bare.len() > 1 && table::find(bare).is_some()
}

/// Whether what a program prints comes from a container or another machine.
pub(crate) fn is_elsewhere(program: &str) -> bool {
    let family = table::find(&base_name(program)).map(|entry| entry.family);
    matches!(family, Some(Family::Containers | Family::Clusters | Family::Clouds | Family::Storage))
}

/// Reports what one call does. An unknown program reports nothing and leaves `known_program` false.
pub fn judge(call: &Call<'_>, report: &mut Report) {
    let name = match call.path {
        // The shell by another name.
        "/proc/self/exe" | "/proc/$$/exe" => Cow::Borrowed("bash"),
        _ => base_name(call.program),
    };
    let call = Call { program: &name, ..*call };
    // A package of that name is another program.
    let packaged = |entry: &&Entry| {
        entry.family == Family::Attack
            && call.env.runs_through(&["npx", "bunx", "pnpx", "pnpm", "yarn", "npm"])
    };
    let entry = table::find(&name).filter(|entry| !packaged(entry));
    let family = entry.map(|entry| entry.family);
    for (variable, value) in call.assignments {
        guard::assignment(variable, value, call.program, report);
    }
    report.known_program = entry.is_some();
    // Words after the first operand of a wrapper belong to another program, including `--help`.
    let asks = |word: &str| matches!(word, "--help" | "--version");
    if let Some(Entry { program, .. }) = entry
        && match program.options.style {
            Style::First => !call.args.first().and_then(Arg::known).is_some_and(asks),
            _ => !only_helps(&call),
        }
    {
        described::judge(program, &call, report);
    }
    if let Some(program) = call.env.described(&name) {
        report.known_program = true;
        described::judge(program, &call, report);
    }
    lictor::disguised(&call, report);
    lictor::given(&call, report);
    lictor::attached(&call, report);
    system::picked(&call, report);
    lictor::set_for_later(&call, report);
    secrets::loaded(&call, report);
    lictor::freed(&call, report);
    lictor::installed(&call, report);
    git::made::by_program(&call, report);
    // Git's commands exist as separate programs too.
    if let Some(command) =
        name.strip_prefix("git-").filter(|_| entry.is_none_or(|entry| entry.program.rules.is_empty()))
    {
        let mut argv = vec![Arg::literal("git"), Arg::literal(command)];
        argv.extend(call.args.iter().cloned());
        report.then_argv(&argv, "git");
    }
    if matches!(family, None | Some(Family::Clouds)) {
        uploads::quoted(&call, report);
    }
    recipes::judge(&call, report);
    match entry {
        None => {
            unknown(&call, report);
            last_output(&call, report);
        }
        Some(entry) if gives_no_account(entry, report) => {
            secrets::given(&call, report);
            last_output(&call, report);
        }
        Some(_) => {}
    }
    if entry.is_none_or(|entry| entry.program.options.style != Style::First) {
        outputs(&call, entry.is_some(), report);
        if let Some(in_text) = shows_what_it_is_given(family) {
            secrets::unaccounted(&call, report, in_text);
        }
    } else if family == Some(Family::Interpreters) && !report.next.iter().any(crate::call::Next::is_read_code)
    {
        secrets::unaccounted(&call, report, true);
    }
    if family == Some(Family::Packages) {
        packages::sources(&call, report);
        removes_guard(&call, report);
    }
    if call.args.iter().any(|arg| arg.prefix().contains("stratum+")) {
        report.deed("attack", "machine");
    }
    hooks_gone(report);
}

/// A package manager takes Lictor away.
fn removes_guard(call: &Call<'_>, report: &mut Report) {
    const REMOVES: [&str; 7] = ["uninstall", "remove", "purge", "rm", "autoremove", "erase", "unlink"];
    let has = |words: &[&str]| call.args.iter().filter_map(Arg::known).any(|word| words.contains(&word));
    if has(&REMOVES) && has(&["lictor", "lictor-cli"]) {
        report.guard_off(GuardOff::LictorBinary, &report::written(call));
    }
}

/// A deletion or an empty file where a hook was is a hook switched off, and so is the directory of an agent's settings.
fn hooks_gone(report: &mut Report) {
    let hook = report.effects.iter().find_map(|effect| match effect {
        crate::Effect::File { access, target, .. } => {
            let path = target.arg.prefix();
            let lost = access.loses_content() && *access != lictor_core::facts::Access::Write;
            (lost && guard::is_hook_path(path) && !path.ends_with(".sample")).then(|| target.arg.text.clone())
        }
        _ => None,
    });
    let settings = report.effects.iter().find_map(|effect| match effect {
        crate::Effect::File { access, target, recursive: true, .. } => {
            let lost = access.loses_content() && guard::is_agent_directory(target.arg.prefix());
            lost.then(|| target.arg.text.clone())
        }
        _ => None,
    });
    for text in [hook, settings].into_iter().flatten() {
        report.guard_off(GuardOff::Hooks, &text);
    }
}

/// The name that the tables know: as it is, in lower case (file systems that ignore case run `RM` as `rm`), or without a
/// version at its end (`python3.12`, `gcc-14`).
fn base_name(program: &str) -> Cow<'_, str> {
    let name = program.strip_suffix(".exe").unwrap_or(program);
    if table::find(name).is_some() {
        return Cow::Borrowed(name);
    }
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    if !bare.is_empty() && bare != name && table::find(bare).is_some() {
        return Cow::Borrowed(bare);
    }
    // zsh's builtin versions (`zmodload zsh/files`).
    if let Some(bare) = name.strip_prefix("zf_").filter(|bare| table::find(bare).is_some()) {
        return Cow::Borrowed(bare);
    }
    if name.contains(|c: char| c.is_ascii_uppercase()) {
        return Cow::Owned(name.to_ascii_lowercase());
    }
    Cow::Borrowed(name)
}

/// Reports the reading of a file.
pub(crate) fn read_secret(call: &Call<'_>, report: &mut Report, file: &Arg) {
    secrets::read(call, report, file, false);
}

/// Whether something is true of every call of a program, by its name.
#[must_use]
pub fn is(program: &str, wanted: Trait) -> bool {
    table::is(program, wanted)
}

/// The options and operands of a call, as the program's description spells them.
fn parsed(call: &Call<'_>) -> options::Options {
    spelling(call).parse(call.args)
}

/// The option syntax of a call's program.
fn spelling(call: &Call<'_>) -> options::Grammar {
    let described = table::find(call.program).map(|entry| options::Spelling::of(&entry.program.options));
    described.unwrap_or(options::Grammar::anywhere("", ""))
}

/// The first of the names under which a program is described, or its own.
pub(crate) fn canonical(name: &str) -> &str {
    table::find(name).and_then(|entry| entry.program.names.first()).map_or(name, |first| &**first)
}

/// Whether the tables know a program of that name.
pub(crate) fn is_known(name: &str) -> bool {
    table::find(name).is_some()
}

/// Whether a name is that of a tool of developers, and no word that other tools have for a subcommand.
pub(crate) fn is_tool(name: &str) -> bool {
    use Family::{Containers, Developers, Git, Interpreters, Packages};
    let family = table::find(name).map(|entry| entry.family);
    matches!(family, Some(Containers | Developers | Git | Interpreters | Packages))
        && !crate::words::SUBCOMMANDS.contains(&name)
}

/// Whether a name is that of a program that starts others.
pub(crate) fn is_wrapper(name: &str) -> bool {
    table::find(name).is_some_and(|entry| entry.family == Family::Wrappers)
}

/// Whether a name is that of a program that runs scripts.
pub(crate) fn is_interpreter(name: &str) -> bool {
    let family = table::find(name).map(|entry| entry.family);
    matches!(family, Some(Family::Interpreters | Family::Shells))
}

/// Whether a name is that of a shell.
pub(crate) fn is_shell(name: &str) -> bool {
    table::find(name).is_some_and(|entry| entry.family == Family::Shells)
}

/// Programs whose own `--help` only prints: those that run or evaluate something else are not among them.
fn only_helps(call: &Call<'_>) -> bool {
    if let [only] = call.args
        && matches!(only.known(), Some("-h" | "-V" | "help" | "--help" | "--version" | "-help" | "version"))
    {
        return true;
    }
    let mut before: Option<&Arg> = None;
    for arg in call.args {
        match arg.known() {
            Some("--") => return false,
            Some("--version") if before.is_none() => return true,
            Some("--help") if before.is_none_or(|word| !word.prefix().starts_with('-')) => {
                return true;
            }
            _ => before = Some(arg),
        }
    }
    false
}

/// Built-ins and small tools that do nothing anyone cares about, apart from what they print.
fn builtin(call: &Call<'_>, report: &mut Report) {
    match call.program {
        "unset" => {
            for name in call.args.iter().filter_map(Arg::known) {
                guard::unset(name, report);
            }
        }
        // Loads code into the shell itself.
        "enable" => {
            if let Some(library) = options::Grammar::anywhere("f", "").parse(call.args).value(&["f"]) {
                report.opaque(lictor_core::facts::OpaqueWhat::Code, &library.text);
            }
        }
        "numfmt" | "bc" | "expr" => text::derive(call, report),
        "printenv" => {
            let secret = |arg: &Arg| arg.known().is_some_and(|name| call.env.holds_secret(name));
            report.taint.secret |= call.args.is_empty() || call.args.iter().any(secret);
        }
        "man" | "apropos" | "whatis" => {
            let options =
                options::Grammar::anywhere("PHCLmMSsteErRTX", "pager= html? preprocessor=").parse(call.args);
            for pager in options.values(&["P", "pager", "H", "html"]) {
                report.then_shell(pager, &[], "man");
            }
        }
        _ => {}
    }
    report.taint.decoded = false;
}

/// Whether a description does not declare which files the program reads: a secret among its words then counts as
/// read. Tools that authenticate with, load or manage a secret are exempt.
fn gives_no_account(entry: &Entry, report: &Report) -> bool {
    use Family::{Developers, Disks, Documents, Machine, Services};
    let is_file = |effect: &crate::Effect<_>| matches!(effect, crate::Effect::File { .. });
    matches!(entry.family, Documents | Developers | Services | Machine | Disks)
        && entry.program.options.style != Style::First
        && !report.effects.iter().any(is_file)
}

/// How many words of an unknown program are searched for another program (`tool exec 18 rm -rf x`).
const WRAPPED_WITHIN: usize = 3;

/// Programs that destroy or run others: as a word of an unknown program they count as run by it.
pub(crate) fn is_run_by_wrappers(word: &str) -> bool {
    crate::words::RUN_BY_WRAPPERS.contains(&word.rsplit('/').next().unwrap_or_default())
}

/// Options that take a command to run.
fn takes_command(option: &str) -> bool {
    let long = option.strip_prefix("--").is_some_and(|name| {
        matches!(name, "exec" | "execute" | "run" | "shell" | "scripts")
            || ["command", "cmd"].iter().any(|end| {
                name.strip_suffix(end)
                    .is_some_and(|front| front.is_empty() || front.ends_with(['-', '_', '.']))
            })
    });
    long || matches!(option, "-c" | "-C")
}

/// Whether one of the first words is a deletion, as in tools of stores, queues and services.
fn destroys(call: &Call<'_>) -> bool {
    const GONE: [&str; 8] = ["delete", "destroy", "purge", "drop", "terminate", "unregister", "wipe", "nuke"];
    // Sheets of a table, notes and sessions have the same verbs: with those, what goes has to be named.
    let says = |word: &str| {
        GONE.iter().any(|gone| match word.strip_prefix(gone) {
            // A cache is there to be thrown away.
            Some(rest) => rest.is_empty() || rest.starts_with(['-', ':', '_']) && !rest.contains("cache"),
            None => word.strip_suffix(gone).is_some_and(|front| front.ends_with(['-', ':', '_'])),
        })
    };
    let words = call.args.iter().map_while(Arg::known).take_while(|word| !word.starts_with('-')).take(2);
    let runs =
        call.args.first().and_then(Arg::known).is_some_and(|word| matches!(word, "run" | "test" | "exec"));
    let mut named =
        call.args.iter().map_while(Arg::known).take(3).flat_map(|word| word.split(['-', ':', '_']));
    let mild = |word: &str| ["delete", "drop"].iter().any(|verb| word.contains(verb));
    let served = named.any(|part| {
        crate::words::SERVED.contains(&part.trim_end_matches('s')) || crate::words::SERVED.contains(&part)
    });
    let harmless = |word: &str| {
        matches!(word, "--dry-run" | "--help" | "-h" | "-n" | "help" | "--dryrun" | "--simulate")
    };
    let local = matches!(call.program, "xcrun" | "pyenv" | "todo" | "task" | "watson" | "timew");
    !runs
        && !local
        && words.into_iter().any(|word| says(word) && (served || !mild(word)))
        && !call.args.iter().filter_map(Arg::known).any(harmless)
}

/// An unknown program one of whose first words, or the first behind `--`, is a program that destroys may be a
/// wrapper: its words are judged as well. So is a whole command line as the value of such an option.
fn unknown(call: &Call<'_>, report: &mut Report) {
    let runs = |arg: &Arg| arg.known().is_some_and(is_run_by_wrappers);
    let behind = call.args.iter().position(|arg| arg.known() == Some("--")).map(|at| at + 1);
    let carries = call
        .args
        .first()
        .and_then(Arg::known)
        .is_some_and(|word| matches!(word, "run" | "exec" | "activate" | "shell" | "with"));
    let behind = behind.filter(|at| carries || call.args.get(*at).is_some_and(runs));
    let words = call.args.iter().enumerate().filter(|(_, arg)| !arg.prefix().starts_with('-'));
    let wrapped = words.take(WRAPPED_WITHIN).find(|(_, arg)| runs(arg)).map(|(at, _)| at);
    // `guix shell git -- rm x` names a package in front of what it runs.
    let behind = behind.filter(|at| wrapped != Some(*at));
    for at in [wrapped, behind].into_iter().flatten().filter(|at| call.args.len() > at + 1) {
        report.then_argv(call.args.get(at..).unwrap_or_default(), call.program);
    }
    secrets::given(call, report);
    if !call.path.contains('/') && destroys(call) {
        report.infrastructure(call.program, &report::written(call), false);
    }
    let mut before = "";
    for arg in call.args {
        let word = arg.known().unwrap_or_default();
        let (option, text) = word.split_once('=').unwrap_or((before, word));
        let mut parts = text.split_whitespace();
        if takes_command(option) && parts.next().is_some_and(is_run_by_wrappers) && parts.next().is_some() {
            report.then_shell(&Arg::literal(text), &[], call.program);
        }
        before = word;
    }
}

/// Files outside the project that an output option names. For an unknown program a one-letter option counts too;
/// a format (`-o json`) or a file of the project is irrelevant.
fn outputs(call: &Call<'_>, known: bool, report: &mut Report) {
    let mut before: Option<&str> = None;
    for arg in call.args {
        let word = arg.prefix();
        let names = |option: &str| names_output(option) || !known && matches!(option, "-o" | "-O");
        let target = match word.split_once('=') {
            Some((option, _)) if names(option) || !known && matches!(option, "of" | "out" | "output") => {
                Some(options::after(arg, option.len() + 1))
            }
            _ => before.filter(|option| names(option)).map(|_| arg.clone()),
        };
        before = Some(word);
        let Some(target) = target
            .filter(|target| target.prefix().starts_with(['/', '~']) || guard::is_hook_path(target.prefix()))
        else {
            continue;
        };
        let stream = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"].contains(&target.prefix());
        let told = report.effects.iter().any(
            |effect| matches!(effect, crate::Effect::File { target: told, .. } if told.arg.value == target.value),
        );
        if !stream && !told {
            files::write_maybe_device(call, report, &target, lictor_core::facts::Access::Write);
        }
    }
}

/// Whether programs of a family may show a secret from their arguments, and whether they may find it in text.
/// Messages, patterns and words of other programs do not count.
fn shows_what_it_is_given(family: Option<Family>) -> Option<bool> {
    use Family::*;
    match family {
        Some(
            Builtins | Git | Forges | Agents | Shells | Wrappers | Find | Files | Containers | Clusters
            | Clouds | SecretStores | Windows | Text,
        ) => None,
        Some(Databases | Documents | Interpreters | Sessions | Services | Machine | Machines | Editors) => {
            Some(true)
        }
        _ => Some(false),
    }
}

/// Whether the name of a long option indicates an output file: `--output`, `--descriptor_set_out`, `--log-file`,
/// `--outFile`.
fn names_output(option: &str) -> bool {
    const PARTS: [&str; 9] =
        ["output", "out", "outfile", "outputfile", "outdir", "logfile", "dest", "destination", "dump"];
    let Some(name) = option.strip_prefix("--") else { return false };
    let lower = name.to_ascii_lowercase();
    name.split(['-', '_']).any(|part| PARTS.contains(&part))
        || PARTS.contains(&lower.as_str())
        || lower.ends_with("log-file")
        || ["-xml", "-json", "-html", "-report"].iter().any(|format| lower.ends_with(format))
}

/// The last word of a program without declared file effects, if it names a file that is run later: most such
/// programs write their last operand.
fn last_output(call: &Call<'_>, report: &mut Report) {
    let mut words = call.args.iter().filter(|arg| !arg.prefix().starts_with('-'));
    if let (Some(last), Some(_)) = (words.next_back(), words.next_back())
        && last.known().is_some_and(crate::walk::startup::runs_later)
    {
        report.file(call, lictor_core::facts::Access::Write, last, false);
    }
}

/// The words for patterns like `bash("git push")`: the program, then its arguments without the options (and their
/// values) that may precede a subcommand (`git -C dir push -f` → `git push -f`).
#[must_use]
pub fn words(call: &Call<'_>) -> Vec<String> {
    let grammar = table::find(call.program)
        .filter(|entry| entry.program.options.front)
        .map(|entry| options::Spelling::of(&entry.program.options).in_front());
    let args = grammar.map_or(call.args, |grammar| grammar.behind(call.args));
    std::iter::once(call.program.to_owned())
        .chain(args.iter().map(|arg| arg.known().unwrap_or(&arg.text).to_owned()))
        .collect()
}

/// Files that a program uses as instructions by default: `make` a `Makefile`, `terraform` the files `*.tf`.
pub fn recipes_of(program: &str) -> impl Iterator<Item = &'static str> {
    let recipes = table::find(program).map(|entry| entry.program.recipes.iter()).into_iter().flatten();
    recipes.flat_map(|recipe| recipe.names.iter()).map(|name| &**name)
}
