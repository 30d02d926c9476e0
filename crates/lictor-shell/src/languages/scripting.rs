//! Perl, Ruby, PHP, Lua and awk, by their tokens: functions with literal arguments.

mod awk;
mod expressions;

use std::collections::BTreeMap;

use lictor_core::facts::{Access, FlowSink, FlowSource, OpaqueWhat};

use super::act::{Actor, Invocation};
use super::api::{Api, scripting as function};
use super::tokens::{Syntax, Token, tokens};
use super::value::Value;
use crate::call::{Call, Report};
use crate::operand::{Arg, Taint};
use crate::programs::is_secret_path;

/// More tokens than this are not read.
const MOST: usize = 100_000;

fn syntax(language: &str) -> Syntax {
    Syntax {
        hash_comment: matches!(language, "perl" | "ruby" | "php" | "awk"),
        slash_comment: language == "php",
        dash_comment: language == "lua",
        backticks: matches!(language, "perl" | "ruby" | "php"),
        perl_quotes: language == "perl",
        ruby_quotes: language == "ruby",
        patterns: language == "awk",
    }
}

/// Longer spellings of the home directory, and the usual one.
const HOMES: [(&str, &str); 7] = [
    ("Etc.getpwuid.dir", "Dir.home"),
    ("File::HomeDir->my_home", "$ENV{HOME}"),
    ("(getpwuid($<))[7]", "$ENV{HOME}"),
    ("(getpwuid $<)[7]", "$ENV{HOME}"),
    ("$_SERVER[\"HOME\"]", "getenv(\"HOME\")"),
    ("$_SERVER['HOME']", "getenv('HOME')"),
    ("posix_getpwuid(posix_getuid())['dir']", "getenv('HOME')"),
];

fn reaches(report: &Report) -> bool {
    report.effects.iter().any(|effect| matches!(effect, crate::Effect::Reach(_)))
}

/// Whether code takes all variables of the environment, the secret ones among them.
fn takes_environment(body: &str) -> bool {
    crate::words::CODE_WHOLE_ENVIRONMENT.iter().any(|form| body.contains(form))
}

pub(super) fn judge(language: &'static str, body: &str, call: &Call<'_>, report: &mut Report) {
    let usual =
        HOMES.iter().find(|(long, _)| body.contains(long)).map(|(long, usual)| body.replace(long, usual));
    let body = usual.as_deref().unwrap_or(body);
    let Some(all) = tokens(body, syntax(language), MOST) else {
        return report.opaque(OpaqueWhat::Limit, body);
    };
    let mut reader = Reader { language, body, call, listed: None, variables: BTreeMap::new() };
    if language == "awk" {
        reader.variables.extend(awk::given(call));
    }
    let mut at = 0;
    while at < all.len() {
        let rest = all.get(at..).unwrap_or_default();
        reader.step(rest, at.checked_sub(1).and_then(|before| all.get(before)), call, report);
        at += 1;
    }
    if language == "awk" {
        awk::judge(&reader, &all, call, report);
    }
    if takes_environment(body) {
        report.taint.secret = true;
        if body.contains("://") || reaches(report) {
            report.flow(FlowSource::Secret, FlowSink::Host, body);
        }
    }
    for window in all.windows(2).filter(|_| language == "php") {
        // `include "https://…"` runs what is there.
        let [Token::Word(word), rest @ ..] = window else { continue };
        let url = rest.iter().find_map(|token| match token {
            Token::Text(text, _) if text.contains("://") => Some(text),
            _ => None,
        });
        let runs = matches!(word.as_str(), "include" | "require" | "include_once" | "require_once");
        if let Some(url) = url.filter(|_| runs) {
            report.flow(FlowSource::Network, FlowSink::Shell, url);
        }
    }
    statements(&all, report);
    for at in 0..all.len() {
        // `Pathname.new("x").rmtree`, `path("x")->remove_tree`.
        let Some([Token::Word(made), Token::Sign('('), Token::Text(path, _), Token::Sign(')'), rest @ ..]) =
            all.get(at..)
        else {
            continue;
        };
        let method = rest.iter().take(3).find_map(|token| match token {
            Token::Word(word) => Some(word.as_str()),
            _ => None,
        });
        if matches!(made.as_str(), "Pathname.new" | "path" | "Pathname")
            && matches!(method, Some("rmtree" | "remove_tree" | "delete" | "unlink" | "remove"))
        {
            report.file(
                call,
                Access::Delete,
                &Arg::literal(path),
                matches!(method, Some("rmtree" | "remove_tree")),
            );
        }
    }
    for deleted in body.split("unlink <").skip(1).filter(|_| language == "perl") {
        // `<…>` is a glob there.
        let pattern = deleted.split('>').next().unwrap_or_default();
        report.file(call, Access::Delete, &Arg { glob: true, ..Arg::literal(pattern) }, false);
    }
    if let Some(listed) = reader.listed.as_ref().filter(|_| language == "ruby")
        && ["(&:delete)", "(&:unlink)", "(&:rmtree)"].iter().any(|each| body.contains(each))
    {
        let mut actor = Actor { call, report, language };
        let tree = if body.contains("(&:rmtree)") { Api::DeleteTree } else { Api::Delete };
        actor.perform(tree, &Invocation { positional: std::slice::from_ref(listed), named: &[], text: body });
    }
    as_shell(body, &all, report);
    let mentions = |words: &[&str]| words.iter().any(|word| body.contains(word));
    // gawk talks to hosts through `/inet/…` and runs what comes back by `|& getline`.
    if language == "awk" && mentions(&["/inet/", "/inet4/", "/inet6/"]) {
        report.reach(None, "/inet", true);
        if body.matches("getline").count() > 1 {
            report.flow(FlowSource::Network, FlowSink::Shell, body);
        }
    }
}

/// Statements for a database in the words of a framework (`DB::statement("DROP …")`, `User.delete_all`).
fn statements(all: &[Token], report: &mut Report) {
    for (at, token) in all.iter().enumerate() {
        let Token::Word(name) = token else { continue };
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        match last {
            "delete_all" | "destroy_all" => {
                report.database(lictor_core::facts::DatabaseEffect::DropPart, name);
            }
            "statement" | "unprepared" | "execute" | "exec_query" | "select_all" => {
                let text =
                    all.get(at + 1..).unwrap_or_default().iter().take(3).find_map(|token| match token {
                        Token::Text(text, _) => Some(text),
                        _ => None,
                    });
                if let Some(text) = text {
                    crate::programs::sql::judge(text, report);
                }
            }
            _ => {}
        }
    }
}

/// `perl -e "rm -rf /"`: a shell command where code belongs.
fn as_shell(body: &str, all: &[Token], report: &mut Report) {
    if let [Token::Word(first), Token::Sign('-'), ..] = all
        && matches!(first.as_str(), "rm" | "rmdir" | "dd" | "shred" | "chmod" | "chown" | "find" | "mkfs")
    {
        super::broken::judge(body, report);
    } else if let [Token::Word(first), Token::Word(second), ..] = all
        && first == "git"
        && matches!(second.as_str(), "reset" | "clean" | "checkout" | "push" | "restore" | "stash" | "branch")
    {
        super::broken::judge(body, report);
    }
}

/// Whether what follows a function of Perl ends its call: it then works on `$_`.
fn names_nothing(next: Option<&Token>) -> bool {
    match next {
        None | Some(Token::Sign('}' | ';')) => true,
        Some(Token::Word(word)) => matches!(word.as_str(), "for" | "foreach" | "if" | "unless"),
        Some(_) => false,
    }
}

/// Whether a statement asks for the process that started this one.
fn names_parent(after: &[Token]) -> bool {
    after
        .iter()
        .take_while(|token| !matches!(token, Token::Sign(';' | '}' | '\n')))
        .any(|token| matches!(token, Token::Word(word) if word.to_ascii_lowercase().ends_with("ppid")))
}

struct Reader<'a, 'b> {
    language: &'static str,
    body: &'a str,
    call: &'a Call<'b>,
    /// The last list of names, for the variable of the block that follows it (`Dir.glob("*.o").each { |f| … }`).
    listed: Option<Value>,
    variables: BTreeMap<String, Value>,
}

impl Reader<'_, '_> {
    fn step(&mut self, rest: &[Token], before: Option<&Token>, call: &Call<'_>, report: &mut Report) {
        match rest {
            [Token::Command(text), ..] => {
                let mut actor = Actor { call, report, language: self.language };
                actor.shell(&self.filled(text));
            }
            [Token::Word(name), Token::Sign('='), after, ..]
                if !matches!(after, Token::Sign('=' | '~' | '>'))
                    && (name.starts_with('$') || matches!(self.language, "ruby" | "lua" | "awk")) =>
            {
                let value = self.expression(rest.get(2..).unwrap_or_default()).0;
                if self.variables.len() < 10_000 {
                    self.variables.insert(name.clone(), value);
                }
            }
            [Token::Sign('|'), Token::Word(name), Token::Sign('|'), ..] if self.language == "ruby" => {
                let value = self.listed.clone().unwrap_or_else(Value::unknown);
                self.variables.insert(name.clone(), value);
            }
            [Token::Word(word), ..] if matches!(word.as_str(), "for" | "foreach") && self.bind_loop(rest) => {
            }
            [Token::Word(name), ..] => {
                if let Some((value @ Value::Text(_), _)) = self.word(name, rest.get(1..).unwrap_or_default())
                    && matches!(
                        name.as_str(),
                        "Dir.glob"
                            | "glob"
                            | "Dir"
                            | "Pathname.glob"
                            | "Dir.children"
                            | "Dir.entries"
                            | "readdir"
                    )
                {
                    self.listed = Some(value);
                }
                // A method of something else, or a hash key, has the same name by chance.
                let is_method = matches!(before, Some(Token::Sign('>' | '.' | '&')))
                    && !matches!(self.language, "ruby" | "awk")
                    || matches!(rest.get(1), Some(Token::Sign('=')));
                let is_definition = matches!(before, Some(Token::Word(word)) if matches!(word.as_str(), "sub" | "def" | "function"));
                // `$f($x)` of PHP calls the function named by the variable.
                let held = self
                    .variables
                    .get(name)
                    .filter(|_| self.language == "php" && matches!(rest.get(1), Some(Token::Sign('('))));
                let name = held.and_then(Value::known).unwrap_or(name);
                if let Some(api) = function(self.language, name).filter(|_| !is_method && !is_definition) {
                    if self.language == "perl" && api == Api::Delete && names_nothing(rest.get(1)) {
                        self.implied(rest, call, report);
                    }
                    self.invoke(name, api, rest.get(1..).unwrap_or_default(), call, report);
                }
                self.special(name, rest, call, report);
            }
            _ => {}
        }
    }

    /// `foreach (glob("*.o") as $f)`, `for my $f (glob("*.o"))`: the variable is each of what the loop goes through.
    fn bind_loop(&mut self, rest: &[Token]) -> bool {
        let is_variable = |token: &Token| matches!(token, Token::Word(word) if word.starts_with('$'));
        let (name, value) = match (self.language, rest) {
            ("php", [_, Token::Sign('('), list @ ..]) => {
                let value = match list {
                    // The elements of a list that is written out.
                    [Token::Sign('['), inner @ ..] => {
                        let inner = inner.iter().take_while(|token| !matches!(token, Token::Sign(']')));
                        let texts = inner.map(|token| match token {
                            Token::Text(text, _) => Some(Value::text(text)),
                            Token::Sign(',') => None,
                            _ => Some(Value::unknown()),
                        });
                        Value::one_of(texts.flatten().collect())
                    }
                    list => self.expression(list).0,
                };
                let behind =
                    list.iter().skip_while(|token| !matches!(token, Token::Word(word) if word == "as"));
                let inside = behind.take_while(|token| !matches!(token, Token::Sign(')')));
                (inside.filter(|token| is_variable(token)).last(), value)
            }
            ("perl", [_, rest @ ..]) => {
                let Some(at) = rest.iter().take(3).position(|token| matches!(token, Token::Sign('('))) else {
                    return false;
                };
                let (values, _) = self.arguments(rest.get(at..).unwrap_or_default());
                let named = rest.get(..at).unwrap_or_default().iter().find(|token| is_variable(token));
                (named, Value::one_of(values))
            }
            _ => return false,
        };
        let Some(Token::Word(name)) = name else { return false };
        let value = match value {
            Value::List(values) => Value::one_of(values),
            value => value,
        };
        self.variables.insert(name.clone(), value);
        true
    }

    /// `unlink` of `$_`: of each name in the surrounding or following list, or of each name in a walk.
    fn implied(&self, rest: &[Token], call: &Call<'_>, report: &mut Report) {
        let behind = rest.iter().enumerate().find_map(|(at, token)| match token {
            Token::Word(word) if matches!(word.as_str(), "glob" | "readdir") => {
                Some(self.word(word, rest.get(at + 1..).unwrap_or_default())?.0)
            }
            _ => None,
        });
        let walked = || {
            let place = rest.iter().rev().find_map(|token| match token {
                Token::Text(text, _) => Some(text),
                _ => None,
            })?;
            self.body
                .contains("find")
                .then(|| Value::Text(Arg { glob: true, ..Arg::literal(format!("{place}/*")) }))
        };
        let pattern = || {
            let (_, pattern) = self.body.split_once('<')?;
            let (pattern, _) = pattern.split_once('>')?;
            pattern.contains('*').then(|| Value::Text(Arg { glob: true, ..Arg::literal(pattern) }))
        };
        if let Some(value) = self.listed.clone().or(behind).or_else(walked).or_else(pattern) {
            let mut actor = Actor { call, report, language: self.language };
            actor.perform(Api::Delete, &Invocation { positional: &[value], named: &[], text: self.body });
        } else {
            report.changes_some(Access::Delete);
        }
    }

    fn special(&self, name: &str, rest: &[Token], call: &Call<'_>, report: &mut Report) {
        match (self.language, name) {
            ("perl", "open") => self.perl_open(rest, call, report),
            ("php", "fopen") | ("lua", "io.open") => {
                let (values, _) = self.arguments(rest.get(1..).unwrap_or_default());
                let mut actor = Actor { call, report, language: self.language };
                actor.perform(Api::Open, &Invocation { positional: &values, named: &[], text: self.body });
            }
            ("ruby", "open") => {
                let (values, _) = self.arguments(rest.get(1..).unwrap_or_default());
                if let Some(command) =
                    values.first().and_then(Value::known).and_then(|text| text.strip_prefix('|'))
                {
                    let mut actor = Actor { call, report, language: self.language };
                    actor.shell(&Arg::literal(command.trim()));
                }
            }
            (
                "php",
                "array_map" | "array_walk" | "call_user_func" | "call_user_func_array" | "array_filter",
            ) => {
                let (values, _) = self.arguments(rest.get(1..).unwrap_or_default());
                let callback =
                    values.iter().find_map(|value| Some((value, function("php", value.known()?)?)));
                if let Some((name, api)) = callback {
                    let mut actor = Actor { call, report, language: self.language };
                    for value in values.iter().filter(|value| *value != name) {
                        let one = std::slice::from_ref(value);
                        actor.perform(api, &Invocation { positional: one, named: &[], text: self.body });
                    }
                }
            }
            ("perl", "IO::Socket::INET") => report.reach(None, self.body, true),
            _ => {}
        }
    }

    fn perl_open(&self, rest: &[Token], call: &Call<'_>, report: &mut Report) {
        let (values, _) = self.arguments(rest.get(1..).unwrap_or_default());
        let texts: Vec<&str> = values.iter().filter_map(Value::known).collect();
        // A mode, and a name that the code makes.
        let made = values.iter().any(|value| {
            value.known().is_none() && matches!(value, Value::Text(arg) if arg.prefix().starts_with('>'))
        });
        let mode = matches!(texts.as_slice(), [only] if only.starts_with('>') && only.chars().all(|sign| ">+<: ".contains(sign)));
        if made || mode {
            return report.changes_some(Access::Write);
        }
        let mut actor = Actor { call, report, language: self.language };
        match texts.as_slice() {
            ["-|" | "|-", command, ..] => actor.shell(&Arg::literal(*command)),
            [mode, path, ..] if mode.starts_with(['>', '<', '+']) => {
                let access = match *mode {
                    mode if mode.starts_with(">>") => Access::Append,
                    mode if mode.starts_with('>')
                        && !self.body.contains("print")
                        && !self.body.contains("write")
                        && !self.body.contains("say") =>
                    {
                        Access::Empty
                    }
                    mode if mode.starts_with('>') => Access::Write,
                    mode if mode.starts_with('+') => Access::Modify,
                    _ => Access::Read,
                };
                report.file(call, access, &Arg::literal(*path), false);
            }
            [only, ..] if only.ends_with('|') || only.starts_with('|') => {
                actor.shell(&Arg::literal(only.trim_matches(['|', ' '])));
            }
            [only, ..] => {
                let access = if only.starts_with(">>") {
                    Access::Append
                } else if only.starts_with('>') {
                    Access::Write
                } else {
                    Access::Read
                };
                report.file(
                    call,
                    access,
                    &Arg::literal(only.trim_start_matches(['>', '<', '+', ' '])),
                    false,
                );
            }
            [] => {}
        }
    }

    fn invoke(&self, name: &str, api: Api, after: &[Token], call: &Call<'_>, report: &mut Report) {
        let (mut values, _) = match self.program_in_block(api, after) {
            Some(argv) => (argv, 0),
            None => self.arguments(after),
        };
        // A name that is only mentioned (`defined &system`) has no arguments.
        if values.is_empty() {
            return;
        }
        // Whatever is made of the name of a secret to read it.
        if matches!(api, Api::Read | Api::Open) && values.first().is_some_and(|path| path.known().is_none()) {
            let inside = after.iter().take_while(|token| !matches!(token, Token::Sign(';' | '\n')));
            let named = inside.filter_map(|token| match token {
                Token::Text(text, _) if is_secret_path(text) => Some(Arg::literal(text)),
                _ => None,
            });
            named.for_each(|path| report.file(call, Access::Read, &path, false));
        }
        let text = match api {
            Api::Kill if names_parent(after) => format!("{name} ppid"),
            _ => format!("{name} …"),
        };
        if matches!(api, Api::Mode) && values.len() > 1 && self.language != "php" {
            values.remove(0);
        }
        if api == Api::Evaluate && self.language == "perl" && matches!(after.first(), Some(Token::Sign('{')))
        {
            return;
        }
        let mut actor = Actor { call, report, language: self.language };
        match api {
            Api::Delete | Api::DeleteTree => {
                for value in &values {
                    let taint = value.taint();
                    if matches!(value, Value::Map(_))
                        || (value.known().is_none() && taint == Taint::default() && values.len() > 1)
                    {
                        continue;
                    }
                    actor.perform(
                        api,
                        &Invocation { positional: std::slice::from_ref(value), named: &[], text: &text },
                    );
                }
            }
            // Several words are an argument vector, one is text for a shell.
            Api::Process => {
                let list = [Value::List(values.clone())];
                let positional =
                    if values.len() > 1 { list.as_slice() } else { values.get(..1).unwrap_or_default() };
                actor.perform(Api::Process, &Invocation { positional, named: &[], text: &text });
            }
            api => actor.perform(api, &Invocation { positional: &values, named: &[], text: &text }),
        }
        let sends_secret = matches!(api, Api::Send | Api::Fetch)
            && values.iter().any(|value| value.known().is_some_and(is_secret_path));
        if sends_secret {
            report.flow(FlowSource::Secret, FlowSink::Host, &text);
        }
    }
}
