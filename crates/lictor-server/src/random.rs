//! Secrets and ids that nobody can guess.

use std::fs::File;
use std::io::{self, Read as _};

/// So many random bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: usize) -> io::Result<String> {
    let mut buffer = vec![0; bytes];
    File::open("/dev/urandom")?.read_exact(&mut buffer)?;
    Ok(buffer.iter().map(|byte| format!("{byte:02x}")).collect())
}
