//! The interface to the machine.

mod fake;
mod real;

use lictor_core::Digest;

pub use fake::FakeObserver;
pub use real::RealObserver;

/// What exists at a path, without following links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// A regular file.
    File {
        /// Without content.
        empty: bool,
    },
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, socket or fifo.
    Special,
    /// Nothing.
    Missing,
    /// Looking failed.
    Unknown,
}

/// The metadata of a regular file that git's index contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The lower 32 bits of its size.
    pub size: u32,
    /// When its content last changed: seconds (lower 32 bits) and nanoseconds.
    pub modified: (u32, u32),
    /// When it last changed in any way.
    pub changed: (u32, u32),
}

/// The identity of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The volume.
    pub device: u64,
    /// The file's number there.
    pub inode: u64,
    /// How many names it has.
    pub links: u64,
    /// Its length in bytes.
    pub size: u64,
}

/// Names in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// The entries, without `.` and `..`.
    pub names: Vec<String>,
    /// There were more than asked for, or some are not UTF-8.
    pub cut: bool,
}

/// The machine, as far as facts depend on it. Paths are absolute. Results must not change during one evaluation.
pub trait Observer {
    /// What exists at a path, without following links.
    fn look(&self, path: &str) -> Seen;
    /// Where a symbolic link points, as stored.
    fn link(&self, path: &str) -> Option<String>;
    /// The entries of a directory, at most `limit`.
    fn names(&self, directory: &str, limit: usize) -> Option<Names>;
    /// The digest of a regular file's content; `None` when it is longer than `limit` bytes or cannot be read.
    fn content(&self, path: &str, limit: usize) -> Option<Digest>;
    /// The content of a regular file; `None` when it is longer than `limit` bytes or cannot be read.
    fn bytes(&self, path: &str, limit: usize) -> Option<Vec<u8>>;
    /// At most `length` bytes of a regular file, from a place in it on.
    fn part(&self, path: &str, from: u64, length: usize) -> Option<Vec<u8>>;
    /// Size and times of a regular file, links not followed; `None` when it is none.
    fn stat(&self, path: &str) -> Option<Stat>;
    /// The identity of the regular file at a path, following links; `None` if there is none.
    fn identity(&self, path: &str) -> Option<Identity>;
    /// Whether two regular files have the same content.
    fn same_content(&self, one: &str, other: &str) -> bool;
    /// The program that is running, when it is Lictor.
    fn program(&self) -> Option<String>;
    /// The text of a file, `None` when it is longer than `limit` bytes or not UTF-8.
    fn text(&self, path: &str, limit: usize) -> Option<String>;
    /// An environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// The home directory of a user of this machine.
    fn home_of(&self, user: &str) -> Option<String>;
    /// The paths by which the running program is known: its location, and how it was started.
    fn programs(&self) -> Vec<String> {
        Vec::new()
    }
    /// Whether the volume of that path takes `A` and `a` for the same name.
    fn folds_case(&self, path: &str) -> bool;
}
