//! The shell environment as changed by the line itself.

use super::pipeline::Feed;
use crate::operand::{Arg, Coding};
use crate::reading::ShellEnv;
use crate::state::{State, Value};

/// The shell environment plus what the line itself changed in it.
pub(super) struct Here<'a> {
    state: &'a State,
    outside: &'a dyn ShellEnv,
    through: &'a [String],
    packed: &'a [String],
    feed: Option<&'a Feed>,
}

impl<'a> Here<'a> {
    pub(super) fn new(
        state: &'a State,
        outside: &'a dyn ShellEnv,
        through: &'a [String],
        (packed, feed): (&'a [String], Option<&'a Feed>),
    ) -> Self {
        Self { state, outside, through, packed, feed }
    }
}

impl ShellEnv for Here<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        match self.state.variable(name) {
            Some(Value::Scalar(datum)) => datum.text().map(str::to_owned),
            Some(_) => None,
            None if name == "PWD" => self.state.directories().now.absolute(self.outside),
            None if name == "OLDPWD" => self.state.directories().previous.absolute(self.outside),
            None => self.outside.variable(name),
        }
    }

    fn packed(&self) -> Vec<String> {
        self.packed.to_vec()
    }

    fn feed(&self) -> (Vec<Arg>, Coding) {
        self.feed.map(|feed| (feed.files.clone(), feed.coding)).unwrap_or_default()
    }

    fn is_set_here(&self, name: &str) -> bool {
        self.state.is_set_here(name)
    }

    fn runs_through(&self, programs: &[&str]) -> bool {
        self.through.iter().any(|outer| programs.contains(&outer.as_str()))
    }

    fn home_of(&self, user: &str) -> Option<String> {
        self.outside.home_of(user)
    }

    fn git_alias(&self, name: &str) -> Option<String> {
        self.state.git_alias(name).map(str::to_owned).or_else(|| self.outside.git_alias(name))
    }

    fn script(&self, path: &str) -> Option<String> {
        let now = &self.state.directories().now;
        match self.state.file(&crate::paths::key(now, path)) {
            Some(content) => content.text.as_deref().map(str::to_owned),
            None => self.outside.script(&crate::paths::from_start(now, path)?),
        }
    }

    fn holds_secret(&self, variable: &str) -> bool {
        self.state.is_secret(variable)
    }

    fn is_given_secret(&self, variable: &str) -> bool {
        self.state.variable(variable).is_some_and(|value| value.taint().secret)
    }

    fn wrote_anything(&self) -> bool {
        !self.state.wrote_nothing()
    }

    fn written(&self, path: &str) -> Option<String> {
        // Most lines write few files, none of which is asked for.
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.state.wrote_few() && !self.state.files().any(|(key, _)| key.ends_with(name)) {
            return None;
        }
        let key = crate::paths::key(&self.state.directories().now, path);
        self.state.file(&key)?.text.as_deref().map(str::to_owned)
    }

    fn written_like(&self, ending: &str) -> Vec<String> {
        let files = self.state.files().filter(|(path, _)| path.ends_with(ending));
        files.filter_map(|(_, content)| content.text.as_deref().map(str::to_owned)).take(16).collect()
    }

    fn is_guard(&self, path: &str) -> bool {
        self.outside.is_guard(path)
    }

    fn described(&self, name: &str) -> Option<&crate::describe::Program> {
        self.outside.described(name)
    }

    fn project_root(&self) -> Option<String> {
        self.outside.project_root()
    }
}
