//! Actions that name files themselves: read, write, edit, patch, notebook.

use lictor_core::Action;
use lictor_core::facts::{Access, Cardinality, Effect, Existence, Facts, OpaqueWhat, Place};
use lictor_shell::patch::PatchEffect;
use serde_json::Value;

use super::opaque;
use crate::place::Looker;
use crate::zone::is_at_or_below;

/// Names under which agents give a file.
const PATH_FIELDS: [&str; 6] =
    ["path", "file_path", "notebook_path", "filePath", "absolute_path", "target_file"];
/// Names under which they give several.
const PATHS_FIELDS: [&str; 3] = ["paths", "file_paths", "files"];
/// Names under which tools of others give one.
const OTHERS_FIELDS: [&str; 2] = ["file", "filename"];

/// Whether a field with this name contains paths, in any tool and in any style (`file_path`, `FilePath`).
pub(super) fn is_path_field(name: &str) -> bool {
    fn plain(name: &str) -> impl Iterator<Item = char> + '_ {
        name.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase())
    }
    let mut known = PATH_FIELDS.iter().chain(&PATHS_FIELDS).chain(&OTHERS_FIELDS);
    known.any(|known| plain(known).eq(plain(name)))
}

/// Patterns of names: only such files are searched.
const NARROWING: [&str; 4] = ["glob", "include", "include_pattern", "includePattern"];

/// Reading one or more files, or searching: with a `pattern` the path is where the search starts (default: cwd).
pub(super) fn read(action: &Action, looker: &Looker<'_>, facts: &mut Facts) {
    let named = paths(action);
    let searches = ["pattern", "glob", "query"].iter().any(|field| action.payload.contains_key(*field));
    if searches {
        for field in ["glob", "pattern"] {
            // A pattern with a path in it determines where it searches (`../secrets/*`).
            if let Some(pattern) = action
                .text(field)
                .filter(|pattern| pattern.contains('/') && field == "glob" || is_path_pattern(pattern))
            {
                let fixed = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
                if fixed.contains("..") || fixed.starts_with(['/', '~']) {
                    looker.add_place(facts, looker.path(fixed, Access::List, true), Access::List, true, None);
                }
            }
        }
        let starts = if named.is_empty() { vec![looker.cwd] } else { named.clone() };
        for start in starts {
            let place = looker.path(start, Access::Read, true);
            let prints = !action.payload.contains_key("names");
            if prints {
                found(action, looker, facts, &place);
            }
            // All over the project a search is everyday work: the tree is searched, not read out.
            let tree = place.existence == Existence::Directory || named.is_empty();
            let access = if tree && !(prints && place.secret) { Access::List } else { Access::Read };
            looker.add_place(facts, place, access, true, None);
        }
        return;
    }
    if named.is_empty() {
        facts.effects.push(file(Access::Read, missing()));
    }
    for path in named {
        looker.add_place(facts, looker.path(path, Access::Read, false), Access::Read, false, None);
    }
}

/// The watched files whose content a search in a directory prints.
fn found(action: &Action, looker: &Looker<'_>, facts: &mut Facts, start: &Place) {
    if looker.project.watched.is_empty() {
        return;
    }
    let part = !is_at_or_below(&looker.project.root, &start.path);
    let glob = NARROWING.iter().find_map(|field| action.text(field));
    if glob.is_none() && !(part && start.existence == Existence::Directory) {
        return;
    }
    for path in looker.watched_below(&start.path) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let below = path.strip_prefix(start.path.as_str()).unwrap_or_default().trim_start_matches('/');
        let meant = glob.is_none_or(|glob| {
            // For the whole project, a pattern for everything is not aimed at watched files.
            let named = part || !glob.ends_with('*') || glob.starts_with('.');
            named && [name, below].iter().any(|path| fast_glob::glob_match(glob, path))
        });
        if meant {
            let place = looker.path(&path, Access::Read, false);
            looker.add_place(facts, place, Access::Read, false, None);
        }
    }
}

/// Writing: the whole file, parts of it, or a patch over several.
pub(super) fn write(action: &Action, looker: &Looker<'_>, facts: &mut Facts) {
    if let Some(patch) = action.text("patch") {
        patched(patch, looker, facts);
        return;
    }
    let named = paths(action);
    if named.is_empty() {
        facts.effects.push(file(Access::Write, missing()));
    }
    for path in named {
        let access = write_access(action, path, looker);
        let place = looker.path(path, access, false);
        let outside = place.in_project.is_none();
        if written(action).iter().any(|text| {
            lictor_shell::governs_sessions(&place.path, text)
                || outside && lictor_shell::runs_at_start(&place.path, text)
        }) {
            facts.effects.push(Effect::Deed {
                verb: "change".to_owned(),
                object: "startup".to_owned(),
                cardinality: Cardinality::Single,
                what: None,
            });
        }
        looker.add_place(facts, place, access, false, None);
    }
}

/// The texts that a call puts into a file.
fn written(action: &Action) -> Vec<&str> {
    const FIELDS: [&str; 5] = ["content", "new", "new_string", "new_source", "newText"];
    let edits = action.payload.get("edits").and_then(Value::as_array).into_iter().flatten();
    let edited = edits.filter_map(|edit| FIELDS.iter().find_map(|field| edit.get(field)?.as_str()));
    FIELDS.iter().filter_map(|field| action.text(field)).chain(edited).collect()
}

fn write_access(action: &Action, path: &str, looker: &Looker<'_>) -> Access {
    let has = |fields: &[&str]| fields.iter().any(|field| action.payload.contains_key(*field));
    if action.text("operation") == Some("delete") {
        return Access::Delete;
    }
    if has(&["old", "new", "old_string", "edits", "new_source", "cell_id"]) {
        return Access::Modify;
    }
    let emptied = action.text("content") == Some("");
    let place = looker.path(path, Access::Write, false);
    if emptied && place.existence == Existence::File { Access::Empty } else { Access::Write }
}

/// The effects of a patch; what is not a patch is opaque.
fn patched(patch: &str, looker: &Looker<'_>, facts: &mut Facts) {
    match lictor_shell::patch::read_patch(patch) {
        Ok(effects) => {
            for PatchEffect { access, path } in effects {
                looker.add_place(facts, looker.path(&path, access, false), access, false, None);
            }
        }
        Err(problem) => facts.opaque.push(opaque(OpaqueWhat::Syntax, &problem.to_string())),
    }
}

/// A pattern of a file search (`**/*.rs`), not a regular expression.
fn is_path_pattern(pattern: &str) -> bool {
    pattern.starts_with(['/', '~'])
        || pattern.starts_with("../")
        || pattern.starts_with("./")
        || pattern.contains("**/")
}

/// Every path the payload names.
pub(super) fn paths(action: &Action) -> Vec<&str> {
    let single = PATH_FIELDS.iter().filter_map(|field| action.text(field));
    let several = PATHS_FIELDS.iter().filter_map(|field| action.payload.get(*field)?.as_array()).flatten();
    let mut all: Vec<&str> = single.chain(several.filter_map(Value::as_str)).collect();
    all.dedup();
    all
}

fn missing() -> Place {
    Place { malformed: true, ..Place::unknown("") }
}

fn file(access: Access, target: Place) -> Effect<Place> {
    Effect::File { access, target, recursive: false, by: None }
}

#[cfg(test)]
mod tests;
