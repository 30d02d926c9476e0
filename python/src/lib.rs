//! The bridge between the Python package and the engine: conversions and calls, no policy of its own.
//!
//! Every entry into the engine gives the interpreter away first, and every call back into Python takes it again, so
//! that no store is waited for while other Python threads stand still. What users import is typed Python in `lictor/`.

mod action;
mod approvals;
mod clock;
mod context;
mod engine;
mod errors;
mod evaluation;
mod extend;
mod forks;
mod frame;
mod graph;
mod guard;
mod json;
mod memory;
mod policies;
mod project;
mod words;

use pyo3::prelude::*;

#[pymodule]
mod _lictor {
    #[pymodule_export]
    use super::action::RawAction;
    #[pymodule_export]
    use super::clock::RawClock;
    #[pymodule_export]
    use super::context::RawContext;
    #[pymodule_export]
    use super::engine::RawEngine;
    #[pymodule_export]
    use super::evaluation::RawEvaluation;
    #[pymodule_export]
    use super::forks::{after_fork, before_fork};
    #[pymodule_export]
    use super::memory::RawMemory;
    #[pymodule_export]
    use super::policies::RawPolicies;
    #[pymodule_export]
    use super::project::RawProject;
    #[pymodule_export]
    use super::words::{finding_id, parse_evidence, render_feedback};
}
