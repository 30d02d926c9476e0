//! Python, through its grammar: imports with aliases, constants carried through variables, calls by full name.

mod effects;
mod functions;
mod imports;
mod mentions;
mod results;

use lictor_core::facts::{FlowSink, FlowSource};
use tree_sitter::Node;

use super::act::{Actor, Invocation};
use super::api::{self, Api};
use super::broken;
use super::functions::Functions;
use super::tree::{self, DEPTH, FUEL};
use super::value::{KEPT, Scope, Value, join_path};
use crate::call::{Call, Report};
use crate::operand::{Arg, Taint};
use crate::programs::report::{below, glob};

struct Python<'a, 'b> {
    body: &'a str,
    call: &'a Call<'b>,
    scope: Scope,
    fuel: usize,
    functions: Functions,
    /// A socket was connected.
    connected: bool,
    /// Standard input and output were put on another descriptor, or a terminal was made.
    redirected: bool,
    /// Files that hold something from the network.
    fetched: Vec<String>,
}

/// What stands at one place of each pair that a loop goes through.
fn part_of(value: &Value, at: usize) -> Value {
    let Value::Any(values) = value else { return Value::Unknown(value.taint()) };
    let parts = values.iter().map(|value| value.elements().and_then(|parts| parts.get(at)).cloned());
    Value::Any(parts.map(|part| part.unwrap_or_else(Value::unknown)).collect())
}

pub(super) use mentions::scan;
pub(super) use results::{environment, home};

pub(super) fn judge(body: &str, call: &Call<'_>, report: &mut Report) {
    let Some(parsed) = tree::parse(&tree_sitter_python::LANGUAGE.into(), body) else {
        return report.opaque(lictor_core::facts::OpaqueWhat::Syntax, body);
    };
    let mut python = Python {
        body,
        call,
        scope: Scope::default(),
        fuel: FUEL,
        functions: Functions::default(),
        connected: false,
        redirected: false,
        fetched: Vec::new(),
    };
    python.look_ahead(&parsed);
    tree::walk(&parsed, |node| {
        python.visit(node, report);
        python.fuel = python.fuel.saturating_sub(1);
        python.fuel > 0
    });
    if python.connected && python.redirected {
        report.flow(FlowSource::Network, FlowSink::Shell, body);
    }
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
        self.functions.leave(node.start_byte());
        self.scope.leave(node.start_byte());
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
            "for_statement" => self.bind_loop(node),
            "function_definition" => {
                self.define(node);
                self.multiplies(node, report);
            }
            "lambda" => self.define(node),
            "return_statement" => self.gives(node),
            "global_statement" | "nonlocal_statement" => {
                for name in tree::children(node, KEPT) {
                    self.scope.share(tree::text(name, self.body));
                }
            }
            "identifier" => self.mention(node),
            // The body of a comprehension stands in front of what it loops over.
            "list_comprehension"
            | "generator_expression"
            | "set_comprehension"
            | "dictionary_comprehension" => {
                for clause in
                    tree::children(node, 8).into_iter().filter(|child| child.kind() == "for_in_clause")
                {
                    self.bind_loop(clause);
                }
            }
            "as_pattern" => {
                let parts = tree::children(node, 2);
                if let [value, target] = parts.as_slice() {
                    let value = self.value(*value, 0);
                    let name = self.text(*target).to_owned();
                    self.scope.set(&name, value);
                }
            }
            "call" => {
                self.note_call(node);
                self.call(node, report);
                self.follow(node, report);
            }
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
            Value::List(values) => match values.as_slice() {
                [Value::Text(only)] if only.glob && !self.chooses() => Value::Text(only.clone()),
                _ => Value::Any(values),
            },
            Value::Text(arg) if arg.glob => Value::Text(arg),
            other => Value::Unknown(other.taint()),
        };
        self.mark_path(left, right);
        if left.kind() == "identifier" {
            let name = self.text(left).to_owned();
            self.scope.set(&name, value);
            return;
        }
        // `for root, dirs, files in os.walk(top)`: folders below the top, and names in them.
        let walked = self.walked(right);
        for (at, target) in tree::children(left, 16).into_iter().enumerate() {
            let value = match (&walked, at) {
                (Some(top), 0) => Value::Text(below(top, "**")),
                // Hidden ones too, other than in a shell.
                (Some(_), _) => Value::List(vec![Value::Text(glob("{*,.*}"))]),
                (None, at) => part_of(&value, at),
            };
            self.scope.set(tree::text(target, self.body), value);
        }
    }

    /// Whether the code may leave out some of the names that it comes by.
    fn chooses(&self) -> bool {
        self.body.contains("if ") || self.body.contains("filter(")
    }

    /// The top of an `os.walk`.
    fn walked(&mut self, node: Node<'_>) -> Option<Arg> {
        let function = node.child_by_field_name("function")?;
        if self.value(function, 0).name() != Some("os.walk") {
            return None;
        }
        match self.arguments(node, 0).0.into_iter().next() {
            Some(Value::Text(top)) => Some(top),
            _ => None,
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
            // A module of a list that is only imported is run as `python -m` would run it.
            let arguments = node.child_by_field_name("arguments");
            let named = arguments.and_then(|arguments| arguments.named_child(0)).is_some_and(|first| {
                matches!(first.kind(), "identifier" | "attribute" | "subscript" | "string")
            });
            let unused = name != "getattr"
                && named
                && node.parent().is_some_and(|parent| parent.kind() == "expression_statement");
            if matches!(name.as_str(), "getattr" | "__import__" | "importlib.import_module") && !unused {
                self.reflection(&name, &invocation, report);
            }
            self.redirected |= matches!(name.as_str(), "os.dup2" | "pty.spawn");
            if name == "print" && effects::prints_secret_variable(&text) || api::reveals(&name) {
                crate::programs::reveals(report);
            }
            self.watches(&name, report);
            if let Some(api) = api::python(&name) {
                // `compile` is only a step; what it compiles is judged here.
                return self.actor(report).perform(api, &invocation);
            }
            // `map(os.remove, …)`: a function that acts, for each.
            if let ("map" | "filter", [Value::Name(each), rest @ ..]) = (name.as_str(), positional.as_slice())
                && let Some(api @ (Api::Delete | Api::DeleteTree | Api::Shell)) = api::python(each)
            {
                let items = rest.first().map(|list| list.elements().unwrap_or(std::slice::from_ref(list)));
                for item in items.unwrap_or_default() {
                    let one = std::slice::from_ref(item);
                    self.actor(report).perform(api, &Invocation { positional: one, named: &[], text: &text });
                }
                return;
            }
            self.handed_over(&invocation, report);
            if let Some(command) = name.strip_prefix("dulwich.porcelain.") {
                return self.porcelain(command, &invocation, report);
            }
            if let Some(sub) = name.strip_prefix("sh.") {
                // The `sh` package: every function is a program.
                let mut argv = vec![Arg::literal(sub)];
                argv.extend(positional.iter().flat_map(|value| value.args(&text)));
                return report.then_argv(&argv, "python");
            }
        }
        self.reads_named_secret(&callee, &invocation, report);
        if function.kind() == "attribute" {
            if callee.name().is_none() {
                self.handed_over(&invocation, report);
            }
            self.method(function, &invocation, report);
        }
    }

    /// What becomes of data: it goes into what a method is called on, to another machine, or into a file that is run.
    fn follow(&mut self, node: Node<'_>, report: &mut Report) {
        let Some(function) = node.child_by_field_name("function") else { return };
        let (positional, named) = self.arguments(node, 0);
        let text: String = self.text(node).chars().take(400).collect();
        let invocation = Invocation { positional: &positional, named: &named, text: &text };
        let taint = invocation.taint();
        let callee = self.value(function, 0);
        let to_library = callee.name().is_some_and(|name| api::talks(name) && api::python(name).is_none());
        let object = function.child_by_field_name("object");
        let receiver = object.map(|object| (object, self.value(object, 0)));
        if let Some((object, receiver)) = &receiver {
            self.fetches_into(receiver, &text, taint);
            // `mail.set_content(secret)`: it is in there from now on.
            if object.kind() == "identifier" && (taint.secret || taint.private) && !receiver.taint().network {
                let name = self.text(*object).to_owned();
                if matches!(receiver, Value::Unknown(_) | Value::List(_) | Value::Map(_)) {
                    self.scope.set(&name, Value::Unknown(receiver.taint().and(taint)));
                }
            }
        }
        let to_connection = receiver.is_some_and(|(_, receiver)| receiver.taint().network);
        if (taint.secret || taint.private) && (to_library || to_connection) {
            let source = if taint.secret { FlowSource::Secret } else { FlowSource::Private };
            report.flow(source, FlowSink::Host, &text);
        }
        let runs = callee.name().and_then(api::python);
        if matches!(runs, Some(Api::Shell | Api::Process | Api::Spawn | Api::Words))
            && self.fetched.iter().any(|path| text.contains(path.as_str()))
        {
            report.flow(FlowSource::Network, FlowSink::Shell, &text);
        }
        if runs == Some(Api::Download)
            && let Some(path) = positional.get(1).and_then(Value::known)
        {
            self.fetched.push(path.to_owned());
        }
    }

    /// Notes a file into which something from the network is written.
    fn fetches_into(&mut self, receiver: &Value, text: &str, taint: Taint) {
        if !taint.network || !text.contains(".write") {
            return;
        }
        let path = receiver.name().and_then(|name| name.strip_prefix(super::act::FILE)).or(receiver.known());
        if let Some(path) = path {
            self.fetched.push(path.to_owned());
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
                    }
                }
                Value::Map(pairs)
            }
            "subscript" => self.subscript(node, depth),
            _ => Value::unknown(),
        }
    }

    /// A list, in which `*more` stands for any number of elements.
    fn list(&mut self, node: Node<'_>, depth: usize) -> Value {
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
                    "sys.executable" => Value::text("python3"),
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

    fn subscript(&mut self, node: Node<'_>, depth: usize) -> Value {
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
        match (&value, key.name().and_then(|key| key.parse::<usize>().ok())) {
            (Value::List(values), Some(at)) => values.get(at).cloned().unwrap_or_else(Value::unknown),
            (Value::Map(_), _) => {
                key.known().and_then(|key| value.field(key)).cloned().unwrap_or_else(Value::unknown)
            }
            // `requests.get(u).json()["x"]` keeps where it came from.
            _ => Value::Unknown(value.taint()),
        }
    }
}
