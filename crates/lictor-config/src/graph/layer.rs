//! The subtree of one file.

use std::cell::Cell;
use std::sync::Arc;

use lictor_core::history::History;
use lictor_core::policy::{Catalogue, Ungrounded};
use lictor_core::{
    Action, All, Any, Audience, Context, Decision, Escalate, Guard, Layer, Node, Not, SharedGuard, Threshold,
    Verdict, When, guard_fn,
};
use lictor_guards::Budget;

use super::{BuildEnv, BuildError};
use crate::command::CommandGuard;
use crate::expressions::{Condition, ExprGuard};
use crate::sections::built_in;
use crate::sections::tools::ToolsGuard;
use crate::sections::{GraphNode, GuardDecides, NamedGuard, Sections};
use crate::source::Origin;

/// The guards of a file by name, in the order of creation.
#[derive(Default)]
struct Guards<'a> {
    all: Vec<(&'a str, SharedGuard)>,
    /// Most graphs name guards in the order of the file, so the next one is tried first.
    next: Cell<usize>,
}

impl<'a> Guards<'a> {
    fn push(&mut self, name: &'a str, guard: SharedGuard) {
        self.all.push((name, guard));
    }

    fn get(&self, name: &str) -> Option<&SharedGuard> {
        let is_meant = |(known, _): &(&str, _)| *known == name;
        let next = self.next.get();
        let at = match self.all.get(next) {
            Some(one) if is_meant(one) => next,
            _ => self.all.iter().position(is_meant)?,
        };
        self.next.set(at + 1);
        self.all.get(at).map(|(_, guard)| guard)
    }
}

/// Builds the subtree of one file.
pub(crate) struct LayerBuilder<'a> {
    pub(crate) origin: Origin,
    pub(crate) sections: &'a Sections,
    pub(crate) env: &'a BuildEnv,
    pub(crate) ungrounded: Ungrounded,
    /// The verbs and objects that policies may refer to. Built lazily: most files have no policies.
    pub(crate) catalogue: &'a dyn Fn() -> Catalogue,
    pub(crate) history: &'a mut History,
}

impl<'a> LayerBuilder<'a> {
    /// The subtree, `None` when the file has no guards, and the guard that runs last of all.
    pub(super) fn build(&mut self, first: Vec<Node>) -> Result<(Option<Node>, Option<Node>), BuildError> {
        let guards = self.guards()?;
        let named: Vec<&str> = self.sections.policy.as_ref().map(GraphNode::leaves).unwrap_or_default();
        let mut boundary = first;
        let mut rest = Vec::new();
        let mut last = None;
        for built_in in built_in() {
            let Some(guard) = guards.get(built_in.name).filter(|_| !named.contains(&built_in.name)) else {
                continue;
            };
            let node = self.leaf(built_in.name, guard);
            match built_in.layer {
                _ if built_in.last => last = Some(node),
                Layer::Boundary => boundary.push(node),
                _ => rest.push(node),
            }
        }
        rest.extend(self.scoped()?);
        let mut children: Vec<Node> = Vec::new();
        if !boundary.is_empty() {
            children.push(Node::from(All::new(boundary).short_circuit()).named("boundary"));
        }
        children.append(&mut rest);
        if let Some(graph) = &self.sections.policy {
            children.push(self.node(graph, &guards)?);
        }
        let tree = (!children.is_empty()).then(|| Node::from(All::new(children)).named(self.origin.as_str()));
        Ok((tree, last))
    }

    /// The guards that are for some only.
    fn scoped(&mut self) -> Result<Vec<Node>, BuildError> {
        let mut nodes = Vec::new();
        for (audience, config) in &self.sections.scoped_budgets {
            let name = format!("{}budget for {audience}", self.origin.prefix());
            nodes.push(Node::from(Budget::scoped(config.clone(), name.as_str(), audience.clone())));
        }
        for (audience, section) in &self.sections.scoped_tools {
            let name = format!("{}tools for {audience}", self.origin.prefix());
            let guard = ToolsGuard::new(name, section, &self.sections.exceptions, self.history)?;
            nodes.push(Node::from(ForSome { guard, audience: audience.clone() }));
        }
        Ok(nodes)
    }

    /// The guard for commands whose effects cannot be determined.
    pub(super) fn opaque(&self, decision: Decision) -> Node {
        let guard = guard_fn("opaque", move |_: &Action, context: &mut Context<'_>| {
            match context.facts().opaque.first() {
                None => Verdict::pass(),
                Some(opaque) => Verdict::of(
                    decision.into(),
                    format!("what `{}` would do cannot be told before it runs", opaque.text),
                    "write the command out without variables and evaluation, for example `ls -la`",
                ),
            }
        })
        .in_layer(Layer::Boundary);
        Node::from(guard).named(&format!("{}opaque", self.origin.prefix()))
    }

    fn leaf(&self, name: &str, guard: &SharedGuard) -> Node {
        let node = Node::from(Arc::clone(guard));
        match self.origin.prefix() {
            "" => node.named(name),
            prefix => node.named(&format!("{prefix}{name}")),
        }
    }

    fn guards(&mut self) -> Result<Guards<'a>, BuildError> {
        let mut guards = Guards::default();
        for built_in in built_in().filter(|built_in| (built_in.configured)(self.sections)) {
            if let Some(guard) = (built_in.build)(self)? {
                guards.push(built_in.name, guard);
            }
        }
        let sections = self.sections;
        for guard in &sections.guards {
            guards.push(guard.name.as_str(), self.own(guard));
        }
        Ok(guards)
    }

    fn own(&mut self, guard: &Arc<NamedGuard>) -> SharedGuard {
        let NamedGuard { name, by, decision, reason, fix, layer, remarks } = &**guard;
        match by {
            GuardDecides::Expr(program) => Arc::new(ExprGuard {
                said: Arc::clone(guard),
                condition: Condition::new(program, self.history),
            }),
            GuardDecides::Command(command) => Arc::new(CommandGuard {
                name: name.clone(),
                what: format!("guard `{name}`"),
                origin: self.origin,
                command: command.clone(),
                decision: *decision,
                reason: reason.clone(),
                fix: fix.clone(),
                layer: *layer,
                remarks: remarks.clone(),
                runner: Arc::clone(&self.env.runner),
            }),
        }
    }

    fn node(&mut self, node: &GraphNode, guards: &Guards<'_>) -> Result<Node, BuildError> {
        Ok(match node {
            GraphNode::Leaf(name) => {
                let guard = guards.get(name.as_str()).ok_or_else(|| BuildError::NoGuard(name.clone()))?;
                self.leaf(name, guard)
            }
            GraphNode::All { children, short_circuit } => {
                let all = All::new(self.nodes(children, guards)?);
                if *short_circuit { all.short_circuit().into() } else { all.into() }
            }
            GraphNode::Any(children) => Any::new(self.nodes(children, guards)?).into(),
            GraphNode::Not { node, reason, fix } => {
                Not::new(self.node(node, guards)?, reason.as_str(), fix.as_str()).into()
            }
            GraphNode::Threshold { at_least, of } => {
                Threshold::new(*at_least, self.nodes(of, guards)?).into()
            }
            GraphNode::Escalate { primary, fallback, needs_human } => {
                let escalate = Escalate::new(self.node(primary, guards)?, self.node(fallback, guards)?);
                if *needs_human { escalate.override_needs_human().into() } else { escalate.into() }
            }
            GraphNode::When { condition, then, otherwise } => {
                let source = condition.source();
                let condition = Condition::new(condition, self.history);
                let when = When::fallible(move |action, context| condition.holds(action, context));
                let mut when = when.then(self.node(then, guards)?);
                if let Some(otherwise) = otherwise {
                    when = when.otherwise(self.node(otherwise, guards)?);
                }
                Node::from(when).named(source)
            }
        })
    }

    fn nodes(&mut self, nodes: &[GraphNode], guards: &Guards<'_>) -> Result<Vec<Node>, BuildError> {
        nodes.iter().map(|node| self.node(node, guards)).collect()
    }
}

/// A guard that applies to some agents or tasks only.
struct ForSome<G> {
    guard: G,
    audience: Audience,
}

impl<G: Guard> Guard for ForSome<G> {
    fn name(&self) -> &str {
        self.guard.name()
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        if self.audience.includes(action, context.session()) {
            self.guard.check(action, context)
        } else {
            Verdict::pass()
        }
    }

    fn layer(&self) -> Layer {
        self.guard.layer()
    }
}
