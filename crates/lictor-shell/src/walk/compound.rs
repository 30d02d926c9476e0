//! Compound commands.

use std::rc::Rc;

use lictor_core::facts::{Effect, ProcessEffect};

use super::{Output, Scene, Walker};
use crate::ast::{Changes, Compound, Part, Redirect, Script, Word};
use crate::call::Stdin;
use crate::operand::{Cwd, Taint};
use crate::state::{Datum, Positional, Value};

/// Most rounds of nested loops, together, that are walked one by one.
const MOST_ROUNDS: usize = 64;

impl Walker<'_> {
    pub(super) fn compound(&mut self, body: &Rc<Compound>, redirects: &[Redirect], scene: Scene) -> Output {
        if redirects.is_empty() {
            return self.body(body, scene);
        }
        let plumbing = self.plumb(redirects);
        let inner = Scene { capture: scene.capture || plumbing.wants_output(), ..scene };
        let outer = plumbing.source.clone().map(|source| self.piped.replace(source));
        let output = self.with_stdin(plumbing.stdin.clone(), |this| this.body(body, inner));
        if let Some(outer) = outer {
            self.piped = outer;
        }
        let from = self.reading.effects.len();
        let output = self.report_plumbing(plumbing, None, Some(output));
        // `while read`: the lines go into variables, and are judged where these are printed or sent.
        if matches!(&**body, Compound::While { condition, .. } if reads_lines(condition)) {
            self.put_into_variable(from);
        }
        output
    }

    fn body(&mut self, body: &Compound, scene: Scene) -> Output {
        match body {
            Compound::Group(script) => self.list(script, scene),
            Compound::Subshell(script) => {
                let mark = self.state.mark();
                let output = self.list(script, scene);
                self.state.leave(mark);
                output
            }
            Compound::If { arms, otherwise } => self.condition(arms, otherwise.as_ref(), scene),
            Compound::While { until, condition, body, changes } => {
                if crate::forkbomb::never_waits(condition, body, *until) {
                    self.effect(Effect::Process(ProcessEffect::ForkBomb));
                }
                if crate::forkbomb::is_endless(condition, *until) {
                    self.fills_in_rounds(body);
                }
                self.while_loop(condition, body, changes, scene)
            }
            Compound::For { name, words, body, changes } => {
                self.starts_in_rounds(words.as_deref().unwrap_or_default(), body);
                self.for_loop(name, words.as_deref(), body, changes, scene)
            }
            Compound::CountingFor { header, body, changes } => {
                if crate::forkbomb::counts_forever(header, body) {
                    self.effect(Effect::Process(ProcessEffect::ForkBomb));
                }
                if crate::forkbomb::has_no_end(header) {
                    self.fills_in_rounds(body);
                }
                self.arithmetic(header);
                self.unsettle(changes);
                self.repeated(body, scene)
            }
            Compound::Case { subject, arms } => {
                self.value(subject);
                let mut branches = Vec::new();
                let mut exhaustive = false;
                for arm in arms {
                    for pattern in &arm.patterns {
                        exhaustive |= pattern.bare().is_none()
                            && matches!(pattern.parts.as_slice(), [Part::Literal(text)] if text == "*");
                        self.value(pattern);
                    }
                    let mark = self.state.mark();
                    self.list(&arm.body, Scene { certain: false, ..scene });
                    branches.push(self.state.take(mark));
                }
                self.state.merge(branches, exhaustive);
                Output::unknown()
            }
            Compound::Test(words) => {
                let from = self.reading.effects.len();
                self.test_words(words);
                self.put_into_variable(from);
                Output::silent()
            }
            Compound::Arithmetic(parts) => {
                self.arithmetic(parts);
                self.unsettle_arithmetic(parts);
                Output::silent()
            }
            Compound::Coprocess { name, body } => {
                let mark = self.state.mark();
                let scene = Scene { attributable: false, capture: true, ..scene };
                let output = self.with_unknown_stdin(Taint::default(), |this| this.node(body, scene));
                self.state.leave(mark);
                // Its output is read from the first descriptor of its array.
                let number = |path: String| Datum::known(path.trim_start_matches("/dev/fd/"));
                let prints = number(self.pipe_path(output));
                let takes = number(self.pipe_path(Output::unknown()));
                self.state.set(name, Value::List(Rc::new(vec![prints, takes])));
                Output::silent()
            }
        }
    }

    fn condition(&mut self, arms: &[(Script, Script)], otherwise: Option<&Script>, scene: Scene) -> Output {
        let mut branches = Vec::new();
        let mut taint = Taint::default();
        for (index, (condition, body)) in arms.iter().enumerate() {
            let certain = scene.certain && index == 0;
            self.note_conditions(condition);
            self.list(condition, Scene { certain, attributable: false, capture: false });
            let mark = self.state.mark();
            taint = taint.and(self.list(body, Scene { certain: false, ..scene }).taint());
            branches.push(self.state.take(mark));
        }
        if let Some(otherwise) = otherwise {
            let mark = self.state.mark();
            taint = taint.and(self.list(otherwise, Scene { certain: false, ..scene }).taint());
            branches.push(self.state.take(mark));
        }
        self.state.merge(branches, otherwise.is_some());
        Output::Unknown(taint)
    }

    /// Everything the loop may change is not known when a round starts.
    fn unsettle(&mut self, changes: &Changes) {
        for name in &changes.names {
            self.state.set(name, Value::unknown(Taint::default()));
        }
        if changes.directory {
            let mut directories = self.state.directories().clone();
            directories.now = Cwd::Unknown;
            directories.instead = None;
            self.state.set_directories(directories);
        }
    }

    /// Names that an arithmetic text assigns are not known any more.
    pub(crate) fn unsettle_arithmetic(&mut self, parts: &[Part]) {
        for part in parts {
            let Part::Literal(text) = part else { continue };
            if !text.contains('=') && !text.contains("++") && !text.contains("--") {
                continue;
            }
            for name in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                if !crate::parser::name_prefix(name).is_empty() {
                    self.state.set(name, Value::unknown(Taint::default()));
                }
            }
        }
    }

    /// The body of a loop whose rounds are not distinguished.
    fn repeated(&mut self, body: &Script, scene: Scene) -> Output {
        let exits = self.state.flags().errexit;
        let mark = self.state.mark();
        let inner =
            Scene { certain: false, attributable: scene.attributable && exits, capture: scene.capture };
        let output = self.list(body, inner);
        self.state.doubt(mark);
        Output::Unknown(output.taint())
    }

    fn while_loop(&mut self, condition: &Script, body: &Script, changes: &Changes, scene: Scene) -> Output {
        // `while read line` over known text is a loop over its lines.
        let lines: Option<Vec<Datum>> = match self.stdin.as_ref() {
            Stdin::Text(text) => {
                Some(text.lines().take(MOST_ROUNDS + 1).map(|line| Datum::open(line.trim())).collect())
            }
            Stdin::Names(names) => Some(names.iter().map(Datum::of).collect()),
            _ => None,
        };
        if let (Some(name), Some(lines)) = (reads_one(condition), lines) {
            let name = name.to_owned();
            return self.rounds(&name, lines, body, changes, scene);
        }
        self.unsettle(changes);
        self.note_conditions(condition);
        self.list(condition, Scene { attributable: false, capture: false, ..scene });
        self.repeated(body, scene)
    }

    fn for_loop(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        body: &Script,
        changes: &Changes,
        scene: Scene,
    ) -> Output {
        let values: Option<Vec<Datum>> = match words {
            Some(words) => {
                let expanded = self.words(words);
                let taint = expanded.iter().fold(Taint::default(), |taint, word| taint.and(word.arg.taint));
                let listed = expanded.iter().all(|word| !word.arg.splits);
                if !listed {
                    self.unsettle(changes);
                    self.state.set(name, Value::unknown(taint));
                    return self.repeated(body, scene);
                }
                Some(
                    expanded
                        .into_iter()
                        .map(|word| Datum { template: word.template, ..Datum::of(&word.arg) })
                        .collect(),
                )
            }
            None => match self.state.positional() {
                Positional::Known(list) => Some(list.to_vec()),
                Positional::Unknown(_) => None,
            },
        };
        match values {
            Some(values) => self.rounds(name, values, body, changes, scene),
            None => {
                self.unsettle(changes);
                let taint = self.state.positional().taint();
                self.state.set(name, Value::unknown(taint));
                self.repeated(body, scene)
            }
        }
    }

    /// One round for each value, or one for all of them when there are too many.
    fn rounds(
        &mut self,
        name: &str,
        values: Vec<Datum>,
        body: &Script,
        changes: &Changes,
        scene: Scene,
    ) -> Output {
        let outer = self.rounds;
        if values.len().saturating_mul(outer) > MOST_ROUNDS {
            let taint = values.iter().fold(Taint::default(), |taint, value| taint.and(value.taint));
            self.unsettle(changes);
            self.state.set(name, Value::Scalar(Datum { taint, ..common(&values) }));
            return self.repeated(body, scene);
        }
        self.rounds = outer * values.len().max(1);
        let exits = self.state.flags().errexit;
        let single = values.len() == 1;
        let mut output = Output::silent();
        for value in values {
            self.state.set(name, Value::Scalar(value));
            let inner = Scene { attributable: scene.attributable && (exits || single), ..scene };
            let out = self.list(body, inner);
            output = output.then(out);
        }
        self.rounds = outer;
        output
    }
}

/// The common part of all values.
fn common(values: &[Datum]) -> Datum {
    use crate::operand::Known;
    let texts: Option<Vec<&str>> = values.iter().map(Datum::text).collect();
    let Some((first, rest)) = texts.as_deref().and_then(<[&str]>::split_first) else {
        return Datum::unknown(Taint::default());
    };
    let mut prefix = *first;
    let mut suffix = *first;
    for text in rest {
        while !text.starts_with(prefix) {
            prefix =
                prefix.char_indices().next_back().and_then(|(at, _)| prefix.get(..at)).unwrap_or_default();
        }
        while !text.ends_with(suffix) {
            suffix = suffix.char_indices().nth(1).and_then(|(at, _)| suffix.get(at..)).unwrap_or_default();
        }
    }
    if prefix.is_empty() && suffix.is_empty() {
        return Datum::unknown(Taint::default());
    }
    let value = Known::Partly { prefix: prefix.to_owned(), suffix: suffix.to_owned() };
    Datum { value, taint: Taint::default(), glob: false, template: None, found: None }
}

/// Whether a condition is `read` and nothing else.
fn reads_lines(condition: &Script) -> bool {
    let [item] = condition.items.as_slice() else { return false };
    let [crate::ast::Node::Simple(simple)] = item.first.stages.as_slice() else { return false };
    simple.words.first().and_then(Word::literal) == Some("read")
}

/// The variable of `read [-r] NAME`, when that is all the condition does.
fn reads_one(condition: &Script) -> Option<&str> {
    let [item] = condition.items.as_slice() else { return None };
    let [crate::ast::Node::Simple(simple)] = item.first.stages.as_slice() else { return None };
    if !item.rest.is_empty() || !simple.redirects.is_empty() {
        return None;
    }
    let mut words = simple.words.iter().map(Word::literal);
    if words.next()? != Some("read") {
        return None;
    }
    let mut name = None;
    for word in words {
        match word? {
            "-r" => {}
            word if word.starts_with('-') || name.is_some() => return None,
            word => name = Some(word),
        }
    }
    name
}
