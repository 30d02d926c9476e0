//! The keys that seal a store. They are never stored in the store itself.
//!
//! Seals are keyed BLAKE3. The chain itself is SHA-256, which an auditor can check with any tool; only a holder of the
//! key can check a seal, and a hook makes and checks several of them over kilobytes.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use lictor_core::Digest;

/// A key file has a few lines; a longer file is not a key file.
const MOST_BYTES: u64 = 64 * 1024;

/// Names a key without telling anything about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub(crate) [u8; 4]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A secret of 32 bytes with which records and entries are sealed.
#[derive(Clone)]
pub struct RecordKey {
    id: KeyId,
    secret: [u8; 32],
}

impl fmt::Debug for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl RecordKey {
    /// The key with these bytes.
    #[must_use]
    pub fn from_bytes(secret: [u8; 32]) -> Self {
        let mut key = Self { id: KeyId([0; 4]), secret };
        let name = key.tag([b"lictor.key-id.2".as_slice()]);
        key.id = KeyId(name.as_bytes().first_chunk().copied().unwrap_or_default());
        key
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// A seal over these parts, for data outside the store. A seal is valid only for its purpose.
    #[must_use]
    pub fn seal_of(&self, purpose: &str, parts: &[&[u8]]) -> Digest {
        let head = [b"lictor.beside.2".as_slice(), purpose.as_bytes()];
        self.tag(head.into_iter().chain(parts.iter().copied()))
    }

    /// Keyed BLAKE3 over these parts, each preceded by its length as eight big-endian bytes.
    pub(crate) fn tag<'a>(&self, parts: impl IntoIterator<Item = &'a [u8], IntoIter: Clone>) -> Digest {
        // In one piece: the hash processes several blocks of one buffer at a time, but separate updates one by
        // one.
        let parts = parts.into_iter();
        let length = parts.clone().map(|part| part.len().saturating_add(8)).fold(0, usize::saturating_add);
        let mut all = Vec::with_capacity(length);
        for part in parts {
            all.extend_from_slice(&(part.len() as u64).to_be_bytes());
            all.extend_from_slice(part);
        }
        Digest::from_bytes(blake3::keyed_hash(&self.secret, &all).into())
    }
}

/// The current key and earlier ones, so that older seals can still be checked.
#[derive(Debug, Clone)]
pub struct Keyring {
    current: RecordKey,
    older: Vec<RecordKey>,
}

/// Why keys cannot be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("cannot use the key file `{file}`: {source}; it must be a regular file of this user")]
    Io {
        /// The file.
        file: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// Others may read it, or it is no plain file.
    #[error("the key file `{file}` {what}; run `chmod 600 {file}`, or remove it if it is not yours")]
    Unsafe {
        /// The file.
        file: PathBuf,
        /// The problem.
        what: &'static str,
    },
    /// It holds something else.
    #[error(
        "line {line} of the key file `{file}` is not a key of 64 hexadecimal digits; restore it from a copy"
    )]
    NotAKey {
        /// The file.
        file: PathBuf,
        /// Which line; 1 for an empty file.
        line: usize,
    },
}

impl Keyring {
    /// One key.
    #[must_use]
    pub fn of(current: RecordKey) -> Self {
        Self { current, older: Vec::new() }
    }

    /// The key that seals.
    #[must_use]
    pub fn current(&self) -> &RecordKey {
        &self.current
    }

    /// The key with this name.
    #[must_use]
    pub fn get(&self, id: KeyId) -> Option<&RecordKey> {
        std::iter::once(&self.current).chain(&self.older).find(|key| key.id == id)
    }

    /// The keys in `file`, one of 64 hexadecimal digits per line, the newest last. A missing file is created with
    /// one new key; the second value is whether it was. Only then may an unsealed store be
    /// [adopted](crate::SqliteOptions::adopt).
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn load_or_create(file: &Path) -> Result<(Self, bool), KeyError> {
        match Self::load(file) {
            Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let made = create(file, &[line(&random(file)?)])?;
                Ok((Self::load(file)?, made))
            }
            loaded => Ok((loaded?, false)),
        }
    }

    /// The keys in `file`.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn load(file: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::Io { file: file.to_owned(), source };
        let nofollow = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(nofollow.bits()).unwrap_or_default();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(file).map_err(failed)?;
        let meta = opened.metadata().map_err(failed)?;
        let refuse = |what| KeyError::Unsafe { file: file.to_owned(), what };
        if !meta.is_file() {
            return Err(refuse("is not a regular file"));
        }
        if meta.mode() & 0o077 != 0 {
            return Err(refuse("can be read by others"));
        }
        let mut text =
            String::with_capacity(usize::try_from(meta.len().min(MOST_BYTES)).unwrap_or_default() + 1);
        opened.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
        let bad = |line| KeyError::NotAKey { file: file.to_owned(), line };
        let mut keys = Vec::new();
        for (index, digits) in text.lines().enumerate() {
            let digest: Digest = digits.parse().map_err(|_| bad(index + 1))?;
            keys.push(RecordKey::from_bytes(*digest.as_bytes()));
        }
        let current = keys.pop().ok_or_else(|| bad(1))?;
        Ok(Self { current, older: keys })
    }

    /// Adds a new key to `file`; the next writer reseals the whole store with it.
    ///
    /// # Errors
    /// See [`KeyError`]; the file is then unchanged.
    pub fn rotate(file: &Path) -> Result<Self, KeyError> {
        Self::load(file)?;
        let failed = |source| KeyError::Io { file: file.to_owned(), source };
        let mut text = fs::read_to_string(file).map_err(failed)?;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let draft = draft(file);
        write(&draft, &[text, line(&random(file)?)]).map_err(failed)?;
        fs::rename(&draft, file).map_err(failed)?;
        Self::load(file)
    }
}

fn line(bytes: &[u8; 32]) -> String {
    format!("{}\n", Digest::from_bytes(*bytes))
}

fn random(file: &Path) -> Result<[u8; 32], KeyError> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(|source| KeyError::Io { file: file.to_owned(), source })?;
    Ok(bytes)
}

/// A random unique name, for machines.
///
/// # Errors
/// When the system has no random numbers.
pub fn random_name() -> io::Result<String> {
    let mut bytes = [0; 6];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn draft(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    file.with_file_name(format!(".{name}.{}.new", std::process::id()))
}

fn write(file: &Path, parts: &[String]) -> io::Result<()> {
    let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    parts.iter().try_for_each(|part| out.write_all(part.as_bytes()))?;
    out.sync_all()
}

/// Creates the file atomically; if another process was faster, its keys count. Returns whether ours do.
fn create(file: &Path, parts: &[String]) -> Result<bool, KeyError> {
    let draft = draft(file);
    let linked = write(&draft, parts).and_then(|()| fs::hard_link(&draft, file));
    let _ = fs::remove_file(&draft);
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(KeyError::Io { file: file.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests;
