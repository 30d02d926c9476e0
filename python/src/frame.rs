//! What belongs to one evaluation on one thread: the Python action, and an interruption to raise when it is over.

use std::cell::RefCell;
use std::sync::Arc;

use lictor::{Context, SessionState};
use pyo3::prelude::*;

struct Frame {
    action: Py<PyAny>,
    /// This session and those above it, copied once for all Python guards of the evaluation.
    lineage: Option<Arc<Vec<SessionState>>>,
    interruption: Option<PyErr>,
}

thread_local! {
    // Guards may evaluate another action, so frames are stacked.
    static FRAMES: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// Runs an evaluation of that action. An interruption of a guard (Ctrl-C, exit, cancellation) is raised afterwards: the
/// evaluation has then ended as a block and is on record.
pub(crate) fn during<T>(action: Py<PyAny>, evaluate: impl FnOnce() -> T) -> PyResult<T> {
    FRAMES.with_borrow_mut(|frames| frames.push(Frame { action, lineage: None, interruption: None }));
    let result = evaluate();
    let frame = FRAMES.with_borrow_mut(Vec::pop);
    match frame.and_then(|frame| frame.interruption) {
        Some(interruption) => Err(interruption),
        None => Ok(result),
    }
}

/// The Python object that is judged.
pub(crate) fn action(py: Python<'_>) -> Option<Py<PyAny>> {
    FRAMES.with_borrow(|frames| frames.last().map(|frame| frame.action.clone_ref(py)))
}

/// The sessions that a guard may ask about.
pub(crate) fn lineage(context: &Context<'_>) -> Arc<Vec<SessionState>> {
    let copy = || Arc::new(context.lineage().cloned().collect::<Vec<_>>());
    FRAMES.with_borrow_mut(|frames| match frames.last_mut() {
        Some(frame) => Arc::clone(frame.lineage.get_or_insert_with(copy)),
        None => copy(),
    })
}

/// Keeps the first interruption of this evaluation.
pub(crate) fn interrupted(error: PyErr) {
    FRAMES.with_borrow_mut(|frames| {
        if let Some(frame) = frames.last_mut() {
            frame.interruption.get_or_insert(error);
        }
    });
}
