use serde::{Deserialize, Serialize};

use super::{Access, Cardinality, DatabaseEffect, Effect, Facts, GitEffect, ProcessEffect};

/// A verb of the policy catalogue.
pub type Verb = String;
/// An object of the policy catalogue.
pub type Object = String;

/// One `verb → object` pair of an action, for policies to match.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Deed {
    /// `delete`, `write`, `read`, `run`, `push`, …
    pub verb: Verb,
    /// `file`, `secret`, `branch`, `database`, `process`, `host`, …
    pub object: Object,
    /// How many objects.
    pub cardinality: Cardinality,
    /// How many, when it was counted.
    pub count: Option<u64>,
    /// What, as written; the first few operands.
    pub targets: Vec<String>,
}

/// How many targets a deed keeps for messages. Further targets are only counted.
const TARGETS_KEPT: usize = 8;

pub(super) fn deeds(facts: &Facts) -> Vec<Deed> {
    let mut deeds = deeds_of(&facts.effects);
    if !facts.understood() {
        deeds.push(Deed {
            verb: "run".to_owned(),
            object: "opaque".to_owned(),
            cardinality: Cardinality::Unknown,
            count: None,
            targets: facts.opaque.iter().take(TARGETS_KEPT).map(|opaque| opaque.text.clone()).collect(),
        });
    }
    deeds
}

/// The deeds that these effects amount to.
pub(super) fn deeds_of<'a>(effects: impl IntoIterator<Item = &'a Effect<super::Place>>) -> Vec<Deed> {
    let mut deeds: Vec<Deed> = Vec::new();
    for effect in effects {
        let Some((verb, object, cardinality, target)) = name(effect) else { continue };
        match deeds.iter_mut().find(|deed| deed.verb == verb && deed.object == object) {
            Some(deed) => {
                deed.cardinality = deed.cardinality.and(cardinality);
                deed.count = deed.count.map(|count| count.saturating_add(1));
                if deed.targets.len() < TARGETS_KEPT {
                    deed.targets.extend(target);
                }
            }
            None => deeds.push(Deed {
                verb: verb.to_owned(),
                object: object.to_owned(),
                cardinality,
                count: (cardinality == Cardinality::Single).then_some(1),
                targets: target.into_iter().collect(),
            }),
        }
    }
    deeds
}

type Named<'a> = (&'a str, &'a str, Cardinality, Option<String>);

fn name(effect: &Effect<super::Place>) -> Option<Named<'_>> {
    let single = Cardinality::Single;
    Some(match effect {
        Effect::File { access: Access::Restore, target, .. } if !target.committed => {
            ("discard", "work", single, Some(target.text.clone()))
        }
        Effect::File { access, target, recursive, .. } => {
            let verb = match access {
                Access::Read => "read",
                Access::List => "list",
                Access::Write
                | Access::Append
                | Access::Modify
                | Access::MakeDirectory
                | Access::Link
                | Access::Restore => "write",
                Access::Empty => "empty",
                Access::Delete => "delete",
                Access::MoveAway => "move",
                Access::ChangeMode | Access::ChangeOwner => "chmod",
                Access::Execute => return None,
                Access::Destroy => "destroy",
            };
            let cardinality = if *recursive || target.glob { Cardinality::Multiple } else { single };
            let object = if target.secret { "secret" } else { "file" };
            (verb, object, cardinality, Some(target.text.clone()))
        }
        Effect::Run(command) => ("run", "program", single, Some(command.program.clone())),
        Effect::Reach(reach) => {
            (if reach.sends { "send" } else { "fetch" }, "host", single, Some(reach.text.clone()))
        }
        Effect::Git { effect, target } => {
            let (verb, object) = match effect {
                GitEffect::DiscardWork => ("discard", "work"),
                GitEffect::StashUntracked | GitEffect::StashAll => ("stash", "work"),
                GitEffect::DropStash => ("drop", "stash"),
                GitEffect::DiscardCommits => ("discard", "commits"),
                GitEffect::RewriteHistory => ("rewrite", "history"),
                GitEffect::ExpireHistory => ("expire", "history"),
                GitEffect::ForcePush | GitEffect::ForcePushWithLease => ("force-push", "branch"),
                GitEffect::DeleteRemote => ("delete", "branch"),
                GitEffect::Push => ("push", "branch"),
                GitEffect::Commit => ("commit", "work"),
                GitEffect::SkipHooks => ("skip", "hooks"),
                GitEffect::ConfigureExecution | GitEffect::Configure => ("configure", "git"),
            };
            (verb, object, single, target.clone())
        }
        Effect::Process(process) => match process {
            ProcessEffect::Kill => ("kill", "process", single, None),
            ProcessEffect::KillAll => ("kill", "process", Cardinality::Multiple, None),
            ProcessEffect::Shutdown => ("stop", "machine", single, None),
            ProcessEffect::ForkBomb => ("exhaust", "machine", single, None),
            ProcessEffect::Format => ("format", "disk", single, None),
        },
        Effect::Database { effect, text } => match effect {
            DatabaseEffect::DropAll => ("drop", "database", Cardinality::Multiple, Some(text.clone())),
            DatabaseEffect::DropPart => ("drop", "table", single, Some(text.clone())),
            DatabaseEffect::Change => ("change", "database", single, Some(text.clone())),
        },
        Effect::Infrastructure { tool, what, mass } => (
            "change",
            "infrastructure",
            if *mass { Cardinality::Multiple } else { single },
            Some(format!("{tool} {what}")),
        ),
        Effect::Publish { tool } => ("publish", "package", single, Some(tool.clone())),
        Effect::Privilege(_) => ("gain", "privilege", single, None),
        Effect::Flow { text, .. } => ("move", "data", single, Some(text.clone())),
        Effect::GuardOff { text, .. } => ("disable", "guard", single, Some(text.clone())),
        Effect::Code { language, .. } => ("run", "code", single, Some(language.clone())),
        Effect::Delegate { agent } => ("start", "agent", single, Some(agent.clone())),
        Effect::Tool { name, .. } => ("use", "tool", single, Some(name.clone())),
        Effect::Deed { verb, object, cardinality, what } => (verb, object, *cardinality, what.clone()),
    })
}
