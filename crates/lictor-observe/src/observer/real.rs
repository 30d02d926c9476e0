use lictor_core::Digest;
use std::io::{Read, Seek as _};

use super::{Identity, Names, Observer, Seen, Stat};
use crate::place::tidy;

/// The machine that Lictor runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealObserver;

impl Observer for RealObserver {
    fn look(&self, path: &str) -> Seen {
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => Seen::Link,
            Ok(found) if found.is_dir() => Seen::Directory,
            Ok(found) if found.is_file() => Seen::File { empty: found.len() == 0 },
            Ok(_) => Seen::Special,
            Err(error) => match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Seen::Missing,
                _ => Seen::Unknown,
            },
        }
    }

    fn link(&self, path: &str) -> Option<String> {
        std::fs::read_link(path).ok()?.into_os_string().into_string().ok()
    }

    fn names(&self, directory: &str, limit: usize) -> Option<Names> {
        let mut found = Names::default();
        for entry in std::fs::read_dir(directory).ok()? {
            if found.names.len() >= limit {
                found.cut = true;
                break;
            }
            match entry.ok().and_then(|entry| entry.file_name().into_string().ok()) {
                Some(name) => found.names.push(name),
                None => found.cut = true,
            }
        }
        found.names.sort_unstable();
        Some(found)
    }

    fn content(&self, path: &str, limit: usize) -> Option<Digest> {
        Some(Digest::of(&self.bytes(path, limit)?))
    }

    fn bytes(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        let (mut file, length) = regular(path, limit)?;
        // One more, so that the end is seen without another try to grow.
        let mut bytes = Vec::with_capacity(length.saturating_add(1));
        file.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn part(&self, path: &str, from: u64, length: usize) -> Option<Vec<u8>> {
        if !std::fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let mut file = std::fs::File::open(path).ok()?;
        file.seek(std::io::SeekFrom::Start(from)).ok()?;
        let mut bytes = Vec::new();
        file.take(u64::try_from(length).ok()?).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    #[cfg(unix)]
    fn stat(&self, path: &str) -> Option<Stat> {
        use std::os::unix::fs::MetadataExt as _;
        let meta = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        // Git keeps the lower 32 bits of everything.
        let low = |number: i64| u32::try_from(number & 0xffff_ffff).unwrap_or_default();
        Some(Stat {
            size: u32::try_from(meta.size() & 0xffff_ffff).unwrap_or_default(),
            modified: (low(meta.mtime()), low(meta.mtime_nsec())),
            changed: (low(meta.ctime()), low(meta.ctime_nsec())),
        })
    }

    #[cfg(not(unix))]
    fn stat(&self, _path: &str) -> Option<Stat> {
        None
    }

    #[cfg(unix)]
    fn identity(&self, path: &str) -> Option<Identity> {
        use std::os::unix::fs::MetadataExt as _;
        let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        Some(Identity { device: meta.dev(), inode: meta.ino(), links: meta.nlink(), size: meta.size() })
    }

    #[cfg(not(unix))]
    fn identity(&self, _path: &str) -> Option<Identity> {
        None
    }

    fn same_content(&self, one: &str, other: &str) -> bool {
        same_bytes(one, other).unwrap_or(false)
    }

    fn program(&self) -> Option<String> {
        let path = std::env::current_exe().ok()?;
        // An interpreter that embeds the library is not the program.
        let ours = path.file_name()?.to_str()?.starts_with("lictor");
        ours.then(|| path.into_os_string().into_string().ok()).flatten()
    }

    fn text(&self, path: &str, limit: usize) -> Option<String> {
        String::from_utf8(self.bytes(path, limit)?).ok()
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn home_of(&self, user: &str) -> Option<String> {
        let users = self.text("/etc/passwd", 1 << 20)?;
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            (fields.next() == Some(user)).then(|| fields.nth(4).map(str::to_owned)).flatten()
        })
    }

    fn programs(&self) -> Vec<String> {
        let lies = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok());
        let called = std::env::args_os().next().and_then(|path| path.into_string().ok());
        let called = called.filter(|path| path.starts_with('/')).map(|path| tidy("/", &path));
        // A program that was replaced while it runs; the new one is at the same path.
        let lies = lies.map(|path| path.strip_suffix(" (deleted)").map(str::to_owned).unwrap_or(path));
        let mut known: Vec<String> = lies.into_iter().chain(called).collect();
        known.dedup();
        known
    }

    fn folds_case(&self, _path: &str) -> bool {
        cfg!(any(target_os = "macos", target_os = "windows"))
    }
}

/// A regular file of at most `limit` bytes, and how many it has. A fifo or device must not be opened: it could hang the hook.
fn regular(path: &str, limit: usize) -> Option<(impl Read, usize)> {
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > limit as u64 {
        return None;
    }
    let length = usize::try_from(meta.len()).ok()?;
    Some((std::fs::File::open(path).ok()?.take(limit as u64), length))
}

/// Compares two files piece by piece: what differs differs early.
fn same_bytes(one: &str, other: &str) -> std::io::Result<bool> {
    const PIECE: u64 = 64 * 1024;
    let (mut one, mut other) = (std::fs::File::open(one)?, std::fs::File::open(other)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        one.by_ref().take(PIECE).read_to_end(&mut left)?;
        other.by_ref().take(PIECE).read_to_end(&mut right)?;
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}
