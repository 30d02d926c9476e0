//! Python, through its grammar: imports with aliases, constants propagated through variables, calls by full name.

mod branches;
mod effects;
mod functions;
mod imports;
mod mentions;
mod results;
mod values;

use lictor_core::facts::{FlowSink, FlowSource};
use tree_sitter::Node;

use super::act::{Actor, Invocation};
use super::api::{self, Api};
use super::functions::Functions;
use super::tree::{self, Code, FUEL};
use super::value::{KEPT, Scope, Value};
use crate::call::{Call, Report};
use crate::operand::{Arg, Operand, Taint};
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
    /// Files with content from the network.
    fetched: Vec<String>,
    /// Archives that the code makes, and the origin of what it put into them.
    archives: Vec<String>,
    packed: Taint,
}

/// One component of each pair that a loop iterates over.
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
        archives: Vec::new(),
        packed: Taint::default(),
    };
    python.judge(body, &parsed, report);
    if python.connected && python.redirected {
        report.flow(FlowSource::Network, FlowSink::Shell, body);
    }
}

impl Code for Python<'_, '_> {
    const FUNCTIONS: &'static [&'static str] = &["def ", "lambda"];

    fn fuel(&mut self) -> &mut usize {
        &mut self.fuel
    }

    fn functions(&mut self) -> &mut Functions {
        &mut self.functions
    }

    fn forget(&mut self) {
        self.scope = Scope::default();
        self.connected = false;
        self.redirected = false;
        self.fetched.clear();
        self.archives.clear();
        self.packed = Taint::default();
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
            "if_statement" => self.branch(node),
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
            // The body of a comprehension precedes its loop.
            "list_comprehension"
            | "generator_expression"
            | "set_comprehension"
            | "dictionary_comprehension" => {
                for clause in tree::children(node, 8) {
                    match clause.kind() {
                        "for_in_clause" => self.bind_loop(clause),
                        "if_clause" => self.narrow(clause, node.end_byte()),
                        _ => {}
                    }
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
}

impl Python<'_, '_> {
    fn text(&self, node: Node<'_>) -> &str {
        tree::text(node, self.body)
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
                let names =
                    tree::children(left, KEPT).into_iter().map(|target| tree::text(target, self.body));
                self.scope.set_elements(names, &value);
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
            if name == "print" && effects::prints_secret_variable(&text, self.body, self.call)
                || api::reveals(&name)
            {
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

    /// Tracks data flow: into the receiver of a method, to another machine, or into a file that is run.
    fn follow(&mut self, node: Node<'_>, report: &mut Report) {
        let Some(function) = node.child_by_field_name("function") else { return };
        let (positional, named) = self.arguments(node, 0);
        let text: String = self.text(node).chars().take(400).collect();
        let invocation = Invocation { positional: &positional, named: &named, text: &text };
        let callee = self.value(function, 0);
        self.packs(function, &callee, &invocation);
        let packed = positional.iter().filter_map(Value::known).any(|path| self.is_archive(path));
        let taint = if packed { invocation.taint().and(self.packed) } else { invocation.taint() };
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

    /// Notes what goes into archives that the code makes.
    fn packs(&mut self, function: Node<'_>, callee: &Value, invocation: &Invocation<'_>) {
        let name = callee.name().unwrap_or_default();
        let makes = matches!(
            name,
            "shutil.make_archive"
                | "tarfile.open"
                | "tarfile.TarFile"
                | "zipfile.ZipFile"
                | "py7zr.SevenZipFile"
        );
        if makes && let Some(path) = invocation.positional.first().and_then(Value::known) {
            self.archives.push(path.to_owned());
        }
        let method = function.child_by_field_name("attribute").map(|method| self.text(method));
        let taken = match name {
            "shutil.make_archive" => invocation.get(2, "root_dir"),
            _ if matches!(method, Some("add" | "write" | "writeall")) && !self.archives.is_empty() => {
                invocation.positional.first()
            }
            _ => None,
        };
        for arg in taken.map(|value| value.args(invocation.text)).unwrap_or_default() {
            self.packed.secret |= crate::programs::is_secret(&arg);
            let tree = Operand::new(arg, self.call.cwd.clone());
            self.packed.private |= crate::walk::is_private(self.call.env, &tree, true);
        }
    }

    /// Whether a path is that of an archive that the code made; some names get an ending.
    fn is_archive(&self, path: &str) -> bool {
        self.archives.iter().any(|archive| path.starts_with(archive.as_str()))
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

    /// Records that a variable is a `Path`.
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
}
