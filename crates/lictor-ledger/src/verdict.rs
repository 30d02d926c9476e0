//! The verdict of a plan.

use lictor_core::Timestamp;

use crate::finding::Finding;
use crate::identity::PlanHash;
use crate::level::Level;

/// How many open findings there are of each level. Level and summary are always computed from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Tally {
    low: u32,
    medium: u32,
    high: u32,
    critical: u32,
}

impl Tally {
    /// The tally of these levels.
    #[must_use]
    pub fn of(levels: impl IntoIterator<Item = Level>) -> Self {
        let mut tally = Self::default();
        levels.into_iter().for_each(|level| tally.add(level));
        tally
    }

    /// How many there are of one level.
    #[must_use]
    pub fn count(&self, level: Level) -> u32 {
        match level {
            Level::Low => self.low,
            Level::Medium => self.medium,
            Level::High => self.high,
            Level::Critical => self.critical,
        }
    }

    /// How many there are.
    #[must_use]
    pub fn total(&self) -> u32 {
        [self.low, self.medium, self.high, self.critical].into_iter().fold(0, u32::saturating_add)
    }

    /// The worst level; `LOW` when there is none.
    #[must_use]
    pub fn level(&self) -> Level {
        Level::WORST_FIRST.into_iter().find(|level| self.count(*level) > 0).unwrap_or(Level::Low)
    }

    /// `2 finding(s): 1 high, 1 low`, worst first, or `No findings.`
    #[must_use]
    pub fn summary(&self) -> String {
        if self.total() == 0 {
            return "No findings.".to_owned();
        }
        let parts: Vec<String> = Level::WORST_FIRST
            .into_iter()
            .filter(|level| self.count(*level) > 0)
            .map(|level| format!("{} {}", self.count(level), level.as_str().to_ascii_lowercase()))
            .collect();
        format!("{} finding(s): {}", self.total(), parts.join(", "))
    }

    pub(crate) fn add(&mut self, level: Level) {
        let slot = self.slot(level);
        *slot = slot.saturating_add(1);
    }

    pub(crate) fn remove(&mut self, level: Level) {
        let slot = self.slot(level);
        *slot = slot.saturating_sub(1);
    }

    fn slot(&mut self, level: Level) -> &mut u32 {
        match level {
            Level::Low => &mut self.low,
            Level::Medium => &mut self.medium,
            Level::High => &mut self.high,
            Level::Critical => &mut self.critical,
        }
    }
}

/// A plan's findings and their verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanVerdict {
    /// The plan.
    pub plan: PlanHash,
    /// Findings that count, worst first, then by title.
    pub open: Vec<Finding>,
    /// Findings that were fixed, cleared or waived, in the same order.
    pub closed: Vec<Finding>,
    /// When the plan got its first finding or was opened.
    pub created_at: Timestamp,
    /// When anything about it last changed.
    pub updated_at: Timestamp,
}

impl PlanVerdict {
    /// A verdict over these findings.
    #[must_use]
    pub fn new(plan: PlanHash, findings: Vec<Finding>, created_at: Timestamp, updated_at: Timestamp) -> Self {
        let (mut open, mut closed): (Vec<_>, Vec<_>) = findings.into_iter().partition(Finding::is_open);
        worst_first(&mut open);
        worst_first(&mut closed);
        Self { plan, open, closed, created_at, updated_at }
    }

    /// How many open findings there are of each level.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::of(self.open.iter().map(|finding| finding.level))
    }

    /// The worst open level.
    #[must_use]
    pub fn level(&self) -> Level {
        self.tally().level()
    }
}

/// Sorts worst first, then by title, then by id.
pub fn worst_first(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        b.level.cmp(&a.level).then_with(|| a.title.cmp(&b.title)).then_with(|| a.id.cmp(&b.id))
    });
}
