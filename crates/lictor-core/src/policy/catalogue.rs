//! The verbs and objects that policies can refer to.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What happens to a deed that is not in the catalogue, from lenient to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ungrounded {
    /// A person is asked.
    Ask,
    /// It is refused.
    #[default]
    Block,
}

/// The known verbs and objects. A deed with any other is ungrounded: no policy author has considered it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    verbs: BTreeSet<String>,
    objects: BTreeSet<String>,
}

/// The verbs of built-in effects.
const VERBS: &[&str] = &[
    "approve",
    "await",
    "change",
    "chmod",
    "commit",
    "configure",
    "create",
    "delete",
    "deploy",
    "destroy",
    "disable",
    "discard",
    "drop",
    "empty",
    "exhaust",
    "expire",
    "fetch",
    "force-push",
    "format",
    "gain",
    "kill",
    "list",
    "merge",
    "move",
    "open",
    "publish",
    "push",
    "read",
    "release",
    "restart",
    "rewrite",
    "run",
    "send",
    "skip",
    "start",
    "stop",
    "update",
    "use",
    "write",
];
const OBJECTS: &[&str] = &[
    "account",
    "agent",
    "branch",
    "code",
    "commits",
    "data",
    "database",
    "disk",
    "email",
    "environment",
    "file",
    "git",
    "guard",
    "history",
    "hooks",
    "host",
    "infrastructure",
    "invoice",
    "machine",
    "message",
    "opaque",
    "package",
    "page",
    "payment",
    "privilege",
    "process",
    "program",
    "record",
    "release",
    "secret",
    "service",
    "stash",
    "table",
    "task",
    "ticket",
    "tool",
    "tunnel",
    "user",
    "work",
];

impl Default for Catalogue {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self { verbs: words(VERBS), objects: words(OBJECTS) }
    }
}

impl Catalogue {
    /// The same with more verbs.
    #[must_use]
    pub fn with_verbs<T: Into<String>>(mut self, verbs: impl IntoIterator<Item = T>) -> Self {
        self.verbs.extend(verbs.into_iter().map(Into::into));
        self
    }

    /// The same with more objects.
    #[must_use]
    pub fn with_objects<T: Into<String>>(mut self, objects: impl IntoIterator<Item = T>) -> Self {
        self.objects.extend(objects.into_iter().map(Into::into));
        self
    }

    /// The known verbs, in alphabetical order.
    pub fn verbs(&self) -> impl Iterator<Item = &str> {
        self.verbs.iter().map(String::as_str)
    }

    /// The known objects, in alphabetical order.
    pub fn objects(&self) -> impl Iterator<Item = &str> {
        self.objects.iter().map(String::as_str)
    }

    /// Whether the verb is known.
    #[must_use]
    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.contains(verb)
    }

    /// Whether the object is known.
    #[must_use]
    pub fn has_object(&self, object: &str) -> bool {
        self.objects.contains(object)
    }
}
