//! Findings as JSON lines: `{"level", "title", "evidence": ["file:line:note"], "rationale"?, "agent"?, "id"?}`.

use serde::Deserialize;

use crate::evidence::{Evidence, EvidenceError};
use crate::finding::{Claim, ClaimError};
use crate::identity::NotAFindingId;
use crate::level::Level;
use crate::misread::Misread;

#[cfg(test)]
mod tests;

/// An invalid line.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LineError {
    /// Counted from one.
    pub line: usize,
    /// The problem.
    pub problem: Problem,
}

/// The line number refers to the file; only the column comes from the parser of the single line.
fn in_a_line(error: serde_json::Error) -> Problem {
    let Misread { column, what, .. } = Misread::from(error);
    Problem::Json { column, what }
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// Not the JSON that is expected.
    #[error("not a finding: {what} (column {column})")]
    Json {
        /// Where in the line, counted from one.
        column: usize,
        /// The problem.
        what: String,
    },
    /// Evidence that cannot be read.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// A finding that does not fit.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// An invalid id.
    #[error(transparent)]
    Id(#[from] NotAFindingId),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    level: Level,
    title: String,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    evidence: Vec<Place>,
    #[serde(default)]
    rationale: String,
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "evidence is text such as file:line:note, or an object with file, line, column, note"
)]
enum Place {
    Text(String),
    Parts(Parts),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    file: String,
    #[serde(default)]
    line: Option<u32>,
    #[serde(default)]
    column: Option<u32>,
    #[serde(default)]
    note: String,
}

/// Parses all lines, or returns the first error. Blank lines are skipped.
///
/// # Errors
/// When a line is invalid.
pub fn read(text: &str, default_agent: &str) -> Result<Vec<Claim>, LineError> {
    lines(text)
        .map(|(line, text)| claim(text, default_agent, true).map_err(|problem| LineError { line, problem }))
        .collect()
}

/// Parses the valid lines, all attributed to one reviewer.
pub(crate) fn read_lenient(text: &str, agent: &str) -> (Vec<Claim>, Vec<LineError>) {
    let (mut claims, mut problems) = (Vec::new(), Vec::new());
    for (line, text) in lines(text) {
        match claim(text, agent, false) {
            Ok(claim) => claims.push(claim),
            Err(problem) => problems.push(LineError { line, problem }),
        }
    }
    (claims, problems)
}

/// Open findings, one per line, in the format of [`read`].
#[must_use]
pub fn write(verdicts: &[crate::verdict::PlanVerdict]) -> String {
    let mut out = String::new();
    for finding in verdicts.iter().flat_map(|verdict| &verdict.open) {
        let places: Vec<_> = finding
            .evidence
            .iter()
            .map(|Evidence { file, line, column, note, .. }| {
                serde_json::json!({ "file": file, "line": line, "column": column, "note": note })
            })
            .collect();
        let line = serde_json::json!({
            "level": finding.level,
            "title": finding.title,
            "agent": finding.agent,
            "evidence": places,
            "rationale": finding.rationale,
            "id": finding.id,
        });
        out.push_str(&line.to_string());
        out.push('\n');
    }
    out
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim_end()))
        .filter(|(_, line)| !line.is_empty())
}

fn claim(text: &str, default_agent: &str, names_agent: bool) -> Result<Claim, Problem> {
    let line: Line = serde_json::from_str(text).map_err(in_a_line)?;
    let agent = line.agent.filter(|_| names_agent).unwrap_or_else(|| default_agent.to_owned());
    let evidence = line.evidence.into_iter().map(|place| match place {
        Place::Text(spec) => Evidence::parse(&spec),
        Place::Parts(Parts { file, line, column, note }) => {
            Ok(Evidence { file, line, column, note, bound: None })
        }
    });
    let id = line.id.filter(|id| !id.is_empty()).map(|id| id.parse()).transpose()?;
    Ok(Claim::new(line.level, line.title, agent)?
        .with_evidence(evidence.collect::<Result<Vec<_>, _>>()?)?
        .with_rationale(line.rationale)?
        .with_id(id))
}
