//! Councils: who must review what before work may continue, and the attestation that they did.

mod attestation;
mod config;
mod plan;
mod preset;
mod report;
mod run;

pub use attestation::{Attestation, Reported, State};
pub use config::{
    Budget, BudgetError, Council, CouncilError, Councils, Format, Globs, Patience, Preset, Reviewer, Scope,
    ScopeFiles, Trigger,
};
pub use plan::{Plan, PlanError, Situation, plan};
pub use run::{Progress, Setting, Trust, Where, run};
