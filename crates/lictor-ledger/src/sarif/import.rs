//! From SARIF to claims.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::{OWN, VERSION, uri};
use crate::evidence::Evidence;
use crate::finding::{Claim, ClaimError, MAX_TITLE, shortened};
use crate::level::Level;
use crate::misread::Misread;

/// Why a SARIF log cannot be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SarifError {
    /// Not SARIF.
    #[error("not a SARIF log: {0}")]
    Json(Misread),
    /// Another version.
    #[error("SARIF version {0} is not supported; ask the tool for {VERSION}")]
    Version(String),
    /// A tool that reports failure.
    #[error("`{0}` says that its run was not successful")]
    Unsuccessful(String),
    /// A tool that did not look.
    #[error("`{0}` has no results at all, not even an empty list: it did not run")]
    NotRun(String),
    /// A result that does not fit the ledger.
    #[error("result {index} of `{tool}`: {problem}")]
    Claim {
        /// Which one, counted from one.
        index: usize,
        /// The tool.
        tool: String,
        /// The problem.
        problem: ClaimError,
    },
}

#[derive(Deserialize)]
struct Log {
    version: String,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    #[serde(default)]
    results: Option<Vec<RunResult>>,
    #[serde(default)]
    invocations: Vec<Invocation>,
    #[serde(default)]
    original_uri_base_ids: HashMap<String, Location>,
}

#[derive(Deserialize)]
struct Tool {
    driver: Driver,
}

#[derive(Deserialize)]
struct Driver {
    name: String,
    #[serde(default)]
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    #[serde(default)]
    message_strings: HashMap<String, Message>,
    #[serde(default)]
    default_configuration: Option<Configuration>,
    #[serde(default)]
    properties: Value,
}

#[derive(Deserialize)]
struct Configuration {
    #[serde(default)]
    level: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunResult {
    #[serde(default)]
    rule_id: Option<String>,
    #[serde(default)]
    rule_index: Option<usize>,
    #[serde(default)]
    level: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    message: Message,
    #[serde(default)]
    locations: Vec<Place>,
    #[serde(default)]
    suppressions: Vec<Suppression>,
    #[serde(default)]
    baseline_state: Option<String>,
    #[serde(default)]
    properties: Value,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    arguments: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    #[serde(default)]
    physical_location: Option<Physical>,
    #[serde(default)]
    message: Option<Message>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    #[serde(default)]
    artifact_location: Option<Location>,
    #[serde(default)]
    region: Option<Region>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    uri_base_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    #[serde(default)]
    start_line: Option<u32>,
    #[serde(default)]
    start_column: Option<u32>,
}

#[derive(Deserialize)]
struct Suppression {
    #[serde(default)]
    status: Option<String>,
}

/// Lictor's own fields of a finding that SARIF does not have.
#[derive(Deserialize)]
struct Own {
    level: Level,
    title: String,
    agent: String,
    #[serde(default)]
    rationale: String,
    id: String,
}

/// The claims of a SARIF log. `agent` is the author of all of them; without it each tool is the author of its
/// results, and findings that Lictor exported keep their author. Paths inside `root` become relative to it.
///
/// Results that the tool itself has settled (passed, suppressed, gone since its baseline) are not claims.
///
/// # Errors
/// When it is not SARIF 2.1.0, or a tool did not run or reports failure.
pub fn import(text: &str, agent: Option<&str>, root: Option<&Path>) -> Result<Vec<Claim>, SarifError> {
    let log: Log = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| SarifError::Json(error.into()))?;
    if log.version != VERSION {
        return Err(SarifError::Version(log.version));
    }
    let mut claims = Vec::new();
    for run in &log.runs {
        let tool = &run.tool.driver.name;
        if run.invocations.iter().any(|invocation| !invocation.execution_successful) {
            return Err(SarifError::Unsuccessful(tool.clone()));
        }
        let results = run.results.as_ref().ok_or_else(|| SarifError::NotRun(tool.clone()))?;
        for (index, result) in results.iter().enumerate().filter(|(_, result)| result.is_open()) {
            let claim = claim(run, result, agent, root);
            claims.push(claim.map_err(|problem| SarifError::Claim {
                index: index + 1,
                tool: tool.clone(),
                problem,
            })?);
        }
    }
    Ok(claims)
}

impl RunResult {
    fn is_open(&self) -> bool {
        let fails = self.kind.as_deref().is_none_or(|kind| matches!(kind, "fail" | "open" | "review"));
        let suppressed = self
            .suppressions
            .iter()
            .any(|suppression| suppression.status.as_deref().is_none_or(|status| status == "accepted"));
        fails
            && !suppressed
            && self.baseline_state.as_deref() != Some("absent")
            && self.level.as_deref() != Some("none")
    }
}

fn claim(
    run: &Run,
    result: &RunResult,
    agent: Option<&str>,
    root: Option<&Path>,
) -> Result<Claim, ClaimError> {
    let rule = rule_of(run, result);
    let own: Option<Own> = result.properties.get(OWN).and_then(|own| Own::deserialize(own).ok());
    let evidence = result.locations.iter().filter_map(|place| evidence(run, place, root));
    if let Some(own) = own {
        let author = agent.unwrap_or(&own.agent);
        return Ok(Claim::new(own.level, own.title, author)?
            .with_evidence(evidence)?
            .with_rationale(own.rationale)?
            .with_id(own.id.parse().ok().filter(|_| agent.is_none())));
    }
    let said = words(&result.message, rule);
    let (first, rest) = said.split_once('\n').unwrap_or((&said, ""));
    let rule_id = result.rule_id.as_deref().or_else(|| rule.map(|rule| rule.id.as_str()));
    let title = match rule_id {
        Some(id) if first.trim().is_empty() => id.to_owned(),
        Some(id) => format!("{id}: {first}"),
        None => first.to_owned(),
    };
    let title = shortened(&title, MAX_TITLE);
    Claim::new(level(result, rule), title, agent.unwrap_or(&run.tool.driver.name))?
        .with_evidence(evidence)?
        .with_rationale(shortened(rest.trim(), 8_000))
}

fn rule_of<'a>(run: &'a Run, result: &RunResult) -> Option<&'a Rule> {
    let rules = &run.tool.driver.rules;
    let named = || rules.iter().find(|rule| Some(rule.id.as_str()) == result.rule_id.as_deref());
    result.rule_index.and_then(|index| rules.get(index)).or_else(named)
}

/// The text of a message, with its arguments filled in.
fn words(message: &Message, rule: Option<&Rule>) -> String {
    let template = message.text.clone().or_else(|| {
        let id = message.id.as_deref()?;
        rule?.message_strings.get(id)?.text.clone()
    });
    let mut text = template.unwrap_or_default();
    for (index, argument) in message.arguments.iter().take(32).enumerate() {
        text = text.replace(&format!("{{{index}}}"), argument);
    }
    text
}

/// GitHub's `security-severity` if there is one, else the level, else the rule's, else `warning`.
fn level(result: &RunResult, rule: Option<&Rule>) -> Level {
    let severity = |properties: &Value| {
        let value = properties.get("security-severity")?;
        value.as_f64().or_else(|| value.as_str()?.parse().ok())
    };
    let severity = severity(&result.properties).or_else(|| severity(&rule?.properties));
    if let Some(severity) = severity {
        return match severity {
            s if s >= 9.0 => Level::Critical,
            s if s >= 7.0 => Level::High,
            s if s >= 4.0 => Level::Medium,
            _ => Level::Low,
        };
    }
    let default = || rule?.default_configuration.as_ref()?.level.as_deref();
    match result.level.as_deref().or_else(default) {
        Some("error") => Level::High,
        Some("note" | "none") => Level::Low,
        _ => Level::Medium,
    }
}

fn evidence(run: &Run, place: &Place, root: Option<&Path>) -> Option<Evidence> {
    let physical = place.physical_location.as_ref()?;
    let artifact = physical.artifact_location.as_ref()?;
    let bases: HashMap<String, (String, Option<String>)> = run
        .original_uri_base_ids
        .iter()
        .map(|(name, base)| (name.clone(), (base.uri.clone().unwrap_or_default(), base.uri_base_id.clone())))
        .collect();
    let region = physical.region.as_ref();
    Some(Evidence {
        file: uri::path(artifact.uri.as_deref()?, artifact.uri_base_id.as_deref(), &bases, root),
        line: region.and_then(|region| region.start_line),
        column: region.and_then(|region| region.start_column),
        note: place.message.as_ref().map(|message| words(message, None)).unwrap_or_default(),
        bound: None,
    })
}
