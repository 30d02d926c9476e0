//! Checks the policy, the record, and recorded calls that were not judged.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use lictor::past::{Wanted, newest_decisions};
use lictor::{Project, fault, policy_files};
use lictor_core::Standing;
use lictor_core::text::visible_line;
use lictor_store::{Query, Record, Store, StoreError, StoreExt as _, verify};

use super::Report;
use crate::commands::{audit, check};
use crate::{output, time_format};

/// How many of the newest records are checked: the whole chain is for `lictor audit verify`.
const NEWEST: u64 = 1_000;
/// Older events are no longer reported as problems.
const RECENT_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// Whether the policy can be loaded.
pub fn policy(report: &mut Report, project: &Project) {
    match policy_files::load(project) {
        Ok(loaded) => {
            report.ok("the policy loads");
            for program in check::untrusted(&loaded.policy, project) {
                let line = output::clipped(&visible_line(&program.argv.join(" ")), 60);
                let what = format!("nobody has trusted `{line}` ({}): what asks it blocks", program.what);
                report.problem(what, "look at it with `lictor trust`");
            }
        }
        Err(error) => report.problem(error.chain(), "run `lictor check`"),
    }
}

/// The state directory, the store in it, and the sessions in that.
pub fn state(report: &mut Report, project: &Project) {
    let directory = project.state_dir();
    let shown = directory.display();
    if let Ok(metadata) = fs::metadata(directory) {
        if metadata.permissions().mode() & 0o077 != 0 {
            report.problem(format!("{shown}: others can look into it"), format!("run `chmod 700 {shown}`"));
        }
        let owner = fs::metadata("/proc/self").map_or_else(|_| metadata.uid(), |own| own.uid());
        if metadata.uid() != owner {
            report.problem(
                format!("{shown}: belongs to somebody else"),
                format!("run `sudo chown -R $USER {shown}`"),
            );
        }
    }
    if let Some((place, why)) = unusable(directory) {
        report.problem(
            format!("nothing can be recorded: `{}` {why}", place.display()),
            "mend that, or set `LICTOR_STATE_DIR` to a directory that can be written",
        );
        return;
    }
    if !project.has_store() {
        report.note("nothing has been recorded here yet", "start the agent in this project");
        return;
    }
    let store = match project.existing_store() {
        Ok(store) => store,
        Err(error) => {
            let next = match &error {
                lictor::Error::Store(StoreError::NewerSchema { .. }) => "install the newer lictor".to_owned(),
                _ => format!("restore `{shown}` from a copy, or move it away to begin anew"),
            };
            report.problem(format!("the record cannot be opened: {}", error.chain()), next);
            return;
        }
    };
    chain(report, project, &*store);
    reconcile(report, &*store);
}

/// Why a directory cannot be created or written to, if so.
fn unusable(directory: &Path) -> Option<(&Path, String)> {
    let there = directory.ancestors().find(|place| fs::symlink_metadata(place).is_ok())?;
    if !there.is_dir() {
        return Some((there, "is not a directory".to_owned()));
    }
    tempfile::tempfile_in(there).err().map(|error| (there, format!("cannot be written: {error}")))
}

fn chain(report: &mut Report, project: &Project, store: &dyn Store) {
    let anchor = match audit::anchor(project, None) {
        Ok(anchor) => anchor.map(|(anchor, _)| anchor),
        Err(error) => {
            report.problem(output::chain(&error), "compare with another clone: `git log refs/notes/lictor`");
            None
        }
    };
    let checked = store.view(|view| {
        let first = view.head()?.seq.saturating_sub(NEWEST).max(1);
        verify(view, first..=u64::MAX, anchor)
    });
    match checked {
        Ok(result) if result.is_sound() => {
            report.ok(format!("the newest {} records are sound; {}", result.records, result.anchoring));
        }
        Ok(result) => {
            for fault in &result.faults {
                report.problem(format!("the record was changed: {fault}"), "run `lictor audit verify`");
            }
        }
        Err(error) => {
            report.problem(format!("the record cannot be read: {error}"), "run `lictor audit verify`")
        }
    }
}

/// Calls that were reported only after they happened, or in spite of a block: a hook is missing, disabled or was
/// bypassed.
fn reconcile(report: &mut Report, store: &dyn Store) {
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let now = time_format::now();
    let mut before = u64::MAX;
    loop {
        let query = Query::all().before(before).kind("happened").newest_first().limit(500);
        let page = match store.view(|view| view.records(&query)) {
            Ok(page) => page,
            Err(error) => {
                report.problem(format!("the record cannot be read: {error}"), "run `lictor audit verify`");
                return;
            }
        };
        let Some(last) = page.last() else { break };
        before = last.seq;
        let over = now.millis_since(last.at) > RECENT_MS;
        for record in page.iter().filter(|record| now.millis_since(record.at) <= RECENT_MS) {
            let session = record.session.as_ref().map(ToString::to_string).unwrap_or_default();
            if let Some(how) = ungoverned(record) {
                *counts.entry((session, how)).or_default() += 1;
            }
        }
        if over {
            break;
        }
    }
    for ((session, how), count) in counts {
        report.problem(
            format!("session {session}: {count} tool calls happened {how}"),
            format!(
                "`lictor audit query --kind happened --session {session}` shows them; see the hooks above"
            ),
        );
    }
}

/// How a call happened without permission, if so.
fn ungoverned(record: &Record) -> Option<&'static str> {
    let body: serde_json::Value = serde_json::from_str(&record.body).ok()?;
    match serde_json::from_value(body.pointer("/event/standing")?.clone()).ok()? {
        Standing::Governed => None,
        Standing::Ungoverned => Some("without having been judged"),
        Standing::Bypass => Some("although blocked"),
    }
}

/// Faults of Lictor's own in the last days.
pub fn faults(report: &mut Report, project: &Project) {
    let now = time_format::now();
    let recent: Vec<_> =
        fault::noted(project).into_iter().filter(|fault| now.millis_since(fault.at) < RECENT_MS).collect();
    let Some(last) = recent.last() else { return };
    // Later judgements show that the fault is fixed.
    let newest = project
        .existing_store()
        .ok()
        .and_then(|store| newest_decisions(&*store, &Wanted::default(), 1).ok()?.0.pop());
    if newest.is_some_and(|decided| decided.at > last.at) {
        report.ok(format!(
            "the last fault, {} ago, is mended: calls have been judged since",
            time_format::age(last.at, now)
        ));
        return;
    }
    report.problem(
        format!(
            "{} could not be judged lately; the last, {} ago ({} {}): {}",
            output::count(recent.len() as u64, "call"),
            time_format::age(last.at, now),
            last.agent,
            last.event,
            last.reason
        ),
        format!(
            "mend it; the next call that is judged settles this (`{}` has the list)",
            fault::file(project).display()
        ),
    );
}
