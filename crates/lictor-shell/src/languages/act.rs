//! Turns a call of a known function into effects.

use lictor_core::facts::{Access, Effect, FlowSink, FlowSource, GuardOff, OpaqueWhat, ProcessEffect};

use super::api::Api;
use super::value::Value;
use crate::call::{Call, Next, Report};
use crate::operand::{Arg, Cwd, Incoming, Known, Operand, Source, Taint};
use crate::programs::host_of;
use crate::programs::is_secret_path;
use crate::programs::report::chdir;

/// A call inside the code: arguments by position and by name, and how it is written.
pub(super) struct Invocation<'a> {
    pub(super) positional: &'a [Value],
    pub(super) named: &'a [(String, Value)],
    pub(super) text: &'a str,
}

impl Invocation<'_> {
    pub(super) fn get(&self, at: usize, name: &str) -> Option<&Value> {
        self.positional.get(at).or_else(|| self.option(name))
    }

    /// A keyword argument, or a field of a map given as the last argument.
    pub(super) fn option(&self, name: &str) -> Option<&Value> {
        self.named
            .iter()
            .find(|(given, _)| given == name)
            .map(|(_, value)| value)
            .or_else(|| self.positional.iter().rev().find_map(|value| value.field(name)))
    }

    /// The variables that what is started gets.
    fn variables(&self) -> Vec<(String, Arg)> {
        let Some(Value::Map(fields)) = self.option("env") else { return Vec::new() };
        let arg = |value: &Value| value.args(self.text).into_iter().next();
        fields.iter().filter_map(|(name, value)| Some((name.clone(), arg(value)?))).collect()
    }

    pub(super) fn taint(&self) -> Taint {
        let positional =
            self.positional.iter().fold(Taint::default(), |taint, value| taint.and(value.taint()));
        self.named.iter().fold(positional, |taint, (_, value)| taint.and(value.taint()))
    }

    /// The same without the credentials for the service that is called: they are in headers that are called so.
    fn sent(&self) -> Taint {
        let of_field = |(name, value): &(String, Value)| match (name.as_str(), value) {
            ("headers", Value::Map(headers)) => {
                let others = headers
                    .iter()
                    .filter(|(name, _)| !crate::programs::is_credential_header(&format!("{name}:")));
                others.fold(Taint::default(), |taint, (_, value)| taint.and(value.taint()))
            }
            (_, value) => value.taint(),
        };
        let fields = |fields: &[(String, Value)]| {
            fields.iter().fold(Taint::default(), |taint, field| taint.and(of_field(field)))
        };
        let of_value = |value: &Value| match value {
            Value::Map(map) => fields(map),
            value => value.taint(),
        };
        self.positional.iter().fold(fields(self.named), |taint, value| taint.and(of_value(value)))
    }
}

/// Writes effects for one language into a report.
pub(super) struct Actor<'a, 'b, 'c> {
    pub(super) call: &'a Call<'b>,
    pub(super) report: &'c mut Report,
    pub(super) language: &'static str,
}

impl Actor<'_, '_, '_> {
    fn files(&mut self, access: Access, value: Option<&Value>, recursive: bool, text: &str) {
        let Some(value) = value else { return };
        for arg in value.args(text) {
            // Writes to computed paths are normal; deletions there are not known to be safe. Nothing is known
            // about the path, or only a name in an unknown directory.
            let some = matches!(&arg.value, Known::Partly { prefix, suffix } if prefix.is_empty() && suffix.contains('*'));
            if (arg.value == Known::Nothing || some) && changes(access) {
                self.report.changes_some(access);
            }
            if arg.known().is_none() && arg.prefix().is_empty() && !loses(access) {
                continue;
            }
            match self.report.gone_to.clone().filter(|_| loses(access)) {
                Some(cwd) => self.report.file(&Call { cwd: &cwd, ..*self.call }, access, &arg, recursive),
                None => self.report.file(self.call, access, &arg, recursive),
            }
        }
    }

    /// Something is copied, moved or linked to a place that may be a directory.
    fn arrive(
        &mut self,
        access: Access,
        from: Option<&Value>,
        to: Option<&Value>,
        tree: bool,
        linked: bool,
        text: &str,
    ) {
        let Some(to) = to else { return };
        // The contents of a tree arrive in the other; Ruby's copy creates a directory in it instead.
        let merges = access == Access::Modify && self.language != "ruby";
        let sources: Vec<Source> = from
            .map(|value| value.args(text))
            .unwrap_or_default()
            .into_iter()
            .map(|arg| Source { arg, tree, contents: tree && merges, elsewhere: false })
            .collect();
        if to.args(text).iter().any(|arg| arg.value == Known::Nothing) {
            self.report.changes_some(Access::Write);
        }
        for arg in to.args(text).iter().filter(|arg| arg.known().is_some() || !arg.prefix().is_empty()) {
            let sources = sources.clone();
            let incoming = Incoming::Sources { sources, into: false, exact: false, linked, kept: false };
            let recursive = tree && access == Access::Modify;
            self.report.arrives(self.call, access, arg, recursive, incoming);
        }
    }

    /// `shutil.unpack_archive(file, dir)`, `zipfile.ZipFile(file).extractall(dir)`.
    fn unpack(&mut self, invocation: &Invocation<'_>) {
        let text = invocation.text;
        let known = |value: Option<&Value>| value.and_then(|value| value.args(text).into_iter().next());
        let file = known(invocation.get(0, "filename")).filter(|arg| arg.known().is_some());
        let target = known(["extract_dir", "path"].iter().find_map(|name| invocation.get(1, name)));
        let target = target.unwrap_or_else(|| Arg::literal("."));
        let files = file.into_iter().collect();
        let coding = crate::operand::Coding::Plain;
        let incoming = Incoming::Archive { files, coding, strip: 0, flat: false, only: Vec::new() };
        self.report.arrives(self.call, Access::Modify, &target, true, incoming);
    }

    pub(super) fn shell(&mut self, text: &Arg) {
        let text = &with_gaps(text);
        let text = match (&self.report.gone_to, text.known()) {
            (Some(Cwd::Known(place)), Some(command)) if !place.contains('\'') => {
                let known = Known::Text(format!("cd '{place}' && {command}").into());
                Arg { value: known, ..text.clone() }
            }
            _ => text.clone(),
        };
        self.report.next.push(Next::Shell {
            text,
            args: Vec::new(),
            through: self.language.to_owned(),
            elsewhere: false,
        });
    }

    fn argv(&mut self, argv: Vec<Arg>, variables: Vec<(String, Arg)>) {
        if !argv.is_empty() {
            self.report.then_argv(&argv, self.language);
            if let Some(Next::Argv { cwd, assignments, .. }) = self.report.next.last_mut() {
                cwd.clone_from(&self.report.gone_to);
                assignments.extend(variables);
            }
        }
    }

    /// Runs a value: text through a shell, a list as words.
    fn run(&mut self, value: &Value, invocation: &Invocation<'_>) {
        match value {
            Value::List(words) => {
                let argv = words.iter().flat_map(|word| word.args(invocation.text)).collect();
                self.argv(argv, invocation.variables());
            }
            Value::Any(values) => {
                for value in values {
                    self.run(value, invocation);
                }
            }
            Value::Text(text) => self.shell(text),
            value => self.report.unknown_code(value.taint(), invocation.text),
        }
    }

    /// Performs a call in its `cwd`: `subprocess.run(…, cwd="..")`, `spawn("git", […], {cwd: ".."})`.
    pub(super) fn perform(&mut self, api: Api, invocation: &Invocation<'_>) {
        let Some(directory) = invocation.option("cwd").and_then(Value::known) else {
            return self.perform_here(api, invocation);
        };
        let before = self.report.gone_to.clone();
        let from = before.clone().unwrap_or_else(|| self.call.cwd.clone());
        self.report.gone_to = Some(chdir(&from, &Arg::literal(directory)));
        self.perform_here(api, invocation);
        self.report.gone_to = before;
    }

    fn perform_here(&mut self, api: Api, invocation: &Invocation<'_>) {
        let first =
            invocation.positional.first().or_else(|| invocation.named.first().map(|(_, value)| value));
        let second = invocation.positional.get(1);
        let text = invocation.text;
        match api {
            Api::Shell => {
                if let Some(value) = invocation.get(0, "cmd").or(first) {
                    self.run(value, invocation)
                }
            }
            Api::Process => {
                if let Some(value) = invocation.get(0, "args").or_else(|| invocation.option("cmd")).or(first)
                {
                    self.run(value, invocation);
                }
            }
            Api::Spawn => self.spawn(invocation),
            Api::Words => self.words(invocation),
            Api::Fetch | Api::Send => self.reach(api == Api::Send, invocation),
            Api::Download => {
                self.reach(false, invocation);
                self.files(Access::Write, second.or_else(|| invocation.option("out")), false, text);
                self.report.taint.network = true;
            }
            Api::Edit => {
                let changes = invocation.option("inplace").is_some_and(Value::is_true);
                let files = first.or_else(|| invocation.option("files"));
                self.files(if changes { Access::Modify } else { Access::Read }, files, false, text);
                // Without names it uses the inputs of the code.
                if changes && files.is_none() {
                    self.report.changes_some(Access::Modify);
                }
            }
            Api::Pack => self.pack(invocation),
            Api::Evaluate => self.evaluate(invocation),
            Api::EvaluateText => {
                if matches!(invocation.positional.first(), Some(Value::Text(_))) {
                    self.evaluate(invocation);
                }
            }
            Api::Kill => self.kill(first, second, text),
            Api::ChangeDirectory => {
                let from = self.report.gone_to.clone().unwrap_or_else(|| self.call.cwd.clone());
                self.report.gone_to = first
                    .and_then(Value::known)
                    .map(|place| chdir(&from, &Arg::literal(place)))
                    .filter(|place| *place != Cwd::Unknown);
            }
            api => self.touch(api, first, second, invocation),
        }
    }

    /// Files that are made, read, changed, moved or deleted.
    fn touch(
        &mut self,
        api: Api,
        first: Option<&Value>,
        second: Option<&Value>,
        invocation: &Invocation<'_>,
    ) {
        let text = invocation.text;
        match api {
            Api::Delete => self.files(Access::Delete, first, false, text),
            Api::DeleteTree => {
                // `rm("-rf", path)` of shelljs.
                let options = first.and_then(Value::known).is_some_and(|word| word.starts_with('-'));
                self.files(Access::Delete, if options { second } else { first }, true, text);
            }
            Api::DeleteByOption => {
                let recursive = invocation.option("recursive").is_some_and(Value::is_true);
                self.files(Access::Delete, first, recursive, text);
            }
            Api::Write => {
                let nothing =
                    second.is_some_and(|content| content.known() == Some("")) || text.contains("alloc(0)");
                if let Some(path) = first.and_then(Value::known) {
                    let content = second.and_then(Value::known).map(str::to_owned);
                    self.report.contents.push((path.to_owned(), content));
                }
                self.files(if nothing { Access::Empty } else { Access::Write }, first, false, text);
            }
            Api::Append => self.files(Access::Append, first, false, text),
            Api::Truncate => {
                let empties = second.is_none_or(|size| size.known() == Some("0") || size.name() == Some("0"));
                self.files(if empties { Access::Empty } else { Access::Modify }, first, false, text);
            }
            Api::Open => {
                let mode = invocation.get(1, "mode").and_then(Value::known).unwrap_or("r");
                let access = match mode {
                    mode if mode.contains(['w', 'x']) => Access::Write,
                    mode if mode.contains('a') => Access::Append,
                    mode if mode.contains('+') => Access::Modify,
                    _ => Access::Read,
                };
                self.files(access, first, false, text);
            }
            Api::OpenFlags => self.open_by_flags(first, second, text),
            Api::Restore => {
                let taint = first.map(Value::taint).unwrap_or_default();
                if taint.network || taint.decoded {
                    self.report.unknown_code(taint, text);
                }
            }
            Api::Read => self.files(Access::Read, first, false, text),
            Api::List => self.files(Access::List, first, false, text),
            Api::Copy | Api::CopyTree => {
                self.files(Access::Read, first, api == Api::CopyTree, text);
                let access = if api == Api::CopyTree { Access::Modify } else { Access::Write };
                self.arrive(access, first, second, api == Api::CopyTree, false, text);
            }
            Api::Move => {
                self.files(Access::MoveAway, first, false, text);
                self.arrive(Access::Write, first, second, true, false, text);
            }
            Api::Unpack => self.unpack(invocation),
            Api::Mode => self.change_mode(first, second, text),
            Api::Owner => self.files(Access::ChangeOwner, first, false, text),
            Api::MakeDirectory => self.files(Access::MakeDirectory, first, false, text),
            Api::Link => self.arrive(Access::Link, first, second, true, true, text),
            _ => {}
        }
    }

    /// `os.open(path, flags)`.
    fn open_by_flags(&mut self, first: Option<&Value>, second: Option<&Value>, text: &str) {
        let access = match text {
            text if text.contains("O_TRUNC") || text.contains("O_CREAT") => Access::Write,
            text if text.contains("O_APPEND") => Access::Append,
            text if text.contains("O_WRONLY") || text.contains("O_RDWR") => Access::Modify,
            // A number instead of names: the lowest two bits are not for reading.
            _ if second
                .and_then(Value::name)
                .or(second.and_then(Value::known))
                .is_some_and(is_for_writing) =>
            {
                Access::Modify
            }
            _ => Access::Read,
        };
        self.files(access, first, false, text);
    }

    /// A mode, and whom it opens a secret to.
    fn change_mode(&mut self, first: Option<&Value>, second: Option<&Value>, text: &str) {
        let mode = second.and_then(Value::name).unwrap_or_default().trim_start_matches("0o");
        if mode.len() == 4 && mode.starts_with(['4', '6']) || text.contains("S_ISUID") {
            self.report.privilege(lictor_core::facts::Privilege::GrantBits);
        }
        let everybody = mode.ends_with(['2', '3', '6', '7']);
        if everybody && first.and_then(Value::known).is_some_and(is_secret_path) {
            self.report.deed("grant", "access");
        }
        self.files(Access::ChangeMode, first, false, text);
    }

    /// `execl("rm", "rm", "-rf", "x")`: the arguments are the words.
    fn words(&mut self, invocation: &Invocation<'_>) {
        let skip = usize::from(invocation.positional.first().is_some_and(|value| value.known().is_none()));
        let mut argv: Vec<Arg> =
            invocation.positional.iter().skip(skip).flat_map(|value| value.args(invocation.text)).collect();
        // `execl(path, arg0, …)`: the second word only names the first.
        let names_itself = invocation.text.contains("exec") || invocation.text.contains("os.spawn");
        if names_itself && !invocation.text.contains("create_subprocess") && argv.len() > 1 {
            argv.remove(1);
        }
        self.argv(argv, invocation.variables());
    }

    /// A tree goes into an archive.
    fn pack(&mut self, invocation: &Invocation<'_>) {
        let root = invocation.positional.get(2).or_else(|| invocation.option("root_dir"));
        self.files(Access::Read, root, true, invocation.text);
        let part = invocation.positional.get(3).or_else(|| invocation.option("base_dir"));
        if let (Some(root), Some(part)) = (root, part) {
            let below = super::value::join_path(vec![root.clone(), part.clone()]);
            self.files(Access::Read, Some(&below), true, invocation.text);
        }
        self.files(Access::Write, invocation.positional.first(), false, invocation.text);
    }

    /// A process is ended.
    fn kill(&mut self, first: Option<&Value>, second: Option<&Value>, text: &str) {
        // The signal comes first there.
        let signal_first = matches!(self.language, "perl" | "ruby");
        if signal_first
            && first
                .is_some_and(|signal| matches!(signal.name(), Some("0")) || signal.known() == Some("ZERO"))
        {
            return;
        }
        let process = if signal_first { second } else { first };
        // The parent of what the agent runs is the agent, or its shell.
        if text.to_ascii_lowercase().contains("ppid") {
            self.report.guard_off(GuardOff::LictorBinary, text);
        }
        let all = process.is_some_and(|value| matches!(value.name(), Some("-1" | "1" | "0")));
        self.report.process(if all { ProcessEffect::KillAll } else { ProcessEffect::Kill });
    }

    /// `spawn("rm", ["-rf", "x"], {shell: true})`, `execvp("rm", ["rm", "-rf"])`, `new Deno.Command("rm", {args: […]})`.
    fn spawn(&mut self, invocation: &Invocation<'_>) {
        let text = invocation.text;
        let Some(program) = invocation.positional.first() else { return };
        let mut argv = program.args(text);
        let list = invocation
            .positional
            .get(1)
            .filter(|value| value.elements().is_some())
            .or_else(|| invocation.option("args"));
        match list.and_then(Value::elements) {
            Some(words) => {
                // `exec*` lists repeat the program as their first word.
                let skip = usize::from(self.language == "python");
                argv.extend(words.iter().skip(skip).flat_map(|word| word.args(text)));
            }
            None if invocation.positional.get(1).is_some_and(|value| matches!(value, Value::Unknown(_))) => {
                argv.push(Arg::unknown(text));
            }
            None => {}
        }
        match argv.as_slice() {
            [only] if only.known().is_some_and(|text| text.contains(' ')) => {
                let only = only.clone();
                self.shell(&only);
            }
            [only] if only.known().is_none() && only.prefix().is_empty() => {
                self.report.opaque(OpaqueWhat::Program, text);
            }
            _ => self.argv(argv, invocation.variables()),
        }
    }

    fn reach(&mut self, sends: bool, invocation: &Invocation<'_>) {
        let url = invocation
            .positional
            .iter()
            .find_map(|value| match value {
                Value::Text(arg) if arg.prefix().contains("://") || arg.prefix().contains('.') => {
                    Some(arg.clone())
                }
                Value::List(parts) => parts.first().and_then(|part| match part {
                    Value::Text(arg) => Some(arg.clone()),
                    _ => None,
                }),
                _ => None,
            })
            .or_else(|| {
                ["url", "hostname", "host"].iter().find_map(|name| match invocation.option(name) {
                    Some(Value::Text(arg)) => Some(arg.clone()),
                    _ => None,
                })
            });
        let method =
            invocation.option("method").and_then(Value::known).unwrap_or_default().to_ascii_uppercase();
        let sends = sends
            || matches!(method.as_str(), "POST" | "PUT" | "PATCH" | "DELETE")
            || invocation.option("body").is_some()
            || invocation.option("data").is_some()
            // `urlopen(address, data)`.
            || invocation.text.contains("urlopen(") && invocation.positional.len() > 1;
        // Data in the URL is sent as well.
        let addressed = invocation.positional.first().map(Value::taint).unwrap_or_default();
        match url {
            Some(url) if url.prefix().starts_with("file://") => {
                let path = url.known().and_then(|text| text.strip_prefix("file://")).unwrap_or_default();
                self.report.file(self.call, Access::Read, &Arg::literal(path), false);
            }
            Some(url) => self.report.reach(
                url.known().and_then(host_of).or_else(|| partly_host(url.prefix())),
                &url.text,
                sends,
            ),
            None => self.report.reach(None, invocation.text, sends),
        }
        if invocation.sent().secret {
            self.report.flow(FlowSource::Secret, FlowSink::Host, invocation.text);
        } else if invocation.taint().private && (sends || addressed.private) {
            self.report.flow(FlowSource::Private, FlowSink::Host, invocation.text);
        }
    }

    fn evaluate(&mut self, invocation: &Invocation<'_>) {
        // `new Function("a", "b", "return a + b")` has its code last.
        let last = invocation.text.trim_start_matches("new ").starts_with("Function");
        let code = if last { invocation.positional.last() } else { invocation.positional.first() };
        let Some(code) = code else {
            return;
        };
        match code {
            Value::Text(arg) => {
                if arg.taint.decoded {
                    self.report.flow(FlowSource::Decoded, FlowSink::Shell, invocation.text);
                }
                self.report.next.push(Next::Code { language: self.language, body: arg.clone() })
            }
            // The result of `compile(…)`, which was judged at its place.
            Value::Name(name) if name == "<code>" => {}
            Value::Name(name) if name.starts_with(FILE) => {
                let path = Arg::literal(name.trim_start_matches(FILE));
                self.report.next.push(Next::Script { path, language: Some(self.language) });
            }
            Value::Any(codes) if codes.iter().all(|code| code.known().is_some()) => {
                for code in codes.iter().filter_map(Value::known) {
                    let body = Arg::literal(code);
                    self.report.next.push(Next::Code { language: self.language, body });
                }
            }
            value => self.report.unknown_code(value.taint(), invocation.text),
        }
    }
}

/// Text of which everything but the gaps is known, for the shell to read with unknown variables in them.
fn with_gaps(text: &Arg) -> Arg {
    const LONGEST: usize = 399;
    let whole = matches!(text.value, Known::Partly { .. })
        && text.taint == Taint::default()
        && text.text.contains('…')
        && text.text.chars().count() < LONGEST;
    if !whole {
        return text.clone();
    }
    let gap = format!("${{{}}}", crate::state::GAP);
    Arg { value: Known::Text(text.text.replace('…', &gap).into()), ..text.clone() }
}

/// Whether the access changes or removes a file's content.
fn changes(access: Access) -> bool {
    matches!(
        access,
        Access::Write | Access::Append | Access::Modify | Access::Empty | Access::Delete | Access::MoveAway
    )
}

fn loses(access: Access) -> bool {
    matches!(access, Access::Delete | Access::Destroy)
}

fn partly_host(prefix: &str) -> Option<String> {
    let (_, rest) = prefix.split_once("://")?;
    rest.contains('/').then(|| host_of(prefix)).flatten()
}

/// The value of reading a file: unknown, tainted when the file is a secret.
pub(super) fn content_of(call: &Call<'_>, path: Option<&Value>) -> Value {
    let args = path.map(|value| value.args("")).unwrap_or_default();
    let secret = args.iter().any(|arg| arg.known().is_some_and(is_secret_path));
    let private = args.into_iter().any(|arg| {
        let tree = arg.glob;
        crate::walk::is_private(call.env, &Operand::new(arg, call.cwd.clone()), tree)
    }) || path.and_then(Value::known).is_some_and(crate::walk::is_private_of_system);
    match path.and_then(Value::known) {
        Some(path) if !secret && !private => Value::Name(format!("{FILE}{path}")),
        _ => Value::Unknown(Taint { secret, private, ..Taint::default() }),
    }
}

/// The prefix of a value that is the content of a file.
pub(super) const FILE: &str = "<file>";

/// Reports the code itself, for the guard that judges it by name.
pub(super) fn code(report: &mut Report, language: &str, body: &str) {
    report.effects.push(Effect::Code { language: language.to_owned(), body: body.to_owned() });
}

/// Whether flags that are given as a number open a file for more than reading.
fn is_for_writing(flags: &str) -> bool {
    let number = match flags.strip_prefix("0x").or_else(|| flags.strip_prefix("0o")) {
        Some(digits) => u64::from_str_radix(digits, if flags.starts_with("0x") { 16 } else { 8 }).ok(),
        None => flags.parse().ok(),
    };
    number.is_some_and(|number: u64| number & 3 != 0)
}
