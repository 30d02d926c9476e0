//! Checks the projection against the log.

use std::fmt;

use lictor_store::{Durability, MemoryStore, Query, Space, StoreExt as _, View};

use super::event::Event;
use super::rows::apply;
use super::{Ledger, LedgerError};

/// A row of the projection that does not match the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// The row.
    pub row: String,
    /// The problem.
    pub what: &'static str,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} compared with the log", self.row, self.what)
    }
}

const SPACES: [Space; 3] = [Space::Finding, Space::Plan, Space::Council];

impl Ledger<'_> {
    /// Folds the log again and compares. An empty result means that projection and log agree.
    ///
    /// # Errors
    /// When the store cannot be read, or old records were moved to an archive, so that the fold has no beginning.
    pub fn verify(&self) -> Result<Vec<Disagreement>, LedgerError> {
        self.look(|view| {
            if view.base()?.seq > 0 {
                return Err(LedgerError::corrupt("the whole log", &"old records are in an archive"));
            }
            let folded = MemoryStore::new();
            let mut after = 0;
            loop {
                let page = view.records(&Query::all().after(after))?;
                let Some(last) = page.last() else { break };
                after = last.seq;
                folded.try_update(Durability::Process, |tx| {
                    for record in &page {
                        if let Some((repository, event)) = Event::read(&record.kind, &record.body)?
                            && repository == self.repository.as_str()
                        {
                            apply(tx, self.rows(), record.seq, record.at, &event)?;
                        }
                    }
                    Ok::<(), LedgerError>(())
                })?;
            }
            let mut found = Vec::new();
            for space in SPACES {
                let live = self.all(view, space)?;
                let expected = folded.view(|folded| Ok(self.all(folded, space)))??;
                compare(space, &live, &expected, &mut found);
            }
            Ok(found)
        })
    }

    fn all(&self, view: &dyn View, space: Space) -> Result<Rows, LedgerError> {
        let mut rows = Rows::new();
        self.each(view, space, self.repository.as_str().as_bytes(), |key, value| {
            rows.insert(key.to_vec(), value.to_vec());
            Ok(true)
        })?;
        Ok(rows)
    }
}

type Rows = std::collections::BTreeMap<Vec<u8>, Vec<u8>>;

fn compare(space: Space, live: &Rows, expected: &Rows, found: &mut Vec<Disagreement>) {
    let mut say = |key: &[u8], what| {
        let name = String::from_utf8_lossy(key).replace('\0', "/");
        found.push(Disagreement { row: format!("{space}:{}", crate::plain::Plain(&name)), what });
    };
    for (key, value) in expected {
        match live.get(key) {
            None => say(key, "missing"),
            Some(other) if other != value => say(key, "changed"),
            Some(_) => {}
        }
    }
    live.keys().filter(|key| !expected.contains_key(*key)).for_each(|key| say(key, "added"));
}
