//! The client of a server, including its behaviour while the server is unreachable.
//!
//! The tenant's setting for that is fetched with the policy: block everything, use the last policy until it is
//! too old, or pass. Decisions without the server are recorded locally, in a separate chain, and sent as soon as
//! the server is reachable; the server accepts each record once.

mod alone;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use lictor::rpc::{self, RpcError};
use lictor_core::{Digest, Timestamp};
use lictor_store::{Durability, Keys, Query, Record, Space, SqliteStore, Store, StoreExt as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::identity::{Caller, Kind};
use crate::registry::Away;
use crate::tenants::Open;

/// How long the server may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a fetched policy counts as current while the server is reachable.
const FRESH: Duration = Duration::from_secs(30);
/// Records sent at a time.
const BATCH: usize = 500;
/// The prefix of keys of delegations that were not sent yet.
const UNTOLD: &str = "untold/";

/// The server's URL, and the directory of its last response.
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
    version: u64,
    text: Option<String>,
    away: Away,
    max_age: u64,
    fetched: Timestamp,
    owner: String,
    kind: Kind,
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

impl Bundle {
    /// Who the token belongs to.
    fn caller(&self) -> Caller {
        let Self { tenant, owner, kind, email, role, scopes, groups, .. } = self.clone();
        Caller { token: String::new(), tenant, kind, owner, email, role, scopes, groups, roles: Vec::new() }
    }
}

/// A client of one server, for one token.
pub struct Client {
    settings: Settings,
    agent: ureq::Agent,
    store: Arc<dyn Store>,
    bundle: Option<Bundle>,
    /// When it was last asked for.
    asked: Instant,
    /// What judges while the server is away, by the bundle.
    alone: Option<Arc<Open>>,
    machine: String,
    /// Records up to here are on the server; not known before it was asked.
    sent: Option<u64>,
    /// There may be delegations that were not sent yet.
    untold: bool,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// The result of a call.
enum Outcome {
    Answered(Value),
    Refused(Value),
    /// The token does not count, or not any more.
    Unknown(Value),
    /// The server is away, or cannot answer.
    Away(String),
}

impl Client {
    /// Opens the local state, and fetches the current policy from the server.
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
        let (asked, alone, sent, untold) = (Instant::now(), None, None, true);
        let agent = config.into();
        let mut client = Self { agent, settings, store, bundle, asked, alone, machine, sent, untold };
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
        let outcome = match self.tell() {
            Err(why) => Outcome::Away(why),
            Ok(()) => self.http(verb, &address, Some(if params.is_null() { &none } else { params })),
        };
        match outcome {
            Outcome::Answered(mut value) => {
                if self.is_outdated_by(&value) {
                    self.refresh();
                }
                if method == "delegate" {
                    self.keep_delegation(params).map_err(failed)?;
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
                // Unknown here, and an invented answer would be mistaken for the server's.
                "session" | "approvals" | "resolve" | "gate" => Err(RpcError::Server {
                    kind: "server_away".to_owned(),
                    message: format!("the server is away ({why})"),
                    fix: "try again when the server is back".to_owned(),
                }),
                _ => self.without_server(method, params, &why),
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

    /// Whether the fetched policy may be out of date.
    fn is_outdated_by(&self, answer: &Value) -> bool {
        let version = answer.get("policy_version").and_then(Value::as_u64);
        let other = |bundle: &Bundle| version.is_some_and(|version| version != bundle.version);
        self.bundle.as_ref().is_none_or(other) || self.asked.elapsed() >= FRESH
    }

    /// Fetches the current policy; on failure the earlier one is kept.
    pub fn refresh(&mut self) {
        self.asked = Instant::now();
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
                self.alone = None;
            }
        }
    }

    /// A revoked token must not continue with its last fetched policy.
    fn forget(&mut self) {
        (self.bundle, self.alone) = (None, None);
        // One that cannot be removed is emptied: neither can be read as a policy.
        let file = self.settings.state.join("bundle.json");
        if std::fs::remove_file(&file).is_err() && file.exists() {
            let _ = std::fs::write(&file, "");
        }
    }

    /// Sends delegations that were made while the server was unreachable. Without them the server would give the subagent
    /// the whole scope of the person. Returns the reason if the server is still unreachable.
    fn tell(&mut self) -> Result<(), String> {
        if !self.untold {
            return Ok(());
        }
        let waiting =
            |view: &dyn lictor_store::View| view.scan(Space::Meta, &Keys::prefix(UNTOLD).limit(BATCH));
        let waiting = self.store.view(waiting).map_err(|error| error.to_string())?;
        for (key, params) in &waiting {
            let params: Value = serde_json::from_slice(params).unwrap_or_default();
            if let Outcome::Away(why) = self.http("POST", "/v1/delegate", Some(&params)) {
                return Err(why);
            }
            // A refused one is not sent again: the session has another parent on the server.
            let told = self.store.update(Durability::Process, |tx| tx.delete(Space::Meta, key));
            told.map_err(|error| error.to_string())?;
        }
        self.untold = waiting.len() == BATCH;
        Ok(())
    }

    /// Sends records that the server does not have yet. Failures are retried with the next call.
    fn ship(&mut self) {
        let address = format!("/v1/machines/{}/records", self.machine);
        loop {
            let query = Query::all().after(self.sent.unwrap_or(0)).limit(BATCH);
            let Ok(page) = self.store.view(|view| view.records(&query)) else { return };
            if page.is_empty() {
                return;
            }
            // An empty list returns the head that the server has.
            let page: Vec<Record> = if self.sent.is_some() { page } else { Vec::new() };
            let Outcome::Answered(answer) = self.http("POST", &address, Some(&json!({"records": page})))
            else {
                // The server may have been restored from an older copy.
                self.sent = None;
                return;
            };
            let there = answer.pointer("/head/seq").and_then(Value::as_u64);
            let Some(there) = there else { return };
            self.sent = Some(there);
        }
    }

    fn records(&self) -> Result<Value> {
        let page = self
            .store
            .view(|view| view.records(&Query::all().after(self.sent.unwrap_or(0)).limit(10_000)))?;
        Ok(json!({"records": page.iter().map(crate::http::entry).collect::<Vec<_>>()}))
    }
}

/// The error of a server's refusal. Parameters that do not fit are the same error with and without a server.
fn refusal(problem: &Value) -> RpcError {
    let said = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = said("type").trim_start_matches("urn:lictor:").to_owned();
    match kind.as_str() {
        "bad_request" | "invalid_params" => RpcError::Params(said("detail")),
        _ => RpcError::Server { kind, message: said("detail"), fix: said("fix") },
    }
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
