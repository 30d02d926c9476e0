//! The runtime for programs in any language: methods with JSON in and JSON out.
//!
//! [`dispatch`] is the only entry point; `lictor rpc` serves it as lines on standard input ([`serve_lines`]), a
//! server over HTTP. Both use the same formats, described in `docs/rpc.md`.

mod access;
mod error;
mod forms;
mod lines;

pub use access::Access;
pub use error::RpcError;
pub use forms::{
    ApprovalForm, AskedForm, DelegateParams, EvaluateParams, FeedbackForm, FindingForm, GateEventForm,
    GateParams, ModeForm, OutcomeForm, PostAnswer, PostParams, PromptParams, RecordAnswer, RecordParams,
    ResolveParams, SessionParams, StopAnswer, StopParams,
};
pub use lines::{serve_calls, serve_lines};

use lictor_core::feedback::Said;
use lictor_core::{Evaluation, SessionKey, SessionState};
use lictor_engine::{Asking, Mode, Prompt};
use lictor_ledger::render;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::error::Error;
use crate::forms::{EvaluationForm, meant_kind};
use crate::runtime::Runtime;

/// The version of the methods and their formats. Fields may be added within a version; nothing else changes.
pub const PROTOCOL: u32 = 1;

/// Every method, in the order of `docs/rpc.md`.
pub const METHODS: [&str; 13] = [
    "version",
    "evaluate",
    "post",
    "prompt",
    "stop",
    "resolve",
    "delegate",
    "session",
    "reset",
    "end",
    "approvals",
    "record",
    "gate",
];

/// Calls a method, for a caller with full access.
///
/// ```
/// use lictor::{Options, Runtime, rpc};
/// use serde_json::json;
///
/// let lictor = Runtime::from_yaml("{version: 1}", Options::new())?;
/// let params = json!({"action": {"kind": "bash", "payload": {"command": "rm -rf /"}, "session_id": "s1"}});
/// let evaluation = rpc::dispatch(&lictor, "evaluate", params)?;
/// assert_eq!(evaluation["decision"], "block");
/// assert_eq!(rpc::dispatch(&lictor, "evaluate", json!({})).unwrap_err().kind(), "invalid_params");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// An unknown method, invalid parameters, or an error of the runtime.
pub fn dispatch(runtime: &Runtime, method: &str, params: Value) -> Result<Value, RpcError> {
    dispatch_for(runtime, &Access::Full, method, params)
}

/// Calls a method, for a caller with this access.
///
/// # Errors
/// As [`dispatch`], and when the caller lacks access.
pub fn dispatch_for(
    runtime: &Runtime,
    access: &Access,
    method: &str,
    params: Value,
) -> Result<Value, RpcError> {
    let call = Call { runtime, access };
    match method {
        "version" => Ok(version()),
        "evaluate" => to_json(&EvaluationForm::from(&call.evaluate(read(params)?)?)),
        "post" => call.post(read(params)?),
        "prompt" => call.prompt(read(params)?),
        "stop" => call.stop(read(params)?),
        "resolve" => call.resolve(read(params)?),
        "delegate" => call.delegate(read(params)?),
        "session" => call.with_session(params, |runtime, key| Ok(runtime.session(key)?)),
        "reset" => call.with_session(params, |runtime, key| Ok(runtime.reset(key)?)),
        "end" => call.with_session(params, |runtime, key| Ok(runtime.end(key)?)),
        "approvals" => call.approvals(),
        "record" => call.record(read(params)?),
        "gate" => call.gate(&read(params)?),
        _ => Err(RpcError::UnknownMethod(method.to_owned())),
    }
}

/// As [`dispatch_for`], for a caller that forwards the result: serialised once, without an intermediate value.
fn answer_for(
    runtime: &Runtime,
    access: &Access,
    method: &str,
    params: Value,
) -> Result<Box<RawValue>, RpcError> {
    if method == "evaluate" {
        let evaluation = Call { runtime, access }.evaluate(read(params)?)?;
        return text_of(&EvaluationForm::from(&evaluation));
    }
    text_of(&dispatch_for(runtime, access, method, params)?)
}

fn text_of(value: &impl Serialize) -> Result<Box<RawValue>, RpcError> {
    to_raw_value(value).map_err(|error| RpcError::Internal(error.to_string()))
}

/// The answer of `version`.
#[must_use]
pub fn version() -> Value {
    json!({"protocol": PROTOCOL, "lictor": env!("CARGO_PKG_VERSION"), "methods": METHODS})
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    // Null parameters are the same as an empty object.
    let params = if params.is_null() { json!({}) } else { params };
    serde_json::from_value(params).map_err(|error| RpcError::Params(error.to_string()))
}

fn to_json(value: &impl Serialize) -> Result<Value, RpcError> {
    serde_json::to_value(value).map_err(|error| RpcError::Internal(error.to_string()))
}

/// A session for programs.
#[must_use]
pub fn session_form(key: &SessionKey, state: &SessionState) -> Value {
    json!({"agent": key.agent, "id": key.id, "state": state.shown()})
}

struct Call<'a> {
    runtime: &'a Runtime,
    access: &'a Access,
}

impl Call<'_> {
    fn evaluate(&self, params: EvaluateParams) -> Result<Evaluation, RpcError> {
        let action = params.action.into_action(&self.runtime.project().root);
        self.access.permit(self.runtime, action.session.as_ref())?;
        if let Some(near) = meant_kind(self.runtime, &action) {
            let kind = &action.kind;
            return Err(RpcError::Params(format!(
                "`{kind}` is not a kind of action; did you mean `{near}`?"
            )));
        }
        let observing = self.runtime.policy().is_observing();
        Ok(match params.mode {
            ModeForm::Dry => self.runtime.evaluate_dry(&action),
            mode => self.runtime.evaluate_with(
                &action,
                Mode {
                    observe: observing || mode == ModeForm::Observe,
                    asking: if params.unattended { Asking::Nobody } else { Asking::Caller },
                    ..Mode::default()
                },
            ),
        })
    }

    fn post(&self, params: PostParams) -> Result<Value, RpcError> {
        let action = params.action.into_action(&self.runtime.project().root);
        self.access.permit(self.runtime, action.session.as_ref())?;
        let posted = self.runtime.post(&action, params.outcome.into())?;
        let said = posted.feedback.into_iter().filter_map(|advice| match advice.said {
            Said::Feedback(_) => {
                let provider = advice.provider.clone();
                let text = lictor_core::feedback::render(std::slice::from_ref(&advice));
                Some(FeedbackForm { provider, text })
            }
            Said::Nothing | Said::Fault(_) => None,
        });
        to_json(&PostAnswer { standing: posted.standing, feedback: said.collect() })
    }

    fn prompt(&self, params: PromptParams) -> Result<Value, RpcError> {
        let PromptParams { session_id, agent, name, text } = params;
        let key = SessionKey { agent, id: session_id };
        self.access.permit(self.runtime, Some(&key))?;
        let state = self.runtime.prompted(&key, &Prompt { name, text })?;
        Ok(session_form(&key, &state))
    }

    fn stop(&self, params: StopParams) -> Result<Value, RpcError> {
        let wish = params.into_request();
        self.access.permit(self.runtime, Some(&wish.session))?;
        to_json(&StopAnswer::from(self.runtime.stop(&wish)?))
    }

    fn resolve(&self, params: ResolveParams) -> Result<Value, RpcError> {
        self.access.permit_resolving()?;
        let answers = params.answers.into_iter().map(Into::into).collect();
        let resolved = self.runtime.resolve(params.id, answers).map_err(|error| match error {
            Error::AnswerCount { .. } => RpcError::Params(error.to_string()),
            error => error.into(),
        })?;
        to_json(&EvaluationForm::from(&resolved))
    }

    fn delegate(&self, params: DelegateParams) -> Result<Value, RpcError> {
        let key = |id: String| SessionKey { agent: params.agent.clone(), id };
        let (parent, child) = (key(params.parent), key(params.child));
        self.access.permit(self.runtime, Some(&parent))?;
        self.access.permit(self.runtime, Some(&child))?;
        let state = self.runtime.delegate(&parent, &child, params.limit)?;
        Ok(session_form(&child, &state))
    }

    fn with_session(
        &self,
        params: Value,
        act: impl FnOnce(&Runtime, &SessionKey) -> Result<SessionState, RpcError>,
    ) -> Result<Value, RpcError> {
        let SessionParams { session_id, agent } = read(params)?;
        let key = SessionKey { agent, id: session_id };
        self.access.permit(self.runtime, Some(&key))?;
        let state = act(self.runtime, &key)?;
        Ok(session_form(&key, &state))
    }

    fn approvals(&self) -> Result<Value, RpcError> {
        let now = self.runtime.project().options().now();
        let pending = self.runtime.approvals().pending(now).map_err(Error::from)?;
        let rows: Vec<ApprovalForm> = pending.into_iter().map(ApprovalForm::of).collect();
        to_json(&rows)
    }

    fn record(&self, params: RecordParams) -> Result<Value, RpcError> {
        let (plan, claim) = params.finding.into_claim()?;
        let ledger = self.runtime.ledger();
        let recorded = ledger.record(&plan, claim)?;
        let level = ledger.verdict(plan.as_str())?.level();
        to_json(&RecordAnswer { id: recorded.id, plan, level, open: recorded.open })
    }

    fn gate(&self, params: &GateParams) -> Result<Value, RpcError> {
        let event = params.event.event();
        let outcome = self.runtime.gate(&event, &|_| {});
        let shown = render::json::gate(event.name(), &outcome);
        serde_json::from_str(&shown).map_err(|error| RpcError::Internal(error.to_string()))
    }
}
