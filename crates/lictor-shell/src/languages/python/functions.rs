//! Functions of the code itself: what their parameters are bound to.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::Python;
use crate::languages::tree::{self, FUEL};
use crate::languages::value::{KEPT, Scope, Value};

/// Positional and keyword arguments of one call.
type Arguments = (Vec<Value>, Vec<(String, Value)>);
/// What functions are called with, by name.
pub(super) type Called = BTreeMap<String, Vec<Arguments>>;

impl Python<'_, '_> {
    /// Notes what functions are called with before their bodies are read.
    pub(super) fn look_ahead(&mut self, parsed: &tree_sitter::Tree) {
        if !self.body.contains("def ") {
            return;
        }
        tree::walk(parsed, |node| {
            match node.kind() {
                "assignment" => self.assign(node),
                "for_statement" => self.bind_loop(node),
                "call" => {
                    let function = node.child_by_field_name("function");
                    if let Some(name) = function.filter(|function| function.kind() == "identifier") {
                        let name = self.text(name).to_owned();
                        let arguments = self.arguments(node, 0);
                        self.called.entry(name).or_default().push(arguments);
                    }
                }
                _ => {}
            }
            self.fuel = self.fuel.saturating_sub(1);
            self.fuel > 0
        });
        self.scope = Scope::default();
        self.fuel = FUEL;
    }

    /// A parameter is one of the values that the code calls the function with. A function that is also handed on may be
    /// called with anything.
    pub(super) fn bind_parameters(&mut self, node: Node<'_>) {
        let (Some(name), Some(parameters)) =
            (node.child_by_field_name("name"), node.child_by_field_name("parameters"))
        else {
            return;
        };
        let name = self.text(name).to_owned();
        let Some(calls) = self.called.get(&name).cloned() else { return };
        let word = |letter: char| letter.is_alphanumeric() || letter == '_';
        // `subprocess.run` is another function than `run`.
        let starts = self.body.match_indices(name.as_str()).filter(|(at, found)| {
            let before = self.body.get(..*at).unwrap_or_default().chars().next_back();
            let after = self.body.get(at + found.len()..).unwrap_or_default().chars().next();
            !before.is_some_and(|letter| word(letter) || letter == '.') && !after.is_some_and(word)
        });
        let mentions = starts.count();
        if mentions != calls.len() + 1 {
            return;
        }
        for (at, parameter) in tree::children(parameters, 32).into_iter().enumerate() {
            let default = parameter.child_by_field_name("value").map(|value| self.value(value, 0));
            let named = match parameter.kind() {
                "identifier" => parameter,
                "typed_parameter" => match tree::children(parameter, 1).first() {
                    Some(first) => *first,
                    None => continue,
                },
                "default_parameter" | "typed_default_parameter" => {
                    match parameter.child_by_field_name("name") {
                        Some(name) => name,
                        None => continue,
                    }
                }
                _ => break,
            };
            let parameter = self.text(named).to_owned();
            let given = calls.iter().map(|(positional, by_name)| {
                let by_name = by_name.iter().find(|(name, _)| *name == parameter).map(|(_, value)| value);
                positional.get(at).or(by_name).or(default.as_ref()).cloned().unwrap_or_else(Value::unknown)
            });
            let mut values: Vec<Value> = given.take(KEPT).collect();
            let value = match values.len() {
                1 => values.remove(0),
                _ => Value::Any(values),
            };
            self.scope.set(&parameter, value);
        }
    }
}
