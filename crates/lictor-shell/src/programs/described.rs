//! Effects of a call of a described program.

use lictor_core::facts::{
    Access, Cardinality, DatabaseEffect, Effect, FlowSink, FlowSource, GitEffect, GuardOff, OpaqueWhat,
    Privilege, ProcessEffect,
};

use super::options::{Options, Spelling, after};
use super::report::{templated, written};
use super::{databases, files, guard, local, network, secrets, serving, table, text, uploads};
use crate::call::{Call, Next, Report, Stdin};
use crate::describe::{Act, Consequence, Deep, Given, Place, Prints, Program, Rule, Token, Use};
use crate::operand::Arg;

/// A call that is read by a description.
struct Reader<'a> {
    call: &'a Call<'a>,
    program: &'a Program,
    options: Options,
    /// The operands that count, by their number.
    order: Vec<usize>,
    /// How many operands there are when no option took any.
    operands: usize,
    /// How many of these the pattern of the rule took.
    taken: usize,
    /// The words behind the pattern.
    rest: &'a [Arg],
}

/// Reports what a call does.
pub(crate) fn judge(program: &Program, call: &Call<'_>, report: &mut Report) {
    if let [Rule { words, acts, .. }] = &*program.rules
        && let ([], [Act::Function(number)]) = (&**words, &**acts)
    {
        return table::run(*number, call, report);
    }
    let options = Spelling::of(&program.options).parse(call.args);
    // `cargo +nightly build`: which version of itself is run.
    let is_version = |arg: &Arg| arg.prefix().starts_with('+') && !arg.prefix().contains('/');
    let own = usize::from(options.operands.first().is_some_and(is_version));
    let order: Vec<usize> = (own..options.operands.len()).collect();
    let operands = order.len();
    let mut reader = Reader { call, program, options, order, operands, taken: 0, rest: call.args };
    if reader.is_quiet() {
        return;
    }
    // Without the words that an option of which nothing is known may have taken.
    let is_sure = |at: &usize| reader.options.found.get(*at).is_none_or(|(_, doubt)| !doubt);
    let doubtful = !reader.order.iter().all(is_sure);
    let mut sure: Vec<usize> = reader.order.iter().copied().filter(|at| doubtful && is_sure(at)).collect();
    for rule in program.rules.iter() {
        let mut held = reader.holds(rule);
        // A harmless rule must match with certainty.
        let again = !held && doubtful && !rule.acts.is_empty();
        if again {
            std::mem::swap(&mut reader.order, &mut sure);
            held = reader.holds(rule);
        }
        if held {
            rule.acts.iter().for_each(|act| reader.act(act, report));
        }
        if again {
            std::mem::swap(&mut reader.order, &mut sure);
        }
        if held && !rule.also {
            return;
        }
    }
}

/// Reports what a call would do if it were one of another program (`python manage.py`, `cargo sqlx`). Says whether that
/// program is described.
pub(crate) fn judge_as(name: &str, args: &[Arg], call: &Call<'_>, report: &mut Report) -> bool {
    let Some(entry) = table::find(name) else { return false };
    judge(&entry.program, &Call { program: name, args, ..*call }, report);
    true
}

/// Whether a word matches one of the alternatives of a pattern.
pub(crate) fn fits(pattern: &str, word: &str) -> bool {
    let mut rest = pattern;
    // This runs for every rule of a program: no search is set up for texts of a few letters.
    while let Some(end) = rest.bytes().position(|byte| byte == b'|') {
        if fits_one(rest.get(..end).unwrap_or_default(), word) {
            return true;
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    fits_one(rest, word)
}

/// Whether a word matches a pattern without alternatives.
fn fits_one(pattern: &str, word: &str) -> bool {
    if !pattern.bytes().any(|byte| byte == b'*') {
        return pattern == word;
    }
    if pattern == "\\*" {
        return word == "*";
    }
    let mut parts = pattern.split('*');
    let Some(mut rest) = word.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(end) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, tail)) = rest.split_once(part) else { return false };
        rest = tail;
    }
    rest.ends_with(end)
}

impl Reader<'_> {
    /// Whether the start of an operand of which not all is known is enough for a pattern (`/usr/*`).
    fn starts_like(&self, pattern: &str, at: usize) -> bool {
        let Some(arg) = self.operand(at).filter(|arg| arg.known().is_none()) else { return false };
        let start = arg.prefix();
        pattern.split('|').any(|one| {
            one.strip_suffix('*').is_some_and(|stem| {
                stem.len() > 1 && !stem.contains('*') && stem.ends_with('/') && start.starts_with(stem)
            })
        })
    }

    fn is_quiet(&self) -> bool {
        let dry = |name: &str| {
            matches!(name, "dry-run" | "dryrun" | "dryRun" | "dry_run" | "help" | "what-if" | "whatif")
        };
        // The last one counts: `--dry-run --no-dry-run` does it.
        let last = self.options.given().filter(|(name, _)| dry(name.trim_start_matches("no-"))).last();
        let asks = last.is_some_and(|(name, value)| {
            dry(name) && !matches!(value.and_then(Arg::known), Some("none" | "false"))
        });
        let set = |wanted: &Given| {
            self.call.assignments.iter().any(|(name, value)| {
                wanted.names.iter().any(|known| known == name)
                    && wanted
                        .value
                        .as_deref()
                        .zip(value.known())
                        .is_some_and(|(pattern, value)| fits(pattern, value))
            })
        };
        asks || self.program.quiet.iter().any(|given| self.has(given))
            || self.program.variables.iter().any(set)
    }

    fn has(&self, wanted: &Given) -> bool {
        self.options.given().any(|(name, value)| {
            let value = value.and_then(Arg::known);
            wanted.names.iter().any(|known| known == name)
                && match &wanted.value {
                    Some(pattern) => value.is_some_and(|value| fits(pattern, value)),
                    None => value != Some("false"),
                }
        })
    }

    fn operand(&self, at: usize) -> Option<&Arg> {
        self.options.operands.get(*self.order.get(at)?)
    }

    fn word(&self, at: usize) -> &str {
        self.operand(at).and_then(Arg::known).unwrap_or_default()
    }

    /// Whether a rule matches; consumes its words from the operands.
    fn holds(&mut self, rule: &Rule) -> bool {
        let Some(taken) = self.take(&rule.words, 0) else { return false };
        self.taken = taken;
        let behind = taken.checked_sub(1).and_then(|last| self.order.get(last));
        let from = behind.and_then(|last| self.options.found.get(*last)).map_or(0, |(at, _)| at + 1);
        self.rest = self.call.args.get(from..).unwrap_or_default();
        if rule.words.contains(&Token::Dashes) {
            let Some(at) = self.rest.iter().position(|arg| arg.known() == Some("--")) else { return false };
            self.rest = self.rest.get(at + 1..).unwrap_or_default();
            self.taken = self.options.ended_at.unwrap_or(taken).max(taken);
        }
        true
    }

    /// How many operands the tokens consume from `at` on, if they match.
    fn take(&self, tokens: &[Token], at: usize) -> Option<usize> {
        let Some((token, rest)) = tokens.split_first() else { return Some(at) };
        let holds = match token {
            Token::Word(pattern) => {
                return (at < self.order.len()
                    && (fits(pattern, self.word(at)) || self.starts_like(pattern, at)))
                .then(|| self.take(rest, at + 1))
                .flatten();
            }
            Token::Gap => return (at..=self.order.len()).find_map(|at| self.take(rest, at)),
            // A word that an option may have taken may as well be an operand.
            Token::End => at >= self.order.len() && self.order.len() == self.operands,
            Token::Unknown => {
                let is_open = |arg: &Arg| arg.glob || arg.known().is_none_or(|word| word.contains('*'));
                (at..self.order.len()).any(|at| self.operand(at).is_some_and(is_open))
            }
            Token::NoWord(pattern) => !(0..self.order.len()).any(|at| fits(pattern, self.word(at))),
            Token::Dashes => true,
            Token::With(given) => self.has(given),
            Token::Without(given) => !self.has(given),
        };
        holds.then(|| self.take(rest, at)).flatten()
    }

    /// The arguments at these places.
    fn found(&self, places: &[Place]) -> Vec<Arg> {
        let from = |at: usize| (at..self.order.len()).filter_map(|at| self.operand(at)).cloned();
        let mut found: Vec<Arg> = Vec::new();
        for place in places {
            match place {
                Place::Operand(number) => found.extend(self.operand(number - 1).cloned()),
                Place::From(number) => found.extend(from(number - 1)),
                Place::Last if self.order.len() > self.taken + 1 => {
                    found.extend(from(self.order.len() - 1));
                }
                Place::Last | Place::Stdin => {}
                Place::ButLast => {
                    let last = self.order.len().saturating_sub(1).max(self.taken);
                    found.extend((self.taken..last).filter_map(|at| self.operand(at)).cloned());
                }
                Place::Rest(skip) => found.extend(from(self.taken + skip)),
                Place::Option(names) => {
                    let values =
                        self.options.given().filter(|(name, _)| names.iter().any(|known| known == name));
                    found.extend(values.filter_map(|(_, value)| value).cloned());
                }
                Place::Behind(names) => {
                    let is_one =
                        |arg: &Arg| arg.known().is_some_and(|word| names.iter().any(|name| name == word));
                    found.extend(self.call.args.iter().skip_while(|arg| !is_one(arg)).skip(1).cloned());
                }
                Place::Setting(start) => {
                    let settings = self.call.args.iter().filter(|arg| arg.prefix().starts_with(&**start));
                    found.extend(settings.map(|arg| after(arg, start.len())));
                }
                Place::At => found.extend(uploads::at(self.call)),
                Place::Any => {
                    let values = self.options.given().filter_map(|(_, value)| value);
                    for arg in self.options.operands.iter().chain(values) {
                        let start = if arg.prefix().starts_with("file://") { "file://".len() } else { 0 };
                        found.push(after(arg, start));
                    }
                }
                Place::Disks => {
                    found.extend(self.call.args.iter().filter(|arg| files::is_disk(arg.prefix())).cloned())
                }
                Place::Path(path) => found.push(Arg::literal(self.filled(path))),
            }
        }
        found
    }

    /// A text with operands in the place of `{n}`.
    fn filled(&self, text: &str) -> String {
        let mut parts = text.split('{');
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.split_once('}').and_then(|(number, tail)| Some((number.parse::<usize>().ok()?, tail)))
            {
                Some((number, tail)) => {
                    out.push_str(number.checked_sub(1).map_or(self.call.program, |at| self.word(at)));
                    out.push_str(tail);
                }
                None => {
                    out.push('{');
                    out.push_str(part);
                }
            }
        }
        out
    }

    /// The words of another program behind the pattern: without `skip` operands and the options around them.
    fn behind(&self, skip: usize) -> Vec<Arg> {
        let spelling = Spelling::of(&self.program.options).in_front();
        let mut argv = self.rest.to_vec();
        for _ in 0..skip {
            let mut operands = spelling.parse(&argv).operands;
            if !operands.is_empty() {
                operands.remove(0);
            }
            argv = operands;
        }
        spelling.parse(&argv).operands
    }

    fn act(&self, act: &Act, report: &mut Report) {
        match act {
            Act::Has(consequence, what, all) => {
                self.has_consequence(*consequence, what.as_deref(), all, report)
            }
            Act::Files(how, places, deep) => self.files(*how, places, deep, report),
            Act::Runs(places, elsewhere) => self.runs(places, *elsewhere, report),
            Act::Shell(places, elsewhere) => self.shell(places, *elsewhere, report),
            Act::Code(language, places) => {
                if let Some(language) = super::shells::language_named(language) {
                    self.found(places).iter().for_each(|body| report.then_code(language, body));
                    if let (true, Stdin::Text(text)) = (places.contains(&Place::Stdin), self.call.stdin) {
                        report.then_code(language, &Arg::literal(text));
                    }
                }
            }
            Act::Sql(places) => self.sql(places, report),
            Act::Reaches(places, sends) => self.reaches(places, *sends, report),
            Act::Uploads(places, deep) => self.uploads(places, deep, report),
            Act::Serves(places) => serving::directory(self.call, report, self.found(places).first()),
            Act::Formats(places) => self.formats(places, report),
            Act::Prints(what) => match what {
                Prints::Credential => {
                    report.taint.secret = true;
                    report.credential = true;
                }
                Prints::Secret => report.taint.secret = true,
                Prints::Private => report.taint.private = true,
                Prints::Network => report.taint.network = true,
                Prints::Decoded => report.taint.decoded = true,
                Prints::Input => text::pass_on(self.call, report),
                Prints::Derived => text::derive(self.call, report),
            },
            Act::Deed(verb, object, what) => report.effects.push(Effect::Deed {
                verb: verb.to_string(),
                object: object.to_string(),
                cardinality: Cardinality::Single,
                what: what.as_deref().map(|what| self.filled(what)),
            }),
            Act::Function(number) => {
                table::run(*number, &Call { args: self.rest, ..*self.call }, report);
            }
        }
    }

    fn has_consequence(
        &self,
        consequence: Consequence,
        what: Option<&str>,
        all: &[Given],
        report: &mut Report,
    ) {
        let text = || match what {
            Some(what) => self.filled(what),
            None => written(self.call),
        };
        let here = match consequence {
            Consequence::Destroys | Consequence::DestroysAll => local::is_emulated(self.call),
            Consequence::Publishes => local::is_published(self.call),
            _ => false,
        };
        if here {
            return;
        }
        let program = self.call.program;
        let target = what.map(|_| text());
        let target = target.as_deref();
        match consequence {
            Consequence::Destroys => {
                report.infrastructure(program, &text(), all.iter().any(|given| self.has(given)));
            }
            Consequence::DestroysAll => report.infrastructure(program, &text(), true),
            Consequence::Drops => report.database(DatabaseEffect::DropAll, &text()),
            Consequence::DropsPart => report.database(DatabaseEffect::DropPart, &text()),
            Consequence::Changes => report.database(DatabaseEffect::Change, &text()),
            Consequence::Reveals => secrets::reveals(report),
            Consequence::Publishes => report.publish(program),
            Consequence::Stops => report.process(ProcessEffect::Shutdown),
            Consequence::Kills => report.process(ProcessEffect::Kill),
            Consequence::KillsAll => report.process(ProcessEffect::KillAll),
            Consequence::Formats => report.process(ProcessEffect::Format),
            Consequence::BecomesRoot => report.privilege(Privilege::BecomeRoot),
            Consequence::Container => report.privilege(Privilege::Container),
            Consequence::GrantsBits => report.privilege(Privilege::GrantBits),
            Consequence::Persists => report.deed("change", "startup"),
            Consequence::Disables => report.deed("disable", "protection"),
            Consequence::SkipsHooks => report.guard_off(GuardOff::Hooks, &text()),
            Consequence::StopsLictor => report.guard_off(GuardOff::LictorBinary, &text()),
            Consequence::Opaque => report.opaque(OpaqueWhat::Code, &text()),
            Consequence::DiscardsWork => report.git(GitEffect::DiscardWork, target),
            Consequence::DiscardsCommits => report.git(GitEffect::DiscardCommits, target),
            Consequence::RewritesHistory => report.git(GitEffect::RewriteHistory, target),
            Consequence::ExpiresHistory => report.git(GitEffect::ExpireHistory, target),
            Consequence::ForcePushes => report.git(GitEffect::ForcePush, target),
            Consequence::DeletesRemote => report.git(GitEffect::DeleteRemote, target),
            Consequence::Pushes => report.git(GitEffect::Push, target),
            Consequence::Commits => report.git(GitEffect::Commit, target),
            Consequence::CommitsUnseen => report.git(GitEffect::SkipHooks, Some(&text())),
        }
    }

    fn is_deep(&self, deep: &Deep) -> bool {
        match deep {
            Deep::No => false,
            Deep::Yes => true,
            Deep::With(given) => self.has(given),
        }
    }

    fn files(&self, how: Use, places: &[Place], deep: &Deep, report: &mut Report) {
        let deep = self.is_deep(deep);
        let access = match how {
            Use::Reads => Access::Read,
            Use::Lists => Access::List,
            Use::Writes | Use::Builds => Access::Write,
            Use::Appends => Access::Append,
            Use::Modifies => Access::Modify,
            Use::Empties => Access::Empty,
            Use::Deletes => Access::Delete,
            Use::Moves => Access::MoveAway,
            Use::Makes => Access::MakeDirectory,
            Use::Links => Access::Link,
            Use::Modes => Access::ChangeMode,
            Use::Owns => Access::ChangeOwner,
            Use::Wipes => Access::Destroy,
        };
        let mut files = self.found(places);
        // `gci | ri`: the names come down the pipe.
        if let (true, true, Stdin::Names(names)) =
            (files.is_empty(), places.contains(&Place::Stdin), self.call.stdin)
        {
            files.clone_from(names);
        }
        for arg in files {
            match arg.known() {
                Some("") => {}
                Some("-" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/null")
                    if !matches!(how, Use::Deletes | Use::Moves | Use::Wipes) => {}
                // `-o '|command'` writes to a command.
                Some(word) if word.starts_with('|') && how == Use::Writes => {
                    report.then_shell(&after(&arg, 1), &[], self.call.program);
                }
                _ if how == Use::Builds && is_scratch(arg.prefix()) => {}
                _ if how == Use::Reads => secrets::read(self.call, report, &arg, deep),
                _ if matches!(how, Use::Writes | Use::Modifies | Use::Appends | Use::Empties) && !deep => {
                    files::write_maybe_device(self.call, report, &arg, access);
                }
                _ => report.file(self.call, access, &arg, deep),
            }
        }
    }

    fn runs(&self, places: &[Place], elsewhere: bool, report: &mut Report) {
        for place in places {
            match place {
                Place::Rest(skip) => self.run(&self.behind(*skip), elsewhere, report),
                Place::Behind(_) => {
                    let argv: Vec<Arg> = self.found(std::slice::from_ref(place));
                    self.run(&argv, elsewhere, report);
                }
                Place::From(number) => {
                    let argv: Vec<Arg> = self.found(std::slice::from_ref(&Place::From(*number)));
                    self.run(&argv, elsewhere, report);
                }
                place => {
                    for program in self.found(std::slice::from_ref(place)) {
                        self.run(std::slice::from_ref(&program), elsewhere, report);
                    }
                }
            }
        }
    }

    fn run(&self, argv: &[Arg], elsewhere: bool, report: &mut Report) {
        let through = self.call.program;
        let (assigned, argv) = super::wrappers::assignments(argv);
        let program = argv.first().and_then(Arg::known).map(|path| path.rsplit('/').next().unwrap_or(path));
        for (name, value) in &assigned {
            guard::assignment(name, value, program.unwrap_or_default(), report);
        }
        match argv {
            [] => {}
            // A whole command line in one word.
            [only] if only.prefix().contains(char::is_whitespace) => {
                report.shell(only, &[], through, elsewhere)
            }
            argv => report.next.push(Next::Argv {
                argv: argv.to_vec(),
                assignments: assigned,
                cwd: None,
                through: through.to_owned(),
                more: false,
                elsewhere,
            }),
        }
    }

    fn shell(&self, places: &[Place], elsewhere: bool, report: &mut Report) {
        for place in places {
            match place {
                Place::Rest(skip) => {
                    let words = self.behind(*skip);
                    if !words.is_empty() {
                        report.shell(&templated(&words), &[], self.call.program, elsewhere);
                    }
                }
                Place::Stdin => super::shells::stdin_is_code(self.call, report),
                place => {
                    // `npm:watch-*` names scripts of the project.
                    let found = self.found(std::slice::from_ref(place));
                    for text in found.iter().filter(|text| !text.prefix().starts_with("npm:")) {
                        report.shell(text, &[], self.call.program, elsewhere);
                    }
                }
            }
        }
    }

    fn sql(&self, places: &[Place], report: &mut Report) {
        for place in places {
            let names_file = matches!(place, Place::Option(names) if names.iter().any(|name| name == "file" || name == "init"));
            for text in self.found(std::slice::from_ref(place)) {
                match text.known().and_then(|path| self.call.env.written(path)) {
                    Some(script) => databases::script(self.call, report, &script),
                    None if names_file => {}
                    None => databases::script(self.call, report, text.prefix()),
                }
            }
        }
        if places.contains(&Place::Stdin) {
            match self.call.stdin {
                Stdin::Text(text) => databases::script(self.call, report, text),
                // Without a statement, a client waits for one.
                Stdin::Inherited if self.found(places).is_empty() && self.may_be_interactive() => {
                    super::shells::awaits_code(report);
                }
                _ => {}
            }
        }
    }

    /// Whether it may be a client that a person would type into: it has no subcommands, and was not asked about itself.
    fn may_be_interactive(&self) -> bool {
        let about = ["--version", "--help", "-V", "-l", "--list", "-?"];
        self.program.rules.iter().all(|rule| rule.words.is_empty())
            && !self.call.args.iter().any(|arg| arg.known().is_some_and(|word| about.contains(&word)))
    }

    fn reaches(&self, places: &[Place], sends: bool, report: &mut Report) {
        for host in self.found(places) {
            network::reach(report, &host, sends);
            if host.taint.secret {
                report.flow(FlowSource::Secret, FlowSink::Host, &host.text);
            }
        }
        if places.contains(&Place::Stdin) {
            report.reach(None, &written(self.call), sends);
        }
    }

    fn uploads(&self, places: &[Place], deep: &Deep, report: &mut Report) {
        let deep = self.is_deep(deep);
        for place in places {
            for file in self.found(std::slice::from_ref(place)) {
                // Most words are not files.
                if matches!(place, Place::Any | Place::At) && !secrets::is_secret(&file) {
                    continue;
                }
                if file.known() == Some("-") {
                    report.flows(text::stdin_taint(self.call), FlowSink::Host, &file.text);
                    continue;
                }
                report.file(self.call, Access::Read, &file, deep);
                if secrets::is_secret(&file) || file.taint.secret {
                    report.flow(FlowSource::Secret, FlowSink::Host, &file.text);
                }
            }
        }
        if places.contains(&Place::Stdin) && text::stdin_taint(self.call).secret {
            report.flow(FlowSource::Secret, FlowSink::Host, &written(self.call));
        }
    }

    /// A device or an unknown path counts as a disk; anything else is a disk image.
    fn formats(&self, places: &[Place], report: &mut Report) {
        let mut seen: Vec<Arg> = Vec::new();
        for target in self.found(places) {
            if seen.contains(&target) {
                continue;
            }
            if target.known().is_none() || target.prefix().starts_with("/dev/") {
                report.process(ProcessEffect::Format);
            }
            report.file(self.call, Access::Destroy, &target, false);
            seen.push(target);
        }
    }
}
/// Whether the build output is in a working directory: in the project or a temporary directory.
fn is_scratch(path: &str) -> bool {
    !path.starts_with(['/', '~']) && !path.contains(".git/")
        || crate::paths::is_temporary(path) && !path.contains("/../")
}
