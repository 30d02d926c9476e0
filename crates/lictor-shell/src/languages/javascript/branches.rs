//! Conditions on names: what a branch or a filter can still mean by a variable.

use tree_sitter::Node;

use super::Script;
use crate::languages::narrow::Test;
use crate::languages::tree;
use crate::languages::value::Value;

impl Script<'_, '_> {
    /// Narrows the variables that a condition tests, up to `end`: `if (f.endsWith('.tmp')) …`.
    pub(super) fn narrow(&mut self, condition: Node<'_>, end: usize) {
        for (variable, test, wanted) in self.tests(condition) {
            let narrowed = self.scope.get(&variable).and_then(|value| test.narrow(value, &wanted));
            if let Some(value) = narrowed {
                self.scope.narrow(&variable, value, end);
            }
        }
    }

    /// What is left of a listing by `.filter(f => f.endsWith('.tmp'))`.
    pub(super) fn filtered(&mut self, call: Node<'_>, listing: &Value) -> Option<Value> {
        let arguments = call.child_by_field_name("arguments")?;
        let callback = arguments.named_child(0).filter(|callback| callback.kind() == "arrow_function")?;
        let parameter = callback.child_by_field_name("parameter").or_else(|| {
            let list = callback.child_by_field_name("parameters")?;
            list.named_child(0)
        })?;
        let parameter = self.text(parameter.child_by_field_name("pattern").unwrap_or(parameter)).to_owned();
        let body = callback.child_by_field_name("body")?;
        let tests = self.tests(body).into_iter().filter(|(variable, ..)| *variable == parameter);
        tests.fold(None, |kept: Option<Value>, (_, test, wanted)| {
            test.narrow(kept.as_ref().unwrap_or(listing), &wanted).or(kept)
        })
    }

    /// Variables and the tests on their text that all hold where the condition does.
    fn tests(&mut self, condition: Node<'_>) -> Vec<(String, Test, Value)> {
        match condition.kind() {
            "parenthesized_expression" => {
                tree::children(condition, 1).into_iter().flat_map(|inner| self.tests(inner)).collect()
            }
            "binary_expression"
                if condition
                    .child_by_field_name("operator")
                    .is_some_and(|operator| self.text(operator) == "&&") =>
            {
                tree::children(condition, 2).into_iter().flat_map(|part| self.tests(part)).collect()
            }
            "call_expression" => self.test(condition).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn test(&mut self, call: Node<'_>) -> Option<(String, Test, Value)> {
        let function = call.child_by_field_name("function")?;
        let object = function.child_by_field_name("object").filter(|object| object.kind() == "identifier")?;
        let test = Test::of_method(self.text(function.child_by_field_name("property")?))?;
        let variable = self.text(object).to_owned();
        let wanted = self.arguments(call, 0).into_iter().next()?;
        Some((variable, test, wanted))
    }
}
