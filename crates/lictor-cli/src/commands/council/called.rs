//! `lictor council run --trigger …`: a council looks because something happened. Hooks start this and go on without
//! waiting for it.
//!
//! A council looks at one thing at a time. Whoever is called meanwhile waits in line, and one in line is enough: when
//! its turn comes it answers every call there is by then, about the files as they are by then.

use std::fs::{self, File, TryLockError};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use lictor_core::Digest;
use lictor_ledger::council::{Attestation, Council, Progress, Where};
use lictor_ledger::gate::Gate;
use lictor_ledger::ledger::{Answer, Summons};
use lictor_ledger::{PlanVerdict, render};
use serde_json::{Value as Json, json};

use crate::commands::verdict::{Desk, live};
use crate::councils::{InForce, Moment};
use crate::exit::{self, Exit};
use crate::output;
use crate::place;

/// Lets the councils that meet at this moment look, or the one of them that is named.
pub fn run(
    desk: &Desk,
    in_force: &InForce,
    named: Option<&str>,
    moment: Moment,
    saved: &[String],
    json: bool,
) -> Result<Exit> {
    let meeting: Vec<_> = in_force
        .meeting(moment, saved)
        .filter(|(name, ..)| named.is_none_or(|named| named == *name))
        .collect();
    if let (Some(named), true) = (named, meeting.is_empty()) {
        let moment = moment.word();
        return Err(exit::not_there(format!(
            "the council `{named}` does not meet at {moment}; its moments stand under `on:`"
        )));
    }
    let ledger = desk.writing()?;
    for (name, _, saved) in &meeting {
        ledger.summon(name, moment.word(), saved)?;
    }
    let mut exit = Exit::Ok;
    let mut looked = Vec::new();
    for (name, council, _) in meeting {
        let Some(_turn) = Turn::wait(desk, name)? else { continue };
        let waiting = ledger.summons(name)?;
        let Some(newest) = waiting.last() else { continue };
        let result = look(desk, in_force, (name, council), &waiting);
        let answer = match &result {
            Ok(Some((attestation, _))) => Answer::Looked(attestation.plan.clone()),
            Ok(None) => Answer::Not("there are no files to look at".to_owned()),
            Err(error) => Answer::Not(output::chain(error)),
        };
        ledger.answer(name, newest.seq, &answer)?;
        let Some((attestation, verdict)) = result? else { continue };
        if council.guardrail && (verdict.level().blocks() || !attestation.is_complete()) {
            exit = Exit::Block;
        }
        if json {
            let verdict: Json = serde_json::from_str(&render::json::verdict(&verdict, |_| &[]))?;
            looked.push(json!({"attestation": attestation, "verdict": verdict}));
        } else {
            let (found, who) = (render::text::explain(&verdict), render::text::attested(&attestation));
            output::print(&format!("{found}{who}"))?;
        }
    }
    if json {
        output::print_json(&looked)?;
    }
    Ok(exit)
}

/// Who looked and what is known then; `None` when there is nothing to look at.
fn look(
    desk: &Desk,
    in_force: &InForce,
    (name, council): (&str, &Council),
    waiting: &[Summons],
) -> Result<Option<(Attestation, PlanVerdict)>> {
    let git = desk.git_needed()?;
    desk.at_gate(in_force, &git, |gate| look_at(gate, (name, council), waiting))?
}

fn look_at(
    gate: &Gate<'_>,
    (name, council): (&str, &Council),
    waiting: &[Summons],
) -> Result<Option<(Attestation, PlanVerdict)>> {
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
            live(&Progress::Reused { council: name, attestation: &attestation });
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

/// The right to let a council look. Ends with the process at the latest, however that ends.
struct Turn {
    _looking: File,
}

impl Turn {
    /// Waits in line; `None` when somebody waits there already, who will answer this call too.
    fn wait(desk: &Desk, council: &str) -> Result<Option<Self>> {
        let directory = desk.project.state_dir().join("councils");
        place::create_private(&directory)?;
        let name = Digest::of(council.as_bytes()).short();
        let open = |end: &str| -> Result<File> {
            let file: PathBuf = directory.join(format!("{name}.{end}"));
            let opened = fs::OpenOptions::new().create(true).append(true).open(&file);
            opened.with_context(|| format!("cannot open `{}`", file.display()))
        };
        let (next, looking) = (open("next")?, open("looking")?);
        match next.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error).context("cannot wait in line"),
        }
        looking.lock().context("cannot wait in line")?;
        // Left before the calls are read: whoever finds the place taken until now has made its call before that.
        drop(next);
        Ok(Some(Self { _looking: looking }))
    }
}
