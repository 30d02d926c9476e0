//! JavaScript and TypeScript, through their grammars: `require` and `import` with renaming, constants, calls by full name.

mod branches;
mod functions;
mod mentions;
mod values;

use tree_sitter::{Language, Node};

use super::act::{Actor, Invocation};
use super::api::{self, Api};
use super::functions::Functions;
use super::tree::{self, Code, FUEL};
use super::value::{KEPT, Scope, Value};
use crate::call::{Call, Report};
use crate::operand::Taint;

struct Script<'a, 'b> {
    body: &'a str,
    call: &'a Call<'b>,
    scope: Scope,
    fuel: usize,
    functions: Functions,
}

fn grammar(typed: bool) -> Language {
    if typed {
        tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()
    } else {
        tree_sitter_javascript::LANGUAGE.into()
    }
}

pub(super) use mentions::scan;

pub(super) fn judge(body: &str, typed: bool, call: &Call<'_>, report: &mut Report) {
    let Some(parsed) = tree::parse(&grammar(typed), body) else {
        return report.opaque(lictor_core::facts::OpaqueWhat::Syntax, body);
    };
    let mut script =
        Script { body, call, scope: Scope::default(), fuel: FUEL, functions: Functions::default() };
    script.judge(body, &parsed, report);
    if super::printed::ends_with_secret_variable(parsed.root_node(), body, call) {
        crate::programs::reveals(report);
    }
}

/// A module by the name that the tables use.
fn module(name: &str) -> String {
    let name = name.strip_prefix("node:").unwrap_or(name);
    match name {
        "fs/promises" => "fs.promises".to_owned(),
        "bun" => "Bun".to_owned(),
        name => name.to_owned(),
    }
}

impl Code for Script<'_, '_> {
    const FUNCTIONS: &'static [&'static str] = &["function", "=>", "class "];

    fn fuel(&mut self) -> &mut usize {
        &mut self.fuel
    }

    fn functions(&mut self) -> &mut Functions {
        &mut self.functions
    }

    fn forget(&mut self) {
        self.scope = Scope::default();
    }

    fn visit(&mut self, node: Node<'_>, report: &mut Report) {
        self.functions.leave(node.start_byte());
        self.scope.leave(node.start_byte());
        match node.kind() {
            "import_statement" => self.import(node),
            "variable_declarator" => {
                if let (Some(name), Some(value)) =
                    (node.child_by_field_name("name"), node.child_by_field_name("value"))
                {
                    let value = self.value(value, 0);
                    self.bind(name, value);
                }
            }
            "assignment_expression" => {
                if let (Some(left), Some(right)) =
                    (node.child_by_field_name("left"), node.child_by_field_name("right"))
                {
                    let value = self.value(right, 0);
                    self.set_outside(left, value);
                }
            }
            "augmented_assignment_expression" => {
                if let (Some(left), Some(right)) =
                    (node.child_by_field_name("left"), node.child_by_field_name("right"))
                {
                    let value = self.value(left, 0).concat(self.value(right, 0));
                    self.set_outside(left, value);
                }
            }
            "for_in_statement" => {
                if let (Some(left), Some(right)) =
                    (node.child_by_field_name("left"), node.child_by_field_name("right"))
                {
                    let value = match self.value(right, 0) {
                        Value::List(values) => Value::Any(values),
                        other => other,
                    };
                    self.bind(left, value);
                }
            }
            "if_statement" => {
                if let (Some(condition), Some(branch)) =
                    (node.child_by_field_name("condition"), node.child_by_field_name("consequence"))
                {
                    self.narrow(condition, branch.end_byte());
                }
            }
            "function_declaration"
            | "generator_function_declaration"
            | "function_expression"
            | "method_definition" => self.define(node),
            "arrow_function" => {
                self.bind_callback(node);
                self.define(node);
            }
            "return_statement" => self.gives(node),
            "identifier" | "shorthand_property_identifier" => self.mention(node),
            "call_expression" | "new_expression" => {
                self.note_call(node);
                self.call(node, report);
            }
            _ => {}
        }
    }
}

impl Script<'_, '_> {
    fn text(&self, node: Node<'_>) -> &str {
        tree::text(node, self.body)
    }

    /// Sets a variable that may belong to a function further out.
    fn set_outside(&mut self, target: Node<'_>, value: Value) {
        if target.kind() == "identifier" {
            let name = self.text(target).to_owned();
            return self.scope.set_outside(&name, value);
        }
        self.bind(target, value);
    }

    fn bind(&mut self, target: Node<'_>, value: Value) {
        match target.kind() {
            "identifier" | "member_expression" => {
                let name = self.text(target).to_owned();
                self.scope.set(&name, value);
            }
            "object_pattern" => {
                for part in tree::children(target, KEPT) {
                    let (key, name) = match part.kind() {
                        "pair_pattern" => {
                            match (part.child_by_field_name("key"), part.child_by_field_name("value")) {
                                (Some(key), Some(name)) => {
                                    (self.text(key).to_owned(), self.text(name).to_owned())
                                }
                                _ => continue,
                            }
                        }
                        "rest_pattern" => {
                            let name = self.text(part).trim_start_matches('.').trim().to_owned();
                            self.scope.set(&name, value.clone());
                            continue;
                        }
                        _ => (self.text(part).to_owned(), self.text(part).to_owned()),
                    };
                    let inner = match &value {
                        Value::Name(module) if module == "process.env" => self.property(&value, &key),
                        Value::Name(module) => Value::Name(format!("{module}.{key}")),
                        value => value.field(&key).cloned().unwrap_or(Value::Unknown(value.taint())),
                    };
                    self.scope.set(&name, inner);
                }
            }
            "array_pattern" => {
                let names = tree::children(target, KEPT).into_iter().map(|part| tree::text(part, self.body));
                self.scope.set_elements(names, &value);
            }
            _ => {}
        }
    }

    fn import(&mut self, node: Node<'_>) {
        let Some(source) = node.child_by_field_name("source") else { return };
        let source = module(self.text(source).trim_matches(['"', '\'']));
        let mut stack: Vec<Node<'_>> = tree::children(node, KEPT);
        while let Some(part) = stack.pop() {
            match part.kind() {
                "import_specifier" => {
                    let Some(name) = part.child_by_field_name("name") else { continue };
                    let alias = part.child_by_field_name("alias").unwrap_or(name);
                    let (name, alias) = (self.text(name).to_owned(), self.text(alias).to_owned());
                    self.scope.set(&alias, Value::Name(format!("{source}.{name}")));
                }
                "identifier" => {
                    let name = self.text(part).to_owned();
                    self.scope.set(&name, Value::Name(source.clone()));
                }
                "namespace_import" | "import_clause" | "named_imports" => {
                    stack.extend(tree::children(part, KEPT))
                }
                _ => {}
            }
        }
    }

    fn arguments(&mut self, node: Node<'_>, depth: usize) -> Vec<Value> {
        let Some(arguments) = node.child_by_field_name("arguments") else { return Vec::new() };
        if arguments.kind() == "template_string" {
            return vec![self.value(arguments, depth + 1)];
        }
        let mut values = Vec::new();
        for argument in tree::children(arguments, 64) {
            match argument.kind() {
                "comment" => {}
                "spread_element" => {
                    match tree::children(argument, 1).first().map(|inner| self.value(*inner, depth + 1)) {
                        Some(Value::List(inner)) => values.extend(inner),
                        other => values.push(other.unwrap_or_else(Value::unknown)),
                    }
                }
                _ => values.push(self.value(argument, depth + 1)),
            }
        }
        values
    }

    fn call(&mut self, node: Node<'_>, report: &mut Report) {
        let Some(function) =
            node.child_by_field_name("function").or_else(|| node.child_by_field_name("constructor"))
        else {
            return;
        };
        if super::printed::prints_secret_variable(node, self.body, self.call) {
            crate::programs::reveals(report);
        }
        let callee = self.value(function, 0);
        let positional = self.arguments(node, 0);
        let text: String = self.text(node).chars().take(400).collect();
        let invocation = Invocation { positional: &positional, named: &[], text: &text };
        let mut actor = Actor { call: self.call, report, language: "javascript" };
        if let Some(name) = callee.name() {
            match name {
                "require" | "import" if positional.first().is_some_and(|value| !names_module(value)) => {
                    actor.report.opaque(lictor_core::facts::OpaqueWhat::Code, &text);
                }
                "setTimeout" | "setInterval" | "setImmediate"
                    if positional.first().is_some_and(|value| value.known().is_some()) =>
                {
                    actor.perform(
                        Api::Evaluate,
                        &Invocation { positional: positional.get(..1).unwrap_or_default(), ..invocation },
                    );
                }
                _ => {}
            }
            if let Some(api) = api::javascript(name) {
                return actor.perform(api, &invocation);
            }
        }
        let method = function.child_by_field_name("property").map(|property| self.text(property).to_owned());
        let object = function
            .child_by_field_name("object")
            .map(|object| self.text(object).to_owned())
            .unwrap_or_default();
        let mut actor = Actor { call: self.call, report, language: "javascript" };
        let hands_on = positional
            .iter()
            .any(|value| matches!(value.name().and_then(api::javascript), Some(Api::Evaluate | Api::Shell)));
        match method.as_deref() {
            // `.then(eval)`: what comes out of the receiver is run.
            Some("then" | "map" | "forEach" | "on" | "pipe") if hands_on => {
                let receiver =
                    function.child_by_field_name("object").map(|object| self.value(object, 0).taint());
                report.unknown_code(receiver.unwrap_or_default(), &text);
            }
            Some("constructor") => actor.perform(Api::Evaluate, &invocation),
            Some("query" | "execute" | "exec" | "raw" | "$executeRawUnsafe" | "$queryRawUnsafe" | "run") => {
                if let Some(sql) = positional.first().and_then(Value::known) {
                    crate::programs::sql::judge(sql, report);
                }
            }
            Some("$executeRaw" | "$queryRaw") => {
                if let Some(sql) = positional.first().and_then(Value::known) {
                    crate::programs::sql::judge(sql, report);
                }
            }
            Some("dropDatabase" | "flushall" | "flushAll" | "flushdb" | "flushDb") => {
                report.database(lictor_core::facts::DatabaseEffect::DropAll, &text);
            }
            Some("deleteMany")
                if positional.is_empty()
                    || matches!(positional.first(), Some(Value::Map(pairs)) if pairs.is_empty()) =>
            {
                report.database(lictor_core::facts::DatabaseEffect::DropPart, &text);
            }
            Some("write" | "send" | "end")
                if positional.iter().any(|value| value.taint().secret)
                    && !object.contains("stdout")
                    && !object.contains("console") =>
            {
                actor.perform(Api::Send, &invocation);
            }
            _ => {}
        }
    }

    /// `import("fs").then(fs => …)`, `["a", "b"].forEach(x => …)`: the parameter gets the receiver's value.
    fn bind_callback(&mut self, callback: Node<'_>) {
        let call =
            callback.parent().filter(|parent| parent.kind() == "arguments").and_then(|list| list.parent());
        let function = call.and_then(|call| call.child_by_field_name("function"));
        let Some(function) = function else { return };
        let (Some(object), Some(property)) =
            (function.child_by_field_name("object"), function.child_by_field_name("property"))
        else {
            return;
        };
        let method = self.text(property).to_owned();
        if !matches!(method.as_str(), "then" | "forEach" | "map" | "filter") {
            return;
        }
        let parameter = callback.child_by_field_name("parameter").or_else(|| {
            let list = callback.child_by_field_name("parameters")?;
            tree::children(list, 1).first().copied()
        });
        let Some(parameter) = parameter else { return };
        let value = match self.value(object, 0) {
            Value::List(values) if method != "then" => Value::Any(values),
            value => value,
        };
        // A parameter of TypeScript wraps its pattern.
        let target = parameter.child_by_field_name("pattern").unwrap_or(parameter);
        self.bind(target, value);
    }
}

/// Whether something that is loaded is known, at least as a file: to run one of the project is fine.
fn names_module(value: &Value) -> bool {
    match value {
        Value::Text(arg) => {
            let clean = arg.taint == Taint::default();
            arg.known().is_some() || clean && arg.prefix().contains('/') && !arg.prefix().contains("://")
        }
        Value::Any(values) => values.iter().all(names_module),
        _ => false,
    }
}
