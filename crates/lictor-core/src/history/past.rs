use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pattern::FOR_VALUES;
use super::{Ended, Mark, Times};
use crate::clock::Timestamp;

/// How many timestamps per pattern are kept for counting over a window. A higher count is reported as this
/// number.
pub const RECENT_TIMES: usize = 1024;

/// For how many values a pattern with variables is tracked.
pub const VALUES_KEPT: usize = 64;

/// The history state of a session.
///
/// Space: at most one [`Track`] for each pattern of the policy, each of constant size plus, where a policy counts
/// over a window, as many timestamps as the policy needs, at most [`RECENT_TIMES`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Past {
    /// Actions judged so far: the newest position.
    pub position: u64,
    /// By the pattern's canonical text.
    pub tracks: BTreeMap<String, Track>,
}

/// The history of one pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Track {
    /// How often it matched.
    pub count: u64,
    /// The newest position at which it matched.
    pub last: u64,
    /// The start of the unbroken run of matches that ends at `last`.
    pub run_start: u64,
    /// The newest position at which a matching action was still running.
    pub until: u64,
    /// When it matched last.
    pub last_at: Timestamp,
    /// When it matched, oldest first; kept only for patterns that are counted over a window.
    pub recent: Times,
}

impl Past {
    /// Whether nothing has happened yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.position == 0
    }

    /// The same history, preceded by `actions` unknown actions.
    #[must_use]
    pub fn later_by(&self, actions: u64) -> Self {
        let later = |track: &Track| Track {
            last: track.last + actions,
            run_start: track.run_start + actions,
            until: track.until + actions,
            ..track.clone()
        };
        let tracks = self.tracks.iter().map(|(key, track)| (key.clone(), later(track))).collect();
        Self { position: self.position + actions, tracks }
    }

    /// An action was judged. Returns its position.
    pub fn judged(&mut self, marks: &[Mark], allowed: bool, at: Timestamp) -> u64 {
        self.position += 1;
        let position = self.position;
        for mark in marks {
            let counts = match mark.ended {
                None => allowed,
                Some(Ended::Blocked) => !allowed,
                Some(Ended::Ok | Ended::Failed) => false,
            };
            if counts {
                self.hit(mark, position, at);
            }
        }
        position
    }

    /// Applies the outcome of the action that was judged at `position`.
    pub fn ended(&mut self, marks: &[Mark], position: u64, success: bool, at: Timestamp) {
        let newest = self.position;
        for mark in marks {
            match mark.ended {
                Some(Ended::Ok) if success => self.hit(mark, position, at),
                Some(Ended::Failed) if !success => self.hit(mark, position, at),
                // It may have invalidated everything that was judged while it ran.
                None => {
                    if let Some(track) = self.tracks.get_mut(&mark.key) {
                        track.until = track.until.max(newest);
                    }
                }
                _ => {}
            }
        }
    }

    fn hit(&mut self, mark: &Mark, position: u64, at: Timestamp) {
        let newest = self.position;
        self.make_room(&mark.key);
        let track = self.tracks.entry(mark.key.clone()).or_default();
        if track.count == 0 || position > track.last + 1 {
            track.run_start = position;
        }
        track.count = track.count.saturating_add(1);
        track.last = track.last.max(position);
        track.until = track.until.max(newest);
        track.last_at = track.last_at.max(at);
        if let Some(window) = mark.window {
            let most = mark.most.and_then(|most| usize::try_from(most).ok());
            track.recent.push(at, window, most.map_or(RECENT_TIMES, |most| most.min(RECENT_TIMES)));
        }
    }

    /// Limits the number of values per pattern with variables. A value is dropped from all patterns at once: a
    /// success must not outlive the action that invalidated it.
    fn make_room(&mut self, key: &str) {
        let Some((pattern, _)) = key.split_once(FOR_VALUES) else { return };
        if self.tracks.contains_key(key) {
            return;
        }
        let start = format!("{pattern}{FOR_VALUES}");
        let same = || self.tracks.range(start.clone()..).take_while(|(key, _)| key.starts_with(&start));
        if same().count() < VALUES_KEPT {
            return;
        }
        let oldest = same().min_by_key(|(_, track)| track.last);
        let Some(value) = oldest.and_then(|(key, _)| key.get(pattern.len()..)).map(str::to_owned) else {
            return;
        };
        self.tracks.retain(|key, _| !key.ends_with(&value));
    }

    /// `formerly(P)`: it matched before, at most `within` milliseconds ago.
    #[must_use]
    pub fn formerly(&self, key: &str, within: Option<u64>, now: Timestamp) -> bool {
        self.tracks.get(key).is_some_and(|track| track.count > 0 && is_within(track.last_at, within, now))
    }

    /// `previous(P)`: the action just before this one matched.
    #[must_use]
    pub fn previous(&self, key: &str) -> bool {
        self.position > 0 && self.tracks.get(key).is_some_and(|track| track.last == self.position)
    }

    /// `since(P, Q)`: Q happened, and every action after it matched P.
    #[must_use]
    pub fn since(&self, held: &str, start: &str) -> bool {
        let Some(start) = self.last(start) else { return false };
        start == self.position
            || self
                .tracks
                .get(held)
                .is_some_and(|track| track.last == self.position && track.run_start <= start + 1)
    }

    /// `since(not(P), Q)`: Q happened, and no action that matches P was running after it began. An action that
    /// matches both invalidates itself.
    #[must_use]
    pub fn undisturbed(&self, disturbing: &str, start: &str) -> bool {
        let Some(start) = self.last(start) else { return false };
        self.tracks.get(disturbing).is_none_or(|track| track.until < start)
    }

    /// `count(P)`: how often it matched, in the last `within` milliseconds where given.
    #[must_use]
    pub fn count(&self, key: &str, within: Option<u64>, now: Timestamp) -> u64 {
        let Some(track) = self.tracks.get(key) else { return 0 };
        match within {
            None => track.count,
            Some(_) => {
                let recent = track.recent.iter().filter(|at| is_within(*at, within, now)).count();
                u64::try_from(recent).unwrap_or(u64::MAX)
            }
        }
    }

    /// The newest position at which it matched.
    pub(crate) fn last(&self, key: &str) -> Option<u64> {
        self.tracks.get(key).filter(|track| track.count > 0).map(|track| track.last)
    }
}

/// A clock that went back makes nothing older.
fn is_within(at: Timestamp, within: Option<u64>, now: Timestamp) -> bool {
    within.is_none_or(|within| now.millis_since(at) <= i64::try_from(within).unwrap_or(i64::MAX))
}
