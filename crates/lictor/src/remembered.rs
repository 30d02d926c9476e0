//! Tools without a description that a person approved: remembered in the person's own policy file, by name and by
//! the definition of the tool's server in the agent's settings.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lictor_agents::Agent;
use lictor_agents::install::Where;
use lictor_agents::install::servers::ServerSettings;
use lictor_config::Origin;
use lictor_core::approval::{Approval, ApprovalState, Point};
use lictor_core::facts::Effect;
use lictor_core::{Action, Digest, Facts, Timestamp, canonical};
use lictor_engine::Approvals;
use lictor_engine::log::kind;
use lictor_store::{Query, Record, Store, StoreExt as _};
use serde::Serialize;
use serde_json::Value;

use crate::allow::{self, AllowError, Asked, Exception};
use crate::error::Error;
use crate::files;
use crate::policy_files::{self, Snapshot};
use crate::project::Project;
use crate::runtime::Runtime;

/// Longer files are not agents' settings.
const SETTINGS: u64 = 16 * 1024 * 1024;
/// How long a held call may take to use its approval. It polls far more often.
const USING: Duration = Duration::from_secs(5);
/// How often it is looked whether it has.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// How many recent uses of approvals are searched.
const NEWEST: usize = 50;

/// A remembered tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remembered {
    /// Its full name.
    pub tool: String,
    /// The digest of its server's configuration at the time of the approval.
    pub server: Option<Digest>,
    /// The file that remembers it.
    pub file: PathBuf,
    /// Whether the server still has this configuration; if not, the tool asks again.
    pub current: bool,
}

/// Adds the server's definition to the facts of a tool without a description.
pub(crate) fn identify(action: &Action, facts: &mut Facts, settings: impl Fn() -> Where) {
    for effect in &mut facts.effects {
        if let Effect::Tool { server: Some(server), described: None, definition, .. } = effect {
            let agent = action.actor.agent.parse::<Agent>().ok();
            *definition = reached(&settings(), agent, server);
        }
    }
}

/// How the server of the tool at hand is reached.
pub(crate) fn definition(facts: &Facts) -> Option<Digest> {
    facts.effects.iter().find_map(|effect| match effect {
        Effect::Tool { definition, .. } => *definition,
        _ => None,
    })
}

/// A digest of all definitions of a server in an agent's settings; in any agent's settings if the agent is
/// unknown. `None` if no readable settings name it.
fn reached(place: &Where, agent: Option<Agent>, server: &str) -> Option<Digest> {
    let meant = |settings: &ServerSettings| agent.is_none_or(|agent| settings.agent() == agent);
    let mut ways: Vec<Vec<u8>> = ServerSettings::all(place)
        .iter()
        .filter(|settings| meant(settings))
        .flat_map(|settings| named(settings, server))
        .map(|way| canonical::bytes(&way))
        .collect();
    ways.sort();
    ways.dedup();
    (!ways.is_empty()).then(|| Digest::of(&ways.join(&b'\n')))
}

fn named(settings: &ServerSettings, server: &str) -> Vec<Value> {
    let text = files::read(settings.path(), SETTINGS).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.and_then(|text| settings.definitions(&text, server).ok()).unwrap_or_default()
}

/// Whether all points of a question concern an unknown tool.
#[must_use]
pub fn is_about_unknown_tool(question: &Approval) -> bool {
    let about = |point: &Point| point.guard.ends_with("known_tools") && point.rule.is_none();
    !question.asked.is_empty() && question.asked.iter().all(about)
}

/// Whether both questions concern the same tool of the same server definition.
#[must_use]
pub fn is_same_tool(one: &Approval, other: &Approval) -> bool {
    let tool = |question: &Approval| {
        let shown = question.shown.as_deref().filter(|_| is_about_unknown_tool(question))?;
        Some((shown.action.tool.clone(), definition(&shown.facts)))
    };
    tool(one).is_some_and(|tool_of_one| tool(other) == Some(tool_of_one))
}

/// The exception that remembers the tool of a question, and nothing wider.
///
/// # Errors
/// When none lets the action pass, or a policy file cannot be read.
pub fn propose(project: &Project, question: &Approval) -> Result<Exception, AllowError> {
    let rule = question.asked.first().map(|point| point.guard.clone()).unwrap_or_default();
    let Some(shown) = question.shown.as_deref().filter(|_| is_about_unknown_tool(question)) else {
        let way = "only a tool that nobody described can be remembered".to_owned();
        return Err(AllowError::NoWay { rule, way });
    };
    let asked = Asked::new(project, &shown.action, shown.facts.clone(), question.requested_at, rule);
    allow::propose_tool(project, &asked, &format!("lictor approve {}", question.short()))
}

/// Remembers the tool of an approved question, records that, and refreshes the session to the changed policy.
///
/// # Errors
/// As [`propose`], when the approval is not complete yet, and when a file or the record cannot be written.
pub fn remember(
    project: &Project,
    question: &Approval,
    by: &str,
    at: Timestamp,
) -> Result<Exception, AllowError> {
    let store = project.store()?;
    let found = Approvals::new(Arc::clone(&store)).find(&question.id).map_err(Error::from)?;
    if !matches!(found.state, ApprovalState::Granted(_)) {
        return Err(AllowError::NotGranted(question.short().to_owned()));
    }
    let exception = propose(project, question)?;
    until_used(project, &*store, question, at)?;
    exception.write()?;
    let session = question.request.session.as_ref();
    exception.record(&*store, session, &question.id.as_str().into(), by, at)?;
    if let Some(session) = session {
        Runtime::of_project(project.clone())?.engine().refresh(session).map_err(Error::from)?;
    }
    Ok(exception)
}

/// Lets a held call use its approval first: it was asked under the policy that is about to change.
fn until_used(project: &Project, store: &dyn Store, question: &Approval, at: Timestamp) -> Result<(), Error> {
    let held_ms = i64::try_from(Snapshot::read(project)?.policy.approval_wait()).unwrap_or(i64::MAX);
    let used = Query::all().kind(kind::GRANT_USED).newest_first().limit(NEWEST);
    let is_use = |record: &Record| record.at >= question.requested_at && record.body.contains(&question.id);
    let until = Instant::now() + USING;
    while at.0.saturating_sub(question.requested_at.0) < held_ms && Instant::now() < until {
        if store.view(|view| view.records(&used))?.iter().any(is_use) {
            break;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    Ok(())
}

/// Every remembered tool, in the order of the files.
///
/// # Errors
/// When a policy file cannot be read.
pub fn remembered(project: &Project) -> Result<Vec<Remembered>, Error> {
    let place = project.agent_settings();
    let policy = Snapshot::read(project)?.policy;
    let current = |tool: &str, server: Option<Digest>| {
        let name = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map(|(name, _)| name);
        let Some(name) = name else { return true };
        let by_agent = Agent::ALL.into_iter().filter_map(|agent| reached(&place, Some(agent), name));
        let mut ways = by_agent.peekable();
        match server {
            None => ways.peek().is_none(),
            Some(server) => ways.any(|way| way == server),
        }
    };
    let told = policy.remembered_tools().map(|(file, one)| Remembered {
        tool: one.tool.clone(),
        server: one.server,
        file: PathBuf::from(file),
        current: current(&one.tool, one.server),
    });
    Ok(told.collect())
}

/// Removes a tool from the person's own policy file; `None` when it is not there.
///
/// # Errors
/// When the file cannot be read or written, or its syntax is not supported.
pub fn forget(project: &Project, tool: &str) -> Result<Option<PathBuf>, Error> {
    let file = project.dirs().user_policy.clone();
    let sources = policy_files::sources(project)?;
    let Some(source) = sources.into_iter().find(|source| source.origin == Origin::User) else {
        return Ok(None);
    };
    if !remembers(&file, &source.bytes, tool) {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&source.bytes);
    let entry = format!("- {}", allow::of_tool(tool));
    let after = allow::without_lines(&text, |line| line.trim_start().starts_with(&entry))
        .filter(|after| !remembers(&file, after.as_bytes(), tool));
    let Some(after) = after else {
        let why = "it is written in a way that is not understood; take the tool out of `known_tools.remembered` by hand";
        return Err(Error::file("cannot edit", &file)(io::Error::other(why)));
    };
    allow::replace(&file, &after)?;
    Ok(Some(file))
}

/// Whether a policy file remembers a tool.
fn remembers(file: &Path, bytes: &[u8], tool: &str) -> bool {
    let value = lictor_config::read_plain(&file.display().to_string(), bytes).unwrap_or(Value::Null);
    let listed = value.pointer("/known_tools/remembered").and_then(Value::as_array);
    listed
        .is_some_and(|listed| listed.iter().any(|one| one.get("tool").and_then(Value::as_str) == Some(tool)))
}

#[cfg(test)]
mod tests;
