//! Searches for decisions.

use lictor_core::{Action, ActionKind, Decision, Evaluation, Facts, SessionKey, Timestamp};
use lictor_store::{Query, Record, Store, StoreError, StoreExt as _};
use serde_json::value::RawValue;

use crate::log::{Spoken, kind};

/// So many records are read at a time.
const PAGE: usize = 500;
/// How many records are read to count further results.
pub const COUNTED: usize = 20_000;

/// One decision on record.
#[derive(Debug, Clone)]
pub struct Decided {
    /// The number of its record.
    pub id: u64,
    /// The time.
    pub at: Timestamp,
    /// In which session.
    pub session: Option<SessionKey>,
    /// About what.
    pub action: Action,
    /// Its facts, as recorded.
    pub recorded_facts: Option<Box<RawValue>>,
    /// The decision.
    pub decision: Decision,
    /// The rules that decided, the strictest first; a guard without rules by its name.
    pub rules: Vec<String>,
    /// The decision of each of them.
    pub said: Vec<Decision>,
    /// Why: the deciding reason.
    pub reason: String,
    /// A dry run.
    pub dry: bool,
    /// Judged and not enforced.
    pub observed: bool,
    /// A person answered on the spot.
    pub answered: bool,
    /// The call was judged before, by another hook or proxy.
    pub seen_before: bool,
}

impl Decided {
    /// The facts of the action, as far as they are on record.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let recorded = self.recorded_facts.as_deref();
        recorded.and_then(|facts| serde_json::from_str(facts.get()).ok()).unwrap_or_default()
    }

    /// Whether it adds nothing: the same call has passed before, in another hook or proxy.
    #[must_use]
    pub fn is_repetition(&self) -> bool {
        self.seen_before && matches!(self.decision, Decision::Pass | Decision::Warn)
    }
}

/// A filter for decisions. An absent field matches all.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// The action's text, or the reason, contains this; case-insensitive.
    pub text: Option<String>,
    /// A file that the action is about holds this.
    pub path: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The rule, the guard, or a prefix of a rule's name up to a dot.
    pub rule: Option<String>,
    /// At least as strict.
    pub decision: Option<Decision>,
    /// The session.
    pub session: Option<SessionKey>,
    /// Includes dry runs.
    pub dry: bool,
}

impl Wanted {
    /// Whether this decision matches.
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

/// An action in one line without control characters.
#[must_use]
pub fn title(action: &Action) -> String {
    let what = ["command", "path", "url", "code", "agent"].into_iter().find_map(|field| action.text(field));
    // For a tool that is known only by its name, the name comes first.
    let named = matches!(action.kind, ActionKind::Tool) && !action.tool.is_empty();
    let what = match what {
        Some(what) if named => format!("{} {what}", action.tool),
        Some(what) => what.to_owned(),
        None => action.task_type.clone().unwrap_or_else(|| action.tool.clone()),
    };
    let one_line: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{} {one_line}", action.kind)
}

/// The rules that objected, the strictest first; a guard without rules by its name. The rule that no person could
/// be asked is left out if another rule asked.
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

/// The strictest value of each of these rules, at most as strict as the decision.
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

/// The decision in a record, if it has one.
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

/// Matching decisions, oldest first, read a page at a time.
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
    /// Those after a record.
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

    /// The number of the last record that was read: the next ones follow it.
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

/// The newest matching decisions, oldest first, and whether there are more.
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
    /// Not all records were read: there may be more.
    pub at_least: bool,
}

/// How many matching decisions come before a record, up to [`COUNTED`] records back.
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

/// The number of the first record that is not older. Records are ordered by time, so the start of a day is found
/// by binary search.
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
                // Unavailable records are older than available ones.
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
