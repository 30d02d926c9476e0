//! Static analysis of a condition: can it be true, can it be false?
//!
//! A condition is true when all literals of one of its alternatives are true (`&&`, `||`, `!` and `?:` pushed
//! down to tests of single values, at most [`MOST_ALTERNATIVES`]). An alternative is impossible when no value
//! satisfies the literals about it, when a field is both missing and read, or when the same test has to be true
//! and false. If the analysis cannot decide, it assumes that the alternative is possible: `Never` and `Always`
//! are proofs, `Open` is not.

mod automaton;
mod literal;
mod term;

use crate::program::{Node, NodeId, Program};
use crate::schema::Schema;
use crate::span::Span;
use literal::Literal;

/// The maximum number of alternatives that are analysed.
const MOST_ALTERNATIVES: usize = 256;
/// Up to this many parts, all combinations are tried for the smallest contradiction.
const FEW_PARTS: usize = 10;
/// The largest contradiction for which all combinations are tried.
const SMALL_CORE: usize = 3;

/// Whether a condition depends on its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// It is never true: it is false or has no value. With a minimal set of parts that cannot hold together.
    Never(Vec<Part>),
    /// It is never false: it is true or has no value. With a minimal set of parts of which one always holds.
    Always(Vec<Part>),
    /// Neither is proven.
    Open,
}

/// A part of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Its span.
    pub span: Span,
    /// Whether the part counts as written; false for its negation, as below `!(… || …)`.
    pub as_written: bool,
}

/// A part with its required truth value.
type Goal = (NodeId, bool);

impl Program {
    /// Whether the condition depends on its input. The schema is the one it was compiled against.
    #[must_use]
    pub fn outlook(&self, schema: &Schema) -> Outlook {
        let search = Search { program: self, schema };
        for wanted in [true, false] {
            let mut goals = Vec::new();
            search.conjuncts((self.root_node(), wanted), &mut goals);
            if search.is_impossible(&goals) {
                let part = |(node, truth): Goal| Part { span: self.span(node), as_written: truth == wanted };
                let mut parts: Vec<Part> = search.core(&goals).into_iter().map(part).collect();
                parts.sort_unstable();
                parts.dedup();
                return if wanted { Outlook::Never(parts) } else { Outlook::Always(parts) };
            }
        }
        Outlook::Open
    }
}

struct Search<'a> {
    program: &'a Program,
    schema: &'a Schema,
}

impl Search<'_> {
    fn node(&self, id: NodeId) -> Option<&Node> {
        self.program.node(id).ok()
    }

    /// The conjuncts of a goal.
    fn conjuncts(&self, (id, wanted): Goal, found: &mut Vec<Goal>) {
        match (self.node(id), wanted) {
            (Some(Node::And(parts)), true) | (Some(Node::Or(parts)), false) => {
                parts.iter().for_each(|part| self.conjuncts((*part, wanted), found));
            }
            (Some(Node::Not(inner)), _)
                if matches!(self.node(*inner), Some(Node::And(_) | Node::Or(_) | Node::Not(_))) =>
            {
                self.conjuncts((*inner, !wanted), found);
            }
            _ => found.push((id, wanted)),
        }
    }

    /// The alternatives of a goal, each a list of literals; `None` when there are too many.
    fn alternatives(&self, (id, wanted): Goal) -> Option<Vec<Vec<Literal>>> {
        match (self.node(id), wanted) {
            (Some(Node::Not(inner)), _) => self.alternatives((*inner, !wanted)),
            (Some(Node::And(parts)), true) | (Some(Node::Or(parts)), false) => {
                let goals: Vec<Goal> = parts.iter().map(|part| (*part, wanted)).collect();
                self.together(&goals)
            }
            (Some(Node::And(parts)), false) | (Some(Node::Or(parts)), true) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.alternatives((*part, wanted))?);
                }
                (all.len() <= MOST_ALTERNATIVES).then_some(all)
            }
            (Some(Node::Choose { condition, then, otherwise }), _) => {
                let mut all = self.together(&[(*condition, true), (*then, wanted)])?;
                all.extend(self.together(&[(*condition, false), (*otherwise, wanted)])?);
                (all.len() <= MOST_ALTERNATIVES).then_some(all)
            }
            _ => Some(vec![literal::of(self.program, self.schema, id, wanted)]),
        }
    }

    /// The alternatives of goals that have to hold together.
    fn together(&self, goals: &[Goal]) -> Option<Vec<Vec<Literal>>> {
        let mut all = vec![Vec::new()];
        for goal in goals {
            let more = self.alternatives(*goal)?;
            if all.len().saturating_mul(more.len()) > MOST_ALTERNATIVES {
                return None;
            }
            all = all
                .iter()
                .flat_map(|one| more.iter().map(move |other| one.iter().chain(other).cloned().collect()))
                .collect();
        }
        Some(all)
    }

    fn is_impossible(&self, goals: &[Goal]) -> bool {
        self.together(goals).is_some_and(|all| all.iter().all(|literals| term::is_impossible(literals)))
    }

    /// The fewest goals that are impossible together; for many goals, a set from which none can be removed.
    fn core(&self, goals: &[Goal]) -> Vec<Goal> {
        if goals.len() <= FEW_PARTS {
            for size in 1..=SMALL_CORE.min(goals.len()) {
                if let Some(core) = self.core_of(goals, size, &mut Vec::new()) {
                    return core;
                }
            }
        }
        let mut core = goals.to_vec();
        let mut index = 0;
        while index < core.len() {
            let mut without = core.clone();
            without.remove(index);
            if self.is_impossible(&without) { core = without } else { index += 1 }
        }
        core
    }

    fn core_of(&self, goals: &[Goal], size: usize, chosen: &mut Vec<Goal>) -> Option<Vec<Goal>> {
        if size == 0 {
            return self.is_impossible(chosen).then(|| chosen.clone());
        }
        for (index, goal) in goals.iter().enumerate() {
            chosen.push(*goal);
            let found = self.core_of(goals.get(index + 1..).unwrap_or_default(), size - 1, chosen);
            chosen.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// Whether a regular expression matches every text that another matches. `false` if unknown.
#[must_use]
pub fn pattern_covers(wide: &str, narrow: &str) -> bool {
    let languages = [automaton::Language::new(narrow, true), automaton::Language::new(wide, false)];
    let [Some(narrow), Some(wide)] = languages else { return false };
    automaton::is_empty(&[narrow, wide])
}
