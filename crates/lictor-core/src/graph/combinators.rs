//! The six combinators as builders.

use std::sync::Arc;

use super::{Children, Condition, Kind, Node, Quorum, SharedGuard};
use crate::action::Action;
use crate::context::Context;

/// All children must allow: the strictest child decides.
pub struct All {
    children: Vec<Node>,
    short_circuit: bool,
    name: Option<String>,
}

impl All {
    /// Of these children, in this order.
    pub fn new(children: impl Children) -> Self {
        Self { children: children.into_nodes(), short_circuit: false, name: None }
    }

    /// Stops at the first block. Never changes the decision, only how much is reported.
    #[must_use]
    pub fn short_circuit(mut self) -> Self {
        self.short_circuit = true;
        self
    }

    /// Gives it a name for traces.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl From<All> for Node {
    fn from(all: All) -> Self {
        let at_least = all.children.len();
        let node = Self::of(Kind::Quorum {
            shape: Quorum::All,
            at_least,
            children: all.children,
            short_circuit: all.short_circuit,
        });
        match all.name {
            Some(name) => node.named(&name),
            None => node,
        }
    }
}

/// One allowing child is enough: the least strict child decides. Stops at the first pass.
pub struct Any {
    children: Vec<Node>,
}

impl Any {
    /// Of these children, in this order.
    pub fn new(children: impl Children) -> Self {
        Self { children: children.into_nodes() }
    }
}

impl From<Any> for Node {
    fn from(any: Any) -> Self {
        Self::of(Kind::Quorum {
            shape: Quorum::Any,
            at_least: 1,
            children: any.children,
            short_circuit: false,
        })
    }
}

/// At least `n` children must allow: the n-th least strict child decides.
pub struct Threshold {
    at_least: usize,
    children: Vec<Node>,
    short_circuit: bool,
}

impl Threshold {
    /// At least `at_least` of these children.
    pub fn new(at_least: usize, children: impl Children) -> Self {
        Self { at_least, children: children.into_nodes(), short_circuit: false }
    }

    /// Stops as soon as the rest cannot change the result: enough passes, or too many blocks.
    #[must_use]
    pub fn short_circuit(mut self) -> Self {
        self.short_circuit = true;
        self
    }
}

impl From<Threshold> for Node {
    fn from(threshold: Threshold) -> Self {
        Self::of(Kind::Quorum {
            shape: Quorum::Threshold,
            at_least: threshold.at_least,
            children: threshold.children,
            short_circuit: threshold.short_circuit,
        })
    }
}

/// Allows what its child definitely blocks, and blocks what its child allows.
pub struct Not {
    child: Node,
    reason: String,
    fix: String,
}

impl Not {
    /// The child's reason explains the child, so `Not` needs its own reason and fix.
    pub fn new(child: impl Into<Node>, reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { child: child.into(), reason: reason.into(), fix: fix.into() }
    }
}

impl From<Not> for Node {
    fn from(not: Not) -> Self {
        Self::of(Kind::Not { child: Box::new(not.child), reason: not.reason, fix: not.fix })
    }
}

/// Selects one of two branches by a condition that is evaluated exactly once, in evaluation order.
pub struct When {
    condition: Condition,
    then: Option<Node>,
    otherwise: Option<Node>,
}

impl When {
    /// By a condition that always has an answer.
    pub fn new(condition: impl Fn(&Action, &Context<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self::fallible(move |action, context| Ok(condition(action, context)))
    }

    /// With a condition that may fail. A failure is an error and neither branch runs: missing is not false.
    pub fn fallible(
        condition: impl Fn(&Action, &Context<'_>) -> Result<bool, String> + Send + Sync + 'static,
    ) -> Self {
        Self { condition: Arc::new(condition), then: None, otherwise: None }
    }

    /// The branch if it holds.
    #[must_use]
    pub fn then(mut self, node: impl Into<Node>) -> Self {
        self.then = Some(node.into());
        self
    }

    /// The branch when it does not hold. May be omitted directly below `All` and at the root, where it defaults
    /// to pass.
    #[must_use]
    pub fn otherwise(mut self, node: impl Into<Node>) -> Self {
        self.otherwise = Some(node.into());
        self
    }
}

impl From<When> for Node {
    fn from(when: When) -> Self {
        Self::of(Kind::When {
            condition: when.condition,
            then: when.then.map(Box::new),
            otherwise: when.otherwise.map(Box::new),
        })
    }
}

/// A strict check with an override: when the primary blocks, the fallback decides, with at least a warning. There
/// is no override for a primary that asks or fails.
pub struct Escalate {
    primary: Node,
    fallback: Node,
    needs_human: bool,
}

impl Escalate {
    /// Primary first.
    pub fn new(primary: impl Into<Node>, fallback: impl Into<Node>) -> Self {
        Self { primary: primary.into(), fallback: fallback.into(), needs_human: false }
    }

    /// An override is at least an `ask` instead of a warning.
    #[must_use]
    pub fn override_needs_human(mut self) -> Self {
        self.needs_human = true;
        self
    }
}

impl From<Escalate> for Node {
    fn from(escalate: Escalate) -> Self {
        Self::of(Kind::Escalate {
            primary: Box::new(escalate.primary),
            fallback: Box::new(escalate.fallback),
            needs_human: escalate.needs_human,
        })
    }
}

/// A plain ordered list of guards: `All` with short circuit after a stable sort by layer.
pub fn pipeline(guards: impl IntoIterator<Item = SharedGuard>) -> All {
    let mut guards: Vec<SharedGuard> = guards.into_iter().collect();
    guards.sort_by_key(|guard| guard.layer());
    All::new(guards).short_circuit()
}
