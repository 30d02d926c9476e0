//! Conditions on names: what a branch can still mean by a variable.

use tree_sitter::Node;

use super::Python;
use crate::languages::narrow::Test;
use crate::languages::tree;

impl Python<'_, '_> {
    /// `if f.endswith('.tmp'): …` narrows the branch, `if not f.endswith('.tmp'): continue` what follows it.
    pub(super) fn branch(&mut self, node: Node<'_>) {
        let (Some(condition), Some(consequence)) =
            (node.child_by_field_name("condition"), node.child_by_field_name("consequence"))
        else {
            return;
        };
        if condition.kind() == "not_operator" {
            let leaves = |child: &Node<'_>| child.kind() == "continue_statement";
            let body = tree::children(consequence, 2);
            if let (true, Some(argument), Some(block)) = (
                matches!(body.as_slice(), [only] if leaves(only)),
                condition.child_by_field_name("argument"),
                node.parent(),
            ) {
                self.narrow(argument, block.end_byte());
            }
            return;
        }
        self.narrow(condition, consequence.end_byte());
    }

    /// Narrows the variables that a condition tests, up to `end`.
    pub(super) fn narrow(&mut self, condition: Node<'_>, end: usize) {
        match condition.kind() {
            "boolean_operator" if self.text(condition).contains(" or ") => {}
            "if_clause" | "boolean_operator" | "parenthesized_expression" => {
                for part in tree::children(condition, 4) {
                    self.narrow(part, end);
                }
            }
            "call" => {
                let Some(function) = condition.child_by_field_name("function") else { return };
                let (Some(object), Some(method)) =
                    (function.child_by_field_name("object"), function.child_by_field_name("attribute"))
                else {
                    return;
                };
                let Some(test) = Test::of_method(self.text(method)) else { return };
                let wanted = self.arguments(condition, 0).0;
                self.narrow_to(object, test, wanted.first(), end);
            }
            // `f.suffix == '.tmp'`
            "comparison_operator" => {
                let parts = tree::children(condition, 3);
                let [left, right] = parts.as_slice() else { return };
                let compared = self.text(condition).contains("==");
                let suffix = left.child_by_field_name("attribute").map(|name| self.text(name));
                if let (true, Some("suffix"), Some(object)) =
                    (compared, suffix, left.child_by_field_name("object"))
                {
                    let wanted = self.value(*right, 0);
                    self.narrow_to(object, Test::Ends, Some(&wanted), end);
                }
            }
            _ => {}
        }
    }

    /// Narrows the variable `f` of `f` or of `f.name`.
    fn narrow_to(
        &mut self,
        object: Node<'_>,
        test: Test,
        wanted: Option<&crate::languages::value::Value>,
        end: usize,
    ) {
        let variable = match object.kind() {
            "attribute"
                if object.child_by_field_name("attribute").is_some_and(|name| self.text(name) == "name") =>
            {
                object.child_by_field_name("object")
            }
            _ => Some(object),
        };
        let Some(variable) = variable.filter(|variable| variable.kind() == "identifier") else { return };
        let name = self.text(variable).to_owned();
        let narrowed =
            self.scope.get(&name).zip(wanted).and_then(|(value, wanted)| test.narrow(value, wanted));
        if let Some(value) = narrowed {
            self.scope.narrow(&name, value, end);
        }
    }
}
