//! Projects and machines: what is governed, with which agents, and whether it works.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use askama::Template;
use axum::http::StatusCode;
use lictor::log::kind;
use lictor_store::{Query, StoreExt as _};

use super::words::{self, When};
use super::{Frame, Shown, Visit, rules, shown};
use crate::http::Problem;
use crate::tenants::Open;

/// The maximum number of sessions read for each project.
const SESSIONS: usize = 40;
/// Projects on the page.
const PLACES: usize = 60;
/// Machines on the page: each has a record of its own.
const MACHINES: usize = 30;

/// An agent in a project.
#[derive(Default)]
struct Agent {
    sessions: u64,
    calls: u64,
    blocked: u64,
    ungoverned: u64,
}

/// One project or machine.
struct Place {
    id: String,
    name: String,
    root: String,
    records: String,
    /// The end of its chain.
    head: String,
    last: Option<When>,
    agents: Vec<(String, Agent)>,
    waiting: usize,
    policy: Option<String>,
    trouble: Option<String>,
}

#[derive(Template)]
#[template(path = "projects.html")]
struct Page {
    frame: Frame,
    places: Vec<Place>,
    machines: Vec<Machine>,
    /// Where the next machines begin.
    next: Option<usize>,
    proof: Option<(bool, String)>,
}

/// A machine that sends its record.
struct Machine {
    name: String,
    store: String,
    records: String,
    head: String,
    last: Option<When>,
}

pub(super) fn list(visit: &Visit) -> Result<Shown, Problem> {
    page(visit, None)
}

/// Lets `lictor doctor` fire a canary through every installed hook.
pub(super) fn prove(visit: &Visit) -> Result<Shown, Problem> {
    let open = visit.open()?;
    let missing = || {
        let text = "`lictor` is not beside this program; run `lictor doctor` in the project";
        Problem::new(StatusCode::NOT_FOUND, "not_found", text)
    };
    if visit.server.tenants.local.is_none() {
        return Err(Problem::bad("hooks are proved on the machine that they are on: `lictor doctor`"));
    }
    let program = rules::beside("lictor").ok_or_else(missing)?;
    let output = Command::new(program)
        .arg("doctor")
        .arg("--cwd")
        .arg(&open.runtime.project().root)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", error.to_string()))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    page(visit, Some((output.status.success(), words::clipped(text.trim(), 20_000))))
}

fn page(visit: &Visit, proof: Option<(bool, String)>) -> Result<Shown, Problem> {
    let tenants = &visit.server.tenants;
    let mut places = Vec::new();
    let mut machines = Vec::new();
    let mut next = None;
    match &tenants.local {
        Some(local) => {
            for one in local.list().into_iter().take(PLACES) {
                places.push(match tenants.open(&one.id) {
                    Ok(open) => place(one.id, one.name, one.root, &open)?,
                    Err(error) => broken(one.id, one.name, one.root, error.to_string()),
                });
            }
        }
        None => {
            let tenant = visit.caller.tenant.clone();
            let open = tenants.open(&tenant)?;
            places.push(place(
                tenant.clone(),
                tenant.clone(),
                "programs that call this server".to_owned(),
                &open,
            )?);
            let all = tenants.registry.machines(&tenant)?;
            let from = visit.asked("from").and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
            let end = from.saturating_add(MACHINES);
            next = (all.len() > end).then_some(end);
            for store in all.into_iter().skip(from).take(MACHINES) {
                let kept = tenants.stores.machine(&tenant, &store)?;
                let newest = Query::all().newest_first().limit(1);
                let newest = kept.view(|view| view.records(&newest))?.into_iter().next();
                machines.push(Machine {
                    name: store.clone(),
                    records: words::number(newest.as_ref().map_or(0, |record| record.seq)),
                    head: newest.as_ref().map(|record| record.hash.short().to_string()).unwrap_or_default(),
                    last: newest.map(|record| When(record.at)),
                    store,
                });
            }
        }
    }
    shown(&Page { frame: visit.frame("Projects", "/projects"), places, machines, next, proof })
}

fn broken(id: String, name: String, root: String, trouble: String) -> Place {
    Place {
        id,
        name,
        root,
        records: "0".to_owned(),
        head: String::new(),
        last: None,
        agents: Vec::new(),
        waiting: 0,
        policy: None,
        trouble: Some(trouble),
    }
}

fn place(id: String, name: String, root: String, open: &Open) -> Result<Place, Problem> {
    let newest = Query::all().newest_first().limit(1);
    let begun = Query::all().kind(kind::SESSION_STARTED).newest_first().limit(SESSIONS);
    let (head, last, begun) = open
        .store
        .view(|view| Ok((view.head()?, view.records(&newest)?.into_iter().next(), view.records(&begun)?)))?;
    let mut agents: BTreeMap<String, Agent> = BTreeMap::new();
    for key in begun.into_iter().filter_map(|record| record.session) {
        let state = open.runtime.session(&key)?;
        // Subagents are counted with their parents; accounts of people are not agents.
        if key.is_account() || state.parent.as_ref().is_some_and(|parent| !parent.is_account()) {
            continue;
        }
        let agent = agents.entry(key.agent).or_default();
        agent.sessions += 1;
        agent.calls += state.action_count;
        agent.blocked += state.block_count;
        agent.ungoverned += state.ungoverned_count + state.bypass_count;
    }
    let project = open.runtime.project();
    let policy = lictor::Snapshot::read(project).err().map(|error| words::clipped(&error.chain(), 400));
    Ok(Place {
        id,
        name,
        root,
        records: words::number(head.seq),
        head: if head.seq == 0 { String::new() } else { head.hash.short().to_string() },
        last: last.map(|record| When(record.at)),
        agents: agents.into_iter().collect(),
        waiting: open.runtime.approvals().pending(crate::tenants::now())?.len(),
        policy,
        trouble: None,
    })
}
