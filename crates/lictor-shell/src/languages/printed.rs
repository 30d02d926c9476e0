//! Secrets that JavaScript prints: the whole value of a variable of the environment.

use tree_sitter::Node;

use super::tree;
use crate::call::Call;

/// Functions that show what they are given.
const PRINTS: [&str; 8] = [
    "console.log",
    "console.info",
    "console.error",
    "console.warn",
    "console.debug",
    "process.stdout.write",
    "process.stderr.write",
    "print",
];

/// Whether a call shows a variable that holds a secret, and not only whether it is set or how long it is.
pub(super) fn prints_secret_variable(node: Node<'_>, body: &str, call: &Call<'_>) -> bool {
    let function = node.child_by_field_name("function").map(|function| tree::text(function, body));
    let Some(arguments) =
        node.child_by_field_name("arguments").filter(|_| function.is_some_and(|name| PRINTS.contains(&name)))
    else {
        return false;
    };
    let mut cursor = arguments.walk();
    arguments
        .named_children(&mut cursor)
        .any(|argument| variable(argument, body, 0).is_some_and(|name| call.env.holds_secret(name)))
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
