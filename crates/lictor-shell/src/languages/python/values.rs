//! Values of expressions.

use tree_sitter::Node;

use super::Python;
use super::results::{self, environment};
use crate::languages::given;
use crate::languages::tree::{self, DEPTH};
use crate::languages::value::{KEPT, Value, join_path};
use crate::operand::Taint;

impl Python<'_, '_> {
    /// The value of an expression.
    pub(super) fn value(&mut self, node: Node<'_>, depth: usize) -> Value {
        if depth > DEPTH || self.fuel == 0 {
            return Value::unknown();
        }
        self.fuel = self.fuel.saturating_sub(1);
        match node.kind() {
            "string" => self.string(node, depth),
            "concatenated_string" => tree::children(node, KEPT)
                .into_iter()
                .fold(Value::text(""), |left, part| left.concat(self.value(part, depth + 1))),
            "identifier" => {
                let name = self.text(node).to_owned();
                match self.scope.get(&name) {
                    Some(value) => value.clone(),
                    None => Value::Name(name),
                }
            }
            "true" | "false" | "none" | "integer" | "unary_operator" | "float" => {
                Value::Name(self.text(node).to_owned())
            }
            "attribute" => self.attribute(node, depth),
            "call" => self.result(node, depth),
            "await" | "parenthesized_expression" | "expression_statement" => tree::children(node, 1)
                .first()
                .map_or_else(Value::unknown, |inner| self.value(*inner, depth + 1)),
            "binary_operator" => self.binary(node, depth),
            "boolean_operator" => {
                let right = node.child_by_field_name("right").map(|right| self.value(right, depth + 1));
                let left = node.child_by_field_name("left").map(|left| self.value(left, depth + 1));
                match (left, right) {
                    (Some(left), Some(right)) if left.known().is_none() => right,
                    (Some(left), _) => left,
                    _ => Value::unknown(),
                }
            }
            "conditional_expression" => {
                let parts: Vec<Value> =
                    tree::children(node, 3).into_iter().map(|part| self.value(part, depth + 1)).collect();
                match parts.as_slice() {
                    [first, _, last] => Value::Any(vec![first.clone(), last.clone()]),
                    _ => Value::unknown(),
                }
            }
            "list" | "tuple" | "set" | "expression_list" => self.list(node, depth),
            "list_comprehension" | "generator_expression" | "set_comprehension" => {
                for clause in
                    tree::children(node, 8).into_iter().filter(|child| child.kind() == "for_in_clause")
                {
                    self.bind_loop(clause);
                }
                let body = node
                    .child_by_field_name("body")
                    .map_or_else(Value::unknown, |body| self.value(body, depth + 1));
                match body {
                    Value::Any(values) => Value::List(values),
                    other => Value::List(vec![other]),
                }
            }
            "dictionary" => {
                let mut pairs = Vec::new();
                for pair in tree::children(node, KEPT) {
                    if let (Some(key), Some(value)) =
                        (pair.child_by_field_name("key"), pair.child_by_field_name("value"))
                    {
                        let key = self.value(key, depth + 1).known().unwrap_or_default().to_owned();
                        pairs.push((key, self.value(value, depth + 1)));
                    } else if pair.kind() == "dictionary_splat"
                        && let [more] = tree::children(pair, 1).as_slice()
                    {
                        match self.value(*more, depth + 1) {
                            Value::Map(more) => pairs.extend(more),
                            more => pairs.push(("**".to_owned(), more)),
                        }
                    }
                }
                Value::Map(pairs)
            }
            "dictionary_comprehension" => {
                for clause in
                    tree::children(node, 8).into_iter().filter(|child| child.kind() == "for_in_clause")
                {
                    self.bind_loop(clause);
                }
                let value =
                    node.child_by_field_name("body").and_then(|body| body.child_by_field_name("value"));
                let value = value.map_or_else(Value::unknown, |value| self.value(value, depth + 1));
                Value::Unknown(value.taint())
            }
            "subscript" => self.subscript(node, depth),
            _ => Value::unknown(),
        }
    }

    /// A list, in which `*more` stands for any number of elements.
    pub(super) fn list(&mut self, node: Node<'_>, depth: usize) -> Value {
        let mut lists = vec![Value::List(Vec::new())];
        for item in tree::children(node, KEPT) {
            let inner = tree::children(item, 1).first().copied().filter(|_| item.kind() == "list_splat");
            let more = match inner {
                Some(inner) => match self.value(inner, depth + 1) {
                    more @ (Value::List(_) | Value::Any(_) | Value::Unknown(_)) => more,
                    more => Value::List(vec![more]),
                },
                None => Value::List(vec![self.value(item, depth + 1)]),
            };
            lists = match more {
                Value::Any(ways) if lists.len() * ways.len() <= 64 => lists
                    .iter()
                    .flat_map(|list| ways.iter().map(|way| list.clone().concat(way.clone())))
                    .collect(),
                more => lists.into_iter().map(|list| list.concat(more.clone())).collect(),
            };
        }
        Value::one_of(lists)
    }

    pub(super) fn string(&mut self, node: Node<'_>, depth: usize) -> Value {
        let raw = self.text(node).to_owned();
        let start = raw.find(['"', '\'']).unwrap_or_default();
        let letters = raw.get(..start).unwrap_or_default().to_ascii_lowercase();
        let quoted = raw.get(start..).unwrap_or_default();
        let quote = if quoted.starts_with("\"\"\"") || quoted.starts_with("'''") { 3 } else { 1 };
        let inner = quoted.get(quote..quoted.len().saturating_sub(quote)).unwrap_or_default();
        let clean = |text: &str| if letters.contains('r') { text.to_owned() } else { tree::unescape(text) };
        if !letters.contains('f') {
            return Value::text(clean(inner));
        }
        let mut whole = Value::text("");
        let mut at = node.start_byte() + start + quote;
        let end = node.end_byte().saturating_sub(quote);
        for child in tree::children(node, KEPT).into_iter().filter(|child| child.kind() == "interpolation") {
            let before = clean(self.body.get(at..child.start_byte()).unwrap_or_default());
            whole = whole.concat(Value::text(before.replace("{{", "{").replace("}}", "}")));
            let expression =
                child.child_by_field_name("expression").or_else(|| tree::children(child, 1).first().copied());
            let value = expression.map_or_else(Value::unknown, |inner| self.value(inner, depth + 1));
            let value = match value {
                Value::Name(_) => Value::unknown(),
                value => value,
            };
            whole = whole.concat(value);
            at = child.end_byte();
        }
        let rest = clean(self.body.get(at..end).unwrap_or_default());
        whole.concat(Value::text(rest.replace("{{", "{").replace("}}", "}")))
    }

    pub(super) fn attribute(&mut self, node: Node<'_>, depth: usize) -> Value {
        let (Some(object), Some(name)) =
            (node.child_by_field_name("object"), node.child_by_field_name("attribute"))
        else {
            return Value::unknown();
        };
        let whole = self.text(node).to_owned();
        if let Some(value) = self.scope.get(&whole) {
            return value.clone();
        }
        let name = self.text(name).to_owned();
        match self.value(object, depth + 1) {
            Value::Name(module) => {
                let full = format!("{module}.{name}");
                match full.as_str() {
                    "os.sep" => Value::text("/"),
                    "os.curdir" => Value::text("."),
                    "sys.executable" => Value::text("python3"),
                    "sys.argv" | "sys.orig_argv" => given::list(self.call, &["-c"]),
                    "os.environ" => Value::Unknown(Taint { secret: true, ..Taint::default() }),
                    _ if name == "__file__" && crate::words::PYTHON_MODULES.contains(&module.as_str()) => {
                        Value::text(format!("/usr/lib/python3/{}.py", module.replace('.', "/")))
                    }
                    _ => Value::Name(full),
                }
            }
            // `path.parent`, `path.name`: below or above a known place.
            Value::Text(arg) => match (name.as_str(), arg.known()) {
                ("parent", Some(path)) => {
                    Value::text(path.trim_end_matches('/').rsplit_once('/').map_or(".", |(folder, _)| folder))
                }
                // An entry of a directory.
                ("path", _) if arg.glob => Value::Text(arg),
                // The name of a temporary file.
                ("name", None) if arg.prefix().starts_with("/tmp/") => Value::Text(arg),
                _ => Value::Unknown(arg.taint),
            },
            other => Value::Unknown(other.taint()),
        }
    }

    pub(super) fn binary(&mut self, node: Node<'_>, depth: usize) -> Value {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return Value::unknown();
        };
        let operator = node
            .child_by_field_name("operator")
            .map(|operator| self.text(operator).to_owned())
            .unwrap_or_default();
        let left = self.value(left, depth + 1);
        let right = self.value(right, depth + 1);
        match operator.as_str() {
            "+" => left.concat(right),
            "/" => join_path(vec![left, right]),
            "%" => match left {
                Value::Text(arg) => results::format_percent(&arg, right),
                other => Value::Unknown(other.taint().and(right.taint())),
            },
            "*" => match (&left, right.name().and_then(|count| count.parse::<usize>().ok())) {
                (Value::Text(arg), Some(count)) if count <= 64 => {
                    arg.known().map_or_else(Value::unknown, |text| Value::text(text.repeat(count)))
                }
                (Value::List(_), _) => left,
                _ => Value::unknown(),
            },
            _ => Value::Unknown(left.taint().and(right.taint())),
        }
    }

    pub(super) fn subscript(&mut self, node: Node<'_>, depth: usize) -> Value {
        let Some(object) = node.child_by_field_name("value") else { return Value::unknown() };
        let index = node.child_by_field_name("subscript");
        let object_text = self.text(object).to_owned();
        let key = index.map_or_else(Value::unknown, |index| self.value(index, depth + 1));
        if object_text.ends_with("environ")
            || self.scope.get(&object_text).and_then(Value::name) == Some("os.environ")
        {
            return environment(self.call, key.known());
        }
        if matches!(
            object_text.as_str(),
            "__builtins__"
                | "__builtins__.__dict__"
                | "builtins.__dict__"
                | "os.__dict__"
                | "globals()"
                | "vars(os)"
        ) {
            let module = if object_text.contains("os") { "os." } else { "" };
            return key.known().map_or_else(Value::unknown, |key| Value::Name(format!("{module}{key}")));
        }
        let value = self.value(object, depth + 1);
        if let (Some(text), Some(index)) = (value.known(), index) {
            return match self.text(index) {
                "::-1" => Value::text(text.chars().rev().collect::<String>()),
                _ => Value::unknown(),
            };
        }
        // A part of a file's text is from that file.
        if value.name().is_some_and(|name| name.starts_with(crate::languages::act::FILE)) {
            return value;
        }
        let value = match value.name() {
            Some("sys.argv") => given::list(self.call, &["-c"]),
            _ => value,
        };
        if let (Value::List(values), Some(from)) =
            (&value, index.and_then(|index| slice_start(self.text(index))))
        {
            return Value::List(values.get(from..).unwrap_or_default().to_vec());
        }
        let at = key.name().and_then(|key| key.parse::<i64>().ok()).and_then(|at| match &value {
            Value::List(values) if at < 0 => usize::try_from(at + values.len() as i64).ok(),
            _ => usize::try_from(at).ok(),
        });
        match (&value, at) {
            (Value::List(values), Some(at)) => values.get(at).cloned().unwrap_or_else(Value::unknown),
            (Value::Map(_), _) => {
                key.known().and_then(|key| value.field(key)).cloned().unwrap_or_else(Value::unknown)
            }
            // `requests.get(u).json()["x"]` keeps where it came from.
            _ => Value::Unknown(value.taint()),
        }
    }
}

/// Where `[1:]` begins.
fn slice_start(index: &str) -> Option<usize> {
    index.strip_suffix(':')?.trim().parse().ok()
}
