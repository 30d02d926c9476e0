//! Parameters and results of the methods, in JSON.

use lictor_core::approval::Point;
use lictor_core::completion::{Completion, Stop, StopCheck};
use lictor_core::event::Usage;
use lictor_core::{
    Action, Answer, Approval, Decision, Digest, Evaluation, Limit, Outcome, SessionKey, Standing, Timestamp,
};
use lictor_ledger::gate::{GateEvent, PushedRef};
use lictor_ledger::{Claim, Evidence, FindingId, Level, PlanHash};
use serde::{Deserialize, Serialize};

use super::error::RpcError;
use crate::forms::ActionForm;
use crate::runtime::StopRequest;

/// How an action is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeForm {
    /// It counts.
    #[default]
    Enforce,
    /// Judged and recorded, not enforced.
    Observe,
    /// A dry run: nothing is counted, nobody is asked.
    Dry,
}

/// `evaluate`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluateParams {
    /// The action.
    pub action: ActionForm,
    /// The mode.
    #[serde(default)]
    pub mode: ModeForm,
    /// Nobody can be asked now: an `ask` blocks and stays pending.
    #[serde(default)]
    pub unattended: bool,
}

/// One point that a person is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskedForm {
    /// The guard.
    pub guard: String,
    /// Its rule, where it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The triggered `verb → object` policy, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The question.
    pub message: String,
    /// Approval is needed; otherwise a no is a veto.
    pub needs_approval: bool,
}

impl AskedForm {
    /// The questions of an evaluation; empty unless its decision is `ask`.
    #[must_use]
    pub fn of(evaluation: &Evaluation) -> Vec<Self> {
        if evaluation.decision != Decision::Ask {
            return Vec::new();
        }
        let asked = evaluation.questions().into_iter().map(|question| Self {
            guard: question.given.guard().to_owned(),
            rule: question.given.verdict.rule().map(str::to_owned),
            policy: question.violation.map(|violation| violation.policy.to_string()),
            message: question.given.verdict.reason().to_owned(),
            needs_approval: question.needs_approval,
        });
        asked.collect()
    }
}

/// `post`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PostParams {
    /// The action, as it was given to `evaluate`.
    pub action: ActionForm,
    /// The outcome.
    pub outcome: OutcomeForm,
}

/// The outcome of an action.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeForm {
    /// Whether it succeeded.
    pub success: bool,
    /// Exit code, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The error message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Files that are known to have changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Its model usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageForm>,
}

/// Model usage.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UsageForm {
    /// Tokens, in and out.
    #[serde(default)]
    pub tokens: u64,
    /// Money, in any currency, as long as it is always the same.
    #[serde(default, deserialize_with = "amount")]
    pub cost: f64,
}

/// A cost that is not negative: a negative one would return budget.
fn amount<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let amount = f64::deserialize(deserializer)?;
    if amount.is_finite() && amount >= 0.0 {
        return Ok(amount);
    }
    Err(serde::de::Error::custom(format!("`cost` is {amount}, which is no amount; give a number from 0 on")))
}

impl From<UsageForm> for Usage {
    fn from(form: UsageForm) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float becomes the nearest amount that there is; less than nothing is nothing"
        )]
        let cost_micros = (form.cost * 1e6).round() as u64;
        Self { tokens: form.tokens, cost_micros }
    }
}

impl From<OutcomeForm> for Outcome {
    fn from(form: OutcomeForm) -> Self {
        Self {
            success: form.success,
            exit_code: form.exit_code,
            error: form.error,
            changed: form.changed,
            millis: form.duration_ms,
            usage: form.usage.map(Usage::from),
        }
    }
}

/// The answer to `post`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PostAnswer {
    /// How the outcome relates to the decision.
    pub standing: Standing,
    /// The feedback for the agent.
    pub feedback: Vec<FeedbackForm>,
}

/// The feedback of one provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FeedbackForm {
    /// Its name.
    pub provider: String,
    /// Its text.
    pub text: String,
}

/// `prompt`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PromptParams {
    /// The session.
    pub session_id: String,
    /// The agent program.
    #[serde(default)]
    pub agent: String,
    /// The prompt's name, if it has one. Rules may apply to it alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its text.
    #[serde(default)]
    pub text: String,
}

/// `stop`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StopParams {
    /// The session.
    pub session_id: String,
    /// The agent program.
    #[serde(default)]
    pub agent: String,
    /// The agent's last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Why it stops: `done`, or `aborted` when a person or an error ended the turn.
    #[serde(default)]
    pub reason: StopReason,
    /// Whether it is a subagent: `true`, or the kind of subagent.
    #[serde(default)]
    pub subagent: SubagentForm,
}

/// Whether a subagent stops, and which.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum SubagentForm {
    /// Yes or no.
    Plain(bool),
    /// What kind, in the program's words.
    Named(String),
}

impl Default for SubagentForm {
    fn default() -> Self {
        Self::Plain(false)
    }
}

/// Why an agent stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It considers its work done.
    #[default]
    Done,
    /// A person or an error ended the turn.
    Aborted,
}

impl StopReason {
    fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Aborted => "aborted",
        }
    }
}

impl StopParams {
    pub(super) fn into_request(self) -> StopRequest {
        let stop = Stop {
            output: self.output,
            reason: Some(self.reason.as_str().to_owned()),
            subagent: self.subagent != SubagentForm::Plain(false),
            subagent_name: match self.subagent {
                SubagentForm::Named(name) => Some(name),
                SubagentForm::Plain(_) => None,
            },
            aborted: self.reason == StopReason::Aborted,
            ..Stop::default()
        };
        let session = SessionKey { agent: self.agent, id: self.session_id };
        StopRequest { session, parent: None, stop }
    }
}

/// The answer to `stop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopAnswer {
    /// `complete`, `incomplete`, `bypassed` or `released_unmet`.
    pub outcome: &'static str,
    /// What is missing, or why nothing was checked.
    pub reasons: Vec<String>,
    /// The number of this round; 0 unless the agent is sent back.
    pub round: u32,
    /// The maximum number of rounds; 0 unless the agent is sent back.
    pub of: u32,
    /// The policy only observes: the agent may stop whatever the outcome.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
}

impl From<StopCheck> for StopAnswer {
    fn from(check: StopCheck) -> Self {
        let (outcome, reasons, round, of) = match check.outcome {
            Completion::Complete => ("complete", Vec::new(), 0, 0),
            Completion::Incomplete { reasons, round, of } => ("incomplete", reasons, round, of),
            Completion::Bypassed { cause } => ("bypassed", vec![cause.to_string()], 0, 0),
            Completion::ReleasedUnmet { reasons, .. } => ("released_unmet", reasons, 0, 0),
        };
        Self { outcome, reasons, round, of, observed: check.observed }
    }
}

/// `resolve`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolveParams {
    /// The `id` of the evaluation.
    pub id: u64,
    /// One answer for each entry of its `asked`, in order.
    pub answers: Vec<AnswerForm>,
}

/// An answer to one question.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum AnswerForm {
    /// Yes or no.
    Plain(bool),
    /// With a reason.
    Reasoned {
        /// Yes or no.
        approved: bool,
        /// The reason.
        #[serde(default)]
        reason: Option<String>,
    },
}

impl From<AnswerForm> for Answer {
    fn from(form: AnswerForm) -> Self {
        match form {
            AnswerForm::Plain(approved) => Self::from(approved),
            AnswerForm::Reasoned { approved, reason: None } => Self::from(approved),
            AnswerForm::Reasoned { approved, reason: Some(reason) } => Self::from(approved).because(reason),
        }
    }
}

/// `delegate`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DelegateParams {
    /// The session that starts another.
    pub parent: String,
    /// The session that is started.
    pub child: String,
    /// The limit of its scope.
    #[serde(default)]
    pub limit: Limit,
    /// The agent program of both.
    #[serde(default)]
    pub agent: String,
}

/// `session`, `reset`, `end`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SessionParams {
    /// The session.
    pub session_id: String,
    /// The agent program.
    #[serde(default)]
    pub agent: String,
}

/// One pending question with its action.
#[derive(Debug, Clone, Serialize)]
pub struct ApprovalForm {
    /// Its id.
    pub id: String,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// When it expires.
    pub expires: Timestamp,
    /// The session.
    pub session: Option<SessionKey>,
    /// The digest of the action.
    pub action_digest: Digest,
    /// The digest of the policy.
    pub policy: Digest,
    /// The action itself, as it was asked about.
    pub action: Option<Action>,
    /// The question.
    pub asked: Vec<Point>,
}

impl ApprovalForm {
    /// An approval with its action.
    #[must_use]
    pub fn of(approval: Approval) -> Self {
        Self {
            id: approval.id,
            requested_at: approval.requested_at,
            expires: approval.expires,
            session: approval.request.session,
            action_digest: approval.request.action,
            policy: approval.request.policy,
            action: approval.shown.map(|shown| shown.action),
            asked: approval.asked,
        }
    }
}

/// `record`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecordParams {
    /// The finding.
    pub finding: FindingForm,
}

/// A finding of a reviewer.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FindingForm {
    /// The plan: 1 to 64 letters, digits, `_` or `-`.
    pub plan: String,
    /// `LOW`, `MEDIUM`, `HIGH` or `CRITICAL`.
    pub level: Level,
    /// What is wrong, in a few words.
    pub title: String,
    /// The reviewer.
    #[serde(default)]
    pub agent: String,
    /// Where: `file`, `file:line`, `file:line:note`.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The rationale.
    #[serde(default)]
    pub rationale: String,
    /// An id of the caller's own.
    #[serde(default)]
    pub id: Option<String>,
}

impl FindingForm {
    /// The plan and the claim.
    pub(super) fn into_claim(self) -> Result<(PlanHash, Claim), RpcError> {
        let plan: PlanHash = self.plan.parse().map_err(unfit)?;
        let evidence: Vec<Evidence> = self
            .evidence
            .iter()
            .map(|spec| Evidence::parse(spec))
            .collect::<Result<_, _>>()
            .map_err(unfit)?;
        let id: Option<FindingId> = self.id.as_deref().map(str::parse).transpose().map_err(unfit)?;
        let claim = Claim::new(self.level, self.title.as_str(), self.agent.as_str())
            .and_then(|claim| claim.with_evidence(evidence))
            .and_then(|claim| claim.with_rationale(self.rationale.as_str()))
            .map_err(unfit)?;
        Ok((plan, claim.with_id(id)))
    }
}

fn unfit(error: impl std::fmt::Display) -> RpcError {
    RpcError::Params(error.to_string())
}

/// The answer to `record`.
#[derive(Debug, Clone, Serialize)]
pub struct RecordAnswer {
    /// The finding's id.
    pub id: FindingId,
    /// Its plan.
    pub plan: PlanHash,
    /// The plan's level now.
    pub level: Level,
    /// It counts; one that was waived earlier does not.
    pub open: bool,
}

/// `gate`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GateParams {
    /// What is about to happen.
    pub event: GateEventForm,
}

/// A commit, a push or a build.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateEventForm {
    /// A commit of the index.
    PreCommit,
    /// A push of these references.
    PrePush(Vec<PushedForm>),
    /// A build of HEAD, compared with a commit.
    Ci {
        /// The commit.
        #[serde(default)]
        base: Option<String>,
    },
}

/// One reference that is pushed.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PushedForm {
    /// The local commit; `None` when the reference is deleted.
    #[serde(default)]
    pub local: Option<String>,
    /// The remote commit; `None` when the reference is new.
    #[serde(default)]
    pub remote: Option<String>,
}

impl GateEventForm {
    pub(super) fn event(&self) -> GateEvent {
        match self {
            Self::PreCommit => GateEvent::PreCommit,
            Self::PrePush(refs) => {
                let pushed =
                    |form: &PushedForm| PushedRef { local: form.local.clone(), remote: form.remote.clone() };
                GateEvent::PrePush(refs.iter().map(pushed).collect())
            }
            Self::Ci { base } => GateEvent::Ci { base: base.clone() },
        }
    }
}
