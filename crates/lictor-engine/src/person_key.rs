//! The key that signs a person's approvals. It is stored outside of projects and sandboxes and created at first
//! use.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use lictor_core::{CheckSeal, Seal, Sign};

/// The secret half, 64 hexadecimal digits.
const SECRET: &str = "approval.key";
/// The public half, 64 hexadecimal digits.
const PUBLIC: &str = "approval.pub";
/// Both files are one line.
const MOST_BYTES: u64 = 256;

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It cannot be read or written.
    #[error("cannot use the key `{file}`: {source}")]
    Io {
        /// The file.
        file: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// Other users could read or change it, or it is not a key.
    #[error("the key `{file}` {what}; move the directory away, and a new key is made at the next approval")]
    Unusable {
        /// The file.
        file: PathBuf,
        /// The problem.
        what: &'static str,
    },
}

/// Signs in a person's name.
pub struct PersonKey(SigningKey);

impl fmt::Debug for PersonKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PersonKey").field(&digits(self.0.verifying_key().as_bytes())).finish()
    }
}

impl PersonKey {
    /// The key in this directory. Created if missing.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn open_or_create(directory: &Path) -> Result<Self, KeyError> {
        let secret = directory.join(SECRET);
        let bytes = match read(&secret) {
            Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                create(directory, &secret)?;
                read(&secret)?
            }
            read => read?,
        };
        let key = Self(SigningKey::from_bytes(&bytes));
        let public = directory.join(PUBLIC);
        let line = format!("{}\n", digits(key.0.verifying_key().as_bytes()));
        match read(&public) {
            Ok(known) if known == *key.0.verifying_key().as_bytes() => {}
            Ok(_) => {
                return Err(KeyError::Unusable { file: public, what: "does not belong to its secret half" });
            }
            Err(_) => write_new(&public, &line).map_err(|source| KeyError::Io { file: public, source })?,
        }
        Ok(key)
    }
}

impl Sign for PersonKey {
    fn sign(&self, message: &[u8]) -> Seal {
        Seal {
            key: digits(self.0.verifying_key().as_bytes()),
            signature: digits(&self.0.sign(message).to_bytes()),
        }
    }
}

/// Signs with the key in a directory, which is opened or created for each signature. On failure it returns an
/// invalid seal.
#[derive(Debug, Clone)]
pub struct PersonSigner(PathBuf);

impl PersonSigner {
    /// With the key in that directory.
    #[must_use]
    pub fn in_directory(directory: PathBuf) -> Self {
        Self(directory)
    }
}

impl Sign for PersonSigner {
    fn sign(&self, message: &[u8]) -> Seal {
        let nobody = || Seal { key: String::new(), signature: String::new() };
        PersonKey::open_or_create(&self.0).map_or_else(|_| nobody(), |key| key.sign(message))
    }
}

/// Checks the signatures of the person whose key is in a directory. The key is read when a signature is checked.
#[derive(Debug, Clone)]
pub struct PersonSeals(PathBuf);

impl PersonSeals {
    /// Those by the key in that directory.
    #[must_use]
    pub fn in_directory(directory: PathBuf) -> Self {
        Self(directory)
    }
}

impl CheckSeal for PersonSeals {
    fn is_theirs(&self, message: &[u8], seal: &Seal) -> bool {
        let known = read(&self.0.join(PUBLIC)).is_ok_and(|key| seal.key == digits(&key));
        known && is_signed(message, seal)
    }
}

/// Whether the key that a seal names has signed these bytes. The caller must know whose key it is.
#[must_use]
pub fn is_signed(message: &[u8], seal: &Seal) -> bool {
    let checked = || {
        let key = VerifyingKey::from_bytes(&from_digits::<32>(&seal.key)?).ok()?;
        let signature = Signature::from_bytes(&from_digits::<64>(&seal.signature)?);
        key.verify_strict(message, &signature).ok()
    };
    checked().is_some()
}

/// Thirty-two bytes of a private regular file.
fn read(file: &Path) -> Result<[u8; 32], KeyError> {
    let failed = |source| KeyError::Io { file: file.to_owned(), source };
    let unusable = |what| KeyError::Unusable { file: file.to_owned(), what };
    let opened = OpenOptions::new().read(true).custom_flags(NOT_BLOCKING).open(file).map_err(failed)?;
    let meta = opened.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Err(unusable("is not a regular file"));
    }
    if meta.mode() & 0o077 != 0 || meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(unusable("is not this user's alone"));
    }
    let mut text = String::new();
    opened.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
    from_digits(text.trim_end()).ok_or_else(|| unusable("does not hold 64 hexadecimal digits"))
}

/// Opens without blocking on a fifo and without following links.
const NOT_BLOCKING: i32 = {
    let flags = rustix::fs::OFlags::NONBLOCK.union(rustix::fs::OFlags::NOFOLLOW);
    flags.bits().cast_signed()
};

fn create(directory: &Path, secret: &Path) -> Result<(), KeyError> {
    let failed = |file: &Path| {
        let file = file.to_owned();
        move |source| KeyError::Io { file, source }
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed(directory))?;
    let mut seed = [0; 32];
    File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut seed)).map_err(failed(secret))?;
    match write_new(secret, &format!("{}\n", digits(&seed))) {
        // Another process was faster; its key is used.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        written => written.map_err(failed(secret)),
    }
}

/// Creates a file atomically, unless it exists.
fn write_new(file: &Path, text: &str) -> io::Result<()> {
    let draft = file.with_extension(format!("{}.new", std::process::id()));
    let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    let linked = out
        .write_all(text.as_bytes())
        .and_then(|()| out.sync_all())
        .and_then(|()| fs::hard_link(&draft, file));
    let _ = fs::remove_file(&draft);
    linked
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_digits<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
