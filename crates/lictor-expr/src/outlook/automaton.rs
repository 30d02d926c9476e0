//! Decides whether a text exists that some patterns match and others do not.
//!
//! Each pattern is a small automaton over characters; all are simulated together, breadth first, with one
//! representative of each class of characters that none of them distinguishes.

use std::collections::{BTreeSet, VecDeque};

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Larger patterns are not followed.
const MOST_STATES: usize = 2_000;
/// After this many steps a text is assumed to exist.
const MOST_STEPS: usize = 300_000;

/// The texts that a pattern matches, or those that it does not.
pub(super) struct Language {
    states: Vec<State>,
    start: usize,
    found: bool,
}

enum State {
    /// One character of these ranges.
    One(Vec<(char, char)>, usize),
    /// Any of these ways, without a character.
    Ways(Vec<usize>),
    /// Only at the beginning.
    Start(usize),
    /// Only at the end.
    End(usize),
    Found,
}

/// The active states of a pattern; `None` once it has matched.
type Places = Option<BTreeSet<usize>>;

impl Language {
    /// `None` for a pattern that is too large or uses more than characters and the anchors of both ends.
    pub(super) fn new(pattern: &str, found: bool) -> Option<Self> {
        let hir = regex_syntax::parse(pattern).ok()?;
        let mut language = Self { states: vec![State::Found], start: 0, found };
        language.start = language.build(&hir, 0)?;
        Some(language)
    }

    fn push(&mut self, state: State) -> Option<usize> {
        self.states.push(state);
        (self.states.len() <= MOST_STATES).then_some(self.states.len() - 1)
    }

    /// The first state of a pattern that continues with `next`. Recurses along a tree whose depth the parser
    /// bounds.
    fn build(&mut self, hir: &Hir, next: usize) -> Option<usize> {
        match hir.kind() {
            HirKind::Empty => Some(next),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                text.chars().rev().try_fold(next, |next, c| self.push(State::One(vec![(c, c)], next)))
            }
            HirKind::Class(Class::Unicode(class)) => {
                let ranges = class.ranges().iter().map(|range| (range.start(), range.end())).collect();
                self.push(State::One(ranges, next))
            }
            HirKind::Class(Class::Bytes(_)) => None,
            HirKind::Look(Look::Start) => self.push(State::Start(next)),
            HirKind::Look(Look::End) => self.push(State::End(next)),
            HirKind::Look(_) => None,
            HirKind::Capture(capture) => self.build(&capture.sub, next),
            HirKind::Concat(parts) => parts.iter().rev().try_fold(next, |next, part| self.build(part, next)),
            HirKind::Alternation(parts) => {
                let ways = parts.iter().map(|part| self.build(part, next)).collect::<Option<_>>()?;
                self.push(State::Ways(ways))
            }
            HirKind::Repetition(repetition) => {
                let mut next = next;
                match repetition.max {
                    None => {
                        let again = self.push(State::Ways(Vec::new()))?;
                        let inner = self.build(&repetition.sub, again)?;
                        if let Some(State::Ways(ways)) = self.states.get_mut(again) {
                            ways.extend([inner, next]);
                        }
                        next = again;
                    }
                    Some(max) => {
                        let end = next;
                        for _ in repetition.min..max {
                            let inner = self.build(&repetition.sub, next)?;
                            next = self.push(State::Ways(vec![inner, end]))?;
                        }
                    }
                }
                for _ in 0..repetition.min {
                    next = self.build(&repetition.sub, next)?;
                }
                Some(next)
            }
        }
    }

    /// All states that are reachable without a character.
    fn reach(&self, from: impl IntoIterator<Item = usize>, at_start: bool, at_end: bool) -> Places {
        let mut reached = BTreeSet::new();
        let mut open: Vec<usize> = from.into_iter().collect();
        while let Some(at) = open.pop() {
            if !reached.insert(at) {
                continue;
            }
            match self.states.get(at) {
                Some(State::Found) => return None,
                Some(State::Ways(ways)) => open.extend(ways),
                Some(State::Start(next)) if at_start => open.push(*next),
                Some(State::End(next)) if at_end => open.push(*next),
                _ => {}
            }
        }
        Some(reached)
    }

    fn step(&self, places: &Places, c: char) -> Places {
        let Some(places) = places else { return None };
        let fits = |ranges: &[(char, char)]| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
        let next = places.iter().filter_map(|at| match self.states.get(*at) {
            Some(State::One(ranges, next)) if fits(ranges) => Some(*next),
            _ => None,
        });
        self.reach(next.chain([self.start]), false, false)
    }

    /// Whether the text so far is in the language.
    fn accepts(&self, places: &Places, at_start: bool) -> bool {
        let found = match places {
            None => true,
            Some(places) => self.reach(places.iter().copied(), at_start, true).is_none(),
        };
        found == self.found
    }

    fn borders(&self) -> impl Iterator<Item = u32> {
        let ranges = self.states.iter().flat_map(|state| match state {
            State::One(ranges, _) => ranges.as_slice(),
            _ => &[],
        });
        ranges.flat_map(|(low, high)| [u32::from(*low), u32::from(*high) + 1])
    }
}

/// Whether the intersection of the languages is empty. `false` if that takes too long to determine.
pub(super) fn is_empty(languages: &[Language]) -> bool {
    let mut classes: BTreeSet<u32> = languages.iter().flat_map(Language::borders).collect();
    classes.insert(0);
    // The surrogate range contains no characters: a class that would begin there begins after it.
    let character = |code| char::from_u32(code).or_else(|| (code < 0xE000).then_some('\u{E000}'));
    let classes: BTreeSet<char> = classes.into_iter().filter_map(character).collect();
    let first: Vec<Places> = languages.iter().map(|it| it.reach([it.start], true, false)).collect();
    if languages.iter().zip(&first).all(|(it, places)| it.accepts(places, true)) {
        return false;
    }
    let mut seen: BTreeSet<Vec<Places>> = BTreeSet::new();
    let mut open = VecDeque::from([first]);
    let mut steps = 0;
    while let Some(places) = open.pop_front() {
        for c in &classes {
            steps += 1 + places.iter().flatten().map(BTreeSet::len).sum::<usize>();
            if steps > MOST_STEPS {
                return false;
            }
            let next: Vec<Places> =
                languages.iter().zip(&places).map(|(it, places)| it.step(places, *c)).collect();
            if languages.iter().zip(&next).all(|(it, places)| it.accepts(places, false)) {
                return false;
            }
            if seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    true
}
