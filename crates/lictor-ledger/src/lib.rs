//! The findings ledger: reviewers' findings, their dispositions, and whether work may be committed.
//!
//! * [`Claim`], [`Finding`], [`Evidence`], [`PlanVerdict`] are the pure model. A plan's level is always computed
//!   from its open findings and never stored.
//! * [`Ledger`] keeps them in a [`lictor_store::Store`]: one event and one change of the projection per
//!   transaction. Nothing is removed; clearing and waiving are events with an author and a reason.
//! * [`binding`] ties evidence to content. A finding counts for the trees that contain what the reviewer saw.
//! * [`council`] runs reviewers and attests that each of them reported; [`gate`] judges trees.
//! * [`sarif`] and [`jsonl`] import and export findings; [`render`] displays them; [`hooks`] installs the gate in
//!   git.
//!
//! It does not decide who may clear or waive: the guards ensure that agents cannot. It does not read policy
//! files: `councils:` arrives as [`council::Councils`]. It does not open stores or look for repositories by
//! itself.

pub mod binding;
pub mod council;
pub mod ctx;
pub mod evidence;
pub mod finding;
pub mod gate;
pub mod hooks;
pub mod identity;
pub mod jsonl;
pub mod ledger;
pub mod level;
pub mod misread;
pub mod plain;
pub mod process;
pub mod render;
pub mod repository;
pub mod sarif;
pub mod verdict;

pub use evidence::Evidence;
pub use finding::{Claim, Disposition, Finding};
pub use identity::{FindingId, PlanHash};
pub use ledger::{Ledger, LedgerError, RepositoryId};
pub use level::Level;
pub use verdict::PlanVerdict;
