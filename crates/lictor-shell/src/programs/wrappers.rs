//! Programs that run another program, given in their arguments.

use lictor_core::facts::{Access, GuardOff, Privilege};

use super::options::{Grammar, Options, after};
use super::report::chdir;
use crate::call::{Call, Next, Report};
use crate::operand::{Arg, Cwd};

/// `nix-shell --run`, `nix develop -c`, `nix run pkgs#tool -- words`.
pub(crate) fn nix(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere("pA", "run= command= packages=").parse(call.args);
    if let Some(text) = options.value(&["run", "command"]).filter(|_| call.program == "nix-shell") {
        report.then_shell(text, &[], "nix-shell");
    }
    if let Some(at) = call.args.iter().position(|arg| matches!(arg.known(), Some("--command" | "-c"))) {
        report.then_argv(call.args.get(at + 1..).unwrap_or_default(), "nix");
    }
    // `nix run pkgs#tool -- words`, `nix run github:owner/tool -- words`: the words belong to the tool.
    let flake = options.word(1);
    let tool = flake.split_once('#').map(|(_, tool)| tool);
    let tool = tool.or_else(|| flake.contains(':').then(|| flake.rsplit('/').next().unwrap_or(flake)));
    if matches!(options.word(0), "run" | "shell")
        && let Some(tool) = tool
        && let Some(at) = call.args.iter().position(|arg| arg.known() == Some("--"))
    {
        // Flakes are named after their program.
        let packed =
            lictor_agents::launch::by_package(tool.trim_end_matches("-nix").trim_end_matches("-flake"));
        let mut argv = vec![Arg::literal(packed.unwrap_or(tool))];
        argv.extend(call.args.get(at + 1..).unwrap_or_default().iter().cloned());
        return report.then_argv(&argv, "nix");
    }
    if options.word(0) == "store" && matches!(options.word(1), "gc" | "delete") {
        report.infrastructure("nix", "store gc", false);
    }
}

/// `bwrap`.
pub(crate) fn bwrap(call: &Call<'_>, report: &mut Report) {
    // Its options take one or two words each; the command is the first word that none of them takes.
    let mut rest = call.args;
    while let Some((first, tail)) = rest.split_first()
        && let Some(option) = first.known().and_then(|word| word.strip_prefix("--"))
    {
        let takes = match option {
            "" => return report.then_argv(tail, "bwrap"),
            option
                if option.contains("bind") || matches!(option, "symlink" | "setenv" | "file" | "chmod") =>
            {
                2
            }
            "proc" | "dev" | "tmpfs" | "dir" | "chdir" | "uid" | "gid" | "hostname" | "unsetenv"
            | "perms" | "cap-add" | "cap-drop" | "seccomp" | "remount-ro" | "size" | "args" | "lock-file" => {
                1
            }
            _ => 0,
        };
        rest = tail.get(takes..).unwrap_or_default();
    }
    report.then_argv(rest, "bwrap");
}

/// `capsh`.
pub(crate) fn capsh(call: &Call<'_>, report: &mut Report) {
    // What follows `--` are the words of a shell.
    if let Some(at) = call.args.iter().position(|arg| matches!(arg.known(), Some("--" | "=="))) {
        let mut argv = vec![Arg::literal("bash")];
        argv.extend(call.args.get(at + 1..).unwrap_or_default().iter().cloned());
        report.then_argv(&argv, "capsh");
    }
}

/// `m4`: macros that run a command.
pub(crate) fn m4(call: &Call<'_>, report: &mut Report) {
    if let crate::call::Stdin::Text(text) = call.stdin {
        for opening in ["esyscmd(", "syscmd("] {
            if let Some((_, rest)) = text.split_once(opening) {
                let command = rest.split(')').next().unwrap_or_default();
                report.then_shell(&Arg::literal(command.trim_matches(['`', '\''])), &[], "m4");
                break;
            }
        }
    }
}

/// `start-stop-daemon`: the program is an option, its words follow `--`.
pub(crate) fn daemon(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if let Some(program) = options.value(&["x", "exec", "startas"]) {
        let mut argv = vec![program.clone()];
        argv.extend(options.operands.iter().cloned());
        report.then_argv(&argv, "start-stop-daemon");
    }
}

/// `NAME=value` words in front of a command, and the rest.
pub(crate) fn assignments(args: &[Arg]) -> (Vec<(String, Arg)>, &[Arg]) {
    let mut found = Vec::new();
    let mut rest = args;
    while let Some((first, tail)) = rest.split_first() {
        let prefix = first.prefix();
        match prefix.split_once('=') {
            Some((name, _)) if !name.starts_with('-') && !name.contains(['/', ' ']) => {
                found.push((name.to_owned(), after(first, name.len() + 1)));
            }
            _ => break,
        }
        rest = tail;
    }
    (found, rest)
}

fn starts_agent(program: &str) -> bool {
    lictor_agents::launch::by_program(program).is_some()
}

fn run_with(call: &Call<'_>, report: &mut Report, options: &Options, cwd: Option<Cwd>) {
    let (mut assigned, argv) = assignments(&options.operands);
    let program = argv.first().and_then(Arg::known).map(|path| path.rsplit('/').next().unwrap_or(path));
    // Another user, or an environment without the variables for settings directories.
    let other_home = match call.program {
        "env" => {
            options.has(&["i", "ignore-environment"])
                || call.args.first().is_some_and(|arg| arg.known() == Some("-"))
                || options
                    .values(&["u", "unset"])
                    .filter_map(Arg::known)
                    .any(lictor_agents::launch::moves_settings)
        }
        _ => options.has(&["u", "user", "i", "login", "H", "set-home"]),
    };
    let governs = |program: &str| starts_agent(program) || matches!(program, "git" | super::lictor::NAME);
    if other_home && program.is_some_and(governs) {
        assigned.push(("HOME".to_owned(), Arg::unknown("another home")));
    }
    for (name, value) in &assigned {
        super::guard::assignment(name, value, program.unwrap_or_default(), report);
    }
    if argv.is_empty() {
        return;
    }
    report.next.push(Next::Argv {
        argv: argv.to_vec(),
        assignments: assigned,
        cwd,
        through: call.program.to_owned(),
        more: false,
        elsewhere: false,
    });
}

pub(crate) fn sudo(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if options.has(&["l", "list", "v", "validate", "k", "K", "V", "version", "help"])
        && options.operands.is_empty()
    {
        return;
    }
    report.privilege(Privilege::BecomeRoot);
    if call.program == "sudoedit" || options.has(&["e", "edit"]) {
        for file in &options.operands {
            report.file(call, Access::Modify, file, false);
        }
        return;
    }
    let cwd = options.value(&["D", "chdir"]).map(|dir| chdir(call.cwd, dir));
    if options.operands.is_empty() && options.has(&["s", "i", "shell", "login"]) {
        return super::shells::stdin_is_code(call, report);
    }
    run_with(call, report, &options, cwd);
}

pub(crate) fn su(call: &Call<'_>, report: &mut Report) {
    report.privilege(Privilege::BecomeRoot);
    let options = Grammar::anywhere(
        "cCgGsuwT",
        "command= session-command= shell= group= supp-group= user= whitelist-environment=",
    )
    .parse(call.args);
    if let Some(text) = options.value(&["c", "C", "command", "session-command"]) {
        // An agent of another user has other settings.
        let mut words = text.prefix().split([' ', ';', '&', '|', '(']);
        if words.any(|word| starts_agent(word.rsplit('/').next().unwrap_or_default())) {
            report.guard_off(GuardOff::AgentElsewhere, &super::report::written(call));
        }
        return report.then_shell(text, &[], call.program);
    }
    if call.program == "runuser" && options.has(&["u", "user"]) {
        let options = Grammar::until_operand("ugGs", "user= group= supp-group=").parse(call.args);
        return run_with(call, report, &options, None);
    }
    super::shells::stdin_is_code(call, report);
}

pub(crate) fn env(call: &Call<'_>, report: &mut Report) {
    // `-S 'cmd a' b`: what follows belongs to the command, options and all.
    let splits = |arg: &Arg| arg.prefix().starts_with("-S") || arg.prefix().starts_with("--split-string");
    let own = call.args.iter().position(splits).map(|at| {
        let alone = matches!(call.args.get(at).and_then(Arg::known), Some("-S" | "--split-string"));
        at + 1 + usize::from(alone)
    });
    let (front, behind) = own.and_then(|own| call.args.split_at_checked(own)).unwrap_or((call.args, &[]));
    let mut options = super::spelling(call).parse(front);
    options.operands.extend(behind.iter().cloned());
    if options.operands.first().is_some_and(|arg| arg.known() == Some("-")) {
        options.operands.remove(0);
    }
    if let Some(text) = options.value(&["S", "split-string"]).cloned() {
        match text.known() {
            Some(text) => {
                let mut words: Vec<Arg> = split_words(text).into_iter().map(Arg::literal).collect();
                words.append(&mut options.operands);
                let inner = super::spelling(call).parse(&words);
                options.operands = inner.operands;
            }
            None => report.unknown_code(text.taint, &text.text),
        }
    }
    for name in options.values(&["u", "unset"]).filter_map(Arg::known) {
        super::guard::unset(name, report);
    }
    let cwd = options.value(&["C", "chdir"]).map(|dir| chdir(call.cwd, dir));
    // Without a command it prints the environment, tokens among it.
    report.taint.secret |= assignments(&options.operands).1.is_empty();
    run_with(call, report, &options, cwd);
}

/// Words of a text with simple quotes, as `env -S` and git aliases split it.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(letters.next()),
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(open)) if letter == open => quote = None,
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

pub(crate) fn command(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if call.program == "command" && options.has(&["v", "V"]) {
        if let [name] = options.operands.as_slice() {
            report.stdout = name.known().map(|name| format!("/usr/bin/{name}\n"));
        }
        return;
    }
    report.then_argv(&options.operands, call.program);
}

pub(crate) fn script(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if let Some(text) = options.value(&["c", "command"]) {
        report.then_shell(text, &[], "script");
    }
    if let Some(file) = options.operands.first() {
        report.file(call, Access::Write, file, false);
    }
    // BSD: the command follows the file.
    report.then_argv(options.from(1), "script");
    for text in Grammar::anywhere("c", "command=").parse(options.from(1)).values(&["c", "command"]) {
        report.then_shell(text, &[], "script");
    }
}

pub(crate) fn flock(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let rest = options.from(1);
    if let Some(text) = options.value(&["c", "command"]) {
        return report.then_shell(text, &[], "flock");
    }
    match rest.split_first() {
        Some((flag, tail)) if matches!(flag.known(), Some("-c" | "--command")) => {
            if let Some(text) = tail.first() {
                report.then_shell(text, &[], "flock");
            }
        }
        _ => report.then_argv(rest, "flock"),
    }
}

/// Commands of debuggers that write the memory of a process to a file.
const DUMPS: [&str; 6] = [
    "dump binary memory",
    "dump memory",
    "gcore",
    "generate-core-file",
    "process save-core",
    "memory read --outfile",
];

/// Whether a debugger is to look into a process that it did not start.
fn attaches(args: &[Arg]) -> bool {
    args.iter().any(|arg| {
        let word = arg.prefix();
        matches!(word, "-p" | "--pid" | "-pid" | "--attach-pid" | "-n" | "--attach-name")
            || word.starts_with("--pid=")
            || word.starts_with("attach ")
    })
}

pub(crate) fn debugger(call: &Call<'_>, report: &mut Report) {
    super::lictor::debugged(call, report);
    // `--eval-command=X` is `-ex X`.
    let words: Vec<Arg> = call
        .args
        .iter()
        .flat_map(|arg| match arg.known().and_then(|word| word.split_once('=')) {
            Some((option @ ("--eval-command" | "-eval-command" | "--one-line" | "--ex" | "-ex"), text)) => {
                vec![Arg::literal(option), Arg::literal(text)]
            }
            _ => vec![arg.clone()],
        })
        .collect();
    let call = &Call { args: &words, ..*call };
    let mut args = call.args.iter().enumerate();
    while let Some((at, arg)) = args.next() {
        match arg.known() {
            Some("--args" | "--") => {
                return report.then_argv(call.args.get(at + 1..).unwrap_or_default(), call.program);
            }
            Some(
                "-ex" | "--ex" | "-iex" | "-o" | "-O" | "--one-line" | "--eval-command" | "-eval-command",
            ) => {
                let Some((_, command)) = args.next() else { return };
                let Some(text) = command.known() else { continue };
                let text = text.trim_start();
                for start in ["shell ", "!", "platform shell ", "pipe "] {
                    if let Some(command) = text.strip_prefix(start) {
                        report.then_shell(&Arg::literal(command.trim()), &[], call.program);
                    }
                }
                for start in ["python ", "script ", "py "] {
                    if let Some(code) = text.strip_prefix(start) {
                        report.then_code("python", &Arg::literal(code));
                    }
                }
                // The memory of a process, with everything that it keeps there.
                if DUMPS.iter().any(|start| text.starts_with(start)) && attaches(call.args) {
                    super::secrets::reveals(report);
                }
                // `dump value FILE EXPRESSION`.
                let mut words = text.split_whitespace();
                if matches!(words.next(), Some("dump" | "append"))
                    && let Some(file) = words.find(|word| word.contains('/') || word.contains('.'))
                {
                    report.file(call, Access::Write, &Arg::literal(file), false);
                }
                if text.contains("system(") {
                    let inner = text.split('"').nth(1).unwrap_or_default();
                    report.then_shell(&Arg::literal(inner), &[], call.program);
                }
            }
            _ => {}
        }
    }
}
