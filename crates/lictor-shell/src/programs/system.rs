//! Programs that list and kill processes.

use lictor_core::facts::{GuardOff, ProcessEffect};

use super::report::written;
use crate::call::{Call, Report, Stdin};
use crate::operand::Arg;

/// The pattern that represents a list of all processes in the tracking of names: a selection of them is another
/// pattern.
const EVERY_PROCESS: &str = "/proc/*";
/// The same for the processes of Lictor and of agents.
pub(super) const OUR_PROCESSES: &str = "/proc/lictor*";
/// The same for those of servers that more than one project uses.
const SERVER_PROCESSES: &str = "/proc/server*";

/// `grep lictor` and similar, after a list of processes: it selects those of Lictor.
pub(super) fn picked(call: &Call<'_>, report: &mut Report) {
    if let Stdin::Names(names) = call.stdin
        && names.iter().any(|name| name.prefix().starts_with("/proc/"))
    {
        let ours = call.args.iter().any(|arg| super::lictor::names_process(&arg.text));
        let picked = if ours { Some(OUR_PROCESSES) } else { of_servers(call) };
        if let Some(picked) = picked {
            report.names = vec![super::report::glob(picked)];
            report.stdout = None;
        }
    }
}

/// Processes of servers, when a word of the call is the name of one. `[p]ostgres` makes a search exclude itself.
fn of_servers(call: &Call<'_>) -> Option<&'static str> {
    let names = |arg: &Arg| {
        let word = arg.known().unwrap_or_default().replace(['[', ']'], "");
        crate::words::SERVERS.contains(&word.as_str())
    };
    call.args.iter().any(names).then_some(SERVER_PROCESSES)
}

/// `ps`, `pgrep`, `lsof`: whether their output names all processes, or those of Lictor.
pub(crate) fn listing(call: &Call<'_>, report: &mut Report) {
    let every = match call.program {
        "ps" => {
            let options = super::parsed(call);
            let picks = ["p", "C", "g", "s", "t", "q", "pid", "ppid", "sid", "tty", "quick-pid"];
            let bare = options.words().next().unwrap_or_default();
            !options.has(&picks)
                && (options.has(&["e", "A", "u", "U", "user", "User"]) || bare.contains(['a', 'x']))
        }
        "pgrep" => {
            let options = super::parsed(call);
            let pattern = options.word(0);
            let everybody = options.has(&["u", "U", "euid", "uid"]) && options.operands.is_empty();
            everybody || !options.operands.is_empty() && (is_every_name(pattern) || is_vital(pattern))
        }
        "pidof" => call.args.iter().filter_map(Arg::known).any(is_vital),
        _ => false,
    };
    let ours = |arg: &Arg| {
        let name = arg.prefix().rsplit('/').next().unwrap_or_default();
        super::lictor::names_process(name) || super::lictor::is_pattern_of_program(name)
    };
    if call.args.iter().any(|arg| !arg.prefix().starts_with('-') && ours(arg)) {
        report.names = vec![super::report::glob(OUR_PROCESSES)];
    } else if every {
        report.names = vec![super::report::glob(EVERY_PROCESS)];
    } else if let Some(servers) = of_servers(call) {
        report.names = vec![super::report::glob(servers)];
    }
}

/// Programs that the system depends on.
fn is_vital(name: &str) -> bool {
    matches!(name, "init" | "launchd" | "loginwindow" | "WindowServer" | "sshd")
        || name.starts_with("systemd")
}

/// A pattern that fits every name.
fn is_every_name(pattern: &str) -> bool {
    pattern.chars().all(|letter| ".*+?^$[a-z]".contains(letter))
        && !pattern.contains(|letter: char| letter.is_ascii_alphabetic())
        || matches!(pattern, "[a-z]" | "[a-z]*" | "^[a-z]")
}

/// `kill`.
pub(crate) fn kill(call: &Call<'_>, report: &mut Report) {
    let mut args = call.args.iter();
    let mut seen_signal = false;
    let mut ended = false;
    let mut targets: Vec<&Arg> = Vec::new();
    while let Some(arg) = args.next() {
        let word = arg.prefix();
        match word {
            "--" => ended = true,
            "-l" | "-L" | "--list" | "--table" if !ended => return,
            "-s" | "-n" | "--signal" | "-q" | "--queue" if !ended => {
                args.next();
                seen_signal = true;
            }
            // The first word with a dash is the signal (`-9`, `-KILL`); a later one is a process group.
            _ if word.starts_with('-') && !ended && !seen_signal => {
                seen_signal = true;
                if word == "-1" && call.args.len() == 1 {
                    targets.push(arg);
                }
            }
            _ => targets.push(arg),
        }
    }
    let gentle = |word: &str| {
        matches!(
            word.trim_start_matches("SIG"),
            "0" | "USR1" | "USR2" | "WINCH" | "CONT" | "URG" | "CHLD" | "10" | "12"
        )
    };
    let signal_zero = match call.args {
        [option, name, ..] if matches!(option.known(), Some("-s" | "-n")) => name.known().is_some_and(gentle),
        [option, ..] => option.known().and_then(|word| word.strip_prefix('-')).is_some_and(gentle),
        [] => false,
    };
    if targets.is_empty() || signal_zero {
        return;
    }
    let any_number = |arg: &&Arg| arg.glob && matches!(arg.known(), Some("[0-9]*" | "*" | "/proc/[0-9]*"));
    let all = targets.iter().any(|arg| matches!(arg.known(), Some("-1" | "1" | EVERY_PROCESS)) || any_number(arg))
        // The parent of this shell.
        || targets.iter().any(|arg| matches!(arg.text.trim_matches('"'), "$PPID" | "${PPID}"))
        // Everything that shares the shell's group, without a chance to end in order.
        || call.args.first().is_some_and(|arg| matches!(arg.known(), Some("-9" | "-KILL" | "-SIGKILL")))
            && targets.iter().any(|arg| matches!(arg.known(), Some("0" | "-0")));
    report.process(if all { ProcessEffect::KillAll } else { ProcessEffect::Kill });
    if targets.iter().any(|arg| arg.known() == Some(SERVER_PROCESSES)) {
        report.infrastructure(call.program, &written(call), false);
    }
}

/// `pkill`, `killall`: processes by their names.
pub(crate) fn by_name(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if options.has(&["l", "list", "help", "version"]) || options.has(&["0"]) && call.program == "killall" {
        return;
    }
    let everyone = options.has(&["u", "U", "user", "uid", "euid"]) && options.operands.is_empty();
    let broad = options.words().any(|word| {
        (is_every_name(word) && (call.program == "pkill" || options.has(&["r", "regexp"]) || word.is_empty()))
            || is_vital(word)
    }) && !options.operands.is_empty();
    let all = call.program == "killall" && call.args.iter().any(|arg| matches!(arg.known(), Some("-1")));
    report.process(if everyone || broad || all { ProcessEffect::KillAll } else { ProcessEffect::Kill });
    if options.words().any(|word| crate::words::SERVERS.contains(&word)) {
        report.infrastructure(call.program, &written(call), false);
    }
    if options.words().any(super::lictor::is_pattern_of_program) {
        report.guard_off(GuardOff::LictorBinary, &written(call));
    }
}
