//! The meaning of names after imports.

use tree_sitter::Node;

use super::Python;
use crate::languages::api;
use crate::languages::tree;
use crate::languages::value::{KEPT, Value};

impl Python<'_, '_> {
    pub(super) fn import(&mut self, node: Node<'_>) {
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

    pub(super) fn import_from(&mut self, node: Node<'_>) {
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
                    for function in crate::words::PYTHON_WILDCARD {
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
}
