//! The history of a session, in constant space for each pattern that a policy refers to.
//!
//! A policy's patterns are known when it is loaded ([`History`]). For each action the engine computes which of
//! them it matches ([`History::marks`]) and writes that into the event; the session keeps one small [`Track`] per
//! pattern, so the cost of a history lookup does not grow with the number of events.
//!
//! Positions count judged actions. An outcome belongs to the position at which its action was judged, however
//! late it arrives; an action that may invalidate an earlier match does so until its outcome arrives.

mod past;
mod pattern;
#[cfg(test)]
mod reference;
mod times;

pub use past::{Past, RECENT_TIMES, Track, VALUES_KEPT};
pub use pattern::{Ended, Pattern, What};
pub use times::Times;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::facts::Facts;

/// The patterns that a policy asks the past about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    tracked: Vec<Tracked>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Tracked {
    pattern: Pattern,
    key: String,
    window: Option<u64>,
    /// The maximum count of matches within the window; `None`: the limit of a session.
    #[serde(default)]
    most: Option<u64>,
}

/// An action matches a pattern, as far as is known before its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mark {
    /// The pattern's canonical text.
    pub key: String,
    /// The outcome that the pattern requires; `None`: being allowed to run is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// The longest window, in milliseconds, over which matches are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The maximum count within the window; `None`: the limit of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
}

/// Serialises marks in a session's state, where every field is written.
pub(crate) mod marks {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Ended, Mark};

    pub(crate) fn serialize<S: Serializer>(marks: &Vec<Mark>, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return marks.serialize(serializer);
        }
        serializer.collect_seq(marks.iter().map(|mark| (&mark.key, mark.ended, mark.window, mark.most)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Mark>, D::Error> {
        if deserializer.is_human_readable() {
            return Vec::deserialize(deserializer);
        }
        type Written = (String, Option<Ended>, Option<u64>, Option<u64>);
        let marks = Vec::<Written>::deserialize(deserializer)?.into_iter();
        Ok(marks.map(|(key, ended, window, most)| Mark { key, ended, window, most }).collect())
    }
}

impl History {
    /// Tracks this pattern; counts over at most `window` milliseconds if given. Returns the key for lookups.
    pub fn track(&mut self, pattern: Pattern, window: Option<u64>) -> String {
        self.keep(pattern, window, None)
    }

    /// Counts matches of this pattern over at most `window` milliseconds, up to `most` if a higher count makes no
    /// difference. Returns the key for lookups.
    pub fn count(&mut self, pattern: Pattern, window: u64, most: Option<u64>) -> String {
        self.keep(pattern, Some(window), most)
    }

    fn keep(&mut self, pattern: Pattern, window: Option<u64>, most: Option<u64>) -> String {
        let key = pattern.to_string();
        match self.tracked.iter_mut().find(|tracked| tracked.key == key) {
            Some(tracked) => {
                tracked.most = match (tracked.window, window) {
                    (_, None) => tracked.most,
                    (None, _) => most,
                    _ => tracked.most.zip(most).map(|(one, other)| one.max(other)),
                };
                tracked.window = tracked.window.max(window);
            }
            None => self.tracked.push(Tracked { pattern, key: key.clone(), window, most }),
        }
        key
    }

    /// Tracks everything that the other tracks, too.
    pub fn join(&mut self, other: Self) {
        for Tracked { pattern, window, most, .. } in other.tracked {
            self.keep(pattern, window, most);
        }
    }

    /// Whether the other tracks everything that this one does, over the same windows and up to the same counts.
    #[must_use]
    pub fn is_kept_by(&self, other: &Self) -> bool {
        let far = |tracked: &Tracked| tracked.most.unwrap_or(u64::MAX);
        let kept = |asked: &Tracked| {
            other.tracked.iter().any(|tracked| {
                tracked.key == asked.key
                    && tracked.window >= asked.window
                    && (asked.window.is_none() || far(tracked) >= far(asked))
            })
        };
        self.tracked.iter().all(kept)
    }

    /// Whether nothing is asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tracked.is_empty()
    }

    /// The patterns that this action matches.
    #[must_use]
    pub fn marks(&self, action: &Action, facts: &Facts) -> Vec<Mark> {
        if self.tracked.is_empty() {
            return Vec::new();
        }
        let deeds = facts.deeds();
        self.tracked
            .iter()
            .filter(|tracked| tracked.pattern.matches(action, facts, &deeds))
            .filter_map(|Tracked { pattern, key, window, most }| {
                let values = pattern.values(action);
                // An action without a value for a variable proves nothing, and may have invalidated the matches
                // of every value.
                if values.is_none() && pattern.ended.is_some() {
                    return None;
                }
                let key = pattern.key_for(key, values.as_ref());
                Some(Mark { key, ended: pattern.ended, window: *window, most: *most })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
