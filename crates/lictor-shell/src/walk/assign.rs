//! Assignments of the line.

use std::rc::Rc;

use super::simple::Context;
use super::{Scene, Walker};
use crate::ast::{Assigned, Assignment, Part};
use crate::call::{Next, Report, Stdin};
use crate::expand::fields::{Expanded, has_glob};
use crate::operand::{Arg, Taint};
use crate::programs;
use crate::state::{Datum, Value};

impl Walker<'_> {
    /// Evaluates an assignment; `keep` when it stays set after the command.
    pub(super) fn assign(&mut self, assignment: &Assignment, keep: bool) -> Option<(String, Arg)> {
        let name = &assignment.name;
        if let Some(subscript) = &assignment.element {
            self.arithmetic(subscript);
        }
        match &assignment.value {
            Assigned::Scalar(word) => {
                self.note_switch(name, word.literal());
                let mut datum = self.value(word);
                if assignment.append {
                    datum = self.appended(name, datum);
                }
                let arg = Arg {
                    value: datum.value.clone(),
                    text: word.written().into(),
                    glob: datum.glob,
                    splits: false,
                    taint: datum.taint,
                    found: None,
                };
                // Where the value is used as a name or a number, its subscript is run.
                if let Some(text) = datum.text().filter(|text| text.contains('[')).map(str::to_owned) {
                    self.subscript(&text);
                }
                if keep {
                    let value = match &assignment.element {
                        Some(element) => self.with_element(name, element, datum),
                        None => Value::Scalar(datum),
                    };
                    self.state.set(name, value);
                    if assignment.element.is_none() && !assignment.append && arg.known().is_none() {
                        self.note_choice(name, word);
                    }
                }
                Some((name.clone(), arg))
            }
            Assigned::Array { words, keyed } => {
                let expanded = self.words(words);
                if let Some(mut pairs) = keyed.then(|| pairs(&expanded)).flatten() {
                    if assignment.append
                        && let Some(Value::Keyed(before)) = self.state.variable(name)
                    {
                        pairs = before.iter().cloned().chain(pairs).collect();
                    }
                    self.state.set(name, Value::Keyed(Rc::new(pairs)));
                    return None;
                }
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

    /// A variable that stays set may disable a guard or make shells run something.
    pub(crate) fn assigned(&mut self, name: &str, arg: &Arg) {
        let mut report = Report::default();
        programs::judge_assignment(name, arg, "", &mut report);
        if self.elsewhere == 0 {
            let cwd = &self.state.directories().now;
            self.reading.mentions.extend(programs::mentions::in_variable(name, arg, cwd));
        }
        for effect in report.effects {
            self.effect(effect);
        }
        for opaque in report.opaque {
            self.opaque(opaque.what, &opaque.text);
        }
        for next in report.next {
            let scene = Scene { certain: false, attributable: false, capture: false };
            if let Next::Shell { text, through, .. } = next {
                self.through(&through, |this| this.evaluate(text.known(), text.taint, &text.text, scene));
            } else {
                let cwd = self.state.directories().now.clone();
                let context = Context {
                    program: name,
                    args: &[],
                    templates: &[],
                    stdin: &Stdin::Inherited,
                    cwd: &cwd,
                    by: None,
                    scene,
                    by_shell: false,
                };
                self.next(next, &context, Taint::default());
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

    /// `NAME[i]=value`: an array of named elements has one more; another is as a whole then not known.
    fn with_element(&mut self, name: &str, element: &[Part], datum: Datum) -> Value {
        if let Some(Value::Keyed(pairs)) = self.state.variable(name).cloned()
            && let Some(key) = self.quoted_value(element).text()
        {
            let mut pairs = pairs.to_vec();
            pairs.retain(|(name, _)| name != key);
            pairs.push((key.to_owned(), datum));
            return Value::Keyed(Rc::new(pairs));
        }
        let before = self.state.variable(name).map_or(Taint::default(), Value::taint);
        Value::unknown(before.and(datum.taint))
    }
}

/// The elements of `([a]=x [b]=y)`, when all of them are known.
fn pairs(words: &[Expanded]) -> Option<Vec<(String, Datum)>> {
    words
        .iter()
        .map(|word| {
            let (key, value) = word.arg.known()?.strip_prefix('[')?.split_once("]=")?;
            // The bracket of the key is no class of letters.
            (!word.arg.glob || !has_glob(value))
                .then(|| (key.to_owned(), Datum { taint: word.arg.taint, ..Datum::known(value) }))
        })
        .collect()
}
