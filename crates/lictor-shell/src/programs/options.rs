//! The option syntax of programs: anywhere in argv or only in front, clustered and split short ones, values
//! attached or separate, long ones with `=` and by unambiguous prefix, `--` as their end.

use crate::describe::Style;
use crate::operand::{Arg, Known};

/// The options that a program knows. Flags need no entry unless prefixes of them must be understood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spelling<'a> {
    style: Style,
    /// Short options with a value, attached or in the next word.
    valued: &'a str,
    /// Short options with a value only when attached.
    attached: &'a str,
    /// Long options, space-separated: `name` a flag, `name=` with a value, `name?` with a value only after `=`.
    long: &'a str,
}

/// The options of a program that the reader itself knows.
pub(crate) type Grammar = Spelling<'static>;

impl<'a> Spelling<'a> {
    /// From a description.
    pub(crate) fn of(options: &'a crate::describe::Options) -> Self {
        Self {
            style: options.style,
            valued: &options.valued,
            attached: &options.attached,
            long: &options.long,
        }
    }

    /// The same options, but only in front of the first operand.
    pub(crate) fn in_front(self) -> Self {
        Self { style: Style::First, ..self }
    }

    /// Options anywhere.
    pub(crate) const fn anywhere(valued: &'a str, long: &'a str) -> Self {
        Self { style: Style::Anywhere, valued, attached: "", long }
    }

    /// Options only in front.
    pub(crate) const fn until_operand(valued: &'a str, long: &'a str) -> Self {
        Self { style: Style::First, valued, attached: "", long }
    }

    /// Also these short options, whose value is only ever attached (`sed -i.bak`).
    pub(crate) const fn attached(self, attached: &'a str) -> Self {
        Self { attached, ..self }
    }

    /// The words from the first operand on, of a program whose options precede its operands.
    pub(crate) fn behind<'w>(&self, args: &'w [Arg]) -> &'w [Arg] {
        let first = self.parse(args).found.first().map_or(args.len(), |(at, _)| *at);
        args.get(first..).unwrap_or_default()
    }

    /// Reads an argument vector.
    pub(crate) fn parse(&self, args: &[Arg]) -> Options {
        let mut options = Options::default();
        let mut args = args.iter().enumerate();
        while let Some((at, arg)) = args.next() {
            let prefix = arg.prefix();
            if arg.known() == Some("--") {
                options.ended_at = Some(options.operands.len());
                break;
            }
            if arg.splits && arg.known().is_none() && !prefix.starts_with('-') {
                options.loose = true;
            }
            if self.style == Style::Cmdlet && is_switch(arg) {
                let name = prefix.trim_start_matches('/').to_ascii_lowercase();
                options.given.push(Given { name, value: None });
                continue;
            }
            if !prefix.starts_with('-') || arg.known() == Some("-") {
                options.operand(at, arg);
                if self.style == Style::First {
                    break;
                }
                continue;
            }
            if let Some(name) = prefix.strip_prefix("--") {
                self.long(arg, 2, name, &mut args, &mut options);
            } else if self.style == Style::Cmdlet {
                let name = prefix.get(1..).unwrap_or_default().to_ascii_lowercase();
                self.long(arg, 1, &name, &mut args, &mut options);
            } else if self.style == Style::SingleDash {
                self.long(arg, 1, prefix.get(1..).unwrap_or_default(), &mut args, &mut options);
            } else {
                self.cluster(arg, &mut args, &mut options);
            }
        }
        options.doubt = false;
        for (at, arg) in args {
            options.operand(at, arg);
        }
        options
    }

    fn long<'w>(
        &self,
        arg: &Arg,
        dashes: usize,
        name: &str,
        rest: &mut impl Iterator<Item = (usize, &'w Arg)>,
        options: &mut Options,
    ) {
        let (written, attached) = match name.split_once('=') {
            Some((written, _)) => (written, Some(after(arg, dashes + written.len() + 1))),
            None => (name, None),
        };
        let (name, takes) = self.resolve(written);
        options.doubt = matches!((&attached, takes), (None, Takes::Unsaid));
        let value = match (attached, takes) {
            (Some(value), _) => Some(value),
            (None, Takes::Value) => rest.next().map(|(_, arg)| arg.clone()),
            (None, Takes::Nothing | Takes::Attached | Takes::Unsaid) => None,
        };
        options.given.push(Given { name, value });
    }

    /// The full name of an abbreviated option: itself, or the only entry it is a prefix of.
    fn resolve(&self, written: &str) -> (String, Takes) {
        let mut found: Option<(&str, Takes)> = None;
        let mut several = false;
        for entry in self.long.split_ascii_whitespace() {
            let (name, takes) = match entry.strip_suffix('=') {
                Some(name) => (name, Takes::Value),
                None => match entry.strip_suffix('?') {
                    Some(name) => (name, Takes::Attached),
                    None => (entry, Takes::Nothing),
                },
            };
            if name == written {
                return (name.to_owned(), takes);
            }
            if self.style != Style::SingleDash && !written.is_empty() && name.starts_with(written) {
                several |= found.is_some();
                found = Some((name, takes));
            }
        }
        match found {
            Some(_) if several => (format!("--{written}"), Takes::Unsaid),
            Some((name, takes)) => (name.to_owned(), takes),
            // One letter after two dashes must not read as the short option of that letter.
            None if written.chars().count() == 1
                && !matches!(self.style, Style::SingleDash | Style::Cmdlet) =>
            {
                (format!("--{written}"), Takes::Unsaid)
            }
            None => (written.to_owned(), Takes::Unsaid),
        }
    }

    fn cluster<'w>(
        &self,
        arg: &Arg,
        rest: &mut impl Iterator<Item = (usize, &'w Arg)>,
        options: &mut Options,
    ) {
        let prefix = arg.prefix();
        for (at, letter) in prefix.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let name = letter.to_string();
            if self.valued.contains(letter) {
                let whole = arg.known().is_some_and(|text| text.len() == end);
                let value =
                    if whole { rest.next().map(|(_, arg)| arg.clone()) } else { Some(after(arg, end)) };
                options.given.push(Given { name, value });
                return;
            }
            if self.attached.contains(letter) {
                let value = Some(after(arg, end)).filter(|value| value.known() != Some(""));
                options.given.push(Given { name, value });
                return;
            }
            options.given.push(Given { name, value: None });
        }
        options.doubt = true;
        // `-$X`: the letters that follow the known part may be any.
        options.loose |= arg.known().is_none();
    }
}

#[derive(Clone, Copy)]
enum Takes {
    Nothing,
    /// The option is not among those that are known.
    Unsaid,
    Value,
    Attached,
}

/// One option as given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Given {
    name: String,
    value: Option<Arg>,
}

/// A parsed argument vector.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Options {
    given: Vec<Given>,
    /// Everything that is not an option, in order.
    pub(crate) operands: Vec<Arg>,
    /// How many operands precede `--`, if there is one.
    pub(crate) ended_at: Option<usize>,
    /// Some word is not known and may turn into options.
    pub(crate) loose: bool,
    /// For each operand: its index in the argument vector, and whether an unknown option before it may have taken
    /// it as its value.
    pub(crate) found: Vec<(usize, bool)>,
    /// The option that was read last may take the next word.
    doubt: bool,
}

impl Options {
    fn operand(&mut self, at: usize, arg: &Arg) {
        self.operands.push(arg.clone());
        self.found.push((at, self.doubt));
        self.doubt = false;
    }

    /// Every option as given, with its value.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&str, Option<&Arg>)> {
        self.given.iter().map(|given| (given.name.as_str(), given.value.as_ref()))
    }

    /// Whether one of these was given. A short option is its letter, a long one its name; `--flag=false` counts
    /// as no flag. Of `--flag` and `--no-flag` the last one counts.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        let denied = |name: &str| name.strip_prefix("no-").is_some_and(|denied| names.contains(&denied));
        let last = self.given.iter().rev().find(|given| {
            let name = given.name.as_str();
            names.contains(&name) || denied(name)
        });
        last.is_some_and(|given| {
            let off = given.value.as_ref().and_then(Arg::known) == Some("false");
            names.contains(&given.name.as_str()) && !off
        })
    }

    /// The value of the last of these that has one.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&Arg> {
        self.values(names).last()
    }

    /// The values of all of these.
    pub(crate) fn values(&self, names: &[&str]) -> impl Iterator<Item = &Arg> {
        self.given
            .iter()
            .filter(|given| names.contains(&given.name.as_str()))
            .filter_map(|given| given.value.as_ref())
    }

    /// The known text of the last of these that has one.
    pub(crate) fn text(&self, names: &[&str]) -> Option<&str> {
        self.value(names).and_then(Arg::known)
    }

    /// The known operands as text.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.operands.iter().map(|arg| arg.known().unwrap_or_default())
    }

    /// One operand as text, empty when it is missing or not known.
    pub(crate) fn word(&self, at: usize) -> &str {
        self.operands.get(at).and_then(Arg::known).unwrap_or_default()
    }

    /// Operands from `at` on.
    pub(crate) fn from(&self, at: usize) -> &[Arg] {
        self.operands.get(at..).unwrap_or_default()
    }
}

/// `/s`, `/q`: an option of programs of Windows.
fn is_switch(arg: &Arg) -> bool {
    let word = arg.prefix();
    word.starts_with('/')
        && (2..=3).contains(&word.len())
        && word.chars().skip(1).all(|letter| letter.is_ascii_alphabetic() || letter == '?')
}

/// What is left of a word after its first `bytes`, all of which are known.
pub(crate) fn after(arg: &Arg, bytes: usize) -> Arg {
    let value = match &arg.value {
        Known::Text(text) => Known::Text(text.get(bytes..).unwrap_or_default().into()),
        Known::Partly { prefix, suffix } => {
            let prefix = prefix.get(bytes..).unwrap_or_default().to_owned();
            if prefix.is_empty() && suffix.is_empty() {
                Known::Nothing
            } else {
                Known::Partly { prefix, suffix: suffix.clone() }
            }
        }
        Known::Nothing => Known::Nothing,
    };
    let text = match &value {
        Known::Text(text) => text.clone(),
        _ => arg.text.get(bytes..).unwrap_or(&arg.text).into(),
    };
    Arg { value, text, ..arg.clone() }
}

#[cfg(test)]
mod tests;
