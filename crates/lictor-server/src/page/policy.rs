//! The policy view: an editor with the diagnostics of `lictor check`, trying one action, and simulation on the
//! record.

use std::sync::Arc;

use askama::Template;
use axum::http::Method;
use lictor::config::{LoadError, Origin, Severity, Source};
use lictor::drawing::{Path, svg};
use lictor::log::Evaluated;
use lictor::{Runtime, Snapshot, SystemClock, policy_files};
use serde_json::json;

use super::explain::{self, Said, Step};
use super::words::When;
use super::{Frame, Shown, Visit, shown, words};
use crate::http::{Problem, ask};
use crate::identity::Role;
use crate::registry::Published;
use crate::simulate;
use crate::tenants::Open;

/// Recorded decisions that a change is tried on.
const HISTORY: usize = 1_000;
/// Differences that are listed.
const CHANGED: usize = 100;

/// A problem of the policy, as `lictor check` shows it.
struct Trouble {
    class: &'static str,
    text: String,
}

/// The decision for one action.
struct Tried {
    word: &'static str,
    said: Vec<Said>,
    steps: Vec<Step>,
}

/// A recorded decision that would be another one.
struct Changed {
    seq: u64,
    title: String,
    was: &'static str,
    now: &'static str,
    reason: String,
}

/// The result of simulating a change.
struct Simulated {
    judged: usize,
    changed: Vec<Changed>,
    more: usize,
    /// Time ran out before the newest decision.
    cut: bool,
}

/// A policy that was published.
struct Version {
    number: u64,
    by: String,
    at: When,
    in_force: bool,
}

#[derive(Template)]
#[template(path = "policy.html")]
struct Page {
    frame: Frame,
    /// As numbers of characters where it could change how the page reads: an editor must give back what it got.
    text: String,
    file: String,
    others: Vec<(String, String)>,
    troubles: Option<Vec<Trouble>>,
    accepted: bool,
    tried: Option<Tried>,
    simulated: Option<Simulated>,
    graph: String,
    /// Whose path is drawn, as a sentence; empty for none.
    path: String,
    kind: String,
    what: String,
    notice: String,
    may_try: bool,
    may_publish: bool,
    versions: Vec<Version>,
}

/// The edited text, its name, and the other active files.
struct Current {
    text: String,
    file: String,
    others: Vec<Source>,
    origin: Origin,
}

fn current(visit: &Visit, open: &Open) -> Result<Current, Problem> {
    if visit.server.tenants.local.is_none() {
        let published = visit.server.tenants.registry.policy(&visit.caller.tenant, None)?;
        let text = published.map_or_else(|| "version: 1\n".to_owned(), |policy| policy.text);
        return Ok(Current { text, file: "policy".to_owned(), others: Vec::new(), origin: Origin::User });
    }
    let project = open.runtime.project();
    let sources = policy_files::sources(project)?;
    let (own, others): (Vec<Source>, Vec<Source>) =
        sources.into_iter().partition(|source| source.origin == Origin::Repository);
    let text = own.first().map(|source| String::from_utf8_lossy(&source.bytes).into_owned());
    let text = text.unwrap_or_else(|| "version: 1\n".to_owned());
    Ok(Current { text, file: "governance.yaml".to_owned(), others, origin: Origin::Repository })
}

impl Current {
    fn sources(&self, text: &str) -> Vec<Source> {
        let own = Source { origin: self.origin, path: self.file.clone(), bytes: text.as_bytes().to_vec() };
        self.others.iter().cloned().chain([own]).collect()
    }
}

pub(super) fn look(visit: &Visit) -> Result<Shown, Problem> {
    page(visit, None, "")
}

pub(super) fn act(visit: &Visit) -> Result<Shown, Problem> {
    let text = visit.form.get("text").cloned().unwrap_or_default().replace("\r\n", "\n");
    let does = visit.form.get("do").map(String::as_str).unwrap_or("check");
    match (does, visit.form.get("version").and_then(|version| version.parse::<u64>().ok())) {
        ("publish", _) => {
            publish(visit, &text)?;
            page(visit, Some((does, text)), "In force from the next call on.")
        }
        ("rollback", Some(version)) => {
            roll_back(visit, version)?;
            page(visit, None, &format!("Version {version} is in force again, from the next call on."))
        }
        _ => page(visit, Some((does, text)), ""),
    }
}

fn roll_back(visit: &Visit, version: u64) -> Result<(), Problem> {
    let tenant = visit.caller.tenant.clone();
    let to = (Method::PATCH, "/v1/tenants/{tenant}/policy");
    ask(&visit.server, &visit.caller, to, &[("tenant", &tenant)], json!({"version": version}))?;
    Ok(())
}

fn publish(visit: &Visit, text: &str) -> Result<(), Problem> {
    if visit.server.tenants.local.is_none() {
        let tenant = visit.caller.tenant.clone();
        let to = (Method::PUT, "/v1/tenants/{tenant}/policy");
        ask(&visit.server, &visit.caller, to, &[("tenant", &tenant)], json!({"text": text}))?;
        return Ok(());
    }
    let open = visit.open()?;
    let current = current(visit, &open)?;
    Snapshot::from_sources(current.sources(text), &open.runtime.project().root)?;
    let file = open.runtime.project().policy_file();
    std::fs::write(&file, text).map_err(|error| {
        let text = format!("cannot write `{}`: {error}", file.display());
        Problem::new(axum::http::StatusCode::CONFLICT, "file", text)
    })
}

fn page(visit: &Visit, done: Option<(&str, String)>, notice: &str) -> Result<Shown, Problem> {
    let open = visit.open()?;
    let current = current(visit, &open)?;
    let (does, text) = done.unwrap_or(("", current.text.clone()));
    let sources = current.sources(&text);
    let troubles = troubles(&sources);
    let accepted = !troubles.iter().any(|trouble| trouble.class == "block");
    let said = |name: &str| visit.form.get(name).map(String::as_str).unwrap_or_default().to_owned();
    let (kind, what) = (said("kind"), said("what"));
    let (mut tried, mut simulated, mut drawn, mut path) = (None, None, String::new(), String::new());
    if accepted {
        let project = open.runtime.project();
        let snapshot = Arc::new(Snapshot::from_sources(sources, &project.root)?);
        let candidate = Runtime::in_memory(project, Arc::clone(&snapshot), SystemClock)?;
        let mut trace = None;
        if does == "try" && !what.trim().is_empty() {
            let action = candidate.action(&kind, &what);
            let evaluation = candidate.evaluate_dry(&action);
            tried = Some(Tried {
                word: words::word(evaluation.decision),
                said: explain::said(&evaluation),
                steps: explain::steps(&evaluation),
            });
            trace = Some(evaluation.trace);
            path = format!("The path of what was tried: {}", words::clipped(&what, 120));
        } else if let Some(seq) = visit.asked("decision") {
            let record = explain::record(&*visit.store()?, seq)?;
            let told = serde_json::from_str::<Evaluated<'_>>(&record.body).ok();
            if let Some(told) = &told {
                let title = lictor::past::title(&told.action);
                path = format!("The path of decision {}: {}", record.seq, words::clipped(&title, 120));
            }
            trace = told.map(|told| told.evaluation.trace.clone());
        }
        let path = trace.as_ref().map(Path::of);
        drawn = svg::draw(&candidate.engine().graph().outline(), path.as_ref(), svg::Look::InPage);
        if does == "simulate" {
            simulated = Some(simulate(&open, snapshot)?);
        }
    }
    let versions = match &visit.server.tenants.local {
        Some(_) => Vec::new(),
        None => {
            let all = visit.server.tenants.registry.policies(&visit.caller.tenant)?;
            let current = all.last().map_or(0, |policy| policy.version);
            let newest = all.into_iter().rev().take(10);
            let version = |policy: Published| Version {
                number: policy.version,
                by: policy.by,
                at: When(policy.at),
                in_force: policy.version == current,
            };
            newest.map(version).collect()
        }
    };
    let others = current.others.iter();
    let others =
        others.map(|source| (source.path.clone(), String::from_utf8_lossy(&source.bytes).into_owned()));
    shown(&Page {
        frame: visit.frame("Policy", "/policy"),
        text: editable(&text),
        file: current.file.clone(),
        others: others.collect(),
        troubles: (!does.is_empty() || !troubles.is_empty()).then_some(troubles),
        accepted,
        tried,
        simulated,
        graph: drawn,
        path,
        kind,
        what,
        notice: notice.to_owned(),
        may_try: visit.has(Role::Author),
        may_publish: visit.has(Role::Publisher),
        versions,
    })
}

/// Text for an editor. Invisible characters are written as numeric references, which the browser decodes.
fn editable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '<' | '>' | '"' | '\'' => out.push_str(&format!("&#{};", u32::from(c))),
            '\n' => out.push('\n'),
            c if lictor_core::text::is_deceptive(c) => out.push_str(&format!("&#{};", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

fn troubles(sources: &[Source]) -> Vec<Trouble> {
    let found = match lictor::config::load(sources) {
        Ok(loaded) => loaded.check(),
        Err(LoadError { diagnostics }) => diagnostics,
    };
    let show = |problem: &lictor::config::Diagnostic| {
        let source = sources.iter().find(|source| source.path == problem.file);
        let lines = source.map(|source| String::from_utf8_lossy(&source.bytes)).unwrap_or_default();
        let class = match problem.severity {
            Severity::Error => "block",
            Severity::Warning => "warn",
        };
        Trouble { class, text: words::clipped(&problem.render(&lines), 4_000) }
    };
    found.iter().take(50).map(show).collect()
}

/// Simulates the policy on the latest decisions.
fn simulate(open: &Open, candidate: Arc<Snapshot>) -> Result<Simulated, Problem> {
    let after = simulate::newest(&*open.store, HISTORY)?;
    let out = simulate::run(&open.runtime, &*open.store, candidate, after, HISTORY)?;
    let more = out.changed.len().saturating_sub(CHANGED);
    let changed = out.changed.iter().take(CHANGED).map(|one| Changed {
        seq: one.seq,
        title: words::clipped(&lictor::past::title(&one.action), 200),
        was: words::word(one.was),
        now: words::word(one.now),
        reason: words::clipped(&one.reason, 300),
    });
    Ok(Simulated { judged: out.judged, changed: changed.collect(), more, cut: out.stopped_at.is_some() })
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_editor_gives_back_what_it_got() {
        assert_eq!(super::editable("a: '<b>'\n# \u{202e}x"), "a: &#39;&#60;b&#62;&#39;\n# &#8238;x");
    }
}
