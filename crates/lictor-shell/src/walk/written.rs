//! Files that the line wrote and then runs under another name: by a glob, on another machine, or through the
//! search path.

use std::rc::Rc;

use super::Walker;
use super::simple::Context;
use crate::expand::pattern::Pattern;
use crate::operand::{Arg, Known};

/// The maximum number of files that one word may denote.
const MOST: usize = 8;

impl Walker<'_> {
    /// Texts of written files that an operand may denote: by the last part of its name, if no more is known.
    pub(super) fn texts_meant_by(&self, path: &Arg) -> Vec<(String, Rc<str>)> {
        let name_of = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let fits = |key: &str| {
            let name = name_of(key);
            match &path.value {
                Known::Text(text) => {
                    let wanted = name_of(text);
                    wanted == name
                        || path.glob && Pattern::new(&wanted).is_none_or(|pattern| pattern.fits(&name))
                }
                Known::Partly { suffix, .. } => suffix.is_empty() || name.ends_with(name_of(suffix).as_str()),
                Known::Nothing => true,
            }
        };
        let files = self.state.files().filter(|(key, _)| !key.starts_with("/dev/") && fits(key));
        files.filter_map(|(key, content)| Some((key.clone(), content.text.clone()?))).take(MOST).collect()
    }

    /// Runs the files that an operand may denote, for clear danger only.
    pub(super) fn run_meant(&mut self, path: &Arg, language: Option<&'static str>, context: &Context<'_>) {
        for (key, text) in self.texts_meant_by(path) {
            self.run_known(&key, &text, language, context);
        }
    }

    /// A file of the same name as a program, in a directory that the line put into `PATH`.
    pub(super) fn shadowed(&mut self, program: &str, path_is_set: bool, context: &Context<'_>) {
        if self.state.wrote_nothing() || !(path_is_set || self.state.variable("PATH").is_some()) {
            return;
        }
        // Programs that are looked up by name from here on are not the guard.
        let is_guard = |path: &str| path.rsplit('/').next() == Some(crate::programs::GUARD);
        if self.state.files().any(|(path, _)| is_guard(path)) {
            let what = lictor_core::facts::GuardOff::LictorBinary;
            self.effect(crate::Effect::GuardOff { what, text: format!("PATH … {program}") });
        }
        let named = Arg::literal(format!("/{program}"));
        self.run_meant(&named, None, context);
    }
}
