//! Functions that the code defines, in JavaScript and TypeScript.

use tree_sitter::Node;

use super::Script;
use crate::languages::tree;
use crate::languages::value::Value;

impl Script<'_, '_> {
    /// The name of a function: its own, or that of the variable that holds it; of a method with a dot in front.
    fn name_of(&self, node: Node<'_>) -> Option<String> {
        if let Some(name) = node.child_by_field_name("name") {
            let name = self.text(name);
            return Some(if node.kind() == "method_definition" {
                format!(".{name}")
            } else {
                name.to_owned()
            });
        }
        let parent = node.parent()?;
        match parent.kind() {
            "variable_declarator" => {
                let name = parent.child_by_field_name("name").filter(|name| name.kind() == "identifier")?;
                Some(self.text(name).to_owned())
            }
            "pair" => Some(format!(".{}", self.text(parent.child_by_field_name("key")?))),
            _ => None,
        }
    }

    /// A function begins: its parameters are what it is called with.
    pub(super) fn define(&mut self, node: Node<'_>) {
        let Some(name) = self.name_of(node) else { return };
        self.functions.enter(&name, node.end_byte());
        self.scope.enter(node.end_byte());
        let parameters = match node.child_by_field_name("parameters") {
            Some(list) => tree::children(list, 32),
            None => node.child_by_field_name("parameter").into_iter().collect(),
        };
        for (at, parameter) in parameters.into_iter().enumerate() {
            let default = ["right", "value"].iter().find_map(|field| parameter.child_by_field_name(field));
            let default = default.map(|value| self.value(value, 0));
            let target = ["left", "pattern"].iter().find_map(|field| parameter.child_by_field_name(field));
            let target = target.unwrap_or(parameter);
            let value = match target.kind() {
                "rest_pattern" => self.functions.rest(&name, at),
                _ => self.functions.parameter(&name, at, "", default),
            };
            let target = match target.kind() {
                "rest_pattern" => tree::children(target, 1).first().copied().unwrap_or(target),
                _ => target,
            };
            let own = Value::Name(self.text(target).to_owned());
            // Not the variable of the same name outside.
            self.bind(target, value.unwrap_or(own));
        }
        if let Some(body) = node.child_by_field_name("body").filter(|body| body.kind() != "statement_block") {
            let value = self.value(body, 0);
            self.functions.gives(value);
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
        let fields = ["function", "name", "constructor", "object"];
        let plain = fields.iter().any(|field| parent.child_by_field_name(field) == Some(node));
        let each = parent.kind() == "arguments"
            && parent.prev_sibling().is_some_and(|function| self.hands_each(function));
        if !plain && !each {
            let name = name.to_owned();
            self.functions.hand_on(&name);
        }
    }

    /// Whether a method calls its argument with each element of a list.
    fn hands_each(&self, function: Node<'_>) -> bool {
        let property = function.child_by_field_name("property").map(|property| self.text(property));
        matches!(property, Some("map" | "forEach" | "filter" | "flatMap"))
    }

    /// Notes a call of a function of the code itself.
    pub(super) fn note_call(&mut self, node: Node<'_>) {
        let Some(function) = node.child_by_field_name("function") else { return };
        match function.kind() {
            "identifier" => {
                let name = self.text(function).to_owned();
                let arguments = self.arguments(node, 0);
                self.functions.call(&name, (arguments, Vec::new()));
            }
            "member_expression" if self.hands_each(function) => {
                let each = self.arguments(node, 0).into_iter().next();
                let Some((Value::Name(each), object)) = each.zip(function.child_by_field_name("object"))
                else {
                    return;
                };
                let element = match self.value(object, 0) {
                    Value::List(values) => Value::one_of(values),
                    value => value,
                };
                self.functions.call(&each, (vec![element], Vec::new()));
            }
            "member_expression" => {
                let Some(property) = function.child_by_field_name("property") else { return };
                let name = format!(".{}", self.text(property));
                if self.functions.is_defined(&name) {
                    let arguments = self.arguments(node, 0);
                    self.functions.call(&name, (arguments, Vec::new()));
                }
            }
            _ => {}
        }
    }

    /// The result of a function that the code defines.
    pub(super) fn result_of_own(&self, function: Node<'_>, positional: &[Value]) -> Option<Value> {
        let name = match function.kind() {
            "identifier" => self.text(function).to_owned(),
            "member_expression" => format!(".{}", self.text(function.child_by_field_name("property")?)),
            _ => return None,
        };
        let taint = positional
            .iter()
            .fold(Default::default(), |taint: crate::operand::Taint, value| taint.and(value.taint()));
        self.functions.result(&name, taint)
    }
}
