//! Reads verdict files of ctx: `<plan>.verdict.json`, one plan each.

use serde::Deserialize;

use crate::evidence::Evidence;
use crate::finding::Claim;
use crate::identity::PlanHash;
use crate::level::Level;

/// How such a file is called.
pub const SUFFIX: &str = ".verdict.json";

/// A plan with its findings.
#[derive(Debug)]
pub struct VerdictFile {
    /// The plan.
    pub plan: PlanHash,
    /// Its findings.
    pub claims: Vec<Claim>,
}

#[derive(Deserialize)]
struct Written {
    plan_hash: String,
    findings: Vec<WrittenFinding>,
}

#[derive(Deserialize)]
struct WrittenFinding {
    #[serde(default)]
    id: Option<String>,
    level: Level,
    title: String,
    #[serde(default)]
    agent: String,
    #[serde(default)]
    evidence: Vec<WrittenEvidence>,
    #[serde(default)]
    rationale: String,
}

#[derive(Deserialize)]
struct WrittenEvidence {
    #[serde(default)]
    file: String,
    #[serde(default)]
    line: Option<u32>,
    #[serde(default)]
    note: String,
}

/// Whether a text looks like a verdict file.
#[must_use]
pub fn is_verdict(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text)
        .is_ok_and(|value| value.get("plan_hash").is_some() && value.get("findings").is_some())
}

/// Reads a verdict file. Its level and summary are ignored: they follow from the findings. Findings keep their
/// ids.
///
/// # Errors
/// What is wrong with it.
pub fn read(text: &str) -> Result<VerdictFile, String> {
    let written: Written = serde_json::from_str(text).map_err(|error| format!("not a verdict: {error}"))?;
    let plan = written.plan_hash.parse().map_err(|error| format!("`plan_hash`: {error}"))?;
    let claims =
        written.findings.into_iter().enumerate().map(|(index, finding)| {
            claim(finding).map_err(|why| format!("finding number {}: {why}", index + 1))
        });
    Ok(VerdictFile { plan, claims: claims.collect::<Result<_, _>>()? })
}

fn claim(finding: WrittenFinding) -> Result<Claim, String> {
    // As specified: evidence without a file is dropped.
    let evidence = finding.evidence.into_iter().filter(|place| !place.file.trim().is_empty()).map(|place| {
        let spec = match (place.line, place.note.is_empty()) {
            (None, _) => place.file,
            (Some(line), true) => format!("{}:{line}", place.file),
            (Some(line), false) => format!("{}:{line}:{}", place.file, place.note),
        };
        Evidence::parse(&spec).map_err(|error| error.to_string())
    });
    let evidence = evidence.collect::<Result<Vec<_>, _>>()?;
    let id = finding.id.filter(|id| !id.is_empty()).map(|id| id.parse()).transpose();
    let claim = Claim::new(finding.level, finding.title, finding.agent)
        .and_then(|claim| claim.with_evidence(evidence))
        .and_then(|claim| claim.with_rationale(finding.rationale.as_str()))
        .map_err(|error| error.to_string())?;
    Ok(claim.with_id(id.map_err(|error: crate::identity::NotAFindingId| error.to_string())?))
}

#[cfg(test)]
mod tests;
