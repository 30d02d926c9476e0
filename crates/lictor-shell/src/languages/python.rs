//! Python, through its grammar: imports with aliases, constants carried through variables, calls by full name.

use tree_sitter::Node;

use super::act::{Actor, Invocation, content_of};
use super::api::{self, Api};
use super::tree::{self, DEPTH, FUEL};
use super::value::{KEPT, Scope, Value, join_path};
use super::{CodeScan, broken};
use crate::call::{Call, Report};
use crate::operand::{Arg, Known, Taint};
use crate::programs::text::{from_base64, from_hex};

struct Python<'a, 'b> {
    body: &'a str,
    call: &'a Call<'b>,
    scope: Scope,
    fuel: usize,
}

pub(super) fn judge(body: &str, call: &Call<'_>, report: &mut Report) {
    let Some(parsed) = tree::parse(&tree_sitter_python::LANGUAGE.into(), body) else {
        return report.opaque(lictor_core::facts::OpaqueWhat::Syntax, body);
    };
    let mut python = Python { body, call, scope: Scope::default(), fuel: FUEL };
    tree::walk(&parsed, |node| {
        python.visit(node, report);
        python.fuel = python.fuel.saturating_sub(1);
        python.fuel > 0
    });
    if python.fuel == 0 {
        report.opaque(lictor_core::facts::OpaqueWhat::Limit, body);
    }
    if parsed.root_node().has_error() {
        broken::judge(body, report);
    }
}

impl Python<'_, '_> {
    fn text(&self, node: Node<'_>) -> &str {
        tree::text(node, self.body)
    }

    fn visit(&mut self, node: Node<'_>, report: &mut Report) {
        match node.kind() {
            "import_statement" => self.import(node),
            "import_from_statement" => self.import_from(node),
            "assignment" | "named_expression" => self.assign(node),
            "augmented_assignment" => {
                if let (Some(left), Some(right)) =
                    (node.child_by_field_name("left"), node.child_by_field_name("right"))
                {
                    let value = self.value(left, 0).concat(self.value(right, 0));
                    let name = self.text(left).to_owned();
                    self.scope.set(&name, value);
                }
            }
            "for_statement" | "for_in_clause" => self.bind_loop(node),
            "as_pattern" => {
                let parts = tree::children(node, 2);
                if let [value, target] = parts.as_slice() {
                    let value = self.value(*value, 0);
                    let name = self.text(*target).to_owned();
                    self.scope.set(&name, value);
                }
            }
            "call" => self.call(node, report),
            "exec_statement" => {
                if let Some(code) = node.child_by_field_name("code") {
                    let value = self.value(code, 0);
                    let text = self.text(node).to_owned();
                    let invocation = Invocation { positional: &[value], named: &[], text: &text };
                    self.actor(report).perform(Api::Evaluate, &invocation);
                }
            }
            _ => {}
        }
    }

    fn actor<'c>(&self, report: &'c mut Report) -> Actor<'_, '_, 'c> {
        Actor { call: self.call, report, language: "python" }
    }

    fn import(&mut self, node: Node<'_>) {
        for child in tree::children(node, KEPT) {
            if child.kind() == "aliased_import" {
                let (Some(module), Some(alias)) =
                    (child.child_by_field_name("name"), child.child_by_field_name("alias"))
                else {
                    continue;
                };
                let (module, alias) = (self.text(module).to_owned(), self.text(alias).to_owned());
                self.scope.set(&alias, Value::Name(module));
            } else {
                let module = self.text(child).to_owned();
                let top = module.split('.').next().unwrap_or_default().to_owned();
                self.scope.set(&top, Value::Name(top.clone()));
            }
        }
    }

    fn import_from(&mut self, node: Node<'_>) {
        let Some(module) = node.child_by_field_name("module_name") else { return };
        let module = self.text(module).to_owned();
        for child in tree::children(node, KEPT).into_iter().skip(1) {
            let (name, alias) = match child.kind() {
                "aliased_import" => {
                    match (child.child_by_field_name("name"), child.child_by_field_name("alias")) {
                        (Some(name), Some(alias)) => {
                            (self.text(name).to_owned(), self.text(alias).to_owned())
                        }
                        _ => continue,
                    }
                }
                "wildcard_import" => {
                    for function in WILDCARD {
                        if api::python(&format!("{module}.{function}")).is_some() {
                            self.scope.set(function, Value::Name(format!("{module}.{function}")));
                        }
                    }
                    continue;
                }
                _ => (self.text(child).to_owned(), self.text(child).to_owned()),
            };
            self.scope.set(&alias, Value::Name(format!("{module}.{name}")));
        }
    }

    fn assign(&mut self, node: Node<'_>) {
        let left = node.child_by_field_name("left").or_else(|| node.child_by_field_name("name"));
        let right = node.child_by_field_name("right").or_else(|| node.child_by_field_name("value"));
        let (Some(left), Some(right)) = (left, right) else { return };
        let value = self.value(right, 0);
        self.mark_path(left, right);
        match left.kind() {
            "identifier" | "attribute" => {
                let name = self.text(left).to_owned();
                self.scope.set(&name, value);
            }
            "pattern_list" | "tuple_pattern" => {
                for (at, target) in tree::children(left, KEPT).into_iter().enumerate() {
                    let part = value.elements().and_then(|values| values.get(at)).cloned();
                    let name = self.text(target).to_owned();
                    self.scope.set(&name, part.unwrap_or(Value::Unknown(value.taint())));
                }
            }
            _ => {}
        }
    }

    fn bind_loop(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        let value = match self.value(right, 0) {
            Value::List(values) => Value::Any(values),
            Value::Text(arg) if arg.glob => Value::Text(arg),
            other => Value::Unknown(other.taint()),
        };
        self.mark_path(left, right);
        if left.kind() == "identifier" {
            let name = self.text(left).to_owned();
            self.scope.set(&name, value);
        } else {
            for target in tree::children(left, 16) {
                let name = self.text(target).to_owned();
                self.scope.set(&name, Value::unknown());
            }
        }
    }

    /// Positional and keyword arguments.
    fn arguments(&mut self, node: Node<'_>, depth: usize) -> (Vec<Value>, Vec<(String, Value)>) {
        let mut positional = Vec::new();
        let mut named = Vec::new();
        let Some(arguments) = node.child_by_field_name("arguments") else { return (positional, named) };
        for argument in tree::children(arguments, 64) {
            match argument.kind() {
                "keyword_argument" => {
                    let (Some(name), Some(value)) =
                        (argument.child_by_field_name("name"), argument.child_by_field_name("value"))
                    else {
                        continue;
                    };
                    let name = self.text(name).to_owned();
                    named.push((name, self.value(value, depth + 1)));
                }
                "list_splat" => {
                    let inner =
                        tree::children(argument, 1).first().map(|inner| self.value(*inner, depth + 1));
                    match inner {
                        Some(Value::List(values)) => positional.extend(values),
                        other => positional.push(other.unwrap_or_else(Value::unknown)),
                    }
                }
                "comment" => {}
                _ => positional.push(self.value(argument, depth + 1)),
            }
        }
        (positional, named)
    }

    fn call(&mut self, node: Node<'_>, report: &mut Report) {
        let Some(function) = node.child_by_field_name("function") else { return };
        let callee = self.value(function, 0);
        let (positional, named) = self.arguments(node, 0);
        let text: String = self.text(node).chars().take(400).collect();
        let invocation = Invocation { positional: &positional, named: &named, text: &text };
        if let Value::Name(name) = &callee {
            let name = name.trim_start_matches("builtins.").to_owned();
            if matches!(name.as_str(), "getattr" | "__import__" | "importlib.import_module") {
                self.reflection(&name, &invocation, report);
            }
            if let Some(api) = api::python(&name) {
                // `compile` is only a step; what it compiles is judged here.
                return self.actor(report).perform(api, &invocation);
            }
            if let Some(sub) = name.strip_prefix("sh.") {
                // The `sh` package: every function is a program.
                let mut argv = vec![Arg::literal(sub)];
                argv.extend(positional.iter().flat_map(|value| value.args(&text)));
                return report.then_argv(&argv, "python");
            }
        }
        if function.kind() == "attribute" {
            self.method(function, &invocation, report);
        }
    }

    /// Names that are only made while the program runs.
    fn reflection(&mut self, name: &str, invocation: &Invocation<'_>, report: &mut Report) {
        let wanted =
            if name == "getattr" { invocation.positional.get(1) } else { invocation.positional.first() };
        let on_danger = match invocation.positional.first() {
            Some(Value::Name(module)) => matches!(
                module.as_str(),
                "os" | "subprocess" | "shutil" | "builtins" | "__builtins__" | "sys" | "pty"
            ),
            _ => false,
        };
        let unknown = wanted.is_some_and(|value| value.known().is_none() && value.name().is_none());
        if unknown && (name != "getattr" || on_danger) {
            report.opaque(lictor_core::facts::OpaqueWhat::Code, invocation.text);
        }
    }

    /// Methods of paths, connections, cursors.
    fn method(&mut self, function: Node<'_>, invocation: &Invocation<'_>, report: &mut Report) {
        let (Some(object), Some(name)) =
            (function.child_by_field_name("object"), function.child_by_field_name("attribute"))
        else {
            return;
        };
        let name = self.text(name).to_owned();
        let receiver = self.value(object, 0);
        let is_path = matches!(receiver, Value::Text(_) | Value::Any(_));
        let mut on = vec![receiver.clone()];
        on.extend(invocation.positional.iter().cloned());
        let as_path = Invocation { positional: &on, named: invocation.named, text: invocation.text };
        let api = match name.as_str() {
            "unlink" | "rmdir" => Some(Api::Delete),
            "rmtree" => Some(Api::DeleteTree),
            "write_text" | "write_bytes" if is_path => Some(Api::Write),
            "read_text" | "read_bytes" if is_path => Some(Api::Read),
            "open" if is_path => Some(Api::Open),
            "rename" | "replace"
                if is_path && invocation.positional.len() == 1 && self.is_path_expression(object) =>
            {
                Some(Api::Move)
            }
            "touch" if is_path => Some(Api::Append),
            "mkdir" if is_path => Some(Api::MakeDirectory),
            "chmod" | "lchmod" if is_path => Some(Api::Mode),
            "symlink_to" | "hardlink_to" if is_path => {
                self.actor(report).perform(
                    Api::Link,
                    &Invocation { positional: &[Value::unknown(), receiver], ..*invocation },
                );
                return;
            }
            _ => None,
        };
        if let Some(api) = api {
            return self.actor(report).perform(api, &as_path);
        }
        match name.as_str() {
            "execute" | "executescript" | "executemany" | "raw" => {
                if let Some(sql) = invocation.positional.first().and_then(Value::known) {
                    crate::programs::sql::judge(sql, report);
                }
            }
            "drop_all" => report.database(lictor_core::facts::DatabaseEffect::DropAll, invocation.text),
            "drop_database" | "dropDatabase" | "flushall" | "flushdb" => {
                report.database(lictor_core::facts::DatabaseEffect::DropAll, invocation.text);
            }
            "delete_many" | "drop"
                if matches!(invocation.positional, [Value::Map(pairs)] if pairs.is_empty())
                    || name == "drop"
                        && invocation.positional.is_empty()
                        && invocation.named.is_empty()
                        && self.text(object).contains("db") =>
            {
                report.database(lictor_core::facts::DatabaseEffect::DropPart, invocation.text);
            }
            "connect" if matches!(invocation.positional.first(), Some(Value::List(_))) => {
                self.actor(report).perform(Api::Send, invocation);
            }
            "post" | "put" | "patch" | "sendall" | "send" | "sendto" | "storbinary" | "sendmail" => {
                let names_host = invocation
                    .positional
                    .first()
                    .and_then(Value::known)
                    .is_some_and(|text| text.contains("://"));
                if names_host
                    || invocation
                        .positional
                        .iter()
                        .chain(invocation.named.iter().map(|(_, value)| value))
                        .any(|value| value.taint().secret)
                {
                    self.actor(report).perform(Api::Send, invocation);
                }
            }
            "kill" | "terminate"
                if invocation.positional.is_empty() && self.text(object).contains("rocess") => {}
            _ => {}
        }
    }

    /// Remembers that a variable holds a `Path`.
    fn mark_path(&mut self, left: Node<'_>, right: Node<'_>) {
        let text = self.text(right);
        let made = ["Path(", "Path.home(", "Path.cwd(", ".glob(", ".rglob(", ".iterdir("];
        if made.iter().any(|form| text.contains(form)) {
            let name = format!("{}#path", self.text(left));
            self.scope.set(&name, Value::Name("pathlib.Path".to_owned()));
        }
    }

    /// Whether an expression is a `Path`, not a string with the same methods.
    fn is_path_expression(&mut self, node: Node<'_>) -> bool {
        let text = self.text(node).to_owned();
        if text.contains("Path(") {
            return true;
        }
        matches!(self.scope.get(&format!("{text}#path")), Some(Value::Name(_)))
    }

    /// The value of an expression.
    fn value(&mut self, node: Node<'_>, depth: usize) -> Value {
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
            "list" | "tuple" | "set" | "expression_list" => Value::List(
                tree::children(node, KEPT).into_iter().map(|item| self.value(item, depth + 1)).collect(),
            ),
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
                    }
                }
                Value::Map(pairs)
            }
            "subscript" => self.subscript(node, depth),
            _ => Value::unknown(),
        }
    }

    fn string(&mut self, node: Node<'_>, depth: usize) -> Value {
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

    fn attribute(&mut self, node: Node<'_>, depth: usize) -> Value {
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
                    "os.environ" => Value::Unknown(Taint { secret: true, ..Taint::default() }),
                    _ => Value::Name(full),
                }
            }
            // `path.parent`, `path.name`: below or above a known place.
            Value::Text(arg) => match (name.as_str(), arg.known()) {
                ("parent", Some(path)) => {
                    Value::text(path.trim_end_matches('/').rsplit_once('/').map_or(".", |(folder, _)| folder))
                }
                _ => Value::Unknown(arg.taint),
            },
            other => Value::Unknown(other.taint()),
        }
    }

    fn binary(&mut self, node: Node<'_>, depth: usize) -> Value {
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
                Value::Text(arg) => format_percent(&arg, right),
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

    fn subscript(&mut self, node: Node<'_>, depth: usize) -> Value {
        let Some(object) = node.child_by_field_name("value") else { return Value::unknown() };
        let index = node.child_by_field_name("subscript");
        let object_text = self.text(object).to_owned();
        let key = index.map_or_else(Value::unknown, |index| self.value(index, depth + 1));
        if object_text.ends_with("environ") {
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
        match (&value, key.name().and_then(|key| key.parse::<usize>().ok())) {
            (Value::List(values), Some(at)) => values.get(at).cloned().unwrap_or_else(Value::unknown),
            (Value::Map(_), _) => {
                key.known().and_then(|key| value.field(key)).cloned().unwrap_or_else(Value::unknown)
            }
            // `requests.get(u).json()["x"]` keeps where it came from.
            _ => Value::Unknown(value.taint()),
        }
    }

    /// What a call returns.
    fn result(&mut self, node: Node<'_>, depth: usize) -> Value {
        let Some(function) = node.child_by_field_name("function") else { return Value::unknown() };
        let (positional, named) = self.arguments(node, depth + 1);
        let first = positional.first().cloned().unwrap_or_else(Value::unknown);
        if function.kind() == "attribute"
            && let (Some(object), Some(method)) =
                (function.child_by_field_name("object"), function.child_by_field_name("attribute"))
        {
            let receiver = self.value(object, depth + 1);
            let method = self.text(method).to_owned();
            if !matches!(receiver, Value::Name(_)) {
                return method_result(&receiver, &method, &positional);
            }
        }
        let callee = self.value(function, depth + 1);
        let Value::Name(name) = callee else { return Value::Unknown(callee.taint()) };
        let decoded = |bytes: Option<Vec<u8>>| match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
            Some(text) => Value::text(text),
            None => Value::Unknown(Taint { decoded: true, ..Taint::default() }),
        };
        match name.as_str() {
            "str" | "bytes" | "os.path.expanduser" | "os.path.abspath" | "os.path.realpath"
            | "os.path.normpath" | "os.fspath" | "os.path.expandvars" | "shlex.quote" | "list" | "tuple"
            | "sorted" | "set" | "reversed" | "bytearray" | "Path.expanduser" => match first {
                Value::Text(arg) => Value::Text(expand_home(self.call, &arg)),
                other => other,
            },
            "pathlib.Path" | "Path" | "pathlib.PurePath" | "pathlib.PosixPath" => match positional.len() {
                0 => Value::text("."),
                _ => join_path(positional),
            },
            "pathlib.Path.home" | "Path.home" => home(self.call),
            "pathlib.Path.cwd" | "Path.cwd" | "os.getcwd" => Value::text("."),
            "os.path.join" | "os.path.sep.join" => join_path(positional),
            "os.path.dirname" => match first.known() {
                Some(path) => Value::text(path.rsplit_once('/').map_or("", |(folder, _)| folder)),
                None => first,
            },
            "os.getenv" | "os.environ.get" => {
                let value = environment(self.call, first.known());
                match (value.known(), positional.get(1)) {
                    (None, Some(default)) if default.known().is_some() => {
                        Value::Any(vec![value, default.clone()])
                    }
                    _ => value,
                }
            }
            "tempfile.mkdtemp"
            | "tempfile.mkstemp"
            | "tempfile.gettempdir"
            | "tempfile.TemporaryDirectory"
            | "tempfile.NamedTemporaryFile"
            | "tempfile.mktemp" => {
                if name.ends_with("gettempdir") {
                    Value::text("/tmp")
                } else {
                    Value::starts("/tmp/tmp", Taint::default())
                }
            }
            "glob.glob" | "glob.iglob" => match first {
                Value::Text(arg) => Value::Text(Arg { glob: true, ..arg }),
                other => other,
            },
            "os.listdir" | "os.scandir" => match first {
                Value::Text(arg) => Value::Text(crate::programs::say::below(&arg, "*")),
                _ => Value::Text(crate::programs::say::glob("*")),
            },
            "shlex.split" => match first.known() {
                Some(text) => Value::List(
                    text.split_whitespace().map(|word| Value::text(word.trim_matches(['"', '\'']))).collect(),
                ),
                None => Value::unknown(),
            },
            "base64.b64decode"
            | "base64.urlsafe_b64decode"
            | "base64.standard_b64decode"
            | "base64.decodebytes"
            | "base64.decodestring" => match &first {
                Value::Text(arg) => decoded(arg.known().and_then(from_base64)),
                other => Value::Unknown(Taint { decoded: true, ..other.taint() }),
            },
            "bytes.fromhex" | "binascii.unhexlify" | "bytearray.fromhex" | "binascii.a2b_hex" => match &first
            {
                Value::Text(arg) => decoded(arg.known().map(from_hex)),
                other => Value::Unknown(Taint { decoded: true, ..other.taint() }),
            },
            "zlib.decompress" | "gzip.decompress" | "bz2.decompress" | "lzma.decompress"
            | "marshal.loads" | "pickle.loads" | "codecs.decode" | "base64.b32decode"
            | "base64.b85decode" | "base64.a85decode" => {
                Value::Unknown(Taint { decoded: true, ..first.taint() })
            }
            "chr" => {
                match first.name().and_then(|number| number.parse::<u32>().ok()).and_then(char::from_u32) {
                    Some(letter) => Value::text(letter.to_string()),
                    None => Value::Unknown(Taint { decoded: true, ..Taint::default() }),
                }
            }
            "map" if positional.first().and_then(Value::name) == Some("chr") => match positional.get(1) {
                Some(Value::List(numbers)) => Value::List(
                    numbers
                        .iter()
                        .map(|number| {
                            number.name().and_then(|n| n.parse::<u32>().ok()).and_then(char::from_u32)
                        })
                        .map(|letter| {
                            letter.map_or_else(Value::unknown, |letter| Value::text(letter.to_string()))
                        })
                        .collect(),
                ),
                _ => Value::Unknown(Taint { decoded: true, ..Taint::default() }),
            },
            "getattr" => match (&first, positional.get(1).and_then(Value::known)) {
                (Value::Name(module), Some(attribute)) => Value::Name(format!("{module}.{attribute}")),
                _ => Value::unknown(),
            },
            "__import__" | "importlib.import_module" => {
                first.known().map_or_else(Value::unknown, |module| Value::Name(module.to_owned()))
            }
            "open" | "io.open" | "codecs.open" => content_of(positional.first()),
            "dict"
            | "json.dumps"
            | "json.loads"
            | "urllib.parse.urlencode"
            | "urllib.parse.quote"
            | "base64.b64encode"
            | "repr"
            | "len" => {
                let taint = positional
                    .iter()
                    .chain(named.iter().map(|(_, value)| value))
                    .fold(Taint::default(), |t, v| t.and(v.taint()));
                Value::Unknown(taint)
            }
            "compile" => Value::Name("<code>".to_owned()),
            _ if matches!(api::python(&name), Some(Api::Fetch | Api::Send)) => {
                Value::Unknown(Taint { network: true, ..Taint::default() })
            }
            _ if name.starts_with("requests.") || name.starts_with("httpx.") => {
                Value::Unknown(Taint { network: true, ..Taint::default() })
            }
            _ => Value::unknown(),
        }
    }
}

/// Names that `from module import *` may bring.
const WILDCARD: [&str; 24] = [
    "remove",
    "unlink",
    "rmdir",
    "removedirs",
    "rmtree",
    "move",
    "copy",
    "copytree",
    "rename",
    "system",
    "popen",
    "run",
    "call",
    "check_call",
    "check_output",
    "Popen",
    "getoutput",
    "execv",
    "execvp",
    "execl",
    "kill",
    "truncate",
    "chmod",
    "spawn",
];

/// Values of methods of strings, paths and what came from elsewhere.
fn method_result(receiver: &Value, method: &str, positional: &[Value]) -> Value {
    let first = positional.first();
    let Value::Text(arg) = receiver else {
        return match (receiver, method) {
            (Value::Any(values), _) => Value::Any(
                values.iter().map(|value| method_result(value, method, positional)).take(KEPT).collect(),
            ),
            (Value::List(_), "copy") => receiver.clone(),
            (Value::Map(_), "get") => first
                .and_then(Value::known)
                .and_then(|key| receiver.field(key))
                .cloned()
                .unwrap_or_else(Value::unknown),
            _ => Value::Unknown(receiver.taint()),
        };
    };
    match (method, arg.known()) {
        ("join", Some("/")) => match first {
            Some(Value::List(values)) => join_path(values.clone()),
            _ => Value::unknown(),
        },
        ("join", Some(separator)) => match first {
            Some(Value::List(values)) => {
                let mut whole = Value::text("");
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        whole = whole.concat(Value::text(separator));
                    }
                    whole = whole.concat(value.clone());
                }
                whole
            }
            _ => Value::unknown(),
        },
        ("replace", Some(text)) => {
            match (first.and_then(Value::known), positional.get(1).and_then(Value::known)) {
                (Some(from), Some(to)) if !from.is_empty() => Value::text(text.replace(from, to)),
                _ => Value::unknown(),
            }
        }
        ("split", Some(text)) => Value::List(match first.and_then(Value::known) {
            Some(separator) if !separator.is_empty() => {
                text.split(separator).take(KEPT).map(Value::text).collect()
            }
            _ => text.split_whitespace().take(KEPT).map(Value::text).collect(),
        }),
        ("lower", Some(text)) => Value::text(text.to_lowercase()),
        ("upper", Some(text)) => Value::text(text.to_uppercase()),
        ("strip" | "rstrip" | "lstrip", Some(text)) if positional.is_empty() => Value::text(text.trim()),
        ("format", Some(text)) => format_braces(text, positional),
        ("glob" | "rglob", _) => match first.and_then(Value::known) {
            Some(pattern) => {
                let pattern = if method == "rglob" { format!("**/{pattern}") } else { pattern.to_owned() };
                Value::Text(Arg { glob: true, ..crate::programs::say::below(arg, &pattern) })
            }
            None => Value::Text(crate::programs::say::below(arg, "**")),
        },
        ("iterdir", _) => Value::Text(crate::programs::say::below(arg, "*")),
        ("joinpath", _) => {
            let mut parts = vec![receiver.clone()];
            parts.extend(positional.iter().cloned());
            join_path(parts)
        }
        ("read_text" | "read_bytes" | "open", _) => content_of(Some(receiver)),
        (
            "decode" | "encode" | "expanduser" | "resolve" | "absolute" | "as_posix" | "__str__" | "copy"
            | "with_suffix" | "with_name" | "rstrip" | "strip",
            _,
        ) => receiver.clone(),
        _ => Value::Unknown(arg.taint),
    }
}

fn format_percent(format: &Arg, values: Value) -> Value {
    let mut values = match values {
        Value::List(values) => values,
        value => vec![value],
    }
    .into_iter();
    let Some(text) = format.known() else { return Value::Unknown(format.taint) };
    let mut pieces = text.split("%s");
    let mut whole = Value::text(pieces.next().unwrap_or_default());
    for piece in pieces.take(KEPT) {
        whole = whole.concat(values.next().unwrap_or_else(Value::unknown)).concat(Value::text(piece));
    }
    whole
}

fn format_braces(text: &str, values: &[Value]) -> Value {
    let mut whole = Value::text("");
    let mut rest = text;
    let mut at = 0;
    while let Some((before, tail)) = rest.split_once('{') {
        let (field, after) = tail.split_once('}').unwrap_or((tail, ""));
        let value = match field.parse::<usize>() {
            Ok(index) => values.get(index).cloned(),
            Err(_) if field.is_empty() => {
                at += 1;
                values.get(at - 1).cloned()
            }
            Err(_) => None,
        };
        whole = whole.concat(Value::text(before)).concat(value.unwrap_or_else(Value::unknown));
        rest = after;
    }
    whole.concat(Value::text(rest))
}

/// The home directory.
pub(super) fn home(call: &Call<'_>) -> Value {
    Value::text(call.surroundings.variable("HOME").unwrap_or_else(|| "~".to_owned()))
}

/// The value of an environment variable.
pub(super) fn environment(call: &Call<'_>, name: Option<&str>) -> Value {
    match name {
        Some("HOME" | "USERPROFILE") => home(call),
        Some(name) => call.surroundings.variable(name).map_or_else(Value::unknown, Value::text),
        None => Value::unknown(),
    }
}

/// `~` at the start of a path that is expanded by the program itself.
fn expand_home(call: &Call<'_>, arg: &Arg) -> Arg {
    let Some(rest) = arg.known().and_then(|text| text.strip_prefix('~')) else { return arg.clone() };
    match (rest.is_empty() || rest.starts_with('/'), call.surroundings.variable("HOME")) {
        (true, Some(home)) => Arg { value: Known::Text(format!("{home}{rest}")), ..arg.clone() },
        _ => arg.clone(),
    }
}

/// Imports, calls and attributes, for the sandbox guard.
pub(super) fn scan(body: &str, found: &mut CodeScan) {
    let Some(parsed) = tree::parse(&tree_sitter_python::LANGUAGE.into(), body) else {
        found.parse_ok = false;
        return;
    };
    found.parse_ok = !parsed.root_node().has_error();
    let mut left = FUEL;
    tree::walk(&parsed, |node| {
        let text = |node: Node<'_>| tree::text(node, body).to_owned();
        match node.kind() {
            "import_statement" => {
                for child in tree::children(node, KEPT) {
                    let name = child.child_by_field_name("name").unwrap_or(child);
                    found.imports.insert(text(name));
                }
            }
            "import_from_statement" => {
                if let Some(module) = node.child_by_field_name("module_name") {
                    let module = text(module);
                    for child in tree::children(node, KEPT).into_iter().skip(1) {
                        let name = child.child_by_field_name("name").unwrap_or(child);
                        found.names.insert(format!("{module}.{}", text(name)));
                    }
                    found.imports.insert(module);
                }
            }
            "call" => {
                if let Some(function) = node.child_by_field_name("function") {
                    let name: String = text(function).chars().take(200).collect();
                    if matches!(name.as_str(), "__import__" | "importlib.import_module")
                        && let Some(arguments) = node.child_by_field_name("arguments")
                        && let Some(module) = tree::children(arguments, 1).first()
                    {
                        found.imports.insert(text(*module).trim_matches(['"', '\'']).to_owned());
                    }
                    found.calls.insert(name);
                }
            }
            "attribute" => {
                if let Some(name) = node.child_by_field_name("attribute") {
                    found.attribute(&text(name));
                }
            }
            "identifier" => found.attribute_if_dunder(&text(node)),
            _ => {}
        }
        left = left.saturating_sub(1);
        left > 0
    });
    found.complete = left > 0;
}
