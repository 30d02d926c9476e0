//! Files and settings that govern the agent, and commands that disable them.

use lictor_agents::launch::{self, Unchecked};
use lictor_core::facts::{Effect, GuardOff, OpaqueWhat};

use super::options::{Grammar, Options};
use super::report::written;
use crate::call::{Call, Report};
use crate::operand::{Arg, Cwd};

/// Whether a path names a hook of git or of a hook manager.
pub(crate) fn is_hook_path(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    path.contains(".git/hooks")
        || path.contains(".husky")
        || path.contains(".githooks")
        || path.ends_with("lefthook.yml")
}

/// Whether a path is the directory in which an agent keeps its settings and hooks, or Lictor its own.
pub(crate) fn is_agent_directory(path: &str) -> bool {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    name == ".lictor" || launch::is_agent_directory(name)
}

/// A variable is set, for the program after it or (empty) for the rest of the line.
pub fn assignment(name: &str, value: &Arg, program: &str, report: &mut Report) {
    let text = format!("{name}={}", value.text);
    if name.starts_with("LICTOR_") {
        return report.guard_off(GuardOff::LictorEnvironment, &text);
    }
    match name {
        // Options from an unseen file: they determine what is sent, and where.
        "CURL_HOME" | "WGETRC" if !matches!(value.known(), Some("" | "/dev/null")) => {
            report.opaque(OpaqueWhat::Code, &text);
        }
        // The history of commands is lost.
        "HISTFILE" if matches!(value.known(), Some("" | "/dev/null")) => report.deed("disable", "protection"),
        // Typed commands become code that is run.
        "HISTFILE" if value.known().is_some_and(crate::walk::startup::runs_later) => {
            report.deed("change", "startup");
        }
        "HISTSIZE" | "HISTFILESIZE" if value.known() == Some("0") => report.deed("disable", "protection"),
        "PROMPT_COMMAND" if value.known().is_some() => report.then_shell(value, &[], name),
        // Expanded like a word in double quotes, at every prompt or when a shell starts.
        "PS0" | "PS1" | "PS2" | "PS4" | "ENV" | "BASH_ENV" if value.prefix().contains(['$', '`']) => {
            if let Some(text) = value.known()
                && let Some(from) = text.find("$(").or_else(|| text.find('`'))
                && let Some(to) = text.rfind([')', '`'])
            {
                let code = text.get(from..=to).unwrap_or_default();
                report.then_shell(&Arg::literal(format!(": {code}")), &[], name);
            }
        }
        // git's own variables are handled in its description.
        name if program != "git" || !name.starts_with("GIT_") => {
            super::variables::runs(name, value, program, report)
        }
        _ => {}
    }
    let commits = matches!(program, "git" | "pre-commit" | "lefthook" | "" | "gt" | "jj");
    let off = match name {
        "HUSKY" | "HUSKY_SKIP_HOOKS" | "LEFTHOOK" | "OVERCOMMIT_DISABLE" | "SKIP_HOOKS" | "NO_VERIFY" => {
            match name {
                "HUSKY" | "LEFTHOOK" => matches!(value.known(), Some("0" | "false")),
                _ => !matches!(value.known(), Some("0" | "false" | "")),
            }
        }
        "SKIP" => program == "git" || program == "pre-commit",
        "GIT_CONFIG_PARAMETERS" | "GIT_CONFIG" => true,
        // For one command git itself is asked what it does.
        "GIT_DIR" | "GIT_COMMON_DIR" => {
            program.is_empty() && !matches!(value.prefix().trim_end_matches('/'), ".git" | "./.git" | "")
        }
        "GIT_EXEC_PATH" | "GIT_OBJECT_DIRECTORY" | "GIT_CEILING_DIRECTORIES" => program.is_empty(),
        // No configuration at all is what tests ask for; another one may move the hooks.
        "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => !matches!(value.known(), Some("/dev/null" | "")),
        name if name.starts_with("GIT_CONFIG_KEY_") => {
            value.known().is_none_or(|key| key.eq_ignore_ascii_case("core.hookspath"))
        }
        _ => false,
    };
    if off && commits {
        report.guard_off(GuardOff::Hooks, &text);
    }
    // Directories that other programs share are set for these too.
    let shared = name == "HOME" || name.starts_with("XDG_");
    if program.is_empty() && !shared && launch::moves_settings(name) {
        report.guard_off(GuardOff::AgentElsewhere, &text);
    }
}

/// Variables that lead Lictor, and git with its hooks, to another configuration or record.
const LEADING: [&str; 4] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "LICTOR_STATE_DIR"];

/// Whether a call would find another configuration or record of Lictor than the agent's own hooks do.
pub(super) fn is_led_elsewhere(call: &Call<'_>) -> bool {
    call.assignments.iter().any(|(name, _)| LEADING.contains(&name.as_str()))
        || LEADING.iter().any(|name| call.env.is_set_here(name))
}

/// A variable is taken away.
pub(crate) fn unset(name: &str, report: &mut Report) {
    if name.starts_with("LICTOR_") {
        report.guard_off(GuardOff::LictorEnvironment, &format!("unset {name}"));
    }
    if name == "HISTFILE" {
        report.deed("disable", "protection");
    }
}

/// Agents started by the agent, and their ways around permission checks.
pub(crate) fn agent(call: &Call<'_>, report: &mut Report) {
    let Some(launch) = launch::by_program(call.program) else { return };
    let options = Grammar::anywhere(launch::SHORT_WITH_VALUE, launch::LONG_WITH_VALUE).parse(call.args);
    // `--list-sessions`, `--list-extensions` and their like print and end.
    let lists = |arg: &Arg| arg.known().is_some_and(|text| text.starts_with("--list-"));
    let shows = options.has(&["version", "help"]) || call.args.len() == 1 && options.has(&["v", "h"]);
    if shows || call.args.iter().any(lists) {
        return;
    }
    let first = options.word(0);
    if !launch.tasks.is_empty() && !launch.tasks.contains(&first) {
        return;
    }
    if launch.generators.contains(&(first, options.word(1))) {
        return;
    }
    let serves =
        |(word, then): &(&str, &str)| first == *word && (then.is_empty() || options.word(1) == *then);
    if launch.serves.iter().any(serves) {
        report.effects.push(Effect::Delegate { agent: call.program.to_owned() });
        return report.guard_off(GuardOff::NestedAgent, &written(call));
    }
    if launch::MANAGING.contains(&first) {
        // Hooks and permissions can be edited through these.
        let text = written(call).to_lowercase();
        let changes = launch::CHANGING.contains(&options.word(1));
        let governs = match first {
            // These commands configure what runs beside the agent.
            "plugin" | "plugins" | "hooks" | "extensions" | "extension" => {
                changes && !(options.word(1) == "marketplace" && matches!(options.word(2), "list" | "ls"))
            }
            "mcp" => changes && text.contains(super::lictor::NAME),
            "features" => changes && launch::GOVERNING_SETTINGS.iter().any(|setting| text.contains(setting)),
            "config" => launch::GOVERNING_SETTINGS.iter().any(|setting| text.contains(setting)),
            _ => false,
        };
        if governs {
            report.guard_off(GuardOff::Hooks, &written(call));
        }
        // A server that is started with every later session.
        if first == "mcp" && options.word(1).starts_with("add") {
            report.deed("change", "startup");
        }
        return;
    }
    report.effects.push(Effect::Delegate { agent: call.program.to_owned() });
    let elsewhere = is_led_elsewhere(call)
        || call.assignments.iter().any(|(name, _)| launch::moves_settings(name))
        // Set or taken away earlier on the line.
        || launch::moving().any(|name| call.env.is_set_here(name))
        // Another user has other settings, and another view of the file system has other files.
        || call.env.runs_through(crate::words::OTHER_VIEWS)
        || call.env.runs_through(&["find -execdir"])
        // Another directory has other settings.
        || *call.cwd != Cwd::Start
        || options.has(&["C", "cd", "dir", "cwd", "settings", "config-dir", "plugin-dir", "worktree", "w"])
        || options.value(&["setting-sources"]).is_some_and(|from| !from.prefix().contains("project"));
    // Nothing governs what an agent without an adapter does.
    if !launch::has_adapter(call.program) {
        report.guard_off(GuardOff::UngovernedAgent, &written(call));
    } else if elsewhere {
        report.guard_off(GuardOff::AgentElsewhere, &written(call));
    }
    if launch.unchecked.iter().any(|way| is_taken(*way, call, &options)) {
        report.guard_off(GuardOff::NestedAgent, &written(call));
    }
    if let Some(unknown) = flags_to_come(call.args) {
        report.opaque(OpaqueWhat::Code, &unknown.text);
    }
    if options.has(&["no-hooks", "disable-hooks"]) {
        report.guard_off(GuardOff::Hooks, &written(call));
    }
}

/// A word that may expand to any options of the agent. The value of the task option is text.
fn flags_to_come(args: &[Arg]) -> Option<&Arg> {
    let mut before = "";
    args.iter().find(|arg| {
        let task = matches!(before, "-p" | "--print" | "--prompt" | "-m" | "--message" | "exec" | "run");
        before = arg.known().unwrap_or_default();
        arg.splits && arg.prefix().is_empty() && !task
    })
}

/// Whether the agent is started that way.
fn is_taken(way: Unchecked, call: &Call<'_>, options: &Options) -> bool {
    match way {
        Unchecked::Option(name) => {
            // At any position: whether the option before it takes a value differs between agents.
            let stands = |word: &str| {
                let rest = word.strip_prefix("--").and_then(|word| word.strip_prefix(name));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            };
            options.has(&[name]) || call.args.iter().any(|arg| stands(arg.prefix()))
        }
        Unchecked::Value(name, values) => {
            options.values(&[name]).filter_map(Arg::known).any(|value| values.contains(&value))
        }
        Unchecked::ValueContains(name, parts) => {
            options.values(&[name]).filter_map(Arg::known).any(|value| {
                let value = value.replace([' ', '"', '\''], "");
                parts.iter().any(|part| value.contains(part))
            })
        }
        Unchecked::EmptyValue(name) => options.value(&[name]).is_some_and(|value| value.known() == Some("")),
        Unchecked::Variable(name, value) => {
            call.assignments.iter().any(|(set, to)| set == name && to.known() == Some(value))
        }
        Unchecked::Set(name) => call.assignments.iter().any(|(set, _)| set == name),
    }
}
