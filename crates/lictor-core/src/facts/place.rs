use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// The zone of a path, as policies distinguish it. The narrowest matching zone is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// The project's root directory itself.
    ProjectRoot,
    /// The project's `.git` directory or something in it (also of linked worktrees and submodules).
    GitDir,
    /// Inside the project.
    Project,
    /// Inside `/tmp`, `/var/tmp`, or `$TMPDIR` when that literally is a temporary directory.
    Temp,
    /// A temporary directory itself (`/tmp`), not something in it.
    TempRoot,
    /// The user's home directory itself, or `/home`, `/Users`, `/root`.
    HomeRoot,
    /// Inside the user's home directory, outside the project.
    Home,
    /// `/` itself.
    Root,
    /// A system tree (`/etc`, `/usr`, `/bin`, `/var`, `/boot`, `/System`, …) or something in it.
    System,
    /// A device file that can cause damage (`/dev/sda`, `/dev/mem`).
    Device,
    /// `/dev/{null,zero,random,urandom,stdin,stdout,stderr,tty,fd/*}`.
    HarmlessDevice,
    /// Another absolute place, none of the above.
    Outside,
    /// The path could not be resolved (`$X/y`), so it may be anywhere.
    Unknown,
}

impl Zone {
    /// Inside the project, not its root and not its `.git`.
    #[must_use]
    pub fn is_inside_project(self) -> bool {
        self == Self::Project
    }

    /// A temporary directory's content.
    #[must_use]
    pub fn is_temp(self) -> bool {
        self == Self::Temp
    }
}

/// What was at the path when Lictor looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Existence {
    /// A regular file, empty.
    EmptyFile,
    /// A regular file with content.
    File,
    /// A directory.
    Directory,
    /// Something else: device, socket, fifo.
    Special,
    /// Nothing.
    Missing,
    /// Not inspected, or the inspection failed.
    Unknown,
}

/// A path operand, resolved on the file system.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// As the action wrote it.
    pub text: String,
    /// Absolute, `.` and `..` removed, relative paths resolved against the action's cwd. For a glob: its longest
    /// fixed directory. Empty when unknown (`zone` is then `Unknown`).
    pub path: String,
    /// The same with symbolic links followed, when that is a different path. A guard must allow both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real: Option<String>,
    /// Zone of `path`.
    pub zone: Zone,
    /// Zone of `real`, or the same as `zone`.
    pub real_zone: Zone,
    /// What exists there now.
    pub existence: Existence,
    /// A digest of its content, if a check needs to detect changes and the file is not too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Digest>,
    /// The word is a glob or brace list: it matches any number of entries below `path`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub glob: bool,
    /// Path relative to the project root when inside it (`src/main.rs`), else `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_project: Option<String>,
    /// A file that governs Lictor itself: policy files, store, agent settings, hook files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// The path names a secret: private key, `.env`, cloud credentials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// Its whole content is committed or untracked, so restoring it loses nothing. Only determined for
    /// [`Access::Restore`](super::Access::Restore).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub committed: bool,
    /// The path is malformed: empty, with a NUL, not UTF-8, or a device/UNC form. Always blocked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub malformed: bool,
}

impl Place {
    /// A place of which only the text is known.
    #[must_use]
    pub fn unknown(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            path: String::new(),
            real: None,
            zone: Zone::Unknown,
            real_zone: Zone::Unknown,
            existence: Existence::Unknown,
            content: None,
            glob: false,
            in_project: None,
            own: false,
            secret: false,
            committed: false,
            malformed: false,
        }
    }

    /// A regular file of the project at `root`, with its path relative to it, not reached through a link.
    #[must_use]
    pub fn project_file(root: &str, path: &str) -> Self {
        Self {
            path: format!("{root}/{path}"),
            zone: Zone::Project,
            real_zone: Zone::Project,
            existence: Existence::File,
            in_project: Some(path.to_owned()),
            ..Self::unknown(path)
        }
    }

    /// Both zones: that of the path as written and that of the link target.
    #[must_use]
    pub fn zones(&self) -> [Zone; 2] {
        [self.zone, self.real_zone]
    }

    /// Whether it is exactly this file, by its absolute or project-relative path, and not a link to another.
    #[must_use]
    pub fn is_named(&self, file: &str) -> bool {
        let named = match file.starts_with('/') {
            true => Some(self.real.as_ref().unwrap_or(&self.path)),
            false => self.in_project.as_ref().filter(|_| self.real.is_none()),
        };
        !self.glob && named.is_some_and(|named| named == file)
    }

    /// Both paths that must be allowed.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.path.as_str()).chain(self.real.as_deref())
    }
}
