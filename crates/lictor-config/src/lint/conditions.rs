//! Conditions that are never true or never false, with the smallest set of parts that causes it.

use std::collections::BTreeMap;

use lictor_expr::{Outlook, Part, Program, Type};

use super::Lint;
use crate::diagnostic::Span;
use crate::expressions;
use crate::reader::Reader;
use crate::sections::{GuardDecides, PolicyCallback};
use crate::yaml::Tree;

/// A condition with only one possible outcome.
pub(super) struct Settled {
    /// The outcome.
    pub(super) truth: bool,
    /// Why: `A` and `B` cannot both hold.
    pub(super) why: String,
    /// The smallest span that contains the parts that cause it.
    pub(super) span: Span,
}

impl Lint<'_> {
    /// Whether a condition has the same outcome for every input, apart from having no value.
    pub(super) fn settled(&self, program: &Program, tree: &Tree) -> Option<Settled> {
        let (truth, parts) = match program.outlook(&expressions::schema()) {
            Outlook::Never(parts) => (false, parts),
            Outlook::Always(parts) => (true, parts),
            Outlook::Open => return None,
        };
        let first = parts.iter().map(|part| part.span.start).min()?;
        let last = parts.iter().map(|part| part.span.end).max()?;
        let reader = Reader::new(&self.file.path, self.file.origin, &self.file.text);
        let span = reader.inside(tree, first as usize, last as usize);
        Some(Settled { truth, why: why(truth, &parts, program.source()), span })
    }
}

fn why(truth: bool, parts: &[Part], source: &str) -> String {
    let shown =
        |part: &Part| format!("{}`{}`", if part.as_written { "" } else { "not " }, part.span.text(source));
    let words: Vec<String> = parts.iter().map(shown).collect();
    match (truth, words.as_slice()) {
        (true, [only]) => format!("{only} always holds"),
        (true, [rest @ .., last]) => format!("{} or {last} always holds", rest.join(", ")),
        (false, [only]) => format!("{only} never holds"),
        (false, [one, other]) => format!("{one} and {other} cannot both hold"),
        (false, [rest @ .., last]) => format!("{} and {last} cannot hold together", rest.join(", ")),
        (_, []) => String::new(),
    }
}

pub(super) fn look(lint: &mut Lint<'_>) {
    guards(lint);
    intent(lint);
    callbacks(lint);
}

fn guards(lint: &mut Lint<'_>) {
    let mut found = Vec::new();
    for guard in &lint.file.sections.guards {
        let GuardDecides::Expr(program) = &guard.by else { continue };
        let Some(tree) = lint.file.tree.at(&["guards", &guard.name, "expr"]) else { continue };
        let Some(Settled { truth, why, span }) = lint.settled(program, tree) else { continue };
        found.push(if truth {
            (span, format!("{why}, so the guard never objects"), "leave it out")
        } else {
            (span, format!("{why}: no action can pass, not even `ls`"), "say what must hold")
        });
    }
    for (span, message, help) in found {
        lint.warn(span, message, help);
    }
}

fn intent(lint: &mut Lint<'_>) {
    let mut found: Vec<(Span, String, String)> = Vec::new();
    let places = lint.file.tree.at(&["intent"]).map(Tree::items).unwrap_or_default();
    let places: Vec<&Tree> = places.into_iter().filter_map(|item| item.get("require")).collect();
    let rules = lint.file.sections.intent.iter().filter_map(|section| section.rules.get()).flatten();
    // The requirements so far, by task type.
    let mut before: BTreeMap<&str, Vec<(&Program, usize)>> = BTreeMap::new();
    for (rule, place) in rules.zip(places) {
        let tasks = rule.tasks.join("`, `");
        if let Some(Settled { truth, why, span }) = lint.settled(&rule.require, place) {
            found.push(if truth {
                (span, format!("{why}, so the rule never objects"), "leave `require` out".to_owned())
            } else {
                (span, format!("{why}: no `{tasks}` can be submitted"), "say what must hold".to_owned())
            });
            continue;
        }
        for task in &rule.tasks {
            let earlier = before.entry(task).or_default();
            let same = earlier.iter().find(|(other, _)| other.source() == rule.require.source());
            if let Some((_, line)) = same {
                let message = format!("line {line} already requires this of `{task}`");
                found.push((place.span, message, "leave one out".to_owned()));
            } else if let Some((_, line)) = earlier.iter().find(|(other, _)| contradict(other, &rule.require))
            {
                let message = format!("no `{task}` can be submitted: this and line {line} cannot both hold");
                found.push((place.span, message, "every rule for a type of task has to hold".to_owned()));
            }
            earlier.push((&rule.require, place.span.line));
        }
    }
    for (span, message, help) in found {
        lint.warn(span, message, help);
    }
}

/// Whether two conditions can never hold of the same action.
fn contradict(one: &Program, other: &Program) -> bool {
    let both = format!("({}) && ({})", one.source(), other.source());
    let schema = expressions::schema();
    Program::compile(&both, &schema, &Type::Bool)
        .is_ok_and(|both| matches!(both.outlook(&schema), Outlook::Never(_)))
}

fn callbacks(lint: &mut Lint<'_>) {
    let mut found = Vec::new();
    let places = lint.file.tree.at(&["policies"]).map(Tree::items).unwrap_or_default();
    for (rule, place) in lint.file.sections.policies.iter().zip(places) {
        let Some(PolicyCallback::Expr { program, .. }) = &rule.callback else { continue };
        let Some(tree) = place.at(&["callback", "expr"]) else { continue };
        let Some(Settled { truth, why, span }) = lint.settled(program, tree) else { continue };
        found.push(match (truth, rule.requires_confirmation) {
            (true, _) => (span, format!("{why}, so the callback never objects"), "leave it out"),
            (false, true) => (span, format!("{why}, so the callback always objects"), "leave it out"),
            (false, false) => {
                let message = format!("{why}: no `{} {}` can pass", rule.verb, rule.object);
                (span, message, "say what must hold, or say `effect: block`")
            }
        });
    }
    for (span, message, help) in found {
        lint.warn(span, message, help);
    }
}
