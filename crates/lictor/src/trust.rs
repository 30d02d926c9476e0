//! Which programs of a repository's policy may run: those that a person has pinned, word for word and byte for byte.

use std::path::{Path, PathBuf};

use lictor_core::{Digest, Timestamp};
use lictor_store::{Draft, Durability, Space, Store, StoreExt as _};
use serde_json::json;

use crate::error::Error;
use crate::files;

/// A program that a repository's policy names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// What it is for: `council ship-it, reviewer lint`.
    pub what: String,
    /// The command line.
    pub argv: Vec<String>,
}

impl Program {
    /// The files of the repository that decide what is run: the program itself, arguments that are files, and those that
    /// the program runs without being told to (`make` a `Makefile`).
    #[must_use]
    pub fn files(&self, root: &Path) -> Vec<PathBuf> {
        let first = self.argv.first().is_some_and(|program| program.contains('/'));
        let named = self.argv.iter().skip(usize::from(!first)).map(|word| root.join(word));
        let mut found: Vec<PathBuf> = named.chain(self.recipes().map(|name| root.join(name))).collect();
        found.retain(|file| file.is_file());
        found.sort();
        found.dedup();
        found
    }

    /// Files that one of the words, as a program, runs when it finds them: `env make review` runs a `Makefile` too.
    fn recipes(&self) -> impl Iterator<Item = &'static str> {
        let words = self.argv.iter().flat_map(|word| word.split_whitespace());
        words.flat_map(|word| lictor_observe::recipes_of(word.rsplit('/').next().unwrap_or(word)))
    }

    /// What of it stays open although it is pinned: files that decide what it does and that nobody named.
    #[must_use]
    pub fn unpinned(&self, root: &Path) -> Option<String> {
        let shown = self.argv.join(" ");
        let by_path = self.argv.first().is_some_and(|program| program.contains('/'));
        if self.files(root).is_empty() && !by_path {
            return Some(format!(
                "`{shown}` names no file of the project: what it finds there decides what it does, and none of that is pinned"
            ));
        }
        self.recipes().any(|file| root.join(file).is_file()).then(|| {
            format!("files that those of `{shown}` include or run are not pinned: name them as arguments to pin them")
        })
    }

    /// The fingerprint of the command line and of every file it names.
    fn pin(&self, root: &Path) -> Result<Digest, Error> {
        let mut parts: Vec<Vec<u8>> = vec![b"lictor program 1".to_vec()];
        parts.extend(self.argv.iter().map(|word| word.clone().into_bytes()));
        for file in self.files(root) {
            let bytes = files::read(&file, files::PROGRAM).map_err(Error::file("cannot read", &file))?;
            parts.push(file.as_os_str().as_encoded_bytes().to_vec());
            parts.push(bytes);
        }
        Ok(Digest::of_parts(parts.iter().map(Vec::as_slice)))
    }

    /// Whether a person has pinned exactly this.
    ///
    /// # Errors
    /// When the store or a file cannot be read.
    pub fn is_trusted(&self, store: &dyn Store, root: &Path) -> Result<bool, Error> {
        let pin = self.pin(root)?;
        Ok(store.view(|view| view.get(Space::Trust, pin.as_bytes()))?.is_some())
    }

    /// Pins it. The record says who did and what it was.
    ///
    /// # Errors
    /// When the store or a file cannot be read or written.
    pub fn trust(&self, store: &dyn Store, root: &Path, by: &str, at: Timestamp) -> Result<(), Error> {
        let pin = self.pin(root)?;
        let body = json!({"by": by, "what": self.what, "argv": self.argv, "pin": pin}).to_string();
        store.update(Durability::Power, |tx| {
            tx.append(Draft { at, session: None, kind: "program.trusted".to_owned(), body: body.clone() })?;
            tx.put(Space::Trust, pin.as_bytes(), body.as_bytes())
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
