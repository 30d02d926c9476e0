//! What programs run in turn.

use std::borrow::Cow;
use std::rc::Rc;

use lictor_core::facts::{Access, Effect, GitEffect, GuardOff, OpaqueWhat};

use super::outer::is_wrapper;
use super::simple::{Argv, Context, positional};
use super::{Output, Plumbing, Scene, Walker};
use crate::call::{Next, Report, Stdin};
use crate::expand::fields::Expanded;
use crate::languages;
use crate::operand::{Arg, Known, Operand, Taint};
use crate::state::{Content, Datum, GAP, Positional, Value, open_gaps};

/// Deepest chain of programs that run programs.
const MOST_WRAPPERS: usize = 16;

impl Walker<'_> {
    pub(super) fn next(&mut self, next: Next, context: &Context<'_>, stdin_taint: Taint) -> Output {
        if self.through.len() >= MOST_WRAPPERS {
            self.over_limit("programs that run programs, nested too deep");
            return Output::unknown();
        }
        match next {
            Next::Argv { argv, assignments, cwd, through, more, elsewhere } => {
                let mut argv = argv;
                if more {
                    argv.push(Arg { taint: stdin_taint, ..Arg::unknown("…") });
                }
                let reads_input = matches!(through.as_str(), "xargs" | "parallel");
                let scene = Scene {
                    attributable: context.scene.attributable
                        && !["find", "fd", "watch", "parallel"].iter().any(|name| through.starts_with(name)),
                    ..context.scene
                };
                self.inside(through, elsewhere, |this| {
                    if let Some(cwd) = cwd {
                        let mut directories = this.state.directories().clone();
                        directories.now = cwd;
                        directories.instead = None;
                        this.state.set_directories(directories);
                    }
                    for (name, arg) in &assignments {
                        this.state.set(name, Value::Scalar(Datum::of(arg)));
                    }
                    let stdin = if reads_input { Stdin::Inherited } else { context.stdin.clone() };
                    let words = argv.into_iter().map(|arg| this.expanded(arg, context)).collect();
                    this.with_stdin(Some(Rc::new(stdin)), |this| {
                        this.argv(Argv {
                            words,
                            assignments,
                            plumbing: Plumbing::default(),
                            scene,
                            by_shell: false,
                            harmless: false,
                        })
                    })
                })
            }
            Next::Shell { text, args, through, elsewhere } => {
                let Some(code) = self.code(&text, context) else { return Output::unknown() };
                let from_input = matches!(context.stdin, Stdin::Text(input) if *input == code);
                self.inside(through, elsewhere, |this| {
                    let words: Vec<Expanded> =
                        args.into_iter().map(|arg| this.expanded(arg, context)).collect();
                    if let Some(name) = words.first() {
                        this.state.set("0", Value::Scalar(Datum::of(&name.arg)));
                    }
                    // Without its own words the text may get some from elsewhere (`bash -s -- x`).
                    this.state.set_positional(match words.get(1..) {
                        Some(rest) => positional(rest),
                        None => Positional::Unknown(Taint::default()),
                    });
                    let stdin = if from_input { Stdin::Inherited } else { context.stdin.clone() };
                    this.with_stdin(Some(Rc::new(stdin)), |this| this.text(&code, context.scene))
                })
            }
            Next::Code { language, body } => {
                let Some(code) = self.code(&body, context) else { return Output::unknown() };
                self.mention(language, &code, context);
                self.code_in(language, &code, context)
            }
            Next::Recipe { text, language, through, written } => {
                self.recipe(&text, language, through, written, context)
            }
            Next::Script { path, language } => self.script(&path, language, context),
        }
    }

    /// Runs a recipe. Of one that was there before, only what changes governing files counts in the end.
    fn recipe(
        &mut self,
        text: &str,
        language: Option<&'static str>,
        through: String,
        written: bool,
        context: &Context<'_>,
    ) -> Output {
        if !written && self.elsewhere > 0 {
            return Output::unknown();
        }
        let (effects, opaque) = (self.reading.effects.len(), self.reading.opaque.len());
        let (mentions, refused) = (self.reading.mentions.len(), self.reading.refused);
        let scene = Scene { attributable: false, ..context.scene };
        let output = self.inside(through, false, |this| match language {
            Some(language) => this.code_in(language, text, context),
            None => this.text(text, scene),
        });
        if written {
            self.keep_opaque(opaque, |what| what == OpaqueWhat::Limit);
            // The line wrote it: a secret that it shows is shown by the line.
            self.keep_effects(effects, |effect| is_clear_danger(effect) || reads_secret(effect));
            return output;
        }
        self.keep_opaque(opaque, |_| false);
        self.reading.mentions.truncate(mentions);
        self.reading.refused = refused;
        let done = self.reading.effects.split_off(effects.min(self.reading.effects.len()));
        self.reading.recipes.extend(done.into_iter().filter(is_clear_danger));
        Output::unknown()
    }

    /// An argument together with its text with gaps, when it is one of the call's own.
    fn expanded(&self, mut arg: Arg, context: &Context<'_>) -> Expanded {
        let template = template(&arg, context);
        open_gap(&mut arg);
        Expanded { arg, template }
    }

    /// The text to run. Unknown parts are reported.
    fn code(&mut self, text: &Arg, context: &Context<'_>) -> Option<String> {
        if let Some(known) = text.known() {
            if open_gaps(known.trim()) == Some(Known::Nothing) {
                self.opaque(OpaqueWhat::Code, &text.text);
                return None;
            }
            if text.taint.decoded {
                self.flow_into_shell(text.taint, &text.text);
            }
            return Some(known.to_owned());
        }
        self.flow_into_shell(text.taint, &text.text);
        match (&text.value, template(text, context)) {
            (Known::Partly { .. }, Some(template)) => {
                if text.taint != Taint::default() {
                    self.opaque(OpaqueWhat::Code, &text.text);
                }
                Some(template.to_string())
            }
            (Known::Partly { prefix, suffix }, None) => {
                self.opaque(OpaqueWhat::Code, &text.text);
                Some(format!("{prefix}${{{GAP}}}{suffix}"))
            }
            _ => {
                self.opaque(OpaqueWhat::Code, &text.text);
                None
            }
        }
    }

    /// Walks something inside a wrapper: what it changes in the shell is gone afterwards.
    fn inside(&mut self, through: String, elsewhere: bool, walk: impl FnOnce(&mut Self) -> Output) -> Output {
        let mark = self.state.mark();
        let effects = self.reading.effects.len();
        let opaque = self.reading.opaque.len();
        self.through.push(through);
        if elsewhere {
            self.elsewhere += 1;
        }
        let output = self.deeper(walk);
        self.agents_elsewhere(effects, elsewhere);
        if elsewhere {
            self.elsewhere -= 1;
            self.destruction_elsewhere(effects);
            self.secrets_elsewhere(effects);
            self.persistence_elsewhere(effects);
            self.keep_effects(effects, |effect| match effect {
                // Whether anything is lost there is not checked.
                Effect::File { access: Access::Restore, recursive: true, .. } => {
                    *effect = Effect::Git { effect: GitEffect::DiscardWork, target: None };
                    true
                }
                effect => !matches!(effect, Effect::File { .. }),
            });
            self.keep_opaque(opaque, |what| what != OpaqueWhat::Target);
        }
        self.through.pop();
        self.state.leave(mark);
        output
    }

    /// An agent in a container or on another machine has other settings than those that govern here.
    fn agents_elsewhere(&mut self, from: usize, elsewhere: bool) {
        let contained = self.through.last().is_some_and(|tool| tool.ends_with(" run"));
        let started = self.reading.effects.iter().skip(from).find_map(|effect| match effect {
            Effect::Delegate { agent } => Some(agent.clone()),
            _ => None,
        });
        if let Some(text) = started.filter(|_| elsewhere || contained) {
            self.effect(Effect::GuardOff { what: GuardOff::AgentElsewhere, text });
        }
    }

    /// Secrets read on another machine or in a container are shown here.
    fn secrets_elsewhere(&mut self, from: usize) {
        let shown = self.reading.effects.iter().skip(from).any(|effect| match effect {
            Effect::File { access: Access::Read, target, .. } => crate::programs::is_secret(&target.arg),
            _ => false,
        });
        if shown {
            self.reveal();
        }
    }

    /// Files that run later on another machine, or control logins there. Containers are recreated.
    fn persistence_elsewhere(&mut self, from: usize) {
        let machine = self.through.last().is_some_and(|tool| tool.starts_with("ssh") || tool == "mosh");
        let added = self.reading.effects.iter().skip(from).any(|effect| match effect {
            Effect::File { access: Access::Write | Access::Append, target, .. } => {
                target.arg.known().is_some_and(super::startup::runs_later)
            }
            _ => false,
        });
        if machine && added {
            self.persists();
        }
    }

    /// Trees deleted on another machine or in a container that lives on are not our files, but they are gone.
    fn destruction_elsewhere(&mut self, from: usize) {
        let Some(tool) = self.through.last().filter(|tool| !tool.ends_with(" run")).cloned() else { return };
        let gone = self.reading.effects.iter().skip(from).find_map(|effect| match effect {
            Effect::File { access: Access::Delete | Access::Destroy, target, recursive, .. }
                if *recursive || target.arg.glob =>
            {
                let path = target.arg.prefix();
                (!crate::paths::is_temporary(path) && !is_made_again(path)).then(|| target.arg.text.clone())
            }
            _ => None,
        });
        if let Some(path) = gone {
            let mass = matches!(&*path, "/" | "/*" | "~" | "~/" | "." | "*");
            self.effect(Effect::Infrastructure { tool, what: format!("delete {path}"), mass });
        }
    }

    /// Looks only at what came since `from`: a long script has many lines.
    pub(super) fn keep_effects(&mut self, from: usize, keep: impl FnMut(&mut Effect<Operand>) -> bool) {
        if from < self.reading.effects.len() {
            let mut since = self.reading.effects.split_off(from);
            since.retain_mut(keep);
            self.reading.effects.append(&mut since);
        }
    }

    fn keep_opaque(&mut self, from: usize, keep: impl Fn(OpaqueWhat) -> bool) {
        let tail = self.reading.opaque.split_off(from.min(self.reading.opaque.len()));
        self.reading.opaque.extend(tail.into_iter().filter(|opaque| keep(opaque.what)));
    }

    /// Notes the files that inline code names.
    fn mention(&mut self, language: &str, code: &str, context: &Context<'_>) {
        if self.elsewhere > 0 || !self.spend(code.len() as u64) {
            return;
        }
        let here = super::here::Here::new(
            &self.state,
            self.outside(),
            &self.through,
            (&self.packed, self.feed.as_ref()),
        );
        let call = context.call(&here);
        let mentions = crate::programs::mentions::in_code(language, code, &call);
        self.reading.mentions.extend(mentions);
    }

    /// Code in another language.
    fn code_in(&mut self, language: &'static str, code: &str, context: &Context<'_>) -> Output {
        if !self.spend(code.len() as u64 * 4) {
            self.over_limit("more code than can be followed");
            return Output::unknown();
        }
        // A gap in the code reads as a name, and as something unknown where it ends up in a path.
        let gap = format!("${{{GAP}}}");
        let body = if code.contains(&gap) { code.replace(&gap, GAP) } else { code.to_owned() };
        let mut report = Report::default();
        let here = super::here::Here::new(
            &self.state,
            self.outside(),
            &self.through,
            (&self.packed, self.feed.as_ref()),
        );
        let call = context.call(&here);
        languages::judge(language, &body, &call, &mut report);
        let mentions = std::mem::take(&mut report.mentions);
        // A project script's use of its arguments is not analysed.
        if self.elsewhere == 0 && !self.only_danger {
            self.reading.mentions.extend(mentions);
        }

        self.through.push(context.program.to_owned());
        let output = self.deeper(|this| this.follow_report(report, context, &[], &Plumbing::default()));
        self.through.pop();
        output
    }

    /// A script file. Content that the line wrote is code of the line; an existing script is only searched for
    /// clear danger, because running a project script is ordinary.
    fn script(&mut self, path: &Arg, language: Option<&'static str>, context: &Context<'_>) -> Output {
        let target = Operand::new(path.clone(), context.cwd.clone());
        let reads_input = matches!(path.known(), Some("-" | "/dev/stdin"));
        if !reads_input && !path.known().is_some_and(crate::paths::is_descriptor) {
            let access = path.known().map_or(Access::Execute, run_or_read);
            self.effect(Effect::File { access, target, recursive: false, by: context.by });
        }
        if !self.state.wrote_nothing() && (path.glob || path.known().is_none() || self.elsewhere > 0) {
            self.run_meant(path, language, context);
        }
        let Some(known) = path.known() else {
            self.flow_into_shell(path.taint, &path.text);
            if path.value == Known::Nothing {
                self.opaque(OpaqueWhat::Code, &path.text);
            }
            return Output::unknown();
        };
        let own = context.args.iter().position(|arg| arg == path).map_or(0, |at| at + 1);
        let arguments = context.args.iter().skip(own);
        let words: Vec<Expanded> = arguments.map(|arg| self.expanded(arg.clone(), context)).collect();
        let written = if reads_input {
            Some(match context.stdin {
                Stdin::Text(text) => Content::known(text.as_str().into()),
                Stdin::Unknown(taint) => Content::unknown(*taint),
                _ => return Output::unknown(),
            })
        } else {
            self.written_content(known)
        };
        let through = if is_wrapper(context.program) { context.program.to_owned() } else { known.to_owned() };
        match written {
            Some(Content { text: Some(text), .. }) => {
                self.run_script(&text, language, words, through, context)
            }
            Some(Content { text: None, taint, own, .. }) if !own || taint != Taint::default() => {
                self.flow_into_shell(taint, known);
                self.opaque(OpaqueWhat::Code, known);
                Output::unknown()
            }
            _ => {
                let Some(text) = self.local_script(known) else {
                    self.beware_of_stream(known);
                    return Output::unknown();
                };
                self.run_for_danger(&text, language, words, through, context);
                Output::unknown()
            }
        }
    }

    /// Runs a text of which only what is clearly dangerous counts.
    fn run_for_danger(
        &mut self,
        text: &str,
        language: Option<&'static str>,
        words: Vec<Expanded>,
        through: String,
        context: &Context<'_>,
    ) {
        let effects = self.reading.effects.len();
        let opaque = self.reading.opaque.len();
        let scene = Scene { attributable: false, ..context.scene };
        let context = Context { scene, ..*context };
        let before = std::mem::replace(&mut self.only_danger, true);
        self.run_script(text, language, words, through, &context);
        self.only_danger = before;
        self.keep_opaque(opaque, |_| false);
        self.keep_effects(effects, |effect| is_clear_danger(effect));
    }

    /// Runs a file that the line wrote, for what is clearly dangerous in it.
    pub(super) fn run_known(
        &mut self,
        key: &str,
        text: &str,
        language: Option<&'static str>,
        context: &Context<'_>,
    ) {
        self.run_for_danger(text, language, Vec::new(), key.to_owned(), context);
    }

    /// The text of a script that was there before.
    pub(super) fn local_script(&self, path: &str) -> Option<String> {
        self.outside().script(&self.found_from_here(path)?)
    }

    /// Code from a pipe does not exist before it runs.
    fn beware_of_stream(&mut self, path: &str) {
        if self.found_from_here(path).is_some_and(|path| self.outside().is_stream(&path)) {
            self.opaque(OpaqueWhat::Code, path);
        }
    }

    /// A path as it is found from where the line began.
    fn found_from_here<'a>(&self, path: &'a str) -> Option<Cow<'a, str>> {
        crate::paths::from_start(&self.state.directories().now, path)
    }

    fn run_script(
        &mut self,
        text: &str,
        language: Option<&'static str>,
        words: Vec<Expanded>,
        through: String,
        context: &Context<'_>,
    ) -> Output {
        let (shebang, rest) = match text.strip_prefix("#!") {
            Some(rest) => rest.split_once('\n').unwrap_or((rest, "")),
            None => ("", text),
        };
        match language.or_else(|| interpreter(shebang)) {
            None | Some("shell" | "sh") => {
                if self.calls.contains(&through) {
                    return Output::unknown();
                }
                self.calls.push(through.clone());
                let path = Value::Scalar(Datum::known(through.as_str()));
                let output = self.inside(through, false, |this| {
                    this.state.set_positional(positional(&words));
                    this.state.set("0", path.clone());
                    this.state.set("BASH_SOURCE", path);
                    this.text(rest, context.scene)
                });
                self.calls.pop();
                output
            }
            Some(language) => self.code_in(language, rest, context),
        }
    }

    /// Runs a file in the shell itself (`source`).
    pub(crate) fn source(
        &mut self,
        path: &Arg,
        words: Vec<Expanded>,
        scene: Scene,
        harmless: bool,
    ) -> Output {
        let Some(known) = path.known() else {
            self.flow_into_shell(path.taint, &path.text);
            // `"$NVM_DIR/nvm.sh"` is a script like any other; `"$X"` could be anything.
            let descriptor = ["/dev/fd/", "/proc/"].iter().any(|place| path.prefix().starts_with(place));
            if matches!(path.value, Known::Nothing) || path.taint != Taint::default() || descriptor {
                self.opaque(OpaqueWhat::Code, &path.text);
            }
            return Output::unknown();
        };
        let environment = crate::programs::is_environment_path(known);
        if environment {
            self.state.load();
        }
        if !crate::paths::is_stream(known) {
            let target = Operand::new(path.clone(), self.state.directories().now.clone());
            self.effect(Effect::File { access: run_or_read(known), target, recursive: false, by: None });
        }
        let written = if known == "/dev/stdin" {
            match self.stdin.as_ref() {
                Stdin::Text(text) => Some(Content::known(text.as_str().into())),
                Stdin::Unknown(taint) => Some(Content::unknown(*taint)),
                _ => None,
            }
        } else {
            self.written_content(known)
        };
        let run = |this: &mut Self, text: &str, scene: Scene| {
            if this.calls.iter().any(|call| call == known) {
                return Output::unknown();
            }
            let outer = this.state.positional().clone();
            if !words.is_empty() {
                this.state.set_positional(positional(&words));
            }
            this.calls.push(known.to_owned());
            let output = this.through("source", |this| this.text(text, scene));
            this.calls.pop();
            this.state.set_positional(outer);
            output
        };
        match written {
            Some(Content { text: Some(text), .. }) => run(self, &text, scene),
            Some(Content { text: None, taint, own, .. }) if !own || taint != Taint::default() => {
                if !harmless {
                    self.flow_into_shell(taint, known);
                    self.opaque(OpaqueWhat::Code, known);
                }
                Output::unknown()
            }
            _ => {
                if let Some(text) = self.local_script(known) {
                    let effects = self.reading.effects.len();
                    let opaque = self.reading.opaque.len();
                    let mark = self.state.mark();
                    run(self, &text, Scene { attributable: false, ..scene });
                    if environment {
                        self.state.load_since(mark);
                    }
                    self.keep_opaque(opaque, |_| false);
                    self.keep_effects(effects, |effect| is_clear_danger(effect));
                } else {
                    self.beware_of_stream(known);
                }
                Output::unknown()
            }
        }
    }

    /// Text that the shell evaluates itself (`eval`, `trap`).
    pub(crate) fn evaluate(
        &mut self,
        text: Option<&str>,
        taint: Taint,
        written: &str,
        scene: Scene,
    ) -> Output {
        if taint != Taint::default() {
            self.flow_into_shell(taint, written);
            self.opaque(OpaqueWhat::Code, written);
        }
        match text {
            Some(text) if text.trim() != format!("${{{GAP}}}") => self.text(text, scene),
            _ => {
                self.opaque(OpaqueWhat::Code, written);
                Output::unknown()
            }
        }
    }
}

/// The text with gaps of an argument of the call.
fn template(arg: &Arg, context: &Context<'_>) -> Option<Rc<str>> {
    let index = context.args.iter().position(|own| own == arg)?;
    context.templates.get(index).cloned().flatten()
}

/// A file name with a gap's name in it is known only up to there.
pub(super) fn open_gap(arg: &mut Arg) {
    if let Some(value) = arg.known().and_then(open_gaps) {
        arg.value = value;
    }
}

fn reads_secret(effect: &Effect<Operand>) -> bool {
    match effect {
        Effect::File { access: Access::Read, target, .. } => {
            target.arg.known().is_some_and(crate::programs::is_secret_path)
                && !target.arg.known().is_some_and(crate::programs::is_environment_path)
        }
        _ => false,
    }
}

/// Whether a directory is one that programs fill again by themselves.
fn is_made_again(path: &str) -> bool {
    let inside = path.trim_end_matches("/*");
    inside.rsplit('/').next().is_some_and(|name| crate::words::MADE_AGAIN.contains(&name))
        && inside.matches('/').count() > 1
}

/// Which effects of an existing script count: no reads, and nothing unknown.
fn is_clear_danger(effect: &Effect<Operand>) -> bool {
    match effect {
        Effect::File { access, target, .. } => {
            *access == Access::Execute || (!access.is_read_only() && target.arg.known().is_some())
        }
        _ => true,
    }
}

/// An interpreter that gets a secret as a script prints parts of it in its error message.
fn run_or_read(path: &str) -> Access {
    let secret = crate::programs::is_secret_path(path) && !crate::programs::is_environment_path(path);
    if secret { Access::Read } else { Access::Execute }
}

/// The language that a first line `#!…` names.
fn interpreter(shebang: &str) -> Option<&'static str> {
    let mut words = shebang.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match name {
        "python" | "pypy" => Some("python"),
        "node" | "nodejs" | "bun" => Some("javascript"),
        "deno" | "ts-node" | "tsx" => Some("typescript"),
        "perl" => Some("perl"),
        "ruby" => Some("ruby"),
        "php" => Some("php"),
        "awk" | "gawk" | "mawk" => Some("awk"),
        "sed" => Some("sed"),
        _ => Some("shell"),
    }
}
