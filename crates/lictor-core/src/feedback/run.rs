use serde::{Deserialize, Serialize};

use super::{Due, Feedback, Moment, Provider, Source};

/// How often in a row a provider may fail before it is not asked again in the session.
pub const FAULTS_BORNE: u32 = 3;

/// What came of one provider that was due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// Its name.
    pub provider: String,
    /// Its file appeared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_file: bool,
    /// What it said.
    pub said: Said,
}

/// What a provider said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// Guidance.
    Feedback(Feedback),
    /// It was asked and had nothing to say.
    Nothing,
    /// It failed, and how. The agent is not told.
    Fault(String),
}

/// What somebody outside the model answers for a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consulted {
    /// It speaks, or has nothing to say: a new cadence begins.
    Said(Option<Feedback>),
    /// It does not want to run now: it stays due, and its cadence is not touched.
    NotNow,
}

impl From<Option<Feedback>> for Consulted {
    fn from(feedback: Option<Feedback>) -> Self {
        Self::Said(feedback)
    }
}

/// Asks every provider that is due, in order. `other` answers for findings and programs; one that fails does not
/// silence the others.
///
/// What a provider can tell from the session alone costs nothing, so one that has nothing to say stays due. One
/// that has to be looked up or run begins a new cadence whatever came of it, unless it says that it does not want to
/// run now.
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
