//! Keeps the agent away from what governs it. Always on: no pack, graph or repository policy can remove it.

use lictor_core::facts::{Access, Effect, GuardOff, Place};
use lictor_core::{Action, Context, Guard, Layer, Verdict};

/// What to do instead.
const FIX: &str = "go on without changing what governs you; a person can change it";

/// The rule about files that govern.
const FILES: &str = "self.files";

/// Blocks changes of Lictor's own files, of hook settings and git hooks, and commands that only people may run.
#[derive(Debug, Clone, Copy, Default)]
pub struct SelfProtection;

impl Guard for SelfProtection {
    fn name(&self) -> &str {
        "self_protection"
    }

    fn check(&self, _action: &Action, context: &mut Context<'_>) -> Verdict {
        let mut verdicts = context.facts().effects.iter().filter_map(objection);
        let Some(first) = verdicts.next() else { return Verdict::pass() };
        context.add_risk(0.5);
        // A tree that holds own files holds many of them; one objection to it is enough.
        let files = |verdict: &Verdict| verdict.rule() == Some(FILES);
        let mut told = files(&first);
        let rest: Vec<Verdict> = verdicts
            .filter(|verdict| !files(verdict) || !std::mem::replace(&mut told, true))
            .take(7)
            .collect();
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
                .by_rule(FILES),
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
