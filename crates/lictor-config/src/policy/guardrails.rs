//! Feedback and the stop gate of all files together.

use lictor_core::Audience;
use lictor_core::completion::{Check, Gate, Limits, MAX_ROUNDS, PATIENCE};
use lictor_core::feedback::{Provider, Source};
use lictor_guards::BudgetConfig;

use super::{Layered, PolicyBundle};
use crate::sections::Completion;
use crate::source::Origin;

impl PolicyBundle {
    /// The feedback providers. Names from the user's and the managed file have a prefix, so that a repository's
    /// provider cannot replace another.
    #[must_use]
    pub fn feedback(&self) -> Vec<Provider> {
        let of = |layer: &Layered| {
            let prefix = layer.origin.prefix();
            let named = |one: &Provider| Provider { name: format!("{prefix}{}", one.name), ..one.clone() };
            layer.sections.feedback.iter().map(named).collect::<Vec<_>>()
        };
        self.layers.iter().flat_map(of).collect()
    }

    /// The completion gate: the checks of all files together. If the user or the managed file has one, a
    /// repository can add checks, but its rounds, deadlines and budgets do not release the agent.
    #[must_use]
    pub fn gate(&self) -> Option<Gate> {
        let said: Vec<(&Layered, &Completion)> = self
            .layers
            .iter()
            .filter_map(|layer| Some((layer, layer.sections.completion.as_ref()?)))
            .collect();
        let trusted = said.iter().any(|(layer, _)| layer.origin != Origin::Repository);
        let has_a_word = |layer: &Layered| !trusted || layer.origin != Origin::Repository;
        let voices = || said.iter().filter(|(layer, _)| has_a_word(layer)).map(|(_, one)| *one);
        let scoped: Vec<(Audience, Check)> = self
            .layers
            .iter()
            .flat_map(|layer| &layer.sections.scoped_completions)
            .map(|(audience, one)| (audience.clone(), one.requires.clone()))
            .collect();
        if said.is_empty() && scoped.is_empty() {
            return None;
        }
        let max_rounds = voices().map(|one| one.max_rounds).min().unwrap_or(MAX_ROUNDS);
        let patience = voices().map(|one| one.patience).min().unwrap_or(PATIENCE);
        Some(Gate {
            check: together(said.iter().map(|(_, one)| one.requires.clone()).collect()),
            subagents: Some(said.iter().filter_map(|(_, one)| one.subagents.clone()).collect::<Vec<_>>())
                .filter(|checks| !checks.is_empty())
                .map(together),
            max_rounds,
            patience,
            limits: self.limits(has_a_word),
            scoped,
        })
    }

    fn limits(&self, counts: impl Fn(&Layered) -> bool) -> Limits {
        let layers = || self.layers.iter().filter(|layer| counts(layer));
        let budgets = || layers().filter_map(|layer| layer.sections.budget.as_ref());
        let deadlines =
            layers().flat_map(|layer| &layer.sections.feedback).filter_map(|one| match one.source {
                Source::Deadline { after, .. } if one.audience.is_everybody() => Some(after),
                _ => None,
            });
        Limits {
            deadline: deadlines.min(),
            max_actions: budgets().filter_map(|budget| budget.max_actions).min(),
            max_tasks: budgets().filter_map(|budget| budget.max_tasks).min(),
            max_millis: budgets()
                .filter_map(|budget| budget.max_minutes)
                .min()
                .map(|minutes| minutes.saturating_mul(60_000)),
            max_tokens: budgets().filter_map(|budget| budget.max_tokens).min(),
            max_cost_micros: budgets().filter_map(BudgetConfig::max_cost_micros).min(),
        }
    }
}

fn together(mut checks: Vec<Check>) -> Check {
    match (checks.pop(), checks.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            checks.extend(last);
            Check::All(checks)
        }
    }
}
