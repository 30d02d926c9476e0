//! The client of a server, including its behaviour while the server is unreachable.
//!
//! The tenant's setting for that is fetched with the policy: block everything, use the last policy until it is
//! too old, or pass. Decisions without the server are recorded locally, in a separate chain, and sent as soon as
//! the server is reachable; the server accepts each record once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use lictor::forms::{ActionForm, EvaluationForm};
use lictor::rpc::{self, RpcError};
use lictor::{Options, Runtime};
use lictor_core::{Action, Digest, SessionKey, Timestamp};
use lictor_store::{Draft, Durability, Query, Record, SqliteStore, Store, StoreExt as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::registry::Away;
use crate::tenants::now;

/// How long the server may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Records sent at a time.
const BATCH: usize = 500;
/// What happened without the server and was not judged.
const ABSENT: &str = "governance.absent";

/// Where the server is, and where what it said last is kept.
#[derive(Clone)]
pub struct Settings {
    /// `http://127.0.0.1:4747`.
    pub server: String,
    /// The token.
    pub token: String,
    /// A directory of this client alone.
    pub state: PathBuf,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("server", &self.server).finish_non_exhaustive()
    }
}

/// What was fetched last.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Bundle {
    tenant: String,
    text: Option<String>,
    away: Away,
    max_age: u64,
    fetched: Timestamp,
    owner: String,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
    /// The token that it was fetched with: who the caller is belongs to that one alone.
    #[serde(default)]
    token: Option<Digest>,
}

/// A client of one server, for one token.
pub struct Client {
    settings: Settings,
    agent: ureq::Agent,
    store: Arc<dyn Store>,
    bundle: Option<Bundle>,
    machine: String,
    /// Records up to here are on the server.
    sent: u64,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// What became of a call.
enum Outcome {
    Answered(Value),
    Refused(Value),
    /// The token does not count, or not any more.
    Unknown(Value),
    /// The server is away, or cannot answer.
    Away(String),
}

impl Client {
    /// Opens what is kept here, and asks the server for what is in force.
    ///
    /// # Errors
    /// When the directory or the record in it cannot be used.
    pub fn open(settings: Settings) -> Result<Self> {
        std::fs::create_dir_all(&settings.state)
            .with_context(|| format!("cannot make `{}`", settings.state.display()))?;
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(settings.state.join("client.db"))?);
        let kept = std::fs::read(settings.state.join("bundle.json")).ok();
        let own = Some(Digest::of(settings.token.as_bytes()));
        let bundle = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let bundle = bundle.filter(|bundle: &Bundle| bundle.token == own);
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .timeout_connect(Some(Duration::from_secs(2)))
            .http_status_as_error(false)
            .build();
        let machine = machine_name(&settings)?;
        let mut client = Self { agent: config.into(), settings, store, bundle, machine, sent: 0 };
        client.refresh();
        Ok(client)
    }

    /// Calls a method of `lictor rpc`; `records` lists what is kept here.
    ///
    /// # Errors
    /// What the server says, or that it is away where nothing can be said without it.
    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        let failed = |error: anyhow::Error| RpcError::Internal(format!("{error:#}"));
        let (verb, address) = match method {
            "version" => return Ok(rpc::version()),
            "records" => return self.records().map_err(failed),
            "approvals" => ("GET", "/v1/approvals".to_owned()),
            known if rpc::METHODS.contains(&known) => ("POST", format!("/v1/{known}")),
            unknown => return Err(RpcError::UnknownMethod(unknown.to_owned())),
        };
        let none = json!({});
        match self.http(verb, &address, Some(if params.is_null() { &none } else { params })) {
            Outcome::Answered(mut value) => {
                if self.bundle.is_none() {
                    self.refresh();
                }
                self.ship();
                Ok(match value.get_mut("approvals").filter(|_| method == "approvals") {
                    Some(waiting) => waiting.take(),
                    None => value,
                })
            }
            Outcome::Refused(problem) => Err(refusal(&problem)),
            Outcome::Unknown(problem) => {
                self.forget();
                Err(refusal(&problem))
            }
            Outcome::Away(why) => match method {
                // Nobody here knows, and what is made up would be taken for the server's word.
                "session" | "approvals" | "resolve" | "gate" => Err(RpcError::Server {
                    kind: "server_away".to_owned(),
                    message: format!("the server is away ({why})"),
                    fix: "try again when the server is back".to_owned(),
                }),
                _ => self.alone(method, params, &why).map_err(failed),
            },
        }
    }

    fn http(&self, method: &str, path: &str, body: Option<&Value>) -> Outcome {
        let address = format!("{}{path}", self.settings.server.trim_end_matches('/'));
        let token = format!("Bearer {}", self.settings.token);
        let sent = match (method, body) {
            ("GET", _) => self.agent.get(&address).header("authorization", &token).call(),
            (_, body) => self.agent.post(&address).header("authorization", &token).send_json(body),
        };
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => return Outcome::Away(error.to_string()),
        };
        let status = response.status().as_u16();
        let value: Value = match response.body_mut().read_json() {
            Ok(value) => value,
            Err(error) => return Outcome::Away(format!("it answered {status}: {error}")),
        };
        match status {
            200..=299 => Outcome::Answered(value),
            401 => Outcome::Unknown(value),
            500.. => Outcome::Away(format!("it answered {status}")),
            _ => Outcome::Refused(value),
        }
    }

    /// Fetches what is in force; what was fetched before stays when that fails.
    pub fn refresh(&mut self) {
        let value = match self.http("GET", "/v1/bundle", None) {
            Outcome::Answered(value) => value,
            Outcome::Unknown(_) => return self.forget(),
            Outcome::Refused(_) | Outcome::Away(_) => return,
        };
        if let Ok(mut bundle) = serde_json::from_value::<Bundle>(value) {
            bundle.token = Some(Digest::of(self.settings.token.as_bytes()));
            let file = self.settings.state.join("bundle.json");
            let draft = self.settings.state.join(".bundle.json.new");
            let text = json!(bundle).to_string();
            if std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, &file)).is_ok() {
                self.bundle = Some(bundle);
            }
        }
    }

    /// A token that was taken back must not go on judging by what it once fetched.
    fn forget(&mut self) {
        self.bundle = None;
        // One that cannot be removed is emptied: neither can be read as a policy.
        let file = self.settings.state.join("bundle.json");
        if std::fs::remove_file(&file).is_err() && file.exists() {
            let _ = std::fs::write(&file, "");
        }
    }

    /// What the tenant wants while the server is away.
    fn alone(&mut self, method: &str, params: &Value, why: &str) -> Result<Value> {
        let at = now();
        let (away, expired) = match &self.bundle {
            None => (Away::Block, false),
            Some(bundle) => {
                let age = at.millis_since(bundle.fetched);
                (
                    bundle.away,
                    age < -60_000
                        || age > i64::try_from(bundle.max_age).unwrap_or(i64::MAX).saturating_mul(1000),
                )
            }
        };
        match (away, method) {
            (Away::LastGood, "evaluate") if !expired => self.judge_alone(params),
            (Away::Pass, "evaluate") => {
                let value = self.absent(
                    params,
                    "pass",
                    &format!("the server is away ({why}); this tenant lets actions pass then"),
                    at,
                )?;
                Ok(value)
            }
            (_, "evaluate") => {
                let reason = match (&self.bundle, away, expired) {
                    (None, ..) => format!("the server is away ({why}), and no policy of it is kept here"),
                    (_, Away::LastGood, true) => {
                        format!("the server is away ({why}), and the policy that was fetched has expired")
                    }
                    _ => format!("the server is away ({why})"),
                };
                self.absent(params, "block", &reason, at)
            }
            (_, "stop") => {
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

    /// Who the action is for, by what the server said last.
    fn action(&self, form: ActionForm) -> Action {
        let mut action = form.into_action(&self.settings.state);
        if let Some(bundle) = &self.bundle {
            action.actor.tenant = Some(bundle.tenant.clone());
            action.actor.user = Some(bundle.owner.clone());
            action.actor.email.clone_from(&bundle.email);
            action.actor.role.clone_from(&bundle.role);
            action.actor.scopes = Some(bundle.scopes.clone());
            action.actor.groups.clone_from(&bundle.groups);
        }
        if action.session.is_none() {
            action.session = Some(SessionKey::account(action.actor.user.clone().unwrap_or_default()));
        }
        action
    }

    fn judge_alone(&mut self, params: &Value) -> Result<Value> {
        let form: ActionForm = serde_json::from_value(params.get("action").cloned().unwrap_or_default())?;
        let action = self.action(form);
        let text = self.bundle.as_ref().and_then(|bundle| bundle.text.clone());
        let options = Options::new().cwd(&self.settings.state).shared_store(Arc::clone(&self.store));
        let runtime = Runtime::from_yaml(text.as_deref().unwrap_or("{version: 1}"), options)?;
        let evaluation = runtime.evaluate(&action);
        let mut value = json!(EvaluationForm::from(&evaluation));
        if let Some(fields) = value.as_object_mut() {
            fields.insert("away".to_owned(), json!(true));
            fields.insert("correlation_id".to_owned(), json!(action.tool_use_id));
        }
        Ok(value)
    }

    /// Records what was decided without any policy.
    fn absent(&mut self, params: &Value, decision: &str, reason: &str, at: Timestamp) -> Result<Value> {
        let form: ActionForm = serde_json::from_value(params.get("action").cloned().unwrap_or_default())?;
        let action = self.action(form);
        let body = json!({
            "action": action, "event": {"decision": decision, "ungoverned": decision == "pass"},
            "evaluation": {"decision": decision, "verdicts": [{"guard": "server", "status": "active", "value": if decision == "pass" { "warn" } else { decision }, "reason": reason}]},
        });
        let draft =
            Draft { at, session: action.session.clone(), kind: ABSENT.to_owned(), body: body.to_string() };
        let seq = self.store.update(Durability::Power, |tx| tx.append(draft).map(|record| record.seq))?;
        Ok(
            json!({"decision": decision, "reason": reason, "fix": "try again when the server is back", "away": true,
                  "verdicts": [], "local_id": seq}),
        )
    }

    fn note(&mut self, method: &str, params: &Value, at: Timestamp) -> Result<()> {
        let body = json!({"method": method, "params": params}).to_string();
        let draft = Draft { at, session: None, kind: "client.kept".to_owned(), body };
        self.store.update(Durability::Power, |tx| tx.append(draft).map(drop))?;
        Ok(())
    }

    /// Sends what the server does not have yet. What fails is tried again with the next call.
    fn ship(&mut self) {
        loop {
            let query = Query::all().after(self.sent).limit(BATCH);
            let Ok(page) = self.store.view(|view| view.records(&query)) else { return };
            let Some(last) = page.last().map(|record: &Record| record.seq) else { return };
            let address = format!("/v1/machines/{}/records", self.machine);
            match self.http("POST", &address, Some(&json!({"records": page}))) {
                Outcome::Answered(_) => self.sent = last,
                Outcome::Refused(_) | Outcome::Unknown(_) | Outcome::Away(_) => return,
            }
        }
    }

    fn records(&self) -> Result<Value> {
        let page = self.store.view(|view| view.records(&Query::all().after(self.sent).limit(10_000)))?;
        Ok(json!({"records": page.iter().map(crate::http::entry).collect::<Vec<_>>()}))
    }
}

/// What a server said that did not do it.
fn refusal(problem: &Value) -> RpcError {
    let said = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = said("type").trim_start_matches("urn:lictor:").to_owned();
    RpcError::Server { kind, message: said("detail"), fix: said("fix") }
}

/// A name that stays.
fn machine_name(settings: &Settings) -> Result<String> {
    let file = settings.state.join("machine");
    if let Ok(name) = std::fs::read_to_string(&file) {
        return Ok(name.trim().to_owned());
    }
    let name = crate::random::hex(8)?;
    std::fs::write(&file, &name)?;
    Ok(name)
}
