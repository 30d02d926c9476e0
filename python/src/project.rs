//! A governed project: the policy files and the store that hooks use, behind the methods of `lictor rpc`.

use std::path::PathBuf;

use lictor::{Options, Runtime, rpc};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::json;

/// The runtime of a project.
#[pyclass(frozen, module = "lictor._lictor")]
pub(crate) struct RawProject(Runtime);

#[pymethods]
impl RawProject {
    /// The project around a directory.
    #[staticmethod]
    fn open(py: Python<'_>, directory: PathBuf) -> PyResult<Self> {
        py.detach(|| Runtime::open(directory))
            .map(Self)
            .map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// A policy without a project, kept in memory.
    #[staticmethod]
    fn from_yaml(py: Python<'_>, text: &str, directory: PathBuf) -> PyResult<Self> {
        let options = || Options::from_process().cwd(directory).store(lictor::MemoryStore::new());
        let opened = py.detach(|| Runtime::from_yaml(text, options()));
        opened.map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Calls a method. Gives its result, or its error as `(kind, message, fix)`.
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        params: &Bound<'py, PyAny>,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, Option<(String, String, String)>)> {
        let params = json::value(params)?;
        match py.detach(|| rpc::dispatch(&self.0, method, params)) {
            Ok(result) => Ok((Some(json::to_python(py, &result)?), None)),
            Err(error) => {
                Ok((None, Some((error.kind().to_owned(), error.to_string(), error.fix().to_owned()))))
            }
        }
    }
}
