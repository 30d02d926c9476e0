//! Git's own files, read without running git.

mod ignored;
mod objects;
pub(crate) mod refs;
mod state;

pub(crate) use refs::{Refs, are_kept_elsewhere, common_directory};
pub(crate) use state::{
    Untracked, blob, has_only_known_files, holds_nothing_new, repository_of, submodules,
    tree_holds_nothing_new, untracked,
};

use crate::observer::{Observer, Seen};
use crate::place::tidy;
use crate::project::Project;

/// The most of a git file that is read.
const LIMIT: usize = 256 * 1024;

/// Whether a path is a file through which git runs programs in some repository: its settings, its hooks, and those of its
/// submodules and work trees.
pub(crate) fn configures(path: &str) -> bool {
    let Some((_, inside)) = path.split_once("/.git/") else { return false };
    let (front, name) = inside.rsplit_once('/').unwrap_or(("", inside));
    let nested = front.starts_with("modules/") || front.starts_with("worktrees/");
    let hook = front == "hooks" || nested && front.ends_with("/hooks");
    (front.is_empty() || nested) && matches!(name, "config" | "config.worktree")
        || hook && !name.ends_with(".sample")
}

/// The git directories of a work tree: `.git`, or where the `.git` file of a linked worktree or submodule points,
/// and its common directory.
pub(crate) fn directories(root: &str, observer: &dyn Observer) -> Vec<String> {
    let dot_git = format!("{root}/.git");
    match observer.look(&dot_git) {
        Seen::Missing => Vec::new(),
        Seen::File { .. } => {
            let mut found = vec![dot_git.clone()];
            let pointer = observer.text(&dot_git, LIMIT).unwrap_or_default();
            if let Some(dir) = pointer.trim().strip_prefix("gitdir:").map(|dir| tidy(root, dir.trim())) {
                let common = observer.text(&format!("{dir}/commondir"), LIMIT);
                if let Some(common) = common.map(|common| tidy(&dir, common.trim())) {
                    found.push(common);
                }
                found.push(dir);
            }
            found
        }
        _ => vec![dot_git],
    }
}

/// The active configuration files, most specific first.
fn config_files(project: &Project) -> impl Iterator<Item = String> {
    let local = project.git_dirs.iter().map(|dir| format!("{dir}/config"));
    let home = &project.home;
    local.chain([
        format!("{home}/.gitconfig"),
        format!("{home}/.config/git/config"),
        "/etc/gitconfig".to_owned(),
    ])
}

/// The effective value: the last one of the most specific file that has it.
pub(crate) fn value(section: &str, key: &str, project: &Project, observer: &dyn Observer) -> Option<String> {
    config_files(project).find_map(|file| value_in(&observer.text(&file, LIMIT)?, section, key))
}

/// Where hooks are, when it is not the default place.
pub(crate) fn hooks_path(project: &Project, observer: &dyn Observer) -> Option<String> {
    let named = value("core", "hookspath", project, observer)?;
    let named = named.strip_prefix("~/").map_or(named.clone(), |rest| format!("{}/{rest}", project.home));
    Some(tidy(&project.root, &named))
}

/// The last value of `section.key` in a configuration text. Sections with a subsection are other sections.
fn value_in(text: &str, section: &str, key: &str) -> Option<String> {
    let mut inside = false;
    let mut found = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some(head) = line.strip_prefix('[') {
            let name = head.split(']').next().unwrap_or_default().trim();
            inside = name.eq_ignore_ascii_case(section);
            continue;
        }
        if !inside || line.starts_with(['#', ';']) {
            continue;
        }
        let (name, value) = line.split_once('=').unwrap_or((line, "true"));
        if !name.trim().eq_ignore_ascii_case(key) {
            continue;
        }
        let mut value = value.trim().to_owned();
        while value.ends_with('\\') {
            value.pop();
            value.push_str(lines.next().unwrap_or_default().trim());
        }
        found = Some(unquote(&value));
    }
    found
}

/// Removes quotes and escapes, and a comment outside quotes.
fn unquote(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut quoted = false;
    let mut chars = value.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => quoted = !quoted,
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            '#' | ';' if !quoted => break,
            other => out.push(other),
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests;
