//! A process that outlives the guardian and restores files, however the guardian ends.

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::RunError;
use crate::points;

/// The word by which the program starts it.
pub const WORD: &str = "__janitor";
/// The parent of the guardian's directory, and its name prefix.
pub(crate) const RUNTIME: (&str, &str) = ("/tmp", "lictor-");

/// The process, as long as it is held.
#[derive(Debug)]
pub(crate) struct Janitor(Child);

impl Janitor {
    /// Starts it for a list of mount points and a directory of the guardian's.
    pub(crate) fn start(program: &Path, list: &Path, runtime: &Path) -> Result<Self, RunError> {
        let failed = || RunError::io("cannot start whoever puts things back");
        let mut child = Command::new(program)
            .arg(WORD)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed())?;
        if let Some(pipe) = &mut child.stdin {
            for path in [list, runtime] {
                pipe.write_all(path.as_os_str().as_bytes()).map_err(failed())?;
                pipe.write_all(&[0]).map_err(failed())?;
            }
        }
        Ok(Self(child))
    }

    /// Has it put things back now.
    pub(crate) fn finish(mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Waits until the guardian has ended, then restores files.
pub fn run() {
    let mut bytes = Vec::new();
    let _ = std::io::stdin().lock().read_to_end(&mut bytes);
    let mut paths =
        bytes.split(|byte| *byte == 0).map(|path| PathBuf::from(OsString::from_vec(path.to_vec())));
    if let Some(list) = paths.next() {
        let _ = points::release(&list);
    }
    if let Some(runtime) = paths.next().filter(|path| is_runtime(path)) {
        let _ = fs::remove_dir_all(runtime);
    }
}

/// Only a directory that a guardian of this user created is removed recursively.
fn is_runtime(path: &Path) -> bool {
    let (above, name) = RUNTIME;
    let named = path.file_name().is_some_and(|found| found.as_bytes().starts_with(name.as_bytes()));
    let own = |found: fs::Metadata| found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    path.parent() == Some(Path::new(above)) && named && fs::symlink_metadata(path).is_ok_and(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_a_guardians_directory_is_removed() {
        for path in ["/tmp", "/", "/tmp/x", "/home/lictor-1", "/tmp/lictor-1/..", "/tmp/lictor-none"] {
            assert!(!is_runtime(Path::new(path)), "{path}");
        }
    }
}
