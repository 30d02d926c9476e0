//! Reads untrusted files: a fifo, a device or an endless file must not block a hook.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Larger than any program or script that a policy names.
pub(crate) const PROGRAM: u64 = 256 * 1024 * 1024;

const NOT_BLOCKING: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// Opens a regular file for reading, and returns its length.
///
/// # Errors
/// When it is not a regular file, or cannot be opened.
pub(crate) fn open(file: &Path) -> io::Result<(File, u64)> {
    regular(OpenOptions::new().read(true).custom_flags(NOT_BLOCKING).open(file)?)
}

/// Opens a regular file for appending, created for this user alone if missing.
///
/// # Errors
/// As [`open`].
pub(crate) fn append(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    regular(options.append(true).create(true).mode(0o600).custom_flags(NOT_BLOCKING).open(file)?)
        .map(|(file, _)| file)
}

fn regular(opened: File) -> io::Result<(File, u64)> {
    let found = opened.metadata()?;
    if found.is_file() {
        Ok((opened, found.len()))
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// The content of a regular file.
///
/// # Errors
/// As [`open`], and when it is longer than `most` bytes.
pub(crate) fn read(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (opened, length) = open(file)?;
    let mut bytes =
        Vec::with_capacity(usize::try_from(length.min(most)).unwrap_or_default().saturating_add(1));
    opened.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is longer than {most} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_that_size_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("a"), "12345").unwrap();
        assert_eq!(read(&at("a"), 5).unwrap(), b"12345");
        assert!(read(&at("a"), 4).unwrap_err().to_string().contains("longer than 4 bytes"));
        assert!(std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
        for special in [at("fifo"), "/dev/zero".into(), directory.path().to_owned()] {
            assert!(read(&special, 5).unwrap_err().to_string().contains("not a regular file"), "{special:?}");
        }
        assert!(append(&at("fifo")).is_err());
        assert!(append(&at("new")).is_ok());
    }
}
