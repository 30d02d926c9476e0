//! Functions that the code defines, in Python.

use tree_sitter::Node;

use super::Python;
use crate::languages::api;
use crate::languages::tree;
use crate::languages::value::{KEPT, Value};

impl Python<'_, '_> {
    /// The name of a function: that of a method has a dot in front, that of a `lambda` is the variable that holds it.
    fn name_of(&self, node: Node<'_>) -> Option<String> {
        if node.kind() == "lambda" {
            let parent = node.parent().filter(|parent| parent.kind() == "assignment")?;
            let left = parent.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
            return Some(self.text(left).to_owned());
        }
        let name = self.text(node.child_by_field_name("name")?);
        let above = node.parent().and_then(|parent| match parent.kind() {
            "decorated_definition" => parent.parent()?.parent(),
            _ => parent.parent(),
        });
        let method = above.is_some_and(|above| above.kind() == "class_definition");
        Some(if method { format!(".{name}") } else { name.to_owned() })
    }

    /// A function begins: its parameters are what it is called with.
    pub(super) fn define(&mut self, node: Node<'_>) {
        let Some(name) = self.name_of(node) else { return };
        self.functions.enter(&name, node.end_byte());
        self.scope.enter(node.end_byte());
        if let Some(parameters) = node.child_by_field_name("parameters") {
            self.bind_parameters(&name, parameters);
        }
        if node.kind() == "lambda"
            && let Some(body) = node.child_by_field_name("body")
        {
            let value = self.value(body, 0);
            self.functions.gives(value);
        }
    }

    fn bind_parameters(&mut self, function: &str, parameters: Node<'_>) {
        let parameters = tree::children(parameters, 32);
        // The object that a method belongs to is not among its arguments.
        let own = parameters.first().filter(|first| matches!(self.text(**first), "self" | "cls"));
        let skipped = usize::from(function.starts_with('.') && own.is_some());
        for (at, parameter) in parameters.into_iter().skip(skipped).enumerate() {
            let named = match parameter.kind() {
                "identifier" => parameter,
                "typed_parameter" | "list_splat_pattern" => match tree::children(parameter, 1).first() {
                    Some(first) => *first,
                    None => continue,
                },
                "default_parameter" | "typed_default_parameter" => {
                    match parameter.child_by_field_name("name") {
                        Some(name) => name,
                        None => continue,
                    }
                }
                _ => continue,
            };
            let default = parameter.child_by_field_name("value").map(|value| self.value(value, 0));
            let name = self.text(named).trim_start_matches('*').to_owned();
            let value = if self.text(parameter).starts_with("**") {
                None
            } else if self.text(parameter).starts_with('*') {
                self.functions.rest(function, at)
            } else {
                self.functions.parameter(function, at, &name, default)
            };
            // Not the variable of the same name outside.
            self.scope.set(&name, value.unwrap_or_else(|| Value::Name(name.clone())));
        }
    }

    pub(super) fn gives(&mut self, node: Node<'_>) {
        let value = tree::children(node, 1).first().map(|value| self.value(*value, 0));
        self.functions.gives(value.unwrap_or_else(Value::unknown));
    }

    /// A function is mentioned other than by a call of it.
    pub(super) fn mention(&mut self, node: Node<'_>) {
        let name = self.text(node);
        if !self.functions.is_defined(name) {
            return;
        }
        let Some(parent) = node.parent() else { return };
        let called = parent.child_by_field_name("function") == Some(node) && parent.kind() == "call";
        let named = parent.child_by_field_name("name") == Some(node);
        let attribute = parent.kind() == "attribute";
        let set = parent.child_by_field_name("left") == Some(node) && parent.kind() == "assignment";
        let each = parent.prev_sibling().is_some_and(|function| self.hands_each(function))
            && parent.named_child(0) == Some(node);
        if !called && !named && !attribute && !set && !each {
            let name = name.to_owned();
            self.functions.hand_on(&name);
        }
    }

    /// Whether a function calls its first argument with the others: `map(run, lines)`, `pool.submit(run, line)`.
    fn hands_each(&self, function: Node<'_>) -> bool {
        let last = self.text(function).rsplit('.').next().unwrap_or_default();
        matches!(last, "map" | "imap" | "imap_unordered" | "submit")
    }

    /// Notes a call of a function of the code itself.
    pub(super) fn note_call(&mut self, node: Node<'_>) {
        let Some(function) = node.child_by_field_name("function") else { return };
        if self.hands_each(function) {
            let arguments = self.arguments(node, 0);
            let Some((Value::Name(each), rest)) = arguments.0.split_first() else { return };
            let lists = self.text(function).contains("map");
            let given = rest.iter().map(|value| match value {
                Value::List(values) if lists => Value::one_of(values.clone()),
                value => value.clone(),
            });
            return self.functions.call(each, (given.take(KEPT).collect(), Vec::new()));
        }
        match function.kind() {
            "identifier" => {
                let name = self.text(function).to_owned();
                let arguments = self.arguments(node, 0);
                self.functions.call(&name, arguments);
            }
            "attribute" => {
                let Some(name) = function.child_by_field_name("attribute") else { return };
                let name = format!(".{}", self.text(name));
                let library = self.value(function, 0).name().is_some_and(|name| api::python(name).is_some());
                if self.functions.is_defined(&name) && !library {
                    let arguments = self.arguments(node, 0);
                    self.functions.call(&name, arguments);
                }
            }
            _ => {}
        }
    }
}
