//! One runtime per tenant, and the operations of callers on it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use lictor::forms::{ActionForm, EvaluationForm};
use lictor::rpc::{self, DelegateParams, EvaluateParams, ModeForm, PostParams, RpcError};
use lictor::{Options, Runtime};
use lictor_core::{Action, Evaluation, Limit, SessionKey, Tier, Timestamp};
use lictor_engine::{Asking, Mode};
use lictor_store::{Draft, Durability, Head, Store, StoreExt as _};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::identity::{Caller, Kind};
use crate::random;
use crate::registry::{Registry, RegistryError};
use crate::stores::{Stores, StoresError};

/// How long the policy of a local project is cached.
const FRESH: Duration = Duration::from_secs(1);
/// The policy of a tenant that has published none.
const EMPTY: &str = "{version: 1}";
/// Agents below each other.
const MOST_HOPS: usize = 64;
/// So many sessions are remembered whose agents are known.
const MOST_CHAINS: usize = 4_096;

/// Why a call is not answered.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The body names another user or tenant than the token.
    #[error("the request names the {what} `{named}`, and the token belongs to another")]
    NotYours {
        /// `tenant`, `user`, `chain`, `agent`.
        what: &'static str,
        /// What was named.
        named: String,
    },
    /// The session to start already belongs to another caller.
    #[error("the session `{0}` is under way already; a delegation starts a new one")]
    UnderWay(String),
    /// A store failed.
    #[error(transparent)]
    Stores(#[from] StoresError),
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The policy cannot be used.
    #[error("{}", .0.chain())]
    Runtime(#[from] lictor::Error),
    /// The call failed.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// No random numbers.
    #[error("no random numbers: {0}")]
    Random(#[from] std::io::Error),
}

/// The response to an action.
#[derive(Debug)]
pub struct Answered {
    /// The judgement.
    pub evaluation: Evaluation,
    /// The id for reporting its outcome.
    pub correlation_id: Option<String>,
    /// The version of the policy; 0 for none.
    pub policy_version: u64,
}

impl Serialize for Answered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Form<'a> {
            #[serde(flatten)]
            evaluation: EvaluationForm<'a>,
            correlation_id: Option<&'a str>,
            policy_version: u64,
        }
        let (evaluation, correlation_id) = (&self.evaluation, self.correlation_id.as_deref());
        let policy_version = self.policy_version;
        Form { evaluation: evaluation.into(), correlation_id, policy_version }.serialize(serializer)
    }
}

/// A tenant's runtime with the current policy.
pub struct Open {
    /// The version of the policy; 0 for none.
    pub version: u64,
    /// The runtime.
    pub runtime: Runtime,
    /// Its record, for scans.
    pub store: Arc<dyn Store>,
    opened: Instant,
    /// The end of the registry's record for which this version is current.
    end: RwLock<Head>,
    /// The agents on the way to sessions that have begun: that never changes.
    chains: Mutex<HashMap<SessionKey, Vec<String>>>,
}

impl Open {
    /// As it is now.
    #[must_use]
    pub fn now(version: u64, runtime: Runtime, store: Arc<dyn Store>) -> Self {
        let (opened, end) = (Instant::now(), RwLock::new(Head::START));
        Self { version, runtime, store, opened, end, chains: Mutex::default() }
    }

    /// Whether it was opened a moment ago.
    pub(crate) fn is_fresh(&self) -> bool {
        self.opened.elapsed() < FRESH
    }

    /// Whether it is still current.
    fn is_of(&self, end: Head) -> bool {
        *self.end.read().unwrap_or_else(PoisonError::into_inner) == end
    }

    /// Marks it as current while the registry's record has this end.
    fn holds_under(&self, end: Head) {
        *self.end.write().unwrap_or_else(PoisonError::into_inner) = end;
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open").field("version", &self.version).finish_non_exhaustive()
    }
}

/// All tenants.
pub struct Tenants {
    /// The server's own data.
    pub registry: Registry,
    /// Where records are.
    pub stores: Stores,
    /// An empty directory: programs elsewhere have files that this machine knows nothing of.
    nowhere: PathBuf,
    open: RwLock<HashMap<String, Arc<Open>>>,
    /// The projects of this machine, which replace tenants in `lictor ui`.
    pub local: Option<crate::local::Projects>,
    /// Counts the changes of any record, for those who follow.
    pub changes: watch::Sender<u64>,
}

impl std::fmt::Debug for Tenants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tenants")
    }
}

impl Tenants {
    /// Over these stores. `nowhere` is an empty directory.
    ///
    /// # Errors
    /// When the server's own record cannot be opened.
    pub fn new(stores: Stores, nowhere: PathBuf) -> Result<Self, StoresError> {
        let registry = Registry::new(stores.server()?);
        Ok(Self {
            registry,
            stores,
            nowhere,
            open: RwLock::default(),
            local: None,
            changes: watch::Sender::new(0),
        })
    }

    /// Without tenants' records: what is known of people ends with the process.
    #[must_use]
    pub fn in_memory(store: Arc<dyn Store>, nowhere: PathBuf) -> Self {
        Self {
            registry: Registry::new(store),
            stores: Stores::none(),
            nowhere,
            open: RwLock::default(),
            local: None,
            changes: watch::Sender::new(0),
        }
    }

    /// The record that a machine of the tenant sent.
    ///
    /// # Errors
    /// When the machine has sent none, or the store cannot be used.
    pub fn sent_by(&self, tenant: &str, machine: &str) -> Result<Arc<dyn Store>, CallError> {
        let machine = crate::registry::chain_name(machine)?;
        // A record without entries verifies, so that a misspelt name would look like a sound chain.
        self.registry.machine(tenant, machine)?;
        Ok(self.stores.looking_at_machine(tenant, machine)?)
    }

    /// The tenant's runtime with its current policy.
    ///
    /// # Errors
    /// When the tenant is unknown, or its policy or its store cannot be used.
    pub fn open(&self, tenant: &str) -> Result<Arc<Open>, CallError> {
        if let Some(local) = &self.local {
            return local.open(tenant);
        }
        let known = self.open.read().unwrap_or_else(PoisonError::into_inner).get(tenant).cloned();
        let end = self.registry.end()?;
        if let Some(known) = known.as_ref().filter(|known| known.is_of(end)) {
            return Ok(Arc::clone(known));
        }
        self.registry.tenant(tenant)?;
        let policy = self.registry.policy(tenant, None)?;
        let version = policy.as_ref().map_or(0, |policy| policy.version);
        if let Some(known) = known.filter(|known| known.version == version) {
            known.holds_under(end);
            return Ok(known);
        }
        let text = policy.map_or_else(|| EMPTY.to_owned(), |policy| policy.text);
        let runtime = self.runtime(&text, Some(self.stores.tenant(tenant)?))?;
        let open = Arc::new(Open::now(version, runtime, self.stores.looking(tenant)?));
        open.holds_under(end);
        self.open
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(tenant.to_owned(), Arc::clone(&open));
        Ok(open)
    }

    /// A runtime by this policy; without a store it forgets everything.
    ///
    /// # Errors
    /// When the policy is refused.
    pub fn runtime(&self, text: &str, store: Option<Arc<dyn Store>>) -> Result<Runtime, lictor::Error> {
        let mut options = Options::new().cwd(&self.nowhere).registered_home(&self.nowhere);
        if let Some(store) = store {
            options = options.shared_store(store);
        }
        Runtime::from_yaml(text, options)
    }

    /// Whether that is the directory of actions that came without one.
    #[must_use]
    pub fn is_nowhere(&self, cwd: &str) -> bool {
        self.local.is_none() && std::path::Path::new(cwd) == self.nowhere
    }

    /// Drops the cached policy.
    pub fn forget(&self, tenant: &str) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(tenant);
    }

    /// Notifies streams of new records.
    pub fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Judges an action for the caller.
    ///
    /// # Errors
    /// When the body names somebody else, or the tenant cannot be opened. A failure while judging is a block.
    pub fn evaluate(&self, caller: &Caller, params: EvaluateParams) -> Result<Answered, CallError> {
        let open = self.open(&caller.tenant)?;
        let action = match action(&open, caller, params.action) {
            Err(refused @ CallError::NotYours { .. }) => {
                self.note_refusal(&open, caller, &refused)?;
                return Err(refused);
            }
            action => action?,
        };
        let evaluation = judge(&open, &action, params.mode, params.unattended);
        self.changed();
        Ok(Answered { evaluation, correlation_id: action.tool_use_id, policy_version: open.version })
    }

    /// An access violation is recorded in the caller's own tenant.
    fn note_refusal(&self, open: &Open, caller: &Caller, refused: &CallError) -> Result<(), CallError> {
        let body = json!({
            "action": {"actor": {"tenant": caller.tenant, "user": caller.person(), "email": caller.email}},
            "event": {"decision": "block"}, "by": caller.owner, "reason": refused.to_string(),
        });
        let draft =
            Draft { at: now(), session: None, kind: "request.refused".to_owned(), body: body.to_string() };
        let noted = open.store.update(Durability::Process, |tx| tx.append(draft).map(drop));
        self.changed();
        noted.map_err(|error| CallError::Stores(error.into()))
    }

    /// Records the outcome of an action.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), and when it cannot be recorded.
    pub fn post(&self, caller: &Caller, params: PostParams) -> Result<Value, CallError> {
        let open = self.open(&caller.tenant)?;
        let posted = post(&open, caller, params)?;
        self.changed();
        Ok(posted)
    }

    /// Starts the session of a subagent.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), and when it cannot be recorded.
    pub fn delegate(&self, caller: &Caller, params: DelegateParams) -> Result<Value, CallError> {
        let open = self.open(&caller.tenant)?;
        let answer = delegate(&open, caller, params)?;
        self.changed();
        Ok(answer)
    }

    /// Any other method of `lictor rpc`, on sessions of the caller.
    ///
    /// # Errors
    /// What the method says.
    pub fn dispatch(&self, caller: &Caller, method: &str, mut params: Value) -> Result<Value, CallError> {
        let open = self.open(&caller.tenant)?;
        if let Some(Value::String(id)) = params.get("session_id").cloned()
            && let Some(fields) = params.as_object_mut()
        {
            let agent = fields.get("agent").and_then(Value::as_str).unwrap_or_default();
            let key = session(caller, agent, id)?;
            if matches!(method, "prompt" | "stop" | "end") {
                begin(&open, caller, &key)?;
            }
            fields.insert("session_id".to_owned(), json!(key.id));
        }
        let answer = rpc::dispatch(&open.runtime, method, params)?;
        self.changed();
        Ok(answer)
    }
}

/// Judges an action as it is.
pub(crate) fn judge(open: &Open, action: &Action, mode: ModeForm, unattended: bool) -> Evaluation {
    if mode == ModeForm::Dry {
        return open.runtime.evaluate_dry(action);
    }
    let observe = open.runtime.policy().is_observing() || mode == ModeForm::Observe;
    let asking = if unattended { Asking::Nobody } else { Asking::Caller };
    open.runtime.evaluate_with(action, Mode { observe, asking, ..Mode::default() })
}

/// Records what came of an action of the caller.
pub(crate) fn post(open: &Open, caller: &Caller, params: PostParams) -> Result<Value, CallError> {
    // Without an id of the call, the outcome is that of the newest one with this action.
    let named = params.action.tool_use_id.clone();
    let mut action = action(open, caller, params.action)?;
    action.tool_use_id = named;
    let posted = open.runtime.post(&action, params.outcome.into())?;
    let feedback: Vec<Value> = posted
        .feedback
        .iter()
        .filter(|advice| matches!(advice.said, lictor_core::feedback::Said::Feedback(_)))
        .map(|advice| {
            let text = lictor_core::feedback::render(std::slice::from_ref(advice));
            json!({"provider": advice.provider, "text": text})
        })
        .collect();
    Ok(json!({"standing": posted.standing, "feedback": feedback, "correlation_id": action.tool_use_id}))
}

/// Starts a session of the caller below another one.
pub(crate) fn delegate(open: &Open, caller: &Caller, params: DelegateParams) -> Result<Value, CallError> {
    let named = params.child.clone();
    let (parent, child) =
        (session(caller, &params.agent, params.parent)?, session(caller, &params.agent, params.child)?);
    let known = open.runtime.session(&child)?;
    if parent == child || (known.started.is_some() && known.parent.as_ref() != Some(&parent)) {
        return Err(CallError::UnderWay(named));
    }
    begin(open, caller, &parent)?;
    let state = open.runtime.delegate(&parent, &child, params.limit)?;
    let mut answer = rpc::session_form(&child, &state);
    if let Some(fields) = answer.as_object_mut() {
        fields.insert("chain".to_owned(), json!(chain(open, caller, &child)?));
    }
    Ok(answer)
}

/// The account of the caller: the parent of all their sessions, where everything is counted per person.
fn account(caller: &Caller) -> SessionKey {
    SessionKey::account(caller.unique_name())
}

/// Sessions of different callers cannot collide, whatever their ids, and none can imitate an account, which would
/// have no parent.
fn session(caller: &Caller, agent: &str, id: String) -> Result<SessionKey, CallError> {
    let key = SessionKey { agent: agent.to_owned(), id: format!("{}/{id}", caller.unique_name()) };
    if key.is_account() {
        return Err(CallError::NotYours { what: "agent", named: key.agent });
    }
    Ok(key)
}

/// Puts a session that has not begun below the account of the caller. Its first event fixes its parent.
fn begin(open: &Open, caller: &Caller, key: &SessionKey) -> Result<(), CallError> {
    if open.runtime.session(key)?.started.is_none() {
        open.runtime.delegate(&account(caller), key, Limit::default())?;
    }
    Ok(())
}

/// The agents on the way to a session, main agent first; empty for a session without delegation.
fn chain(open: &Open, caller: &Caller, key: &SessionKey) -> Result<Vec<String>, CallError> {
    let known = || open.chains.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(chain) = known().get(key) {
        return Ok(chain.clone());
    }
    let own = format!("{}/", caller.unique_name());
    let short = |key: &SessionKey| key.id.strip_prefix(&own).unwrap_or(&key.id).to_owned();
    let mut chain = vec![short(key)];
    let state = open.runtime.session(key)?;
    let (mut begun, mut above) = (state.started.is_some(), state.parent);
    while let Some(key) = above.filter(|key| !key.is_account()) {
        if chain.len() >= MOST_HOPS {
            break;
        }
        chain.push(short(&key));
        let state = open.runtime.session(&key)?;
        begun &= state.started.is_some();
        above = state.parent;
    }
    chain.reverse();
    let chain = if chain.len() > 1 { chain } else { Vec::new() };
    if begun {
        let mut known = known();
        if known.len() >= MOST_CHAINS {
            known.clear();
        }
        known.insert(key.clone(), chain.clone());
    }
    Ok(chain)
}

/// The action of the caller: who it is for comes from the token, how it came about from what was delegated.
pub(crate) fn action(open: &Open, caller: &Caller, form: ActionForm) -> Result<Action, CallError> {
    let not_yours = |what, named: &str| Err(CallError::NotYours { what, named: named.to_owned() });
    if let Some(named) = form.tenant.as_ref().filter(|named| **named != caller.tenant) {
        return not_yours("tenant", named);
    }
    if let Some(named) = form.user.as_ref().filter(|named| Some(named.as_str()) != caller.person()) {
        return not_yours("user", named);
    }
    let told = form.chain.clone();
    let mut action = form.into_action(&open.runtime.project().root);
    action.actor.chain = Vec::new();
    action.session = Some(match action.session.take() {
        Some(key) => session(caller, &key.agent, key.id)?,
        None => account(caller),
    });
    if let Some(key) = action.session.as_ref().filter(|key| !key.is_account()) {
        action.actor.chain = chain(open, caller, key)?;
        if action.actor.chain.is_empty() {
            action.parent_session = Some(account(caller));
        }
    }
    if !told.is_empty() && told != action.actor.chain {
        return not_yours("chain", &told.join(" → "));
    }
    action.tier = Some(tier(caller.kind, !action.actor.chain.is_empty(), action.tier));
    action.actor.tenant = Some(caller.tenant.clone());
    action.actor.user = caller.person().map(str::to_owned);
    if caller.kind == Kind::Person {
        action.actor.email = caller.email.clone();
        action.actor.role = caller.role.clone();
        action.actor.scopes = Some(caller.scopes.clone());
        action.actor.groups = caller.groups.clone();
    }
    if action.tool_use_id.is_none() {
        action.tool_use_id = Some(random::hex(16)?);
    }
    Ok(action)
}

/// The tier of an action: what the caller states, but never above what is known. `Tier` is ordered from the most to the
/// least trusted.
fn tier(kind: Kind, delegated: bool, said: Option<Tier>) -> Tier {
    let (highest, known) = match (kind, delegated) {
        (Kind::Person, false) => (Tier::Interactive, Tier::Interactive),
        (Kind::Person, true) => (Tier::Subagent, Tier::Subagent),
        // A program is never interactive.
        (Kind::Machine | Kind::Service | Kind::Operator, _) => (Tier::Background, Tier::Api),
    };
    said.filter(|said| *said >= highest).unwrap_or(known)
}

/// The current time.
#[must_use]
pub fn now() -> Timestamp {
    use lictor_core::Clock as _;
    lictor_engine::SystemClock.now()
}
