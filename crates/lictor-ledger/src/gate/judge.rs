//! The evaluation of the gate.

use std::collections::BTreeMap;

use super::{Blocked, Blocker, Bypass, GateEvent, GateOutcome, Judgement, PushedRef, Seen};
use crate::binding::{Observer, Standing, bind};
use crate::council::{
    Attestation, Council, Councils, Plan, PlanError, Progress, ScopeFiles, Setting, Situation, Trigger,
    Trust, Where, plan, run,
};
use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::identity::{FindingId, PlanHash};
use crate::ledger::{Ledger, LedgerError, Watch};
use crate::level::Level;
use crate::repository::{Changes, Commit, Repository, RepositoryError};

/// How many findings a block lists.
const SHOWN: usize = 20;
/// How many findings are checked in the repository at once.
const BATCH: usize = 256;
/// How far back commits are followed.
const MAX_COMMITS: usize = 1_000;

/// The gate of one repository.
pub struct Gate<'a> {
    /// The record.
    pub ledger: &'a Ledger<'a>,
    /// The repository.
    pub repository: &'a dyn Repository,
    /// The councils.
    pub councils: &'a Councils,
    /// Whether findings stop commits where there are no councils.
    pub alone: bool,
    /// Whether a reviewer's program may run.
    pub trust: &'a Trust<'a>,
    /// Told as it happens.
    pub progress: &'a (dyn Fn(&Progress<'_>) + Sync),
}

impl std::fmt::Debug for Gate<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("ledger", self.ledger).finish_non_exhaustive()
    }
}

/// Why the gate or a council has no result.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The record failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The repository failed.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// No plan can be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// A finding whose place in the tree has not been checked yet.
type Waiting = (PlanHash, FindingId, Vec<Evidence>);

/// One tree to judge and the changes that lead to it.
struct Candidate {
    tree: String,
    changes: Changes,
}

impl Gate<'_> {
    /// Judges, and records the judgement. Never fails: on errors it blocks as long as there is anything to guard.
    #[must_use]
    pub fn judge(&self, event: &GateEvent) -> GateOutcome {
        let mut seen = Seen::default();
        match self.try_judge(event, &mut seen) {
            Ok(None) => GateOutcome::Ok(seen),
            Ok(Some(blocked)) => GateOutcome::Blocked(blocked, seen),
            Err(trouble) if self.guards() => {
                let next: &[&str] = match &trouble {
                    Trouble::Ledger(_) => &["lictor audit verify", "lictor doctor"],
                    Trouble::Repository(_) | Trouble::Plan(_) => &["git status"],
                };
                GateOutcome::Blocked(Blocked::in_doubt(&trouble, next), seen)
            }
            Err(trouble) => GateOutcome::Error { reason: trouble.to_string() },
        }
    }

    /// Records a bypass if the latest commit had not passed the gate.
    ///
    /// # Errors
    /// When the record or the repository cannot be read.
    pub fn after_commit(&self) -> Result<Option<Bypass>, Trouble> {
        let Some(head) = self.repository.commit("HEAD")? else { return Ok(None) };
        let bypass = self.bypass_of(&head, "post-commit")?;
        self.ledger.note_bypasses(bypass.clone().into_iter().collect())?;
        Ok(bypass)
    }

    /// What a council would review when run by name: the index for a staged scope, else the work tree.
    ///
    /// # Errors
    /// When the repository cannot be read, or the files exceed the council's budget.
    pub fn plan(&self, name: &str, council: &Council) -> Result<Plan, Trouble> {
        let tree = match council.scope.files {
            ScopeFiles::Staged => self.repository.index_tree()?,
            _ => self.repository.work_tree()?,
        };
        let changes = self.since_passed(&tree)?;
        Ok(plan(self.repository, name, council, &Situation { tree: &tree, changes: &changes, saved: &[] })?)
    }

    /// What a council would review during work: always the work tree. There is no commit, so a staged scope means
    /// the saved files, or all changes if none were saved.
    ///
    /// # Errors
    /// When the repository cannot be read, or the files exceed the council's budget.
    pub fn plan_at_work(&self, name: &str, council: &Council, saved: &[String]) -> Result<Plan, Trouble> {
        let tree = self.repository.work_tree()?;
        let changes = if council.scope.files == ScopeFiles::Staged && !saved.is_empty() {
            Changes::default()
        } else {
            self.since_passed(&tree)?
        };
        Ok(plan(self.repository, name, council, &Situation { tree: &tree, changes: &changes, saved })?)
    }

    /// The changes from the last commit that passed the gate to a tree.
    fn since_passed(&self, tree: &str) -> Result<Changes, Trouble> {
        let base = self.last_passed()?.map(|commit| commit.tree);
        Ok(self.repository.changes(base.as_deref(), tree)?)
    }

    fn guards(&self) -> bool {
        guards(self.councils, self.alone)
    }

    fn try_judge(&self, event: &GateEvent, seen: &mut Seen) -> Result<Option<Blocked>, Trouble> {
        let (candidates, bypassed) = self.candidates(event, seen)?;
        let mut blocked = Blocked::default();
        for candidate in &candidates {
            seen.trees.push(candidate.tree.clone());
            let attested = self.review(event, candidate, bypassed, &mut blocked, seen)?;
            self.look_for_findings(candidate, &attested, &mut blocked, seen)?;
            seen.attestations.extend(attested);
        }
        blocked.findings.dedup_by(|a, b| a.plan == b.plan && a.finding.id == b.finding.id);
        let ok = blocked.findings.is_empty() && blocked.reasons.is_empty();
        // An agent's commit is judged without its councils: that must not count as having passed the gate.
        let judged = if matches!(event, GateEvent::AgentCommit { .. }) { &[] } else { candidates.as_slice() };
        for candidate in judged {
            self.ledger.judge(Judgement {
                event: event.name().to_owned(),
                tree: candidate.tree.clone(),
                ok,
                blocking: blocked.findings.len(),
                reasons: blocked.reasons.clone(),
            })?;
        }
        if ok {
            return Ok(None);
        }
        let steps: Vec<String> = blocked.findings.iter().take(3).flat_map(ways_on).collect();
        blocked.next.splice(0..0, steps);
        blocked.next.dedup();
        Ok(Some(blocked))
    }

    /// The trees to judge. Notes commits among them that bypassed the gate.
    fn candidates(&self, event: &GateEvent, seen: &mut Seen) -> Result<(Vec<Candidate>, bool), Trouble> {
        let since_head = |tree: String| -> Result<Candidate, Trouble> {
            Ok(Candidate { changes: self.since_passed(&tree)?, tree })
        };
        Ok(match event {
            GateEvent::PreCommit => (vec![since_head(self.repository.index_tree()?)?], false),
            GateEvent::AgentCommit { args, dir } => {
                let tree = match &args.unclear {
                    None => self.repository.commit_tree(args, dir)?,
                    Some(why) => {
                        let said =
                            format!("what is committed is not known yet ({why}); the work tree is judged");
                        seen.notes.push(said);
                        self.repository.work_tree()?
                    }
                };
                (vec![since_head(tree)?], false)
            }
            GateEvent::Ci { base } => {
                let Some(head) = self.repository.commit("HEAD")? else { return Ok((Vec::new(), false)) };
                let base = match base.as_ref().or(head.parents.first()) {
                    Some(name) => self.repository.commit(name)?,
                    None => None,
                };
                let changes =
                    self.repository.changes(base.as_ref().map(|base| base.tree.as_str()), &head.tree)?;
                (vec![Candidate { tree: head.tree, changes }], false)
            }
            GateEvent::PrePush(refs) => {
                let mut candidates = Vec::new();
                let mut bypasses = Vec::new();
                for pushed in refs {
                    let Some((tip, new)) = self.pushed(pushed)? else { continue };
                    for commit in &new {
                        bypasses.extend(self.bypass_of(commit, "pre-push")?);
                    }
                    let base = match new.last().map_or(&tip.parents, |oldest| &oldest.parents).first() {
                        Some(parent) => self.repository.commit(parent)?,
                        None => None,
                    };
                    let changes =
                        self.repository.changes(base.as_ref().map(|base| base.tree.as_str()), &tip.tree)?;
                    candidates.push(Candidate { tree: tip.tree, changes });
                }
                for bypass in &bypasses {
                    let commit: String = bypass.commit.chars().take(12).collect();
                    seen.notes.push(format!("commit {commit} went around the gate: {}", bypass.how));
                }
                let any = !bypasses.is_empty();
                self.ledger.note_bypasses(bypasses)?;
                (candidates, any)
            }
        })
    }

    /// The last commit of a push, and those that the remote lacks.
    fn pushed(&self, pushed: &PushedRef) -> Result<Option<(Commit, Vec<Commit>)>, Trouble> {
        let Some(local) = &pushed.local else { return Ok(None) };
        let Some(tip) = self.repository.commit(local)? else { return Ok(None) };
        let mut known = vec!["--remotes".to_owned()];
        if let Some(remote) = &pushed.remote
            && let Some(remote) = self.repository.commit(remote)?
        {
            known.push(remote.id);
        }
        let new = self.repository.commits(&tip.id, &known, MAX_COMMITS)?;
        Ok(Some((tip, new)))
    }

    /// The newest earlier commit that did not bypass the gate. Commits that did are reviewed again together with
    /// the new changes, so that amending a bypass does not legitimise it.
    fn last_passed(&self) -> Result<Option<Commit>, Trouble> {
        let mut commit = self.repository.commit("HEAD")?;
        for _ in 0..MAX_COMMITS {
            let Some(current) = &commit else { break };
            if self.ledger.bypass(&current.id)?.is_none() {
                break;
            }
            commit = match current.parents.first() {
                Some(parent) => self.repository.commit(parent)?,
                None => None,
            };
        }
        Ok(commit)
    }

    fn bypass_of(&self, commit: &Commit, noticed: &str) -> Result<Option<Bypass>, Trouble> {
        let how = match self.ledger.judgement(&commit.tree)? {
            Some(judgement) if judgement.ok => return Ok(None),
            Some(_) => "it was committed although the gate had blocked it",
            None => "it was committed without asking the gate (`--no-verify`, another tool, or no hook)",
        };
        Ok(Some(Bypass {
            commit: commit.id.clone(),
            tree: commit.tree.clone(),
            noticed: noticed.to_owned(),
            how: how.to_owned(),
        }))
    }

    /// Runs the councils of the event, unless they have reviewed exactly this before.
    fn review(
        &self,
        event: &GateEvent,
        candidate: &Candidate,
        bypassed: bool,
        blocked: &mut Blocked,
        seen: &mut Seen,
    ) -> Result<Vec<Attestation>, Trouble> {
        let mut attested = Vec::new();
        for (name, council) in concerned(self.councils, event, bypassed) {
            let situation = Situation { tree: &candidate.tree, changes: &candidate.changes, saved: &[] };
            let planned = match plan(self.repository, name, council, &situation) {
                Err(problem @ PlanError::TooManyFiles { .. }) => {
                    self.say(council, problem.to_string(), blocked, seen);
                    continue;
                }
                planned => planned?,
            };
            if planned.files.is_empty() && planned.submodules.is_empty() {
                seen.notes.push(format!("council {name}: no files to look at"));
                continue;
            }
            let known = self.ledger.attestation(&planned.plan_hash)?.filter(Attestation::is_complete);
            let attestation = match (known, event) {
                (Some(attestation), _) => {
                    (self.progress)(&Progress::Reused { council: name, attestation: &attestation });
                    attestation
                }
                (None, GateEvent::AgentCommit { args, .. }) => {
                    let said = format!("council {name} has not looked at this yet");
                    if args.no_verify && council.guardrail {
                        blocked.next.push(format!("lictor council run {name}"));
                        blocked.reasons.push(said);
                    } else {
                        seen.notes.push(said);
                    }
                    continue;
                }
                (None, _) => self.convene(event.name(), &planned, council, Where::InPlace)?,
            };
            for reported in attestation.reviewers.iter().filter(|reported| !reported.state.is_complete()) {
                let said =
                    format!("council {name}: reviewer {} did not report ({})", reported.name, reported.state);
                self.say(council, said, blocked, seen);
                if council.guardrail {
                    let agent = council.reviewers.iter().any(|one| one.agent && one.name == reported.name);
                    let way = if agent { "plan" } else { "run" };
                    blocked.next.push(format!("lictor council {way} {name}"));
                }
            }
            attested.push(attestation);
        }
        Ok(attested)
    }

    fn say(&self, council: &Council, what: String, blocked: &mut Blocked, seen: &mut Seen) {
        if council.guardrail { blocked.reasons.push(what) } else { seen.notes.push(what) }
    }

    /// Runs a council on a plan, and records its findings and attestation in one transaction.
    ///
    /// # Errors
    /// When the record or the repository fails. Failures of reviewers are in the attestation.
    pub fn convene(
        &self,
        event: &str,
        planned: &Plan,
        council: &Council,
        place: Where,
    ) -> Result<Attestation, Trouble> {
        self.ledger.open_plan(&planned.plan_hash, &planned.council, &planned.tree, planned.files.len())?;
        let mut reports = BTreeMap::new();
        for reviewer in council.reviewers.iter().filter(|reviewer| reviewer.agent) {
            let invitation = self.ledger.invitation(&planned.plan_hash, &reviewer.name)?;
            if let Some(state) = invitation.and_then(|invitation| invitation.reported) {
                reports.insert(reviewer.name.clone(), state);
            }
        }
        let heard = |name: &str| reports.get(name).cloned();
        let setting = Setting {
            repository: self.repository,
            event,
            place,
            trust: self.trust,
            heard: &heard,
            progress: self.progress,
        };
        let (mut attestation, mut claims) = run(planned, council, &setting)?;
        attestation.redact(self.ledger.redactor());
        bind(&mut claims, self.repository, Some(&planned.tree))?;
        self.ledger.attest(attestation.clone(), &claims)?;
        Ok(attestation)
    }

    /// Adds every open blocking finding that applies here and has evidence in the tree.
    fn look_for_findings(
        &self,
        candidate: &Candidate,
        attested: &[Attestation],
        blocked: &mut Blocked,
        seen: &mut Seen,
    ) -> Result<(), Trouble> {
        let mut observer = Observer::new(self.repository, &candidate.tree, &candidate.changes);
        let mut waiting: Vec<Waiting> = Vec::new();
        let mut active: Vec<(PlanHash, FindingId, Vec<Evidence>)> = Vec::new();
        let room = SHOWN.saturating_sub(blocked.findings.len());
        let mut more = false;
        let mut unguarded = 0_usize;
        let mut stale = 0_usize;
        let mut trouble = None;
        let mut settle = |waiting: &mut Vec<Waiting>| -> Result<bool, RepositoryError> {
            observer.prepare(waiting.iter().flat_map(|(.., evidence)| evidence))?;
            for (plan, id, evidence) in waiting.drain(..) {
                match observer.standing(&evidence)? {
                    Standing::Stale => stale += 1,
                    Standing::Active(_) if active.len() >= room => {
                        more = true;
                        return Ok(false);
                    }
                    Standing::Active(evidence) => active.push((plan, id, evidence)),
                }
            }
            Ok(true)
        };
        let mut batch = SHOWN + 1;
        self.ledger.open_findings(Level::High, |plan, id, council, watch| {
            if !is_guarded(self.councils, self.alone, council) {
                unguarded += 1;
                return Ok(true);
            }
            if checked_again(&plan, council, &watch, attested) {
                return Ok(true);
            }
            waiting.push((plan, id, watch.evidence));
            if waiting.len() < batch {
                return Ok(true);
            }
            batch = BATCH;
            settle(&mut waiting).or_else(|error| {
                trouble = Some(error);
                Ok(false)
            })
        })?;
        if let Some(trouble) = trouble {
            return Err(trouble.into());
        }
        settle(&mut waiting)?;
        blocked.more |= more;
        for (plan, id, evidence) in active {
            let (plan, finding) = self.ledger.finding(plan.as_str(), id.as_str())?;
            blocked.findings.push(Blocker { plan, finding, evidence });
        }
        if stale > 0 {
            seen.notes.push(format!("{stale} finding(s) are about code that is not in this tree any more"));
        }
        if unguarded > 0 {
            seen.notes
                .push(format!("{unguarded} open HIGH or CRITICAL finding(s) do not block: no guardrail"));
        }
        Ok(())
    }
}

/// The councils that must review the event.
fn concerned<'a>(
    councils: &'a Councils,
    event: &GateEvent,
    bypassed: bool,
) -> impl Iterator<Item = (&'a String, &'a Council)> {
    let triggers: &[Trigger] = match event {
        GateEvent::PreCommit | GateEvent::AgentCommit { .. } => &[Trigger::PreCommit],
        GateEvent::PrePush(_) => &[Trigger::PrePush],
        GateEvent::Ci { .. } => &[Trigger::Ci],
    };
    let guardrails: &[Trigger] = match event {
        GateEvent::Ci { .. } => &[Trigger::PreCommit, Trigger::PrePush],
        GateEvent::PrePush(_) if bypassed => &[Trigger::PreCommit],
        _ => &[],
    };
    councils.iter().filter(move |(_, council)| {
        triggers.iter().any(|trigger| council.meets(trigger, None))
            || (council.guardrail && guardrails.iter().any(|trigger| council.meets(trigger, None)))
    })
}

/// The judgement from the record alone, without a repository: every open blocking finding counts, wherever its
/// code is, and required councils count as missing.
#[must_use]
pub fn judge_by_record(
    ledger: &Ledger<'_>,
    councils: &Councils,
    alone: bool,
    event: &GateEvent,
) -> GateOutcome {
    let (mut blocked, mut seen) = (Blocked::default(), Seen::default());
    for (name, council) in concerned(councils, event, false) {
        let said = format!("council {name} looks at trees, and there is no repository here");
        if council.guardrail { blocked.reasons.push(said) } else { seen.notes.push(said) }
    }
    match recorded(ledger, councils, alone, &mut blocked) {
        Ok(()) if blocked.findings.is_empty() && blocked.reasons.is_empty() => GateOutcome::Ok(seen),
        Ok(()) => {
            blocked.next = blocked.findings.iter().take(3).flat_map(ways_on).collect();
            GateOutcome::Blocked(blocked, seen)
        }
        Err(trouble) if guards(councils, alone) => {
            GateOutcome::Blocked(Blocked::in_doubt(&trouble, &["lictor audit verify", "lictor doctor"]), seen)
        }
        Err(trouble) => GateOutcome::Error { reason: trouble.to_string() },
    }
}

/// Adds every open finding that blocks.
fn recorded(
    ledger: &Ledger<'_>,
    councils: &Councils,
    alone: bool,
    blocked: &mut Blocked,
) -> Result<(), LedgerError> {
    let mut open: Vec<Waiting> = Vec::new();
    ledger.open_findings(Level::High, |plan, id, council, watch| {
        if is_guarded(councils, alone, council) {
            open.push((plan, id, watch.evidence));
        }
        Ok(open.len() <= SHOWN)
    })?;
    blocked.more = open.len() > SHOWN;
    for (plan, id, evidence) in open.into_iter().take(SHOWN) {
        let (plan, finding) = ledger.finding(plan.as_str(), id.as_str())?;
        blocked.findings.push(Blocker { plan, finding, evidence });
    }
    Ok(())
}

/// Whether findings of a council stop anything.
fn is_guarded(councils: &Councils, alone: bool, council: Option<&str>) -> bool {
    council
        .and_then(|name| councils.get(name))
        .map_or_else(|| guards(councils, alone), |council| council.guardrail)
}

/// Whether there is anything to guard. Without councils, findings stop commits if `alone` is set, which a policy
/// can disable.
#[must_use]
pub fn guards(councils: &Councils, alone: bool) -> bool {
    (councils.is_empty() && alone) || councils.values().any(|council| council.guardrail)
}

/// Whether the same reviewer of the same council has reviewed the finding's files in exactly this tree. What it
/// still finds there is recorded under the new plan; the old finding no longer counts.
fn checked_again(plan: &PlanHash, council: Option<&str>, finding: &Watch, attested: &[Attestation]) -> bool {
    attested.iter().any(|attestation| {
        attestation.plan != *plan
            && Some(attestation.council.as_str()) == council
            && attestation.covers(&finding.agent, finding.evidence.iter().map(Evidence::path))
    })
}

fn ways_on(blocker: &Blocker) -> [String; 3] {
    let (plan, id) = (&blocker.plan, &blocker.finding.id);
    [
        format!("lictor verdict explain --plan-hash {plan}"),
        format!("lictor verdict clear --plan-hash {plan} --id {id} --reason 'why it is fixed'"),
        format!("lictor verdict waive --plan-hash {plan} --id {id} --reason 'why it may stay' --until 30d"),
    ]
}

/// Open findings of at least this level with evidence in the current work tree, worst first, at most `most`:
/// those that would count if the whole work tree were committed.
///
/// # Errors
/// When the record or the repository fails.
pub fn standing_findings(
    ledger: &Ledger<'_>,
    repository: &dyn Repository,
    at_least: Level,
    most: usize,
) -> Result<Vec<Finding>, Trouble> {
    let mut open: Vec<Waiting> = Vec::new();
    ledger.open_findings(at_least, |plan, id, _, watch| {
        open.push((plan, id, watch.evidence));
        Ok(true)
    })?;
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let tree = repository.work_tree()?;
    let head = repository.commit("HEAD")?.map(|commit| commit.tree);
    let changes = repository.changes(head.as_deref(), &tree)?;
    let mut observer = Observer::new(repository, &tree, &changes);
    let mut standing = Vec::new();
    for batch in open.chunks(BATCH) {
        observer.prepare(batch.iter().flat_map(|(.., evidence)| evidence))?;
        for (plan, id, evidence) in batch {
            if standing.len() >= most {
                return Ok(standing);
            }
            if observer.standing(evidence)? != Standing::Stale {
                standing.push(ledger.finding(plan.as_str(), id.as_str())?.1);
            }
        }
    }
    Ok(standing)
}
