//! Decisions as people look for them.

use lictor_core::{Action, ActionKind, Decision, Evaluation, Facts, SessionKey, Timestamp};
use lictor_store::{Query, Record, Store, StoreError, StoreExt as _};
use serde_json::value::RawValue;

use crate::log::{Spoken, kind};

/// So many records are read at a time.
const PAGE: usize = 500;
/// So many records are looked at to say how many more there are.
pub const COUNTED: usize = 20_000;

/// One decision on record.
#[derive(Debug, Clone)]
pub struct Decided {
    /// The number of its record.
    pub id: u64,
    /// When.
    pub at: Timestamp,
    /// In which session.
    pub session: Option<SessionKey>,
    /// About what.
    pub action: Action,
    /// What that would have done, as it was written down.
    pub recorded_facts: Option<Box<RawValue>>,
    /// What was decided.
    pub decision: Decision,
    /// The rules that decided, the strictest first; a guard without rules by its name.
    pub rules: Vec<String>,
    /// What each of them said.
    pub said: Vec<Decision>,
    /// Why: the deciding reason.
    pub reason: String,
    /// Judged only to see what would be said.
    pub dry: bool,
    /// Judged and not enforced.
    pub observed: bool,
    /// A person answered on the spot.
    pub answered: bool,
    /// The call was judged before, at another place on its way.
    pub seen_before: bool,
}

impl Decided {
    /// What the action would have done, as far as that is on record.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let recorded = self.recorded_facts.as_deref();
        recorded.and_then(|facts| serde_json::from_str(facts.get()).ok()).unwrap_or_default()
    }

    /// Whether it says nothing new: the same call has passed before, at another place on its way.
    #[must_use]
    pub fn is_repetition(&self) -> bool {
        self.seen_before && matches!(self.decision, Decision::Pass | Decision::Warn)
    }
}

/// Which decisions. What is not said does not matter.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// The action's text, or the reason, holds this; small and capital letters are alike.
    pub text: Option<String>,
    /// A file that the action is about holds this.
    pub path: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The rule, the guard, or the beginning of a rule's name up to a dot.
    pub rule: Option<String>,
    /// At least as strict.
    pub decision: Option<Decision>,
    /// The session.
    pub session: Option<SessionKey>,
    /// What was only tried out counts too.
    pub dry: bool,
}

impl Wanted {
    /// Whether that is one of them.
    #[must_use]
    pub fn fits(&self, decided: &Decided) -> bool {
        let holds = |text: &str, wanted: &str| text.to_lowercase().contains(&wanted.to_lowercase());
        let text = |wanted: &String| {
            holds(&title(&decided.action), wanted)
                || holds(&decided.reason, wanted)
                || decided
                    .action
                    .payload
                    .values()
                    .any(|value| value.as_str().is_some_and(|text| holds(text, wanted)))
        };
        let path = |wanted: &String| {
            let touched = decided.facts().files().any(|(_, place)| {
                holds(&place.text, wanted)
                    || place.in_project.as_deref().is_some_and(|path| holds(path, wanted))
                    || holds(&place.path, wanted)
            });
            touched || decided.action.text("path").is_some_and(|path| holds(path, wanted))
        };
        let rule = |wanted: &String| {
            let family = format!("{wanted}.");
            decided.rules.iter().any(|rule| rule == wanted || rule.starts_with(&family))
        };
        let agent = |wanted: &String| {
            decided.session.as_ref().is_some_and(|key| key.agent == *wanted)
                || decided.action.actor.agent == *wanted
        };
        self.since.is_none_or(|since| decided.at >= since)
            && self.until.is_none_or(|until| decided.at < until)
            && self.decision.is_none_or(|least| decided.decision >= least)
            && (self.dry || !decided.dry)
            && !decided.is_repetition()
            && self.session.as_ref().is_none_or(|key| decided.session.as_ref() == Some(key))
            && self.agent.as_ref().is_none_or(agent)
            && self.rule.as_ref().is_none_or(rule)
            && self.text.as_ref().is_none_or(text)
            && self.path.as_ref().is_none_or(path)
    }
}

/// What an action is, in one line without control characters.
#[must_use]
pub fn title(action: &Action) -> String {
    let what = ["command", "path", "url", "code", "agent"].into_iter().find_map(|field| action.text(field));
    // Of a tool that is known by its name alone, that name comes first.
    let named = matches!(action.kind, ActionKind::Tool) && !action.tool.is_empty();
    let what = match what {
        Some(what) if named => format!("{} {what}", action.tool),
        Some(what) => what.to_owned(),
        None => action.task_type.clone().unwrap_or_else(|| action.tool.clone()),
    };
    let one_line: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{} {one_line}", action.kind)
}

/// The rules that had a word, the strictest first; a guard without rules by its name. That nobody could be asked is not a
/// rule where one asked.
#[must_use]
pub fn rules_of(evaluation: &Evaluation) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for given in evaluation.active().iter().filter(|given| !given.verdict.reason().is_empty()) {
        let rule = given.verdict.rule().unwrap_or(given.guard());
        if !rules.iter().any(|known| known == rule) {
            rules.push(rule.to_owned());
        }
    }
    if rules.len() > 1 {
        rules.retain(|rule| rule != "approval");
    }
    rules
}

/// The strictest that each of these rules said, never stricter than what was decided.
#[must_use]
pub fn said_by(rules: &[String], evaluation: &Evaluation) -> Vec<Decision> {
    let active = evaluation.active();
    let said = |rule: &String| {
        let own = active.iter().filter(|given| given.verdict.rule().unwrap_or(given.guard()) == rule);
        let strictest = own.map(|given| given.verdict.value().settle()).max();
        strictest.unwrap_or(evaluation.decision).min(evaluation.decision)
    };
    rules.iter().map(said).collect()
}

/// The decision that a record holds, if it holds one.
#[must_use]
pub fn decided(record: &Record) -> Option<Decided> {
    let answered = record.kind == kind::RESOLVED;
    if !answered && record.kind != kind::EVALUATED {
        return None;
    }
    let Spoken { event, action, facts, evaluation } = serde_json::from_str(&record.body).ok()?;
    let deciding = evaluation.deciding();
    let rules = rules_of(&evaluation);
    let said = said_by(&rules, &evaluation);
    Some(Decided {
        seen_before: event.duplicate,
        id: record.seq,
        at: record.at,
        session: record.session.clone(),
        decision: evaluation.decision,
        rules,
        said,
        reason: deciding.first().map(|given| given.verdict.reason().to_owned()).unwrap_or_default(),
        dry: evaluation.dry,
        observed: evaluation.observed,
        answered,
        action,
        recorded_facts: Some(facts),
    })
}

/// Wanted decisions, oldest first, read a page at a time.
pub struct Decisions<'a> {
    store: &'a dyn Store,
    wanted: &'a Wanted,
    page: std::vec::IntoIter<Record>,
    /// The last record of the page.
    read: u64,
    looked_at: u64,
    over: bool,
}

impl<'a> Decisions<'a> {
    /// Those that come after a record.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn after(store: &'a dyn Store, wanted: &'a Wanted, after: u64) -> Result<Self, StoreError> {
        let after = match wanted.since {
            Some(since) => after.max(first_since(store, since)?.saturating_sub(1)),
            None => after,
        };
        Ok(Self { store, wanted, page: Vec::new().into_iter(), read: after, looked_at: after, over: false })
    }

    /// The number of the last record that was looked at: the next ones follow it.
    #[must_use]
    pub fn looked_at(&self) -> u64 {
        self.looked_at
    }

    fn next_record(&mut self) -> Result<Option<Record>, StoreError> {
        if let Some(record) = self.page.next() {
            return Ok(Some(record));
        }
        let query = Query::all().after(self.read).limit(PAGE);
        self.page = self.store.view(|view| view.records(&query))?.into_iter();
        self.read = self.page.as_slice().last().map_or(self.read, |last| last.seq);
        Ok(self.page.next())
    }
}

impl Iterator for Decisions<'_> {
    type Item = Result<Decided, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.over {
            let record = match self.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            };
            if self.wanted.until.is_some_and(|until| record.at >= until) {
                break;
            }
            self.looked_at = record.seq;
            if let Some(found) = decided(&record).filter(|found| self.wanted.fits(found)) {
                return Some(Ok(found));
            }
        }
        self.over = true;
        None
    }
}

/// The newest wanted decisions, oldest first, and whether there are more.
///
/// # Errors
/// When the store cannot be read.
pub fn newest_decisions(
    store: &dyn Store,
    wanted: &Wanted,
    limit: usize,
) -> Result<(Vec<Decided>, bool), StoreError> {
    let first = wanted.since.map_or(Ok(0), |since| first_since(store, since))?;
    let mut found = Vec::new();
    let mut before = u64::MAX;
    loop {
        let query = Query::all().before(before).newest_first().limit(PAGE);
        let page = store.view(|view| view.records(&query))?;
        let oldest = page.last().map(|record| record.seq);
        for decided in page.iter().filter(|record| record.seq >= first).filter_map(decided) {
            if wanted.fits(&decided) {
                if found.len() == limit {
                    found.reverse();
                    return Ok((found, true));
                }
                found.push(decided);
            }
        }
        match oldest {
            Some(oldest) if oldest > first.max(1) => before = oldest,
            _ => {
                found.reverse();
                return Ok((found, false));
            }
        }
    }
}

/// Decisions that were not shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Further {
    /// So many were found.
    pub count: usize,
    /// The rest of the record was not looked at: there may be more.
    pub at_least: bool,
}

/// How many wanted decisions come before a record, as far as [`COUNTED`] records back.
///
/// # Errors
/// When the store cannot be read.
pub fn further_decisions(store: &dyn Store, wanted: &Wanted, before: u64) -> Result<Further, StoreError> {
    let first = wanted.since.map_or(Ok(0), |since| first_since(store, since))?;
    let mut further = Further::default();
    let mut before = before;
    for _ in 0..COUNTED / PAGE {
        let query = Query::all().before(before).newest_first().limit(PAGE);
        let page = store.view(|view| view.records(&query))?;
        let own = page.iter().filter(|record| record.seq >= first);
        further.count += own.filter_map(decided).filter(|decided| wanted.fits(decided)).count();
        match page.last() {
            Some(oldest) if oldest.seq > first.max(1) => before = oldest.seq,
            _ => return Ok(further),
        }
    }
    Ok(Further { at_least: true, ..further })
}

/// The number of the first record that is not older. Records stand in the order of time, so that the beginning of a day is
/// found without reading what came before.
///
/// # Errors
/// When the store cannot be read.
pub fn first_since(store: &dyn Store, since: Timestamp) -> Result<u64, StoreError> {
    store.view(|view| {
        let (mut low, mut high) = (view.base()?.seq.saturating_add(1), view.head()?.seq.saturating_add(1));
        while low < high {
            let middle = low + (high - low) / 2;
            let query = Query::all().after(middle.saturating_sub(1)).limit(1);
            match view.records(&query) {
                // What cannot be had any more is older than what can.
                Err(StoreError::Archive(_)) => low = middle.saturating_add(1),
                page => match page?.first() {
                    Some(record) if record.at < since => low = record.seq.max(middle).saturating_add(1),
                    _ => high = middle,
                },
            }
        }
        Ok(low)
    })
}

#[cfg(test)]
mod tests;
