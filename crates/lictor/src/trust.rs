//! Trusted programs of a repository's policy: those whose exact command line and file contents a person has
//! pinned.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lictor_core::{Digest, Timestamp};
use lictor_observe::RealObserver;
use lictor_store::{Draft, Durability, Space, Store, StoreExt as _};
use serde_json::json;

use crate::error::Error;
use crate::files;
use crate::probe;

/// A program that a repository's policy names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// What it is for: `council ship-it, reviewer lint`.
    pub what: String,
    /// The command line.
    pub argv: Vec<String>,
    /// The project files that determine what it does, as declared in the policy: files, globs, directories.
    pub reads: Vec<String>,
}

impl Program {
    /// The repository files that determine what is run: the program itself, arguments that are files, files that
    /// the program runs by default (`make` a `Makefile`), and those that the policy declares.
    ///
    /// # Errors
    /// When what it reads cannot be listed.
    pub fn files(&self, root: &Path) -> Result<Vec<PathBuf>, Error> {
        let words =
            self.argv.iter().flat_map(|word| [word.as_str()].into_iter().chain(word.split_whitespace()));
        let named = lictor_observe::files_named_by(words, &root.to_string_lossy(), &RealObserver);
        let mut found: Vec<PathBuf> = named.into_iter().map(PathBuf::from).collect();
        for pattern in &self.reads {
            found.extend(matching(root, pattern)?);
        }
        found.retain(|file| file.is_file());
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Files that one of the words, as a program, runs by default: `env make review` runs a `Makefile` too.
    fn recipes(&self) -> impl Iterator<Item = &'static str> {
        let words = self.argv.iter().flat_map(|word| word.split_whitespace());
        words.flat_map(|word| lictor_observe::recipes_of(word.rsplit('/').next().unwrap_or(word)))
    }

    /// What is not covered by the pin: files that determine what it does but are not declared.
    #[must_use]
    pub fn unpinned(&self, root: &Path) -> Option<String> {
        if !self.reads.is_empty() {
            return None;
        }
        let shown = self.argv.join(" ");
        let by_path = self.argv.first().is_some_and(|program| program.contains('/'));
        let files = self.files(root).unwrap_or_default();
        if !by_path && files.is_empty() {
            return Some(format!(
                "`{shown}` names no file of the project: what it finds there decides what it does, and none of that is pinned"
            ));
        }
        if self.recipes().any(|recipe| files.iter().any(|file| file.ends_with(recipe))) {
            return Some(format!("files that those of `{shown}` include or run are not pinned"));
        }
        let mentioned = mentioned(root, &files);
        let (first, rest) = mentioned.split_first()?;
        let others = match rest.len() {
            0 => String::new(),
            1 => " and one more file of the project".to_owned(),
            more => format!(" and {more} more files of the project"),
        };
        Some(format!(
            "`{shown}` mentions `{}`{others}: what it runs or includes of them is not pinned",
            first.display()
        ))
    }

    /// The digest of the command line and of every file that determines what it does.
    fn pin(&self, root: &Path) -> Result<Digest, Error> {
        let mut parts: Vec<Vec<u8>> = vec![b"lictor program 1".to_vec()];
        parts.extend(self.argv.iter().map(|word| word.clone().into_bytes()));
        for file in self.files(root)? {
            let bytes = files::read(&file, files::PROGRAM).map_err(Error::file("cannot read", &file))?;
            parts.push(file.as_os_str().as_encoded_bytes().to_vec());
            parts.push(bytes);
        }
        if !self.reads.is_empty() {
            parts.push(b"reads".to_vec());
            parts.extend(self.reads.iter().map(|pattern| pattern.clone().into_bytes()));
            parts.extend(self.links(root)?);
        }
        Ok(Digest::of_parts(parts.iter().map(Vec::as_slice)))
    }

    /// Links among its files, with their targets: another target is another file.
    fn links(&self, root: &Path) -> Result<Vec<Vec<u8>>, Error> {
        let mut found = Vec::new();
        for pattern in &self.reads {
            for path in matching(root, pattern)? {
                if let Ok(target) = std::fs::read_link(&path) {
                    found.extend([path.into_os_string(), target.into_os_string()]);
                }
            }
        }
        Ok(found.into_iter().map(|text| text.into_encoded_bytes()).collect())
    }

    /// Whether a person has pinned exactly this.
    ///
    /// # Errors
    /// When the store or a file cannot be read.
    pub fn is_trusted(&self, store: &dyn Store, root: &Path) -> Result<bool, Error> {
        let pin = self.pin(root)?;
        Ok(store.view(|view| view.get(Space::Trust, pin.as_bytes()))?.is_some())
    }

    /// Pins it. The record contains the person and the pinned content.
    ///
    /// # Errors
    /// When the store or a file cannot be read or written.
    pub fn trust(&self, store: &dyn Store, root: &Path, by: &str, at: Timestamp) -> Result<(), Error> {
        let pin = self.pin(root)?;
        let body = json!({"by": by, "what": self.what, "argv": self.argv, "reads": self.reads, "pin": pin})
            .to_string();
        store.update(Durability::Power, |tx| {
            tx.append(Draft { at, session: None, kind: "program.trusted".to_owned(), body: body.clone() })?;
            tx.put(Space::Trust, pin.as_bytes(), body.as_bytes())
        })?;
        Ok(())
    }
}

/// The files of a path, a glob or a directory in a project.
fn matching(root: &Path, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let below = root.join(pattern).is_dir().then(|| format!("{}/**", pattern.trim_end_matches('/')));
    let glob = below.as_deref().unwrap_or(pattern);
    if !probe::is_glob(glob) {
        return Ok(vec![root.join(pattern)]);
    }
    let failed = |why: String| Error::file("cannot list", &root.join(pattern))(std::io::Error::other(why));
    let found = probe::matching(root, glob).map_err(failed)?;
    Ok(found.into_iter().map(|found| root.join(found.path)).collect())
}

/// Other project files that these scripts mention, project-relative.
fn mentioned(root: &Path, scripts: &[PathBuf]) -> Vec<PathBuf> {
    let cwd = root.to_string_lossy();
    let all = scripts.iter().flat_map(|script| {
        lictor_observe::files_mentioned_in(&script.to_string_lossy(), &cwd, &RealObserver)
    });
    let others: BTreeSet<PathBuf> = all.map(PathBuf::from).filter(|file| !scripts.contains(file)).collect();
    others.iter().filter_map(|file| file.strip_prefix(root).ok()).map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests;
