//! Errors of the ledger.

use std::fmt;

use lictor_core::Fixable;
use lictor_store::StoreError;

use crate::identity::{Ambiguous, FindingId, PlanHash};

/// Why an operation of the ledger failed.
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
        /// The kind of entry.
        what: &'static str,
        /// The problem.
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
        /// The given id.
        id: String,
    },
    /// Authors do not judge their own findings.
    #[error(
        "`{by}` recorded finding `{id}` and cannot waive or lower it; somebody else has to (`--by NAME`)"
    )]
    OwnFinding {
        /// The finding.
        id: FindingId,
        /// The caller.
        by: String,
    },
    /// A report in a reviewer's name without permission.
    #[error(
        "`{reviewer}` cannot report on plan {plan}: {why}; a person hands out plans with `lictor council plan`"
    )]
    NotInvited {
        /// The plan.
        plan: PlanHash,
        /// The reviewer.
        reviewer: String,
        /// The reason, if it was not.
        why: &'static str,
    },
    /// A plan that still stops something.
    #[error("plan {0} has open findings that stop commits; clear or waive them first")]
    StillOpen(PlanHash),
    /// A ruling without an accountable person.
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

impl LedgerError {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Store(error) => (error.kind(), error.fix()),
            Self::Corrupt { .. } => ("corrupt", "run `lictor audit verify` to see where"),
            Self::Ambiguous(_) => ("ambiguous", "give more of the plan or the id"),
            Self::NoPlan(_) => ("no_plan", "look with `lictor verdict retro` at the plans that there are"),
            Self::NoFinding { .. } => {
                ("no_finding", "look with `lictor verdict show` at the findings of the plan")
            }
            Self::OwnFinding { .. } => ("own_finding", "let somebody else waive or lower it"),
            Self::NotInvited { .. } => {
                ("not_invited", "let a person hand out the plan with `lictor council plan`")
            }
            Self::StillOpen(_) => ("still_open", "clear or waive the open findings first"),
            Self::Unaccountable(..) => ("unaccountable", "say who decides it, and why"),
            Self::EndsInThePast => ("ends_in_the_past", "give a time in the future"),
        }
    }
}

impl Fixable for LedgerError {
    fn kind(&self) -> &'static str {
        self.words().0
    }

    fn fix(&self) -> &'static str {
        self.words().1
    }
}
