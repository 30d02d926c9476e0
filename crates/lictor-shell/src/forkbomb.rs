//! Functions that only multiply themselves, and loops that only start processes.

use crate::ast::{Compound, Function, Node, Script};

/// Whether a function calls itself at least twice, some of it at the same time (`:(){ :|:& };:`).
pub(crate) fn multiplies(function: &Function) -> bool {
    let mut count = Count { name: &function.name, calls: 0, parallel: false };
    count.node(&function.body, false);
    count.calls >= 2 && count.parallel
}

/// Whether a loop without end starts something in the background in every round and waits for nothing
/// (`while true; do sh & done`).
pub(crate) fn never_waits(condition: &Script, body: &Script) -> bool {
    let endless = match condition.items.as_slice() {
        [item] if item.rest.is_empty() => match item.first.stages.as_slice() {
            [Node::Simple(simple)] => {
                let words: Vec<&str> = simple.words.iter().filter_map(|word| word.literal()).collect();
                matches!(words.as_slice(), ["true" | ":"] | ["[" | "test", "1", ..])
            }
            _ => false,
        },
        _ => false,
    };
    endless && !body.items.is_empty() && body.items.iter().all(|item| item.background)
}

struct Count<'a> {
    name: &'a str,
    calls: u32,
    parallel: bool,
}

impl Count<'_> {
    fn script(&mut self, script: &Script, parallel: bool) {
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
    fn node(&mut self, node: &Node, parallel: bool) {
        match node {
            Node::Simple(simple) => {
                if simple.words.first().and_then(|word| word.literal()) == Some(self.name) {
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
                Compound::Coprocess(node) => self.node(node, true),
                Compound::Test(_) | Compound::Arithmetic(_) => {}
            },
            Node::Function(_) => {}
        }
    }
}
