//! The log format of an evaluation. Most guards of most evaluations pass silently: these are only referenced, so
//! that the record of a large policy stays small. Reading restores the whole evaluation.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use lictor_core::{
    Claim, Decision, Digest, Evaluation, GivenVerdict, Layer, NodeKind, Risk, SessionState, Status, Trace,
    TraceEntry, Value, Verdict, Violation,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;

/// [`Evaluation`], field by field, with a shorter form of passes.
#[derive(Serialize, Deserialize)]
struct Written<'a> {
    decision: Decision,
    verdicts: Vec<Given<'a>>,
    #[serde(default)]
    violations: Cow<'a, [Violation]>,
    risk: Risk,
    #[serde(default)]
    trace: Vec<Step<'a>>,
    #[serde(default)]
    annotations: Cow<'a, BTreeMap<String, Json>>,
    #[serde(default, skip_serializing_if = "is_empty")]
    tags: Cow<'a, [String]>,
    #[serde(default, skip_serializing_if = "is_empty")]
    claims: Cow<'a, [(Arc<str>, Claim)]>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    escalated: bool,
    action: Digest,
    policy: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    dry: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    observed: bool,
}

/// One verdict.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Given<'a> {
    /// The pass of the guard at this index of the trace.
    Passed(usize),
    Whole(Cow<'a, GivenVerdict>),
}

/// One entry of the trace, or several.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Step<'a> {
    Passed(Passed<'a>),
    Whole(TraceEntry<'a>),
}

/// Consecutive guards that passed and counted.
#[derive(Serialize, Deserialize)]
struct Passed<'a> {
    /// Their path up to the number: `/all[0]/all`.
    below: Cow<'a, str>,
    /// The number of the first.
    from: usize,
    layer: Layer,
    /// Their names.
    passed: Vec<Cow<'a, str>>,
}

pub(super) fn serialize<S: Serializer>(evaluation: &Evaluation, serializer: S) -> Result<S::Ok, S::Error> {
    let Evaluation {
        decision,
        verdicts,
        violations,
        risk,
        trace,
        annotations,
        tags,
        claims,
        escalated,
        action,
        policy,
        id,
        dry,
        observed,
        notes: _,
        session: _,
    } = evaluation;
    Written {
        decision: *decision,
        verdicts: shorter_verdicts(verdicts, trace),
        violations: Cow::Borrowed(violations),
        risk: *risk,
        trace: shorter_trace(trace),
        annotations: Cow::Borrowed(annotations),
        tags: Cow::Borrowed(tags),
        claims: Cow::Borrowed(claims),
        escalated: *escalated,
        action: *action,
        policy: *policy,
        id: *id,
        dry: *dry,
        observed: *observed,
    }
    .serialize(serializer)
}

pub(super) fn deserialize<'de, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Cow<'a, Evaluation>, D::Error> {
    let written = Written::deserialize(deserializer)?;
    let trace: Vec<TraceEntry<'_>> = written.trace.into_iter().flat_map(Step::entries).collect();
    let verdict = |given| match given {
        Given::Whole(given) => Ok(given.into_owned()),
        Given::Passed(place) => trace.get(place).map(pass_of).ok_or_else(|| {
            D::Error::custom(format!("a verdict points to entry {place} of a trace of {}", trace.len()))
        }),
    };
    Ok(Cow::Owned(Evaluation {
        decision: written.decision,
        verdicts: written.verdicts.into_iter().map(verdict).collect::<Result<_, _>>()?,
        violations: written.violations.into_owned(),
        risk: written.risk,
        annotations: written.annotations.into_owned(),
        tags: written.tags.into_owned(),
        claims: written.claims.into_owned(),
        escalated: written.escalated,
        action: written.action,
        policy: written.policy,
        id: written.id,
        dry: written.dry,
        observed: written.observed,
        notes: Vec::new(),
        session: SessionState::default(),
        trace: trace.into_iter().collect(),
    }))
}

/// An evaluation without its trace and without guards that passed silently: enough for the decision and its
/// reasons, in a fraction of the time.
#[derive(Deserialize)]
struct Spoken {
    decision: Decision,
    verdicts: Vec<SpokenVerdict>,
    action: Digest,
    policy: Digest,
    #[serde(default)]
    dry: bool,
    #[serde(default)]
    observed: bool,
}

/// A verdict, unless it is a silent pass.
struct SpokenVerdict(Option<GivenVerdict>);

impl<'de> Deserialize<'de> for SpokenVerdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = SpokenVerdict;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a verdict, or its place in the trace")
            }

            fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<SpokenVerdict, E> {
                Ok(SpokenVerdict(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SpokenVerdict, A::Error> {
                GivenVerdict::deserialize(MapAccessDeserializer::new(map)).map(Some).map(SpokenVerdict)
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// Reads an evaluation in the form of [`Spoken`].
pub(super) fn deserialize_spoken<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Evaluation, D::Error> {
    let Spoken { decision, verdicts, action, policy, dry, observed } = Spoken::deserialize(deserializer)?;
    Ok(Evaluation {
        decision,
        verdicts: verdicts.into_iter().filter_map(|given| given.0).collect(),
        violations: Vec::new(),
        risk: Risk::NONE,
        annotations: BTreeMap::new(),
        tags: Vec::new(),
        claims: Vec::new(),
        escalated: false,
        action,
        policy,
        id: None,
        dry,
        observed,
        notes: Vec::new(),
        session: SessionState::default(),
        trace: Trace::default(),
    })
}

fn shorter_verdicts<'a>(verdicts: &'a [GivenVerdict], trace: &Trace) -> Vec<Given<'a>> {
    // Both are in evaluation order, so the next one is found within a few steps.
    let mut rest = trace.iter().enumerate();
    let mut short = |given: &'a GivenVerdict| {
        let mut ahead = rest.clone();
        match ahead.find(|(_, entry)| same(&entry.path, given.path())) {
            Some((place, entry)) => {
                rest = ahead;
                let same = passed(&entry) && is_pass_of(given, &entry);
                if same { Given::Passed(place) } else { Given::Whole(Cow::Borrowed(given)) }
            }
            // Not a guard of the graph: no trace entry is consumed.
            None => Given::Whole(Cow::Borrowed(given)),
        }
    };
    verdicts.iter().map(&mut short).collect()
}

fn shorter_trace(trace: &Trace) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for entry in trace.iter() {
        let Some((below, number)) = place(&entry.path).filter(|_| passed(&entry)) else {
            steps.push(Step::Whole(entry));
            continue;
        };
        if let Some(Step::Passed(run)) = steps.last_mut()
            && run.below == below
            && run.from + run.passed.len() == number
            && run.layer == entry.layer
        {
            run.passed.push(entry.name);
            continue;
        }
        steps.push(Step::Passed(Passed {
            below: below.to_owned().into(),
            from: number,
            layer: entry.layer,
            passed: vec![entry.name],
        }));
    }
    steps
}

/// `/all[0]/all[7]` as `/all[0]/all` and 7.
fn place(path: &str) -> Option<(&str, usize)> {
    let (below, number) = path.strip_suffix(']')?.rsplit_once('[')?;
    Some((below, number.parse().ok()?))
}

/// Whether it is a guard that passed, counted and had no other effect.
fn passed(entry: &TraceEntry<'_>) -> bool {
    let TraceEntry {
        path: _,
        name: _,
        kind,
        layer: _,
        value,
        status,
        branch,
        risk_before,
        risk_after,
        noted,
        took: _,
    } = entry;
    (*kind, *value, *status) == (NodeKind::Guard, Some(Value::Pass), Status::Active)
        && branch.is_none()
        && risk_before.is_none()
        && risk_after.is_none()
        && noted.is_empty()
}

fn pass_of(entry: &TraceEntry<'_>) -> GivenVerdict {
    GivenVerdict::active(&entry.name, &entry.path, entry.layer, Verdict::pass())
}

/// Whether it equals the result of [`pass_of`] for this entry.
fn is_pass_of(given: &GivenVerdict, entry: &TraceEntry<'_>) -> bool {
    let GivenVerdict { status, verdict, violation, answer, .. } = given;
    same(given.guard(), &entry.name)
        && same(given.path(), &entry.path)
        && given.layer() == entry.layer
        && *status == Status::Active
        && *verdict == Verdict::pass()
        && violation.is_none()
        && answer.is_none()
}

/// Whether two texts are equal: those of a verdict and its trace entry usually share one allocation.
fn same(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other) || one == other
}

impl<'a> Step<'a> {
    fn entries(self) -> Vec<TraceEntry<'a>> {
        let Passed { below, from, layer, passed } = match self {
            Self::Whole(entry) => return vec![entry],
            Self::Passed(passed) => passed,
        };
        let entry = |(number, name)| TraceEntry {
            path: format!("{below}[{}]", from.saturating_add(number)).into(),
            name,
            kind: NodeKind::Guard,
            layer,
            value: Some(Value::Pass),
            status: Status::Active,
            branch: None,
            risk_before: Risk::NONE,
            risk_after: Risk::NONE,
            noted: Cow::default(),
            took: None,
        };
        passed.into_iter().enumerate().map(entry).collect()
    }
}

fn is_empty<T>(items: &[T]) -> bool {
    items.is_empty()
}

#[cfg(test)]
mod tests;
