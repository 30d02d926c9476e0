//! Builtins that run code or commands in the shell itself: `eval`, `source`, `trap`, `exec`, `command`,
//! `builtin`.

use lictor_core::facts::Effect;

use super::{Outcome, joined, written};
use crate::operand::{Arg, Known, Taint};
use crate::state::{Datum, Value};
use crate::walk::simple::Argv;
use crate::walk::{Output, Scene, Walker};

impl Walker<'_> {
    pub(super) fn eval(&mut self, mut argv: Argv) -> Output {
        if argv.words.get(1).and_then(|word| word.arg.known()) == Some("--") {
            argv.words.remove(1);
        }
        let args = argv.words.get(1..).unwrap_or_default();
        if args.is_empty() {
            return self.report_plumbing(argv.plumbing, None, None);
        }
        let taint = args.iter().fold(Taint::default(), |taint, word| taint.and(word.arg.taint));
        let text = joined(args);
        if argv.harmless && text.is_none() {
            let output = Output::unknown();
            return self.done("eval", argv, output);
        }
        if argv.harmless {
            // `eval set -- …`.
            self.state.set_positional(crate::state::Positional::Unknown(taint));
            return self.done("eval", argv, Output::silent());
        }
        let as_written = written(args);
        let scene = Scene { capture: argv.scene.capture || argv.plumbing.wants_output(), ..argv.scene };
        let stdin = argv.plumbing.stdin.clone();
        let output = self.through("eval", |this| {
            this.with_stdin(stdin, |this| this.evaluate(text.as_deref(), taint, &as_written, scene))
        });
        self.report_plumbing(argv.plumbing, None, Some(output))
    }

    pub(super) fn source_builtin(&mut self, argv: Argv) -> Output {
        let by = self.ran("source", &argv);
        let args = argv.words.get(1..).unwrap_or_default();
        // fish reads its input then.
        let (path, rest) = match args.split_first() {
            Some((path, rest)) if path.arg.known() != Some("-") => (path.arg.clone(), rest.to_vec()),
            _ => (Arg::literal("/dev/stdin"), Vec::new()),
        };
        let scene = Scene { capture: argv.scene.capture || argv.plumbing.wants_output(), ..argv.scene };
        let stdin = argv.plumbing.stdin.clone();
        let harmless = argv.harmless;
        let output = self.with_stdin(stdin, |this| this.source(&path, rest, scene, harmless));
        self.report_plumbing(argv.plumbing, Some(by), Some(output))
    }

    pub(super) fn trap(&mut self, argv: Argv) -> Output {
        let args = argv.words.get(1..).unwrap_or_default();
        let args = match args.split_first() {
            Some((first, rest)) if first.arg.known() == Some("--") => rest,
            _ => args,
        };
        if let Some((action, signals)) = args.split_first()
            && !signals.is_empty()
            && !matches!(action.arg.known(), Some("" | "-" | "-p" | "-l"))
        {
            let scene = Scene { certain: false, attributable: false, capture: false };
            let text = joined(std::slice::from_ref(action));
            // A trap that ends the shell decides its status.
            let ends = signals.iter().any(|word| {
                word.arg.known().is_none_or(|signal| {
                    matches!(signal.to_ascii_uppercase().as_str(), "EXIT" | "0" | "ERR" | "SIGEXIT")
                })
            });
            let exits = text.as_deref().is_none_or(|text| text.contains("exit"));
            self.status_changed |= ends && exits;
            let flags = self.state.flags();
            let action = action.clone();
            let mark = self.state.mark();
            let names = text.as_deref().map(variables).unwrap_or_default();
            for name in names.iter().filter(|name| is_scratch(name)) {
                if self.state.variable(name).is_none() && self.outside().variable(name).is_none() {
                    self.state.set(name, Value::Scalar(Datum::known("/tmp/scratch")));
                }
            }
            let from = self.reading.effects.len();
            self.through("trap", |this| {
                this.evaluate(text.as_deref(), action.arg.taint, &action.arg.text, scene)
            });
            // Effects of nested commands may be removed again; only the line's own effects stay.
            let effects = if self.wrappers().is_empty() { from..self.reading.effects.len() } else { 0..0 };
            self.state.leave(mark);
            self.state.set_flags(flags);
            if let Some(text) = text {
                let before = names.into_iter().map(|name| {
                    let value = self.state.variable(&name).cloned();
                    (name, value)
                });
                let trap = Trap { before: before.collect(), text, effects };
                self.traps.push(trap);
            }
        }
        self.done("trap", argv, Output::silent())
    }

    /// A trap runs with the final values of its variables. Values that were unknown when it was set are judged by
    /// the final ones.
    pub(crate) fn late_traps(&mut self) {
        let scene = Scene { certain: false, attributable: false, capture: false };
        let traps = std::mem::take(&mut self.traps);
        for Trap { before, effects, .. } in traps.iter().rev() {
            let settled = |(name, then): &(String, Option<Value>)| {
                let now = self.state.variable(name);
                matches!(now, Some(Value::Scalar(datum)) if datum.text().is_some()) && then.is_none()
            };
            if !before.is_empty() && before.iter().all(settled) {
                let mut at = 0;
                self.reading.effects.retain(|effect| {
                    let early = effects.contains(&at);
                    at += 1;
                    !(early
                        && matches!(effect, Effect::File { target, .. } if target.arg.value == Known::Nothing))
                });
            }
        }
        for Trap { text, before, .. } in traps {
            let changed = before.iter().any(|(name, value)| {
                let now = self.state.variable(name);
                now != value.as_ref() && matches!(now, Some(Value::Scalar(datum)) if datum.text().is_some())
            });
            if changed {
                self.through("trap", |this| this.text(&text, scene));
            }
        }
    }

    /// `command x`, `builtin x`: the same shell, without functions.
    pub(super) fn same_shell(&mut self, mut argv: Argv) -> Outcome {
        let name = if argv.words.first().and_then(|word| word.arg.known()) == Some("builtin") {
            "builtin"
        } else {
            "command"
        };
        let mut options = 1;
        let mut asks = false;
        while let Some(option) = argv.words.get(options).and_then(|word| word.arg.known())
            && option.starts_with('-')
        {
            options += 1;
            asks |= option.contains(['v', 'V']);
            if option == "--" {
                break;
            }
        }
        if argv.words.len() <= options {
            return Outcome::Done(self.done(name, argv, Output::unknown()));
        }
        if asks {
            let found = argv.words.get(options).and_then(|word| word.arg.known()).map(|text| {
                match text.contains('/') {
                    true => format!("{text}\n"),
                    false => format!("/usr/bin/{text}\n"),
                }
            });
            let output = found.map_or_else(Output::unknown, Output::Text);
            return Outcome::Done(self.done(name, argv, output));
        }
        argv.words.drain(..options);
        let program = argv
            .words
            .first()
            .and_then(|word| word.arg.known())
            .map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
        let Some(program) = program.filter(|program| !program.is_empty()) else {
            argv.by_shell = false;
            return Outcome::Done(self.argv(argv));
        };
        Outcome::Done(self.through(name, |this| match this.builtin(&program, argv) {
            Outcome::Done(output) => output,
            Outcome::Program(argv) => this.program(&program, argv),
        }))
    }

    pub(super) fn exec(&mut self, mut argv: Argv) -> Output {
        let mut options = 1;
        while let Some(option) = argv.words.get(options).and_then(|word| word.arg.known())
            && option.starts_with('-')
        {
            options += if option == "-a" { 2 } else { 1 };
        }
        if argv.words.len() <= options {
            // Only redirections: they stay active.
            return self.report_plumbing(argv.plumbing, None, Some(Output::unknown()));
        }
        argv.words.drain(..options);
        argv.by_shell = false;
        let certain = argv.scene.certain;
        let output = self.through("exec", |this| this.argv(argv));
        let mut flags = self.state.flags();
        flags.ended |= certain;
        flags.may_have_ended = true;
        self.state.set_flags(flags);
        output
    }
}

/// A trap that the line set, and what its variables were then.
pub(crate) struct Trap {
    text: String,
    before: Vec<(String, Option<Value>)>,
    /// Its effects with these values, as a range of the line's effects.
    effects: std::ops::Range<usize>,
}

/// The variables that a text uses.
fn variables(text: &str) -> Vec<String> {
    let names = text.split('$').skip(1).map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        rest.get(..end.unwrap_or(rest.len())).unwrap_or_default().to_owned()
    });
    names.filter(|name| !name.is_empty()).take(16).collect()
}

/// Named like the scratch files that a trap removes (`rm -f "$tmp"`). If the line does not set it, its name is
/// all that is known.
fn is_scratch(name: &str) -> bool {
    let lower = name.trim_start_matches('_').to_ascii_lowercase();
    lower.starts_with("tmp") || lower.starts_with("temp")
}
