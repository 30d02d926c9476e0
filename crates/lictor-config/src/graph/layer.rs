//! The subtree of one file.

use std::collections::BTreeMap;
use std::sync::Arc;

use lictor_core::history::History;
use lictor_core::policy::{self, Callbacks, PolicyError, Template, Ungrounded};
use lictor_core::tools::{ReadBeforeWrite, Sequence};
use lictor_core::{
    Action, All, Any, Audience, Catalogue, Context, Decision, Escalate, Guard, Layer, Node, Not, PolicySet,
    SharedGuard, Threshold, Verdict, When, guard_fn,
};
use lictor_guards::{
    Access, BashSafety, Budget, FileBoundary, Intent, IntentRule, KnownTools, LayerIsolation, Network,
    RateLimit, RiskLimit, Sandbox, Secrets,
};

use super::{BuildError, Surroundings};
use crate::command::{CommandGuard, callback};
use crate::expressions::{Condition, ExprCallback, ExprGuard};
use crate::sections::graph::{BUILT_IN, is_configured};
use crate::sections::{
    GraphNode, GuardDecides, NamedGuard, PolicyCallback, PolicyEffect, Sections, ToolsSection,
};
use crate::source::Origin;

type Guards<'a> = BTreeMap<&'a str, SharedGuard>;

/// Builds the subtree of one file.
pub(super) struct LayerBuilder<'a> {
    pub(super) origin: Origin,
    pub(super) sections: &'a Sections,
    pub(super) surroundings: &'a Surroundings,
    pub(super) ungrounded: Ungrounded,
    pub(super) history: &'a mut History,
}

impl<'a> LayerBuilder<'a> {
    /// The subtree, none when the file says nothing that judges, and the guard that is judged last of all.
    pub(super) fn build(&mut self, first: Vec<Node>) -> Result<(Option<Node>, Option<Node>), BuildError> {
        let guards = self.guards()?;
        let named: Vec<&str> = self.sections.policy.as_ref().map(GraphNode::leaves).unwrap_or_default();
        let mut boundary = first;
        let mut rest = Vec::new();
        let mut risk = None;
        for built_in in BUILT_IN.iter().filter(|built_in| !named.contains(&built_in.name)) {
            let Some(guard) = guards.get(built_in.name) else { continue };
            let node = self.leaf(built_in.name, guard);
            match built_in.layer {
                _ if built_in.name == "risk" => risk = Some(node),
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
        Ok((tree, risk))
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
            let guard = Self::tools_guard(name, section, self.history)?;
            nodes.push(Node::from(ForSome { guard, audience: audience.clone() }));
        }
        Ok(nodes)
    }

    /// A guard against commands whose effects cannot be told.
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
        let mut guards = Guards::new();
        for built_in in BUILT_IN.iter().filter(|built_in| is_configured(self.sections, built_in.name)) {
            if let Some(guard) = self.built_in(built_in.name)? {
                guards.insert(built_in.name, guard);
            }
        }
        let sections = self.sections;
        for guard in &sections.guards {
            guards.insert(guard.name.as_str(), self.own(guard));
        }
        Ok(guards)
    }

    fn built_in(&mut self, name: &str) -> Result<Option<SharedGuard>, BuildError> {
        let s = self.sections;
        Ok(match name {
            "access" => share(s.access.clone().map(Access::new)),
            "file_boundary" => {
                share(s.boundaries.as_ref().map(|it| FileBoundary::new(it, &self.surroundings.root)))
            }
            "bash_safety" => share(s.bash_safety.clone().map(BashSafety::accepted)),
            "layer_isolation" => {
                share(s.layers.as_ref().map(|it| LayerIsolation::new(it.config())).transpose()?)
            }
            "sandbox" => share(s.sandbox.clone().map(Sandbox::new)),
            "network" => share(s.network.clone().map(Network::new)),
            "secrets" => share(s.secrets.clone().map(Secrets::new)),
            "known_tools" => share(s.known_tools.clone().map(KnownTools::new)),
            "budget" => share(s.budget.clone().map(Budget::new)),
            "rate_limit" => share(s.rate_limit.map(RateLimit::new)),
            "risk" => share(s.risk.map(RiskLimit::new).transpose()?),
            "intent" => share(s.intent.as_ref().map(|section| {
                let rules = section.rules.iter().flat_map(|rule| {
                    let condition = Condition::new(&rule.require, self.history);
                    rule.tasks.iter().map(move |task| {
                        let condition = condition.clone();
                        IntentRule {
                            task_type: task.clone(),
                            require: Arc::new(move |action: &Action, context: &Context<'_>| {
                                condition.holds(action, context)
                            }),
                            reason: rule.reason.clone(),
                            fix: rule.fix.clone(),
                        }
                    })
                });
                let guard = Intent::new(rules.collect());
                section.known.iter().fold(guard, |guard, task| guard.and_known(task))
            })),
            "tools" => share(self.tools()?),
            "policies" => share(Some(self.policies()?)),
            _ => None,
        })
    }

    fn tools(&mut self) -> Result<Option<ToolsGuard>, BuildError> {
        let Some(section) = &self.sections.tools else { return Ok(None) };
        let name = format!("{}tools", self.origin.prefix());
        Self::tools_guard(name, section, self.history).map(Some)
    }

    fn tools_guard(
        name: String,
        section: &ToolsSection,
        history: &mut History,
    ) -> Result<ToolsGuard, BuildError> {
        let sequence = Sequence::new(name.as_str(), section.require_first.clone(), history)
            .map_err(BuildError::Sequence)?;
        let reading = section.read_before_write.then(|| ReadBeforeWrite::new(name.as_str()));
        Ok(ToolsGuard { name, sequence, reading })
    }

    fn policies(&mut self) -> Result<PolicySet, BuildError> {
        let mut callbacks = Callbacks::new();
        let mut policies = Vec::new();
        for rule in &self.sections.policies {
            let message = rule.message.as_deref().map(Template::parse).transpose();
            let message = message.map_err(|error| {
                BuildError::Policies(vec![PolicyError::Message { policy: rule.name.clone(), error }])
            })?;
            let registered = match &rule.callback {
                None => Ok(()),
                Some(PolicyCallback::Command(command)) => {
                    let what = format!("the callback of policy `{}`", rule.name);
                    let runner = Arc::clone(&self.surroundings.runner);
                    callbacks.register(&rule.name, callback(runner, what, self.origin, command.clone()))
                }
                Some(PolicyCallback::Expr { program, message }) => {
                    let condition = Condition::new(program, self.history);
                    callbacks.register(&rule.name, ExprCallback { condition, message: message.clone() })
                }
            };
            registered.map_err(|error| BuildError::Policies(vec![error]))?;
            policies.push(policy::Policy {
                name: rule.name.clone(),
                verb: rule.verb.clone(),
                object: rule.object.clone(),
                cardinality: rule.cardinality,
                requires_confirmation: rule.requires_confirmation,
                callback: rule.callback.as_ref().map(|_| rule.name.clone()),
                effect: rule.effect.map(|effect| match effect {
                    PolicyEffect::Inform => policy::Effect::Inform,
                    PolicyEffect::Block => policy::Effect::Block,
                }),
                message: message.unwrap_or_default(),
                fix: rule.fix.clone(),
                paths: rule.paths.clone(),
                hosts: rule.hosts.clone(),
                tools: rule.tools.clone(),
                metadata: rule.metadata.clone(),
                audience: rule.audience.clone(),
            });
        }
        let set = PolicySet::new(policies, &callbacks, Catalogue::default()).map_err(BuildError::Policies)?;
        Ok(set.ungrounded(self.ungrounded).named(format!("{}policies", self.origin.prefix())))
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
                runner: Arc::clone(&self.surroundings.runner),
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

fn share<G: Guard + 'static>(guard: Option<G>) -> Option<SharedGuard> {
    guard.map(|guard| Arc::new(guard) as SharedGuard)
}

/// A guard that is for some only.
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

/// Both tool policies under one name.
struct ToolsGuard {
    name: String,
    sequence: Sequence,
    reading: Option<ReadBeforeWrite>,
}

impl Guard for ToolsGuard {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let order = self.sequence.check(action, context);
        let Some(reading) = &self.reading else { return order };
        let read = reading.check(action, context);
        if order.passed() {
            return read;
        }
        if !read.passed() {
            context.also(read);
        }
        order
    }

    fn layer(&self) -> Layer {
        Layer::Intent
    }
}
