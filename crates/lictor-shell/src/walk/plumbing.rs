//! Redirections: their effects on files, and on the command's input and output.

use std::rc::Rc;

use lictor_core::facts::{Access, Effect, Reach};

use super::{Output, Walker};
use crate::ast::{Redirect, RedirectKind, Target};
use crate::call::Stdin;
use crate::operand::{Arg, Known, Operand, Taint};
use crate::state::{Content, Datum, Value};

/// The destination of standard output.
#[derive(Debug, Default)]
enum Sink {
    #[default]
    Inherited,
    File {
        key: Option<String>,
        append: bool,
    },
    Socket(Reach),
    /// Away: to standard error, to a closed or other descriptor.
    Away,
}

/// The redirections of one command.
#[derive(Debug, Default)]
pub(crate) struct Plumbing {
    /// Standard input, when a redirection sets it.
    pub stdin: Option<Rc<Stdin>>,
    /// The file that standard input comes from.
    pub source: Option<Arg>,
    stdout: Sink,
    /// File effects, in order; `true` for those that receive standard output.
    files: Vec<(Access, Operand, bool)>,
    sockets: Vec<Reach>,
}

impl Plumbing {
    /// Whether what the command prints matters for what is known of a file or a host.
    pub(crate) fn wants_output(&self) -> bool {
        matches!(self.stdout, Sink::File { .. } | Sink::Socket(_))
    }

    /// Whether standard output does not reach the surroundings.
    pub(crate) fn takes_output_away(&self) -> bool {
        !matches!(self.stdout, Sink::Inherited)
    }

    /// The host that standard output goes to.
    pub(crate) fn socket(&self) -> Option<&Reach> {
        match &self.stdout {
            Sink::Socket(reach) => Some(reach),
            _ => None,
        }
    }
}

impl Walker<'_> {
    /// Expands redirections. Their effects are reported later, after the `Run` of the command.
    pub(crate) fn plumb(&mut self, redirects: &[Redirect]) -> Plumbing {
        let mut plumbing = Plumbing::default();
        // A descriptor that the same command opens later is read as if it were open: other shells, and other commands
        // around this one, may have opened it.
        let (late, first): (Vec<&Redirect>, Vec<&Redirect>) =
            redirects.iter().partition(|redirect| opens_later(redirect, redirects));
        for redirect in first.into_iter().chain(late) {
            let fd = match &redirect.variable {
                Some(name) => {
                    // The shell picks a number that is free.
                    self.pipes += 1;
                    let number = 62 + self.pipes;
                    self.state.set(name, Value::Scalar(Datum::known(number.to_string())));
                    Some(number)
                }
                None => redirect.fd,
            };
            self.redirect(redirect, fd, &mut plumbing);
        }
        plumbing
    }

    fn redirect(&mut self, redirect: &Redirect, fd: Option<u32>, plumbing: &mut Plumbing) {
        let (datum, written) = match &redirect.target {
            Target::Here(body) => {
                let datum = body.get().map_or_else(|| Datum::known(""), |body| self.here_body(body));
                self.open_text(fd, stdin_of(datum), plumbing);
                return;
            }
            // No target after the operator: the shell refuses the line.
            Target::Word(word) if word.parts.is_empty() => return,
            Target::Word(word) => (self.value(word), word.written()),
        };
        let input = fd.is_none_or(|fd| fd == 0);
        let output = fd.is_none_or(|fd| fd == 1);
        // `>& $file`: the value of the word determines whether it is a file or a descriptor.
        let names_file = |text: &str| {
            let number = text.trim_end_matches('-');
            !number.is_empty() && number.parse::<u32>().is_err()
        };
        let kind = match redirect.kind {
            RedirectKind::DuplicateOut if fd.is_none() && datum.text().is_some_and(names_file) => {
                RedirectKind::WriteBoth
            }
            kind => kind,
        };
        let access = match kind {
            RedirectKind::HereString => {
                let mut stdin = stdin_of(datum);
                if let Stdin::Text(text) = &mut stdin {
                    text.push('\n');
                }
                self.open_text(fd, stdin, plumbing);
                return;
            }
            RedirectKind::HereDocument => return,
            RedirectKind::DuplicateIn | RedirectKind::DuplicateOut => {
                self.duplicate(redirect, fd, &datum, plumbing);
                return;
            }
            RedirectKind::Read => Access::Read,
            RedirectKind::ReadWrite => Access::Modify,
            RedirectKind::Append | RedirectKind::AppendBoth => Access::Append,
            RedirectKind::Write | RedirectKind::WriteBoth => Access::Write,
        };
        let both = matches!(kind, RedirectKind::WriteBoth | RedirectKind::AppendBoth);
        let output = both || (output && matches!(access, Access::Write | Access::Append));
        let place = match &datum.value {
            Known::Text(path) => Some(&**path),
            // Which port is not known, but it is one.
            Known::Partly { prefix, suffix } if !suffix.contains('/') => Some(prefix.as_str()),
            _ => None,
        };
        if let Some(reach) = place.and_then(|path| socket(path, access != Access::Read)) {
            self.sockets.extend(fd);
            if output {
                plumbing.stdout = Sink::Socket(reach.clone());
            }
            // A socket is read from and written to, however it was opened.
            if fd == Some(0) || input && matches!(access, Access::Read | Access::Modify) {
                plumbing.stdin = Some(network());
            }
            plumbing.sockets.push(reach);
            return;
        }
        let arg = Arg {
            text: written.into(),
            glob: datum.glob,
            splits: false,
            value: datum.value,
            taint: datum.taint,
            found: None,
        };
        self.open_file(arg, access, fd, output, plumbing);
    }

    /// A redirection to a file.
    fn open_file(
        &mut self,
        arg: Arg,
        access: Access,
        fd: Option<u32>,
        output: bool,
        plumbing: &mut Plumbing,
    ) {
        let input = fd.is_none_or(|fd| fd == 0);
        let known = arg.known().map(str::to_owned);
        let cwd = self.state.directories().now.clone();
        if access == Access::Read && input {
            let content = known.as_deref().and_then(|path| self.written_content(path));
            plumbing.source = Some(arg.clone());
            plumbing.stdin = Some(Rc::new(match content {
                _ if known.as_deref() == Some("/dev/null") => Stdin::Text(String::new()),
                Some(Content { text: Some(text), .. }) => Stdin::Text(text.to_string()),
                Some(Content { names, .. }) if !names.is_empty() => Stdin::Names(names.to_vec()),
                Some(Content { text: None, taint, .. }) => Stdin::Unknown(taint),
                None => {
                    Stdin::Unknown(Taint { secret: crate::programs::is_secret(&arg), ..Taint::default() })
                }
            }));
        }
        if let (Access::Read, Some(number), Some(path)) =
            (access, fd.filter(|number| *number > 0), known.as_deref())
        {
            // The file can be read from the descriptor, or by its path.
            let secret = crate::programs::is_secret(&arg);
            let content = self.written_content(path);
            let content = content.unwrap_or_else(|| Content::unknown(Taint { secret, ..Taint::default() }));
            self.state.set_file(format!("/dev/fd/{number}"), content);
        }
        if output {
            let key = known.as_deref().map(|path| crate::paths::key(&cwd, path));
            let away = known.as_deref().is_some_and(crate::paths::is_stream);
            plumbing.stdout =
                if away { Sink::Away } else { Sink::File { key, append: access == Access::Append } };
        }
        if known.as_deref().is_some_and(crate::paths::is_stream) {
            let bound = known.as_deref().and_then(|path| self.bound_to(path));
            if let Some(target) = bound.filter(|_| access != Access::Read) {
                plumbing.files.push((access, target, output));
            }
            return;
        }
        // A shell refuses to write to a directory.
        let directory = |path: &str| {
            matches!(path.rsplit('/').next(), Some("." | "..")) || path.len() > 1 && path.ends_with('/')
        };
        if access != Access::Read && known.as_deref().is_some_and(directory) {
            return;
        }
        let target = Operand::new(arg, cwd);
        let number = if access == Access::Read { fd.or(Some(0)) } else { fd };
        if let Some(number) = number.filter(|number| !matches!(number, 1 | 2)) {
            self.bind(number, Some(target.clone()));
        }
        if let Some(number) = fd.filter(|number| *number > 2 && access != Access::Read) {
            self.descriptors.retain(|(other, _)| *other != number);
            self.descriptors.push((number, target.clone()));
        }
        plumbing.files.push((access, target, output));
    }

    /// A descriptor leads to a file, or to no known one.
    fn bind(&mut self, number: u32, target: Option<Operand>) {
        self.bound.retain(|(other, _)| *other != number);
        self.bound.extend(target.map(|target| (number, target)));
    }

    /// The file behind the name of a descriptor.
    fn bound_to(&self, path: &str) -> Option<Operand> {
        if self.bound.is_empty() {
            return None;
        }
        let clean = crate::paths::clean(path);
        let number = match clean.strip_prefix("/dev/fd/").or_else(|| descriptor_of(&clean)) {
            Some(number) => number.parse::<u32>().ok()?,
            None => (clean == "/dev/stdin").then_some(0)?,
        };
        self.bound.iter().find(|(bound, _)| *bound == number).map(|(_, target)| target.clone())
    }

    /// The same effect on the file that a descriptor is bound to, when a program changes it by the descriptor's name.
    pub(super) fn behind_descriptor(&self, effect: &Effect<Operand>) -> Option<Effect<Operand>> {
        let Effect::File { access, target, recursive, by } = effect else { return None };
        let target = self.bound_to(target.arg.known().filter(|_| !access.is_read_only())?)?;
        Some(Effect::File { access: *access, target, recursive: *recursive, by: *by })
    }

    /// Text for a descriptor: standard input, or another one that can be opened by its path.
    fn open_text(&mut self, descriptor: Option<u32>, stdin: Stdin, plumbing: &mut Plumbing) {
        match descriptor {
            None | Some(0) => plumbing.stdin = Some(Rc::new(stdin)),
            Some(number) => {
                let content = match stdin {
                    Stdin::Text(text) => Content::known(text.into()),
                    Stdin::Unknown(taint) => Content::unknown(taint),
                    _ => Content::default(),
                };
                self.state.set_file(format!("/dev/fd/{number}"), content);
            }
        }
    }

    /// `>&2`, `<&3`, `0>&1`.
    fn duplicate(&mut self, redirect: &Redirect, fd: Option<u32>, target: &Datum, plumbing: &mut Plumbing) {
        let digits = target.text().map(|text| text.trim_end_matches('-'));
        let source: Option<u32> = digits.and_then(|digits| digits.parse().ok());
        let into = fd.unwrap_or(if redirect.kind == RedirectKind::DuplicateIn { 0 } else { 1 });
        let bound = source.and_then(|number| self.bound.iter().find(|(other, _)| *other == number));
        let bound = bound.map(|(_, target)| target.clone());
        self.bind(into, bound);
        let socket = match source {
            Some(1) if matches!(plumbing.stdout, Sink::Socket(_)) => true,
            Some(source) => self.sockets.contains(&source),
            None => false,
        };
        let text = source.and_then(|number| self.written_content(&format!("/dev/fd/{number}")));
        if let (0, Some(content)) = (into, text) {
            plumbing.stdin = Some(Rc::new(match content.text {
                Some(text) => Stdin::Text(text.to_string()),
                None => Stdin::Unknown(content.taint),
            }));
            return;
        }
        if into == 0 && source.is_none() && target.text().is_none() {
            // Unknown descriptor: the union of all open ones.
            let open = self.state.files().filter(|(path, _)| path.starts_with("/dev/fd/"));
            let taint = open.fold(target.taint, |taint, (_, content)| taint.and(content.taint));
            plumbing.stdin = Some(Rc::new(Stdin::Unknown(taint)));
            return;
        }
        let opened = source.and_then(|number| self.descriptors.iter().find(|(open, _)| *open == number));
        if let (1, Some((_, target))) = (into, opened) {
            // Output is appended to the descriptor's file.
            let key = target.arg.known().map(|path| crate::paths::key(&target.cwd, path));
            plumbing.stdout = Sink::File { key, append: true };
            plumbing.files.push((Access::Append, target.clone(), true));
            return;
        }
        match into {
            0 if socket => plumbing.stdin = Some(network()),
            1 if socket => {
                plumbing.stdout = Sink::Socket(Reach {
                    host: None,
                    text: format!("&{}", source.unwrap_or(1)),
                    sends: true,
                });
            }
            1 if source != Some(1) => plumbing.stdout = Sink::Away,
            _ => {}
        }
    }

    /// What the line itself wrote to a path.
    pub(crate) fn written_content(&self, path: &str) -> Option<Content> {
        if self.state.wrote_nothing() {
            return None;
        }
        let key = match descriptor_of(path) {
            Some(number) => format!("/dev/fd/{number}"),
            None => crate::paths::key(&self.state.directories().now, path),
        };
        let content = self.state.file(&key).or_else(|| {
            // The same file by its other name: from the root, or from where the line starts.
            let start = self.outside().variable("PWD")?;
            let other = match key.strip_prefix(start.as_str()) {
                Some(below) => below.trim_start_matches('/').to_owned(),
                None => crate::paths::join(&start, &key),
            };
            self.state.file(&other)
        })?;
        match &content.link {
            Some(link) => self.state.file(link).filter(|target| target.link.is_none()).cloned(),
            None => Some(content.clone()),
        }
    }

    /// Whether git itself produced what the pipeline reads: it comes from its object store.
    fn is_read_from_git(&self) -> bool {
        let is_run = |effect: &Effect<Operand>| matches!(effect, Effect::Run(_));
        let Some(at) = self.reading.effects.iter().rposition(is_run) else { return false };
        let by_git = matches!(self.reading.effects.get(at), Some(Effect::Run(run)) if run.program == "git");
        by_git && self.reads.iter().all(|read| *read > at)
    }

    /// Reports what the redirections do, and takes what the command printed to where it goes. Returns what is left
    /// for the surroundings of the command.
    pub(crate) fn report_plumbing(
        &mut self,
        plumbing: Plumbing,
        by: Option<u32>,
        output: Option<Output>,
    ) -> Output {
        let silent = output.is_none() || matches!(&output, Some(Output::Text(text)) if text.is_empty());
        for reach in plumbing.sockets {
            self.effect(Effect::Reach(reach));
        }
        for (access, target, takes_output) in plumbing.files {
            // The shell empties the file before anything reads it.
            let own_input = access == Access::Write && self.is_read_by_pipeline(&target);
            if access == Access::Read {
                self.reads.push(self.reading.effects.len());
            }
            let empties = own_input || takes_output && silent && access == Access::Write;
            // `git show HEAD:f > f` puts back what git has.
            let restores = own_input && self.is_read_from_git();
            let access = match empties {
                _ if restores => Access::Restore,
                true => Access::Empty,
                false => access,
            };
            let added = Self::printed_text(output.as_ref().filter(|_| takes_output));
            self.adds_to_startup(&target, access, added.as_deref(), by);
            self.effect(Effect::File { access, target, recursive: false, by });
        }
        let output = output.unwrap_or_else(Output::silent);
        match plumbing.stdout {
            Sink::Inherited => output,
            Sink::Away | Sink::Socket(_) => Output::silent(),
            Sink::File { key, append } => {
                if let Some(key) = key {
                    self.carry_into(&key);
                    self.remember_file(key, output, append);
                }
                Output::silent()
            }
        }
    }

    /// Whether a command of the pipeline that is being walked reads the same file.
    fn is_read_by_pipeline(&self, target: &Operand) -> bool {
        let key = |target: &Operand| Some(crate::paths::key(&target.cwd, target.arg.known()?));
        let mut reads =
            self.reads.iter().rev().take(16).filter_map(|at| match self.reading.effects.get(*at) {
                Some(Effect::File { access: Access::Read, target, .. }) if !target.arg.glob => key(target),
                _ => None,
            });
        !self.reads.is_empty() && key(target).is_some_and(|wanted| reads.any(|read| read == wanted))
    }

    /// Remembers what was written to a file.
    pub(crate) fn remember_file(&mut self, key: String, output: Output, append: bool) {
        let before = if append { self.state.file(&key).cloned() } else { None };
        let (front, taint) = before.map_or((None, Taint::default()), |content| (content.text, content.taint));
        let content = match output {
            Output::Text(text) => {
                self.spend(text.len() as u64);
                let text = match front {
                    Some(front) if front.len() + text.len() <= 64 * 1024 => format!("{front}{text}"),
                    _ => text,
                };
                Content { text: Some(text.into()), taint, ..Content::default() }
            }
            Output::Names(names) if !append => Content::listing(names),
            other => {
                let own = self.from_files && !append;
                Content { own, ..Content::unknown(taint.and(other.taint())) }
            }
        };
        self.state.set_file(key, content);
    }
}

/// `<&3 3< file`: whether standard input comes from a descriptor that a later redirection opens.
fn opens_later(redirect: &Redirect, all: &[Redirect]) -> bool {
    let Target::Word(word) = &redirect.target else { return false };
    if redirect.kind != RedirectKind::DuplicateIn || redirect.fd.is_some_and(|fd| fd != 0) {
        return false;
    }
    let number: Option<u32> = word.written().trim_end_matches('-').parse().ok();
    let mut behind = all.iter().skip_while(|other| !std::ptr::eq(*other, redirect)).skip(1);
    number.is_some() && behind.any(|other| other.fd == number && other.kind != RedirectKind::DuplicateIn)
}

fn network() -> Rc<Stdin> {
    Rc::new(Stdin::Unknown(Taint { network: true, ..Taint::default() }))
}

/// Text with gaps is still worth reading; text from a doubtful source is not to be mistaken for the line's own.
fn stdin_of(datum: Datum) -> Stdin {
    match (datum.value, datum.template) {
        (Known::Text(text), _) => Stdin::Text(text.to_string()),
        (Known::Partly { .. }, Some(template)) if datum.taint == Taint::default() => {
            Stdin::Text(template.to_string())
        }
        _ => Stdin::Unknown(datum.taint),
    }
}

/// The number in paths of the shell's own descriptors.
fn descriptor_of(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/proc/")?;
    let (process, number) = rest.split_once("/fd/")?;
    let own = process == "self"
        || process == "$$"
        || process == "thread-self"
        || process.contains(crate::state::GAP);
    (own && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// `/dev/tcp/host/port`.
fn socket(path: &str, sends: bool) -> Option<Reach> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    let (host, port) = rest.split_once('/').unwrap_or((rest, ""));
    if host == ".." || port.contains('/') {
        return None;
    }
    let host = host.to_ascii_lowercase();
    Some(Reach { host: (!host.is_empty()).then_some(host), text: path.to_owned(), sends })
}
