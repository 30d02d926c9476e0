//! What Lictor lives by: policy files, its state, the settings that install it, git hooks.

use crate::observer::{Observer, Seen};
use crate::project::Project;
use crate::zone::is_at_or_below;

/// Files of the project that are off limits, relative to any directory in it. A directory stands for all it holds.
const IN_PROJECT: [&str; 21] = [
    "governance.yaml",
    "governance.yml",
    "governance.lock",
    ".lictor",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".codex/hooks",
    ".gemini/settings.json",
    ".gemini/hooks",
    ".cursor/hooks.json",
    ".cursor/hooks",
    ".github/hooks",
    ".factory/settings.json",
    ".factory/hooks",
    ".windsurf/hooks.json",
    ".opencode/plugin",
    ".opencode/plugins",
    ".husky",
];

/// Files below the home directory.
const AT_HOME: [&str; 19] = [
    ".config/lictor",
    ".local/state/lictor",
    ".lictor",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".claude.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".copilot/config.json",
    ".config/opencode/plugin",
    ".config/opencode/plugins",
    ".config/opencode/opencode.json",
    ".factory/settings.json",
    ".codeium/windsurf/hooks.json",
    ".cargo/bin/lictor",
    ".local/bin/lictor",
];

/// Absolute ones.
const ABSOLUTE: [&str; 7] = [
    "/etc/lictor",
    "/etc/claude-code",
    "/etc/codex",
    "/etc/opencode",
    "/usr/local/bin/lictor",
    "/usr/bin/lictor",
    "/opt/homebrew/bin/lictor",
];

/// Settings of an editor that may or may not install hooks: only where they do are they ours.
const MAYBE_HOOKS: [&str; 1] = [".vscode/settings.json"];
/// How much of such a file is read.
const LIMIT: usize = 256 * 1024;

/// Whether a change of this path would change what governs the agent. With `tree`, a directory that holds such a file
/// counts too.
pub(crate) fn is_own(path: &str, tree: bool, project: &Project, observer: &dyn Observer) -> bool {
    let folded;
    let path = if observer.folds_case(path) {
        folded = path.to_lowercase();
        folded.as_str()
    } else {
        path
    };
    let owns = |own: &str| is_at_or_below(path, own);
    let holds = |own: &str| tree && is_at_or_below(own, path) && observer.look(own) != Seen::Missing;
    if ABSOLUTE.iter().any(|own| owns(own) || holds(own)) {
        return true;
    }
    if project.own.iter().chain(&project.hooks_path).any(|own| owns(own) || holds(own)) {
        return true;
    }
    if !project.home.is_empty() {
        if let Some(below) = path.strip_prefix(project.home.as_str()).and_then(|rest| rest.strip_prefix('/'))
            && AT_HOME.iter().any(|own| is_at_or_below(below, own))
        {
            return true;
        }
        if tree && AT_HOME.iter().any(|own| holds(&format!("{}/{own}", project.home))) {
            return true;
        }
    }
    if project
        .git_dirs
        .iter()
        .any(|dir| ["hooks", "config", "info/attributes"].iter().any(|own| owns(&format!("{dir}/{own}"))))
    {
        return true;
    }
    let Some(below) = project.relative(path) else { return false };
    if names_own(below) {
        return true;
    }
    if MAYBE_HOOKS.iter().any(|own| ends_with_parts(below, own)) {
        return observer
            .text(path, LIMIT)
            .is_some_and(|text| text.contains("hook") || text.contains("lictor"));
    }
    tree && IN_PROJECT.iter().any(|own| {
        observer.look(&format!("{path}/{own}")) != Seen::Missing
            || own.split_once('/').is_some_and(|(folder, inner)| {
                ends_with_parts(below, folder) && observer.look(&format!("{path}/{inner}")) != Seen::Missing
            })
    })
}

/// Whether a path relative to the project's root is, or lies in, one of the project's own files. Settings count in
/// every directory: agents read them from where they are started.
fn names_own(below: &str) -> bool {
    let parts: Vec<&str> = below.split('/').collect();
    IN_PROJECT.iter().any(|own| {
        let wanted: Vec<&str> = own.split('/').collect();
        parts.windows(wanted.len()).any(|window| window == wanted.as_slice())
    })
}

/// Whether the last parts of `path` are `end`.
fn ends_with_parts(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|front| front.is_empty() || front.ends_with('/'))
}

#[cfg(test)]
mod tests;
