//! Variables with one of two known values: `m=$(test -f a && echo x || echo y)`, `test -f a && m=x || m=y`,
//! `dry=${DRY:+echo}`.

use super::Walker;
use crate::ast::{Assigned, Compound, Item, Joint, Node, Operation, Part, Pipeline, Script, Word};

impl Walker<'_> {
    /// Notes the values that the word of an assignment chooses between.
    pub(super) fn note_choice(&mut self, name: &str, word: &Word) {
        if let Some(values) = chosen(word) {
            self.state.set_either(name, values);
        }
    }

    /// Notes the values that the two ends of a chain give to one variable.
    pub(super) fn note_assigned_choice(&mut self, item: &Item) {
        if let [(Joint::And, one), (Joint::Or, other)] = item.rest.as_slice()
            && let Some(((name, one), (same, other))) = assigned(one).zip(assigned(other))
            && name == same
        {
            self.state.set_either(name, vec![one.to_owned(), other.to_owned()]);
        }
    }
}

/// The alternative values of a word.
fn chosen(word: &Word) -> Option<Vec<String>> {
    let parts = match word.parts.as_slice() {
        [Part::Double(parts)] => parts.as_slice(),
        parts => parts,
    };
    let script = match parts {
        [Part::Command(script)] => script,
        [Part::Parameter(parameter)] => {
            let Operation::Alternative { word } = &parameter.operation else { return None };
            let [Part::Literal(text)] = word.as_slice() else { return None };
            return Some(vec![String::new(), text.clone()]);
        }
        _ => return None,
    };
    let [item] = script.items.as_slice() else { return None };
    match item.rest.as_slice() {
        [(Joint::And, one), (Joint::Or, other)] if is_silent(&item.first) => {
            Some(vec![printed(one)?, printed(other)?])
        }
        [] => {
            let [Node::Compound { body, .. }] = item.first.stages.as_slice() else { return None };
            let Compound::If { arms, otherwise: Some(otherwise) } = body.as_ref() else { return None };
            let silent = |condition: &Script| {
                condition.items.iter().all(|item| is_silent(&item.first) && item.rest.is_empty())
            };
            let bodies = arms.iter().map(|(condition, body)| silent(condition).then_some(body));
            let bodies = bodies.chain(std::iter::once(Some(otherwise)));
            bodies.map(|body| printed_by(body?)).collect()
        }
        _ => None,
    }
}

/// A test prints nothing.
fn is_silent(pipeline: &Pipeline) -> bool {
    match pipeline.stages.as_slice() {
        [Node::Simple(simple)] => {
            matches!(simple.words.first().map(Word::written), Some("test" | "[" | "true" | "false" | ":"))
        }
        [Node::Compound { body, .. }] => matches!(body.as_ref(), Compound::Test(_) | Compound::Arithmetic(_)),
        _ => false,
    }
}

fn printed_by(script: &Script) -> Option<String> {
    match script.items.as_slice() {
        [item] if item.rest.is_empty() && !item.background => printed(&item.first),
        _ => None,
    }
}

/// The one word that `echo` or `printf` prints.
fn printed(pipeline: &Pipeline) -> Option<String> {
    let [Node::Simple(simple)] = pipeline.stages.as_slice() else { return None };
    let [program, text] = simple.words.as_slice() else { return None };
    let prints = matches!(program.literal(), Some("echo" | "printf")) && simple.redirects.is_empty();
    text.literal().filter(|text| prints && !text.contains(['%', '\\', '-'])).map(str::to_owned)
}

/// The name and the value of a command that only assigns.
fn assigned(pipeline: &Pipeline) -> Option<(&str, &str)> {
    let [Node::Simple(simple)] = pipeline.stages.as_slice() else { return None };
    match (simple.assignments.as_slice(), simple.words.as_slice()) {
        ([one], []) if one.element.is_none() && !one.append => match &one.value {
            Assigned::Scalar(word) => Some((&one.name, word.literal()?)),
            Assigned::Array { .. } => None,
        },
        _ => None,
    }
}
