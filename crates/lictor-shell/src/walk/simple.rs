//! Simple commands: from words to the program's effects.

use std::rc::Rc;

use lictor_core::facts::{Access, Command, Effect, Opaque, OpaqueWhat};

use super::carried::Taken;
use super::here::Here;
use super::outer::{is_wrapper, opens_no_shells};
use super::printed::{complete_stdout, printed};
use super::shape::{assigns_or_option, exports_what_is_printed, names_no_program};
use super::{Output, Plumbing, Scene, Walker};
use crate::ast::{Simple, Word};
use crate::builtins::Outcome;
use crate::call::{Call, Next, Report, Stdin};
use crate::expand::fields::Expanded;
use crate::operand::{Arg, Cwd, Known, Taint};
use crate::programs;
use crate::reading::ShellEnv;
use crate::state::{Datum, Positional, Value};

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

impl Walker<'_> {
    pub(super) fn simple(&mut self, simple: &Simple, scene: Scene) -> Output {
        // Only in a bare assignment does the status of a substitution become that of the command.
        self.scene.attributable = scene.attributable && simple.words.is_empty();
        let from = self.reading.effects.len();
        let mut words = match simple.words.split_first() {
            Some((first, rest)) => match self.of_recipe(first) {
                Some(program) => {
                    let mut words = vec![Expanded { arg: Arg::literal(program), template: None }];
                    words.extend(self.words(rest));
                    words
                }
                None => self.words(&simple.words),
            },
            None => Vec::new(),
        };
        if exports_what_is_printed(&simple.words) {
            // `export $(grep -v '^#' .env | xargs)` does with the file what `source .env` does.
            let mut loads = false;
            for effect in self.reading.effects.iter_mut().skip(from) {
                if let Effect::File { access, target, .. } = effect
                    && *access == Access::Read
                    && target.arg.known().is_some_and(programs::is_environment_path)
                {
                    *access = Access::Execute;
                    loads = true;
                }
            }
            if loads {
                self.state.load();
            }
            if loads && words.first().is_some_and(|word| word.arg.known() == Some("env")) {
                // The variables precede the program.
                words.remove(1);
            }
        }
        if simple.words.first().is_some_and(names_no_program) {
            self.opaque(OpaqueWhat::Program, simple.words.first().map(Word::written).unwrap_or_default());
        }
        let first = simple.words.first().and_then(Word::bare);
        let declares = first.is_some_and(crate::builtins::is_declaration)
            && simple.words.iter().skip(1).all(assigns_or_option);
        // A test shows nothing of what it compares.
        if declares || matches!(simple.words.first().map(Word::written), Some("[" | "test")) {
            self.put_into_variable(from);
        }
        let plumbing = self.plumb(&simple.redirects);
        let from = self.reading.effects.len();
        if words.is_empty() {
            for assignment in &simple.assignments {
                if let Some((name, arg)) = self.assign(assignment, true) {
                    self.assigned(&name, &arg);
                }
            }
            self.put_into_variable(from);
            self.scene = scene;
            return self.report_plumbing(plumbing, None, None);
        }
        // `declare a=(…)` is kept among the assignments and stays set.
        let declares = simple.words.first().and_then(Word::bare).is_some_and(crate::builtins::is_declaration);
        let assignments: Vec<(String, Arg)> =
            simple.assignments.iter().filter_map(|assignment| self.assign(assignment, declares)).collect();
        self.put_into_variable(from);
        self.scene = scene;
        if let Some(output) = self.alias(simple, &words, scene) {
            return output;
        }
        let harmless =
            crate::harmless::is_harmless(&simple.words, &|name| self.state.function(name).is_some());
        self.argv(Argv { words, assignments, plumbing, scene, by_shell: true, harmless })
    }

    /// Runs each of the programs that the first word may denote.
    fn run_either(&mut self, mut argv: Argv, programs: &[String]) -> Output {
        let rest: Vec<Expanded> = argv.words.drain(1..).collect();
        let words = |program: &str| -> Vec<Expanded> {
            let own =
                program.split_whitespace().map(|word| Expanded { arg: Arg::literal(word), template: None });
            own.chain(rest.iter().cloned()).collect()
        };
        let Some((last, others)) = programs.split_last() else { return Output::unknown() };
        for program in others {
            self.argv(Argv {
                words: words(program),
                assignments: argv.assignments.clone(),
                plumbing: Plumbing::default(),
                ..argv
            });
        }
        argv.words = words(last);
        self.argv(argv)
    }

    /// Runs an argument vector.
    pub(crate) fn argv(&mut self, mut argv: Argv) -> Output {
        if !self.spend(60) {
            self.over_limit("more commands than can be followed");
            return Output::unknown();
        }
        let path = argv.words.first().and_then(|first| first.arg.known());
        let linked = path.filter(|path| self.links && path.contains('/')).and_then(|path| {
            let key = crate::paths::key(&self.state.directories().now, path);
            self.state.file(&key)?.link.clone()
        });
        if let (Some(target), Some(word)) = (linked, argv.words.first_mut()) {
            // The target of the line's link runs.
            word.arg = Arg::literal(&target);
        }
        let Some(first) = argv.words.first() else {
            return self.report_plumbing(argv.plumbing, None, None);
        };
        if first.arg.known().is_some_and(|path| path.is_empty() || path.ends_with('/')) {
            // There is no such program: the shell reports an error and does nothing.
            return self.report_plumbing(argv.plumbing, None, None);
        }
        let mut program = program_name(&first.arg).map(str::to_owned);
        if program.is_none() {
            let next = argv.words.get(1).map(|word| &word.arg);
            let front = self.stands_in_front(&first.arg, next).then_some("env");
            let conventional = self.conventional(&first.arg).or(front);
            if let (Some(name), Some(word)) = (conventional, argv.words.first_mut()) {
                word.arg = Arg::literal(name);
                program = program_name(&word.arg).map(str::to_owned);
            }
        }
        let Some(first) = argv.words.first() else { return Output::unknown() };
        let Some(program) = program else {
            if let Some(programs) = self.either_program(&first.arg) {
                return self.run_either(argv, &programs);
            }
            let written = first.arg.text.clone();
            if argv.words.len() == 1 && self.is_switch(&first.arg) && first.arg.taint == Taint::default() {
                return self.report_plumbing(argv.plumbing, None, Some(Output::silent()));
            }
            if !self.may_be_no_command() && !Self::is_filled_in_before(&first.arg) {
                self.opaque(OpaqueWhat::Program, &written);
            }
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

    /// Runs a program, as far as the tables know it.
    pub(crate) fn program(&mut self, program: &str, argv: Argv) -> Output {
        let Argv { words, assignments, plumbing, scene, by_shell, .. } = argv;
        let mut words = words.into_iter();
        let Some(first) = words.next() else { return Output::unknown() };
        let (args, templates): (Vec<Arg>, Vec<Option<Rc<str>>>) =
            words.map(|word| (word.arg, word.template)).unzip();
        let (args, templates) = self.with_options(program, &assignments, args, templates);
        let stdin = plumbing.stdin.clone().unwrap_or_else(|| Rc::clone(&self.stdin));
        let cwd = self.state.directories().now.clone();
        let mut report = Report::default();
        let path = first.arg.known().unwrap_or(program);
        let piped = self.piped.clone();
        let here = Here::new(&self.state, self.outside(), &self.through, (&self.packed, self.feed.as_ref()));
        let call = Call {
            program,
            path,
            args: &args,
            cwd: &cwd,
            stdin: &stdin,
            source: plumbing.source.as_ref().or(piped.as_ref()),
            assignments: &assignments,
            env: &here,
        };
        programs::judge(&call, &mut report);
        let mentions = if self.elsewhere == 0 { programs::mentions::in_words(&call) } else { Vec::new() };
        if scene.capture || plumbing.wants_output() {
            complete_stdout(&call, &templates, &mut report);
        }
        if !report.known_program && report.next.is_empty() && path.contains('/') {
            report.next.push(Next::Script { path: first.arg.clone(), language: None });
        }
        if programs::is_shell(program) && report.next.is_empty() {
            self.shell_without_text(&call, plumbing.source.as_ref(), scene, &mut report);
        }
        // The line's output is visible to the agent.
        if programs::copies_to_terminal(&call) {
            programs::reveals(&mut report);
        }
        if !scene.capture
            && !plumbing.takes_output_away()
            && (report.credential && self.elsewhere == 0
                || programs::prints_secret(&call)
                || programs::shows_input(program) && self.reads_written_secret(&report.effects))
        {
            programs::reveals(&mut report);
        }
        if self.state.has_loaded() && crate::flows::prints_environment(program, &args) {
            programs::reveals(&mut report);
        }
        let runs_other = |next: &Next| matches!(next, Next::Argv { .. } | Next::Shell { .. });
        let unwrapped = is_wrapper(program) && report.next.iter().any(runs_other);
        let command = (!unwrapped).then(|| command_of(&call, self.wrappers(), scene));
        let by = command.map(|command| self.run(command));
        if let (false, Some(alias)) = (self.elsewhere > 0, crate::gitalias::configured(program, &args)) {
            self.state.set_git_alias(&alias.0, &alias.1);
        }
        self.reading.mentions.extend(mentions);
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
        if !path.contains('/') {
            let path_is_set = assignments.iter().any(|(name, _)| name == "PATH");
            self.shadowed(program, path_is_set, &context);
        }
        let output = self.follow_report(report, &context, &assignments, &plumbing);
        self.report_plumbing(plumbing, by, Some(output))
    }

    /// The arguments of a program with those that a variable puts in front of them.
    fn with_options(
        &self,
        program: &str,
        assignments: &[(String, Arg)],
        mut args: Vec<Arg>,
        mut templates: Vec<Option<Rc<str>>>,
    ) -> (Vec<Arg>, Vec<Option<Rc<str>>>) {
        let named = crate::words::OPTION_VARIABLES.iter().filter_map(|pair| pair.split_once('='));
        for (variable, _) in named.filter(|(_, taker)| *taker == program) {
            let own = assignments.iter().find(|(name, _)| name == variable);
            let set = || match self.state.variable(variable) {
                Some(Value::Scalar(datum)) => datum.text(),
                _ => None,
            };
            let Some(text) = own.map_or_else(set, |(_, value)| value.known()) else { continue };
            let words: Vec<Arg> = text.split_whitespace().map(Arg::literal).collect();
            // `tar xf a`: the letters stay in front.
            let at = usize::from(program.ends_with("tar")).min(args.len());
            templates.splice(at..at, words.iter().map(|_| None));
            args.splice(at..at, words);
        }
        (args, templates)
    }

    /// A shell without code in its arguments.
    fn shell_without_text(&self, call: &Call<'_>, source: Option<&Arg>, scene: Scene, report: &mut Report) {
        // `sh < file` runs the file like `sh file`.
        if let Some(source) = source.filter(|source| source.known().is_some())
            && *call.stdin == Stdin::Unknown(Taint::default())
        {
            report.opaque.retain(|opaque| opaque.what != OpaqueWhat::Code);
            report.next.push(Next::Script { path: source.clone(), language: Some("sh") });
        }
        let checks = |arg: &Arg| matches!(arg.known(), Some("--version" | "--help" | "-n"));
        if *call.stdin != Stdin::Inherited || call.args.iter().any(checks) {
            return;
        }
        let by_root = |outer: &String| matches!(outer.as_str(), "sudo" | "doas" | "pkexec");
        // A shell behind an editor, a pager or an interpreter: its input is not visible.
        if self.through.last().is_some_and(|outer| opens_no_shells(outer))
            || call.args.is_empty() && !scene.capture && self.through.iter().any(by_root)
        {
            report.opaque(OpaqueWhat::Code, call.path);
        }
    }

    /// Applies the report of a table entry: effects, opaque parts, flows, files written, and what is run in turn.
    pub(crate) fn follow_report(
        &mut self,
        report: Report,
        context: &Context<'_>,
        assignments: &[(String, Arg)],
        plumbing: &Plumbing,
    ) -> Output {
        let Report {
            mut effects,
            opaque,
            next,
            stdout,
            mut names,
            mut taint,
            cwd: moved,
            decoded,
            lists,
            packed,
            contents,
            ..
        } = report;
        self.packed.extend(packed);
        for target in lists.iter().flat_map(|list| self.names_in(list)) {
            // Arguments of another program are judged there.
            if next.is_empty() {
                taint.secret = true;
                effects.push(Effect::File { access: Access::Read, target, recursive: false, by: None });
            }
        }
        let argument_taint = context.args.iter().fold(Taint::default(), |taint, arg| taint.and(arg.taint));
        let stdin_taint = match context.stdin {
            Stdin::Unknown(taint) => *taint,
            Stdin::Names(names) => names.iter().fold(Taint::default(), |taint, name| taint.and(name.taint)),
            _ => Taint::default(),
        };
        if self.lists_private(context.program, &effects) {
            taint.private |= names.is_empty();
            names.iter_mut().for_each(|name| name.taint.private = true);
        }
        let environment = next.is_empty() && crate::flows::prints_environment(context.program, context.args);
        let private = taint.private || self.reads_private(&effects) || self.takes_private(context);
        let secret = taint.secret || environment || self.reads_written_secret(&effects);
        let taint = Taint { secret, private, ..taint };
        let all_taint = taint.and(argument_taint).and(stdin_taint);
        let stdout = stdout.or_else(|| self.known_output(context));
        let printed = printed(stdout, names, all_taint, context);
        if let (true, Output::Text(text)) = (decoded, &printed) {
            self.decoded.push(text.trim().to_owned());
        }
        let files = self.flows(&effects, context, stdin_taint, printed.taint(), plumbing);
        let stays_secret = copies_under_such_a_name(context.program, &effects);
        let taken = self.carries(context.program).then(|| Taken::new(&effects, &files));
        if matches!(context.program, "mv" | "gmv" | "cp" | "gcp") {
            self.note_moved(&effects);
        }
        if effects.iter().any(|effect| self.shadows_program(effect, context)) {
            self.persists();
        }
        self.follow_effects(effects, context, assignments, stays_secret);
        if let Some(taken) = taken {
            self.carry(taken, context, plumbing);
        }
        for Opaque { what, text } in opaque {
            self.opaque(what, &text);
        }
        self.remember_written(context, files, &printed);
        self.remember_contents(context, contents);
        self.note_made(context, plumbing.wants_output());
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
        let loads =
            !self.state.has_loaded() && context.args.iter().any(|arg| arg.prefix().starts_with("--env-file"));
        if loads {
            self.state.load();
        }
        let outer = self.in_own_container;
        self.in_own_container |= self.enters_own_container(context);
        let mut inner = Output::silent();
        for next in next {
            let out = self.next(next, context, stdin_taint);
            inner = inner.then(out);
        }
        self.in_own_container = outer;
        if loads {
            self.state.unload();
        }
        self.state.leave(mark);
        match printed {
            Output::Unknown(_) if is_wrapper(context.program) => inner,
            Output::Unknown(taint) => Output::Unknown(taint.and(inner.taint())),
            printed => printed,
        }
    }

    fn follow_effects(
        &mut self,
        effects: Vec<Effect<crate::operand::Operand>>,
        context: &Context<'_>,
        assignments: &[(String, Arg)],
        stays_secret: bool,
    ) {
        for mut effect in effects {
            if self.is_own_scratch(&effect, context) || self.is_throwaway(&effect, context, assignments) {
                continue;
            }
            if let Effect::File { access: access @ Access::Read, target, .. } = &mut effect
                && programs::is_secret(&target.arg)
                && (stays_secret || self.is_own_text(target))
            {
                // A copy is no more open than before, but a red line forbids it: it is used, not only looked at.
                *access = if stays_secret { Access::Execute } else { Access::List };
            }
            if let Effect::File { by, target, access, .. } = &mut effect {
                *by = by.or(context.by);
                super::next::open_gap(&mut target.arg);
                if *access == Access::Read {
                    self.reads.push(self.reading.effects.len());
                }
                let added = match (context.program, context.stdin) {
                    ("tee", Stdin::Text(text)) => Some(text.as_str()),
                    ("touch", _) => Some(""),
                    _ => None,
                };
                self.adds_to_startup(target, *access, added, *by);
            }
            self.effect(effect);
        }
    }

    fn move_to(&mut self, cwd: Cwd) {
        let mut directories = self.state.directories().clone();
        directories.previous = std::mem::replace(&mut directories.now, cwd);
        directories.instead = None;
        self.state.set_directories(directories);
    }
}

/// A copy of a secret under a secret's name: it is not more exposed than before.
fn copies_under_such_a_name(program: &str, effects: &[Effect<crate::operand::Operand>]) -> bool {
    matches!(program, "cp" | "gcp" | "install")
        && effects.iter().any(|effect| match effect {
            Effect::File { access: Access::Write, target, .. } => {
                programs::is_secret(&target.arg) && !target.arg.prefix().starts_with(['/', '~'])
            }
            _ => false,
        })
}

/// The base name of a program, when it is known: neither a gap nor a live glob.
fn program_name(arg: &Arg) -> Option<&str> {
    let path = match &arg.value {
        Known::Text(path) => &**path,
        // `tool@$VERSION`: which version is not known, but it is that tool.
        Known::Partly { prefix, .. } if prefix.get(1..).is_some_and(|rest| rest.contains('@')) => {
            prefix.rsplit_once('@').map_or(prefix.as_str(), |(tool, _)| tool)
        }
        // `./build/app-$VERSION`, `python3.$MINOR`: which version is not known, but it is that program.
        Known::Partly { prefix, .. } if programs::names_program(prefix) => {
            prefix.trim_end_matches(['-', '.', '/'])
        }
        // `"$DIR"/tool`: which one is not known, but it is called that.
        Known::Partly { suffix, .. } if suffix.contains('/') => suffix,
        _ => return None,
    };
    // zsh: `=rm` is the path of `rm`. Other shells have no such program.
    let named = path.strip_prefix('=').filter(|name| name.starts_with(|c: char| c.is_ascii_alphanumeric()));
    let path = named.unwrap_or(path);
    let name = path.rsplit('/').next()?;
    // Below the current directory it is a file of the project, whichever it is (`target/debug/deps/app-*`).
    let inner = path.strip_prefix("./").unwrap_or(path);
    let below =
        inner.contains('/') && !inner.starts_with(['/', '~', '.', '*', '?', '[']) && !inner.contains("..");
    let unsure = name.is_empty()
        || (arg.glob && !below && crate::expand::fields::has_glob(name) && !name.contains(':'));
    (!unsure).then_some(name)
}

/// A call as a command, for users of the reading.
fn command_of(call: &Call<'_>, through: Vec<String>, scene: Scene) -> Command {
    Command {
        program: call.program.to_owned(),
        args: call.args.iter().map(|arg| arg.known().map(str::to_owned)).collect(),
        through,
        attributable: scene.attributable,
        certain: scene.certain,
        words: programs::words(call),
        directory: match call.cwd {
            Cwd::Known(directory) => Some(directory.clone()),
            Cwd::Start | Cwd::Glob(_) | Cwd::Unknown => None,
        },
    }
}

/// The running call, for its consequences.
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

impl<'a> Context<'a> {
    /// The call, for the code that it runs.
    pub(super) fn call(&self, env: &'a dyn ShellEnv) -> Call<'a> {
        Call {
            program: self.program,
            path: self.program,
            args: self.args,
            cwd: self.cwd,
            stdin: self.stdin,
            source: None,
            assignments: &[],
            env,
        }
    }
}

/// `$1`, `$2`, … from arguments.
pub(crate) fn positional(words: &[Expanded]) -> Positional {
    if words.iter().any(|word| word.arg.splits) {
        let taint = words.iter().fold(Taint::default(), |taint, word| taint.and(word.arg.taint));
        return Positional::Unknown(taint);
    }
    let list = words.iter().map(|word| Datum { template: word.template.clone(), ..Datum::of(&word.arg) });
    Positional::Known(Rc::new(list.collect()))
}

/// Access that leaves content behind.
pub(crate) fn leaves_content(access: Access) -> bool {
    matches!(access, Access::Write | Access::Append | Access::Modify | Access::Link)
}
