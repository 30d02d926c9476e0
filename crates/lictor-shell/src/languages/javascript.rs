//! JavaScript and TypeScript, through their grammars: `require` and `import` with renaming, constants, calls by full name.

mod functions;
mod mentions;

use tree_sitter::{Language, Node};

use super::act::{Actor, Invocation, content_of};
use super::api::{self, Api};
use super::broken;
use super::functions::Functions;
use super::python::{environment, home};
use super::tree::{self, DEPTH, FUEL};
use super::value::{KEPT, Scope, Value, join_path};
use crate::call::{Call, Report};
use crate::operand::Taint;
use crate::programs::text::{from_base64, from_hex};

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
    script.look_ahead(&parsed);
    tree::walk(&parsed, |node| {
        script.visit(node, report);
        script.fuel = script.fuel.saturating_sub(1);
        script.fuel > 0
    });
    if script.fuel == 0 {
        report.opaque(lictor_core::facts::OpaqueWhat::Limit, body);
    }
    if parsed.root_node().has_error() {
        broken::judge(body, report);
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

impl Script<'_, '_> {
    fn text(&self, node: Node<'_>) -> &str {
        tree::text(node, self.body)
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
            "function_declaration"
            | "generator_function_declaration"
            | "function_expression"
            | "arrow_function"
            | "method_definition" => self.define(node),
            "return_statement" => self.gives(node),
            "identifier" | "shorthand_property_identifier" => self.mention(node),
            "call_expression" | "new_expression" => {
                self.note_call(node);
                self.call(node, report);
            }
            _ => {}
        }
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
                        _ => (self.text(part).to_owned(), self.text(part).to_owned()),
                    };
                    let inner = match &value {
                        Value::Name(module) => Value::Name(format!("{module}.{key}")),
                        value => value.field(&key).cloned().unwrap_or(Value::Unknown(value.taint())),
                    };
                    self.scope.set(&name, inner);
                }
            }
            "array_pattern" => {
                for (at, part) in tree::children(target, KEPT).into_iter().enumerate() {
                    let inner = value.elements().and_then(|values| values.get(at)).cloned();
                    let name = self.text(part).to_owned();
                    self.scope.set(&name, inner.unwrap_or(Value::Unknown(value.taint())));
                }
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
        self.bind_callback(node, function);
        if super::printed::prints_secret_variable(node, self.body) {
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

    /// `import("fs").then(fs => …)`, `["a", "b"].forEach(x => …)`: the parameter is what the receiver holds.
    fn bind_callback(&mut self, node: Node<'_>, function: Node<'_>) {
        let (Some(object), Some(property)) =
            (function.child_by_field_name("object"), function.child_by_field_name("property"))
        else {
            return;
        };
        let method = self.text(property).to_owned();
        if !matches!(method.as_str(), "then" | "forEach" | "map" | "filter") {
            return;
        }
        let callback = node
            .child_by_field_name("arguments")
            .and_then(|arguments| tree::children(arguments, 1).first().copied());
        let Some(callback) = callback.filter(|callback| callback.kind() == "arrow_function") else { return };
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

    fn value(&mut self, node: Node<'_>, depth: usize) -> Value {
        if depth > DEPTH || self.fuel == 0 {
            return Value::unknown();
        }
        self.fuel = self.fuel.saturating_sub(1);
        match node.kind() {
            "string" => {
                let raw = self.text(node);
                let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
                Value::text(tree::unescape(inner))
            }
            "template_string" => self.template(node, depth),
            "identifier" | "import" => {
                let name = self.text(node).to_owned();
                match self.scope.get(&name) {
                    Some(value) => value.clone(),
                    None if name == "__dirname" => Value::text("."),
                    None => Value::Name(name),
                }
            }
            "true" | "false" | "null" | "undefined" | "number" | "unary_expression" => {
                Value::Name(self.text(node).to_owned())
            }
            "member_expression" => self.member(node, depth),
            "subscript_expression" => self.subscript(node, depth),
            "call_expression" | "new_expression" => self.result(node, depth),
            "await_expression"
            | "parenthesized_expression"
            | "as_expression"
            | "non_null_expression"
            | "satisfies_expression"
            | "spread_element" => tree::children(node, 1)
                .first()
                .map_or_else(Value::unknown, |inner| self.value(*inner, depth + 1)),
            "sequence_expression" => tree::children(node, KEPT)
                .last()
                .map_or_else(Value::unknown, |inner| self.value(*inner, depth + 1)),
            "binary_expression" => {
                let operator = node
                    .child_by_field_name("operator")
                    .map(|operator| self.text(operator).to_owned())
                    .unwrap_or_default();
                let left = node
                    .child_by_field_name("left")
                    .map_or_else(Value::unknown, |left| self.value(left, depth + 1));
                let right = node
                    .child_by_field_name("right")
                    .map_or_else(Value::unknown, |right| self.value(right, depth + 1));
                match operator.as_str() {
                    "+" => left.concat(right),
                    "||" | "??" if left.known().is_none() => right,
                    "||" | "??" => left,
                    _ => Value::unknown(),
                }
            }
            "ternary_expression" => {
                let one = node
                    .child_by_field_name("consequence")
                    .map_or_else(Value::unknown, |part| self.value(part, depth + 1));
                let other = node
                    .child_by_field_name("alternative")
                    .map_or_else(Value::unknown, |part| self.value(part, depth + 1));
                Value::Any(vec![one, other])
            }
            "array" => {
                let mut values = Vec::new();
                for item in tree::children(node, KEPT) {
                    match (item.kind(), self.value(item, depth + 1)) {
                        ("spread_element", Value::List(inner)) => values.extend(inner),
                        (_, value) => values.push(value),
                    }
                }
                Value::List(values)
            }
            "object" => self.object(node, depth),
            _ => Value::unknown(),
        }
    }

    fn object(&mut self, node: Node<'_>, depth: usize) -> Value {
        let mut pairs = Vec::new();
        for pair in tree::children(node, KEPT) {
            match (pair.child_by_field_name("key"), pair.child_by_field_name("value")) {
                (Some(key), Some(value)) => {
                    let key = self.text(key).trim_matches(['"', '\'']).to_owned();
                    pairs.push((key, self.value(value, depth + 1)));
                }
                _ if pair.kind() == "shorthand_property_identifier" => {
                    let key = self.text(pair).to_owned();
                    let value = self.scope.get(&key).cloned().unwrap_or_else(Value::unknown);
                    pairs.push((key, value));
                }
                _ => {}
            }
        }
        Value::Map(pairs)
    }

    fn template(&mut self, node: Node<'_>, depth: usize) -> Value {
        let mut whole = Value::text("");
        let mut at = node.start_byte() + 1;
        let end = node.end_byte().saturating_sub(1);
        for child in
            tree::children(node, KEPT).into_iter().filter(|child| child.kind() == "template_substitution")
        {
            let before = tree::unescape(self.body.get(at..child.start_byte()).unwrap_or_default());
            let inner = tree::children(child, 1)
                .first()
                .map_or_else(Value::unknown, |inner| self.value(*inner, depth + 1));
            let inner = match inner {
                Value::Name(_) => Value::unknown(),
                value => value,
            };
            whole = whole.concat(Value::text(before)).concat(inner);
            at = child.end_byte();
        }
        whole.concat(Value::text(tree::unescape(self.body.get(at..end).unwrap_or_default())))
    }

    fn member(&mut self, node: Node<'_>, depth: usize) -> Value {
        let (Some(object), Some(property)) =
            (node.child_by_field_name("object"), node.child_by_field_name("property"))
        else {
            return Value::unknown();
        };
        let whole = self.text(node).to_owned();
        if let Some(value) = self.scope.get(&whole) {
            return value.clone();
        }
        let property = self.text(property).to_owned();
        let object = self.value(object, depth + 1);
        self.property(&object, &property)
    }

    fn property(&mut self, object: &Value, property: &str) -> Value {
        match object {
            Value::Name(name) => match (name.as_str(), property) {
                ("process", "env") | ("Deno", "env") => Value::Name("process.env".to_owned()),
                ("process.env", variable) => environment(self.call, Some(variable)),
                ("globalThis" | "global" | "window" | "self" | "process.mainModule" | "module", inner) => {
                    Value::Name(inner.to_owned())
                }
                ("process", "execPath") | ("Deno", "execPath") => Value::text("node"),
                (name, "default") => Value::Name(name.to_owned()),
                (name, property) => Value::Name(format!("{name}.{property}")),
            },
            Value::Map(_) => object.field(property).cloned().unwrap_or_else(Value::unknown),
            other => Value::Unknown(other.taint()),
        }
    }

    fn subscript(&mut self, node: Node<'_>, depth: usize) -> Value {
        let (Some(object), Some(index)) =
            (node.child_by_field_name("object"), node.child_by_field_name("index"))
        else {
            return Value::unknown();
        };
        let object = self.value(object, depth + 1);
        let index = self.value(index, depth + 1);
        if let Some(key) = index.known() {
            return self.property(&object, key);
        }
        match (&object, index.name().and_then(|index| index.parse::<usize>().ok())) {
            (Value::List(values), Some(at)) => values.get(at).cloned().unwrap_or_else(Value::unknown),
            // The interpreter itself.
            (Value::Name(name), Some(0)) if name == "process.argv" => Value::text("node"),
            _ => Value::Unknown(object.taint()),
        }
    }

    fn result(&mut self, node: Node<'_>, depth: usize) -> Value {
        let Some(function) =
            node.child_by_field_name("function").or_else(|| node.child_by_field_name("constructor"))
        else {
            return Value::unknown();
        };
        let positional = self.arguments(node, depth + 1);
        let first = positional.first().cloned().unwrap_or_else(Value::unknown);
        if let Some(value) = self.result_of_own(function, &positional) {
            return value;
        }
        if function.kind() == "member_expression"
            && let (Some(object), Some(property)) =
                (function.child_by_field_name("object"), function.child_by_field_name("property"))
        {
            let receiver = self.value(object, depth + 1);
            let method = self.text(property).to_owned();
            if !matches!(receiver, Value::Name(_)) {
                return method_result(&receiver, &method, &positional);
            }
        }
        let callee = self.value(function, depth + 1);
        let Some(name) = callee.name() else { return Value::Unknown(callee.taint()) };
        let secret = Taint { secret: true, ..Taint::default() };
        match name {
            "require" | "import" | "process.mainModule.require" | "module.require" => {
                first.known().map_or_else(Value::unknown, |name| Value::Name(module(name)))
            }
            "process.binding" => Value::unknown(),
            "path.join" | "path.resolve" | "path.posix.join" => join_path(positional),
            "path.dirname" => match first.known() {
                Some(path) => Value::text(path.rsplit_once('/').map_or(".", |(folder, _)| folder)),
                None => first,
            },
            "path.normalize" | "String" | "Deno.realPathSync" | "fs.realpathSync" => first,
            "os.homedir" => home(self.call),
            "os.tmpdir" => Value::text("/tmp"),
            "process.cwd" | "Deno.cwd" => Value::text("."),
            "Deno.env.get" | "process.env.get" => environment(self.call, first.known()),
            "fs.mkdtempSync" | "fs.promises.mkdtemp" => first.concat(Value::unknown()),
            "fs.readdirSync" | "fs.promises.readdir" => {
                // Names come without the folder they are in.
                Value::Text(crate::programs::report::glob("*"))
            }
            "fs.readFileSync"
            | "fs.promises.readFile"
            | "Deno.readTextFileSync"
            | "Deno.readTextFile"
            | "Bun.file" => content_of(self.call, positional.first()),
            "Buffer.from" => match (first.known(), positional.get(1).and_then(Value::known)) {
                (Some(text), Some("base64" | "base64url")) => bytes(from_base64(text)),
                (Some(text), Some("hex")) => bytes(Some(from_hex(text))),
                (Some(text), _) => Value::text(text),
                (None, Some(_)) => Value::Unknown(Taint { decoded: true, ..first.taint() }),
                _ => Value::Unknown(first.taint()),
            },
            "atob" => match first.known() {
                Some(text) => bytes(from_base64(text)),
                None => Value::Unknown(Taint { decoded: true, ..first.taint() }),
            },
            "String.fromCharCode" => {
                let letters: Option<String> = positional
                    .iter()
                    .map(|number| number.name()?.parse::<u32>().ok().and_then(char::from_u32))
                    .collect();
                letters.map_or(Value::Unknown(Taint { decoded: true, ..Taint::default() }), Value::text)
            }
            "JSON.stringify" | "encodeURIComponent" | "btoa" | "Object.assign" => {
                let whole_environment = positional.first().and_then(Value::name) == Some("process.env");
                let taint = positional.iter().fold(Taint::default(), |taint, value| taint.and(value.taint()));
                Value::Unknown(if whole_environment { taint.and(secret) } else { taint })
            }
            "util.promisify" => first,
            _ if matches!(api::javascript(name), Some(Api::Fetch | Api::Send)) => {
                Value::Unknown(Taint { network: true, ..Taint::default() })
            }
            _ => Value::unknown(),
        }
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

fn bytes(decoded: Option<Vec<u8>>) -> Value {
    match decoded.and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) => Value::decoded(text),
        None => Value::Unknown(Taint { decoded: true, ..Taint::default() }),
    }
}

fn method_result(receiver: &Value, method: &str, positional: &[Value]) -> Value {
    let first = positional.first().and_then(Value::known);
    match (receiver, method) {
        (Value::Text(_), "toString" | "trim" | "valueOf" | "normalize") => receiver.clone(),
        (Value::Text(arg), "split") => match (arg.known(), first) {
            (Some(text), Some("")) => {
                Value::List(text.chars().take(KEPT).map(|letter| Value::text(letter.to_string())).collect())
            }
            (Some(text), Some(separator)) => {
                Value::List(text.split(separator).take(KEPT).map(Value::text).collect())
            }
            _ => Value::unknown(),
        },
        (Value::Text(arg), "replace" | "replaceAll") => {
            match (arg.known(), first, positional.get(1).and_then(Value::known)) {
                (Some(text), Some(from), Some(to)) if !from.is_empty() => Value::text(text.replace(from, to)),
                _ => Value::Unknown(arg.taint),
            }
        }
        (Value::Text(arg), "concat") => {
            positional.iter().fold(Value::Text(arg.clone()), |left, right| left.concat(right.clone()))
        }
        (Value::Text(arg), "toLowerCase") => {
            arg.known().map_or_else(Value::unknown, |text| Value::text(text.to_lowercase()))
        }
        (Value::List(values), "join") => {
            let separator = first.unwrap_or(",");
            let mut whole = Value::text("");
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    whole = whole.concat(Value::text(separator));
                }
                whole = whole.concat(value.clone());
            }
            whole
        }
        (Value::List(values), "reverse") => Value::List(values.iter().rev().cloned().collect()),
        (Value::List(values), "concat") => {
            let mut all = values.clone();
            for value in positional {
                match value {
                    Value::List(more) => all.extend(more.iter().cloned()),
                    other => all.push(other.clone()),
                }
            }
            Value::List(all)
        }
        (other, _) => Value::Unknown(other.taint()),
    }
}
