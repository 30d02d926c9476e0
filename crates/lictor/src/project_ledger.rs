//! A project's findings and its commit gate: recording, ruling, councils, commits.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use lictor_config::Redactor;
use lictor_core::Timestamp;
use lictor_ledger::council::{Council, Plan, Progress, Reviewer, Where};
use lictor_ledger::gate::{Blocked, Bypass, Gate, GateEvent, GateOutcome, Seen, guards};
use lictor_ledger::ledger::Recorded;
use lictor_ledger::repository::Git;
use lictor_ledger::{Claim, Ledger, PlanHash, PlanVerdict, RepositoryId, binding};
use lictor_store::Store;

use crate::anchor;
use crate::councils::ActiveCouncils;
use crate::councils::summoned::Looked;
use crate::error::Error;
use crate::policy_files::Snapshot;
use crate::project::Project;

/// A callback for the progress of reviewers.
pub type ProgressFn<'a> = &'a (dyn Fn(&Progress<'_>) + Sync);

/// A project with its record of findings.
pub struct ProjectLedger {
    project: Project,
    store: Arc<dyn Store>,
    repository: RepositoryId,
    redactor: OnceLock<Redactor>,
}

impl ProjectLedger {
    /// Opens a project's record; creates it if `create` is set. Waits for the store.
    ///
    /// # Errors
    /// When the store cannot be opened.
    pub fn open(project: Project, create: bool) -> Result<Self, Error> {
        let store = project.patient_store(create)?;
        Ok(Self::over(project, store))
    }

    fn over(project: Project, store: Arc<dyn Store>) -> Self {
        let repository = RepositoryId::of(&project.identity());
        Self { project, store, repository, redactor: OnceLock::new() }
    }

    /// The same with an open store and a redactor.
    pub(crate) fn with(project: Project, store: Arc<dyn Store>, redactor: Redactor) -> Self {
        let ledger = Self::over(project, store);
        let _ = ledger.redactor.set(redactor);
        ledger
    }

    /// The project.
    #[must_use]
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Its record.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The findings, to read.
    #[must_use]
    pub fn reading(&self) -> Ledger<'_> {
        Ledger::new(&*self.store, &self.repository, &self.project.options().clock)
    }

    /// The ledger for writing, with the policy's redactor.
    ///
    /// # Errors
    /// When the policy cannot be read: then it is unknown what to redact.
    pub fn writing(&self) -> Result<Ledger<'_>, Error> {
        let redactor = match self.redactor.get() {
            Some(redactor) => redactor,
            None => {
                let redactor = Snapshot::read(&self.project)?.redactor;
                self.redactor.get_or_init(|| redactor)
            }
        };
        Ok(self.reading().redacting(redactor))
    }

    /// Records a finding, bound to the code that it points at.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn record(&self, plan: &PlanHash, claim: Claim) -> Result<Recorded, Error> {
        let mut claims = [claim];
        self.bind(&mut claims)?;
        let [claim] = claims;
        Ok(self.writing()?.record(plan, &claim)?)
    }

    /// Records findings, all of them or none.
    ///
    /// # Errors
    /// When they cannot be recorded.
    pub fn record_all(&self, plan: &PlanHash, mut claims: Vec<Claim>) -> Result<Vec<Recorded>, Error> {
        self.bind(&mut claims)?;
        Ok(self.writing()?.record_all(plan, &claims)?)
    }

    fn bind(&self, claims: &mut [Claim]) -> Result<(), Error> {
        if let Some(git) = self.git() {
            binding::bind(claims, &git, None)?;
        }
        Ok(())
    }

    /// Gives a plan to the agents among a council's reviewers: each gets a token with which it can report once.
    ///
    /// # Errors
    /// When it cannot be recorded.
    pub fn invite(&self, plan: &Plan, reviewers: &[&str]) -> Result<Vec<Invited>, Error> {
        let ledger = self.writing()?;
        reviewers
            .iter()
            .map(|reviewer| {
                let token = token()?;
                let expires = ledger.invite(plan, reviewer, &token)?;
                Ok(Invited { reviewer: (*reviewer).to_owned(), token, expires })
            })
            .collect()
    }

    /// Records an agent's report as a reviewer, which may be empty, authorised by its token.
    ///
    /// # Errors
    /// When it cannot be recorded, or the token is not the reviewer's, has expired or been used.
    pub fn hear(
        &self,
        plan: &PlanHash,
        reviewer: &str,
        token: &str,
        claims: Vec<Claim>,
    ) -> Result<Vec<Recorded>, Error> {
        let ledger = self.writing()?;
        let mut claims: Vec<Claim> = claims.into_iter().map(|claim| claim.by(reviewer)).collect();
        if let Some(git) = self.git() {
            let tree = ledger.tree_of(plan)?;
            binding::bind(&mut claims, &git, tree.as_deref())?;
        }
        Ok(ledger.hear(plan, reviewer, token, &Claim::coalesce(claims))?)
    }

    /// Removes a plan and its findings from the lists, on behalf of a person. The log keeps them.
    ///
    /// # Errors
    /// When it cannot be recorded, the plan is unknown, or it has open blocking findings.
    pub fn purge(&self, plan: &str, by: &str, reason: &str) -> Result<PlanHash, Error> {
        Ok(self.writing()?.purge(plan, by, reason)?)
    }

    /// The verdict of a plan.
    ///
    /// # Errors
    /// When there is no such plan, or the store cannot be read.
    pub fn verdict(&self, plan: &str) -> Result<PlanVerdict, Error> {
        Ok(self.reading().verdict(plan)?)
    }

    /// Calls `f` with the gate of the project.
    ///
    /// # Errors
    /// As [`writing`](Self::writing).
    pub fn at_gate<T>(
        &self,
        active: &ActiveCouncils,
        git: &Git,
        progress: ProgressFn<'_>,
        then: impl FnOnce(&Gate<'_>) -> T,
    ) -> Result<T, Error> {
        let trust = |council: &str, reviewer: &Reviewer| {
            active.trust(&*self.store, &self.project.root, council, reviewer)
        };
        Ok(then(&Gate {
            ledger: &self.writing()?,
            repository: git,
            councils: &active.councils,
            alone: active.alone,
            trust: &trust,
            progress,
        }))
    }

    /// What a council would review now.
    ///
    /// # Errors
    /// When the project is not a repository, or git fails.
    pub fn plan(&self, active: &ActiveCouncils, name: &str, council: &Council) -> Result<Plan, Error> {
        let git = self.git_needed()?;
        Ok(self.at_gate(active, &git, &|_| {}, |gate| gate.plan(name, council))??)
    }

    /// Runs a council now, and records its findings.
    ///
    /// # Errors
    /// When the project is not a repository, or the review or recording fails.
    pub fn convene(
        &self,
        active: &ActiveCouncils,
        name: &str,
        council: &Council,
        progress: ProgressFn<'_>,
    ) -> Result<(Plan, Looked), Error> {
        let git = self.git_needed()?;
        self.at_gate(active, &git, progress, |gate| {
            let plan = gate.plan(name, council)?;
            let attestation = gate.convene("manual", &plan, council, Where::InPlace)?;
            let verdict = gate.ledger.verdict(plan.plan_hash.as_str())?;
            let stopped = council.guardrail && (verdict.level().blocks() || !attestation.is_complete());
            Ok((plan, Looked { council: name.to_owned(), attestation, verdict, stopped }))
        })?
    }

    /// Detects a commit that bypassed the gate, and adds a note with the log's end to it.
    ///
    /// # Errors
    /// When the commit cannot be read. `noted` is the error if the note failed.
    pub fn after_commit(&self) -> Result<Committed, Error> {
        let active = ActiveCouncils::of(&Snapshot::read(&self.project)?.policy)?;
        let Some(git) = self.git() else { return Ok(Committed { bypass: None, noted: Ok(()) }) };
        let bypass = self.at_gate(&active, &git, &|_| {}, |gate| gate.after_commit())??;
        Ok(Committed { bypass, noted: anchor::note(&self.project.root, &*self.store) })
    }

    /// The project's repository, for callers that require one.
    ///
    /// # Errors
    /// When the project is not a repository.
    pub fn git_needed(&self) -> Result<Git, Error> {
        self.git().ok_or(Error::NoRepository)
    }

    /// The project's repository, if it is one.
    #[must_use]
    pub fn git(&self) -> Option<Git> {
        Git::rooted(&self.project.root).ok()
    }
}

/// An agent that was handed a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invited {
    /// Its name among the reviewers.
    pub reviewer: String,
    /// By which it can report, once.
    pub token: String,
    /// When the token expires.
    pub expires: Timestamp,
}

/// A random token.
fn token() -> Result<String, Error> {
    let mut bytes = [0_u8; 16];
    let source = Path::new("/dev/urandom");
    File::open(source)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(Error::file("cannot read", source))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The result of the check after a commit.
pub struct Committed {
    /// The commit went around the gate.
    pub bypass: Option<Bypass>,
    /// Whether the log's end was noted on it.
    pub noted: Result<(), Error>,
}

/// The gate's outcome for git hooks and CI, also on internal errors: under a guardrail an error blocks.
#[must_use]
pub fn gate(project: &Project, event: &GateEvent, progress: ProgressFn<'_>) -> GateOutcome {
    match Snapshot::read(project).and_then(|current| ActiveCouncils::of(&current.policy)) {
        Ok(active) => gate_with(project, &active, event, progress),
        Err(error) => blocked(&error.chain(), &["lictor check"]),
    }
}

fn gate_with(
    project: &Project,
    active: &ActiveCouncils,
    event: &GateEvent,
    progress: ProgressFn<'_>,
) -> GateOutcome {
    let broken = |why: &str, next: &[&str]| {
        if guards(&active.councils, active.alone) {
            blocked(why, next)
        } else {
            GateOutcome::Error { reason: why.to_owned() }
        }
    };
    let git = match Git::rooted(&project.root) {
        Ok(git) => git,
        Err(error) => return GateOutcome::Error { reason: error.to_string() },
    };
    let mark = mark(&git);
    if mark.exists() && !project.has_store() {
        let why = format!(
            "the record of this repository is gone; restore `{}` from a copy, or, if it may be begun anew, remove `{}`",
            project.state_dir().display(),
            mark.display()
        );
        return broken(&why, &["lictor doctor"]);
    }
    let ledger = match ProjectLedger::open(project.clone(), true) {
        Ok(ledger) => ledger,
        Err(error) => return broken(&error.chain(), &["lictor doctor"]),
    };
    if let Err(error) = fs::write(&mark, project.state_dir().to_string_lossy().as_bytes()) {
        return broken(&format!("cannot write `{}`: {error}", mark.display()), &["lictor doctor"]);
    }
    ledger
        .at_gate(active, &git, progress, |gate| gate.judge(event))
        .unwrap_or_else(|error| blocked(&error.chain(), &["lictor check"]))
}

fn blocked(why: &str, next: &[&str]) -> GateOutcome {
    GateOutcome::Blocked(Blocked::in_doubt(&why, next), Seen::default())
}

/// Marks in the repository that there is a record, so that its absence is detected.
fn mark(git: &Git) -> PathBuf {
    git.common_dir().join("lictor-record")
}
