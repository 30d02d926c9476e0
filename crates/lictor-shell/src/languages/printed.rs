//! Secrets that JavaScript prints: the whole value of a variable of the environment.

use tree_sitter::Node;

use super::tree;
use crate::call::Call;
use crate::operand::Arg;

/// Whether a call shows a variable that holds a secret, and not only whether it is set or how long it is.
pub(super) fn prints_secret_variable(node: Node<'_>, body: &str, call: &Call<'_>) -> bool {
    let function = node.child_by_field_name("function").map(|function| tree::text(function, body));
    let Some(arguments) = node
        .child_by_field_name("arguments")
        .filter(|_| function.is_some_and(|name| crate::words::CODE_PRINTS.contains(&name)))
    else {
        return false;
    };
    let mut cursor = arguments.walk();
    arguments
        .named_children(&mut cursor)
        .any(|argument| variable(argument, body, 0).is_some_and(|name| is_secret(name, body, call)))
}

/// Some interpreters print the value of an expression.
pub(super) fn shows_value(call: &Call<'_>) -> bool {
    call.args.iter().filter_map(Arg::known).any(|word| {
        word == "--print" || word.starts_with('-') && !word.starts_with("--") && word.contains('p')
    })
}

/// Whether code that an interpreter shows the value of (`node -p`) ends with such a variable.
pub(super) fn ends_with_secret_variable(root: Node<'_>, body: &str, call: &Call<'_>) -> bool {
    if !shows_value(call) {
        return false;
    }
    let mut cursor = root.walk();
    let last = root.named_children(&mut cursor).last();
    let value = last.and_then(|last| last.named_child(0));
    value.and_then(|value| variable(value, body, 0)).is_some_and(|name| is_secret(name, body, call))
}

/// Whether a variable of the environment is a secret, for code that may load a file of them.
pub(super) fn is_secret(name: &str, body: &str, call: &Call<'_>) -> bool {
    let loads =
        || body.contains("dotenv") || call.args.iter().any(|arg| arg.prefix().starts_with("--env-file"));
    call.env.holds_secret(name) || crate::programs::is_secret_of_file(name) && loads()
}

/// The variable whose whole value an expression has, or has among others.
fn variable<'a>(node: Node<'_>, body: &'a str, depth: usize) -> Option<&'a str> {
    if depth > tree::DEPTH {
        return None;
    }
    let inner = |name: &str| variable(node.child_by_field_name(name)?, body, depth + 1);
    let named = |name: &str| node.child_by_field_name(name).map(|child| tree::text(child, body));
    match node.kind() {
        "member_expression" if named("object") == Some("process.env") => named("property"),
        "subscript_expression" if named("object") == Some("process.env") => {
            Some(named("index")?.trim_matches(['"', '\'', '`']))
        }
        "call_expression" if matches!(named("function"), Some("Deno.env.get" | "Bun.env.get")) => {
            Some(named("arguments")?.trim_matches(['(', ')', '"', '\'', '`']))
        }
        "binary_expression" if matches!(named("operator"), Some("||" | "??")) => inner("left"),
        "binary_expression" if named("operator") == Some("+") => inner("left").or_else(|| inner("right")),
        "parenthesized_expression" | "template_string" | "template_substitution" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).find_map(|child| variable(child, body, depth + 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
