//! What governs the agent, and commands that switch it off.

use lictor_core::facts::{Effect, GuardOff};

use super::options::Grammar;
use super::say::written;
use crate::call::{Call, Report};
use crate::operand::Arg;

/// Whether a path names a hook of git or of a hook manager.
pub(crate) fn is_hook_path(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    path.contains(".git/hooks")
        || path.contains(".husky")
        || path.contains(".githooks")
        || path.ends_with("lefthook.yml")
}

/// Whether a path is the directory in which an agent keeps its settings and hooks.
pub(crate) fn is_agent_directory(path: &str) -> bool {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    matches!(
        name,
        ".claude" | ".codex" | ".gemini" | ".cursor" | ".opencode" | ".factory" | ".windsurf" | ".lictor"
    )
}

/// A variable is set, for the program it stands in front of or (empty) for the rest of the line.
pub fn assignment(name: &str, value: &Arg, program: &str, report: &mut Report) {
    let text = format!("{name}={}", value.text);
    if name.starts_with("LICTOR_") {
        return report.guard_off(GuardOff::LictorEnvironment, &text);
    }
    match name {
        // Code of its own that every program then runs.
        "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES" => {
            let installed = ["/usr/", "/lib", "/opt/"].iter().any(|top| value.prefix().starts_with(top));
            if value.known().is_some_and(|path| !path.is_empty()) && !installed {
                report.opaque(lictor_core::facts::OpaqueWhat::Code, &text);
            }
        }
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
        // Kept for whatever asks for an editor, a pager or a connection later on.
        name if program.is_empty() && names_command(name) => {
            // `|tool %s` of LESSOPEN.
            let command = value.known().unwrap_or_default().trim_start_matches(['|', '-']);
            let mut words = command.split_whitespace();
            if words.next().is_some_and(super::is_run_by_wrappers) && words.next().is_some() {
                report.then_shell(&Arg::literal(command), &[], name);
            }
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
        "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => false,
        _ => false,
    };
    if off && commits {
        report.guard_off(GuardOff::Hooks, &text);
    }
}

/// Variables whose value other programs run as a command.
pub(super) fn names_command(name: &str) -> bool {
    matches!(
        name,
        "EDITOR"
            | "VISUAL"
            | "BROWSER"
            | "LESSOPEN"
            | "LESSCLOSE"
            | "GIT_SSH_COMMAND"
            | "GIT_EXTERNAL_DIFF"
            | "GIT_ASKPASS"
    ) || name.ends_with("PAGER")
        || name.ends_with("_EDITOR")
        || name.starts_with("GIT_CONFIG_VALUE_")
}

/// A variable is taken away.
pub(crate) fn unset(name: &str, report: &mut Report) {
    if name.starts_with("LICTOR_") {
        report.guard_off(GuardOff::LictorEnvironment, &format!("unset {name}"));
    }
}

/// Lictor's own command line: reading is for everyone, deciding for people.
pub(crate) fn lictor(call: &Call<'_>, report: &mut Report) {
    let options =
        Grammar::anywhere("", "uninstall yes agent= json state-dir= policy= config= cwd=").parse(call.args);
    let forbidden = match (options.word(0), options.word(1)) {
        ("approve" | "deny" | "trust" | "wrong", _) => true,
        ("init", _) => true,
        ("verdict", "clear" | "waive" | "lower" | "retro") => true,
        ("session", "refresh" | "reset" | "end" | "delete" | "clear" | "fork") => true,
        ("audit", "prune" | "rotate" | "delete" | "clear") => true,
        ("council", "skip") => true,
        _ => options.has(&["uninstall", "state-dir"]),
    };
    if forbidden {
        report.guard_off(GuardOff::LictorCommand, &written(call));
    }
}

/// Agents started by the agent, and their ways around permission checks.
pub(crate) fn agent(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "pmscCa",
        "print permission-mode= prompt= model= ask-for-approval= sandbox= approval-mode= config= settings= setting-sources= \
         allowedTools= allowed-tools= profile= cd= allow-tool= deny-tool= output-format=",
    )
    .parse(call.args);
    if call.args.len() == 1 && options.has(&["version", "help", "v", "h"]) {
        return;
    }
    let first = options.word(0);
    if matches!(
        first,
        "mcp" | "config" | "doctor" | "update" | "login" | "logout" | "--version" | "plugin" | "auth"
    ) {
        // Hooks and permissions can be edited through these.
        let text = written(call);
        if first == "config" && (text.contains("hooks") || text.contains("permission")) {
            report.guard_off(GuardOff::Hooks, &text);
        }
        return;
    }
    report.effects.push(Effect::Delegate { agent: call.program.to_owned() });
    let free_config = options.values(&["c", "config"]).filter_map(Arg::known).any(|text| {
        let text = text.replace([' ', '"', '\''], "");
        text.starts_with("approval_policy=never")
            || text.contains("danger-full-access")
            || text.contains("disable_hooks=true")
    });
    let unchecked = match call.program {
        "claude" => {
            options.has(&["dangerously-skip-permissions", "allow-dangerously-skip-permissions"])
                || matches!(options.text(&["permission-mode"]), Some("bypassPermissions"))
                || options.text(&["settings"]).is_some_and(|text| {
                    text.contains("disableAllHooks") || text.contains("bypassPermissions")
                })
                || options.value(&["setting-sources"]).is_some_and(|value| value.known() == Some(""))
                || options.has(&["bare"])
        }
        "codex" => {
            options.has(&["yolo", "dangerously-bypass-approvals-and-sandbox", "full-auto"])
                || matches!(options.text(&["a", "ask-for-approval"]), Some("never"))
                || matches!(options.text(&["s", "sandbox"]), Some("danger-full-access"))
                || free_config
        }
        "gemini" | "qwen" | "iflow" => {
            options.has(&["y", "yolo"])
                || matches!(options.text(&["approval-mode"]), Some("yolo" | "auto_edit"))
        }
        "cursor-agent" | "cursor" => options.has(&["f", "force", "yolo"]),
        "copilot" => {
            options.has(&["allow-all-tools", "allow-all", "yolo", "allow-all-paths", "allow-all-urls"])
        }
        "aider" => options.has(&["yes-always", "yes"]),
        "opencode" => options.has(&["dangerously-skip-permissions", "yolo"]),
        "amp" => options.has(&["dangerously-allow-all"]),
        "droid" => {
            options.has(&["skip-permissions-unsafe"]) || matches!(options.text(&["auto"]), Some("high"))
        }
        "goose" => {
            call.assignments.iter().any(|(name, value)| name == "GOOSE_MODE" && value.known() == Some("auto"))
        }
        "crush" | "kimi" | "auggie" | "q" | "kiro-cli" | "cline" => {
            options.has(&["y", "yolo", "trust-all-tools", "dangerously-skip-permissions"])
        }
        _ => false,
    };
    if unchecked {
        report.guard_off(GuardOff::NestedAgent, &written(call));
    }
    if options.has(&["no-hooks", "disable-hooks"]) {
        report.guard_off(GuardOff::Hooks, &written(call));
    }
}

/// Hook managers that take themselves out.
pub(crate) fn hook_manager(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere("t", "hook-type=").parse(call.args);
    if matches!(options.word(0), "uninstall") {
        report.guard_off(GuardOff::Hooks, &written(call));
    }
}
