//! Variables that come from environment files, and which of all variables hold secrets.

use std::collections::BTreeMap;

use super::{Change, Mark, State};

impl State {
    /// The line puts the variables of an environment file into its own.
    pub(crate) fn load(&mut self) {
        self.loaded.get_or_insert_with(BTreeMap::new);
    }

    /// Removes variables that were loaded for a program that has ended.
    pub(crate) fn unload(&mut self) {
        self.loaded = None;
    }

    pub(crate) fn has_loaded(&self) -> bool {
        self.loaded.is_some()
    }

    /// Variables that an environment file has set since the mark are not the line's own: secrets stay secret
    /// under their names, the others keep their values.
    pub(crate) fn load_since(&mut self, mark: Mark) {
        let set = self.journal.get(mark.0..).unwrap_or_default().iter().filter_map(|change| match change {
            Change::Variable(name, _) => Some(name.clone()),
            _ => None,
        });
        for name in set.collect::<Vec<String>>() {
            if crate::programs::is_secret_of_file(&name) {
                let before = self.variables.remove(&name);
                self.journal.push(Change::Variable(name, before));
            } else if let Some(value) = self.variables.get(&name).cloned() {
                self.loaded.get_or_insert_with(BTreeMap::new).insert(name, value);
            }
        }
    }

    /// Whether the line itself has set or unset a variable.
    pub(crate) fn is_set_here(&self, name: &str) -> bool {
        let loaded = || self.loaded.as_ref().and_then(|loaded| loaded.get(name));
        self.variable(name).is_some_and(|value| loaded() != Some(value))
    }

    /// Whether a variable holds a secret: the line put one into it, or did not set it and its name indicates one.
    pub(crate) fn is_secret(&self, name: &str) -> bool {
        match self.variable(name) {
            Some(value) => value.taint().secret,
            None if name.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'@' | b'*')) => {
                self.positional.taint().secret
            }
            None if self.has_loaded() => crate::programs::is_secret_of_file(name),
            None => lictor_core::redact::is_secret_name(name),
        }
    }
}
