//! `intent:`.

use std::sync::{Arc, OnceLock};

use lictor_core::history::History;
use lictor_core::{Action, ActionKind, Context, Guard, Layer, Verdict};
use lictor_expr::Program;
use lictor_guards::{Intent, IntentRule};
use serde::{Deserialize, Serialize};

use super::section::{BuiltIn, Section, share, value};
use crate::deferred::Deferred;
use crate::expressions::Condition;
use crate::graph::LayerBuilder;
use crate::reader::{Fields, Reader};
use crate::table::{Key, Shape, TEXTS, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "intent",
        Shape::List(&Shape::Fields(&TABLE)),
        "[{for: test}]",
        "Rules on submitted tasks. Guard `intent`. A type of task that no rule names is blocked.",
    )],
    read: |r, file, said| said.intent = value(r, file, "intent", read),
    guards: &[BuiltIn {
        name: "intent",
        section: "intent",
        layer: Layer::Intent,
        configured: |said| said.intent.is_some(),
        build: |layer| share(guard(layer)),
        last: false,
    }],
};

pub(crate) static TABLE: Table = Table {
    name: "intent[]",
    about: "One rule on submitted tasks. Every rule for the task's type is asked and every objection is reported.",
    keys: &[
        Key::new("for", TEXTS, "deploy", "The types of task it is for.").required(),
        Key::new(
            "require",
            Shape::Expression,
            "'has(payload.ticket)'",
            "What has to hold. Without it, tasks of the type are known and need nothing.",
        ),
        Key::new("reason", Shape::Text, "a deploy needs a ticket", "Why not, when it does not hold."),
        Key::new("fix", Shape::Text, "add payload.ticket", "What to do then."),
    ],
};

/// Rules on submitted tasks.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct IntentSection {
    /// In the order of the file. Deferred, because most actions are not submitted tasks and never need them.
    #[serde(deserialize_with = "crate::shared::one")]
    pub rules: Arc<Deferred<Vec<TaskRule>>>,
    /// Whether one of them uses the history, which the session then has to track.
    pub asks_past: bool,
    /// Types of task that need nothing.
    pub known: Vec<String>,
}

/// One rule on tasks of some types.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskRule {
    /// The types.
    pub tasks: Vec<String>,
    /// The condition that must hold.
    pub require: Arc<Program>,
    /// The reason.
    pub reason: String,
    /// The fix.
    pub fix: String,
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<IntentSection> {
    let mut section = IntentSection::default();
    let mut rules = Vec::new();
    for item in r.maps(tree, "`intent`") {
        let Some(f) = r.fields(item, &TABLE) else { continue };
        let tasks = r.field(&f, "for", Reader::texts).unwrap_or_default();
        let Some(place) = f.get("require") else {
            for key in ["reason", "fix"] {
                if let Some(place) = f.get(key) {
                    r.sentence(place, &f.label(key));
                    r.warning(place.span, format!("{} is never said without `require`", f.label(key)), "");
                }
            }
            section.known.extend(tasks);
            continue;
        };
        let require = r.condition(place, "`intent[].require`");
        let (reason, fix) = objection(r, &f);
        if let (Some(require), Some(reason), Some(fix)) = (require, reason, fix) {
            section.asks_past |= !require.history().is_empty();
            rules.push(TaskRule { tasks, require, reason, fix });
        }
    }
    section.rules = Arc::new(rules.into());
    Some(section)
}

/// Reason and fix, which are required because an agent cannot act on a block without them.
pub(crate) fn objection(r: &mut Reader<'_>, f: &Fields<'_>) -> (Option<String>, Option<String>) {
    let missing = match (f.get("reason").is_none(), f.get("fix").is_none()) {
        (true, true) => Some("there is no `reason` and no `fix`"),
        (true, false) => Some("there is no `reason`"),
        (false, true) => Some("there is no `fix`"),
        (false, false) => None,
    };
    if let Some(missing) = missing.filter(|_| !f.misspelt) {
        let help = "an objection says why and what to do instead; add `reason: …` and `fix: …`";
        r.error(f.span, missing, help);
    }
    (r.field(f, "reason", Reader::sentence), r.field(f, "fix", Reader::sentence))
}

fn guard(layer: &mut LayerBuilder<'_>) -> Option<Tasks> {
    let section = layer.sections.intent.as_ref()?;
    let guard = Tasks { section: section.clone(), intent: OnceLock::new() };
    if section.asks_past {
        guard.intent.get_or_init(|| of(section, layer.history));
    }
    Some(guard)
}

/// The guard `intent`, built when the first task is submitted.
struct Tasks {
    section: IntentSection,
    /// `None` for a stored policy that another version wrote.
    intent: OnceLock<Option<Intent>>,
}

impl Guard for Tasks {
    fn name(&self) -> &str {
        "intent"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        if action.kind != ActionKind::SubmitTask {
            return Verdict::pass();
        }
        match self.intent.get_or_init(|| of(&self.section, &mut History::default())) {
            Some(intent) => intent.check(action, context),
            None => Verdict::error(
                "the stored rules on tasks cannot be read",
                "a person can mend it: change `governance.yaml`, so that the policy is stored anew",
            ),
        }
    }
}

fn of(section: &IntentSection, history: &mut History) -> Option<Intent> {
    let rules = section.rules.get()?.iter().flat_map(|rule| {
        let condition = Condition::new(&rule.require, history);
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
    Some(section.known.iter().fold(guard, |guard, task| guard.and_known(task)))
}
