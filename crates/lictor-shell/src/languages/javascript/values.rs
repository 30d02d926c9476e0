//! Values of expressions, and results of calls.

use tree_sitter::Node;

use super::{Script, module};
use crate::languages::act::content_of;
use crate::languages::api::{self, Api};
use crate::languages::given;
use crate::languages::python::{environment, home};
use crate::languages::tree::{self, DEPTH};
use crate::languages::value::{KEPT, Value, join_path};
use crate::operand::Taint;
use crate::programs::text::{from_base64, from_hex};

impl Script<'_, '_> {
    pub(super) fn value(&mut self, node: Node<'_>, depth: usize) -> Value {
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

    pub(super) fn object(&mut self, node: Node<'_>, depth: usize) -> Value {
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
                _ if pair.kind() == "spread_element" => match self.value(pair, depth + 1) {
                    Value::Map(more) => pairs.extend(more),
                    more => pairs.push(("...".to_owned(), more)),
                },
                _ => {}
            }
        }
        Value::Map(pairs)
    }

    pub(super) fn template(&mut self, node: Node<'_>, depth: usize) -> Value {
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

    pub(super) fn member(&mut self, node: Node<'_>, depth: usize) -> Value {
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

    pub(super) fn property(&mut self, object: &Value, property: &str) -> Value {
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

    pub(super) fn subscript(&mut self, node: Node<'_>, depth: usize) -> Value {
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
            (Value::Name(name), Some(at))
                if matches!(name.as_str(), "process.argv" | "Bun.argv" | "Deno.args") =>
            {
                let inline = !self.call.args.iter().any(|arg| arg.known() == Some("-"));
                let front: &[&str] = match name.as_str() {
                    "Deno.args" => &[],
                    // Code that is given as a word has no file of its own.
                    _ if inline => &["node"],
                    _ => &["node", "-"],
                };
                given::list(self.call, front)
                    .elements()
                    .and_then(|all| all.get(at))
                    .cloned()
                    .unwrap_or_else(Value::unknown)
            }
            _ => Value::Unknown(object.taint()),
        }
    }

    pub(super) fn result(&mut self, node: Node<'_>, depth: usize) -> Value {
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
                if method == "filter"
                    && let Some(kept) = self.filtered(node, &receiver)
                {
                    return kept;
                }
                return method_result(&receiver, &method, &positional);
            }
        }
        let callee = self.value(function, depth + 1);
        let Some(name) = callee.name() else { return Value::Unknown(callee.taint()) };
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
                // Names come without the folder they are in, but with those below it.
                let deep = positional.get(1).is_some_and(|options| options.field("recursive").is_some());
                Value::Text(crate::programs::report::glob(if deep { "**/*" } else { "*" }))
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
            "JSON.stringify" | "encodeURIComponent" | "btoa" | "Object.assign" | "Object.entries"
            | "Object.values" | "Object.fromEntries" | "structuredClone" => {
                let taint = positional.iter().fold(Taint::default(), |taint, value| taint.and(value.taint()));
                Value::Unknown(taint)
            }
            "util.promisify" => first,
            _ if matches!(api::javascript(name), Some(Api::Fetch | Api::Send)) => {
                Value::Unknown(Taint { network: true, ..Taint::default() })
            }
            _ => Value::unknown(),
        }
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
