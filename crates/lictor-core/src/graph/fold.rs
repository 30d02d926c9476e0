//! The fast evaluator: one walk, depth first, left to right.
//!
//! A verdict is recorded as active; a combinator that does not use it marks it as superseded afterwards.
//! Everything that one child recorded lies between two marks, so no lists of verdicts are passed around, and an
//! evaluation in which all guards pass allocates only the trace.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{Graph, Kind, Node, Observer, Quorum};
use crate::action::Action;
use crate::clock::Timestamp;
use crate::context::{Context, Mark};
use crate::decision::Value;
use crate::evaluation::Judged;
use crate::facts::Facts;
use crate::guard::{Guard, panic_text};
use crate::session::SessionState;
use crate::trace::{Branch, Site};
use crate::verdict::Verdict;

impl Graph {
    /// Judges one action. Runs guards, so it is as pure as they are; it never prompts.
    #[must_use]
    pub fn judge(&self, action: &Action, facts: &Facts, session: &SessionState, now: Timestamp) -> Judged {
        self.judge_in(Context::new(action, facts, session, now))
    }

    /// As [`judge`](Self::judge), in a prepared context.
    #[must_use]
    pub fn judge_in(&self, mut context: Context<'_>) -> Judged {
        context.enter_graph(&self.nodes, self.leaves);
        let mut value = walk(&self.root, &mut context);
        context.decided(value);
        for observer in &self.observers {
            value = value.max(observe(observer, &mut context));
        }
        context.finish(value)
    }
}

fn walk(node: &Node, context: &mut Context<'_>) -> Value {
    let risk_before = context.risk();
    let began = context.elapsed();
    let mut branch = None;
    let value = match &node.kind {
        Kind::Leaf(guard) => {
            context.enter(node.number);
            leaf(node, guard.as_ref(), context)
        }
        Kind::Quorum { shape: Quorum::All, children, short_circuit, .. } => {
            all(children, *short_circuit, context)
        }
        Kind::Quorum { shape, at_least, children, short_circuit } => {
            let eager = *shape == Quorum::Any || *short_circuit;
            n_th(*at_least, children, eager, context)
        }
        Kind::Not { child, reason, fix } => not(node, child, reason, fix, context),
        Kind::When { condition, then, otherwise } => {
            let answer = catch_unwind(AssertUnwindSafe(|| condition(context.action(), context)));
            let (then, otherwise) = (then.as_deref(), otherwise.as_deref());
            let (value, taken) = match answer {
                Ok(Ok(true)) => {
                    let value = then.map_or(Value::Error, |node| walk(node, context));
                    skip(otherwise, context);
                    (value, Branch::Then)
                }
                Ok(Ok(false)) => {
                    skip(then, context);
                    match otherwise {
                        Some(node) => (walk(node, context), Branch::Otherwise),
                        None => (Value::Pass, Branch::NotApplicable),
                    }
                }
                Ok(Err(why)) => {
                    (condition_failed(node, then, otherwise, &why, context), Branch::ConditionFailed)
                }
                Err(panic) => {
                    let why = panic_text(panic.as_ref());
                    (condition_failed(node, then, otherwise, &why, context), Branch::ConditionFailed)
                }
            };
            branch = Some(taken);
            value
        }
        Kind::Escalate { primary, fallback, needs_human } => {
            let (value, taken) = escalate(node, primary, fallback, *needs_human, context);
            branch = Some(taken);
            value
        }
    };
    context.note(node.number, value, branch, risk_before, began);
    value
}

/// The strictest of the guard's verdicts; all of them count.
fn leaf(node: &Node, guard: &dyn Guard, context: &mut Context<'_>) -> Value {
    let verdict = ask(guard, &node.site, context);
    let at = context.asked.at.take().unwrap_or_else(|| Arc::clone(&node.site));
    let mut value = context.give(at, verdict, None);
    if !context.asked.further.is_empty() {
        for (verdict, violation) in std::mem::take(&mut context.asked.further) {
            value = value.max(say(node, verdict, violation, context));
        }
    }
    value
}

/// Runs one guard; a panic or misuse becomes an error verdict.
fn ask(guard: &dyn Guard, at: &Arc<Site>, context: &mut Context<'_>) -> Verdict {
    context.asked.at = Some(Arc::clone(at));
    context.asked.misuse = None;
    let action = context.action();
    let answer = catch_unwind(AssertUnwindSafe(|| guard.check(action, context)));
    let why = match (answer, context.asked.misuse.take()) {
        (Ok(verdict), None) => return verdict,
        (Ok(_), Some(misuse)) => misuse.to_owned(),
        (Err(panic), _) => panic_text(panic.as_ref()),
    };
    let name = &at.name;
    Verdict::error(format!("guard `{name}` failed: {why}"), format!("mend the guard `{name}`"))
}

/// Records another verdict of a node and returns its value.
fn say(node: &Node, verdict: Verdict, violation: Option<u32>, context: &mut Context<'_>) -> Value {
    context.give(Arc::clone(&node.site), verdict, violation)
}

/// The strictest child. Stops at a block only: stopping at anything less could change the value below a `Not`.
fn all(children: &[Node], short_circuit: bool, context: &mut Context<'_>) -> Value {
    let mut value = Value::Pass;
    for child in children {
        if short_circuit && value == Value::Block {
            skip(Some(child), context);
        } else {
            value = value.max(walk(child, context));
        }
    }
    value
}

/// The n-th least strict child. Stops early only where the rest cannot change the value: after n passes, or after
/// so many blocks that fewer than n children remain.
fn n_th(n: usize, children: &[Node], eager: bool, context: &mut Context<'_>) -> Value {
    let too_many = children.len().saturating_sub(n);
    let mut counts = [0_usize; Value::ALL.len()];
    let mut given: Vec<(Value, Mark, Mark)> = Vec::with_capacity(children.len());
    for child in children {
        let [passes, .., blocks] = counts;
        if eager && (passes >= n || blocks > too_many) {
            skip(Some(child), context);
            continue;
        }
        let before = context.mark();
        let value = walk(child, context);
        given.push((value, before, context.mark()));
        for (count, of) in counts.iter_mut().zip(Value::ALL) {
            *count += usize::from(of == value);
        }
    }
    let mut seen = 0;
    let reaches_n = |count: usize| {
        seen += count;
        seen >= n
    };
    let value = counts.into_iter().map(reaches_n).zip(Value::ALL).find(|(reached, _)| *reached);
    // Fewer than n children ran only when too many of them blocked.
    let value = value.map_or(Value::Block, |(_, value)| value);
    if value <= Value::Ask {
        // The first n least strict children determine the result: all that are more lenient, then the first ones
        // of the same value.
        let mut places = n.saturating_sub(given.iter().filter(|(of, ..)| *of < value).count());
        for (of, before, after) in given {
            let chosen = of < value || (of == value && places > 0);
            if of == value {
                places = places.saturating_sub(1);
            }
            if !chosen {
                context.supersede(before, after);
            }
        }
    }
    value
}

fn not(node: &Node, child: &Node, reason: &str, fix: &str, context: &mut Context<'_>) -> Value {
    let before = context.mark();
    let value = walk(child, context).negate();
    context.supersede(before, context.mark());
    match value {
        Value::Pass => Value::Pass,
        Value::Block => say(node, Verdict::block(reason, fix), None, context),
        _ => {
            let verdict = Verdict::error(
                "what is negated here has no certain answer",
                "do not put a question or a fault below `not`",
            );
            say(node, verdict, None, context)
        }
    }
}

fn condition_failed(
    node: &Node,
    then: Option<&Node>,
    otherwise: Option<&Node>,
    why: &str,
    context: &mut Context<'_>,
) -> Value {
    skip(then, context);
    skip(otherwise, context);
    let verdict = Verdict::error(
        format!("the condition at `{}` could not be evaluated: {why}", node.site.path),
        "guard the field with `has()`, or correct its name",
    );
    say(node, verdict, None, context)
}

fn escalate(
    node: &Node,
    primary: &Node,
    fallback: &Node,
    needs_human: bool,
    context: &mut Context<'_>,
) -> (Value, Branch) {
    let before = context.mark();
    let first = walk(primary, context);
    if first != Value::Block {
        skip(Some(fallback), context);
        return (first, Branch::Primary);
    }
    let between = context.mark();
    let second = walk(fallback, context);
    if second >= Value::Error {
        // There was no override: both reasons count, the primary's first.
        return (second, Branch::Fallback);
    }
    let overruled = context
        .given(before, between)
        .iter()
        .filter(|given| given.counts())
        .map(|given| format!("`{}` ({})", given.guard(), given.verdict.reason()))
        .collect::<Vec<_>>()
        .join(", ");
    context.supersede(before, between);
    let note = Verdict::warn(format!("escalated: this goes around {overruled}"));
    let mut value = second.max(say(node, note, None, context));
    if needs_human {
        let question = Verdict::ask(format!("a person must agree to going around {overruled}"));
        value = value.max(say(node, question, None, context));
    }
    (value, Branch::Fallback)
}

fn skip(node: Option<&Node>, context: &mut Context<'_>) {
    if let Some(node) = node {
        context.note_skipped(node.number);
    }
}

/// Runs an observer. Its verdict is ignored; only an error of a required one counts.
fn observe(observer: &Observer, context: &mut Context<'_>) -> Value {
    context.enter(observer.number);
    let risk_before = context.risk();
    let began = context.elapsed();
    let verdict = ask(observer.guard.as_ref(), &observer.site, context);
    context.asked.further.clear();
    let value = verdict.value();
    context.note(observer.number, value, None, risk_before, began);
    if observer.required && value == Value::Error {
        return context.give(Arc::clone(&observer.site), verdict, None);
    }
    Value::Pass
}
