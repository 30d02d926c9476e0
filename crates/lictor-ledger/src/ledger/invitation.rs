//! Agents as reviewers: who was given a plan, and who reported on it.
//!
//! A program is started by a council, so what it prints is its word. An agent is not: it gets the plan with a token that
//! counts once, for one reviewer and one plan. Without it nobody speaks in a reviewer's name, the agent whose work is
//! looked at least of all. The ledger keeps the token's digest only.

use lictor_core::{Digest, Timestamp};
use lictor_store::Space;
use serde::{Deserialize, Serialize};

use super::event::{Event, Heard, Invited};
use super::rows::get;
use super::{Ledger, LedgerError, Recorded, Speaker};
use crate::council::{Attestation, Plan, Reported, State};
use crate::finding::Claim;
use crate::identity::PlanHash;

/// How long a token counts: a day.
pub const TOKEN_LASTS_MS: i64 = 24 * 60 * 60 * 1_000;

/// A reviewer's invitation to one plan, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The digest of the token.
    pub(crate) token: Digest,
    /// When the token lapses.
    pub expires: Timestamp,
    /// What the reviewer reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<State>,
}

/// What stands for a token in the record.
fn digest_of(plan: &PlanHash, reviewer: &str, token: &str) -> Digest {
    Digest::of_parts([
        b"lictor reviewer token 1".as_slice(),
        plan.as_str().as_bytes(),
        reviewer.as_bytes(),
        token.as_bytes(),
    ])
}

impl Ledger<'_> {
    /// Invites a reviewer to look at a plan: whoever brings the token may report in its name, once. An earlier token of
    /// the same reviewer for the same plan counts no more.
    ///
    /// # Errors
    /// When the store fails.
    pub fn invite(&self, plan: &Plan, reviewer: &str, token: &str) -> Result<Timestamp, LedgerError> {
        let expires = self.now().plus_millis(TOKEN_LASTS_MS);
        let invited = Invited {
            plan: plan.plan_hash.clone(),
            reviewer: reviewer.to_owned(),
            token: digest_of(&plan.plan_hash, reviewer, token),
            expires,
        };
        self.open_plan(&plan.plan_hash, &plan.council, &plan.tree, plan.files.len())?;
        self.change(|tx| self.append(tx, Event::Invited(invited)))?;
        Ok(expires)
    }

    /// The tree that a council's plan is about; `None` where no council opened it.
    ///
    /// # Errors
    /// When the store fails.
    pub fn tree_of(&self, plan: &PlanHash) -> Result<Option<String>, LedgerError> {
        Ok(self.look(|view| self.plan_row(view, plan))?.and_then(|row| row.tree))
    }

    /// A reviewer's invitation to a plan.
    ///
    /// # Errors
    /// When the store fails.
    pub fn invitation(&self, plan: &PlanHash, reviewer: &str) -> Result<Option<Invitation>, LedgerError> {
        self.look(|view| get(view, Space::Council, &self.rows().invitation(plan, reviewer), "an invitation"))
    }

    /// Records what a reviewer found, nothing included, on the word of its token. The token is used up, and what the
    /// council has attested so far is completed.
    ///
    /// # Errors
    /// When the store fails, or nobody with that token was invited, or it has lapsed or been used.
    pub fn hear(
        &self,
        plan: &PlanHash,
        reviewer: &str,
        token: &str,
        claims: &[Claim],
    ) -> Result<Vec<Recorded>, LedgerError> {
        let now = self.now();
        self.change(|tx| {
            let key = self.rows().invitation(plan, reviewer);
            let refused = |why: &'static str| LedgerError::NotInvited {
                plan: plan.clone(),
                reviewer: reviewer.to_owned(),
                why,
            };
            let invitation: Invitation = get(tx, Space::Council, &key, "an invitation")?
                .ok_or_else(|| refused("it was not invited"))?;
            if invitation.token != digest_of(plan, reviewer, token) {
                return Err(refused("the token is not the one it was given"));
            }
            if invitation.reported.is_some() {
                return Err(refused("its token has been used"));
            }
            if invitation.expires <= now {
                return Err(refused("its token has lapsed"));
            }
            let recorded: Vec<Recorded> = claims
                .iter()
                .map(|claim| self.report(tx, plan, claim, Speaker::Reviewer))
                .collect::<Result<_, _>>()?;
            let state = match claims.len() {
                0 => State::Clean,
                count => State::Findings { count },
            };
            let heard = Heard { plan: plan.clone(), reviewer: reviewer.to_owned(), state: state.clone() };
            self.append(tx, Event::Heard(heard))?;
            let attested: Option<Attestation> =
                get(tx, Space::Council, &self.rows().attestation(plan), "an attestation")?;
            if let Some(mut attestation) = attested {
                for reported in attestation.reviewers.iter_mut().filter(|one| one.name == reviewer) {
                    *reported = Reported { name: reviewer.to_owned(), state: state.clone(), millis: 0 };
                }
                self.append(tx, Event::Attested(attestation))?;
            }
            Ok(recorded)
        })
    }

    /// Takes a plan and its findings out of the ledger's lists. What happened stays in the log.
    ///
    /// # Errors
    /// When the store fails, the plan is unknown, or findings that block are open in it.
    pub fn purge(&self, plan: &str, by: &str, reason: &str) -> Result<PlanHash, LedgerError> {
        if by.trim().is_empty() {
            return Err(LedgerError::Unaccountable("purge", "somebody who answers for it (`--by NAME`)"));
        }
        let verdict = self.verdict(plan)?;
        let plan = verdict.plan.clone();
        if verdict.level().blocks() {
            return Err(LedgerError::StillOpen(plan));
        }
        let purged =
            super::event::Purged { plan: plan.clone(), by: by.to_owned(), reason: reason.to_owned() };
        self.change(|tx| self.append(tx, Event::Purged(purged)))?;
        Ok(plan)
    }
}
