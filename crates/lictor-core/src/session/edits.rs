//! The files that a session edits, each with its successive contents.
//!
//! Between two contents of a file, only the session has changed it. As long as the file still holds the last one,
//! restoring any earlier one loses only the session's own work.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::decision::Decision;
use crate::digest::Digest;
use crate::event::{Happened, Judgement, Standing};
use crate::tools::Group;

/// How many files of one group are remembered. Beyond that the least recently edited one is dropped.
const GROUP_KEPT: usize = 16;
/// How many contents of one file: the first one, and the newest others.
const CONTENTS_KEPT: usize = 16;
/// How many bytes of a path's digest are stored.
const PATH: usize = 16;
/// The format version: the first byte of a stored group.
const FORM: u8 = 1;

/// The content of a file, as its git blob id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Blob([u8; 20]);

impl Blob {
    /// There is no file.
    pub const MISSING: Self = Self([0; 20]);

    /// From git's own bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }
}

impl Serialize for Blob {
    /// Hexadecimal digits in readable formats, raw bytes otherwise.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return self.0.serialize(serializer);
        }
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        serializer.serialize_str(&digits)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return <[u8; 20]>::deserialize(deserializer).map(Self);
        }
        let digits = String::deserialize(deserializer)?;
        let wrong = || de::Error::custom("not the name of a blob: 40 hexadecimal digits are needed");
        let mut bytes = [0; 20];
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return Err(wrong());
        }
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

/// The content of an edited file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Absolute path, no link among its parts.
    pub path: String,
    /// Its content; `None` when it could not be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Blob>,
}

/// The files that a session and its subagents have edited, in groups, so that a store reads and writes only the
/// groups that an action concerns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    groups: BTreeMap<Group, Vec<Edited>>,
    /// Changed since the groups were restored.
    changed: bool,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Edited {
    /// The start of its path's digest.
    path: [u8; PATH],
    /// Its contents, oldest first.
    contents: Vec<Blob>,
}

/// Bytes that are no group of edited files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a group of edited files")]
pub struct NotEdits;

impl Edits {
    /// Records the contents before an edit, when it is judged. For an `ask` they are not recorded: the files may
    /// change while a person is asked.
    pub(super) fn judged(&mut self, judgement: &Judgement) {
        if judgement.dry || judgement.duplicate || !judgement.may_happen() {
            return;
        }
        for FileState { path, content } in &judgement.found {
            let content = content.filter(|_| judgement.decision != Decision::Ask);
            if self.contents(path).last().copied() != content {
                self.set(path, content.into_iter().collect());
            }
        }
    }

    /// Records the contents after an edit.
    pub(super) fn happened(&mut self, happened: &Happened) {
        if happened.standing != Standing::Governed || !happened.outcome.success {
            return;
        }
        for FileState { path, content } in &happened.left {
            let mut contents = self.contents(path).to_vec();
            // Its content before the edit is unknown, or another process has changed it since.
            if contents.is_empty() || contents.last() == content.as_ref() {
                continue;
            }
            match content {
                Some(content) => contents.push(*content),
                None => contents.clear(),
            }
            if contents.len() > CONTENTS_KEPT {
                contents.remove(1);
            }
            self.set(path, contents);
        }
    }

    /// The contents of a file that only the session has changed since the first of them, newest last.
    #[must_use]
    pub fn contents(&self, path: &str) -> &[Blob] {
        let (group, path) = place(path);
        let files = self.groups.get(&group).into_iter().flatten();
        files.filter(|file| file.path == path).map(|file| file.contents.as_slice()).next().unwrap_or_default()
    }

    fn set(&mut self, path: &str, contents: Vec<Blob>) {
        let (group, path) = place(path);
        let files = self.groups.entry(group).or_default();
        files.retain(|file| file.path != path);
        if !contents.is_empty() {
            files.push(Edited { path, contents });
        }
        if files.len() > GROUP_KEPT {
            files.remove(0);
        }
        self.changed = true;
    }

    /// The groups as bytes, if they have changed.
    pub fn changed(&self) -> impl Iterator<Item = (Group, Vec<u8>)> {
        let groups = self.groups.iter().filter(|_| self.changed);
        groups.filter_map(|(group, files)| Some((*group, postcard::to_extend(files, vec![FORM]).ok()?)))
    }

    /// Restores a group from the bytes of [`changed`](Self::changed).
    ///
    /// # Errors
    /// When the bytes are not a group.
    pub fn restore(&mut self, group: Group, bytes: &[u8]) -> Result<(), NotEdits> {
        let Some((&FORM, files)) = bytes.split_first() else { return Err(NotEdits) };
        self.groups.insert(group, postcard::from_bytes(files).map_err(|_| NotEdits)?);
        Ok(())
    }
}

/// The group of a file, and the short digest of its path.
fn place(path: &str) -> (Group, [u8; PATH]) {
    let digest = Digest::of(path.as_bytes());
    let start = digest.as_bytes().first_chunk().copied().unwrap_or_default();
    (Group::of(path), start)
}

#[cfg(test)]
mod tests;
