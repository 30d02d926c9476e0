//! What can go wrong with the ledger.

use std::fmt;

use lictor_store::StoreError;

use crate::identity::{Ambiguous, FindingId, PlanHash};

/// Why the ledger could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something in the store cannot be read.
    #[error(
        "the record is damaged: {what} cannot be read ({detail}); run `lictor audit verify` to see where"
    )]
    Corrupt {
        /// What was being read.
        what: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// A shortened plan or id fits several.
    #[error(transparent)]
    Ambiguous(#[from] Ambiguous),
    /// There is no such plan.
    #[error("No verdict for plan {0}")]
    NoPlan(String),
    /// There is no such finding.
    #[error("no finding `{id}` in plan {plan}; `lictor verdict show --plan-hash {plan} --json` lists them")]
    NoFinding {
        /// The plan.
        plan: PlanHash,
        /// What was typed.
        id: String,
    },
    /// Authors do not judge their own findings.
    #[error(
        "`{by}` recorded finding `{id}` and cannot waive or lower it; somebody else has to (`--by NAME`)"
    )]
    OwnFinding {
        /// The finding.
        id: FindingId,
        /// Who tried.
        by: String,
    },
    /// Somebody spoke in a reviewer's name who may not.
    #[error(
        "`{reviewer}` cannot report on plan {plan}: {why}; a person hands out plans with `lictor council plan`"
    )]
    NotInvited {
        /// The plan.
        plan: PlanHash,
        /// The reviewer.
        reviewer: String,
        /// Why not.
        why: &'static str,
    },
    /// A plan that still stops something.
    #[error("plan {0} has open findings that stop commits; clear or waive them first")]
    StillOpen(PlanHash),
    /// A ruling nobody answers for.
    #[error("a {0} needs {1}")]
    Unaccountable(&'static str, &'static str),
    /// A waiver that has already ended.
    #[error("the waiver would end in the past; give a time in the future (`--until 30d`)")]
    EndsInThePast,
}

impl LedgerError {
    pub(crate) fn corrupt(what: &'static str, detail: &dyn fmt::Display) -> Self {
        Self::Corrupt { what, detail: detail.to_string() }
    }
}
