//! From the description of a graph in Python to the graph itself.
//!
//! A description is a tuple that begins with what it is; `lictor/nodes.py` makes them. One guard object that stands in
//! several places has one key and becomes one guard.

use std::collections::HashMap;
use std::sync::Arc;

use lictor::config::Condition;
use lictor::guards::{
    BashSafety, Budget, FileBoundary, FileBoundaryConfig, KnownTools, LayerIsolation, Network, RateLimit,
    RiskLimit, Rules, Sandbox, Secrets, SelfProtection,
};
use lictor::history::History;
use lictor::{All, Any, Escalate, Layer, Node, Not, SharedGuard, Threshold, When};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use serde_json::Value;

use crate::errors::{self, Class};
use crate::guard::{self, PyGuard};
use crate::json::{self, read};
use crate::policies;

/// Builds one graph.
pub(crate) struct Factory<'py> {
    known: HashMap<usize, SharedGuard>,
    context: Bound<'py, PyAny>,
    history: History,
}

impl<'py> Factory<'py> {
    pub(crate) fn new(context: Bound<'py, PyAny>) -> Self {
        Self { known: HashMap::new(), context, history: History::default() }
    }

    /// What conditions of the graph ask the past about.
    pub(crate) fn history(self) -> History {
        self.history
    }

    pub(crate) fn node(&mut self, description: &Bound<'py, PyAny>) -> PyResult<Node> {
        let parts = description.cast::<PyTuple>()?;
        let kind: String = parts.get_item(0)?.extract()?;
        match kind.as_str() {
            "guard" => self.leaf(parts),
            "all" => {
                let (children, short, name): (Vec<Bound<'py, PyAny>>, bool, Option<String>) = tail(parts)?;
                let all = All::new(self.nodes(&children)?);
                let all = if short { all.short_circuit() } else { all };
                Ok(named(all.into(), name))
            }
            "any" => {
                let (children, name): (Vec<Bound<'py, PyAny>>, Option<String>) = tail(parts)?;
                Ok(named(Any::new(self.nodes(&children)?).into(), name))
            }
            "not" => {
                let (child, reason, fix, name): (Bound<'py, PyAny>, String, String, Option<String>) =
                    tail(parts)?;
                Ok(named(Not::new(self.node(&child)?, reason, fix).into(), name))
            }
            "when" => self.when(parts),
            "threshold" => {
                let (least, children, short, name): (usize, Vec<Bound<'py, PyAny>>, bool, Option<String>) =
                    tail(parts)?;
                let threshold = Threshold::new(least, self.nodes(&children)?);
                let threshold = if short { threshold.short_circuit() } else { threshold };
                Ok(named(threshold.into(), name))
            }
            "escalate" => {
                let (primary, fallback, human, name): (
                    Bound<'py, PyAny>,
                    Bound<'py, PyAny>,
                    bool,
                    Option<String>,
                ) = tail(parts)?;
                let escalate = Escalate::new(self.node(&primary)?, self.node(&fallback)?);
                let escalate = if human { escalate.override_needs_human() } else { escalate };
                Ok(named(escalate.into(), name))
            }
            _ => Err(PyValueError::new_err(format!("`{kind}` is not a node"))),
        }
    }

    fn nodes(&mut self, children: &[Bound<'py, PyAny>]) -> PyResult<Vec<Node>> {
        children.iter().map(|child| self.node(child)).collect()
    }

    fn when(&mut self, parts: &Bound<'py, PyTuple>) -> PyResult<Node> {
        type When_<'py> = (Py<PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<String>);
        let (condition, then, otherwise, name): When_<'py> = tail(parts)?;
        let when = match condition.bind(then.py()).cast::<PyString>() {
            Ok(source) => self.expression(&json::text(source, "condition")?)?,
            Err(_) => {
                let make_context = self.context.clone().unbind();
                When::fallible(move |_, context| guard::condition(&condition, &make_context, context))
            }
        };
        let when = when.then(self.node(&then)?);
        let when = match otherwise {
            Some(node) => when.otherwise(self.node(&node)?),
            None => when,
        };
        Ok(named(when.into(), name))
    }

    /// A condition in the language of `governance.yaml`.
    fn expression(&mut self, source: &str) -> PyResult<When> {
        let condition = Condition::compile(source, &mut self.history).map_err(|wrong| {
            let all: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            let text = format!("`{source}` is not a condition: {}", all.join("; "));
            errors::told(Class::Policy, &text, "docs/expressions.md has the language", "condition", all)
        })?;
        Ok(When::fallible(move |action, context| condition.holds(action, context)))
    }

    fn leaf(&mut self, parts: &Bound<'py, PyTuple>) -> PyResult<Node> {
        let (key, name, guard): (usize, Option<String>, Bound<'py, PyTuple>) = tail(parts)?;
        let shared = match self.known.get(&key) {
            Some(shared) => Arc::clone(shared),
            None => {
                let shared = self.guard(&guard)?;
                self.known.insert(key, Arc::clone(&shared));
                shared
            }
        };
        Ok(named(shared.into(), name))
    }

    /// One guard: `("python", name, layer, check, sees_context, on_result)`, `("policies", …)` or a built-in with its settings.
    pub(crate) fn guard(&self, parts: &Bound<'py, PyTuple>) -> PyResult<SharedGuard> {
        let kind: String = parts.get_item(0)?.extract()?;
        match kind.as_str() {
            "python" => Ok(Arc::new(self.python(parts)?)),
            "policies" => policies::as_guard(parts),
            _ => {
                let (config, root): (Bound<'py, PyAny>, String) = tail(parts)?;
                built_in(&kind, json::value(&config)?, &root).map_err(|error| in_settings(&kind, error))
            }
        }
    }

    pub(crate) fn python(&self, parts: &Bound<'py, PyTuple>) -> PyResult<PyGuard> {
        type Parts = (String, String, Py<PyAny>, bool, Option<Py<PyAny>>);
        let (name, layer, check, sees_context, on_result): Parts = tail(parts)?;
        let layer = read::<Layer>(Value::String(layer))?;
        let context = self.context.clone().unbind();
        Ok(PyGuard { name, layer, check, sees_context, context, on_result })
    }
}

/// What stands behind the first item.
pub(crate) fn tail<'py, T>(parts: &Bound<'py, PyTuple>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    parts.get_slice(1, parts.len()).extract()
}

fn named(node: Node, name: Option<String>) -> Node {
    match name {
        Some(name) => node.named(&name),
        None => node,
    }
}

fn wrong(error: impl lictor::Fixable) -> PyErr {
    errors::raised(Class::Policy, &error)
}

/// Says whose settings they are. What the guard itself refused is a sentence already.
fn in_settings(kind: &str, error: PyErr) -> PyErr {
    Python::attach(|py| {
        if !error.get_type(py).is(py.get_type::<PyValueError>()) {
            return error;
        }
        let text = format!("the settings of `{kind}` cannot be used: {}", error.value(py));
        errors::told(Class::Policy, &text, "correct what stands there", "settings", Vec::new())
    })
}

fn built_in(kind: &str, config: Value, root: &str) -> PyResult<SharedGuard> {
    Ok(match kind {
        "bash_safety" => Arc::new(BashSafety::new(read(config)?).map_err(wrong)?),
        "file_boundary" => Arc::new(FileBoundary::new(&read::<FileBoundaryConfig>(config)?, root)),
        "layer_isolation" => Arc::new(LayerIsolation::new(read(config)?).map_err(wrong)?),
        "sandbox" => Arc::new(Sandbox::new(read(config)?)),
        "budget" => Arc::new(Budget::new(read(config)?)),
        "network" => Arc::new(Network::new(read(config)?)),
        "known_tools" => Arc::new(KnownTools::new(read(config)?)),
        "rate_limit" => Arc::new(RateLimit::new(read(config)?)),
        "risk" => Arc::new(RiskLimit::new(read(config)?).map_err(wrong)?),
        "rules" => Arc::new(Rules::new(&read(config)?).map_err(wrong)?),
        "secrets" => Arc::new(Secrets::new(read(config)?)),
        "self_protection" => Arc::new(SelfProtection),
        _ => return Err(PyValueError::new_err(format!("`{kind}` is not a guard"))),
    })
}
