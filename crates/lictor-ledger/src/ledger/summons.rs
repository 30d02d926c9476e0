//! Summons: pending requests to run a council.
//!
//! A council that runs in the background is summoned first and runs later. A summons stays on record until the
//! council has run, so that it is not lost with the process that was to handle it, and several can be handled at
//! once.

use lictor_store::Space;
use serde::{Deserialize, Serialize};

use super::event::{Answered, Event, Summoned};
use super::rows::decode;
use super::{Ledger, LedgerError};
use crate::identity::PlanHash;

/// One call for a council.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summons {
    /// Its place in the log.
    pub seq: u64,
    /// The event: `session-start`, `session-end`, `file-save`.
    pub moment: String,
    /// The files that were saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub saved: Vec<String>,
}

/// The result of a summons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The council has reviewed this plan, now or before.
    Looked(PlanHash),
    /// It has not, and why.
    Not(String),
}

impl Ledger<'_> {
    /// Summons a council.
    ///
    /// # Errors
    /// When the store fails.
    pub fn summon(&self, council: &str, moment: &str, saved: &[String]) -> Result<(), LedgerError> {
        let summoned =
            Summoned { council: council.to_owned(), moment: moment.to_owned(), saved: saved.to_vec() };
        self.change(|tx| self.append(tx, Event::Summoned(summoned)))
    }

    /// The pending summons of a council, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub fn summons(&self, council: &str) -> Result<Vec<Summons>, LedgerError> {
        self.look(|view| {
            let mut waiting = Vec::new();
            self.each(view, Space::Council, &self.rows().summons(council), |_, value| {
                waiting.push(decode(value, "a call for a council")?);
                Ok(true)
            })?;
            Ok(waiting)
        })
    }

    /// Settles all summons of a council up to this one.
    ///
    /// # Errors
    /// When the store fails.
    pub fn answer(&self, council: &str, up_to: u64, answer: &Answer) -> Result<(), LedgerError> {
        let (plan, why) = match answer {
            Answer::Looked(plan) => (Some(plan.clone()), String::new()),
            Answer::Not(why) => (None, why.clone()),
        };
        let answered = Answered { council: council.to_owned(), up_to, plan, why };
        self.change(|tx| self.append(tx, Event::Answered(answered)))
    }
}
