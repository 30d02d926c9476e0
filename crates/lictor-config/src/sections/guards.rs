//! `guards:`.

use std::sync::Arc;

use lictor_core::{Decision, Layer, Remarks, Risk};
use lictor_expr::Program;
use serde::{Deserialize, Serialize};

use super::built_in;
use super::command::{self, Command};
use super::intent::objection;
use super::section::{Section, value};
use crate::reader::{Fields, Reader};
use crate::table::{DECISIONS, Key, Shape, TEXTS, Table};
use crate::yaml::{Key as YamlKey, Tree, Yaml};

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "guards",
        Shape::Names(&Shape::Fields(&TABLE)),
        "{calm: {expr: 'risk <= 0.3', reason: too risky, fix: take smaller steps}}",
        "Guards of your own, for use in `policy`.",
    )],
    read: |r, file, said| {
        said.guards = value(r, file, "guards", read).unwrap_or_default();
        let names = file.get("guards").map(Tree::entries).unwrap_or_default().iter();
        let accepted = |name: &str| said.guards.iter().any(|guard| guard.name == name);
        said.refused_guards = names.map(|(key, _)| key.text.clone()).filter(|name| !accepted(name)).collect();
    },
    guards: &[],
};

pub(crate) static TABLE: Table = Table {
    name: "guards.*",
    about: "A guard of your own: an expression that must be true, or a program that says yes. A program prints \
            `{\"passed\": true}`, `{\"passed\": false, \"message\": \"…\"}`, or `{\"decision\": …}` with `reason`, `fix`, `risk`, \
            `annotations`, `tags` and `evidence`; see [guardrails.md](guardrails.md#what-programs-are-given).",
    keys: &[
        Key::new(
            "expr",
            Shape::Expression,
            "'risk <= 0.3'",
            "Passes when true. When it cannot be evaluated it is an error.",
        ),
        command::COMMAND,
        command::TIMEOUT,
        command::READS,
        Key::new(
            "decision",
            DECISIONS,
            "ask",
            "What counts when it does not pass. `block` when it is not said; `pass` for a guard that only leaves `risk`, \
             `annotations` or `tags`.",
        ),
        Key::new("reason", Shape::Text, "risk too high", "Why not. A program's message wins over it."),
        Key::new("fix", Shape::Text, "ask a person", "What to do then."),
        Key::new(
            "layer",
            Shape::Word(&["boundary", "resource", "intent"]),
            "boundary",
            "What kind of check it is. `intent` when it is not said.",
        ),
        Key::new(
            "risk",
            Shape::Fraction,
            "0.3",
            "Added to the action's risk when it objects. Guards that stand further right see it.",
        ),
        Key::new(
            "annotations",
            Shape::Data,
            "{area: auth}",
            "Notes for guards further right when it objects, readable as `annotations[\"name.key\"]`.",
        ),
        Key::new(
            "tags",
            TEXTS,
            "[sensitive-file]",
            "Tags of the action when it objects. How many in a row carry one is `session.streaks`.",
        ),
    ],
};

/// A guard of the author's own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NamedGuard {
    /// Its name.
    pub name: String,
    /// What decides it.
    pub by: GuardDecides,
    /// The decision when it does not pass.
    pub decision: Decision,
    /// The reason.
    pub reason: String,
    /// The fix.
    pub fix: String,
    /// The kind of check.
    pub layer: Layer,
    /// The annotations and tags that it adds when it objects.
    #[serde(with = "crate::as_text")]
    pub remarks: Remarks,
}

/// What decides a guard of the author's own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum GuardDecides {
    /// An expression.
    Expr(#[serde(deserialize_with = "crate::shared::one")] Arc<Program>),
    /// A program.
    Command(Command),
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<Vec<Arc<NamedGuard>>> {
    let names = r.names(tree, "guards")?;
    let mut guards = Vec::new();
    for (key, tree) in names.iter() {
        name(r, key);
        let Some(f) = r.fields(tree, &TABLE) else { continue };
        guards.extend(guard(r, key, &f).map(Arc::new));
    }
    Some(guards)
}

fn name(r: &mut Reader<'_>, key: &YamlKey) {
    if built_in().any(|built_in| built_in.name == key.text) || key.text == "self_protection" {
        let message = format!("`{}` is the name of a built-in guard", key.text);
        r.error(key.span, message, "give yours another name");
    } else if !key.text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) || key.text.is_empty()
    {
        let message = format!("`{}` cannot be the name of a guard", key.text);
        r.error(key.span, message, "use letters, digits, `_` and `-`");
    }
}

fn guard(r: &mut Reader<'_>, key: &YamlKey, f: &Fields<'_>) -> Option<NamedGuard> {
    let decision = r.field(f, "decision", Reader::decision).unwrap_or(Decision::Block);
    let layers = [("boundary", Layer::Boundary), ("resource", Layer::Resource), ("intent", Layer::Intent)];
    let layer = r.field(f, "layer", |r, tree, what| r.choice(tree, what, &layers)).unwrap_or(Layer::Intent);
    let remarks = remarks(r, f);
    let (by, reason, fix) = match (f.get("expr"), f.get("command")) {
        (Some(_), None) => {
            let program = r.field(f, "expr", Reader::condition);
            let (reason, fix) = objection(r, f);
            command::only_for_programs(r, f);
            (GuardDecides::Expr(program?), reason?, fix?)
        }
        (None, Some(_)) => {
            let command = command::of(r, f);
            let reason = r.field(f, "reason", Reader::sentence);
            let fix = r.field(f, "fix", Reader::sentence);
            let command = command?;
            let reason = reason.unwrap_or_else(|| format!("`{}` said no", command.argv.join(" ")));
            let fix = fix.unwrap_or_else(|| format!("do what `{}` asks for", key.text));
            (GuardDecides::Command(command), reason, fix)
        }
        (Some(_), Some(place)) => {
            r.error(place.span, "a guard has an `expr` or a `command`, not both", "make two guards of it");
            return None;
        }
        (None, None) if f.misspelt => return None,
        (None, None) => {
            let message = format!("guard `{}` has neither `expr` nor `command`", key.text);
            r.error(key.span, message, "say what it checks: `expr: '…'` or `command: […]`");
            return None;
        }
    };
    Some(NamedGuard { name: key.text.clone(), by, decision, reason, fix, layer, remarks })
}

/// The annotations and tags that it adds when it objects.
fn remarks(r: &mut Reader<'_>, f: &Fields<'_>) -> Remarks {
    let risk = r.field(f, "risk", Reader::fraction).and_then(Risk::from_fraction).unwrap_or_default();
    let annotations = r.field(f, "annotations", Reader::data).unwrap_or_default();
    let tags = r.field(f, "tags", Reader::texts).unwrap_or_default();
    let remarks = Remarks { risk, annotations: annotations.into_iter().collect(), tags };
    if let Some(place) = f.get("decision").filter(|_| remarks.is_empty())
        && matches!(&place.value, Yaml::Scalar { text, .. } if text == "pass")
    {
        r.error(place.span, "this guard would never say anything", "give it `risk`, `annotations` or `tags`");
    }
    remarks
}
