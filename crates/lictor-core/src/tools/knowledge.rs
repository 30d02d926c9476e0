use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::facts::{Access, Effect, Facts, Place};

/// How many files a session remembers having seen. Beyond that the one seen longest ago is forgotten, and has to be
/// read again.
pub const FILES_KEPT: usize = 2048;

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
    /// What an action that succeeded has shown or written. `facts` are taken after the action.
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

/// One file is one file, whichever way it was named.
pub(super) fn identity(place: &Place) -> &str {
    place.real.as_deref().unwrap_or(&place.path)
}

/// The files a session knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KnownFiles {
    files: BTreeMap<String, Known>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Digest>,
    /// When, as the number of actions judged by then.
    at: u64,
}

impl KnownFiles {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// More is known.
    pub fn learn(&mut self, knowledge: &[Knowledge], at: u64) {
        for item in knowledge {
            self.files.insert(item.path.clone(), Known { content: item.content, at });
        }
        while self.files.len() > FILES_KEPT {
            let oldest = self.files.iter().min_by_key(|(_, known)| known.at).map(|(path, _)| path.clone());
            let Some(oldest) = oldest else { break };
            self.files.remove(&oldest);
        }
    }

    /// What is known of a file: `None` nothing, otherwise its content when it was seen.
    #[must_use]
    pub fn content(&self, path: &str) -> Option<Option<Digest>> {
        self.files.get(path).map(|known| known.content)
    }
}
