use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Branch, NodeKind, Site, Status};
use crate::decision::Value;
use crate::guard::Layer;
use crate::risk::Risk;

/// The trace of one evaluation: every node in the order in which nodes were finished or skipped.
///
/// It stores node numbers and looks up names when it is read, so that recording a step copies no text and changes
/// no reference count. Every evaluation records a step for every node.
#[derive(Clone, Default)]
pub struct Trace {
    nodes: Arc<[Listed]>,
    steps: Vec<Step>,
}

/// One visited node, or one skipped node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEntry<'a> {
    /// Its path in the graph.
    pub path: Cow<'a, str>,
    /// Name of the guard or combinator; an unnamed combinator has its kind as name.
    pub name: Cow<'a, str>,
    /// Its kind.
    pub kind: NodeKind,
    /// Its layer. For a combinator, the lowest layer below it.
    pub layer: Layer,
    /// Its value; `None` when it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Whether it counted.
    pub status: Status,
    /// The branch that a `When` or an `Escalate` took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// Risk when it was entered.
    #[serde(default, skip_serializing_if = "Risk::is_none")]
    pub risk_before: Risk,
    /// Risk when it was left.
    #[serde(default, skip_serializing_if = "Risk::is_none")]
    pub risk_after: Risk,
    /// Annotations that it wrote, by their full names.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub noted: Cow<'a, [String]>,
    /// How long it took including its children, if the evaluation was timed. Not recorded: equal evaluations must
    /// have equal records.
    #[serde(skip)]
    pub took: Option<Duration>,
}

/// A node that steps are about.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) site: Arc<Site>,
    pub(crate) kind: NodeKind,
}

/// What happened at one node.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The number of the node in the graph's list.
    pub(crate) node: u32,
    pub(crate) value: Option<Value>,
    pub(crate) status: Status,
    pub(crate) branch: Option<Branch>,
    pub(crate) risk_before: Risk,
    pub(crate) risk_after: Risk,
    pub(crate) noted: Vec<String>,
    pub(crate) took: Option<Duration>,
}

impl Trace {
    /// An empty trace of these nodes, with space for one step each.
    pub(crate) fn through(nodes: &Arc<[Listed]>) -> Self {
        Self { nodes: Arc::clone(nodes), steps: Vec::with_capacity(nodes.len()) }
    }

    /// How many steps there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether nothing was asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The steps, in order.
    pub fn iter(&self) -> impl Iterator<Item = TraceEntry<'_>> + Clone {
        self.steps.iter().filter_map(|step| {
            // Every step refers to a node of the list.
            let Listed { site, kind } = self.nodes.get(usize::try_from(step.node).ok()?)?;
            Some(TraceEntry {
                path: Cow::Borrowed(&site.path),
                name: Cow::Borrowed(&site.name),
                kind: *kind,
                layer: site.layer,
                value: step.value,
                status: step.status,
                branch: step.branch,
                risk_before: step.risk_before,
                risk_after: step.risk_after,
                noted: Cow::Borrowed(&step.noted),
                took: step.took,
            })
        })
    }

    /// Copies the durations from an equal trace; records do not contain them.
    pub fn timed_as(&mut self, other: &Self) {
        for (step, timed) in self.steps.iter_mut().zip(&other.steps) {
            step.took = timed.took;
        }
    }

    /// Whether an override counts: a primary blocked, but the action may still be allowed.
    pub(crate) fn escalated(&self) -> bool {
        // Only an `Escalate` has this branch.
        self.steps.iter().any(|step| {
            step.branch == Some(Branch::Fallback)
                && step.status == Status::Active
                && step.value.is_some_and(|value| value <= Value::Ask)
        })
    }

    /// Adds the step that `make` returns, constructed in place after the reservation, to avoid a copy.
    pub(crate) fn push(&mut self, make: impl FnOnce() -> Step) {
        self.steps.extend(std::iter::once_with(make));
    }

    /// Marks the steps between these two as superseded.
    pub(crate) fn supersede(&mut self, from: usize, to: usize) {
        for step in self.steps.get_mut(from..to).into_iter().flatten() {
            if step.status == Status::Active {
                step.status = Status::Superseded;
            }
        }
    }
}

/// A path that was written down elsewhere.
impl<'a> FromIterator<TraceEntry<'a>> for Trace {
    fn from_iter<I: IntoIterator<Item = TraceEntry<'a>>>(entries: I) -> Self {
        let (nodes, steps): (Vec<Listed>, Vec<Step>) = (0..)
            .zip(entries)
            .map(|(node, entry)| {
                let site = Site { name: entry.name.into(), path: entry.path.into(), layer: entry.layer };
                let step = Step {
                    node,
                    value: entry.value,
                    status: entry.status,
                    branch: entry.branch,
                    risk_before: entry.risk_before,
                    risk_after: entry.risk_after,
                    noted: entry.noted.into_owned(),
                    took: entry.took,
                };
                (Listed { site: Arc::new(site), kind: entry.kind }, step)
            })
            .unzip();
        Self { nodes: nodes.into(), steps }
    }
}

/// Two traces are equal when their entries are, whatever the numbers of their nodes.
impl PartialEq for Trace {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Trace {}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Trace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<TraceEntry<'_>>::deserialize(deserializer).map(Self::from_iter)
    }
}

fn is_empty(noted: &[String]) -> bool {
    noted.is_empty()
}

#[cfg(test)]
mod tests;
