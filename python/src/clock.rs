//! A clock that stands still, for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use lictor::{Clock, Timestamp};
use pyo3::prelude::*;

/// Milliseconds since 1970, moved by hand.
#[pyclass(frozen, module = "lictor._lictor")]
pub(crate) struct RawClock(Arc<AtomicI64>);

impl RawClock {
    pub(crate) fn shared(&self) -> Fixed {
        Fixed(Arc::clone(&self.0))
    }
}

#[pymethods]
impl RawClock {
    #[new]
    fn new(millis: i64) -> Self {
        Self(Arc::new(AtomicI64::new(millis)))
    }

    #[getter]
    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::SeqCst);
    }
}

/// The same clock, as the engine reads it.
pub(crate) struct Fixed(Arc<AtomicI64>);

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}
