use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::facts::{Access, Effect, Facts, Place};

/// How many files of one group a session remembers. Beyond that the least recently seen one is dropped, and has
/// to be read again.
const GROUP_KEPT: usize = 16;
/// How many files a session remembers at most: there are 256 groups, and a hash assigns files to them.
pub const FILES_KEPT: usize = 256 * GROUP_KEPT;
/// How many digits of a path's digest are stored.
const PATH: usize = 16;
/// The placeholder for the content of a file that could not be read.
const UNREAD: &str = "----------------------------------------------------------------";
/// How long the text of one file is.
const FILE: usize = PATH + Digest::DIGITS;

/// A file whose content an agent has seen or written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Knowledge {
    /// Absolute path, links followed.
    pub path: String,
    /// Its content at that time; `None` when it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Digest>,
}

impl Knowledge {
    /// The files that a successful action has shown or written. `facts` are those after the action.
    #[must_use]
    pub fn gained(facts: &Facts) -> Vec<Self> {
        facts
            .effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::File { access, target, recursive: false, .. }
                    if tells_content(*access) && !target.glob =>
                {
                    Some(Self { path: identity(target).to_owned(), content: target.content })
                }
                _ => None,
            })
            .collect()
    }
}

fn tells_content(access: Access) -> bool {
    matches!(access, Access::Read | Access::Write | Access::Modify | Access::Append | Access::Empty)
}

/// The files that [`ReadBeforeWrite`](super::ReadBeforeWrite) checks before an action with these facts.
pub fn asked(facts: &Facts) -> impl Iterator<Item = &str> {
    facts.files().filter(|(access, _)| overwrites(*access)).map(|(_, place)| identity(place))
}

/// Whether this access requires the file to have been read.
pub(super) fn overwrites(access: Access) -> bool {
    matches!(access, Access::Write | Access::Modify | Access::Empty)
}

/// The canonical path, so that one file has one identity however it was named.
pub(super) fn identity(place: &Place) -> &str {
    place.real.as_deref().unwrap_or(&place.path)
}

/// The files whose content the agent knows, in groups, so that a store reads and writes only the groups that an
/// action concerns.
///
/// A group is one text, [`FILE`] characters per file, least recently seen first: some digits of the path's
/// digest, then those of the content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "BTreeMap<String, String>", try_from = "BTreeMap<String, String>")]
pub struct KnownFiles {
    groups: BTreeMap<Group, String>,
}

/// Which files are kept together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(u8);

/// A text that is not a group of known files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a group of known files")]
pub struct NotAGroup;

impl Group {
    /// That of a file.
    #[must_use]
    pub fn of(path: &str) -> Self {
        Self::of_digest(&Digest::of(path.as_bytes()))
    }

    fn of_digest(path: &Digest) -> Self {
        let [first, ..] = *path.as_bytes();
        Self(first)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}", self.0)
    }
}

impl FromStr for Group {
    type Err = NotAGroup;

    fn from_str(text: &str) -> Result<Self, NotAGroup> {
        let number = u8::from_str_radix(text, 16).map_err(|_| NotAGroup)?;
        if text.len() == 2 { Ok(Self(number)) } else { Err(NotAGroup) }
    }
}

impl From<KnownFiles> for BTreeMap<String, String> {
    fn from(files: KnownFiles) -> Self {
        files.groups.into_iter().map(|(group, text)| (group.to_string(), text)).collect()
    }
}

impl KnownFiles {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// More is known.
    pub fn learn(&mut self, knowledge: &[Knowledge]) {
        for Knowledge { path, content } in knowledge {
            let path = Digest::of(path.as_bytes());
            let text = self.groups.entry(Group::of_digest(&path)).or_default();
            let mut room = [0; Digest::DIGITS];
            let name = name(&path, &mut room);
            let known = find(text, name).map(|(place, _)| place);
            let full = text.len() >= GROUP_KEPT * FILE;
            if let Some(gone) = known.or(full.then_some(0)) {
                text.drain(gone..gone + FILE);
            }
            text.push_str(name);
            text.push_str(content.as_ref().map_or(UNREAD, |content| content.text(&mut room)));
        }
    }

    /// The content of a file when it was seen; `None` if the file is unknown.
    #[must_use]
    pub fn content(&self, path: &str) -> Option<Option<Digest>> {
        let path = Digest::of(path.as_bytes());
        let text = self.groups.get(&Group::of_digest(&path))?;
        let (_, content) = find(text, name(&path, &mut [0; Digest::DIGITS]))?;
        Some(content.parse().ok())
    }

    /// The groups that are not empty, each as a text.
    pub fn groups(&self) -> impl Iterator<Item = (Group, &str)> {
        self.groups.iter().map(|(group, text)| (*group, text.as_str()))
    }

    /// Restores a group from the text of [`groups`](Self::groups).
    ///
    /// # Errors
    /// When the text is not a group.
    pub fn restore(&mut self, group: Group, text: String) -> Result<(), NotAGroup> {
        let sound = text.is_ascii() && text.len().is_multiple_of(FILE) && text.len() <= GROUP_KEPT * FILE;
        if !sound {
            return Err(NotAGroup);
        }
        self.groups.insert(group, text);
        Ok(())
    }
}

/// The short digest of a path.
fn name<'a>(path: &Digest, room: &'a mut [u8; Digest::DIGITS]) -> &'a str {
    path.text(room).get(..PATH).unwrap_or_default()
}

/// The offset of a file in a group, and the digits of its content.
fn find<'a>(group: &'a str, name: &str) -> Option<(usize, &'a str)> {
    let places = (0..group.len()).step_by(FILE);
    places.filter_map(|place| Some((place, group.get(place..place + FILE)?))).find_map(|(place, file)| {
        let content = file.strip_prefix(name)?;
        Some((place, content))
    })
}

impl TryFrom<BTreeMap<String, String>> for KnownFiles {
    type Error = NotAGroup;

    fn try_from(groups: BTreeMap<String, String>) -> Result<Self, NotAGroup> {
        let mut files = Self::default();
        for (group, text) in groups {
            files.restore(group.parse()?, text)?;
        }
        Ok(files)
    }
}
