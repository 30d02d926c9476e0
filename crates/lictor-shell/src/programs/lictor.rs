//! Lictor's own program, under any name: agents may run commands that read, only people may run commands that
//! decide.

use lictor_agents::commands::{self, Audience};
use lictor_agents::launch;
use lictor_core::facts::{Access, GuardOff, OpaqueWhat};

use super::report::written;
use super::table::Family;
use crate::call::{Call, Report};
use crate::operand::Arg;

/// The name that it is installed under.
pub(crate) const NAME: &str = "lictor";

/// A call of the program.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    if !is_for_agents(call.args) {
        report.guard_off(GuardOff::LictorCommand, &written(call));
    } else if super::guard::is_led_elsewhere(call) {
        report.guard_off(GuardOff::LictorEnvironment, &written(call));
    }
}

fn is_for_agents(args: &[Arg]) -> bool {
    commands::is_for_agents(args.iter().map(Arg::known))
}

/// Whether a word starts a command that is not for agents.
fn is_for_people(word: &str) -> bool {
    commands::COMMANDS
        .iter()
        .any(|(words, audience)| *audience != Audience::Agents && words.split(' ').next() == Some(word))
}

/// Whether these words could be for the program, so that it is worth looking whether it is the one that gets them.
fn could_be_for(args: &[Arg]) -> bool {
    let mut words = args.iter().filter(|arg| !arg.prefix().starts_with('-'));
    match words.next() {
        Some(first) => first.known().is_none_or(is_for_people),
        None => false,
    }
}

/// The program under another name: a copy, a link, or through a program that starts others (a debugger, a loader,
/// a tracer).
pub(crate) fn disguised(call: &Call<'_>, report: &mut Report) {
    let is_guard = |path: &str| call.env.is_guard(&crate::paths::key(call.cwd, path));
    // Directories that are put in front of the search path for this one call.
    let searched = |name: &str| {
        let paths = call.assignments.iter().filter(|(variable, _)| variable == "PATH");
        let mut directories =
            paths.flat_map(|(_, value)| value.prefix().split(':').filter(|dir| !dir.is_empty()));
        !name.contains('/') && directories.any(|directory| is_guard(&format!("{directory}/{name}")))
    };
    let is_program = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name == NAME || is_guard(path) || searched(path)
    };
    let starts = call.path.contains('/') || !report.known_program;
    if call.program != NAME && starts && could_be_for(call.args) && is_program(call.path) {
        return judge(call, report);
    }
    // An unknown program may run its arguments, as terminals do.
    let family = super::table::find(call.program).map(|entry| entry.family);
    if report.known_program && !matches!(family, Some(Family::Sessions | Family::Machine)) {
        return;
    }
    for (at, arg) in call.args.iter().enumerate().take(8) {
        let rest = call.args.get(at + 1..).unwrap_or_default();
        let is_it = match arg.known() {
            Some(word) => (word == NAME || word.contains('/')) && is_program(word),
            // `$(which lictor)`
            None => arg.text.starts_with(['$', '`']) && arg.text.contains(NAME),
        };
        if is_it && could_be_for(rest) && !is_for_agents(rest) {
            return report.guard_off(GuardOff::LictorCommand, &written(call));
        }
    }
}

/// A hidden file, or a file in a hidden directory, as an argument of a program without a description.
pub(crate) fn given(call: &Call<'_>, report: &mut Report) {
    let edits = matches!(call.program, "dasel" | "jaq" | "prettier" | "eslint" | "biome" | "dprint");
    if report.known_program && !edits {
        return;
    }
    let says = |arg: &Arg| {
        arg.known().is_some_and(|word| {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            crate::words::SAYS_CHANGE.contains(&name)
                || name.starts_with("--del")
                || name.starts_with("--set")
        })
    };
    if !call.args.iter().any(says) {
        return;
    }
    for arg in call.args {
        let word = arg.prefix();
        let value =
            word.split_once('=').filter(|(name, _)| name.starts_with('-')).map_or(word, |(_, value)| value);
        let hidden = value.starts_with('.')
            && value.len() > 2
            && !value.starts_with("./")
            && !value.starts_with("../")
            || value.contains("/.") && !value.contains("/..")
            || value.contains("governance.");
        if hidden && arg.known().is_some() && !value.contains("://") {
            report.file(call, Access::Modify, &Arg::literal(value), false);
        }
    }
}

/// A debugger can start the program with any arguments.
pub(crate) fn debugged(call: &Call<'_>, report: &mut Report) {
    let names = |arg: &Arg| {
        arg.known().is_some_and(|word| {
            word.split([' ', '=']).any(|part| part == NAME || part.ends_with("/lictor"))
                || word.contains('/') && call.env.is_guard(&crate::paths::key(call.cwd, word))
        })
    };
    if call.args.iter().any(names) {
        report.guard_off(GuardOff::LictorCommand, &written(call));
    }
}

/// Hands on a running process: its limits, its memory, its calls. It may be the hook or the agent.
pub(crate) fn attached(call: &Call<'_>, report: &mut Report) {
    let given = |names: &[&str]| {
        call.args.iter().filter_map(|arg| arg.prefix().split('=').next()).any(|word| {
            names.contains(&word) || word.len() > 2 && names.contains(&"-p") && is_attached_pid(word)
        })
    };
    let own = |arg: &Arg| {
        arg.known() == Some(super::system::OUR_PROCESSES)
            || !arg.prefix().starts_with('/') && names_process(&arg.text)
    };
    let attaches = match call.program {
        "gdb" | "lldb" => {
            given(&["-p", "--pid", "-pid", "--attach-pid", "--attach-name", "-n"])
                || call.args.get(1).and_then(Arg::known).is_some_and(is_number)
                || call.args.first().is_some_and(|arg| arg.known() == Some("attach"))
        }
        "strace" | "ltrace" | "uftrace" => {
            given(&["-p", "--attach", "--pid"])
                || call.args.iter().any(|arg| is_cluster_with_pid(arg.prefix()))
        }
        "reptyr" | "criu" | "gcore" => true,
        "dlv" | "delve" => call.args.first().is_some_and(|arg| arg.known() == Some("attach")),
        "prlimit" => {
            given(&["-p", "--pid"])
                && call.args.iter().any(|arg| {
                    let word = arg.prefix();
                    word.starts_with("--") && word.contains('=') && !word.starts_with("--pid")
                })
        }
        _ => false,
    };
    // A process that is found by the name of another program is no agent and no hook.
    let is_other = |arg: &Arg| is_found_by_name(&arg.text) && !own(arg);
    let only_others = || call.args.iter().any(is_other) && !call.args.iter().any(own);
    let counts = if attaches { !only_others() } else { call.args.iter().any(is_parent) && !looks(call) };
    if counts {
        report.opaque(OpaqueWhat::Code, &written(call));
    }
    let acts = crate::words::ACTS_ON_PROCESSES.contains(&call.program)
        || match call.program {
            "node" => call.args.first().and_then(Arg::known) == Some("inspect"),
            "systemctl" | "loginctl" => call.args.iter().filter_map(Arg::known).any(|word| {
                ["stop", "kill", "disable", "mask", "terminate", "freeze"]
                    .iter()
                    .any(|end| word.starts_with(end))
            }),
            _ => false,
        };
    // Signal 0 only asks whether the process is there.
    let asks = call.program == "kill" && call.args.first().is_some_and(|arg| arg.known() == Some("-0"));
    if acts && !asks && call.args.iter().any(own) {
        report.guard_off(GuardOff::LictorBinary, &written(call));
    }
}

/// `$(pgrep name)` and its like.
fn is_found_by_name(text: &str) -> bool {
    let inner = text.trim_matches('"').trim_start_matches("$(").trim_start_matches('`');
    inner.len() < text.len()
        && ["pgrep ", "pidof "].iter().any(|finder| inner.trim_start().starts_with(finder))
}

/// The parent process, as a whole word.
fn is_parent(arg: &Arg) -> bool {
    matches!(arg.text.trim_matches('"'), "$PPID" | "${PPID}")
        || arg.known() == Some(super::system::OUR_PROCESSES)
}

/// Whether a program prints its arguments, or only information about a process.
fn looks(call: &Call<'_>) -> bool {
    use Family::{Builtins, Readers, Shells, Text, Wrappers};
    let family = super::table::find(call.program).map(|entry| entry.family);
    crate::words::LOOKS_AT_PROCESSES.contains(&call.program)
        || matches!(family, Some(Readers | Text | Builtins | Wrappers | Shells))
}

/// Whether a text names Lictor's program, an agent's, or the process that started this one.
pub(super) fn names_process(text: &str) -> bool {
    // `[l]ictor` is how a search leaves itself out.
    let text = text.replace(['[', ']'], "");
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let is_own = |word: &str| word.eq_ignore_ascii_case(NAME) || launch::agent_of(word).is_some();
    // The parent of what the agent runs is the agent, or its shell.
    words.any(|word| matches!(word, "PPID" | "ppid") || is_own(word) || word.split('-').any(is_own))
        || text.contains("/proc/") && text.contains("/stat")
}

/// Whether a pattern of names, as `pkill` takes them, finds Lictor's program: `lict`, `^lic.*r$`. Three letters find too
/// many others.
pub(super) fn is_pattern_of_program(pattern: &str) -> bool {
    const TELLING: usize = 4;
    if pattern.contains(NAME) || is_part_of_hook(pattern) {
        return true;
    }
    let start = if pattern.starts_with('^') { "" } else { "*" };
    let inner = pattern.trim_start_matches('^').trim_end_matches('$').replace(".*", "*").replace('.', "*");
    let letters = inner.chars().filter(char::is_ascii_alphanumeric).count();
    let tells = letters >= TELLING || NAME.starts_with(inner.trim_end_matches('*')) && letters + 1 == TELLING;
    tells
        && inner.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '*')
        && super::described::fits(&format!("{start}{inner}*"), NAME)
}

/// Whether a pattern finds the command line of a hook: `lictor hook claude-code PreToolUse`.
fn is_part_of_hook(pattern: &str) -> bool {
    let Some(rest) = pattern.split_once("hook ").map(|(_, rest)| rest.trim()) else { return false };
    lictor_agents::Agent::ALL.iter().any(|agent| rest.starts_with(agent.name()))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// `strace -fp 1`
fn is_cluster_with_pid(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|letters| letters.len() > 1 && letters.ends_with('p') && !letters.starts_with('-'))
}

fn is_attached_pid(word: &str) -> bool {
    word.strip_prefix("-p").is_some_and(is_number)
}

/// Variables that move what governs an agent, set where later sessions get their environment from.
pub(crate) fn set_for_later(call: &Call<'_>, report: &mut Report) {
    let sets = match call.program {
        "systemctl" | "launchctl" | "tmux" | "mise" | "rtx" => call.args.iter().any(|arg| {
            matches!(
                arg.known(),
                Some("set-environment" | "import-environment" | "setenv" | "set" | "set-env" | "config")
            )
        }),
        "dbus-update-activation-environment" | "setx" => true,
        "fish" => call.args.iter().any(|arg| arg.prefix().contains("set -U") || arg.prefix().contains("-U")),
        _ => false,
    };
    let moves = |word: &str| {
        launch::moves_settings(word)
            || word.starts_with("LICTOR_")
            || matches!(word, "XDG_STATE_HOME" | "XDG_CONFIG_HOME")
    };
    let names = |arg: &Arg| arg.prefix().split(|c: char| c.is_whitespace() || c == '=').any(moves);
    if sets && call.args.iter().any(names) {
        report.deed("change", "startup");
    }
}

/// Flags that disable agents' checks, whatever starts the agent (`node cli.js --yolo`).
pub(crate) fn freed(call: &Call<'_>, report: &mut Report) {
    const FREE: [&str; 3] = [
        "--dangerously-skip-permissions",
        "--dangerously-bypass-approvals-and-sandbox",
        "--allow-dangerously-skip-permissions",
    ];
    let family = super::table::find(call.program).map(|entry| entry.family);
    if family == Some(Family::Interpreters) {
        packaged(call, report);
    }
    let starts = matches!(family, None | Some(Family::Interpreters | Family::Containers));
    if starts && call.args.iter().filter_map(Arg::known).any(|word| FREE.contains(&word)) {
        report.guard_off(GuardOff::NestedAgent, &written(call));
    }
}

/// An agent started by the file of its package (`node node_modules/@anthropic-ai/claude-code/cli.js`).
fn packaged(call: &Call<'_>, report: &mut Report) {
    let Some((script, rest)) = call.args.split_first() else { return };
    let holds = |package: &&str| script.prefix().contains(&format!("node_modules/{package}/"));
    let launch = launch::launches().find(|launch| launch.packages.iter().any(&holds));
    if let Some(program) = launch.and_then(|launch| launch.programs.first()) {
        let mut argv = vec![Arg::literal(*program)];
        argv.extend(rest.iter().cloned());
        report.then_argv(&argv, call.program);
    }
}

/// Whether a package manager's call changes the whole machine, and not only a project.
fn is_for_everybody(call: &Call<'_>) -> bool {
    let word = |at: usize| {
        let mut words = call.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
        words.nth(at).unwrap_or_default()
    };
    let has = |options: &[&str]| call.args.iter().filter_map(Arg::known).any(|arg| options.contains(&arg));
    match call.program {
        "cargo" => matches!(word(0), "install" | "binstall" | "uninstall"),
        "npm" | "pnpm" | "yarn" | "bun" => {
            has(&["-g", "--global", "--location=global"]) || word(0) == "global"
        }
        "pip" | "pip3" => word(0) == "uninstall" || word(0) == "install" && has(&["--user", "--prefix"]),
        "uv" => word(0) == "tool" && matches!(word(1), "install" | "uninstall" | "upgrade"),
        "go" => word(0) == "install",
        "pipx" | "brew" | "mise" | "asdf" => crate::words::INSTALLS.contains(&word(0)),
        "nix-env" => has(&["-e", "-i", "-u", "--uninstall", "--install", "--upgrade"]),
        _ => false,
    }
}

/// A package manager that puts another program in the place of Lictor's, or takes it away.
pub(crate) fn installed(call: &Call<'_>, report: &mut Report) {
    let is_own = |arg: &Arg| {
        arg.known().filter(|word| word.contains(NAME)).is_some_and(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            let name = name.split(['@', '=', '<', '>', '~', '[']).next().unwrap_or(name);
            matches!(name.trim_end_matches(".git"), NAME | "lictor-cli")
        })
    };
    if is_for_everybody(call) && call.args.iter().any(is_own) {
        report.guard_off(GuardOff::LictorBinary, &written(call));
    }
}

/// Text that is typed into a terminal, in one of several pieces: the name may be cut anywhere.
pub(crate) fn typed(text: &str, report: &mut Report) {
    let last = text.rsplit([' ', '/', ';', '&', '|', '\n']).next().unwrap_or_default();
    let begins = last.len() >= 2 && NAME.starts_with(last);
    let (first, rest) = text.trim_start().split_once(' ').unwrap_or((text.trim_start(), ""));
    let ends = !first.is_empty() && first.len() < NAME.len() && NAME.ends_with(first);
    let orders = rest.split_whitespace().next().is_some_and(is_for_people);
    let alone = matches!(first, "approve" | "deny" | "trust");
    if begins || ends && orders || alone {
        report.guard_off(GuardOff::LictorCommand, text.trim());
    }
}
