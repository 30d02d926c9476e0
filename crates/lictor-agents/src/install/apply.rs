//! The only place in this crate that writes files.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::Change;

impl Change {
    /// Makes the change, all or nothing. A file that changed since it was read is left alone.
    ///
    /// # Errors
    ///
    /// Whatever the file system says, and `before` not being what the file says now.
    pub fn apply(&self) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        if read(&self.path)? != self.before {
            return Err(io::Error::other(format!(
                "`{}` changed meanwhile; run this again",
                self.path.display()
            )));
        }
        let Some(after) = &self.after else { return fs::remove_file(&self.path) };
        // Settings are often links into a repository of dot files.
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let directory = target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let temporary = directory.join(format!(".{name}.{}.lictor", std::process::id()));
        let written = write(&temporary, after, &target).and_then(|()| fs::rename(&temporary, &target));
        if written.is_err() {
            // Nothing more can be done about a left-over file.
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

fn write(temporary: &Path, text: &str, like: &Path) -> io::Result<()> {
    let mut file = fs::File::create(temporary)?;
    file.write_all(text.as_bytes())?;
    if let Ok(metadata) = fs::metadata(like) {
        file.set_permissions(metadata.permissions())?;
    }
    file.sync_all()
}

/// The file's text; `None` when there is no file.
fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
