//! Plain data between Python and the engine. Nothing is rounded, replaced or dropped: what is judged is what is run.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// How deep payloads may be nested.
const MAX_DEPTH: usize = 64;

/// A payload: a mapping with text as keys. `at` is how errors call it.
pub(crate) fn object(data: &Bound<'_, PyAny>, at: &str) -> PyResult<Map<String, Value>> {
    match value_at(data, at, 0)? {
        Value::Object(fields) => Ok(fields),
        _ => Err(wrong(at, "is not a mapping")),
    }
}

pub(crate) fn value(data: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_at(data, "value", 0)
}

fn wrong(at: &str, what: &str) -> PyErr {
    PyValueError::new_err(format!("`{at}` {what}"))
}

/// Text that is not Unicode is refused: a replaced character would be judged instead of the one that is run.
pub(crate) fn text(data: &Bound<'_, PyString>, at: &str) -> PyResult<String> {
    match data.to_str() {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(wrong(at, "is not Unicode text")),
    }
}

fn value_at(data: &Bound<'_, PyAny>, at: &str, depth: usize) -> PyResult<Value> {
    if depth > MAX_DEPTH {
        return Err(wrong(at, "is nested too deeply"));
    }
    if data.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(string) = data.cast::<PyString>() {
        return Ok(Value::String(text(string, at)?));
    }
    if let Ok(boolean) = data.cast::<PyBool>() {
        return Ok(Value::Bool(boolean.is_true()));
    }
    if data.is_instance_of::<PyInt>() {
        let signed = data.extract::<i64>().map(Number::from);
        let number = signed.or_else(|_| data.extract::<u64>().map(Number::from));
        return number.map(Value::Number).map_err(|_| wrong(at, "is a number beyond 64 bits"));
    }
    if data.is_instance_of::<PyFloat>() {
        let number = Number::from_f64(data.extract()?);
        return number.map(Value::Number).ok_or_else(|| wrong(at, "is not a finite number"));
    }
    if let Ok(mapping) = data.cast::<PyMapping>() {
        return fields(mapping, at, depth);
    }
    if data.is_instance_of::<PyList>() || data.is_instance_of::<PyTuple>() {
        let items = data.cast::<PySequence>()?.try_iter()?;
        let items =
            items.enumerate().map(|(index, item)| value_at(&item?, &format!("{at}[{index}]"), depth + 1));
        return Ok(Value::Array(items.collect::<PyResult<_>>()?));
    }
    let name = data.get_type().name()?;
    Err(wrong(at, &format!("is a `{name}`, which is not plain data")))
}

fn fields(mapping: &Bound<'_, PyMapping>, at: &str, depth: usize) -> PyResult<Value> {
    let mut fields = Map::new();
    for item in mapping.items()? {
        let (key, item): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let key = key.cast_into::<PyString>().map_err(|_| wrong(at, "has a key that is not text"))?;
        let key = key.to_str().map_err(|_| wrong(at, "has a key that is not Unicode text"))?.to_owned();
        let below = format!("{at}.{key}");
        fields.insert(key, value_at(&item, &below, depth + 1)?);
    }
    Ok(Value::Object(fields))
}

/// The same data as Python has it.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(signed), _) => signed.into_pyobject(py)?.into_any(),
            (None, Some(unsigned)) => unsigned.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| to_python(py, item)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, value) in fields {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Anything that serialises, as plain Python data.
pub(crate) fn plain<'py>(py: Python<'py>, data: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(data).map_err(|error| PyValueError::new_err(error.to_string()))?;
    to_python(py, &value)
}

/// Text that is JSON, as plain Python data.
pub(crate) fn parsed<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &serde_json::from_str(text).map_err(wrong_form)?)
}

/// Plain data as one of the engine's types.
pub(crate) fn read<T: serde::de::DeserializeOwned>(value: Value) -> PyResult<T> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let at = error.path().to_string();
        let at = if at == "." { String::new() } else { format!("`{at}`: ") };
        wrong_form(format!("{at}{}", error.inner()))
    })
}

fn wrong_form(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
