//! What belongs to one call into the engine: the Python action, and an interruption to raise when it is over.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use lictor::{Companion, Memory};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

/// Goes through an evaluation beside the action, also to another thread.
pub(crate) struct Frame {
    action: Py<PyAny>,
    interruption: Mutex<Option<PyErr>>,
}

impl Frame {
    /// The companion of an evaluation of that Python object.
    pub(crate) fn companion(action: Py<PyAny>) -> Companion {
        Companion::new(Self { action, interruption: Mutex::new(None) })
    }

    pub(crate) fn of(companion: Option<&Companion>) -> Option<&Self> {
        companion.and_then(Companion::get)
    }

    /// The Python object that is judged.
    pub(crate) fn action(&self, py: Python<'_>) -> Py<PyAny> {
        self.action.clone_ref(py)
    }

    /// Keeps the first interruption of a guard (Ctrl-C, exit, cancellation).
    pub(crate) fn interrupted(&self, error: PyErr) {
        self.interruption.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Raises an interruption: the evaluation has ended as a block by now and is on record.
    pub(crate) fn finish(&self) -> PyResult<()> {
        match self.interruption.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(interruption) => Err(interruption),
            None => Ok(()),
        }
    }
}

/// What guards are told after an action.
pub(crate) struct Told {
    pub(crate) action: Py<PyAny>,
    /// What the guards of the session remember.
    pub(crate) memory: Memory,
    pub(crate) interruption: Option<PyErr>,
}

thread_local! {
    // Guards hear of an outcome on the thread that reports it. They may evaluate and report themselves, so these are
    // stacked.
    static TOLD: RefCell<Vec<Told>> = const { RefCell::new(Vec::new()) };
}

/// Reports an outcome of that action, and raises an interruption afterwards.
pub(crate) fn telling<T>(told: Told, report: impl FnOnce() -> T) -> PyResult<T> {
    TOLD.with_borrow_mut(|stack| stack.push(told));
    let result = report();
    match TOLD.with_borrow_mut(Vec::pop).and_then(|told| told.interruption) {
        Some(interruption) => Err(interruption),
        None => Ok(result),
    }
}

/// Keeps what is no ordinary exception, to be raised again when the outcome is on record.
pub(crate) fn interrupts(error: &PyErr) {
    if let Some(error) = ending(error) {
        told(|told| {
            told.interruption.get_or_insert(error);
        });
    }
}

/// An exception that ends the program: Ctrl-C, exit, cancellation.
pub(crate) fn ending(error: &PyErr) -> Option<PyErr> {
    Python::try_attach(|py| {
        let ordinary = error.is_instance_of::<PyException>(py);
        (!ordinary).then(|| error.clone_ref(py))
    })
    .flatten()
}

/// Looks at, or changes, what guards are told now.
pub(crate) fn told<T>(look: impl FnOnce(&mut Told) -> T) -> Option<T> {
    TOLD.with_borrow_mut(|stack| stack.last_mut().map(look))
}
