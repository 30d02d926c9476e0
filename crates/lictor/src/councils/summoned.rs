//! Runs councils that an event has summoned. Hooks summon them and do not wait.
//!
//! A council runs once at a time. One further run may wait, which is enough: when its turn comes it handles all
//! summons so far, with the files as they are then.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use lictor_core::Digest;
use lictor_ledger::PlanVerdict;
use lictor_ledger::council::{Attestation, Council, Progress, Where};
use lictor_ledger::gate::Gate;
use lictor_ledger::ledger::{Answer, Summons};

use super::{ActiveCouncils, CouncilMoment};
use crate::dirs;
use crate::error::Error;
use crate::project_ledger::{ProgressFn, ProjectLedger};

/// The result of a council's run.
pub struct Looked {
    /// The council.
    pub council: String,
    /// The attestation.
    pub attestation: Attestation,
    /// The verdict of the plan.
    pub verdict: PlanVerdict,
    /// The council is a guardrail, and it was hit.
    pub stopped: bool,
}

impl ProjectLedger {
    /// Runs the councils for this moment, or the named one of them. `report` is called for each that has run.
    ///
    /// # Errors
    /// When a named council does not run at this moment, or when the review or recording fails.
    pub fn summon(
        &self,
        active: &ActiveCouncils,
        named: Option<&str>,
        moment: CouncilMoment,
        saved: &[String],
        progress: ProgressFn<'_>,
        report: &mut dyn FnMut(Looked),
    ) -> Result<(), Error> {
        let meeting: Vec<_> = active
            .meeting(moment, saved)
            .filter(|(name, ..)| named.is_none_or(|named| named == *name))
            .collect();
        if let (Some(named), true) = (named, meeting.is_empty()) {
            return Err(Error::CouncilElsewhen { name: named.to_owned(), moment: moment.word() });
        }
        let ledger = self.writing()?;
        for (name, _, saved) in &meeting {
            ledger.summon(name, moment.word(), saved)?;
        }
        for (name, council, _) in meeting {
            let Some(_turn) = Turn::wait(self.project().state_dir(), name)? else { continue };
            let waiting = ledger.summons(name)?;
            let Some(newest) = waiting.last() else { continue };
            let git = self.git_needed()?;
            let result = self
                .at_gate(active, &git, progress, |gate| look(gate, (name, council), &waiting, progress))
                .and_then(|looked| looked);
            let answer = match &result {
                Ok(Some((attestation, _))) => Answer::Looked(attestation.plan.clone()),
                Ok(None) => Answer::Not("there are no files to look at".to_owned()),
                Err(error) => Answer::Not(error.chain()),
            };
            ledger.answer(name, newest.seq, &answer)?;
            let Some((attestation, verdict)) = result? else { continue };
            let stopped = council.guardrail && (verdict.level().blocks() || !attestation.is_complete());
            report(Looked { council: name.to_owned(), attestation, verdict, stopped });
        }
        Ok(())
    }
}

/// The result of a council; `None` when there is nothing to review.
fn look(
    gate: &Gate<'_>,
    (name, council): (&str, &Council),
    waiting: &[Summons],
    progress: ProgressFn<'_>,
) -> Result<Option<(Attestation, PlanVerdict)>, Error> {
    let mut saved: Vec<String> = waiting.iter().flat_map(|summons| summons.saved.clone()).collect();
    saved.sort_unstable();
    saved.dedup();
    let plan = gate.plan_at_work(name, council, &saved)?;
    if plan.files.is_empty() {
        return Ok(None);
    }
    let known = gate.ledger.attestation(&plan.plan_hash)?.filter(Attestation::is_complete);
    let attestation = match known {
        Some(attestation) => {
            progress(&Progress::Reused { council: name, attestation: &attestation });
            attestation
        }
        None => {
            let moment = waiting.last().map_or("manual", |summons| summons.moment.as_str());
            gate.convene(moment, &plan, council, Where::Aside)?
        }
    };
    let verdict = gate.ledger.verdict(plan.plan_hash.as_str())?;
    Ok(Some((attestation, verdict)))
}

/// A lock for running a council. Released at the latest when the process ends.
struct Turn {
    _looking: File,
}

impl Turn {
    /// Waits for the lock; `None` when another process waits already, which will handle this summons too.
    fn wait(state: &Path, council: &str) -> Result<Option<Self>, Error> {
        let directory = state.join("councils");
        dirs::create_private(&directory)?;
        let name = Digest::of(council.as_bytes()).short();
        let open = |end: &str| -> Result<File, Error> {
            let file: PathBuf = directory.join(format!("{name}.{end}"));
            let opened = fs::OpenOptions::new().create(true).append(true).open(&file);
            opened.map_err(Error::file("cannot open", &file))
        };
        let (next, looking) = (open("next")?, open("looking")?);
        match next.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => {
                return Err(Error::file("cannot wait in line at", &directory)(error));
            }
        }
        looking.lock().map_err(Error::file("cannot wait in line at", &directory))?;
        // Released before the summons are read: a process that found the place taken has recorded its summons
        // before that.
        drop(next);
        Ok(Some(Self { _looking: looking }))
    }
}
