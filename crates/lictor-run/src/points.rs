//! Mount points: the target of a mount must exist. Targets that were created for that are removed when the last
//! run of the project ends, however it ends.
//!
//! Runs of one project share these targets: each holds a shared lock while it runs, and the last holder removes
//! everything on the list. After a crash of the machine the next run removes them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::RunError;
use crate::mounts::holds;

/// The list of what was made.
const LIST: &str = "mount-points";
/// The list of who could do what with directories.
const MODES: &str = "modes";
/// Locked by every run.
const RUNNING: &str = "running";
/// More than any list has.
const MOST: u64 = 4 * 1024 * 1024;

/// The created paths, outer before inner.
#[derive(Debug, Default)]
pub struct Points {
    made: Vec<PathBuf>,
    /// Paths that other runs of the project created.
    others: BTreeSet<PathBuf>,
    /// Directories that stay writable around what governs, with who may do what there.
    around: Vec<(PathBuf, u32)>,
}

/// The permission bits of a mode, and the owner's part.
const MODE: u32 = 0o777;
const OWNER: u32 = 0o700;

impl Points {
    /// Whether a governing file exists there that is not a created mount point.
    #[must_use]
    pub fn is_there(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok() && !self.others.contains(path)
    }

    /// Creates an empty file at that path, unless something exists.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn file(&mut self, path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path).is_ok() {
            return Ok(());
        }
        self.parents(path)?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        self.made.push(path.to_owned());
        file.write_all(holds(path).as_bytes())
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

    /// Records the mode of a directory with governing files. A process inside can remove its permissions, and
    /// then the governing files would be unreadable outside too.
    pub fn keep_open(&mut self, directory: &Path) {
        if let Ok(found) = fs::symlink_metadata(directory) {
            self.around.push((directory.to_owned(), found.mode() & MODE));
        }
    }

    fn parents(&mut self, path: &Path) -> io::Result<()> {
        match path.parent() {
            Some(parent) if fs::symlink_metadata(parent).is_err() => self.directory(parent),
            _ => Ok(()),
        }
    }

    /// All mount points that lie about: this run's and those of others.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        self.made.iter().chain(&self.others).map(PathBuf::as_path)
    }
}

/// The list in a directory of the project's state, and this run's hold on it.
#[derive(Debug)]
pub struct Held {
    _running: File,
}

/// Creates mount points with `make`, which knows those of other runs, and records them while the lock is held.
///
/// # Errors
/// When the list cannot be kept, or `make` fails. Created paths are still on the list.
pub fn hold<T>(
    directory: &Path,
    make: impl FnOnce(&mut Points) -> Result<T, RunError>,
) -> Result<(T, Points, Held), RunError> {
    let failed = || RunError::io(format!("cannot keep a list in `{}`", directory.display()));
    let begin = || {
        fs::create_dir_all(directory)?;
        let mut list = open(&directory.join(LIST))?;
        list.lock()?;
        let running = open(&directory.join(RUNNING))?;
        let mut known = read(&mut list)?;
        let mut modes = open(&directory.join(MODES))?;
        if running.try_lock().is_ok() {
            reopen(&read(&mut modes)?);
            write(&mut modes, &[])?;
            remove(&known);
            known.clear();
            running.unlock()?;
        }
        Ok((list, modes, running, known))
    };
    let (mut list, mut modes, running, mut known) = begin().map_err(failed())?;
    let mut points = Points { others: known.iter().cloned().collect(), ..Points::default() };
    let made = make(&mut points);
    known.extend(points.made.iter().cloned());
    write(&mut list, &known)
        .and_then(|()| note(&mut modes, &points.around))
        .and_then(|()| running.lock_shared())
        .map_err(failed())?;
    Ok((made?, points, Held { _running: running }))
}

/// Removes created paths when no other run is left. This run's lock must be released.
///
/// # Errors
/// When the list cannot be read.
pub fn release(directory: &Path) -> io::Result<()> {
    let mut list = open(&directory.join(LIST))?;
    list.lock()?;
    match open(&directory.join(RUNNING))?.try_lock() {
        Ok(()) => {
            let mut modes = open(&directory.join(MODES))?;
            reopen(&read(&mut modes)?);
            write(&mut modes, &[])?;
            remove(&read(&mut list)?);
            write(&mut list, &[])
        }
        Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn open(file: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file)
}

fn read(list: &mut File) -> io::Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    list.rewind()?;
    list.take(MOST).read_to_end(&mut bytes)?;
    let paths = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    Ok(paths.map(|path| PathBuf::from(OsString::from_vec(path.to_vec()))).collect())
}

fn write(list: &mut File, paths: &[PathBuf]) -> io::Result<()> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_os_str().as_bytes());
        bytes.push(0);
    }
    list.set_len(0)?;
    list.rewind()?;
    list.write_all(&bytes)
}

/// Adds modes to their list: the mode in octal, a blank, the path. Known directories were recorded before they
/// could be changed.
fn note(modes: &mut File, around: &[(PathBuf, u32)]) -> io::Result<()> {
    let mut known = read(modes)?;
    for (path, mode) in around {
        if !known.iter().any(|line| noted(line).is_some_and(|(_, known)| known == path)) {
            let mut line = OsString::from(format!("{mode:o} "));
            line.push(path);
            known.push(line.into());
        }
    }
    write(modes, &known)
}

fn noted(line: &Path) -> Option<(u32, &Path)> {
    let line = line.as_os_str().as_bytes();
    let blank = line.iter().position(|byte| *byte == b' ')?;
    let (mode, path) = line.split_at_checked(blank)?;
    let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
    Some((mode & MODE, Path::new(std::ffi::OsStr::from_bytes(path.get(1..)?))))
}

/// Opens directories again whose owners lost something of what they could do there, the outer before the inner.
fn reopen(modes: &[PathBuf]) {
    let mut all: Vec<(u32, &Path)> = modes.iter().filter_map(|line| noted(line)).collect();
    all.sort_by_key(|(_, path)| path.as_os_str().len());
    for (mode, path) in all {
        let Ok(found) = fs::symlink_metadata(path) else { continue };
        if found.is_dir() && found.mode() & mode & OWNER != mode & OWNER {
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(found.mode() & 0o7777 | mode));
        }
    }
}

/// Removes created mount points, inner before outer. Paths that are no longer empty stay.
fn remove(made: &[PathBuf]) {
    for path in made.iter().rev() {
        let Ok(found) = fs::symlink_metadata(path) else { continue };
        let _ = if found.is_dir() {
            fs::remove_dir(path)
        } else if found.is_file() && is_untouched(path, found.len()) && found.nlink() == 1 {
            fs::remove_file(path)
        } else {
            Ok(())
        };
    }
}

/// Whether a file still has its original content.
fn is_untouched(path: &Path, length: u64) -> bool {
    let made = holds(path).as_bytes();
    length == made.len() as u64 && (made.is_empty() || fs::read(path).is_ok_and(|bytes| bytes == made))
}

#[cfg(test)]
mod tests;
