//! The identity of files independent of their names: hard links to governing files, and Lictor's own program
//! under another name.

use lictor_core::facts::{Access, Existence};

use crate::governing_file;
use crate::observer::{Identity, Seen};
use crate::place::{Looker, follow, tidy};

/// How many files of a directory or of the project are compared.
const MAX_COMPARED: usize = 4096;

impl Looker<'_> {
    /// The name under which a file is protected, when it is reached here by another one of its names.
    pub(crate) fn other_name(&self, real: &str, existence: Existence, access: Access) -> Option<String> {
        let is_file = matches!(existence, Existence::File | Existence::EmptyFile);
        // Removing one of several hard links leaves the others. A moved file can be written under its new name.
        let harmless = matches!(access, Access::List | Access::Delete)
            || access.is_read_only() && self.project.watched.is_empty();
        if !is_file || harmless {
            return None;
        }
        let identity = self.observer.identity(real).filter(|identity| identity.links > 1)?;
        let same = |path: &str| path != real && self.observer.identity(path) == Some(identity);
        if !access.is_read_only()
            && let Some(own) =
                governing_file::files(self.project, self.observer).into_iter().find(|own| same(own))
        {
            return Some(own);
        }
        self.watched_files(&same)
    }

    /// A file that policy watches and that is the same one.
    fn watched_files(&self, same: &dyn Fn(&str) -> bool) -> Option<String> {
        let watched = &self.project.watched;
        let plain = watched.iter().filter(|glob| !glob.contains(['*', '?', '[', '{']));
        let plain = plain.map(|path| tidy(&self.project.root, path)).find(|path| same(path));
        if plain.is_some() || watched.is_empty() || self.project.root.is_empty() {
            return plain;
        }
        self.watched_below(&self.project.root).into_iter().find(|path| same(path))
    }

    /// The files below a directory that policy watches.
    pub(crate) fn watched_below(&self, directory: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut pending = vec![directory.to_owned()];
        let mut seen = 0;
        while let Some(directory) = pending.pop() {
            let left = MAX_COMPARED.saturating_sub(seen);
            let Some(listing) = self.observer.names(&directory, left) else { continue };
            seen += listing.names.len();
            for name in listing.names.into_iter().filter(|name| name != ".git") {
                let path = format!("{directory}/{name}");
                match self.observer.look(&path) {
                    Seen::Directory => pending.push(path),
                    Seen::File { .. } if self.is_watched(&path) => found.push(path),
                    _ => {}
                }
            }
        }
        found
    }

    /// Whether the file at a path is Lictor's program: by its path, as another link to it, or as a copy.
    pub(crate) fn is_program(&self, path: &str) -> bool {
        let real = follow(path, self.observer);
        let programs = governing_file::programs(self.project, self.observer);
        if programs.iter().any(|program| program == path || *program == real) {
            return true;
        }
        let Some(identity) = self.observer.identity(&real).filter(|identity| identity.size > 0) else {
            return false;
        };
        programs.iter().any(|program| {
            let program = follow(program, self.observer);
            let Some(known) = self.observer.identity(&program) else { return false };
            let same_file = (known.device, known.inode) == (identity.device, identity.inode);
            real == program
                || same_file
                || known.size == identity.size && self.observer.same_content(&real, &program)
        })
    }

    /// The same for the first word of a command: a name is looked up as a shell does.
    pub(crate) fn starts_program(&self, word: &str) -> bool {
        if word.contains('/') {
            return self.is_program(&tidy(self.cwd, &self.untilde(word)));
        }
        let found = governing_file::search_path(self.observer)
            .map(|directory| format!("{directory}/{word}"))
            .find(|path| self.observer.look(path) != Seen::Missing);
        found.is_some_and(|path| self.is_program(&path))
    }
}

impl Identity {
    /// An identity that nothing else has, for worlds in memory.
    pub(crate) fn numbered(inode: u64, links: u64, size: u64) -> Self {
        Self { device: 1, inode, links, size }
    }
}

#[cfg(test)]
mod tests;
