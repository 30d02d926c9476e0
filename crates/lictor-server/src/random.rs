//! Random secrets and ids.

use std::fs::File;
use std::io::{self, Read as _};

/// So many random bytes.
pub(crate) fn bytes(count: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; count];
    File::open("/dev/urandom")?.read_exact(&mut buffer)?;
    Ok(buffer)
}

/// So many random bytes as lower-case hexadecimal digits.
pub(crate) fn hex(count: usize) -> io::Result<String> {
    Ok(bytes(count)?.iter().map(|byte| format!("{byte:02x}")).collect())
}
