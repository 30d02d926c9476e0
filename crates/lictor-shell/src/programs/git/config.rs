//! Git configuration: settings that run programs, settings that move hooks, harmless settings.

use lictor_core::facts::{Access, GitEffect, GuardOff};

use super::super::options::after;
use super::Git;
use crate::call::{Call, Report};
use crate::operand::Arg;

/// `key=value`, or a bare `key` that means true.
pub(super) fn split(setting: &Arg) -> Option<(String, Arg)> {
    let prefix = setting.prefix();
    match prefix.split_once('=') {
        Some((key, _)) => Some((key.to_owned(), after(setting, key.len() + 1))),
        None => setting.known().map(|key| (key.to_owned(), Arg::literal("true"))),
    }
}

/// Most settings that variables are asked for.
const MOST_SETTINGS: usize = 16;

/// `GIT_CONFIG_KEY_n` with `GIT_CONFIG_VALUE_n`: in front of the command, or set by the line before.
pub(super) fn from_environment(call: &Call<'_>) -> Vec<(String, Arg)> {
    let value = |name: &str| {
        let own = call.assignments.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let set = || call.env.is_set_here(name).then(|| call.env.variable(name).map(Arg::literal)).flatten();
        own.or_else(set)
    };
    let named = |at: usize| {
        let key = value(&format!("GIT_CONFIG_KEY_{at}"))?;
        let name = format!("GIT_CONFIG_VALUE_{at}");
        Some((key.known()?.to_owned(), value(&name).unwrap_or_else(|| Arg::unknown(name))))
    };
    (0..MOST_SETTINGS).map_while(named).collect()
}

/// Variables that name programs for git to run.
pub(super) fn environment(assignments: &[(String, Arg)], report: &mut Report) {
    for (name, value) in assignments {
        if super::super::variables::is_command(name) && value.known().is_some() {
            report.then_shell(value, &[], name);
        }
    }
}

pub(super) fn is_false(value: &Arg) -> bool {
    matches!(value.known().map(str::to_ascii_lowercase).as_deref(), Some("false" | "0" | "no" | "off"))
}

pub(super) fn is_now(value: &Arg) -> bool {
    match value.known() {
        Some(text) => {
            let text = text.to_ascii_lowercase();
            matches!(text.as_str(), "now" | "all" | "0")
                || text.contains("second")
                || text.contains("minute")
                || text.contains("hour")
                || text.starts_with("0.")
        }
        None => true,
    }
}

/// Whether a key's value is a program that git runs.
fn runs_program(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (section, name) =
        (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
    crate::words::GIT_PROGRAM_KEYS.contains(&key.as_str())
        || match section {
            "pager" => true,
            "alias" => true,
            "diff" => matches!(name, "command" | "textconv"),
            "difftool" | "mergetool" | "browser" | "man" | "guitool" => matches!(name, "cmd" | "path"),
            "merge" => name == "driver",
            "filter" => matches!(name, "clean" | "smudge" | "process"),
            "credential" => name == "helper",
            "gpg" => matches!(name, "program" | "defaultkeycommand"),
            "remote" => matches!(name, "uploadpack" | "receivepack" | "vcs"),
            "trailer" => matches!(name, "command" | "cmd"),
            "submodule" => name == "update",
            "tar" => name == "command",
            "includeif" | "hook" => true,
            _ => false,
        }
}

/// Programs that people set as editor, pager or helper.
fn is_usual(value: &str) -> bool {
    // Settings by which `ssh` runs something else on the way.
    let lower = value.to_ascii_lowercase();
    if ["proxycommand", "localcommand", "knownhostscommand"].iter().any(|setting| lower.contains(setting)) {
        return false;
    }
    let first = value.split_whitespace().next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    name.is_empty() || crate::words::USUAL_HELPERS.contains(&name.to_ascii_lowercase().as_str())
}

/// A setting applies to this command or, if stored, from now on.
pub(super) fn in_force(report: &mut Report, key: &str, value: &Arg, written: bool) {
    let lower = key.to_ascii_lowercase();
    if lower == "core.hookspath" {
        report.git(GitEffect::SkipHooks, Some(key));
        return report.guard_off(GuardOff::Hooks, &format!("{key}={}", value.text));
    }
    if matches!(lower.as_str(), "extensions.worktreeconfig" | "core.worktree") {
        return report.guard_off(GuardOff::Hooks, &format!("{key}={}", value.text));
    }
    // A man in the middle can then forge responses.
    if lower.starts_with("http.") && lower.ends_with("sslverify") && is_false(value) && written {
        return report.deed("disable", "protection");
    }
    // The default ref of notes.
    if lower == "core.notesref" && value.prefix().contains("lictor") {
        return report.guard_off(GuardOff::LictorBinary, &format!("{key}={}", value.text));
    }
    // Notes that git writes by itself when commits are rewritten.
    let rewrites = lower == "notes.rewriteref" && value.prefix().contains(['*', '?', '[']);
    if lower.starts_with("notes.")
        && (rewrites || lower.contains("lictor") || value.prefix().contains("lictor"))
    {
        return report.guard_off(GuardOff::LictorBinary, &format!("{key}={}", value.text));
    }
    // Another transport runs a program of its own.
    if lower.starts_with("url.") && lower.contains("::") {
        return report.git(GitEffect::ConfigureExecution, Some(key));
    }
    if lower == "protocol.ext.allow" {
        return report.git(GitEffect::ConfigureExecution, Some(key));
    }
    // Another URL for the same host is used for tokens and protocols; another host would get this host's data.
    if let Some(base) = lower.strip_prefix("url.").and_then(|rest| rest.rsplit_once('.'))
        && matches!(base.1, "insteadof" | "pushinsteadof")
        && let Some(host) = value.known().and_then(|url| remote_host(&url.to_ascii_lowercase()))
        && !base.0.contains(&host)
    {
        return report.git(GitEffect::ConfigureExecution, Some(key));
    }
    // Settings that extend the effect of a later command.
    let loosens = lower == "clean.requireforce" && is_false(value)
        || lower.starts_with("remote.")
            && (lower.ends_with(".push") && value.prefix().starts_with('+')
                || lower.ends_with(".mirror") && !is_false(value));
    if loosens {
        return report.git(GitEffect::ConfigureExecution, Some(key));
    }
    if !runs_program(key) {
        return;
    }
    match value.known() {
        None => report.git(GitEffect::ConfigureExecution, Some(key)),
        Some(text) => {
            let command = text.trim_start_matches('!');
            let is_path = crate::words::GIT_PATH_KEYS.contains(&lower.as_str())
                || lower.starts_with("includeif")
                || lower.starts_with("hook.");
            if is_path {
                report.git(GitEffect::ConfigureExecution, Some(key));
            } else if lower.starts_with("alias.") && !text.starts_with('!') {
                let mut argv = vec![Arg::literal("git")];
                argv.extend(super::super::wrappers::split_words(text).into_iter().map(Arg::literal));
                report.then_argv(&argv, "git alias");
            } else {
                if !is_usual(command) {
                    report.git(GitEffect::ConfigureExecution, Some(key));
                }
                if lower != "core.fsmonitor" || !matches!(command, "true" | "false") {
                    report.then_shell(&Arg::literal(command), &[], "git config");
                }
            }
        }
    }
}

/// The host of an address as git takes it: `https://host/`, `git@host:`, `gh:` has none.
fn remote_host(url: &str) -> Option<String> {
    let host =
        super::super::network::remote(&Arg::literal(url)).or_else(|| super::super::network::host_of(url))?;
    host.contains('.').then_some(host)
}

/// Options that only show.
const READS: [&str; 8] =
    ["get-color", "get-colorbool", "get", "get-all", "get-regexp", "get-urlmatch", "list", "l"];

pub(super) fn judge(git: &Git<'_, '_>, report: &mut Report) {
    let options = git.options("config");
    // Git parses no option after the first word: `git config KEY VALUE --get` sets.
    let leading = super::grammar::of("config").in_front().parse(git.args);
    let reads = options.has(&READS) && (leading.has(&READS) || options.operands.len() < 2);
    // Another file is read or written, in the format of git's own.
    if let Some(file) = options.value(&["f", "file"]) {
        let writes = !reads && options.operands.len() > 1;
        report.file(git.call, if writes { Access::Modify } else { Access::Read }, file, false);
    }
    if reads {
        return;
    }
    let (at, unsets) = match options.word(0) {
        "get" | "list" => return,
        "set" => (1, false),
        "unset" => (1, true),
        "remove-section" | "rename-section" if options.word(1) != "core" => {
            return report.git(GitEffect::Configure, None);
        }
        "remove-section" | "rename-section" | "edit" => {
            return report.guard_off(GuardOff::Hooks, &super::super::report::written(git.call));
        }
        _ => (0, options.has(&["unset", "unset-all"])),
    };
    // A section goes with its settings, and an editor writes what it likes.
    let section = options.value(&["remove-section", "rename-section"]);
    if options.has(&["edit", "e"]) || section.is_some_and(|section| section.prefix().starts_with("core")) {
        return report.guard_off(GuardOff::Hooks, &super::super::report::written(git.call));
    }
    let key = options.word(at);
    if key.is_empty() {
        return;
    }
    match options.operands.get(at + 1) {
        _ if unsets => {
            let effect = if key.eq_ignore_ascii_case("core.hookspath") {
                GitEffect::SkipHooks
            } else {
                GitEffect::Configure
            };
            report.git(effect, Some(key));
        }
        Some(value) => {
            report.git(GitEffect::Configure, Some(key));
            in_force(report, key, value, !options.has(&["local", "worktree", "file", "f"]));
        }
        None => {}
    }
}
