//! Collects what a body mentions, without judging it.

use tree_sitter::Node;

use super::{grammar, module};
use crate::languages::CodeScan;
use crate::languages::tree;

/// Imports, calls and properties, for the sandbox guard.
pub(in crate::languages) fn scan(body: &str, typed: bool, found: &mut CodeScan) {
    tree::scan(&grammar(typed), body, found, |node, found| {
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
    });
}
