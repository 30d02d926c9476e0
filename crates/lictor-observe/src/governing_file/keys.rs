//! The keys with which Lictor seals its record and a person's answers. Anyone who reads them can forge both.

use super::STATE;
use crate::observer::{Observer, Seen};
use crate::project::Project;
use crate::zone::is_at_or_below;

/// The directory of keys, in the state of the person and of each project.
const KEYS: &str = "keys";
/// The maximum number of projects whose keys are searched.
const MAX_PROJECTS: usize = 1024;

/// Where Lictor keeps its state.
fn state(project: &Project) -> impl Iterator<Item = String> {
    let variable =
        |name: &str| project.moved.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
    let places = STATE.iter().flat_map(|file| file.places(&project.home, &variable).collect::<Vec<_>>());
    places.collect::<Vec<_>>().into_iter()
}

/// Whether reading this file, or this whole directory, would read a key. The project and its parents are left
/// out: searching there is everyday work.
pub(crate) fn holds_key(path: &str, project: &Project, observer: &dyn Observer) -> bool {
    state(project).any(|state| {
        if let Some(inside) = path.strip_prefix(state.as_str()) {
            return match inside.strip_prefix('/') {
                Some(inside) => {
                    let mut parts = inside.split('/');
                    // `keys/…` of the person, `<project>/keys/…`, or all of a project's state.
                    parts.next() == Some(KEYS)
                        || parts.next().map_or_else(|| is_directory(path, observer), |part| part == KEYS)
                }
                None => inside.is_empty() && is_directory(path, observer),
            };
        }
        let above = is_at_or_below(&state, path) && !is_at_or_below(&project.root, path);
        above && observer.look(&state) == Seen::Directory
    })
}

/// Whether a pattern of paths fits a key.
pub(crate) fn fits_key(pattern: &str, project: &Project, observer: &dyn Observer) -> bool {
    // Some of the files below a directory, picked by their age or size: any of them.
    let any = pattern.strip_suffix("**/?").map(|start| format!("{start}**"));
    let pattern = any.as_deref().unwrap_or(pattern);
    let fixed = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
    state(project).any(|state| {
        if !fixed.starts_with(state.as_str()) && !state.starts_with(fixed) {
            return false;
        }
        // Whether or not there is one yet.
        let inside = pattern.strip_prefix(state.as_str()).unwrap_or_default();
        if inside.split('/').any(|part| part == KEYS) {
            return true;
        }
        let projects = observer.names(&state, MAX_PROJECTS).unwrap_or_default().names;
        let folders =
            projects.into_iter().filter(|name| name != KEYS).map(|name| format!("{state}/{name}/{KEYS}"));
        folders.chain([format!("{state}/{KEYS}")]).any(|folder| {
            let keys = observer.names(&folder, MAX_PROJECTS).unwrap_or_default().names;
            keys.iter().any(|key| fast_glob::glob_match(pattern, format!("{folder}/{key}").as_str()))
        })
    })
}

fn is_directory(path: &str, observer: &dyn Observer) -> bool {
    observer.look(path) == Seen::Directory
}
