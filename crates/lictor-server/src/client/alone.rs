//! What a client does while the server is unreachable: it judges like the server, with the data that was fetched last.

use std::sync::Arc;

use lictor::forms::{ActionForm, EvaluationForm};
use lictor::rpc::{DelegateParams, EvaluateParams, PostParams, RpcError};
use lictor::{Options, Runtime};
use lictor_core::{Action, Timestamp, redact};
use lictor_store::{Draft, Durability, Space, StoreExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Bundle, Client, UNTOLD};
use crate::identity::Caller;
use crate::registry::Away;
use crate::tenants::{self, CallError, Open, now};

/// What happened without the server and was not judged.
const ABSENT: &str = "governance.absent";
/// The policy of a tenant that has published none.
const EMPTY: &str = "{version: 1}";
/// The longest chain of delegations that is followed.
const MOST_HOPS: usize = 64;

fn failed(error: impl std::fmt::Display) -> RpcError {
    RpcError::Internal(error.to_string())
}

/// The error that the server would return.
fn refused(error: CallError) -> RpcError {
    match error {
        CallError::Rpc(error) => error,
        CallError::NotYours { .. } | CallError::UnderWay(_) => RpcError::Server {
            kind: if matches!(error, CallError::UnderWay(_)) { "under_way" } else { "not_yours" }.to_owned(),
            message: error.to_string(),
            fix: String::new(),
        },
        error => failed(error),
    }
}

fn read<T: DeserializeOwned>(params: &Value) -> Result<T, RpcError> {
    serde_json::from_value(params.clone()).map_err(|error| RpcError::Params(error.to_string()))
}

/// Where a delegation to a session is kept.
fn delegation_key(agent: &str, child: &str) -> Vec<u8> {
    format!("delegated/{}:{agent}{child}", agent.len()).into_bytes()
}

impl Client {
    /// What the tenant wants while the server is away.
    pub(super) fn without_server(
        &mut self,
        method: &str,
        params: &Value,
        why: &str,
    ) -> Result<Value, RpcError> {
        let at = now();
        match method {
            "evaluate" => self.evaluate_alone(params, why, at),
            "post" if self.judges(at) => self.post_alone(params),
            "delegate" => self.delegate_alone(params, at),
            "stop" => {
                self.note(method, params, at)?;
                // Whether the work is done is not known. Held back, the agent would try to stop until the server is back.
                let reason = format!("the server is away ({why}): whether the work is done is not known");
                Ok(
                    json!({"outcome": "released_unmet", "reasons": [reason], "round": 0, "of": 0, "away": true}),
                )
            }
            _ => {
                self.note(method, params, at)?;
                Ok(json!({"away": true}))
            }
        }
    }

    /// Whether what was fetched is too old to judge by.
    fn is_expired(bundle: &Bundle, at: Timestamp) -> bool {
        let age = at.millis_since(bundle.fetched);
        let most = i64::try_from(bundle.max_age).unwrap_or(i64::MAX).saturating_mul(1000);
        age < -60_000 || age > most
    }

    /// Whether the policy that was fetched last judges.
    fn judges(&self, at: Timestamp) -> bool {
        let judges = |bundle: &Bundle| bundle.away == Away::LastGood && !Self::is_expired(bundle, at);
        self.bundle.as_ref().is_some_and(judges)
    }

    fn evaluate_alone(&mut self, params: &Value, why: &str, at: Timestamp) -> Result<Value, RpcError> {
        let params: EvaluateParams = read(params)?;
        let away = self.bundle.as_ref().map(|bundle| bundle.away);
        if self.judges(at) {
            let (open, caller) = self.open_alone()?;
            let action = self.action_alone(&open, &caller, params.action)?;
            let evaluation = tenants::judge(&open, &action, params.mode, params.unattended);
            let mut value = json!(EvaluationForm::from(&evaluation));
            if let Some(fields) = value.as_object_mut() {
                fields.insert("away".to_owned(), json!(true));
                fields.insert("correlation_id".to_owned(), json!(action.tool_use_id));
            }
            return Ok(value);
        }
        let (decision, reason) = match away {
            Some(Away::Pass) => {
                ("pass", format!("the server is away ({why}); this tenant lets actions pass then"))
            }
            Some(Away::LastGood) => {
                ("block", format!("the server is away ({why}), and the policy that was fetched has expired"))
            }
            Some(Away::Block) => ("block", format!("the server is away ({why})")),
            None => ("block", format!("the server is away ({why}), and no policy of it is kept here")),
        };
        self.absent(params, decision, &reason, at)
    }

    /// The runtime of the policy that was fetched last, with the record that is kept here.
    fn open_alone(&mut self) -> Result<(Arc<Open>, Caller), RpcError> {
        let Some(bundle) = &self.bundle else {
            return Err(RpcError::Internal("no policy of the server is kept here".to_owned()));
        };
        let caller = bundle.caller();
        if let Some(open) = &self.alone {
            return Ok((Arc::clone(open), caller));
        }
        let options = Options::new().cwd(&self.settings.state).shared_store(Arc::clone(&self.store));
        let runtime = Runtime::from_yaml(bundle.text.as_deref().unwrap_or(EMPTY), options);
        let runtime = runtime.map_err(|error| refused(error.into()))?;
        let open = Arc::new(Open::now(bundle.version, runtime, Arc::clone(&self.store)));
        self.alone = Some(Arc::clone(&open));
        Ok((open, caller))
    }

    fn action_alone(&self, open: &Open, caller: &Caller, form: ActionForm) -> Result<Action, RpcError> {
        if let Some(session) = &form.session_id {
            self.place(open, caller, &form.agent, session)?;
        }
        tenants::action(open, caller, form).map_err(refused)
    }

    /// Starts the session below its parents, if this client knows of delegations to it.
    fn place(&self, open: &Open, caller: &Caller, agent: &str, session: &str) -> Result<(), RpcError> {
        let mut below = Vec::new();
        let mut child = Some(session.to_owned());
        while let Some(id) = child.take().filter(|_| below.len() < MOST_HOPS) {
            let key = delegation_key(agent, &id);
            let Some(kept) = self.store.view(|view| view.get(Space::Meta, &key)).map_err(failed)? else {
                break;
            };
            let kept: DelegateParams = serde_json::from_slice(&kept).map_err(failed)?;
            child = Some(kept.parent.clone());
            below.push(kept);
        }
        for delegation in below.into_iter().rev() {
            tenants::delegate(open, caller, delegation).map_err(refused)?;
        }
        Ok(())
    }

    fn post_alone(&mut self, params: &Value) -> Result<Value, RpcError> {
        let params: PostParams = read(params)?;
        let (open, caller) = self.open_alone()?;
        let mut posted = tenants::post(&open, &caller, params).map_err(refused)?;
        if let Some(fields) = posted.as_object_mut() {
            fields.insert("away".to_owned(), json!(true));
        }
        Ok(posted)
    }

    /// Stores a delegation for the time in which the server is unreachable.
    pub(super) fn keep_delegation(&self, params: &Value) -> anyhow::Result<()> {
        let delegation: DelegateParams = serde_json::from_value(params.clone())?;
        let key = delegation_key(&delegation.agent, &delegation.child);
        let text = json!(delegation).to_string();
        self.store.update(Durability::Process, |tx| {
            // The first one counts, as on the server.
            match tx.get(Space::Meta, &key)? {
                Some(_) => Ok(()),
                None => tx.put(Space::Meta, &key, text.as_bytes()),
            }
        })?;
        Ok(())
    }

    /// Applies a delegation here, and keeps it for the server, which must know it before any other call.
    fn delegate_alone(&mut self, params: &Value, at: Timestamp) -> Result<Value, RpcError> {
        let delegation: DelegateParams = read(params)?;
        let mut answer = json!({});
        if self.judges(at) {
            let (open, caller) = self.open_alone()?;
            self.place(&open, &caller, &delegation.agent, &delegation.parent)?;
            answer = tenants::delegate(&open, &caller, delegation.clone()).map_err(refused)?;
        }
        self.keep_delegation(params).map_err(failed)?;
        let text = json!(delegation).to_string();
        let untold = format!("{UNTOLD}{:020}/{}", at.0, delegation.child);
        let kept = self
            .store
            .update(Durability::Power, |tx| tx.put(Space::Meta, untold.as_bytes(), text.as_bytes()));
        kept.map_err(failed)?;
        self.untold = true;
        self.note("delegate", params, at)?;
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("away".to_owned(), json!(true));
        }
        Ok(answer)
    }

    /// Records what was decided without any policy.
    fn absent(
        &mut self,
        params: EvaluateParams,
        decision: &str,
        reason: &str,
        at: Timestamp,
    ) -> Result<Value, RpcError> {
        let action = match self.bundle.is_some() {
            true => {
                let (open, caller) = self.open_alone()?;
                self.action_alone(&open, &caller, params.action)?
            }
            false => params.action.into_action(&self.settings.state),
        };
        let body = json!({
            "action": action, "event": {"decision": decision, "ungoverned": decision == "pass"},
            "evaluation": {"decision": decision, "verdicts": [{"guard": "server", "status": "active", "value": if decision == "pass" { "warn" } else { decision }, "reason": reason}]},
        });
        let session = action.session.clone();
        let seq = self.append(ABSENT, session, body, at)?;
        Ok(
            json!({"decision": decision, "reason": reason, "fix": "try again when the server is back", "away": true,
                  "verdicts": [], "local_id": seq, "correlation_id": action.tool_use_id}),
        )
    }

    fn note(&mut self, method: &str, params: &Value, at: Timestamp) -> Result<(), RpcError> {
        self.append("client.kept", None, json!({"method": method, "params": params}), at).map(drop)
    }

    /// Appends a record, redacted as the policy says.
    fn append(
        &mut self,
        kind: &str,
        session: Option<lictor_core::SessionKey>,
        mut body: Value,
        at: Timestamp,
    ) -> Result<u64, RpcError> {
        match self.bundle.is_some() {
            true => redact::json(&mut body, self.open_alone()?.0.runtime.redactor()),
            false => redact::json(&mut body, &redact::Secrets),
        }
        let draft = Draft { at, session, kind: kind.to_owned(), body: body.to_string() };
        let appended = self.store.update(Durability::Power, |tx| tx.append(draft).map(|record| record.seq));
        appended.map_err(failed)
    }
}
