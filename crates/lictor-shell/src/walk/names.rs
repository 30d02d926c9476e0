//! Names that the line defines: aliases and functions.

use super::simple::{Argv, positional};
use super::{Output, Scene, Walker};
use crate::ast::{Node, Simple, Word};
use crate::expand::fields::Expanded;
use crate::state::{Datum, Value};

impl Walker<'_> {
    /// The text of an alias, with aliases at its start expanded in turn.
    fn alias_text(&self, name: &str) -> Option<String> {
        let mut text = self.state.alias(name)?.to_string();
        let mut seen = vec![name.to_owned()];
        while seen.len() < 8 {
            let head = text.split_whitespace().next().unwrap_or_default().to_owned();
            let Some(inner) = self.state.alias(&head).filter(|_| !seen.contains(&head)) else { break };
            text = text.trim_start().replacen(&head, inner, 1);
            seen.push(head);
        }
        Some(text)
    }

    /// Walks the body of an alias of the line. Whether the shell expands it depends on its mode, so the word is
    /// also walked unexpanded.
    pub(super) fn alias(&mut self, simple: &Simple, words: &[Expanded], scene: Scene) -> Option<Output> {
        let name = simple.words.first().and_then(Word::bare)?;
        let text = self.alias_text(name)?;
        if self.calls.iter().any(|call| call == name) {
            return None;
        }
        let scene = Scene { certain: false, attributable: false, ..scene };
        self.calls.push(name.to_owned());
        let parsed = crate::parser::parse(&text, 1);
        let mut items = parsed.script.items.iter();
        let single = match (items.next(), items.next()) {
            (Some(item), None) if item.rest.is_empty() => match item.first.stages.as_slice() {
                [Node::Simple(inner)] => Some(inner),
                _ => None,
            },
            _ => None,
        };
        match single {
            Some(inner) => {
                let mut all = self.words(&inner.words);
                all.extend(words.iter().skip(1).cloned());
                let plumbing = self.plumb(&inner.redirects);
                self.argv(Argv {
                    words: all,
                    assignments: Vec::new(),
                    plumbing,
                    scene,
                    by_shell: true,
                    harmless: false,
                });
            }
            None => {
                self.text(&text, scene);
            }
        }
        let plumbing = self.plumb(&simple.redirects);
        let words = words.to_vec();
        let output = self.argv(Argv {
            words,
            assignments: Vec::new(),
            plumbing,
            scene,
            by_shell: true,
            harmless: false,
        });
        self.calls.pop();
        Some(output)
    }

    /// Calls a function of the line. Goes on to the program when the definition may not have happened.
    pub(super) fn call_function(&mut self, name: &str, argv: &mut Argv) -> Option<Output> {
        let defined = self.state.function(name)?.clone();
        if self.calls.iter().any(|call| call == name) {
            // Recursion adds nothing that one round has not shown.
            return Some(Output::unknown());
        }
        if let Some((_, called)) = self.functions.get_mut(defined.index) {
            *called = true;
        }
        let plumbing = std::mem::take(&mut argv.plumbing);
        let scene = Scene {
            certain: argv.scene.certain && defined.certain,
            attributable: argv.scene.attributable && defined.certain,
            capture: argv.scene.capture || plumbing.wants_output(),
        };
        let outer = self.state.positional().clone();
        let flags = self.state.flags();
        self.state.set_positional(positional(argv.words.get(1..).unwrap_or_default()));
        self.calls.push(name.to_owned());
        self.locals.push(Vec::new());
        for (name, arg) in &argv.assignments {
            self.state.set(name, Value::Scalar(Datum::of(arg)));
        }
        let output = self.with_stdin(plumbing.stdin.clone(), |this| {
            this.deeper(|this| this.node(&defined.function.body, scene))
        });
        for (name, value) in self.locals.pop().unwrap_or_default() {
            self.state.set(&name, value.unwrap_or(Value::Unset));
        }
        self.calls.pop();
        self.state.set_positional(outer);
        // `return` ends the function only.
        self.state.set_flags(flags);
        let output = self.report_plumbing(plumbing, None, Some(output));
        if defined.certain {
            return Some(output);
        }
        argv.scene.certain = false;
        argv.scene.attributable = false;
        None
    }
}
