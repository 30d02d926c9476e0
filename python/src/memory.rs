//! What a guard remembers of a session, while it hears what came of an action.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use lictor::GuardMemory;
use pyo3::prelude::*;
use serde_json::Value;

use crate::json;

/// A guard's values by key, and what it changed. Changes count while the guard is told, not later.
#[pyclass(frozen, module = "lictor._lictor")]
pub(crate) struct RawMemory {
    kept: BTreeMap<String, Value>,
    changed: Mutex<BTreeMap<String, Option<Value>>>,
}

impl RawMemory {
    pub(crate) fn new(kept: BTreeMap<String, Value>) -> Self {
        Self { kept, changed: Mutex::default() }
    }

    /// Hands the changes to the session.
    pub(crate) fn close(&self, memory: &mut GuardMemory<'_>) {
        for (key, value) in std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner))
        {
            match value {
                Some(value) => drop(memory.remember(&key, value)),
                None => memory.forget(&key),
            }
        }
    }
}

#[pymethods]
impl RawMemory {
    fn recall<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        let value = match changed.get(key) {
            Some(value) => value.as_ref(),
            None => self.kept.get(key),
        };
        value.map(|value| json::to_python(py, value)).transpose()
    }

    fn remember(&self, key: String, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = json::value(value)?;
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Some(value));
        Ok(())
    }

    fn forget(&self, key: String) {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).insert(key, None);
    }
}
