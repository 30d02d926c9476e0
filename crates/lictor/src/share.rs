//! Exports a person's decisions for a project as a file that can be reviewed and shared: trusted programs,
//! waivers of findings, exceptions, remembered tools. It is signed by its author, and takes effect only where
//! another person imports it.

use std::collections::BTreeMap;
use std::path::Path;

use lictor_config::Origin;
use lictor_core::canonical;
use lictor_core::{Digest, Seal, Sign, Timestamp};
use lictor_engine::guards::RememberedTool;
use lictor_engine::is_signed;
use lictor_ledger::ledger::Verb;
use lictor_ledger::{Claim, Disposition, Evidence, Finding, Level, PlanHash};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::allow;
use crate::councils;
use crate::error::Error;
use crate::files;
use crate::policy_files::{self, Snapshot};
use crate::project::Project;
use crate::project_ledger::ProjectLedger;
use crate::remembered;
use crate::trust::Program;

/// The form of the file.
const VERSION: u32 = 1;
const ALREADY: &str = "it is there already";
const NOT_EDITABLE: &str = "your policy file is written in a way that cannot be added to";
/// The plan under which imported waivers are recorded.
const PLAN: &str = "shared";

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// The form of the file.
    pub version: u32,
    /// The author.
    pub by: String,
    /// The time.
    pub at: Timestamp,
    /// Programs of the repository's policy that may run.
    #[serde(default)]
    pub trust: Vec<SharedProgram>,
    /// Findings that do not count.
    #[serde(default)]
    pub waivers: Vec<SharedWaiver>,
    /// Commands that the person's own policy exempts (`bash_safety.allow`).
    #[serde(default)]
    pub exceptions: Vec<String>,
    /// Exceptions to rules for a tool, a command or a file of the project in the person's own policy
    /// (`exceptions`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<SharedRule>,
    /// Tools that the person approved (`known_tools.remembered`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<RememberedTool>,
    /// The signature under all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

/// An exception to a rule for a tool, a command or a file: exactly one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedRule {
    /// The rule's id.
    pub rule: String,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The exact command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The file, from the project's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl SharedRule {
    /// The tool, command or file.
    fn for_what(&self) -> &str {
        [&self.tool, &self.command, &self.file].into_iter().flatten().next().map_or("", String::as_str)
    }
}

/// A trusted program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedProgram {
    /// Its purpose.
    pub what: String,
    /// The command line.
    pub argv: Vec<String>,
    /// The project files that determine what it does, as declared in the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// The repository files that determine what it does, by content.
    #[serde(default)]
    pub files: BTreeMap<String, Digest>,
}

/// A waiver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedWaiver {
    /// The title.
    pub title: String,
    /// The level.
    pub level: Level,
    /// The reviewer.
    pub agent: String,
    /// The evidence.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// Why it does not count.
    pub ruling: SharedRuling,
    /// The person.
    pub by: String,
    /// Their reason.
    pub reason: String,
    /// Until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Why a finding does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedRuling {
    /// It was wrong.
    FalsePositive,
    /// It is correct, and a person accepts the risk.
    AcceptedRisk,
}

/// Why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// It is not YAML.
    #[error("`{file}` is not a file that `lictor export` wrote: {message}")]
    NotShared {
        /// The file.
        file: String,
        /// The message.
        message: String,
    },
    /// It has no valid signature, or was changed since.
    #[error("`{0}` was changed after it was signed, or nobody signed it; ask for a new export")]
    NotSigned(String),
    /// The project failed.
    #[error(transparent)]
    Project(#[from] Error),
}

/// The result for one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// A description in one line.
    pub what: String,
    /// Whether it counts here now, or would.
    pub taken: bool,
    /// The reason, if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Shared {
    /// All decisions of a person for this project, signed.
    ///
    /// # Errors
    /// When policy, store or files cannot be read.
    pub fn collect(project: &Project, by: &str, at: Timestamp, key: &dyn Sign) -> Result<Self, Error> {
        let mut shared = Self {
            version: VERSION,
            by: by.to_owned(),
            at,
            trust: trusted(project)?,
            waivers: waivers(project)?,
            exceptions: exceptions(project)?,
            rules: own_rules(project)?,
            tools: own_tools(project)?,
            seal: None,
        };
        shared.seal = Some(key.sign(&shared.message()));
        Ok(shared)
    }

    /// Reads a file and checks its signature.
    ///
    /// # Errors
    /// See [`ShareError`].
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self, ShareError> {
        let refused = |message: String| ShareError::NotShared { file: file.to_owned(), message };
        let value = lictor_config::read_plain(file, bytes).map_err(|problems| {
            refused(problems.first().map(|problem| problem.message.clone()).unwrap_or_default())
        })?;
        let shared: Self = serde_json::from_value(value).map_err(|error| refused(error.to_string()))?;
        if shared.version != VERSION {
            return Err(refused(format!("it has version {}, this program reads {VERSION}", shared.version)));
        }
        match &shared.seal {
            Some(seal) if is_signed(&shared.message(), seal) => Ok(shared),
            _ => Err(ShareError::NotSigned(file.to_owned())),
        }
    }

    /// The text of the file.
    ///
    /// # Errors
    /// Never for a value from [`Self::collect`].
    pub fn to_yaml(&self) -> Result<String, serde_json::Error> {
        let head = "# Written by `lictor export`, taken over by `lictor import`. Signed: a changed file is refused.\n";
        Ok(format!("{head}{}", lictor_config::write_plain(&serde_json::to_value(self)?)))
    }

    /// The signed bytes: everything but the signature, in canonical form.
    fn message(&self) -> Vec<u8> {
        let bare = Self { seal: None, ..self.clone() };
        let mut message = b"lictor share 1\n".to_vec();
        message.extend(canonical::bytes(&serde_json::to_value(bare).unwrap_or(Value::Null)));
        message
    }

    /// Imports what applies to this project; with `dry` it only reports what would change.
    ///
    /// # Errors
    /// When policy, store or files cannot be read or written.
    pub fn apply(&self, project: &Project, by: &str, at: Timestamp, dry: bool) -> Result<Vec<Taken>, Error> {
        let mut taken = Vec::new();
        let named = councils::programs(&Snapshot::read(project)?.policy)?;
        for program in &self.trust {
            taken.push(program.apply(project, &named, by, at, dry)?);
        }
        for waiver in &self.waivers {
            taken.push(waiver.apply(project, at, dry)?);
        }
        taken.extend(self.apply_exceptions(project, dry)?);
        taken.extend(self.apply_rules(project, dry)?);
        taken.extend(self.apply_tools(project, dry)?);
        Ok(taken)
    }

    fn apply_rules(&self, project: &Project, dry: bool) -> Result<Vec<Taken>, Error> {
        let known = own_rules(project)?;
        let mut rows = Vec::new();
        for lifted in &self.rules {
            let why = if known.contains(lifted) {
                Some(ALREADY.to_owned())
            } else if lift(project, lifted, dry)? {
                None
            } else {
                Some(NOT_EDITABLE.to_owned())
            };
            let what = format!("exception: {} for {}", lifted.rule, lifted.for_what());
            rows.push(Taken { what, taken: why.is_none(), why });
        }
        Ok(rows)
    }

    fn apply_tools(&self, project: &Project, dry: bool) -> Result<Vec<Taken>, Error> {
        let known = own_tools(project)?;
        let mut rows = Vec::new();
        for tool in &self.tools {
            let why = if known.contains(tool) {
                Some(ALREADY.to_owned())
            } else if allow::remember_for_user(project, tool, dry)? {
                None
            } else {
                Some(NOT_EDITABLE.to_owned())
            };
            rows.push(Taken { what: format!("tool: {}", tool.tool), taken: why.is_none(), why });
        }
        Ok(rows)
    }

    fn apply_exceptions(&self, project: &Project, dry: bool) -> Result<Vec<Taken>, Error> {
        let known = exceptions(project)?;
        let told = |entry: &String, taken, why| Taken { what: format!("exception: {entry}"), taken, why };
        let (old, new): (Vec<String>, Vec<String>) =
            self.exceptions.iter().cloned().partition(|entry| known.contains(entry));
        let mut rows: Vec<Taken> =
            old.iter().map(|entry| told(entry, false, Some(ALREADY.to_owned()))).collect();
        if !new.is_empty() {
            let why = match allow::add_for_user(project, &new, dry)? {
                true => None,
                false => Some(NOT_EDITABLE.to_owned()),
            };
            rows.extend(new.iter().map(|entry| told(entry, why.is_none(), why.clone())));
        }
        Ok(rows)
    }
}

impl SharedProgram {
    fn apply(
        &self,
        project: &Project,
        named: &[Program],
        by: &str,
        at: Timestamp,
        dry: bool,
    ) -> Result<Taken, Error> {
        let what = format!("trust: {}: {}", self.what, self.argv.join(" "));
        let Some(program) =
            named.iter().find(|program| program.argv == self.argv && program.reads == self.reads)
        else {
            let why = Some("the repository's policy here runs no such program".to_owned());
            return Ok(Taken { what, taken: false, why });
        };
        if contents(program, &project.root)? != self.files {
            let why = Some("its files are not those that were trusted".to_owned());
            return Ok(Taken { what, taken: false, why });
        }
        if !dry {
            program.trust(&*project.store()?, &project.root, by, at)?;
        }
        Ok(Taken { what, taken: true, why: None })
    }
}

impl SharedWaiver {
    fn of(finding: Finding) -> Option<Self> {
        let (ruling, said) = match finding.disposition {
            Disposition::FalsePositive(said) => (SharedRuling::FalsePositive, said),
            Disposition::AcceptedRisk(said) => (SharedRuling::AcceptedRisk, said),
            _ => return None,
        };
        Some(Self {
            title: finding.title,
            level: finding.level,
            agent: finding.agent,
            evidence: finding.evidence,
            ruling,
            by: said.by,
            reason: said.reason,
            until: said.until,
        })
    }

    fn apply(&self, project: &Project, at: Timestamp, dry: bool) -> Result<Taken, Error> {
        let what = format!("waiver: {} ({}, by {}: {})", self.title, self.agent, self.by, self.reason);
        let refused = |why: String| Ok(Taken { what: what.clone(), taken: false, why: Some(why) });
        if self.until.is_some_and(|until| until <= at) {
            return refused("it has ended".to_owned());
        }
        let claim = Claim::new(self.level, &self.title, &self.agent)
            .and_then(|claim| claim.with_evidence(self.evidence.clone()));
        let claim = match claim {
            Ok(claim) => claim,
            Err(error) => return refused(error.to_string()),
        };
        let Ok(plan) = PLAN.parse::<PlanHash>() else { return refused("it cannot be recorded".to_owned()) };
        if !dry {
            let ledger = ProjectLedger::open(project.clone(), true)?;
            let ledger = ledger.writing()?;
            // The places are bound to the waived code, not to the current code.
            let recorded = ledger.record(&plan, &claim)?;
            let verb = match self.ruling {
                SharedRuling::FalsePositive => Verb::FalsePositive,
                SharedRuling::AcceptedRisk => Verb::AcceptRisk,
            };
            ledger.rule(plan.as_str(), recorded.id.as_str(), verb, &self.by, &self.reason, self.until)?;
        }
        Ok(Taken { what, taken: true, why: None })
    }
}

/// The trusted programs of the repository's policy.
fn trusted(project: &Project) -> Result<Vec<SharedProgram>, Error> {
    if !project.has_store() {
        return Ok(Vec::new());
    }
    let store = project.existing_store()?;
    let mut found = Vec::new();
    for program in councils::programs(&Snapshot::read(project)?.policy)? {
        if program.is_trusted(&*store, &project.root)? {
            let files = contents(&program, &project.root)?;
            found.push(SharedProgram { what: program.what, argv: program.argv, reads: program.reads, files });
        }
    }
    Ok(found)
}

/// The files that a command line names, with digests.
fn contents(program: &Program, root: &Path) -> Result<BTreeMap<String, Digest>, Error> {
    let mut found = BTreeMap::new();
    for file in program.files(root)? {
        let bytes = files::read(&file, files::PROGRAM).map_err(Error::file("cannot read", &file))?;
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        found.insert(name, Digest::of(&bytes));
    }
    Ok(found)
}

fn waivers(project: &Project) -> Result<Vec<SharedWaiver>, Error> {
    if !project.has_store() {
        return Ok(Vec::new());
    }
    let ledger = ProjectLedger::open(project.clone(), false)?;
    let reading = ledger.reading();
    let mut found: Vec<SharedWaiver> = Vec::new();
    for recent in reading.retro(usize::MAX, Level::Low)? {
        for finding in reading.verdict(recent.plan.as_str())?.closed {
            found.extend(SharedWaiver::of(finding).filter(|waiver| !found.contains(waiver)));
        }
    }
    Ok(found)
}

/// The commands that the person's own policy exempts.
fn exceptions(project: &Project) -> Result<Vec<String>, Error> {
    let listed = own_list(project, "/bash_safety/allow")?;
    Ok(listed.into_iter().filter_map(|entry| entry.as_str().map(str::to_owned)).collect())
}

/// The person's exceptions that are portable to other machines.
fn own_rules(project: &Project) -> Result<Vec<SharedRule>, Error> {
    Ok(lifted(project)?.into_iter().filter_map(|lifted| in_project(project, lifted).ok()).collect())
}

/// Exceptions of the person's own policy that are not exported, in words: those for files outside of the project.
///
/// # Errors
/// When a policy file cannot be read.
pub fn left_out(project: &Project) -> Result<Vec<String>, Error> {
    let outside = lifted(project)?.into_iter().filter_map(|lifted| in_project(project, lifted).err());
    Ok(outside.map(|lifted| format!("{} for {}", lifted.rule, lifted.for_what())).collect())
}

/// All `exceptions` of the person's own policy.
fn lifted(project: &Project) -> Result<Vec<SharedRule>, Error> {
    let listed = own_list(project, "/exceptions")?;
    Ok(listed.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect())
}

/// The same with a project-relative file.
///
/// # Errors
/// The exception itself, when its file is elsewhere.
fn in_project(project: &Project, lifted: SharedRule) -> Result<SharedRule, SharedRule> {
    let Some(file) = &lifted.file else { return Ok(lifted) };
    // A relative path applies to every project, so to this one too.
    let below = match Path::new(file).is_absolute() {
        true => Path::new(file).strip_prefix(&project.root).ok(),
        false => Some(Path::new(file)),
    };
    match below.map(|below| below.to_string_lossy().into_owned()) {
        Some(below) => Ok(SharedRule { file: Some(below), ..lifted }),
        None => Err(lifted),
    }
}

/// Adds an exception to the person's own policy; with `dry` it only returns whether that is possible.
fn lift(project: &Project, lifted: &SharedRule, dry: bool) -> Result<bool, Error> {
    let whole = |file: &String| project.root.join(file).to_string_lossy().into_owned();
    let given = [
        lifted.tool.clone().map(|tool| ("tool", tool)),
        lifted.command.clone().map(|command| ("command", command)),
        // A person's own policy applies to all their projects, so the file needs an absolute path.
        lifted.file.as_ref().map(|file| ("file", whole(file))),
    ];
    match given.into_iter().flatten().next() {
        Some((what, text)) => allow::lift_for_user(project, &lifted.rule, what, text, dry),
        None => Ok(false),
    }
}

/// A list in the person's own policy.
fn own_list(project: &Project, place: &str) -> Result<Vec<Value>, Error> {
    let sources = policy_files::sources(project)?;
    let Some(source) = sources.into_iter().find(|source| source.origin == Origin::User) else {
        return Ok(Vec::new());
    };
    let value = lictor_config::read_plain(&source.path, &source.bytes).unwrap_or(Value::Null);
    Ok(value.pointer(place).and_then(Value::as_array).cloned().unwrap_or_default())
}

/// The tools that the person's own policy remembers.
fn own_tools(project: &Project) -> Result<Vec<RememberedTool>, Error> {
    let own = &project.dirs().user_policy;
    let all = remembered::remembered(project)?.into_iter().filter(|one| one.file == *own);
    Ok(all.map(|one| RememberedTool { tool: one.tool, server: one.server }).collect())
}

#[cfg(test)]
mod tests;
