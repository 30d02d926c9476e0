//! From a stopped decision to the smallest exception that lets exactly this action pass.
//!
//! Every candidate is tried: the policy is loaded with the changed file in place and judges the recorded action with its
//! recorded facts. What governs the agent is never excepted.

mod edit;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use lictor_config::{Origin, Source};
use lictor_core::facts::Command;
use lictor_core::{ActionKind, Clock, Facts, Timestamp};
use lictor_engine::guards::Pattern;
use lictor_engine::past::Decided;

use crate::error::Error;
use crate::policy_files::{self, Snapshot};
use crate::project::Project;
use crate::runtime::Runtime;

pub use edit::without;

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

/// What is added where.
struct Candidate {
    section: &'static str,
    key: &'static str,
    entries: Vec<String>,
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
    let sources = policy_files::sources(project)?;
    if passes(project, sources.clone(), decided)? {
        return Err(AllowError::AllowedAlready);
    }
    for candidate in candidates(decided) {
        for origin in [Origin::Repository, Origin::User] {
            let Some(exception) = with(project, &sources, origin, &candidate, &edit::note(decided.id)) else {
                continue;
            };
            // A file that the policy refuses is no way.
            if passes(project, exception.sources.clone(), decided).unwrap_or(false) {
                return Ok(exception);
            }
        }
    }
    Err(AllowError::NoWay { rule: decided.rules.first().cloned().unwrap_or_default() })
}

/// Excepts commands in the person's own policy; with `dry` it only says whether that could be done.
///
/// # Errors
/// When a policy file cannot be read or written.
pub(crate) fn add_for_user(project: &Project, entries: &[String], dry: bool) -> Result<bool, Error> {
    let sources = policy_files::sources(project)?;
    let candidate = Candidate { section: "bash_safety", key: "allow", entries: entries.to_vec() };
    let Some(exception) = with(project, &sources, Origin::User, &candidate, "lictor import") else {
        return Ok(false);
    };
    if !dry {
        exception.write()?;
    }
    Ok(true)
}

impl Exception {
    /// Puts the file in place, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self) -> Result<(), Error> {
        let file = &self.file;
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory).map_err(Error::file("cannot make", directory))?;
        }
        let beside = file.with_extension("yaml.new");
        let written = fs::write(&beside, &self.after).and_then(|()| fs::rename(&beside, file));
        written.map_err(Error::file("cannot write", file))
    }
}

/// Whether a policy lets the recorded action pass, in a session of its own.
fn passes(project: &Project, sources: Vec<Source>, decided: &Decided) -> Result<bool, Error> {
    let current = Arc::new(Snapshot::from_sources(sources, &project.root)?);
    let facts: Facts = decided.facts.clone();
    let runtime = Runtime::replaying(project, current, Then(decided.at), move || Some(facts.clone()))?;
    Ok(runtime.engine().evaluate(&decided.action).decision.allows())
}

/// What might be excepted, the smallest first.
fn candidates(decided: &Decided) -> Vec<Candidate> {
    let mut all = Vec::new();
    let commands: Vec<String> =
        decided.facts.commands().filter_map(whole).map(|text| Pattern::literal(&text)).collect();
    if decided.action.kind == ActionKind::Bash {
        let allow = |entries| Candidate { section: "bash_safety", key: "allow", entries };
        all.extend(commands.iter().map(|command| allow(vec![command.clone()])));
        if commands.len() > 1 {
            all.push(allow(commands.clone()));
        }
        // What is piped or redirected is no command's own: only the whole line stands for it.
        let line = decided.action.text("command").unwrap_or_default().trim();
        if !line.is_empty() && !line.contains('\n') {
            all.push(allow(vec![Pattern::literal(line)]));
        }
    }
    if matches!(decided.action.kind, ActionKind::Tool | ActionKind::Other(_))
        && !decided.action.tool.is_empty()
    {
        let entries = vec![decided.action.tool.clone()];
        all.push(Candidate { section: "known_tools", key: "known", entries });
    }
    let hosts: Vec<String> = decided.facts.hosts().filter_map(|reach| reach.host.clone()).collect();
    if !hosts.is_empty() {
        all.push(Candidate { section: "network", key: "allow", entries: hosts });
    }
    all
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
    let after = edit::with(&before, candidate.section, candidate.key, &candidate.entries, note)?;
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
