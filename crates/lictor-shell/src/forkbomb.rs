//! Functions that only multiply themselves, and loops that only start processes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::ast::{Compound, Function, Node, Part, Script, Simple};

/// Whether a function calls itself at least twice, some of it at the same time (`:(){ :|:& };:`), or does nothing
/// but start itself again (`f() { f & }`).
pub(crate) fn multiplies(function: &Function) -> bool {
    let names = BTreeSet::from([function.name.as_str()]);
    let count = calls(function, &names);
    count.calls >= 2 && count.parallel || count.calls >= 1 && starts_only(function)
}

/// Whether the body of a function does nothing but start processes in the background.
fn starts_only(function: &Function) -> bool {
    let Node::Compound { body, .. } = &function.body else { return false };
    match body.as_ref() {
        Compound::Group(script) | Compound::Subshell(script) => only_starts(script),
        _ => false,
    }
}

/// Whether functions call each other in a circle and more of them are started than end (`a() { b & b; }; b() { a; }`),
/// or each does nothing but start the next one (`a() { b & }; b() { a & }`).
pub(crate) fn multiply_together(functions: &[(Rc<Function>, bool)]) -> bool {
    /// The maximum number of functions that are analysed.
    const MOST: usize = 64;
    if functions.len() < 2 || functions.len() > MOST {
        return false;
    }
    let names: BTreeSet<&str> = functions.iter().map(|(function, _)| function.name.as_str()).collect();
    let counted: BTreeMap<&str, Count<'_>> =
        functions.iter().map(|(function, _)| (function.name.as_str(), calls(function, &names))).collect();
    let reaches = |from: &str, to: &str| {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open = vec![from];
        while let Some(name) = open.pop() {
            let called = counted.get(name).into_iter().flat_map(|count| count.names.iter().copied());
            for next in called {
                if next == to {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    };
    names.iter().any(|name| {
        reaches(name, name) && {
            let in_circle = |other: &str| other == *name || reaches(name, other) && reaches(other, name);
            let circle: Vec<&Count<'_>> =
                counted.iter().filter(|(other, _)| in_circle(other)).map(|(_, count)| count).collect();
            let mut members = functions.iter().filter(|(function, _)| in_circle(&function.name));
            circle.len() > 1
                && (members.all(|(function, _)| starts_only(function))
                    || circle.iter().any(|count| count.calls >= 2)
                        && circle.iter().any(|count| count.parallel))
        }
    })
}

/// Whether a loop without end starts something in the background in every round and waits for nothing
/// (`while true; do sh & done`). `until` when the condition has to fail.
pub(crate) fn never_waits(condition: &Script, body: &Script, until: bool) -> bool {
    is_endless(condition, until) && only_starts(body)
}

/// Whether the condition of a loop holds for ever.
pub(crate) fn is_endless(condition: &Script, until: bool) -> bool {
    match condition.items.as_slice() {
        [item] if item.rest.is_empty() => match item.first.stages.as_slice() {
            [Node::Simple(simple)] => {
                let words: Vec<&str> = simple
                    .words
                    .iter()
                    .map(|word| word.literal().unwrap_or_else(|| word.written()))
                    .collect();
                let holds = matches!(
                    words.as_slice(),
                    ["true" | ":"] | ["[" | "test", "1", ..] | ["sleep" | "echo" | "printf" | "cd", ..]
                );
                let fails = matches!(words.as_slice(), ["false"]);
                if until != item.first.negated { fails } else { holds }
            }
            [Node::Compound { body, .. }] => match body.as_ref() {
                Compound::Arithmetic(parts) => {
                    !until && matches!(parts.as_slice(), [Part::Literal(text)] if text.trim() == "1")
                }
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}

/// Whether `for ((…))` has no end and only starts processes.
pub(crate) fn counts_forever(header: &[Part], body: &Script) -> bool {
    has_no_end(header) && only_starts(body)
}

/// Whether the header of `for ((…))` names no end.
pub(crate) fn has_no_end(header: &[Part]) -> bool {
    let text: String = header
        .iter()
        .map(|part| match part {
            Part::Literal(text) | Part::Quoted(text) => text.as_str(),
            _ => "?",
        })
        .collect();
    text.split(';').nth(1).is_some_and(|condition| matches!(condition.trim(), "" | "1"))
}

/// Whether a script starts itself at least twice, some of it at the same time (`$0 & $0`).
pub(crate) fn restarts(script: &Script) -> bool {
    let is_itself = |node: &Node| {
        let Node::Simple(simple) = node else { return false };
        let words: Vec<&str> = simple.words.iter().map(|word| word.written()).collect();
        let itself = |word: &str| matches!(word, "$0" | "\"$0\"" | "${0}" | "./$0" | "$BASH_SOURCE");
        match words.as_slice() {
            [only] => itself(only),
            ["bash" | "sh" | "exec" | "nohup" | ".", second] => itself(second),
            _ => false,
        }
    };
    let mut started = 0_usize;
    let mut parallel = false;
    for item in &script.items {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)) {
            let here = pipeline.stages.iter().filter(|stage| is_itself(stage)).count();
            started += here;
            parallel |= here > 0 && (item.background || here > 1);
        }
    }
    started >= 2 && parallel
}

/// Whether a body starts something in the background and waits for nothing.
pub(crate) fn only_starts(body: &Script) -> bool {
    let starts = |node: &Node| match node {
        Node::Compound { body, .. } => match body.as_ref() {
            Compound::Group(script) | Compound::Subshell(script) => {
                !script.items.is_empty() && script.items.iter().all(|item| item.background)
            }
            _ => false,
        },
        _ => false,
    };
    let mut any = false;
    let all = body.items.iter().all(|item| {
        let started = item.background || item.rest.is_empty() && item.first.stages.iter().all(starts);
        any |= started;
        started || item.first.stages.iter().all(passes_by)
    });
    any && all
}

/// A command that takes no time.
fn passes_by(node: &Node) -> bool {
    let Node::Simple(Simple { words, .. }) = node else { return false };
    match words.first().and_then(|word| word.literal()) {
        Some(program) => {
            matches!(program, "disown" | "true" | ":" | "echo" | "printf" | "let" | "cd" | "mkdir" | "export")
        }
        None => words.is_empty(),
    }
}

struct Count<'a> {
    wanted: &'a BTreeSet<&'a str>,
    /// Those of them that are called.
    names: BTreeSet<&'a str>,
    calls: u32,
    parallel: bool,
}

/// How often a function calls those of a set.
fn calls<'a>(function: &'a Function, wanted: &'a BTreeSet<&'a str>) -> Count<'a> {
    let mut count = Count { wanted, names: BTreeSet::new(), calls: 0, parallel: false };
    count.node(&function.body, false);
    count
}

impl<'a> Count<'a> {
    fn script(&mut self, script: &'a Script, parallel: bool) {
        for item in &script.items {
            for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline))
            {
                let parallel = parallel || item.background || pipeline.stages.len() > 1;
                for stage in &pipeline.stages {
                    self.node(stage, parallel);
                }
            }
        }
    }

    /// Nesting is bounded by the parser.
    fn node(&mut self, node: &'a Node, parallel: bool) {
        match node {
            Node::Simple(simple) => {
                if let Some(name) = simple.words.first().and_then(|word| word.literal())
                    && self.wanted.contains(name)
                {
                    self.names.insert(name);
                    self.calls += 1;
                    self.parallel |= parallel;
                }
            }
            Node::Compound { body, .. } => match body.as_ref() {
                Compound::Group(script) | Compound::Subshell(script) => self.script(script, parallel),
                Compound::While { body, .. }
                | Compound::For { body, .. }
                | Compound::CountingFor { body, .. } => {
                    // A loop calls as often as it likes.
                    let before = self.calls;
                    self.script(body, parallel);
                    self.calls += self.calls - before;
                }
                Compound::If { arms, otherwise } => {
                    for (condition, body) in arms {
                        self.script(condition, parallel);
                        self.script(body, parallel);
                    }
                    if let Some(otherwise) = otherwise {
                        self.script(otherwise, parallel);
                    }
                }
                Compound::Case { arms, .. } => {
                    for arm in arms {
                        self.script(&arm.body, parallel);
                    }
                }
                Compound::Coprocess { body, .. } => self.node(body, true),
                Compound::Test(_) | Compound::Arithmetic(_) => {}
            },
            Node::Function(_) => {}
        }
    }
}
