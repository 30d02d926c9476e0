//! The reference implementation: keep all events and scan them. Both implementations must agree.

use super::{Ended, Mark};
use crate::clock::Timestamp;

/// Everything that happened.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    marks: Vec<Mark>,
    allowed: bool,
    judged_at: Timestamp,
    /// The time of the outcome, the number of actions judged by then, and whether it was a success.
    outcome: Option<(Timestamp, u64, bool)>,
}

impl Log {
    /// An action was judged. Returns its position.
    pub(super) fn judged(&mut self, marks: &[Mark], allowed: bool, at: Timestamp) -> u64 {
        self.entries.push(Entry { marks: marks.to_vec(), allowed, judged_at: at, outcome: None });
        self.entries.len() as u64
    }

    /// An outcome has come.
    pub(super) fn ended(&mut self, position: u64, success: bool, at: Timestamp) {
        let newest = self.entries.len() as u64;
        let index = usize::try_from(position).unwrap_or(usize::MAX).wrapping_sub(1);
        if let Some(entry) = self.entries.get_mut(index) {
            entry.outcome = Some((at, newest, success));
        }
    }

    /// Every match of a pattern: position, time, and the newest position while it was running.
    fn hits(&self, key: &str) -> Vec<(u64, Timestamp, u64)> {
        let mut hits = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            let position = index as u64 + 1;
            let Some(mark) = entry.marks.iter().find(|mark| mark.key == key) else { continue };
            let hit = match (mark.ended, entry.outcome) {
                (None, outcome) if entry.allowed => {
                    Some((entry.judged_at, outcome.map_or(position, |(_, newest, _)| newest)))
                }
                (Some(Ended::Blocked), _) if !entry.allowed => Some((entry.judged_at, position)),
                (Some(Ended::Ok), Some((at, newest, true))) => Some((at, newest)),
                (Some(Ended::Failed), Some((at, newest, false))) => Some((at, newest)),
                _ => None,
            };
            hits.extend(hit.map(|(at, until)| (position, at, until)));
        }
        hits
    }

    /// As [`Past::formerly`](super::Past::formerly).
    pub(super) fn formerly(&self, key: &str, within: Option<u64>, now: Timestamp) -> bool {
        self.count(key, within, now) > 0
    }

    /// As [`Past::previous`](super::Past::previous).
    pub(super) fn previous(&self, key: &str) -> bool {
        self.hits(key).iter().any(|(position, ..)| *position == self.entries.len() as u64)
    }

    /// As [`Past::since`](super::Past::since).
    pub(super) fn since(&self, held: &str, start: &str) -> bool {
        let Some(start) = self.hits(start).iter().map(|hit| hit.0).max() else { return false };
        let held: Vec<u64> = self.hits(held).iter().map(|hit| hit.0).collect();
        (start + 1..=self.entries.len() as u64).all(|position| held.contains(&position))
    }

    /// As [`Past::undisturbed`](super::Past::undisturbed).
    pub(super) fn undisturbed(&self, disturbing: &str, start: &str) -> bool {
        let Some(start) = self.hits(start).iter().map(|hit| hit.0).max() else { return false };
        self.hits(disturbing).iter().all(|(_, _, until)| *until < start)
    }

    /// As [`Past::count`](super::Past::count).
    pub(super) fn count(&self, key: &str, within: Option<u64>, now: Timestamp) -> u64 {
        let inside = |at: Timestamp| within.is_none_or(|within| now.millis_since(at) <= within as i64);
        self.hits(key).iter().filter(|(_, at, _)| inside(*at)).count() as u64
    }
}
