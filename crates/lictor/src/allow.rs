//! Finds the smallest exception that lets exactly one stopped action pass.
//!
//! Every candidate is tried: the policy is loaded with the changed file in place and judges the recorded action
//! with its recorded facts. If several rules stop an action, each gets its own change, in the file that can lift
//! it. Governing files are never excepted.

mod candidates;
mod edit;
mod ways;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lictor_config::{Origin, Source};
use lictor_core::{Action, Clock, Decision, Digest, Facts, SessionKey, Timestamp, Value as Weight};
use lictor_engine::guards::RememberedTool;
use lictor_engine::past::Decided;
use lictor_store::{Draft, Durability, Keys, MemoryStore, Query, Space, Store, StoreExt as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Error;
use crate::policy_files::{self, Snapshot};
use crate::project::Project;
use crate::remembered;
use crate::runtime::Runtime;

use candidates::{Candidate, candidates, tool};
pub(crate) use edit::{of_tool, without_lines};

/// The kind of the record that an exception leaves.
pub const ADDED: &str = "exception.added";
/// So many changes make an exception at most.
const MAX_CHANGES: usize = 6;

/// An exception as it would be written.
#[derive(Debug, Clone)]
pub struct Exception {
    /// The changes, file by file.
    pub changes: Vec<Change>,
    /// All policy files with the exception in place.
    pub sources: Vec<Source>,
}

/// The change of an exception in one file.
#[derive(Debug, Clone)]
pub struct Change {
    /// The origin of the file.
    pub origin: Origin,
    /// The file.
    pub file: PathBuf,
    /// Its current text; `None` when it does not exist.
    pub before: Option<String>,
    /// Its new text.
    pub after: String,
    /// The exceptions, as written in the file.
    pub entries: Vec<String>,
    /// What else the change allows, in words: a removed entry covered more than the stopped action.
    pub wider: Vec<String>,
}

/// A file before an exception, as recorded.
#[derive(Serialize, Deserialize)]
struct Written {
    file: PathBuf,
    before: Option<String>,
    after: Digest,
}

/// A reason why an action is stopped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stop {
    pub(crate) guard: String,
    pub(crate) rule: Option<String>,
    pub(crate) reason: String,
    /// Whether it asks; otherwise it blocks.
    pub(crate) asks: bool,
}

/// Why no exception can be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllowError {
    /// It was not stopped.
    #[error("decision {0} was not stopped; there is nothing to allow")]
    NotStopped(u64),
    /// Governing files stay out of the agent's reach.
    #[error(
        "decision {0} protects what governs the agent; no exception lifts that. A person can do it themselves"
    )]
    SelfProtection(u64),
    /// The policy has changed since.
    #[error(
        "the current policy lets this pass already; `lictor session refresh` puts it in force in running sessions"
    )]
    AllowedAlready,
    /// Nothing that can be written lifts it.
    #[error("no exception lifts `{rule}`; {way}")]
    NoWay {
        /// The rule that decides.
        rule: String,
        /// What a person can do instead.
        way: String,
    },
    /// A yes that does not count yet.
    #[error("question {0} waits for the yes of more people; the tool can be remembered once it has them")]
    NotGranted(String),
    /// The policy cannot be read.
    #[error(transparent)]
    Policy(#[from] Error),
}

/// A clock that is fixed at the time of the decision.
struct Then(Timestamp);

impl Clock for Then {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// The stopped action, with its facts as an exception would see them.
pub(crate) struct Asked<'a> {
    pub(crate) action: &'a Action,
    facts: Facts,
    at: Timestamp,
    rule: String,
}

impl<'a> Asked<'a> {
    fn of(project: &Project, decided: &'a Decided) -> Self {
        let rule = decided.rules.first().cloned().unwrap_or_default();
        Self::new(project, &decided.action, decided.facts(), decided.at, rule)
    }

    pub(crate) fn new(
        project: &Project,
        action: &'a Action,
        mut facts: Facts,
        at: Timestamp,
        rule: String,
    ) -> Self {
        // A record of an older version does not contain the server's definition.
        remembered::identify(action, &mut facts, project.agent_settings_when_asked());
        Self { action, facts, at, rule }
    }
}

/// The smallest exception that lets the action of a decision pass: in the repository's file where that can lift it, else in
/// the user's own.
///
/// # Errors
/// When there is none, or a policy file cannot be read.
pub fn propose(project: &Project, decided: &Decided) -> Result<Exception, AllowError> {
    if decided.decision.allows() {
        return Err(AllowError::NotStopped(decided.id));
    }
    if decided.rules.iter().any(|rule| rule.starts_with("self.")) {
        return Err(AllowError::SelfProtection(decided.id));
    }
    let asked = Asked::of(project, decided);
    let sources = policy_files::sources(project)?;
    let stops = stops(project, sources.clone(), &asked)?;
    if stops.is_empty() {
        // A new session has not used up any limit.
        let counted = stops_in_session(project, sources.clone(), &asked, decided)?;
        if counted.is_empty() {
            return Err(AllowError::AllowedAlready);
        }
        return Err(ways::no_way(&sources, &asked.rule, &counted));
    }
    if stops.iter().any(|stop| stop.rule.as_deref().is_some_and(|rule| rule.starts_with("self."))) {
        return Err(AllowError::SelfProtection(decided.id));
    }
    changes_for(project, sources, &asked, stops, &edit::note(decided.id))
}

/// The exception for a tool without a description, and nothing wider.
///
/// # Errors
/// As [`propose`].
pub(crate) fn propose_tool(
    project: &Project,
    asked: &Asked<'_>,
    note: &str,
) -> Result<Exception, AllowError> {
    let mut exception = Exception { changes: Vec::new(), sources: policy_files::sources(project)? };
    let candidate = tool(asked);
    let added = candidate.and_then(|candidate| exception.with(project, Origin::User, &candidate, note));
    match added {
        Some(added) if stops(project, added.sources.clone(), asked)?.is_empty() => Ok(added),
        // The repository's file has its own setting for tools without a description.
        Some(added) => {
            exception = added;
            let known = Candidate::known(asked);
            let both = exception.with(project, Origin::Repository, &known, note);
            let passes = |both: &Exception| {
                stops(project, both.sources.clone(), asked).is_ok_and(|stops| stops.is_empty())
            };
            both.filter(passes).ok_or_else(|| ways::no_way(&[], &asked.rule, &[]))
        }
        None => Err(ways::no_way(&[], &asked.rule, &[])),
    }
}

/// Adds changes until nothing stops the action: the smallest change that lifts everything, else one that lifts
/// something, and then the next.
fn changes_for(
    project: &Project,
    sources: Vec<Source>,
    asked: &Asked<'_>,
    mut stopped: Vec<Stop>,
    note: &str,
) -> Result<Exception, AllowError> {
    let mut exception = Exception { changes: Vec::new(), sources };
    for _ in 0..MAX_CHANGES {
        let before: BTreeSet<Stop> = stopped.iter().cloned().collect();
        let mut partly = None;
        for candidate in candidates(asked, &stopped) {
            for origin in [Origin::Repository, Origin::User] {
                let Some(tried) = exception.with(project, origin, &candidate, note) else { continue };
                // A change that makes the policy invalid is skipped.
                let Ok(left) = stops(project, tried.sources.clone(), asked) else { continue };
                if left.is_empty() {
                    return Ok(tried);
                }
                let fewer = left.len() < stopped.len() || left.iter().any(|stop| !before.contains(stop));
                let lifted = stopped.iter().any(|stop| !left.contains(stop));
                if partly.is_none() && lifted && fewer {
                    partly = Some((tried, left));
                }
            }
        }
        let Some((tried, left)) = partly else { break };
        (exception, stopped) = (tried, left);
    }
    let rule = stopped.first().and_then(|stop| stop.rule.clone()).unwrap_or_else(|| asked.rule.clone());
    Err(ways::no_way(&exception.sources, &rule, &stopped))
}

/// Excepts commands in the person's own policy; with `dry` it only returns whether that is possible.
///
/// # Errors
/// When a policy file cannot be read or written.
pub(crate) fn add_for_user(project: &Project, entries: &[String], dry: bool) -> Result<bool, Error> {
    import(project, &Candidate::texts("bash_safety", "allow", entries.to_vec()), dry)
}

/// Remembers a tool in the person's own policy; with `dry` it only returns whether that is possible.
///
/// # Errors
/// When a policy file cannot be read or written.
pub(crate) fn remember_for_user(project: &Project, tool: &RememberedTool, dry: bool) -> Result<bool, Error> {
    import(project, &Candidate::remembered(&tool.tool, tool.server), dry)
}

/// Lifts a rule for a `tool`, a `command` or a `file` in the person's own policy; with `dry` it only returns
/// whether that is possible.
///
/// # Errors
/// When a policy file cannot be read or written.
pub(crate) fn lift_for_user(
    project: &Project,
    rule: &str,
    what: &str,
    text: String,
    dry: bool,
) -> Result<bool, Error> {
    import(project, &Candidate::rule_for(rule, what, &[text]), dry)
}

fn import(project: &Project, candidate: &Candidate, dry: bool) -> Result<bool, Error> {
    let sources = policy_files::sources(project)?;
    let nothing = Exception { changes: Vec::new(), sources };
    let Some(exception) = nothing.with(project, Origin::User, candidate, "lictor import") else {
        return Ok(false);
    };
    if !dry {
        exception.write()?;
    }
    Ok(true)
}

impl Exception {
    /// Writes the files.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn write(&self) -> Result<(), Error> {
        self.changes.iter().try_for_each(|change| replace(&change.file, &change.after))
    }

    /// The first file that changes.
    #[must_use]
    pub fn file(&self) -> &Path {
        self.changes.first().map_or_else(|| Path::new(""), |change| &change.file)
    }

    /// All exceptions.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.changes.iter().flat_map(|change| change.entries.iter().map(String::as_str))
    }

    /// The same with one more change; `None` if the file's syntax is not supported.
    fn with(&self, project: &Project, origin: Origin, candidate: &Candidate, note: &str) -> Option<Self> {
        let file = match origin {
            Origin::Repository => project.policy_file(),
            _ => project.dirs().user_policy.clone(),
        };
        let known = self.sources.iter().position(|source| source.origin == origin);
        // The repository's file is not created for an exception: a missing file has no rules to lift.
        if known.is_none() && origin == Origin::Repository {
            return None;
        }
        let mut changed = self.clone();
        let before = match known.and_then(|index| changed.sources.get(index)) {
            Some(source) => Some(String::from_utf8(source.bytes.clone()).ok()?),
            None => None,
        };
        let after = candidate.applied(before.as_deref().unwrap_or_default(), origin, note)?;
        let source = Source { origin, path: file.display().to_string(), bytes: after.clone().into_bytes() };
        match known.and_then(|index| changed.sources.get_mut(index)) {
            Some(known) => known.bytes = source.bytes,
            None => {
                let place = changed.sources.iter().position(|source| source.origin > origin);
                changed.sources.insert(place.unwrap_or(changed.sources.len()), source);
            }
        }
        let (entries, wider) = (candidate.entries(origin), Vec::from_iter(candidate.wider()));
        match changed.changes.iter_mut().find(|change| change.origin == origin) {
            Some(change) => {
                change.after = after;
                change.entries.extend(entries);
                change.wider.extend(wider);
            }
            None => changed.changes.push(Change { origin, file, before, after, entries, wider }),
        }
        Some(changed)
    }

    /// Records it, with the decision or the question that it answers.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn record(
        &self,
        store: &dyn Store,
        session: Option<&SessionKey>,
        answered: &Value,
        by: &str,
        at: Timestamp,
    ) -> Result<(), Error> {
        let written: Vec<Written> = self.changes.iter().map(Change::written).collect();
        let entries: Vec<&str> = self.entries().collect();
        let body =
            json!({"id": answered, "file": self.file(), "entries": entries, "by": by, "files": written});
        let draft = Draft { at, session: session.cloned(), kind: ADDED.to_owned(), body: body.to_string() };
        store.update(Durability::Power, |tx| tx.append(draft.clone()))?;
        Ok(())
    }
}

/// Writes a policy file atomically: a partial file would block everything.
///
/// # Errors
/// When it cannot be written.
pub fn replace(file: &Path, text: &str) -> Result<(), Error> {
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory).map_err(Error::file("cannot make", directory))?;
    }
    let beside = file.with_extension("yaml.new");
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, file));
    written.map_err(Error::file("cannot write", file))
}

impl Change {
    fn written(&self) -> Written {
        let after = Digest::of(self.after.as_bytes());
        Written { file: self.file.clone(), before: self.before.clone(), after }
    }
}

/// Removes the exception for a decision from its files, and returns these files. A file without later changes is
/// restored byte for byte.
///
/// # Errors
/// When a file or the record cannot be read or written.
pub fn undo(project: &Project, store: Option<&dyn Store>, id: u64) -> Result<Vec<PathBuf>, Error> {
    let mut files = vec![project.policy_file(), project.dirs().user_policy.clone()];
    let mut undone = Vec::new();
    for written in store.map(|store| written(store, id)).transpose()?.unwrap_or_default() {
        let unchanged = fs::read(&written.file).is_ok_and(|bytes| Digest::of(&bytes) == written.after);
        if unchanged && files.contains(&written.file) {
            match written.before {
                Some(text) => replace(&written.file, &text)?,
                None => {
                    fs::remove_file(&written.file).map_err(Error::file("cannot remove", &written.file))?
                }
            }
            files.retain(|file| *file != written.file);
            undone.push(written.file);
        }
    }
    for file in files {
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::file("cannot read", &file)(error)),
        };
        if let Some(before) = edit::without(&text, id) {
            replace(&file, &before)?;
            undone.push(file);
        }
    }
    Ok(undone)
}

/// The decision of the newest exception that is still in a policy file.
///
/// # Errors
/// When the record cannot be read.
pub fn newest(project: &Project, store: &dyn Store) -> Result<Option<u64>, Error> {
    let records = store.view(|view| view.records(&Query::all().kind(ADDED).newest_first()))?;
    let bodies = records.iter().filter_map(|record| serde_json::from_str::<Value>(&record.body).ok());
    let files = [project.policy_file(), project.dirs().user_policy.clone()];
    let texts: Vec<String> = files.iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    let held = |id: &u64| texts.iter().any(|text| edit::without(text, *id).is_some());
    Ok(bodies.filter_map(|body| body.get("id").and_then(Value::as_u64)).find(held))
}

/// The files of the newest exception for a decision.
fn written(store: &dyn Store, id: u64) -> Result<Vec<Written>, Error> {
    let records = store.view(|view| view.records(&Query::all().kind(ADDED).newest_first()))?;
    let bodies = records.iter().filter_map(|record| serde_json::from_str::<Value>(&record.body).ok());
    let newest = bodies.into_iter().find(|body| body.get("id").and_then(Value::as_u64) == Some(id));
    let files = newest.and_then(|mut body| body.get_mut("files").map(Value::take));
    Ok(files.and_then(|files| serde_json::from_value(files).ok()).unwrap_or_default())
}

/// What stops the action under a policy, in a new session.
fn stops(project: &Project, sources: Vec<Source>, asked: &Asked<'_>) -> Result<Vec<Stop>, Error> {
    stops_over(project, sources, asked, asked.action, MemoryStore::new())
}

/// What stops the action under a policy, in its own session.
fn stops_in_session(
    project: &Project,
    sources: Vec<Source>,
    asked: &Asked<'_>,
    decided: &Decided,
) -> Result<Vec<Stop>, Error> {
    if decided.session.is_none() || !project.has_store() {
        return Ok(Vec::new());
    }
    let all = Keys::prefix(Vec::new()).limit(usize::MAX);
    let sessions = project.existing_store()?.view(|view| view.scan(Space::Session, &all))?;
    let store = MemoryStore::new();
    store.update(Durability::Process, |tx| {
        sessions.iter().try_for_each(|(key, value)| tx.put(Space::Session, key, value))
    })?;
    let action = Action { session: decided.session.clone(), ..asked.action.clone() };
    stops_over(project, sources, asked, &action, store)
}

fn stops_over(
    project: &Project,
    sources: Vec<Source>,
    asked: &Asked<'_>,
    action: &Action,
    store: MemoryStore,
) -> Result<Vec<Stop>, Error> {
    let current = Arc::new(Snapshot::from_sources(sources, &project.root)?);
    let facts = asked.facts.clone();
    let runtime =
        Runtime::replaying(project, Arc::new(store), current, Then(asked.at), move || Some(facts.clone()))?;
    let evaluation = runtime.engine().evaluate(action);
    if evaluation.decision.allows() {
        return Ok(Vec::new());
    }
    let given = evaluation.verdicts.iter();
    let mut stops: Vec<Stop> = given
        .filter(|given| given.counts() && given.verdict.value() >= Weight::Ask)
        .map(|given| Stop {
            guard: given.guard().to_owned(),
            rule: given.verdict.rule().map(str::to_owned),
            reason: given.verdict.reason().to_owned(),
            asks: given.verdict.value() == Weight::Ask,
        })
        .collect();
    if stops.is_empty() {
        let asks = evaluation.decision == Decision::Ask;
        stops.push(Stop { guard: "policies".to_owned(), rule: None, reason: String::new(), asks });
    }
    Ok(stops)
}

#[cfg(test)]
mod tests;
