//! The package's own exceptions, with the words, the next step and the kind that the engine gives them.

use lictor::Fixable;
use pyo3::prelude::*;

/// The exceptions of `lictor.errors` that the bridge raises.
#[derive(Clone, Copy)]
pub(crate) enum Class {
    Action,
    Approval,
    Graph,
    Ledger,
    Policy,
    Store,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Self::Action => "ActionError",
            Self::Approval => "ApprovalError",
            Self::Graph => "GraphError",
            Self::Ledger => "LedgerError",
            Self::Policy => "PolicyError",
            Self::Store => "StoreError",
        }
    }
}

/// The engine's own errors say the next step themselves: it is not said twice.
pub(crate) fn raised(class: Class, error: &impl Fixable) -> PyErr {
    let text = error.to_string();
    let raised = told(class, &text, error.fix(), error.kind(), Vec::new());
    // Without it the error reads as it would have: nothing is lost.
    Python::attach(|py| drop(raised.value(py).setattr("args", (text,))));
    raised
}

/// As [`raised`], with every single thing that is wrong.
pub(crate) fn told(class: Class, text: &str, fix: &str, kind: &str, errors: Vec<String>) -> PyErr {
    Python::attach(|py| {
        let made = py.import("lictor.errors").and_then(|errors| errors.getattr(class.name()));
        match made.and_then(|made| made.call1((text, fix, kind, errors))) {
            Ok(made) => PyErr::from_value(made),
            Err(error) => error,
        }
    })
}

/// What a runtime could not do: a policy that is refused is the author's to mend, everything else is the store's.
pub(crate) fn in_runtime(error: &lictor::Error) -> PyErr {
    let class = match error.kind() {
        "policy_refused" | "policy_unusable" => Class::Policy,
        _ => Class::Store,
    };
    let all = match error {
        lictor::Error::Policy(refused) => refused
            .diagnostics
            .iter()
            .map(|one| format!("{}:{}:{}: {}", one.file, one.span.line, one.span.column, one.message))
            .collect(),
        _ => Vec::new(),
    };
    told(class, &error.chain(), error.fix(), error.kind(), all)
}
