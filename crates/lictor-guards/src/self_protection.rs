//! Protects the files and commands that govern the agent. Always on: no pack, graph or repository policy can
//! remove it.

use lictor_core::facts::{Access, Command, Effect, Existence, Facts, GuardOff, Place, Zone};
use lictor_core::{Action, Context, Guard, Layer, Verdict};

use crate::rules::{Way, turned};

/// The fix.
const FIX: &str = "go on without changing what governs you; a person can change it";

/// Commands that also affect governing files, and how to run them without those.
const WAYS: &[Way] = &[
    Way { words: "git stash", swap: &[], say: "put aside only what git tracks: `git stash push`" },
    Way { words: "git clean", swap: &[], say: "name what shall be cleaned: `git clean -fd DIRECTORY`" },
    Way {
        words: "git checkout",
        swap: &[],
        say: "name the files that shall come back: `git checkout COMMIT -- FILE`",
    },
    Way { words: "git restore", swap: &[], say: "name the files that shall come back: `git restore FILE`" },
];

/// The rule about files that govern.
const FILES: &str = "self.files";

/// Blocks changes to Lictor's own files, of hook settings and git hooks, and commands that only people may run.
#[derive(Debug, Clone, Copy, Default)]
pub struct SelfProtection;

impl Guard for SelfProtection {
    fn name(&self) -> &str {
        "self_protection"
    }

    fn check(&self, _action: &Action, context: &mut Context<'_>) -> Verdict {
        let facts = context.facts();
        let mut verdicts = facts.effects.iter().filter_map(|effect| objection(effect, facts));
        let Some(first) = verdicts.next() else { return Verdict::pass() };
        context.add_risk(0.5);
        // A tree with governing files contains many of them; one objection is enough.
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

fn objection(effect: &Effect<Place>, facts: &Facts) -> Option<Verdict> {
    let reason = match effect {
        Effect::File { access, target, by, recursive } if target.own && changes(*access) => {
            let first = facts.commands().next().filter(|_| facts.commands().count() == 1);
            let command = by.and_then(|by| facts.commands().nth(usize::try_from(by).ok()?)).or(first);
            return Some(
                Verdict::block(
                    format!(
                        "`{}` {} what governs this agent and may not be changed by it",
                        target.text,
                        relation(target, *recursive)
                    ),
                    command.and_then(fix_for).unwrap_or_else(|| FIX.to_owned()),
                )
                .by_rule(FILES),
            );
        }
        Effect::GuardOff { what, text } => match what {
            GuardOff::LictorCommand => format!("`{text}` is a command that only a person may give"),
            GuardOff::LictorEnvironment => format!("`{text}` would point Lictor elsewhere or switch it off"),
            GuardOff::Hooks => format!("`{text}` would skip or remove hooks"),
            GuardOff::LictorBinary => format!("`{text}` would stop or replace Lictor itself"),
            // The pack has a rule for it, with its own fix.
            GuardOff::NestedAgent | GuardOff::UngovernedAgent | GuardOff::AgentElsewhere => return None,
        },
        _ => return None,
    };
    Some(Verdict::block(reason, FIX).by_rule("self.commands"))
}

/// The same command without governing files. There is none for a command that names such a file itself.
fn fix_for(command: &Command) -> Option<String> {
    WAYS.iter().find_map(|way| turned(way, command))
}

/// How a place relates to governing files: it is one, contains some, or may be one.
fn relation(target: &Place, recursive: bool) -> &'static str {
    match target.zone {
        Zone::Unknown => "may be part of",
        _ if recursive || target.glob || target.existence == Existence::Directory => "holds part of",
        _ => "is part of",
    }
}

fn changes(access: Access) -> bool {
    !access.is_read_only()
}

#[cfg(test)]
mod tests;
