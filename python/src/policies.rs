//! Policies on `verb → object`: as a guard of a graph, or judged by themselves.

use std::sync::Arc;

use lictor::facts::{Cardinality, Effect};
use lictor::policy::{CallContext, Effect as Without, PolicyEvaluation, Ungrounded};
use lictor::{
    Answer, Callbacks, Catalogue, Clock as _, Facts, Policy, PolicySet, SessionState, SharedGuard,
    SystemClock,
};
use lictor_observe::{Project, RealObserver};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::action::RawAction;
use crate::errors::{self, Class};
use crate::frame::Frame;
use crate::json::{self, read};
use crate::{graph, guard};

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
    effect: Option<Without>,
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
        policy.effect = self.effect;
        policy.fix = self.fix;
        (policy.paths, policy.hosts, policy.tools) = (self.paths, self.hosts, self.tools);
        match self.message {
            Some(text) => policy.message(&text).map_err(|error| {
                errors::told(Class::Policy, &error.to_string(), "correct the message", "message", Vec::new())
            }),
            None => Ok(policy),
        }
    }
}

/// `("policies", name, [policy, …], {callback: callable}, [verb, …], [object, …], ungrounded)`.
fn set(parts: &Bound<'_, PyTuple>) -> PyResult<PolicySet> {
    type Parts<'py> = (String, Bound<'py, PyAny>, Bound<'py, PyDict>, Vec<String>, Vec<String>, String);
    let (name, rules, functions, verbs, objects, ungrounded): Parts<'_> = graph::tail(parts)?;
    let mut callbacks = Callbacks::new();
    for (called, function) in functions {
        let function = function.unbind();
        let called: String = called.extract()?;
        let run = move |call: &lictor::policy::Call<'_>| guard::callback(&function, call);
        callbacks.register(&called, run).map_err(|error| errors::raised(Class::Policy, &error))?;
    }
    let rules: Vec<PolicyFields> = read(json::value(&rules)?)?;
    let policies = rules.into_iter().map(PolicyFields::policy).collect::<PyResult<Vec<_>>>()?;
    let catalogue = Catalogue::default().with_verbs(verbs).with_objects(objects);
    let set = PolicySet::new(policies, &callbacks, catalogue).map_err(|wrong| refused(&wrong))?;
    Ok(set.named(name).ungrounded(word::<Ungrounded>(ungrounded)?))
}

fn refused(wrong: &[lictor::policy::PolicyError]) -> PyErr {
    let all: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    let (fix, kind) = wrong.first().map_or(("", ""), |one| {
        use lictor::Fixable as _;
        (one.fix(), one.kind())
    });
    errors::told(Class::Policy, &all.join("\n"), fix, kind, all.clone())
}

fn word<T: DeserializeOwned>(name: String) -> PyResult<T> {
    read(Value::String(name))
}

/// The policies as one guard.
pub(crate) fn as_guard(parts: &Bound<'_, PyTuple>) -> PyResult<SharedGuard> {
    Ok(Arc::new(set(parts)?))
}

/// Policies without a graph. Nothing is recorded.
#[pyclass(frozen, module = "lictor._lictor")]
pub(crate) struct RawPolicies {
    set: PolicySet,
    project: Project,
}

#[pymethods]
impl RawPolicies {
    #[new]
    fn new(description: &Bound<'_, PyTuple>, directory: &str) -> PyResult<Self> {
        Ok(Self { set: set(description)?, project: Project::discover(directory, &RealObserver) })
    }

    /// What the policies say about these concepts, `(verb, object)`, or about what the action does. Never asks.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        concepts: Option<Vec<(String, String)>>,
        cardinality: Option<String>,
        action: &Bound<'py, RawAction>,
        seen: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found =
            self.judged(py, concepts, cardinality, &action.get().0, seen, |set, facts, many, call| {
                let PolicyEvaluation { decision, violations } = set.evaluate(facts, many, Some(call));
                json!({"action": decision, "violations": violations})
            })?;
        json::to_python(py, &found)
    }

    /// As `evaluate`, and settles what has to be confirmed: `on_policy` gets all violations and answers each.
    fn check<'py>(
        &self,
        py: Python<'py>,
        concepts: Option<Vec<(String, String)>>,
        cardinality: Option<String>,
        action: &Bound<'py, RawAction>,
        seen: Py<PyAny>,
        on_policy: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found =
            self.judged(py, concepts, cardinality, &action.get().0, seen, |set, facts, many, call| {
                let frame = Frame::of(call.companion);
                let ask = on_policy.as_ref().map(|on_policy| {
                    move |violations: &[lictor::policy::Violation]| answers(on_policy, violations, frame)
                });
                json!(set.check_policy(facts, many, Some(call), ask))
            })?;
        json::to_python(py, &found)
    }
}

impl RawPolicies {
    fn judged(
        &self,
        py: Python<'_>,
        concepts: Option<Vec<(String, String)>>,
        cardinality: Option<String>,
        action: &lictor::Action,
        seen: Py<PyAny>,
        judge: impl FnOnce(&PolicySet, &Facts, Option<Cardinality>, &CallContext<'_>) -> Value + Send,
    ) -> PyResult<Value> {
        let cardinality = cardinality.map(word::<Cardinality>).transpose()?;
        let companion = Frame::companion(seen);
        let found = py.detach(|| {
            let facts = match concepts {
                Some(concepts) => stated(concepts, cardinality),
                None => lictor_observe::facts(action, &self.project, &RealObserver),
            };
            let session = SessionState::default();
            let mut call = CallContext::new(action, &session, SystemClock.now());
            call.companion = Some(&companion);
            judge(&self.set, &facts, cardinality, &call)
        });
        Frame::of(Some(&companion)).map_or(Ok(()), Frame::finish)?;
        Ok(found)
    }
}

/// Facts that somebody states in the words of the catalogue.
fn stated(concepts: Vec<(String, String)>, cardinality: Option<Cardinality>) -> Facts {
    let cardinality = cardinality.unwrap_or(Cardinality::Unknown);
    let effect = |(verb, object)| Effect::Deed { verb, object, cardinality, what: None };
    Facts { effects: concepts.into_iter().map(effect).collect(), opaque: Vec::new() }
}

/// What the program answers. Anything else than one answer for each is none, and none is a no.
fn answers(
    on_policy: &Py<PyAny>,
    violations: &[lictor::policy::Violation],
    frame: Option<&Frame>,
) -> Vec<Answer> {
    let asked = guard::attached(|py| -> PyResult<Vec<Answer>> {
        let given = on_policy.bind(py).call1((json::plain(py, &violations)?,))?;
        read(json::value(&given)?)
    });
    match asked {
        Some(Ok(answers)) => answers,
        Some(Err(error)) => {
            if let Some(frame) = frame {
                guard::fault("`on_policy`", error, frame);
            }
            Vec::new()
        }
        None => Vec::new(),
    }
}
