//! The findings ledger: what reviewers found, what became of it, and whether that lets work be committed.
//!
//! * [`Claim`], [`Finding`], [`Evidence`], [`PlanVerdict`] are the pure model. A plan's level is always worked out from
//!   its open findings and never stored.
//! * [`Ledger`] keeps them in a [`lictor_store::Store`]: one event and one change of the projection per transaction.
//!   Nothing is removed; clearing and waiving are events by somebody who gives a reason.
//! * [`binding`] ties evidence to content. A finding counts for the trees that hold what the reviewer saw.
//! * [`council`] runs reviewers and attests that each of them reported; [`gate`] judges trees.
//! * [`sarif`] and [`jsonl`] let findings in and out; [`render`] shows them; [`hooks`] puts the gate into git.
//!
//! It does not decide who may clear or waive: that agents cannot is the business of the guards. It does not read policy
//! files: `councils:` arrives as [`council::Councils`]. It does not open stores or look for repositories by itself.

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
