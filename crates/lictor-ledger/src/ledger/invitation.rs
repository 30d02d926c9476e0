//! Agents as reviewers: invitations to a plan, and reports on it.
//!
//! A program is started by a council, so its output is authentic. An agent is not: it gets the plan with a
//! one-time token for one reviewer and one plan. Without the token nobody can report in a reviewer's name, least
//! of all the agent under review. The ledger stores only the token's digest.

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

/// A reviewer's invitation to one plan, and its report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The digest of the token.
    pub(crate) token: Digest,
    /// When the token expires.
    pub expires: Timestamp,
    /// What the reviewer reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<State>,
}

/// The digest of a token in the record.
fn digest_of(plan: &PlanHash, reviewer: &str, token: &str) -> Digest {
    Digest::of_parts([
        b"lictor reviewer token 1".as_slice(),
        plan.as_str().as_bytes(),
        reviewer.as_bytes(),
        token.as_bytes(),
    ])
}

impl Ledger<'_> {
    /// Invites a reviewer to review a plan: the holder of the token may report in its name, once. An earlier
    /// token of the same reviewer for the same plan becomes invalid.
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

    /// The tree of a council's plan; `None` if no council opened it.
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

    /// Records a reviewer's report, which may be empty, authorised by its token. The token is used up, and the
    /// council's attestation is completed.
    ///
    /// # Errors
    /// When the store fails, or the token is unknown, expired or used.
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

    /// Removes a plan and its findings from the ledger's lists. The log keeps them.
    ///
    /// # Errors
    /// When the store fails, the plan is unknown, or it has open blocking findings.
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
