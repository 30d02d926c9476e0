//! From a stopped decision to the smallest exception that lets exactly this action pass.
//!
//! Every candidate is tried: the policy is loaded with the changed file in place and judges the recorded action with its
//! recorded facts. What governs the agent is never excepted.

mod edit;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lictor_config::{Origin, Source};
use lictor_core::facts::Command;
use lictor_core::{Action, ActionKind, Clock, Digest, Facts, SessionKey, Timestamp};
use lictor_engine::guards::{Pattern, RememberedTool};
use lictor_engine::past::Decided;
use lictor_store::{Draft, Durability, Store, StoreExt as _};
use serde_json::{Value, json};

use crate::error::Error;
use crate::policy_files::{self, Snapshot};
use crate::project::Project;
use crate::remembered;
use crate::runtime::Runtime;

pub use edit::without;
pub(crate) use edit::{of_tool, without_lines};

/// An exception as it would be written.
#[derive(Debug, Clone)]
pub struct Exception {
    /// Whose file it belongs into.
    pub origin: Origin,
    /// The file.
    pub file: PathBuf,
    /// What it says now; empty when it is not there.
    pub before: String,
    /// What it would say.
    pub after: String,
    /// The entries, as they stand in the file.
    pub entries: Vec<String>,
    /// All policy files with the exception in place.
    pub sources: Vec<Source>,
}

/// Why no exception can be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllowError {
    /// It was not stopped.
    #[error("decision {0} was not stopped; there is nothing to allow")]
    NotStopped(u64),
    /// What governs the agent stays out of its reach.
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
    #[error("no exception lifts `{rule}`; change the rule itself in the policy, or let a person do this")]
    NoWay {
        /// The rule that decides.
        rule: String,
    },
    /// A yes that does not count yet.
    #[error("question {0} waits for the yes of more people; the tool can be remembered once it has them")]
    NotGranted(String),
    /// The policy cannot be read.
    #[error(transparent)]
    Policy(#[from] Error),
}

/// Time stands still at the moment of the decision.
struct Then(Timestamp);

impl Clock for Then {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// What was stopped, with its facts as an exception would see them.
pub(crate) struct Asked<'a> {
    pub(crate) action: &'a Action,
    facts: Facts,
    at: Timestamp,
    rule: String,
}

impl<'a> Asked<'a> {
    fn of(project: &Project, decided: &'a Decided) -> Self {
        let rule = decided.rules.first().cloned().unwrap_or_default();
        Self::new(project, &decided.action, decided.facts.clone(), decided.at, rule)
    }

    pub(crate) fn new(
        project: &Project,
        action: &'a Action,
        mut facts: Facts,
        at: Timestamp,
        rule: String,
    ) -> Self {
        // A record of an older program does not say how the server was reached.
        remembered::identify(action, &mut facts, project.agent_settings_when_asked());
        Self { action, facts, at, rule }
    }
}

/// What is added where.
struct Candidate {
    section: &'static str,
    key: &'static str,
    entries: Vec<String>,
    /// The entries as YAML.
    items: Vec<String>,
}

impl Candidate {
    fn texts(section: &'static str, key: &'static str, entries: Vec<String>) -> Self {
        let items = entries.iter().map(|entry| edit::quoted(entry)).collect();
        Self { section, key, entries, items }
    }

    /// A tool that nobody described, as it is reached now.
    fn remembered(tool: &str, server: Option<Digest>) -> Self {
        let server = server.map(|digest| format!(", server: '{digest}'")).unwrap_or_default();
        let items = vec![format!("{}{server}}}", of_tool(tool))];
        Self { section: "known_tools", key: "remembered", entries: vec![tool.to_owned()], items }
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
    if passes(project, sources.clone(), &asked)? {
        return Err(AllowError::AllowedAlready);
    }
    first_way(project, &sources, &asked, candidates(&asked), &edit::note(decided.id))
}

/// The exception for a tool that nobody described, and nothing wider.
///
/// # Errors
/// As [`propose`].
pub(crate) fn propose_tool(
    project: &Project,
    asked: &Asked<'_>,
    note: &str,
) -> Result<Exception, AllowError> {
    first_way(project, &policy_files::sources(project)?, asked, tool(asked).into_iter().collect(), note)
}

fn first_way(
    project: &Project,
    sources: &[Source],
    asked: &Asked<'_>,
    candidates: Vec<Candidate>,
    note: &str,
) -> Result<Exception, AllowError> {
    for candidate in candidates {
        for origin in [Origin::Repository, Origin::User] {
            let Some(exception) = with(project, sources, origin, &candidate, note) else {
                continue;
            };
            // A file that the policy refuses is no way.
            if passes(project, exception.sources.clone(), asked).unwrap_or(false) {
                return Ok(exception);
            }
        }
    }
    Err(AllowError::NoWay { rule: asked.rule.clone() })
}

/// Excepts commands in the person's own policy; with `dry` it only says whether that could be done.
///
/// # Errors
/// When a policy file cannot be read or written.
pub(crate) fn add_for_user(project: &Project, entries: &[String], dry: bool) -> Result<bool, Error> {
    import(project, &Candidate::texts("bash_safety", "allow", entries.to_vec()), dry)
}

/// Remembers a tool in the person's own policy; with `dry` it only says whether that could be done.
///
/// # Errors
/// When a policy file cannot be read or written.
pub(crate) fn remember_for_user(project: &Project, tool: &RememberedTool, dry: bool) -> Result<bool, Error> {
    import(project, &Candidate::remembered(&tool.tool, tool.server), dry)
}

fn import(project: &Project, candidate: &Candidate, dry: bool) -> Result<bool, Error> {
    let sources = policy_files::sources(project)?;
    let Some(exception) = with(project, &sources, Origin::User, candidate, "lictor import") else {
        return Ok(false);
    };
    if !dry {
        exception.write()?;
    }
    Ok(true)
}

impl Exception {
    /// Puts the file in place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self) -> Result<(), Error> {
        replace(&self.file, &self.after)
    }

    /// Puts it on record, with the decision or the question that it answers.
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
        let body = json!({"id": answered, "file": self.file, "entries": self.entries, "by": by});
        let draft = Draft {
            at,
            session: session.cloned(),
            kind: "exception.added".to_owned(),
            body: body.to_string(),
        };
        store.update(Durability::Power, |tx| tx.append(draft.clone()))?;
        Ok(())
    }
}

/// Puts a policy file in place, whole or not at all: one that is half written would stop everything.
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

/// Whether a policy lets the action pass, in a session of its own.
fn passes(project: &Project, sources: Vec<Source>, asked: &Asked<'_>) -> Result<bool, Error> {
    let current = Arc::new(Snapshot::from_sources(sources, &project.root)?);
    let facts = asked.facts.clone();
    let runtime = Runtime::replaying(project, current, Then(asked.at), move || Some(facts.clone()))?;
    Ok(runtime.engine().evaluate(asked.action).decision.allows())
}

/// What might be excepted, the smallest first.
fn candidates(asked: &Asked<'_>) -> Vec<Candidate> {
    let mut all = Vec::new();
    let commands: Vec<String> =
        asked.facts.commands().filter_map(whole).map(|text| Pattern::literal(&text)).collect();
    if asked.action.kind == ActionKind::Bash {
        let allow = |entries| Candidate::texts("bash_safety", "allow", entries);
        all.extend(commands.iter().map(|command| allow(vec![command.clone()])));
        if commands.len() > 1 {
            all.push(allow(commands.clone()));
        }
        // What is piped or redirected is no command's own: only the whole line stands for it.
        let line = asked.action.text("command").unwrap_or_default().trim();
        if !line.is_empty() && !line.contains('\n') {
            all.push(allow(vec![Pattern::literal(line)]));
        }
    }
    if let Some(remembered) = tool(asked) {
        all.push(remembered);
        all.push(Candidate::texts("known_tools", "known", vec![asked.action.tool.clone()]));
    }
    let hosts: Vec<String> = asked.facts.hosts().filter_map(|reach| reach.host.clone()).collect();
    if !hosts.is_empty() {
        all.push(Candidate::texts("network", "allow", hosts));
    }
    all
}

/// The tool as a person's yes is remembered for it.
fn tool(asked: &Asked<'_>) -> Option<Candidate> {
    let named = matches!(asked.action.kind, ActionKind::Tool | ActionKind::Other(_));
    let tool = asked.action.tool.as_str();
    (named && !tool.is_empty()).then(|| Candidate::remembered(tool, remembered::definition(&asked.facts)))
}

/// A command of which every word is known, as exceptions are compared with it.
fn whole(command: &Command) -> Option<String> {
    let args: Option<Vec<&str>> = command.args.iter().map(Option::as_deref).collect();
    Some(std::iter::once(command.program.as_str()).chain(args?).collect::<Vec<_>>().join(" "))
}

fn with(
    project: &Project,
    sources: &[Source],
    origin: Origin,
    candidate: &Candidate,
    note: &str,
) -> Option<Exception> {
    let file = match origin {
        Origin::Repository => project.policy_file(),
        _ => project.dirs().user_policy.clone(),
    };
    let known = sources.iter().position(|source| source.origin == origin);
    // The repository's file is not made for an exception: nothing of its own could be lifted.
    if known.is_none() && origin == Origin::Repository {
        return None;
    }
    let mut sources = sources.to_vec();
    let before = match known.and_then(|index| sources.get(index)) {
        Some(source) => String::from_utf8(source.bytes.clone()).ok()?,
        None => String::new(),
    };
    let after = edit::with(&before, candidate.section, candidate.key, &candidate.items, note)?;
    let changed = Source { origin, path: file.display().to_string(), bytes: after.clone().into_bytes() };
    match known.and_then(|index| sources.get_mut(index)) {
        Some(source) => source.bytes = changed.bytes,
        None => {
            let place = sources.iter().position(|source| source.origin > origin).unwrap_or(sources.len());
            sources.insert(place, changed);
        }
    }
    Some(Exception { origin, file, before, after, entries: candidate.entries.clone(), sources })
}

#[cfg(test)]
mod tests;
