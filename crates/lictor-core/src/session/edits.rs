//! Files that a session edits, each with the contents that it took it through.
//!
//! From one content of a file to the next, only the session has changed it. Whoever puts back any of them loses nothing
//! but the session's own work, as long as the file still holds the last one.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::decision::Decision;
use crate::digest::Digest;
use crate::event::{Happened, Judgement, Standing};
use crate::tools::Group;

/// How many files of one group are remembered. Beyond that the one edited longest ago is forgotten.
const GROUP_KEPT: usize = 16;
/// How many contents of one file: the first one, and the newest others.
const CONTENTS_KEPT: usize = 16;
/// How many bytes of a path's digest stand for it.
const PATH: usize = 16;
/// The first byte of a stored group. Another form gets another one.
const FORM: u8 = 1;

/// What a file holds, by the name that git gives such a content.
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
    /// As hexadecimal digits for people, as the bytes themselves otherwise.
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

/// What an edited file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Absolute path, no link among its parts.
    pub path: String,
    /// Its content; `None` when that could not be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Blob>,
}

/// The files that a session and those below it have edited, in groups, so that a store reads and writes only the groups
/// of those files that an action is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    groups: BTreeMap<Group, Vec<Edited>>,
    /// Something was learned since the groups were put back.
    changed: bool,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Edited {
    /// The start of its path's digest.
    path: [u8; PATH],
    /// What it held, the oldest first.
    contents: Vec<Blob>,
}

/// Bytes that are no group of edited files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a group of edited files")]
pub struct NotEdits;

impl Edits {
    /// An edit was judged: what its files hold before it. While a person is asked about it, anybody may change them.
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

    /// An edit has happened: what its files hold after it.
    pub(super) fn happened(&mut self, happened: &Happened) {
        if happened.standing != Standing::Governed || !happened.outcome.success {
            return;
        }
        for FileState { path, content } in &happened.left {
            let mut contents = self.contents(path).to_vec();
            // What it held before is not known, or who changed it since.
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

    /// The contents of a file that nobody else has changed since the first of them, the newest last.
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

    /// The groups as bytes, if there is something new in them.
    pub fn changed(&self) -> impl Iterator<Item = (Group, Vec<u8>)> {
        let groups = self.groups.iter().filter(|_| self.changed);
        groups.filter_map(|(group, files)| Some((*group, postcard::to_extend(files, vec![FORM]).ok()?)))
    }

    /// Puts a group back as [`changed`](Self::changed) gave it.
    ///
    /// # Errors
    /// When it cannot be one.
    pub fn restore(&mut self, group: Group, bytes: &[u8]) -> Result<(), NotEdits> {
        let Some((&FORM, files)) = bytes.split_first() else { return Err(NotEdits) };
        self.groups.insert(group, postcard::from_bytes(files).map_err(|_| NotEdits)?);
        Ok(())
    }
}

/// The group of a file, and what stands for its path there.
fn place(path: &str) -> (Group, [u8; PATH]) {
    let digest = Digest::of(path.as_bytes());
    let start = digest.as_bytes().first_chunk().copied().unwrap_or_default();
    (Group::of(path), start)
}

#[cfg(test)]
mod tests;
