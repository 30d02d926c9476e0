//! Expands words of the tree to the words that a program gets, as far as the line determines them.

mod arithmetic;
pub(crate) mod brace;
pub(crate) mod fields;
mod parameter;
pub(crate) mod pattern;
mod wildcards;

use crate::ast::{HereBody, Part, Script, Word};
use crate::expand::brace::Piece;
use crate::expand::fields::{Expanded, Fields};
use crate::operand::{Arg, Known, Taint};
use crate::state::{Content, Datum, Value};
use crate::walk::{Output, Walker};

/// The longest tracked value. A longer one is treated as unknown.
const LONGEST_VALUE: usize = 64 * 1024;
/// The longest list that is followed word by word.
const MOST_ELEMENTS: usize = 1024;

/// The value of an expansion.
pub(crate) enum Expansion {
    One(Datum),
    /// The elements of `$@` or of an array.
    Many(Vec<Datum>),
    /// Any number of words.
    Unknown(Taint),
    /// File names, each a word.
    Names(Vec<Arg>),
}

/// The pattern of the hidden names beside those of a pattern: `a/*` and `a/.*`.
fn hidden_too(word: &Expanded) -> Option<Expanded> {
    let text = word.arg.known().filter(|_| word.arg.glob)?;
    let (folder, name) = text.rsplit_once('/').map_or(("", text), |(folder, name)| (folder, name));
    let slash = if text.contains('/') { "/" } else { "" };
    let hidden = name.starts_with(['*', '?', '[']).then(|| format!("{folder}{slash}.{name}"))?;
    Some(Expanded { arg: Arg { value: Known::Text(hidden.into()), ..word.arg.clone() }, template: None })
}

impl Walker<'_> {
    /// The arguments that the words turn into.
    pub(crate) fn words(&mut self, words: &[Word]) -> Vec<Expanded> {
        let mut expanded = Vec::with_capacity(words.len());
        for word in words {
            self.expand_word(word, &mut expanded);
        }
        if self.matches_hidden(&expanded) {
            let hidden: Vec<Expanded> = expanded.iter().filter_map(hidden_too).collect();
            expanded.extend(hidden);
        }
        expanded
    }

    /// Whether patterns match names that begin with a dot: `shopt -s dotglob` on the line, from then on.
    fn matches_hidden(&mut self, words: &[Expanded]) -> bool {
        let mut known = words.iter().map(|word| word.arg.known());
        let sets = matches!(known.next().flatten(), Some("shopt" | "setopt"));
        self.hidden_names |= sets
            && known.flatten().any(|word| {
                matches!(word.to_ascii_lowercase().as_str(), "dotglob" | "globdots" | "glob_dots")
            });
        self.hidden_names
    }

    pub(crate) fn expand_word(&mut self, word: &Word, into: &mut Vec<Expanded>) {
        self.spend(1);
        if let Some(text) = word.literal() {
            let mut arg = Arg::literal(text);
            if !word.written.is_empty() {
                arg.text = word.written().into();
            }
            into.push(Expanded { arg, template: None });
            return;
        }
        if let [Part::Command(script)] = word.parts.as_slice()
            && self.make_variable(script).is_some()
        {
            // No program has this name: it is empty for a shell, and defined by the makefile for make.
            return;
        }
        let written = word.written();
        if word.braces {
            match brace::expand(&word.parts) {
                Some(words) => {
                    for pieces in words {
                        self.expand_pieces(&pieces, written, into);
                    }
                }
                None => self.too_many_words(word, into),
            }
            return;
        }
        let mut fields = Fields::default();
        self.feed_start(&word.parts, &mut fields);
        fields.into_words(written, into);
    }

    fn expand_pieces(&mut self, pieces: &[Piece<'_>], written: &str, into: &mut Vec<Expanded>) {
        let mut fields = Fields::default();
        for (index, piece) in pieces.iter().enumerate() {
            self.spend(1);
            match piece {
                Piece::Text(text) if index == 0 => self.tilde_literal(text, pieces.len() == 1, &mut fields),
                Piece::Text(text) => fields.literal(text),
                Piece::Part(part) => self.feed(part, false, &mut fields),
            }
        }
        fields.into_words(written, into);
    }

    /// A brace list that is too long to expand matches anything at its place.
    fn too_many_words(&mut self, word: &Word, into: &mut Vec<Expanded>) {
        let mut fields = Fields::default();
        for part in &word.parts {
            match part {
                Part::Literal(text) => {
                    let open = text.find('{').unwrap_or(text.len());
                    let close = text.rfind('}').map_or(open, |close| close + 1).max(open);
                    fields.literal(text.get(..open).unwrap_or_default());
                    if close > open {
                        fields.literal("*");
                    }
                    fields.literal(text.get(close..).unwrap_or_default());
                }
                part => self.feed(part, false, &mut fields),
            }
        }
        fields.into_words(word.written(), into);
    }

    /// The value of a word where the shell does not split: assignments, redirections, `case`.
    pub(crate) fn value(&mut self, word: &Word) -> Datum {
        self.spend(1);
        if let Some(text) = word.literal() {
            return Datum::known(text);
        }
        let mut fields = Fields::default();
        self.feed_start(&word.parts, &mut fields);
        fields.into_datum()
    }

    /// The value of parts inside double quotes or a here-document.
    pub(crate) fn quoted_value(&mut self, parts: &[Part]) -> Datum {
        let mut fields = Fields::default();
        for part in parts {
            self.feed(part, true, &mut fields);
        }
        fields.into_datum()
    }

    pub(crate) fn here_body(&mut self, body: &HereBody) -> Datum {
        match body {
            HereBody::Literal(text) => Datum::known(text.clone()),
            HereBody::Expanded(parts) => self.quoted_value(parts),
        }
    }

    fn feed_start(&mut self, parts: &[Part], fields: &mut Fields) {
        let mut parts = parts.iter();
        if let Some(first) = parts.next() {
            match first {
                Part::Literal(text) => self.tilde_literal(text, parts.len() == 0, fields),
                part => self.feed(part, false, fields),
            }
        }
        for part in parts {
            self.feed(part, false, fields);
        }
    }

    /// Unquoted text at the start of a word: a tilde in it is expanded. `alone` when nothing follows it.
    fn tilde_literal(&mut self, text: &str, alone: bool, fields: &mut Fields) {
        // `NAME=~/x` as an argument is expanded too.
        let name = crate::parser::name_prefix(text);
        let after = text.get(name.len()..).unwrap_or_default();
        let (head, tilde) = match after.strip_prefix('=') {
            Some(rest) if !name.is_empty() && rest.starts_with('~') => {
                (text.get(..=name.len()).unwrap_or_default(), rest)
            }
            _ => ("", text),
        };
        let Some(rest) = tilde.strip_prefix('~') else {
            fields.literal(text);
            return;
        };
        let end = rest.find('/').unwrap_or(rest.len());
        let user = rest.get(..end).unwrap_or_default();
        if end == rest.len() && !alone {
            fields.literal(text);
            return;
        }
        let been_to = crate::builtins::names_directory(user);
        let home = match user {
            "" => self.home(),
            user if been_to => self.directory_named(user),
            user => self.outside().home_of(user),
        };
        fields.literal(head);
        match home {
            Some(home) => fields.quoted(&home),
            None if been_to => fields.whole(&Datum::unknown(Taint::default())),
            None => return fields.literal(tilde),
        }
        fields.literal(rest.get(end..).unwrap_or_default());
    }

    /// The home directory, when it is known.
    pub(crate) fn home(&self) -> Option<String> {
        match self.state.variable("HOME") {
            Some(Value::Scalar(datum)) => datum.text().map(str::to_owned),
            Some(_) => None,
            None => self.outside().variable("HOME"),
        }
    }

    pub(crate) fn feed(&mut self, part: &Part, quoted: bool, fields: &mut Fields) {
        match part {
            Part::Literal(text) if quoted => fields.quoted(text),
            Part::Literal(text) => fields.literal(text),
            Part::Quoted(text) => fields.quoted(text),
            Part::Double(parts) => {
                // `"$@"` with no positional parameters is no word at all.
                let only_words =
                    matches!(parts.as_slice(), [Part::Parameter(parameter)] if parameter.is_list());
                if !only_words {
                    fields.present();
                }
                for part in parts {
                    self.feed(part, true, fields);
                }
            }
            Part::Parameter(parameter) => {
                let expansion = self.parameter(parameter, quoted);
                let expansion = if quoted && parameter.joins() { self.joined(expansion) } else { expansion };
                self.put(expansion, quoted, fields);
            }
            Part::Command(script) if self.make_variable(script).is_some() => {
                self.put(Expansion::One(Datum::unknown(Taint::default())), quoted, fields);
            }
            Part::Command(script) => {
                let expansion = self.substitute(script);
                self.put(expansion, quoted, fields);
            }
            Part::Arithmetic(parts) => {
                let datum = self.arithmetic(parts);
                fields.whole(&datum);
            }
            Part::ProcessIn(script) => {
                let output = self.captured(script);
                let path = self.pipe_path(output);
                fields.literal(&path);
            }
            Part::ProcessOut(script) => {
                // The data comes from the command itself; its input is the best known source.
                let taint = self.stdin_taint();
                self.with_unknown_stdin(taint, |this| this.captured(script));
                let path = self.pipe_path(Output::Unknown(Taint::default()));
                fields.literal(&path);
            }
        }
    }

    fn put(&mut self, expansion: Expansion, quoted: bool, fields: &mut Fields) {
        match expansion {
            Expansion::One(datum) => {
                let datum = self.bounded(datum);
                if quoted {
                    fields.whole(&datum);
                } else {
                    let separators = self.separators();
                    fields.split(&datum, separators.as_deref());
                }
            }
            Expansion::Many(list) if list.len() > MOST_ELEMENTS => {
                self.over_limit("a list that grows too long");
                fields.any_number(list.iter().fold(Taint::default(), |taint, datum| taint.and(datum.taint)));
            }
            Expansion::Many(list) => {
                let separators = self.separators();
                for (index, datum) in list.into_iter().enumerate() {
                    if index > 0 {
                        fields.end_word();
                    }
                    let datum = self.bounded(datum);
                    if quoted {
                        fields.present();
                        fields.whole(&datum);
                    } else {
                        fields.split(&datum, separators.as_deref());
                    }
                }
            }
            Expansion::Unknown(taint) => fields.any_number(taint),
            Expansion::Names(names) if quoted => match names.as_slice() {
                [name] => fields.whole(&Datum::of(name)),
                _ => fields.whole(&Datum::unknown(Taint::default())),
            },
            Expansion::Names(names) => fields.names(&names),
        }
    }

    /// The value, unless it is longer than Lictor is willing to follow.
    fn bounded(&mut self, datum: Datum) -> Datum {
        let length = datum.text().map_or(0, str::len);
        if length > LONGEST_VALUE || !self.spend(length as u64 / 16) {
            self.over_limit("a value that grows too long");
            return Datum::unknown(datum.taint);
        }
        datum
    }

    /// A list as one word, with the first of the characters that split words between its elements.
    fn joined(&mut self, expansion: Expansion) -> Expansion {
        let (Expansion::Many(list), Some(separators)) = (&expansion, self.separators()) else {
            return expansion;
        };
        let texts: Option<Vec<&str>> = list.iter().take(MOST_ELEMENTS).map(Datum::text).collect();
        let Some(texts) = texts.filter(|texts| texts.len() == list.len()) else { return expansion };
        let between: String = separators.chars().take(1).collect();
        let taint = list.iter().fold(Taint::default(), |taint, datum| taint.and(datum.taint));
        Expansion::One(Datum { taint, ..Datum::known(texts.join(&between)) })
    }

    /// The characters that split words; `None` when they are not known.
    pub(crate) fn separators(&self) -> Option<String> {
        match self.state.variable("IFS") {
            None | Some(Value::Unset) => Some(" \t\n".to_owned()),
            Some(Value::Scalar(datum)) => datum.text().map(str::to_owned),
            Some(Value::List(_) | Value::Keyed(_) | Value::Reference(_)) => None,
        }
    }

    /// The output of `$(…)`.
    fn substitute(&mut self, script: &Script) -> Expansion {
        if let Some(content) = self.file_substitution(script) {
            return Expansion::One(content);
        }
        let from = self.reading.effects.len();
        match self.captured(script) {
            Output::Text(text) => Expansion::One(Datum::open(text.trim_end_matches('\n'))),
            Output::Names(names) => Expansion::Names(names),
            Output::Unknown(taint) => {
                self.words_printed(from);
                // It goes into a word, and is judged by the use of the word.
                if taint.secret {
                    self.not_shown(from);
                }
                Expansion::One(Datum::unknown(taint))
            }
        }
    }

    /// `$(< file)`.
    fn file_substitution(&mut self, script: &Script) -> Option<Datum> {
        let [item] = script.items.as_slice() else { return None };
        let [crate::ast::Node::Simple(simple)] = item.first.stages.as_slice() else { return None };
        let [redirect] = simple.redirects.as_slice() else { return None };
        if !simple.words.is_empty()
            || !simple.assignments.is_empty()
            || !item.rest.is_empty()
            || redirect.kind != crate::ast::RedirectKind::Read
        {
            return None;
        }
        let plumbing = self.plumb(&simple.redirects);
        let stdin = plumbing.stdin.clone();
        plumbing.source.iter().for_each(|list| self.words_in(list));
        self.report_plumbing(plumbing, None, None);
        Some(match stdin.as_deref() {
            Some(crate::call::Stdin::Text(text)) => Datum::open(text.trim_end_matches('\n')),
            Some(crate::call::Stdin::Unknown(taint)) => Datum::unknown(*taint),
            _ => Datum::unknown(Taint::default()),
        })
    }

    /// A path like `/dev/fd/63` that holds the output of a process substitution.
    pub(crate) fn pipe_path(&mut self, output: Output) -> String {
        self.pipes += 1;
        let path = format!("/dev/fd/{}", 62 + self.pipes);
        let content = match output {
            Output::Text(text) => Content::known(text.into()),
            Output::Names(names) => Content::listing(names),
            Output::Unknown(taint) => Content::unknown(taint),
        };
        self.state.set_file(path.clone(), content);
        path
    }
}
