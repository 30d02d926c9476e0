//! From the description of a graph in Python to the graph itself.
//!
//! A description is a tuple that begins with what it is; `lictor/nodes.py` makes them. One guard object that stands in
//! several places has one key and becomes one guard.

use std::collections::HashMap;
use std::sync::Arc;

use lictor::facts::Cardinality;
use lictor::guards::{
    BashSafety, Budget, FileBoundary, FileBoundaryConfig, KnownTools, LayerIsolation, Network, RateLimit,
    RiskLimit, Rules, Sandbox, Secrets, SelfProtection,
};
use lictor::{
    All, Any, Callbacks, Catalogue, Escalate, Layer, Node, Not, Policy, PolicySet, SharedGuard, Threshold,
    When,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::Value;

use crate::guard::{self, PyGuard};
use crate::json::{self, read};

/// Builds one graph.
pub(crate) struct Factory<'py> {
    known: HashMap<usize, SharedGuard>,
    context: Bound<'py, PyAny>,
}

impl<'py> Factory<'py> {
    pub(crate) fn new(context: Bound<'py, PyAny>) -> Self {
        Self { known: HashMap::new(), context }
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
        let make_context = self.context.clone().unbind();
        let when = When::fallible(move |_, context| guard::condition(&condition, &make_context, context));
        let when = when.then(self.node(&then)?);
        let when = match otherwise {
            Some(node) => when.otherwise(self.node(&node)?),
            None => when,
        };
        Ok(named(when.into(), name))
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
            "policies" => policies(parts),
            _ => {
                let (config, root): (Bound<'py, PyAny>, String) = tail(parts)?;
                built_in(&kind, json::value(&config)?, &root)
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
fn tail<'py, T>(parts: &Bound<'py, PyTuple>) -> PyResult<T>
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

fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
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

/// A policy as `lictor/policies.py` writes it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFields {
    name: String,
    verb: String,
    object: String,
    cardinality: Option<Cardinality>,
    requires_confirmation: bool,
    callback: Option<String>,
    message: Option<String>,
    fix: Option<String>,
    paths: Vec<String>,
    hosts: Vec<String>,
    tools: Vec<String>,
}

impl PolicyFields {
    fn policy(self) -> PyResult<Policy> {
        let mut policy = Policy::new(self.name, self.verb, self.object);
        policy.cardinality = self.cardinality;
        policy.requires_confirmation = self.requires_confirmation;
        policy.callback = self.callback;
        policy.fix = self.fix;
        (policy.paths, policy.hosts, policy.tools) = (self.paths, self.hosts, self.tools);
        match self.message {
            Some(text) => policy.message(&text).map_err(wrong),
            None => Ok(policy),
        }
    }
}

/// `("policies", name, [policy, …], {callback: callable})`.
fn policies(parts: &Bound<'_, PyTuple>) -> PyResult<SharedGuard> {
    let (name, rules, functions): (String, Bound<'_, PyAny>, Bound<'_, PyDict>) = tail(parts)?;
    let mut callbacks = Callbacks::new();
    for (called, function) in functions {
        let function = function.unbind();
        let called: String = called.extract()?;
        let run = move |call: &lictor::policy::Call<'_>| guard::callback(&function, call);
        callbacks.register(&called, run).map_err(wrong)?;
    }
    let rules: Vec<PolicyFields> = read(json::value(&rules)?)?;
    let policies = rules.into_iter().map(PolicyFields::policy).collect::<PyResult<Vec<_>>>()?;
    let set = PolicySet::new(policies, &callbacks, Catalogue::default());
    let set =
        set.map_err(|errors| wrong(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    Ok(Arc::new(set.named(name)))
}
