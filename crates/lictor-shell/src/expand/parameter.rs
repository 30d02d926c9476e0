//! Parameters: `$x`, `${x…}`, `$@`, `$1`.

use super::Expansion;
use super::pattern::Pattern;
use crate::ast::{Operation, Parameter, Part, ReplacePlace, Subscript};
use crate::operand::Taint;
use crate::state::{Datum, Positional, Value};
use crate::walk::Walker;
use lictor_core::facts::OpaqueWhat;

impl Parameter {
    /// `$@`, `$*`, `${a[@]}`: may expand to several words.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.name.as_str(), "@" | "*") || matches!(self.subscript, Some(Subscript::All { .. }))
    }
}

impl Parameter {
    /// `"$*"`, `"${a[*]}"`: one word in quotes.
    pub(super) fn joins(&self) -> bool {
        self.name == "*" || matches!(self.subscript, Some(Subscript::All { joined: true }))
    }
}

/// The value of a name before operators are applied.
enum Found {
    /// Set on the line or reliably known from outside.
    Value(Expansion),
    /// Known to be unset.
    Unset,
    /// Neither set on the line nor known from outside.
    Elsewhere(Taint),
}

impl Found {
    fn taint(&self) -> Taint {
        match self {
            Self::Value(Expansion::One(datum)) => datum.taint,
            Self::Value(Expansion::Many(list)) => {
                list.iter().fold(Taint::default(), |taint, datum| taint.and(datum.taint))
            }
            Self::Value(Expansion::Unknown(taint)) | Self::Elsewhere(taint) => *taint,
            Self::Value(Expansion::Names(_)) | Self::Unset => Taint::default(),
        }
    }

    /// The same value of which too little is taken to be a secret.
    fn without_secret(mut self) -> Self {
        match &mut self {
            Self::Value(Expansion::One(Datum { taint, .. }) | Expansion::Unknown(taint))
            | Self::Elsewhere(taint) => taint.secret = false,
            _ => {}
        }
        self
    }
}

/// So many letters at the beginning or the end are how people tell keys apart.
const GLIMPSE: i64 = 4;

fn is_a_glimpse(offset: i64, length: Option<i64>) -> bool {
    match length {
        Some(length) => offset == 0 && (0..=GLIMPSE).contains(&length),
        None => (-GLIMPSE..0).contains(&offset),
    }
}

impl Walker<'_> {
    pub(super) fn parameter(&mut self, parameter: &Parameter, quoted: bool) -> Expansion {
        let found = self.found(parameter);
        match &parameter.operation {
            Operation::Plain => plain(found),
            Operation::Length => length(&found),
            Operation::Default { colon, assigns, word } => {
                let default = self.operand(word, quoted);
                match found {
                    Found::Value(Expansion::One(datum)) if *colon && datum.text() == Some("") => {
                        self.default(parameter, default, *assigns)
                    }
                    Found::Value(value) => value,
                    // A variable that the line does not set is most likely unset, so the default applies.
                    Found::Unset | Found::Elsewhere(_) => self.default(parameter, default, *assigns),
                }
            }
            Operation::Alternative { word } => {
                let alternative = self.operand(word, quoted);
                match found {
                    Found::Unset => Expansion::One(Datum::known("")),
                    Found::Value(Expansion::One(datum)) if datum.text() == Some("") => Expansion::One(datum),
                    Found::Value(Expansion::One(datum)) if datum.text().is_some() => {
                        Expansion::One(alternative)
                    }
                    _ => Expansion::One(Datum::unknown(alternative.taint)),
                }
            }
            Operation::Required { word } => {
                self.operand(word, quoted);
                plain(found)
            }
            Operation::Trim { end, longest, pattern } => {
                let pattern = self.pattern(pattern);
                self.each(found, |text| pattern.as_ref()?.trim(text, *end, *longest))
            }
            Operation::Replace { place, pattern, with } => {
                let pattern = self.pattern(pattern);
                let with = self.operand(with, quoted);
                self.each(found, |text| {
                    pattern.as_ref()?.replace(
                        text,
                        with.text()?,
                        *place == ReplacePlace::All,
                        *place == ReplacePlace::Start,
                        *place == ReplacePlace::End,
                    )
                })
            }
            Operation::Case { upper, all } => self.each(found, |text| Some(change_case(text, *upper, *all))),
            Operation::Slice { offset, length } => {
                let offset = self.arithmetic(offset).text().and_then(|text| text.trim().parse::<i64>().ok());
                let bounded = length.is_some();
                let length = length.as_ref().and_then(|parts| {
                    self.arithmetic(parts).text().and_then(|text| text.trim().parse::<i64>().ok())
                });
                if bounded && length.is_none() {
                    return Expansion::Unknown(found.taint());
                }
                self.slice(parameter, found, offset, length)
            }
            Operation::Other(parts) => {
                self.quoted_value(parts);
                // `${x@P}` expands its value once more, substitutions included.
                if matches!(parts.first(), Some(Part::Literal(text)) if text == "P") {
                    self.opaque(OpaqueWhat::Code, &format!("${{{}@P}}", parameter.name));
                }
                Expansion::Unknown(found.taint())
            }
        }
    }

    /// The value of a parameter, through indirection if used.
    fn found(&mut self, parameter: &Parameter) -> Found {
        let found = self.find(&parameter.name, parameter.subscript.as_ref());
        if let (true, Some(Subscript::All { .. })) = (parameter.indirect, &parameter.subscript) {
            // `${!a[@]}`: the names of its elements.
            return match self.state.variable(&parameter.name) {
                Some(Value::Keyed(pairs)) => {
                    Found::Value(Expansion::Many(pairs.iter().map(|(key, _)| Datum::known(key)).collect()))
                }
                Some(Value::List(list)) => Found::Value(Expansion::Many(
                    (0..list.len()).map(|index| Datum::known(index.to_string())).collect(),
                )),
                _ => Found::Value(Expansion::Unknown(Taint::default())),
            };
        } else if parameter.indirect {
            return match &found {
                Found::Value(Expansion::One(datum)) if matches!(parameter.operation, Operation::Plain) => {
                    match datum.text().map(str::to_owned) {
                        Some(name) => self.find(&name, None),
                        None => Found::Value(Expansion::Unknown(datum.taint)),
                    }
                }
                _ => Found::Value(Expansion::Unknown(Taint::default())),
            };
        }
        found
    }

    /// The word after an operator.
    fn operand(&mut self, parts: &[Part], quoted: bool) -> Datum {
        let mut fields = super::Fields::default();
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Literal(text) if index == 0 && !quoted => {
                    self.tilde_literal(text, parts.len() == 1, &mut fields);
                }
                part => self.feed(part, true, &mut fields),
            }
        }
        fields.into_datum()
    }

    fn default(&mut self, parameter: &Parameter, default: Datum, assigns: bool) -> Expansion {
        if assigns && parameter.subscript.is_none() && !parameter.name.is_empty() {
            self.state.set(&parameter.name, Value::Scalar(default.clone()));
        }
        Expansion::One(default)
    }

    /// A pattern whose text is known and whose quoting does not matter.
    fn pattern(&mut self, parts: &[Part]) -> Option<Pattern> {
        let quoted_glob = parts.iter().any(|part| match part {
            Part::Quoted(text) => text.contains(['*', '?', '[', '(']),
            Part::Literal(_) => false,
            _ => true,
        });
        let datum = self.quoted_value(parts);
        if quoted_glob && datum.text().is_some_and(|text| text.contains(['*', '?', '['])) {
            return None;
        }
        Pattern::new(datum.text()?)
    }

    /// Applies a change to each value; on failure it becomes unknown.
    fn each(&mut self, found: Found, change: impl Fn(&str) -> Option<String>) -> Expansion {
        let apply = |datum: Datum| {
            let changed = datum.text().and_then(&change);
            match changed {
                Some(text) => Datum { taint: datum.taint, glob: datum.glob, ..Datum::known(text) },
                None => Datum::unknown(datum.taint),
            }
        };
        match found {
            Found::Value(Expansion::One(datum)) => Expansion::One(apply(datum)),
            Found::Value(Expansion::Many(list)) => Expansion::Many(list.into_iter().map(apply).collect()),
            Found::Value(Expansion::Unknown(taint)) => Expansion::Unknown(taint),
            Found::Value(Expansion::Names(_)) => Expansion::Unknown(Taint::default()),
            Found::Elsewhere(taint) => Expansion::One(Datum::unknown(taint)),
            Found::Unset => Expansion::One(Datum::known("")),
        }
    }

    fn slice(
        &mut self,
        parameter: &Parameter,
        found: Found,
        offset: Option<i64>,
        length: Option<i64>,
    ) -> Expansion {
        let Some(offset) = offset else { return Expansion::Unknown(found.taint()) };
        let found = if is_a_glimpse(offset, length) { found.without_secret() } else { found };
        match found {
            Found::Value(Expansion::Many(list)) => {
                // Positional parameters count from one; zero is the name of the shell.
                let positional = matches!(parameter.name.as_str(), "@" | "*");
                let offset = if positional { offset - i64::from(offset > 0) } else { offset };
                let (from, to) = bounds(list.len(), offset, length);
                Expansion::Many(list.into_iter().skip(from).take(to.saturating_sub(from)).collect())
            }
            found => self.each(found, |text| {
                let count = text.chars().count();
                let (from, to) = bounds(count, offset, length);
                Some(text.chars().skip(from).take(to.saturating_sub(from)).collect())
            }),
        }
    }

    fn find(&mut self, name: &str, subscript: Option<&Subscript>) -> Found {
        match name {
            "@" | "*" => match self.state.positional() {
                Positional::Known(list) => Found::Value(Expansion::Many(list.to_vec())),
                Positional::Unknown(taint) => Found::Value(Expansion::Unknown(*taint)),
            },
            "#" => match self.state.positional() {
                Positional::Known(list) => Found::Value(one(list.len().to_string())),
                Positional::Unknown(_) => unknown(),
            },
            // Only text that another command starts has one that is known (`sh -c TEXT name`).
            "0" if self.state.variable("0").is_none() => unknown(),
            "0" => self.named(name, subscript),
            "?" | "$" | "!" | "-" | "_" | "RANDOM" | "SECONDS" | "LINENO" => unknown(),
            _ if name.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() => self.positional(name),
            _ => self.named(name, subscript),
        }
    }

    fn positional(&self, digits: &str) -> Found {
        let list = match self.state.positional() {
            Positional::Known(list) => list,
            Positional::Unknown(taint) => return Found::Elsewhere(*taint),
        };
        let index = digits.parse::<usize>().ok().and_then(|index| index.checked_sub(1));
        match index.and_then(|index| list.get(index)) {
            Some(datum) => Found::Value(Expansion::One(datum.clone())),
            None => Found::Unset,
        }
    }

    fn named(&mut self, name: &str, subscript: Option<&Subscript>) -> Found {
        let Some(mut value) = self.state.variable(name).cloned().or_else(|| self.directory_stack(name))
        else {
            // A subscript is evaluated whatever the name is.
            if let Some(Subscript::Index(parts)) = subscript {
                self.arithmetic(parts);
            }
            return self.outside_variable(name);
        };
        // A reference may name another one; the chain is limited.
        let mut links = 0;
        while let Value::Reference(meant) = &value {
            links += 1;
            value = match self.state.variable(meant) {
                Some(value) if links < 8 => value.clone(),
                Some(_) => return unknown(),
                None => return self.outside_variable(meant),
            };
        }
        if let (Value::Keyed(pairs), Some(Subscript::Index(parts))) = (&value, subscript) {
            let key = self.quoted_value(parts);
            let Some(key) = key.text() else { return Found::Value(Expansion::Unknown(value.taint())) };
            let datum = pairs.iter().rev().find(|(name, _)| name == key);
            return datum.map_or(Found::Unset, |(_, datum)| Found::Value(Expansion::One(datum.clone())));
        }
        let index = match subscript {
            Some(Subscript::Index(parts)) => Some(self.arithmetic(parts)),
            _ => None,
        };
        match value {
            Value::Keyed(pairs) if matches!(subscript, Some(Subscript::All { .. })) => {
                Found::Value(Expansion::Many(pairs.iter().map(|(_, datum)| datum.clone()).collect()))
            }
            Value::Keyed(_) | Value::Reference(_) => unknown(),
            Value::Unset => Found::Unset,
            Value::Scalar(datum) => match index {
                Some(index) if index.text() != Some("0") => Found::Value(Expansion::Unknown(datum.taint)),
                _ => Found::Value(Expansion::One(datum)),
            },
            Value::List(list) => match (subscript, index) {
                (Some(Subscript::All { .. }), _) => Found::Value(Expansion::Many(list.to_vec())),
                (None, _) => {
                    list.first().cloned().map_or(Found::Unset, |datum| Found::Value(Expansion::One(datum)))
                }
                (_, index) => {
                    let position =
                        index.as_ref().and_then(Datum::text).and_then(|text| text.trim().parse::<i64>().ok());
                    let Some(position) = position else { return unknown() };
                    let position = if position < 0 { position + list.len() as i64 } else { position };
                    let datum = usize::try_from(position).ok().and_then(|position| list.get(position));
                    datum.cloned().map_or(Found::Unset, |datum| Found::Value(Expansion::One(datum)))
                }
            },
        }
    }

    fn outside_variable(&self, name: &str) -> Found {
        if name == "IFS" {
            return Found::Value(one(" \t\n".to_owned()));
        }
        if name == "PWD" {
            return self.working_directory().map_or_else(unknown, |path| Found::Value(one(path)));
        }
        if name == "OLDPWD" {
            let previous = self.state.directories().previous.absolute(self.outside());
            return previous.map_or(Found::Elsewhere(Taint::default()), |path| Found::Value(one(path)));
        }
        if self.state.is_secret(name) {
            return Found::Elsewhere(Taint { secret: true, ..Taint::default() });
        }
        match self.outside().variable(name) {
            Some(text) => Found::Value(one(text)),
            None => Found::Elsewhere(Taint::default()),
        }
    }
}

fn one(text: String) -> Expansion {
    Expansion::One(Datum::known(text))
}

fn unknown() -> Found {
    Found::Value(Expansion::One(Datum::unknown(Taint::default())))
}

fn plain(found: Found) -> Expansion {
    match found {
        Found::Value(value) => value,
        Found::Unset => Expansion::One(Datum::known("")),
        Found::Elsewhere(taint) => Expansion::One(Datum::unknown(taint)),
    }
}

fn length(found: &Found) -> Expansion {
    let length = match found {
        Found::Value(Expansion::One(datum)) => datum.text().map(|text| text.chars().count()),
        Found::Value(Expansion::Many(list)) => Some(list.len()),
        Found::Unset => Some(0),
        _ => None,
    };
    match length {
        Some(length) => one(length.to_string()),
        None => Expansion::One(Datum::unknown(Taint::default())),
    }
}

fn bounds(count: usize, offset: i64, length: Option<i64>) -> (usize, usize) {
    let count = count as i64;
    let from = if offset < 0 { (count + offset).max(0) } else { offset.min(count) };
    let to = match length {
        None => count,
        Some(length) if length < 0 => count + length,
        Some(length) => from.saturating_add(length).min(count),
    };
    (usize::try_from(from).unwrap_or(0), usize::try_from(to).unwrap_or(0))
}

fn change_case(text: &str, upper: bool, all: bool) -> String {
    let change = |c: char| if upper { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    text.chars().enumerate().map(|(index, c)| if all || index == 0 { change(c) } else { c }).collect()
}
