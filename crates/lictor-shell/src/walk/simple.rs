//! Simple commands: from words to what the program does.

use std::rc::Rc;

use lictor_core::facts::{Access, Command, Effect, Opaque, OpaqueWhat};

use super::{Output, Plumbing, Scene, Walker};
use crate::ast::{Assigned, Assignment, Node, Simple, Word};
use crate::builtins::Outcome;
use crate::call::{Call, Report, Stdin};
use crate::expand::fields::Expanded;
use crate::operand::{Arg, Cwd, Known, Taint};
use crate::programs;
use crate::reading::Surroundings;
use crate::state::{Content, Datum, Positional, State, Value};

/// A simple command after expansion.
pub(crate) struct Argv {
    pub words: Vec<Expanded>,
    pub assignments: Vec<(String, Arg)>,
    pub plumbing: Plumbing,
    pub scene: Scene,
    /// Run by the shell itself, so that functions and builtins of the shell apply.
    pub by_shell: bool,
    /// `eval` or `source` of something known to be harmless.
    pub harmless: bool,
}

/// The surroundings plus what the line itself changed in them.
pub(super) struct Here<'a> {
    state: &'a State,
    outside: &'a dyn Surroundings,
}

impl<'a> Here<'a> {
    pub(super) fn new(state: &'a State, outside: &'a dyn Surroundings) -> Self {
        Self { state, outside }
    }
}

impl Surroundings for Here<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        match self.state.variable(name) {
            Some(Value::Scalar(datum)) => datum.text().map(str::to_owned),
            Some(_) => None,
            None => self.outside.variable(name),
        }
    }

    fn home_of(&self, user: &str) -> Option<String> {
        self.outside.home_of(user)
    }

    fn git_alias(&self, name: &str) -> Option<String> {
        self.state.git_alias(name).map(str::to_owned).or_else(|| self.outside.git_alias(name))
    }

    fn script(&self, path: &str) -> Option<String> {
        let key = crate::paths::key(&self.state.directories().now, path);
        match self.state.file(&key) {
            Some(content) => content.text.as_deref().map(str::to_owned),
            None => self.outside.script(path),
        }
    }
}

impl Walker<'_> {
    pub(super) fn simple(&mut self, simple: &Simple, scene: Scene) -> Output {
        // Only in a bare assignment does the status of a substitution become that of the command.
        self.scene.attributable = scene.attributable && simple.words.is_empty();
        let words = self.words(&simple.words);
        let plumbing = self.plumb(&simple.redirects);
        if words.is_empty() {
            for assignment in &simple.assignments {
                self.assign(assignment, true);
            }
            self.scene = scene;
            return self.report_plumbing(plumbing, None, None);
        }
        // `declare a=(…)` is kept among the assignments and stays in force.
        let declares = simple.words.first().and_then(Word::bare).is_some_and(crate::builtins::is_declaration);
        let assignments: Vec<(String, Arg)> =
            simple.assignments.iter().filter_map(|assignment| self.assign(assignment, declares)).collect();
        self.scene = scene;
        if let Some(output) = self.alias(simple, &words, scene) {
            return output;
        }
        let harmless = crate::harmless::is_harmless(&simple.words);
        self.argv(Argv { words, assignments, plumbing, scene, by_shell: true, harmless })
    }

    /// Works out an assignment; `keep` when it stays in force behind the command.
    fn assign(&mut self, assignment: &Assignment, keep: bool) -> Option<(String, Arg)> {
        let name = &assignment.name;
        match &assignment.value {
            Assigned::Scalar(word) => {
                let mut datum = self.value(word);
                if assignment.append {
                    datum = self.appended(name, datum);
                }
                let arg = Arg {
                    value: datum.value.clone(),
                    text: word.written().to_owned(),
                    glob: datum.glob,
                    splits: false,
                    taint: datum.taint,
                };
                if keep {
                    let value = if assignment.element {
                        self.with_element(name, datum)
                    } else {
                        Value::Scalar(datum)
                    };
                    self.state.set(name, value);
                }
                Some((name.clone(), arg))
            }
            Assigned::Array { words, keyed } => {
                let expanded = self.words(words);
                let known = !keyed && expanded.iter().all(|word| !word.arg.splits);
                let mut list: Vec<Datum> = expanded
                    .into_iter()
                    .map(|word| Datum { template: word.template, ..Datum::of(&word.arg) })
                    .collect();
                let value = if known {
                    if assignment.append
                        && let Some(Value::List(before)) = self.state.variable(name)
                    {
                        list = before.iter().cloned().chain(list).collect();
                    }
                    Value::List(Rc::new(list))
                } else {
                    let taint = list.iter().fold(Taint::default(), |taint, datum| taint.and(datum.taint));
                    Value::unknown(taint)
                };
                self.state.set(name, value);
                None
            }
        }
    }

    /// `NAME+=value`.
    fn appended(&mut self, name: &str, datum: Datum) -> Datum {
        match self.state.variable(name).cloned() {
            Some(Value::Scalar(before)) => match (before.text(), datum.text()) {
                (Some(first), Some(second)) if first.len() + second.len() <= 64 * 1024 => {
                    let text = format!("{first}{second}");
                    self.spend(text.len() as u64 / 8);
                    Datum { taint: before.taint.and(datum.taint), ..Datum::known(text) }
                }
                _ => Datum::unknown(before.taint.and(datum.taint)),
            },
            Some(Value::Unset) => datum,
            _ => Datum::unknown(datum.taint),
        }
    }

    /// `NAME[i]=value`: the array as a whole is then not known.
    fn with_element(&mut self, name: &str, datum: Datum) -> Value {
        let before = self.state.variable(name).map_or(Taint::default(), Value::taint);
        Value::unknown(before.and(datum.taint))
    }

    /// Walks what an alias of the line stands for. Whether the shell expands it depends on its mode, so the word
    /// is then also walked as it stands.
    fn alias(&mut self, simple: &Simple, words: &[Expanded], scene: Scene) -> Option<Output> {
        let name = simple.words.first().and_then(Word::bare)?;
        let text = Rc::clone(self.state.alias(name)?);
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

    /// Runs an argument vector.
    pub(crate) fn argv(&mut self, mut argv: Argv) -> Output {
        if !self.spend(60) {
            self.over_limit("more commands than can be followed");
            return Output::unknown();
        }
        let Some(first) = argv.words.first() else {
            return self.report_plumbing(argv.plumbing, None, None);
        };
        let Some(program) = program_name(&first.arg) else {
            let written = first.arg.text.clone();
            self.opaque(OpaqueWhat::Program, &written);
            self.flow_into_shell(first.arg.taint, &written);
            return self.report_plumbing(argv.plumbing, None, Some(Output::unknown()));
        };
        if argv.by_shell && !first.arg.known().unwrap_or_default().contains('/') {
            if let Some(output) = self.call_function(&program, &mut argv) {
                return output;
            }
            match self.builtin(&program, argv) {
                Outcome::Done(output) => return output,
                Outcome::Program(same) => argv = same,
            }
        }
        self.program(&program, argv)
    }

    /// Calls a function of the line. Goes on to the program when the definition may not have happened.
    fn call_function(&mut self, name: &str, argv: &mut Argv) -> Option<Output> {
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

    /// Runs a program, as far as the tables know it.
    pub(crate) fn program(&mut self, program: &str, argv: Argv) -> Output {
        let Argv { words, assignments, plumbing, scene, by_shell, .. } = argv;
        let mut words = words.into_iter();
        let Some(first) = words.next() else { return Output::unknown() };
        let (args, templates): (Vec<Arg>, Vec<Option<Rc<str>>>) =
            words.map(|word| (word.arg, word.template)).unzip();
        let stdin = plumbing.stdin.clone().unwrap_or_else(|| Rc::clone(&self.stdin));
        let cwd = self.state.directories().now.clone();
        let mut report = Report::default();
        let path = first.arg.known().unwrap_or(program);
        let here = Here::new(&self.state, self.outside());
        let call = Call {
            program,
            path,
            args: &args,
            cwd: &cwd,
            stdin: &stdin,
            assignments: &assignments,
            surroundings: &here,
        };
        programs::judge(&call, &mut report);
        if scene.capture || plumbing.wants_output() {
            complete_stdout(&call, &templates, &mut report);
        }
        let unwrapped = is_wrapper(program) && !report.next.is_empty();
        let mut by = None;
        if !unwrapped {
            let command = Command {
                program: program.to_owned(),
                args: args.iter().map(|arg| arg.known().map(str::to_owned)).collect(),
                through: self.through.clone(),
                attributable: scene.attributable,
                certain: scene.certain,
                words: programs::words(&call),
            };
            by = Some(self.run(command));
        }
        if let (false, Some(alias)) = (self.elsewhere > 0, crate::gitalias::configured(program, &args)) {
            self.state.set_git_alias(&alias.0, &alias.1);
        }
        let context = Context {
            program,
            args: &args,
            templates: &templates,
            stdin: &stdin,
            cwd: &cwd,
            by,
            scene,
            by_shell,
        };
        let output = self.follow_report(report, &context, &assignments, &plumbing);
        self.report_plumbing(plumbing, by, Some(output))
    }

    /// Takes over what a table entry said: effects, opaque parts, flows, files written, and what is run in turn.
    pub(crate) fn follow_report(
        &mut self,
        report: Report,
        context: &Context<'_>,
        assignments: &[(String, Arg)],
        plumbing: &Plumbing,
    ) -> Output {
        let Report { effects, opaque, next, stdout, names, taint, cwd: moved, .. } = report;
        let argument_taint = context.args.iter().fold(Taint::default(), |taint, arg| taint.and(arg.taint));
        let stdin_taint = match context.stdin {
            Stdin::Unknown(taint) => *taint,
            _ => Taint::default(),
        };
        let printed = match (stdout, names.is_empty()) {
            (Some(text), _) if !context.args.iter().any(|arg| arg.glob) => Output::Text(text),
            (_, false) => Output::Names(names),
            _ => Output::Unknown(taint.and(argument_taint).and(stdin_taint)),
        };
        let files = self.flows(&effects, context, stdin_taint, printed.taint(), plumbing);
        for mut effect in effects {
            if let Effect::File { by, .. } = &mut effect {
                *by = by.or(context.by);
            }
            self.effect(effect);
        }
        for Opaque { what, text } in opaque {
            self.opaque(what, &text);
        }
        self.remember_written(context, files, &printed);
        if let Some(cwd) = moved
            && context.by_shell
        {
            self.move_to(cwd);
        }
        if next.is_empty() {
            return printed;
        }
        let mark = self.state.mark();
        for (name, arg) in assignments {
            self.state.set(name, Value::Scalar(Datum::of(arg)));
        }
        let mut inner = Output::silent();
        for next in next {
            let out = self.next(next, context, stdin_taint);
            inner = inner.then(out);
        }
        self.state.leave(mark);
        match printed {
            Output::Unknown(_) if is_wrapper(context.program) => inner,
            Output::Unknown(taint) => Output::Unknown(taint.and(inner.taint())),
            printed => printed,
        }
    }

    /// Remembers what programs that copy their input or a file leave behind.
    fn remember_written(&mut self, context: &Context<'_>, written: Vec<(String, Taint)>, printed: &Output) {
        for (key, taint) in written {
            let content = match context.program {
                "tee" | "sponge" => match context.stdin {
                    Stdin::Text(text) => {
                        Content { text: Some(text.as_str().into()), taint: Taint::default() }
                    }
                    Stdin::Unknown(taint) => Content { text: None, taint: *taint },
                    _ => Content::default(),
                },
                "cp" | "mv" | "install" | "ln" => {
                    let source = context.args.iter().filter_map(Arg::known).find(|arg| !arg.starts_with('-'));
                    match source.and_then(|path| self.written_content(path)) {
                        Some(content) => content,
                        None => continue,
                    }
                }
                _ => Content { text: None, taint: taint.and(printed.taint()) },
            };
            self.state.set_file(key, content);
        }
    }

    fn move_to(&mut self, cwd: Cwd) {
        let mut directories = self.state.directories().clone();
        directories.previous = std::mem::replace(&mut directories.now, cwd);
        directories.instead = None;
        self.state.set_directories(directories);
    }
}

/// The base name of a program, when it is known: neither a gap nor a live glob.
fn program_name(arg: &Arg) -> Option<String> {
    let name = arg.known()?.rsplit('/').next()?;
    let unsure = name.is_empty() || (arg.glob && crate::expand::fields::has_glob(name));
    (!unsure).then(|| name.to_owned())
}

/// What is being run, for what follows from it.
pub(crate) struct Context<'a> {
    pub program: &'a str,
    pub args: &'a [Arg],
    pub templates: &'a [Option<Rc<str>>],
    pub stdin: &'a Stdin,
    pub cwd: &'a Cwd,
    pub by: Option<u32>,
    pub scene: Scene,
    pub by_shell: bool,
}

/// `$1`, `$2`, … from arguments.
pub(crate) fn positional(words: &[Expanded]) -> Positional {
    if words.iter().any(|word| word.arg.splits) {
        return Positional::Unknown;
    }
    let list = words.iter().map(|word| Datum { template: word.template.clone(), ..Datum::of(&word.arg) });
    Positional::Known(Rc::new(list.collect()))
}

/// Text with gaps that `echo` and `printf` print is worth keeping for what comes behind the pipe.
fn complete_stdout(call: &Call<'_>, templates: &[Option<Rc<str>>], report: &mut Report) {
    if report.stdout.is_some()
        || !matches!(call.program, "echo" | "printf")
        || call.args.iter().any(|arg| arg.glob)
    {
        return;
    }
    let taints = call
        .args
        .iter()
        .any(|arg| arg.taint != Taint::default() || arg.value == Known::Nothing && arg.splits);
    if taints {
        return;
    }
    let args: Vec<Arg> = call
        .args
        .iter()
        .zip(templates)
        .map(|(arg, template)| {
            template.as_ref().map_or_else(|| arg.clone(), |text| Arg::literal(text.as_ref()))
        })
        .collect();
    let mut again = Report::default();
    programs::judge(&Call { args: &args, ..*call }, &mut again);
    report.stdout = again.stdout;
}

/// Programs that only run another one: they do not show up as commands of their own.
pub(crate) fn is_wrapper(program: &str) -> bool {
    matches!(
        program,
        "sudo"
            | "doas"
            | "su"
            | "env"
            | "command"
            | "builtin"
            | "exec"
            | "nice"
            | "ionice"
            | "nohup"
            | "setsid"
            | "time"
            | "timeout"
            | "stdbuf"
            | "xargs"
            | "parallel"
            | "busybox"
            | "toybox"
            | "eval"
            | "bash"
            | "sh"
            | "zsh"
            | "dash"
            | "ksh"
            | "ash"
            | "fish"
            | "unbuffer"
            | "chrt"
            | "taskset"
            | "caffeinate"
            | "arch"
    )
}

/// Access that leaves content behind.
pub(crate) fn leaves_content(access: Access) -> bool {
    matches!(access, Access::Write | Access::Append | Access::Modify | Access::Link)
}
