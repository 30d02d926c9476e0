use serde::{Deserialize, Serialize};

/// A person's answer to one point: yes or no, with an optional reason.
///
/// As data it is `true`, `false`, or `{"approved": bool, "reason"?: text}`. Other forms are rejected: a text like
/// `"no"` or a number must never count as a yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Given")]
pub struct Answer {
    /// Yes or no.
    pub approved: bool,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Answer {
    /// Yes.
    #[must_use]
    pub fn yes() -> Self {
        Self { approved: true, reason: None }
    }

    /// No.
    #[must_use]
    pub fn no() -> Self {
        Self { approved: false, reason: None }
    }

    /// The same with a reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

impl From<bool> for Answer {
    fn from(approved: bool) -> Self {
        Self { approved, reason: None }
    }
}

/// Whether these answers approve all points: one answer for each of the `wanted` points, and no `no` among them.
///
/// # Errors
/// Why they do not.
pub(crate) fn all_yes(answers: &[Answer], wanted: usize) -> Result<(), String> {
    if answers.len() != wanted {
        return Err(format!("{wanted} answers were needed and {} were given", answers.len()));
    }
    match answers.iter().find(|answer| !answer.approved) {
        None => Ok(()),
        Some(Answer { reason: Some(reason), .. }) => Err(format!("a person said no: {reason}")),
        Some(Answer { reason: None, .. }) => Err("a person said no".to_owned()),
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Given {
    Bare(bool),
    Full(Full),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Full {
    approved: bool,
    #[serde(default)]
    reason: Option<String>,
}

impl From<Given> for Answer {
    fn from(given: Given) -> Self {
        match given {
            Given::Bare(approved) => approved.into(),
            Given::Full(Full { approved, reason }) => Self { approved, reason },
        }
    }
}
