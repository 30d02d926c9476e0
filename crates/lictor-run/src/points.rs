//! Mount points: something has to lie where a mount goes. What is made for that is removed afterwards, whoever ends.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What was made, the outer before the inner.
#[derive(Debug, Default)]
pub struct Points {
    made: Vec<PathBuf>,
}

impl Points {
    /// An empty file at that path, unless something is there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn file(&mut self, path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path).is_ok() {
            return Ok(());
        }
        self.parents(path)?;
        OpenOptions::new().write(true).create_new(true).open(path)?;
        self.made.push(path.to_owned());
        Ok(())
    }

    /// A directory at that path, unless something is there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn directory(&mut self, path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path).is_ok() {
            return Ok(());
        }
        self.parents(path)?;
        fs::create_dir(path)?;
        self.made.push(path.to_owned());
        Ok(())
    }

    fn parents(&mut self, path: &Path) -> io::Result<()> {
        match path.parent() {
            Some(parent) if fs::symlink_metadata(parent).is_err() => self.directory(parent),
            _ => Ok(()),
        }
    }

    /// What was made, for whoever removes it.
    #[must_use]
    pub fn made(&self) -> &[PathBuf] {
        &self.made
    }
}

/// Removes what was made as mount points, the inner before the outer. What holds something by now stays.
pub fn remove(made: &[PathBuf]) {
    for path in made.iter().rev() {
        let Ok(found) = fs::symlink_metadata(path) else { continue };
        let _ = if found.is_dir() {
            fs::remove_dir(path)
        } else if found.is_file() && found.len() == 0 && found.nlink() == 1 {
            fs::remove_file(path)
        } else {
            Ok(())
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_goes_and_what_was_there_stays() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        fs::create_dir(at("there")).unwrap();
        fs::write(at("there/full"), "x").unwrap();
        let mut points = Points::default();
        points.file(&at("there/full")).unwrap();
        points.file(&at("there/new")).unwrap();
        points.file(&at("a/b/c.json")).unwrap();
        points.directory(&at("a/d")).unwrap();
        points.file(&at("grown")).unwrap();
        fs::write(at("grown"), "by somebody").unwrap();
        assert_eq!(
            points.made(),
            [at("there/new"), at("a"), at("a/b"), at("a/b/c.json"), at("a/d"), at("grown")]
        );
        remove(points.made());
        let left: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(at("there/full").exists() && !at("there/new").exists() && at("grown").exists());
    }
}
