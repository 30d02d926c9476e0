use serde::{Deserialize, Serialize};

use super::{Due, Feedback, Moment, Provider, Source};

/// How often in a row a provider may fail before it is disabled for the session.
pub const FAULTS_BORNE: u32 = 3;

/// The result of one provider that was due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// Its name.
    pub provider: String,
    /// Its file appeared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_file: bool,
    /// Its result.
    pub said: Said,
}

/// The result of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// Guidance.
    Feedback(Feedback),
    /// It ran and gave no feedback.
    Nothing,
    /// It failed with this error. The agent does not see it.
    Fault(String),
}

/// The caller's answer for a provider that needs a lookup or a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consulted {
    /// Feedback, or none: a new cadence begins.
    Said(Option<Feedback>),
    /// It declined to run now: it stays due, and its cadence is unchanged.
    NotNow,
}

impl From<Option<Feedback>> for Consulted {
    fn from(feedback: Option<Feedback>) -> Self {
        Self::Said(feedback)
    }
}

/// Runs every provider that is due, in order. `other` answers for findings and programs; a failure does not
/// affect the other providers.
///
/// A provider that only needs the session is cheap, so it stays due if it gives no feedback. A provider that
/// needs a lookup or a program begins a new cadence whatever the result, unless it declined to run now.
#[must_use]
pub fn run(
    providers: &[Provider],
    moment: &Moment<'_>,
    other: &dyn Fn(&Provider) -> Result<Consulted, String>,
) -> Vec<Advice> {
    providers.iter().filter_map(|provider| ask(provider, moment, other)).collect()
}

fn ask(
    provider: &Provider,
    moment: &Moment<'_>,
    other: &dyn Fn(&Provider) -> Result<Consulted, String>,
) -> Option<Advice> {
    if moment.session.feedback.spoken(&provider.name).faults >= FAULTS_BORNE {
        return None;
    }
    let due = provider.due(moment)?;
    let said = match &provider.source {
        Source::Findings { .. } | Source::Command { .. } | Source::Custom => match other(provider) {
            Ok(Consulted::Said(Some(feedback))) => Said::Feedback(feedback),
            Ok(Consulted::Said(None)) => Said::Nothing,
            Ok(Consulted::NotNow) => return None,
            Err(fault) => Said::Fault(fault),
        },
        _ => Said::Feedback(provider.speak(moment)?),
    };
    Some(Advice { provider: provider.name.clone(), by_file: due == Due::File, said })
}
