//! The background sync for a team's hooks: fetches the policy, and sends new records.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use lictor::team::{self, Bundle};
use lictor::{Options, Project, companion};
use lictor_store::{Query, StoreExt as _, View as _, WithArchives};
use serde_json::{Value, json};

use crate::tenants::now;

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// Records in one request.
const BATCH: usize = 1_000;

/// Fetches the policy of the server that the project's files name and, unless disabled, sends the project's
/// records that the server does not have yet. Returns what was done.
///
/// # Errors
/// When no server is named, or it cannot be reached.
pub fn run(cwd: &Path, fetch_only: bool) -> Result<String> {
    let project = Project::around(cwd, &Options::from_process());
    let Some(server) = team::server(&project)? else {
        bail!(
            "no file of yours names a server; say `server: {{url: …}}` in `{}`",
            project.dirs().user_policy.display()
        );
    };
    let caller = Caller {
        url: server.url.trim_end_matches('/').to_owned(),
        token: team::token(&project, &server)?,
        agent: ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .timeout_connect(Some(Duration::from_secs(2)))
            .http_status_as_error(false)
            .build()
            .into(),
    };
    let fetched = caller.call("/v1/bundle", None)?;
    let bundle = Bundle { url: server.url.clone(), fetched: now(), ..read(fetched)? };
    bundle.keep(&project)?;
    let said = format!("policy {} of {}", bundle.version, bundle.tenant);
    if fetch_only || !project.has_store() {
        return Ok(said);
    }
    let sent = ship(&project, &caller)?;
    Ok(format!("{said}; {sent} records sent"))
}

/// The server's response. Its origin and time are set by this machine.
fn read(mut fetched: Value) -> Result<Bundle> {
    if let Some(fields) = fetched.as_object_mut() {
        fields.insert("url".to_owned(), json!(""));
        fields.insert("fetched".to_owned(), json!(now()));
    }
    serde_json::from_value(fetched).context("the server's answer cannot be read")
}

struct Caller {
    url: String,
    token: String,
    agent: ureq::Agent,
}

impl Caller {
    fn call(&self, path: &str, body: Option<&Value>) -> Result<Value> {
        let address = format!("{}{path}", self.url);
        let token = format!("Bearer {}", self.token);
        let sent = match body {
            None => self.agent.get(&address).header("authorization", &token).call(),
            Some(body) => self.agent.post(&address).header("authorization", &token).send_json(body),
        };
        let mut response = sent.with_context(|| format!("`{}` cannot be reached", self.url))?;
        let status = response.status();
        let value: Value = response.body_mut().read_json().unwrap_or_default();
        if !status.is_success() {
            let detail = value.get("detail").and_then(Value::as_str).unwrap_or("no reason given");
            bail!("`{}` answered {status}: {detail}", self.url);
        }
        Ok(value)
    }
}

/// Sends what follows the newest record that the server has. One process at a time: another would send the same.
fn ship(project: &Project, caller: &Caller) -> Result<u64> {
    let directory = Bundle::directory(project);
    let lock = fs::OpenOptions::new().create(true).append(true).open(directory.join("sync.lock"))?;
    lock.lock()?;
    let state = project.state_dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let machine = format!("{}-{state}", companion::machine(&project.dirs().state)?);
    let address = format!("/v1/machines/{machine}/records");
    let store = project.existing_store()?;
    let archives = project.archives();
    let mut sent = 0;
    let mut after = head(&caller.call(&address, Some(&json!({"records": []})))?)?;
    loop {
        let query = Query::all().after(after).limit(BATCH);
        let page = store.view(|view| WithArchives::new(view, &archives)?.records(&query))?;
        if page.is_empty() {
            return Ok(sent);
        }
        after = head(&caller.call(&address, Some(&json!({"records": page})))?)?;
        sent += page.len() as u64;
    }
}

fn head(answer: &Value) -> Result<u64> {
    answer.pointer("/head/seq").and_then(Value::as_u64).context("the server does not say what it has")
}
