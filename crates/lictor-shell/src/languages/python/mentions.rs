//! Collects what a body mentions, without judging it.

use tree_sitter::Node;

use crate::languages::CodeScan;
use crate::languages::tree;
use crate::languages::value::KEPT;

/// Imports, calls and attributes, for the sandbox guard.
pub(in crate::languages) fn scan(body: &str, found: &mut CodeScan) {
    tree::scan(&tree_sitter_python::LANGUAGE.into(), body, found, |node, found| {
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
    });
}
