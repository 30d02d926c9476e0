//! Taint analysis of secrets in code: whether a secret that the code reads is printed, sent, written elsewhere,
//! or passed to an unknown function.
//!
//! Every text that names a secret counts as the secret itself, and so does every variable, object and function
//! that derived data flows into. Properties of it (its length, its existence, the names it sets) are not tainted.
//! Constructs that are not understood count as a leak.

use std::collections::BTreeSet;

use tree_sitter::{Node, Tree};

use super::api;
use super::tree::{self, DEPTH};

/// The maximum number of passes.
const PASSES: usize = 4;

/// The environment objects.
const ENVIRONMENTS: [&str; 2] = ["process.env", "os.environ"];

struct Shown<'a> {
    body: &'a str,
    /// The tainted names.
    holders: BTreeSet<String>,
    functions: BTreeSet<String>,
    out: bool,
}

/// Whether a secret that is named in the code gets out of it. Code that names none may get it from anywhere.
pub(super) fn lets_out(parsed: &Tree, body: &str) -> bool {
    let mut shown = Shown { body, holders: BTreeSet::new(), functions: BTreeSet::new(), out: false };
    let mut named = false;
    tree::walk(parsed, |node| {
        named |= shown.names_secret(node);
        if node.kind().starts_with("function_de")
            && let Some(name) = node.child_by_field_name("name")
        {
            shown.functions.insert(shown.text(name).to_owned());
        }
        true
    });
    if !named || parsed.root_node().has_error() {
        return true;
    }
    for _ in 0..PASSES {
        let before = shown.holders.len();
        tree::walk(parsed, |node| {
            shown.visit(node);
            !shown.out
        });
        if shown.out || shown.holders.len() == before {
            return shown.out;
        }
    }
    true
}

impl Shown<'_> {
    fn text(&self, node: Node<'_>) -> &str {
        tree::text(node, self.body)
    }

    fn names_secret(&self, node: Node<'_>) -> bool {
        node.kind() == "string" && {
            let text = self.text(node).trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
            crate::programs::is_secret_path(text.trim_matches(['"', '\'', '`']))
        }
    }

    fn visit(&mut self, node: Node<'_>) {
        match node.kind() {
            "assignment"
            | "augmented_assignment"
            | "assignment_expression"
            | "named_expression"
            | "augmented_assignment_expression"
            | "variable_declarator" => {
                let field = |names: [&str; 2]| names.iter().find_map(|name| node.child_by_field_name(name));
                if let (Some(left), Some(right)) = (field(["left", "name"]), field(["right", "value"]))
                    && self.holds(right, 0)
                {
                    self.bind(left, self.splits_off_name(right));
                }
            }
            "for_statement" | "for_in_clause" | "for_in_statement" => {
                if let (Some(left), Some(right)) =
                    (node.child_by_field_name("left"), node.child_by_field_name("right"))
                    && self.holds(right, 0)
                {
                    self.bind(left, self.gives_pairs(right));
                }
            }
            "as_pattern" => {
                if let [value, target] = tree::children(node, 2).as_slice()
                    && self.holds(*value, 0)
                {
                    self.bind(*target, false);
                }
            }
            "return_statement" | "yield" if self.holds_below(node, 0) => self.returned_from(node),
            "raise_statement" | "throw_statement" | "assert_statement" | "print_statement"
            | "exec_statement" => self.out |= self.holds_below(node, 0),
            "call" | "call_expression" | "new_expression" => self.call(node),
            _ => {}
        }
    }

    /// Taints the names that an assignment sets; of pairs the first is only a key.
    fn bind(&mut self, target: Node<'_>, pairs: bool) {
        // Only the environment is tainted, not other properties of the same object.
        if ENVIRONMENTS.contains(&self.text(target)) {
            let name = self.text(target).to_owned();
            self.holders.insert(name);
            return;
        }
        match target.kind() {
            "pattern_list" | "tuple_pattern" | "array_pattern" | "tuple" | "list_pattern" => {
                for part in tree::children(target, 16).into_iter().skip(usize::from(pairs)) {
                    self.bind(part, false);
                }
            }
            // `d[k] = v`, `o.x = v`: the whole of it.
            "subscript" | "subscript_expression" | "attribute" | "member_expression" => {
                let object = target.child_by_field_name("value").or(target.child_by_field_name("object"));
                if let Some(object) = object {
                    self.bind(object, false);
                }
            }
            "identifier" | "shorthand_property_identifier_pattern" => {
                let name = self.text(target).to_owned();
                self.holders.insert(name);
            }
            _ => {
                for part in tree::children(target, 16) {
                    self.bind(part, false);
                }
            }
        }
    }

    fn returned_from(&mut self, node: Node<'_>) {
        let mut above = node.parent();
        while let Some(function) = above {
            let named = function.child_by_field_name("name").filter(|_| function.kind().contains("function"));
            if let Some(name) = named {
                let name = self.text(name).to_owned();
                self.holders.insert(name);
                return;
            }
            if matches!(function.kind(), "arrow_function" | "function_expression" | "method_definition") {
                self.out = true;
                return;
            }
            above = function.parent();
        }
    }

    /// The function that is called: its last name, and what it is called on.
    fn callee<'t>(&self, node: Node<'t>) -> Option<(Node<'t>, String, Option<Node<'t>>)> {
        let function = node.child_by_field_name("function").or(node.child_by_field_name("constructor"))?;
        let last = function.child_by_field_name("attribute").or(function.child_by_field_name("property"));
        let name = self.text(last.unwrap_or(function)).to_owned();
        Some((function, name, function.child_by_field_name("object")))
    }

    fn call(&mut self, node: Node<'_>) {
        let Some((function, name, object)) = self.callee(node) else {
            self.out |= self.holds_below(node, 0);
            return;
        };
        let arguments = node.child_by_field_name("arguments");
        let on_holder = object.is_some_and(|object| self.holds(object, 0));
        let given = arguments.is_some_and(|arguments| self.holds_below(arguments, 0));
        // Arguments of a function of the code, or of one that is passed as a value.
        if let Some(arguments) = arguments.filter(|_| (on_holder || given) && !api::proves_with(&name)) {
            for each in tree::children(arguments, 16) {
                self.bind_parameters(each, object);
            }
        }
        if !given && !on_holder {
            return;
        }
        if self.functions.contains(&name) && object.is_none() {
            return self.hand_to(&name, node);
        }
        // `require("fs").readFileSync` is `fs.readFileSync`.
        let module = object.map(|object| self.text(object)).and_then(|text| text.strip_prefix("require("));
        let module = module.and_then(|rest| rest.split(['"', '\'']).nth(1));
        let full = match module {
            Some(module) => format!("{}.{name}", module.trim_start_matches("node:")),
            None => self.text(function).to_owned(),
        };
        let kept = if object.is_none() || on_holder {
            api::keeps_to_itself(&name)
        } else {
            api::keeps_to_itself(&full)
                || api::proves_with(&name)
                || matches!(name.as_str(), "append" | "extend" | "push")
        };
        // A function by its name, to be called with what is in there.
        let handed = arguments.is_some_and(|arguments| {
            tree::children(arguments, 16).into_iter().any(|each| {
                let function = matches!(each.kind(), "identifier" | "attribute" | "member_expression");
                function && !self.holds(each, 0) && !api::keeps_to_itself(self.text(each))
            })
        });
        if handed
            && matches!(name.as_str(), "map" | "filter" | "forEach" | "flatMap" | "some" | "every" | "reduce")
        {
            self.out = true;
        } else if kept && !matches!(name.as_str(), "write" | "writelines" | "write_text" | "write_bytes") {
            if let Some(object) = object.filter(|object| object.kind() == "identifier")
                && matches!(name.as_str(), "append" | "extend" | "push")
            {
                self.bind(object, false);
            }
            return;
        }
        // Back into the file that it came from.
        let first = arguments.and_then(|arguments| arguments.named_child(0));
        let back = match name.as_str() {
            "write" | "writelines" | "write_text" | "write_bytes" => on_holder,
            "writeFileSync" | "writeFile" | "appendFileSync" => {
                first.is_some_and(|first| self.holds(first, 0))
            }
            _ => false,
        };
        self.out |= !back;
    }

    /// Taints the parameters of a function among the arguments of a call.
    fn bind_parameters(&mut self, function: Node<'_>, object: Option<Node<'_>>) {
        if !matches!(function.kind(), "arrow_function" | "function_expression" | "lambda") {
            return;
        }
        let pairs = object.is_some_and(|object| self.gives_pairs(object));
        let list = function.child_by_field_name("parameters").or(function.child_by_field_name("parameter"));
        match list {
            Some(list) if matches!(list.kind(), "formal_parameters" | "lambda_parameters") => {
                for parameter in tree::children(list, 16) {
                    let pattern = parameter.child_by_field_name("pattern").unwrap_or(parameter);
                    self.bind(pattern, pairs);
                }
            }
            Some(one) => self.bind(one, pairs),
            None => {}
        }
    }

    /// A function of the code gets the secret: all its parameters are tainted.
    fn hand_to(&mut self, name: &str, call: Node<'_>) {
        let mut root = call;
        while let Some(parent) = root.parent() {
            root = parent;
        }
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            let found = node.kind().starts_with("function_de")
                && node.child_by_field_name("name").is_some_and(|own| self.text(own) == name);
            if let Some(parameters) = node.child_by_field_name("parameters").filter(|_| found) {
                for parameter in tree::children(parameters, 32) {
                    let pattern = ["pattern", "name", "left"]
                        .iter()
                        .find_map(|field| parameter.child_by_field_name(field));
                    self.bind(pattern.unwrap_or(parameter), false);
                }
            }
            stack.extend(tree::children(node, usize::MAX));
        }
    }

    /// Whether a loop over it goes through pairs of a name and a value.
    fn gives_pairs(&self, node: Node<'_>) -> bool {
        match self.callee(node) {
            Some((function, name, _)) => name == "items" || self.text(function) == "Object.entries",
            None => false,
        }
    }

    /// `line.split("=", 1)`: the name of a variable first.
    fn splits_off_name(&self, node: Node<'_>) -> bool {
        let Some((_, name, _)) = self.callee(node) else { return false };
        let first = node.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(0));
        matches!(name.as_str(), "split" | "partition")
            && first.is_some_and(|first| self.text(first).trim_matches(['"', '\'', '`']) == "=")
    }

    fn holds_below(&self, node: Node<'_>, depth: usize) -> bool {
        tree::children(node, 256).into_iter().any(|child| self.holds(child, depth + 1))
    }

    /// Whether an expression is tainted.
    fn holds(&self, node: Node<'_>, depth: usize) -> bool {
        if depth > DEPTH {
            return true;
        }
        match node.kind() {
            "string" => self.names_secret(node) || self.holds_below(node, depth),
            "identifier" | "shorthand_property_identifier" => self.holders.contains(self.text(node)),
            // The answer is yes or no.
            "comparison_operator" | "not_operator" | "integer" | "float" | "number" | "comment" => false,
            "unary_expression" if self.text(node).starts_with('!') => false,
            "binary_expression" if self.compares(node) => false,
            "keyword_argument" => {
                node.child_by_field_name("value").is_some_and(|value| self.holds(value, depth + 1))
            }
            "conditional_expression" | "ternary_expression" => {
                let parts = tree::children(node, 3);
                let condition = if node.kind() == "conditional_expression" { 1 } else { 0 };
                parts.into_iter().enumerate().any(|(at, part)| at != condition && self.holds(part, depth + 1))
            }
            "attribute" | "member_expression" if self.holders.contains(self.text(node)) => true,
            "attribute" | "member_expression" => {
                let name = node.child_by_field_name("attribute").or(node.child_by_field_name("property"));
                let asks = name.is_some_and(|name| matches!(self.text(name), "length" | "size"));
                let object = node.child_by_field_name("object");
                !asks && object.is_some_and(|object| self.holds(object, depth + 1))
            }
            "subscript" | "subscript_expression" => {
                let object = node.child_by_field_name("value").or(node.child_by_field_name("object"));
                let index = node.child_by_field_name("subscript").or(node.child_by_field_name("index"));
                let first = index.is_some_and(|index| self.text(index) == "0");
                object.is_some_and(|object| {
                    !(first && self.splits_off_name(object)) && self.holds(object, depth + 1)
                })
            }
            "call" | "call_expression" | "new_expression" => self.result_holds(node, depth),
            // The iterable of an inner loop is bound at its place.
            "list_comprehension"
            | "generator_expression"
            | "set_comprehension"
            | "dictionary_comprehension" => {
                node.child_by_field_name("body").is_none_or(|body| self.holds(body, depth + 1))
            }
            "arrow_function" | "lambda" => {
                node.child_by_field_name("body").is_some_and(|body| self.holds(body, depth + 1))
            }
            _ => self.holds_below(node, depth),
        }
    }

    fn compares(&self, node: Node<'_>) -> bool {
        let operator = node.child_by_field_name("operator").map(|operator| self.text(operator));
        matches!(operator, Some("==" | "===" | "!=" | "!==" | "<" | ">" | "<=" | ">=" | "in" | "instanceof"))
    }

    fn result_holds(&self, node: Node<'_>, depth: usize) -> bool {
        let Some((function, name, object)) = self.callee(node) else { return true };
        if api::only_asks(&name) || api::proves_with(&name) || api::only_asks(self.text(function)) {
            return false;
        }
        let arguments = node.child_by_field_name("arguments");
        let first = arguments.and_then(|arguments| arguments.named_child(0));
        // `re.sub("=.*", "=***", line)` leaves the names alone.
        if matches!(name.as_str(), "sub" | "replace")
            && first.is_some_and(|first| self.text(first).contains("=.") || self.text(first).contains("=[^"))
        {
            return false;
        }
        // `re.findall("^([A-Z_]+)=", text)` takes the names alone.
        if name == "findall"
            && first.is_some_and(|first| {
                let pattern = self.text(first).trim_end_matches(['"', '\'']);
                pattern.ends_with(")=") && pattern.matches('(').count() == 1 && !pattern.contains('.')
            })
        {
            return false;
        }
        // The mapping of each element.
        if let Some(each) = first.filter(|each| {
            matches!(name.as_str(), "map" | "flatMap") && matches!(each.kind(), "arrow_function" | "lambda")
        }) && let Some(body) = each.child_by_field_name("body")
            && body.kind() != "statement_block"
        {
            return self.holds(body, depth + 1);
        }
        let on =
            object.map_or_else(|| self.holds(function, depth + 1), |object| self.holds(object, depth + 1));
        on || arguments.is_some_and(|arguments| self.holds_below(arguments, depth))
    }
}
