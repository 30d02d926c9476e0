//! From findings to SARIF.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{OWN, SCHEMA, VERSION, uri};
use crate::evidence::Evidence;
use crate::finding::{Disposition, Finding};
use crate::level::Level;
use crate::verdict::PlanVerdict;

/// Verdicts as one SARIF log: one run per reviewer, one rule per title. Waived findings are suppressed results,
/// fixed ones are left out.
#[must_use]
pub fn export(verdicts: &[PlanVerdict]) -> Value {
    let mut agents: BTreeMap<&str, Vec<(&PlanVerdict, &Finding)>> = BTreeMap::new();
    for verdict in verdicts {
        for finding in verdict.open.iter().chain(&verdict.closed) {
            if !matches!(finding.disposition, Disposition::Fixed(_)) {
                agents.entry(&finding.agent).or_default().push((verdict, finding));
            }
        }
    }
    let mut runs: Vec<Value> = agents.into_iter().map(|(agent, findings)| run(agent, &findings)).collect();
    if runs.is_empty() {
        runs.push(run("", &[]));
    }
    json!({ "$schema": SCHEMA, "version": VERSION, "runs": runs })
}

fn run(agent: &str, findings: &[(&PlanVerdict, &Finding)]) -> Value {
    let mut rules: Vec<Value> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let results: Vec<Value> = findings
        .iter()
        .map(|(verdict, finding)| {
            let id = slug(&finding.title);
            let index = *places.entry(id.clone()).or_insert_with(|| {
                rules.push(json!({ "id": id, "shortDescription": { "text": finding.title } }));
                rules.len() - 1
            });
            result(verdict, finding, &id, index)
        })
        .collect();
    let name = if agent.is_empty() { "lictor" } else { agent };
    json!({
        "tool": { "driver": { "name": name, "rules": rules } },
        "columnKind": "unicodeCodePoints",
        "results": results,
    })
}

fn result(verdict: &PlanVerdict, finding: &Finding, rule: &str, index: usize) -> Value {
    let level = match finding.level {
        Level::Critical | Level::High => "error",
        Level::Medium => "warning",
        Level::Low => "note",
    };
    let severity = match finding.level {
        Level::Critical => "9.5",
        Level::High => "8.0",
        Level::Medium => "5.0",
        Level::Low => "2.0",
    };
    let text = match finding.rationale.as_str() {
        "" => finding.title.clone(),
        why => format!("{}\n\n{why}", finding.title),
    };
    let mut result = json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": level,
        "message": { "text": text },
        "locations": finding.evidence.iter().map(location).collect::<Vec<_>>(),
        "partialFingerprints": { "lictorFinding/v1": finding.identity().to_string() },
        "properties": {
            "security-severity": severity,
            OWN: {
                "plan": verdict.plan,
                "id": finding.id,
                "level": finding.level,
                "title": finding.title,
                "agent": finding.agent,
                "rationale": finding.rationale,
                "disposition": finding.disposition.as_str(),
            },
        },
    });
    if finding.disposition.is_waiver()
        && let (Some(ruling), Some(object)) = (finding.disposition.ruling(), result.as_object_mut())
    {
        let justification = format!("{} ({}, {})", ruling.reason, finding.disposition.as_str(), ruling.by);
        object.insert(
            "suppressions".to_owned(),
            json!([{ "kind": "external", "status": "accepted", "justification": justification }]),
        );
    }
    result
}

fn location(place: &Evidence) -> Value {
    let mut physical = Map::new();
    physical.insert("artifactLocation".to_owned(), json!({ "uri": uri::encode(place.path()) }));
    // A region counts from one; a line 0 is a file as a whole.
    if let Some(line) = place.line.filter(|line| *line > 0) {
        let mut region = json!({ "startLine": line });
        if let (Some(column), Some(object)) =
            (place.column.filter(|column| *column > 0), region.as_object_mut())
        {
            object.insert("startColumn".to_owned(), column.into());
        }
        physical.insert("region".to_owned(), region);
    }
    let mut location = Map::new();
    location.insert("physicalLocation".to_owned(), Value::Object(physical));
    if !place.note.is_empty() {
        location.insert("message".to_owned(), json!({ "text": place.note }));
    }
    Value::Object(location)
}

/// A title as the id of a rule: letters and digits, words joined by `-`.
fn slug(title: &str) -> String {
    let words: Vec<String> = title
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let slug: String = words.join("-").chars().take(80).collect();
    if slug.is_empty() { "finding".to_owned() } else { slug }
}
