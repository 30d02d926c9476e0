//! Builtins that run something in the shell itself: `eval`, `source`, `trap`, `exec`, `command`, `builtin`.

use super::{Outcome, joined, written};
use crate::operand::Taint;
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
            self.state.set_positional(crate::state::Positional::Unknown);
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
        let Some((path, rest)) = args.split_first() else { return Output::unknown() };
        let (path, rest) = (path.arg.clone(), rest.to_vec());
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
            self.through("trap", |this| {
                this.evaluate(text.as_deref(), action.arg.taint, &action.arg.text, scene)
            });
            self.state.set_flags(flags);
        }
        self.done("trap", argv, Output::silent())
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
            let found =
                argv.words.get(options).and_then(|word| word.arg.known()).map(|text| format!("{text}\n"));
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
            Outcome::Program(argv) => this.program(&program, *argv),
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
            // Only redirections: they stay in force.
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
