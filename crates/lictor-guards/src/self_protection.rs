//! Keeps the agent away from what governs it. Always on: no pack, graph or repository policy can remove it.

use lictor_core::facts::{Access, Effect, GuardOff, Place};
use lictor_core::{Action, Context, Guard, Layer, Verdict};

/// What to do instead; reading policy is always fine.
const FIX: &str = "go on without changing what governs you; `cat governance.yaml` shows the policy, and a person can change it";

/// Blocks changes of Lictor's own files, of hook settings and git hooks, and commands that only people may run.
#[derive(Debug, Clone, Copy, Default)]
pub struct SelfProtection;

impl Guard for SelfProtection {
    fn name(&self) -> &str {
        "self_protection"
    }

    fn check(&self, _action: &Action, context: &mut Context<'_>) -> Verdict {
        let mut verdicts = context.facts().effects.iter().filter_map(objection);
        let first = verdicts.next();
        let rest: Vec<Verdict> = verdicts.take(7).collect();
        let Some(first) = first else { return Verdict::pass() };
        context.add_risk(0.5);
        for verdict in rest {
            context.also(verdict);
        }
        first
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

fn objection(effect: &Effect<Place>) -> Option<Verdict> {
    let reason = match effect {
        Effect::File { access, target, .. } if target.own && changes(*access) => {
            return Some(
                Verdict::block(
                    format!(
                        "`{}` is part of what governs this agent and may not be changed by it",
                        target.text
                    ),
                    FIX,
                )
                .by_rule("self.files"),
            );
        }
        Effect::GuardOff { what, text } => match what {
            GuardOff::LictorCommand => format!("`{text}` is a command that only a person may give"),
            GuardOff::LictorEnvironment => format!("`{text}` would point Lictor elsewhere or switch it off"),
            GuardOff::Hooks => format!("`{text}` would skip or remove hooks"),
            GuardOff::LictorBinary => format!("`{text}` would stop or replace Lictor itself"),
            // The pack has a rule for it, with its own way out.
            GuardOff::NestedAgent => return None,
        },
        _ => return None,
    };
    Some(Verdict::block(reason, FIX).by_rule("self.commands"))
}

fn changes(access: Access) -> bool {
    !access.is_read_only()
}

#[cfg(test)]
mod tests;
