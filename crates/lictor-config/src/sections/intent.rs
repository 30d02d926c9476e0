//! `intent:`.

use std::sync::Arc;

use lictor_core::{Action, Context, Layer};
use lictor_expr::Program;
use lictor_guards::{Intent, IntentRule};
use serde::{Deserialize, Serialize};

use super::section::{BuiltIn, Section, share, value};
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
    /// In the order of the file.
    pub rules: Vec<TaskRule>,
    /// Types of task that need nothing.
    pub known: Vec<String>,
}

/// One rule on tasks of some types.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskRule {
    /// The types.
    pub tasks: Vec<String>,
    /// What has to hold.
    pub require: Arc<Program>,
    /// Why not.
    pub reason: String,
    /// What to do then.
    pub fix: String,
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<IntentSection> {
    let mut section = IntentSection::default();
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
        let reason = words(r, &f, "reason");
        let fix = words(r, &f, "fix");
        if let (Some(require), Some(reason), Some(fix)) = (require, reason, fix) {
            section.rules.push(TaskRule { tasks, require, reason, fix });
        }
    }
    Some(section)
}

/// A text that has to be there because a block without it cannot be acted on.
pub(crate) fn words(r: &mut Reader<'_>, f: &Fields<'_>, key: &str) -> Option<String> {
    if f.get(key).is_none() {
        r.error(
            f.span,
            format!("there is no `{key}`"),
            "an objection says why and what to do instead; add `reason: …` and `fix: …`",
        );
    }
    r.field(f, key, Reader::sentence)
}

fn guard(layer: &mut LayerBuilder<'_>) -> Option<Intent> {
    let section = layer.sections.intent.as_ref()?;
    let rules = section.rules.iter().flat_map(|rule| {
        let condition = Condition::new(&rule.require, layer.history);
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
