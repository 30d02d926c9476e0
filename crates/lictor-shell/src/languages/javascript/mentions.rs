//! What a body mentions, without judging it.

use tree_sitter::Node;

use super::{grammar, module};
use crate::languages::CodeScan;
use crate::languages::tree::{self, FUEL};

/// Imports, calls and properties, for the sandbox guard.
pub(in crate::languages) fn scan(body: &str, typed: bool, found: &mut CodeScan) {
    let Some(parsed) = tree::parse(&grammar(typed), body) else {
        found.parse_ok = false;
        return;
    };
    found.parse_ok = !parsed.root_node().has_error();
    let mut left = FUEL;
    tree::walk(&parsed, |node| {
        let text = |node: Node<'_>| tree::text(node, body).to_owned();
        match node.kind() {
            "import_statement" => {
                if let Some(source) = node.child_by_field_name("source") {
                    found.imports.insert(module(text(source).trim_matches(['"', '\''])));
                }
            }
            "call_expression" | "new_expression" => {
                if let Some(function) =
                    node.child_by_field_name("function").or_else(|| node.child_by_field_name("constructor"))
                {
                    let name: String = text(function).chars().take(200).collect();
                    if matches!(name.as_str(), "require" | "import")
                        && let Some(arguments) = node.child_by_field_name("arguments")
                        && let Some(source) = tree::children(arguments, 1).first()
                    {
                        found.imports.insert(module(text(*source).trim_matches(['"', '\'', '`'])));
                    }
                    found.calls.insert(name);
                }
            }
            "property_identifier" => found.attribute(&text(node)),
            "identifier" => found.attribute_if_dunder(&text(node)),
            _ => {}
        }
        left = left.saturating_sub(1);
        left > 0
    });
    found.complete = left > 0;
}
