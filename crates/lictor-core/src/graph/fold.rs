//! The fast evaluator: one walk, depth first, left to right.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{Graph, Kind, Node, Quorum};
use crate::Action;
use crate::clock::Timestamp;
use crate::context::Context;
use crate::decision::Value;
use crate::evaluation::Judged;
use crate::facts::Facts;
use crate::guard::{Guard, Layer};
use crate::session::SessionState;
use crate::trace::{GivenVerdict, NodeKind, Status, TraceEntry};
use crate::verdict::Verdict;

/// What one node yielded: its value and which of the context's verdicts stand behind it.
struct Yield {
    value: Value,
    active: Vec<usize>,
}

impl Yield {
    fn silent(value: Value) -> Self {
        Self { value, active: Vec::new() }
    }
}

impl Graph {
    /// Judges one action. Runs guards, so it is as pure as they are; it never prompts.
    #[must_use]
    pub fn judge(&self, action: &Action, facts: &Facts, session: &SessionState, now: Timestamp) -> Judged {
        let mut context = Context::new(action, facts, session, now);
        let result = walk(&self.root, action, &mut context);
        for (index, given) in context.verdicts.iter_mut().enumerate() {
            given.status = if result.active.contains(&index) { Status::Active } else { given.status };
        }
        for observer in &self.observers {
            observe(observer.as_ref(), action, &mut context);
        }
        context.finish(result.value)
    }
}

fn walk(node: &Node, action: &Action, context: &mut Context<'_>) -> Yield {
    let risk_before = context.risk();
    let (result, kind, branch) = match &node.kind {
        Kind::Leaf { guard, layer } => {
            (leaf(node, guard.as_ref(), *layer, action, context), NodeKind::Guard, None)
        }
        Kind::Quorum { shape, at_least, children, short_circuit } => {
            let kind = match shape {
                Quorum::All => NodeKind::All,
                Quorum::Any => NodeKind::Any,
                Quorum::Threshold => NodeKind::Threshold,
            };
            (quorum(*shape, *at_least, children, *short_circuit, action, context), kind, None)
        }
        Kind::Not { child, reason, fix } => {
            (not(node, child, reason, fix, action, context), NodeKind::Not, None)
        }
        Kind::When { condition, then, otherwise } => {
            let answer = catch_unwind(AssertUnwindSafe(|| condition(action, context)));
            let (result, branch) = match answer {
                Ok(Ok(true)) => {
                    skip(otherwise.as_deref(), context);
                    (branch(then.as_deref(), action, context), "then")
                }
                Ok(Ok(false)) => {
                    skip(then.as_deref(), context);
                    (branch(otherwise.as_deref(), action, context), "otherwise")
                }
                Ok(Err(why)) => (condition_failed(node, &why, context), "condition failed"),
                Err(_) => (condition_failed(node, "it panicked", context), "condition failed"),
            };
            (result, NodeKind::When, Some(Cow::Borrowed(branch)))
        }
        Kind::Escalate { primary, fallback, needs_human } => {
            let (result, branch) = escalate(node, primary, fallback, *needs_human, action, context);
            (result, NodeKind::Escalate, branch)
        }
    };
    let risk_after = context.risk();
    context.trace.push(TraceEntry {
        path: Arc::clone(&node.path),
        name: Arc::clone(&node.name),
        kind,
        value: Some(result.value),
        branch,
        risk_before,
        risk_after,
    });
    result
}

fn leaf(node: &Node, guard: &dyn Guard, layer: Layer, action: &Action, context: &mut Context<'_>) -> Yield {
    context.current = Arc::clone(&node.name);
    let verdict = ask(guard, action, context);
    let further = std::mem::take(&mut context.further);
    let mut result = say(node, layer, verdict, context);
    for verdict in further {
        let more = say(node, layer, verdict, context);
        result.value = result.value.max(more.value);
        result.active.extend(more.active);
    }
    result
}

/// Asks one guard; whatever goes wrong inside it becomes an error verdict.
fn ask(guard: &dyn Guard, action: &Action, context: &mut Context<'_>) -> Verdict {
    context.misuse = None;
    context.further.clear();
    let answer = catch_unwind(AssertUnwindSafe(|| guard.check(action, context)));
    let name = guard.name();
    match (answer, context.misuse.take()) {
        (Ok(verdict), None) => verdict,
        (Ok(_), Some(misuse)) => {
            Verdict::error(format!("guard `{name}` failed: {misuse}"), format!("mend the guard `{name}`"))
        }
        (Err(panic), _) => {
            let why = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "it panicked".to_owned());
            Verdict::error(format!("guard `{name}` failed: {why}"), format!("mend the guard `{name}`"))
        }
    }
}

/// Files a verdict under its node and says what the node yields.
fn say(node: &Node, layer: Layer, verdict: Verdict, context: &mut Context<'_>) -> Yield {
    let value = verdict.value();
    let index = context.verdicts.len();
    context.verdicts.push(GivenVerdict {
        guard: Arc::clone(&node.name),
        path: Arc::clone(&node.path),
        layer,
        status: Status::Superseded,
        verdict,
    });
    if value > Value::Pass { Yield { value, active: vec![index] } } else { Yield::silent(value) }
}

fn quorum(
    shape: Quorum,
    at_least: usize,
    children: &[Node],
    short_circuit: bool,
    action: &Action,
    context: &mut Context<'_>,
) -> Yield {
    let mut yields: Vec<Yield> = Vec::with_capacity(children.len());
    for child in children {
        let settled = match shape {
            Quorum::All => short_circuit && yields.last().is_some_and(|last| last.value == Value::Block),
            Quorum::Any => yields.last().is_some_and(|last| last.value == Value::Pass),
            Quorum::Threshold => false,
        };
        if settled {
            skip(Some(child), context);
            // The value of the skipped child cannot matter; keep the one that settled it.
            continue;
        }
        yields.push(walk(child, action, context));
    }
    let stopped_early = yields.len() < children.len();
    let rank = match (shape, stopped_early) {
        (Quorum::All, _) => yields.len(),
        (Quorum::Any, _) => 1,
        (Quorum::Threshold, _) => at_least,
    };
    let mut order: Vec<usize> = (0..yields.len()).collect();
    order.sort_by_key(|&index| yields.get(index).map(|it| it.value));
    let value = order
        .get(rank.saturating_sub(1))
        .and_then(|&index| yields.get(index))
        .map_or(Value::Error, |it| it.value);
    let mut active = Vec::new();
    if shape == Quorum::All || value > Value::Ask {
        active.extend(yields.into_iter().flat_map(|it| it.active));
    } else {
        let mut chosen: Vec<usize> = order.into_iter().take(rank).collect();
        chosen.sort_unstable();
        for index in chosen {
            active.extend(yields.get(index).map(|it| it.active.clone()).unwrap_or_default());
        }
    }
    Yield { value, active }
}

fn not(
    node: &Node,
    child: &Node,
    reason: &str,
    fix: &str,
    action: &Action,
    context: &mut Context<'_>,
) -> Yield {
    let value = walk(child, action, context).value.negate();
    match value {
        Value::Pass => Yield::silent(Value::Pass),
        Value::Block => say(node, Layer::Intent, Verdict::block(reason, fix), context),
        _ => say(
            node,
            Layer::Intent,
            Verdict::error(
                "what is negated here has no certain answer",
                "do not put a question or a fault below `not`",
            ),
            context,
        ),
    }
}

fn branch(node: Option<&Node>, action: &Action, context: &mut Context<'_>) -> Yield {
    node.map_or_else(|| Yield::silent(Value::Pass), |node| walk(node, action, context))
}

fn condition_failed(node: &Node, why: &str, context: &mut Context<'_>) -> Yield {
    let verdict = Verdict::error(
        format!("the condition at `{}` could not be evaluated: {why}", node.path),
        "guard the field with `has()`, or correct its name",
    );
    say(node, Layer::Intent, verdict, context)
}

fn escalate(
    node: &Node,
    primary: &Node,
    fallback: &Node,
    needs_human: bool,
    action: &Action,
    context: &mut Context<'_>,
) -> (Yield, Option<Cow<'static, str>>) {
    let first = walk(primary, action, context);
    if first.value != Value::Block {
        skip(Some(fallback), context);
        return (first, Some(Cow::Borrowed("primary")));
    }
    let mut second = walk(fallback, action, context);
    if second.value == Value::Block {
        let mut active = first.active;
        active.append(&mut second.active);
        return (Yield { value: Value::Block, active }, Some(Cow::Borrowed("fallback")));
    }
    if second.value == Value::Error {
        return (second, Some(Cow::Borrowed("fallback")));
    }
    let overruled = first
        .active
        .iter()
        .filter_map(|&index| context.verdicts.get(index))
        .map(|given| format!("`{}` ({})", given.guard, given.verdict.reason()))
        .collect::<Vec<_>>()
        .join(", ");
    let floor = if needs_human { Value::Ask } else { Value::Warn };
    let note = Verdict::of(
        floor,
        format!("escalated: this goes around {overruled}"),
        "keep to what the primary check allows",
    );
    let escalated = say(node, Layer::Intent, note, context);
    second.active.extend(escalated.active);
    (Yield { value: second.value.max(floor), active: second.active }, Some(Cow::Borrowed("fallback")))
}

fn skip(node: Option<&Node>, context: &mut Context<'_>) {
    let Some(node) = node else { return };
    let risk = context.risk();
    context.trace.push(TraceEntry {
        path: Arc::clone(&node.path),
        name: Arc::clone(&node.name),
        kind: match &node.kind {
            Kind::Leaf { .. } => NodeKind::Guard,
            Kind::Quorum { shape: Quorum::All, .. } => NodeKind::All,
            Kind::Quorum { shape: Quorum::Any, .. } => NodeKind::Any,
            Kind::Quorum { shape: Quorum::Threshold, .. } => NodeKind::Threshold,
            Kind::Not { .. } => NodeKind::Not,
            Kind::When { .. } => NodeKind::When,
            Kind::Escalate { .. } => NodeKind::Escalate,
        },
        value: None,
        branch: None,
        risk_before: risk,
        risk_after: risk,
    });
}

fn observe(guard: &dyn Guard, action: &Action, context: &mut Context<'_>) {
    context.current = Arc::from(guard.name());
    let risk_before = context.risk();
    let verdict = ask(guard, action, context);
    let entry = TraceEntry {
        path: Arc::from("/observe"),
        name: Arc::from(guard.name()),
        kind: NodeKind::Observer,
        value: Some(verdict.value()),
        branch: None,
        risk_before,
        risk_after: context.risk(),
    };
    context.trace.push(entry);
}
