//! Which policies an action triggers.

use std::sync::Arc;

use super::callback::{self, Call, CallContext, Callback, Callbacks};
use super::{ANY, Catalogue, Effect, Policy, PolicyError, Ungrounded, Violation};
use crate::action::Action;
use crate::context::Context;
use crate::decision::Value;
use crate::facts::{self, Cardinality, Deed, Facts, Place};
use crate::guard::{Guard, Layer};
use crate::verdict::Verdict;

/// A checked list of policies. As a guard it gives one verdict per violation.
pub struct PolicySet {
    name: String,
    layer: Layer,
    rules: Vec<Rule>,
    catalogue: Catalogue,
    ungrounded: Ungrounded,
}

struct Rule {
    policy: Policy,
    callback: Option<Arc<dyn Callback>>,
}

impl PolicySet {
    /// Checks the policies against the callbacks and the catalogue; both are fixed from then on.
    ///
    /// # Errors
    /// All errors, in the order of the policies.
    pub fn new(
        policies: impl IntoIterator<Item = Policy>,
        callbacks: &Callbacks,
        catalogue: Catalogue,
    ) -> Result<Self, Vec<PolicyError>> {
        let mut rules = Vec::new();
        let mut errors = Vec::new();
        for (index, policy) in policies.into_iter().enumerate() {
            check(index, &policy, &catalogue, &mut errors);
            let callback = policy.callback.as_deref().and_then(|name| {
                let found = callbacks.get(name).map(Arc::clone);
                if found.is_none() {
                    errors.push(PolicyError::UnknownCallback {
                        policy: policy.name.clone(),
                        callback: name.to_owned(),
                        known: callbacks.names(),
                    });
                }
                found
            });
            rules.push(Rule { policy, callback });
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let ungrounded = Ungrounded::default();
        Ok(Self { name: "policies".to_owned(), layer: Layer::Intent, rules, catalogue, ungrounded })
    }

    /// The same under another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same in another layer.
    #[must_use]
    pub fn in_layer(mut self, layer: Layer) -> Self {
        self.layer = layer;
        self
    }

    /// The same with another effect for deeds that are not in the catalogue.
    #[must_use]
    pub fn ungrounded(mut self, ungrounded: Ungrounded) -> Self {
        self.ungrounded = ungrounded;
        self
    }

    /// The policies that may apply to a tool, in order. A policy that names no tools applies to every tool.
    pub fn policies_for<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Policy> {
        self.rules.iter().map(|rule| &rule.policy).filter(move |policy| policy.wants_tool(Some(tool)))
    }

    /// Every policy that these facts trigger, in order of verb, object and place in the list, each with the
    /// result of its callback.
    pub(super) fn violations(
        &self,
        facts: &Facts,
        cardinality: Option<Cardinality>,
        context: Option<&CallContext<'_>>,
    ) -> Vec<Violation> {
        let deeds = facts.deeds();
        let tool = context.map_or("", |context| context.action.tool.as_str());
        let mut found: Vec<Violation> = deeds
            .iter()
            .filter(|deed| !self.catalogue.has_verb(&deed.verb) || !self.catalogue.has_object(&deed.object))
            .map(|deed| self.ungrounded_deed(deed))
            .collect();
        for (index, rule) in self.rules.iter().enumerate() {
            if !rule.policy.wants_tool(context.map(|context| context.action.tool.as_str())) {
                continue;
            }
            // Without a call the audience is unknown, and the policy applies to all.
            if context.is_some_and(|context| !rule.policy.audience.includes(context.action, context.session))
            {
                continue;
            }
            let own;
            let deeds = if rule.policy.paths.is_empty() && rule.policy.hosts.is_empty() {
                &deeds
            } else {
                own = facts.deeds_where(|effect| rule.policy.wants(effect));
                &own
            };
            for deed in deeds.iter().filter(|deed| rule.policy.fires(deed, cardinality)) {
                let violation = rule.violation(index, deed, tool, facts, context);
                found.push(violation);
            }
        }
        found.sort_by(|a, b| (&a.verb, &a.object, a.index).cmp(&(&b.verb, &b.object, b.index)));
        found
    }

    fn ungrounded_deed(&self, deed: &Deed) -> Violation {
        let message = format!(
            "{} {} is not in the catalogue of known actions",
            crate::text::quote(&deed.verb, 40),
            crate::text::quote(&deed.object, 40)
        );
        self.synthetic(message, deed.verb.clone(), deed.object.clone(), deed.cardinality)
    }

    /// The violation for a call without any known deed.
    pub(super) fn unknown_call(&self) -> Violation {
        let message = "nothing is known about what this call does".to_owned();
        self.synthetic(message, String::new(), String::new(), Cardinality::Unknown)
    }

    fn synthetic(
        &self,
        message: String,
        verb: String,
        object: String,
        cardinality: Cardinality,
    ) -> Violation {
        Violation {
            policy: "ungrounded".to_owned(),
            definition: None,
            index: None,
            verb,
            object,
            cardinality,
            message,
            requires_confirmation: self.ungrounded == Ungrounded::Ask,
            callback_result: None,
            fault: None,
            value: match self.ungrounded {
                Ungrounded::Block => Value::Block,
                Ungrounded::Ask => Value::Ask,
            },
            fix: Some("use an action that the catalogue knows, or have it added there".to_owned()),
            answer: None,
        }
    }
}

impl Guard for PolicySet {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let call = CallContext {
            action,
            session: context.session(),
            now: context.now(),
            risk: context.risk(),
            annotations: context.annotations(),
            violations: context.violations(),
            companion: context.companion(),
        };
        for violation in self.violations(context.facts(), None, Some(&call)) {
            let remarks = violation.callback_result.as_ref().map(|result| result.remarks.clone());
            context.violated(violation);
            if let Some(remarks) = remarks.filter(|remarks| !remarks.is_empty()) {
                remarks.leave(context);
            }
        }
        Verdict::pass()
    }

    fn layer(&self) -> Layer {
        self.layer
    }
}

fn check(index: usize, policy: &Policy, catalogue: &Catalogue, errors: &mut Vec<PolicyError>) {
    let name = || policy.name.clone();
    if policy.name.trim().is_empty() {
        errors.push(PolicyError::NoName { index });
    }
    let decided = policy.requires_confirmation || policy.callback.is_some();
    match (decided, policy.effect) {
        (false, None) => errors.push(PolicyError::Undecided { policy: name() }),
        (true, Some(_)) => errors.push(PolicyError::DecidedTwice { policy: name() }),
        _ => {}
    }
    if policy.verb != ANY && !catalogue.has_verb(&policy.verb) {
        errors.push(PolicyError::NotInCatalogue { policy: name(), word: policy.verb.clone(), what: "verb" });
    }
    if policy.object != ANY && !catalogue.has_object(&policy.object) {
        errors.push(PolicyError::NotInCatalogue {
            policy: name(),
            word: policy.object.clone(),
            what: "object",
        });
    }
}

impl Policy {
    fn fires(&self, deed: &Deed, cardinality: Option<Cardinality>) -> bool {
        (self.verb == ANY || self.verb == deed.verb)
            && (self.object == ANY || self.object == deed.object)
            && cardinality.unwrap_or(deed.cardinality).triggers(self.cardinality)
    }

    /// A call whose tool is not known may be any tool.
    fn wants_tool(&self, tool: Option<&str>) -> bool {
        let Some(tool) = tool.filter(|tool| !tool.is_empty()) else { return true };
        self.tools.is_empty() || self.tools.iter().any(|glob| fast_glob::glob_match(glob, tool))
    }

    /// Whether an effect passes the filters. An unknown value passes.
    fn wants(&self, effect: &facts::Effect<Place>) -> bool {
        match effect {
            facts::Effect::File { target, recursive, .. } => {
                self.paths.iter().any(|glob| covers(glob, target, *recursive))
            }
            facts::Effect::Reach(reach) => self
                .hosts
                .iter()
                .any(|glob| reach.host.as_ref().is_none_or(|host| fast_glob::glob_match(glob, host))),
            _ => false,
        }
    }
}

/// Whether a place matches the glob or may contain a match.
fn covers(glob: &str, place: &Place, recursive: bool) -> bool {
    if place.path.is_empty() {
        return true;
    }
    let names = || place.paths().chain(place.in_project.as_deref());
    if names().any(|name| fast_glob::glob_match(glob, name)) {
        return true;
    }
    let fixed = glob.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
    (recursive || place.glob)
        && names().any(|name| fixed.starts_with(name) || name.starts_with(fixed.trim_end_matches('/')))
}

impl Rule {
    fn violation(
        &self,
        index: usize,
        deed: &Deed,
        tool: &str,
        facts: &Facts,
        context: Option<&CallContext<'_>>,
    ) -> Violation {
        let policy = &self.policy;
        let answer = self.callback.as_ref().map(|callback| match context {
            Some(context) => {
                let call = Call { context, facts, deed, policy: &policy.name, definition: policy };
                callback::run(callback.as_ref(), &call)
            }
            None => Err("there is no call to show it".to_owned()),
        });
        let decided = answer.as_ref().and_then(|answer| answer.as_ref().ok()?.decision).map(Value::from);
        let value = match (&answer, policy.requires_confirmation, policy.effect) {
            (Some(Err(_)), _, _) => Value::Error,
            (_, true, _) => decided.unwrap_or(Value::Ask).max(Value::Ask),
            (_, false, _) if let Some(decided) = decided => decided,
            (Some(Ok(result)), false, _) if result.passed => Value::Pass,
            (None, false, Some(Effect::Inform)) => Value::Warn,
            _ => Value::Block,
        };
        let (callback_result, fault) = match answer {
            Some(Ok(result)) => (Some(result), None),
            Some(Err(fault)) => (None, Some(fault)),
            None => (None, None),
        };
        Violation {
            policy: policy.name.clone(),
            definition: Some(Box::new(policy.clone())),
            index: Some(index),
            verb: deed.verb.clone(),
            object: deed.object.clone(),
            cardinality: deed.cardinality,
            message: policy.message.render(deed, tool),
            requires_confirmation: policy.requires_confirmation,
            callback_result,
            fault,
            value,
            fix: policy.fix.clone(),
            answer: None,
        }
    }
}
