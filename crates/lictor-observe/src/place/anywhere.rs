//! Files in directories that the line does not name: those that match a pattern, and unknown ones.

use lictor_core::facts::Effect;
use lictor_shell::{Arg, Cwd, Known, Operand};

use super::{Looker, tidy};
use crate::governing_file;
use crate::observer::Seen;

/// The maximum number of names that are checked for one pattern.
const MAX_ENTRIES: usize = 1024;
/// The maximum number of directories that are entered. A shell enters one, and reports an error if there are
/// more.
const MAX_DIRECTORIES: usize = 8;
/// How deep `**` leads.
const MAX_DEPTH: usize = 4;

impl Looker<'_> {
    /// Applies an effect once in each directory that matches a pattern. If there are none or too many, the
    /// pattern itself is used as the directory.
    pub(crate) fn in_each(&self, pattern: &str, effect: &Effect<Operand>) -> Vec<Effect<Operand>> {
        let there = self.directories_like(&self.untilde(pattern));
        if there.is_empty() || there.len() > MAX_DIRECTORIES {
            return vec![effect.clone().map_target(|target| in_front(pattern, target))];
        }
        let moved = |directory: String| {
            effect.clone().map_target(|target| Operand { cwd: Cwd::Known(directory.clone()), ..target })
        };
        there.into_iter().map(moved).collect()
    }

    /// The directories that are there and fit.
    fn directories_like(&self, pattern: &str) -> Vec<String> {
        let start = if pattern.starts_with('/') { "/" } else { self.cwd };
        let mut found = vec![start.to_owned()];
        let mut left = MAX_ENTRIES;
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            found = match part {
                "**" => self.trees(found, &mut left),
                part if part.contains(['*', '?', '[', '(']) => {
                    found.iter().flat_map(|above| self.inside(above, part, &mut left)).collect()
                }
                part => found.iter().map(|above| tidy(above, part)).collect(),
            };
            if left == 0 {
                return Vec::new();
            }
        }
        found.retain(|path| self.observer.look(&super::follow(path, self.observer)) == Seen::Directory);
        found
    }

    /// The matching subdirectories; hidden ones only if the pattern includes them.
    fn inside(&self, above: &str, part: &str, left: &mut usize) -> Vec<String> {
        let names = self.observer.names(above, *left).unwrap_or_default().names;
        *left = left.saturating_sub(names.len());
        let fits = |name: &String| {
            (!name.starts_with('.') || part.starts_with(['.', '[', '@', '?', '+', '(', '{']))
                && fast_glob::glob_match(part, name.as_str())
        };
        let paths = names.into_iter().filter(fits).map(|name| tidy(above, &name));
        paths.filter(|path| matches!(self.observer.look(path), Seen::Directory | Seen::Link)).collect()
    }

    /// These directories with all that lie below them.
    fn trees(&self, tops: Vec<String>, left: &mut usize) -> Vec<String> {
        let (mut found, mut level) = (tops.clone(), tops);
        for _ in 0..MAX_DEPTH {
            let below = |above: &String, left: &mut usize| {
                let mut names = self.observer.names(above, *left).unwrap_or_default().names;
                *left = left.saturating_sub(names.len());
                names.retain(|name| name != ".git" && name != "node_modules");
                let paths = names.into_iter().map(|name| tidy(above, &name));
                paths.filter(|path| self.observer.look(path) == Seen::Directory).collect::<Vec<_>>()
            };
            level = level.iter().flat_map(|above| below(above, left)).collect();
            found.extend(level.iter().cloned());
        }
        found
    }

    /// Whether a path in an unknown directory may be a governing file: relative to the project root, or by the
    /// name of an existing one.
    pub(super) fn may_govern_anywhere(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.governs_somewhere(&format!("/{path}"))
            || name == path
                && governing_file::of_agents(self.project, self.observer)
                    .iter()
                    .any(|own| own.rsplit('/').next() == Some(name))
    }

    /// Whether what a path ends with is a file that governs where it follows the root of a project.
    pub(super) fn governs_somewhere(&self, ending: &str) -> bool {
        let Some(path) = ending.strip_prefix('/') else { return false };
        let named = !path.starts_with(['.', '/']) || path.get(1..2).is_some_and(|next| !"./".contains(next));
        named
            && self
                .project
                .roots()
                .any(|root| governing_file::is_own(&tidy(root, path), false, self.project, self.observer))
    }
}

/// The operand with a pattern for its directory in its word.
fn in_front(pattern: &str, operand: Operand) -> Operand {
    let Operand { arg, cwd: _, incoming } = operand;
    let value = match arg.value {
        Known::Text(path) if path.starts_with(['/', '~']) => Known::Text(path),
        Known::Text(path) => Known::Text(format!("{pattern}/{path}").into()),
        value => return Operand { arg: Arg { value, ..arg }, cwd: Cwd::Unknown, incoming },
    };
    let glob = arg.glob || matches!(&value, Known::Text(path) if path.starts_with(pattern));
    Operand { arg: Arg { value, glob, ..arg }, cwd: Cwd::Start, incoming }
}
