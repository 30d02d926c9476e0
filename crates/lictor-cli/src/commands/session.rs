//! `lictor session`: shows sessions, and refreshes their policy.

use anyhow::Result;
use clap::{Args, Subcommand};
use clap_complete::ArgValueCandidates;
use lictor::past::{SessionError, find_session, sessions};
use lictor::{PolicyEngine, Project, Runtime, Snapshot, Store, session_home};
use lictor_core::{Digest, SessionKey, SessionState};
use serde_json::{Value, json};

use crate::args::Common;
use crate::candidates;
use crate::exit::{self, Exit};
use crate::here;
use crate::output;
use crate::time_format;

/// Show sessions, or apply the current policy to them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor session list
  lictor session show claude-code:1f0c --json
  lictor session refresh 1f0c")]
pub struct SessionArgs {
    #[command(subcommand)]
    command: SessionCommand,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum SessionCommand {
    /// The sessions of this project, newest first.
    List,
    /// Show the state of one session.
    Show {
        /// Its id or a prefix; `agent:id` if ids of several agents collide.
        #[arg(add = ArgValueCandidates::new(candidates::sessions))]
        id: String,
    },
    /// Clear the memory of tool policies, feedback and the stop gate; counters and budgets stay. For people, not
    /// for agents.
    Reset {
        /// Its id or the first letters of it.
        #[arg(add = ArgValueCandidates::new(candidates::sessions))]
        id: String,
    },
    /// Let a running session use the current policy, even where it allows more.
    Refresh {
        /// Its id or a prefix; default: every running session that has seen another policy.
        #[arg(add = ArgValueCandidates::new(candidates::sessions))]
        id: Option<String>,
    },
}

const NONE: &str = "no sessions yet; the first hook of an agent begins one\n";

/// Runs the command.
pub fn run(args: &SessionArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    // Reading must not create a record.
    if !project.has_store() {
        return match &args.command {
            SessionCommand::List if args.common.json => output::print_json(&[(); 0]).map(|()| Exit::Ok),
            SessionCommand::List => Ok(output::print(NONE).map(|()| Exit::Ok)?),
            SessionCommand::Show { .. } | SessionCommand::Refresh { .. } | SessionCommand::Reset { .. } => {
                Err(lictor::Error::NothingRecorded(project.root).into())
            }
        };
    }
    if let SessionCommand::Refresh { id } = &args.command {
        here::people_only("session refresh", &project)?;
        return refresh(&project, id.as_deref(), args.common.json);
    }
    if let SessionCommand::Reset { id } = &args.command {
        here::people_only("session reset", &project)?;
        return reset(project, id, args.common.json);
    }
    let past = here::past(&project)?;
    match &args.command {
        SessionCommand::Show { id } => show(&past, &project, id, args.common.json),
        SessionCommand::List | SessionCommand::Refresh { .. } | SessionCommand::Reset { .. } => {
            list(&past, args.common.json)
        }
    }
}

fn reset(project: Project, id: &str, json: bool) -> Result<Exit> {
    let runtime = Runtime::of_project(project)?;
    let key = named(&**runtime.store(), id)?;
    runtime.reset(&key)?;
    if json {
        output::print_json(&json!({"agent": key.agent, "id": key.id}))?;
    } else {
        output::print(&format!("{key}: tool policies, feedback and the stop gate begin anew\n"))?;
    }
    Ok(Exit::Ok)
}

fn list(past: &PolicyEngine, json: bool) -> Result<Exit> {
    let mut text = String::new();
    let mut rows = Vec::new();
    for key in sessions(&**past.store())? {
        let state = past.session(&key)?;
        text += &format!(
            "{}  {:>11}  {:>4} blocked  {key}\n",
            state.latest.map(time_format::local).unwrap_or_default(),
            output::count(state.action_count, "action"),
            state.block_count
        );
        rows.push(told(&key, &state));
    }
    if json {
        output::print_json(&rows)?
    } else if rows.is_empty() {
        output::print(NONE)?
    } else {
        output::print(&text)?
    }
    Ok(Exit::Ok)
}

/// The session with this name.
pub fn named(store: &dyn Store, text: &str) -> Result<SessionKey> {
    find_session(store, text).map_err(|error| match error {
        SessionError::Store(error) => error.into(),
        error => exit::not_there(error.to_string()),
    })
}

/// Whether an older policy still applies to the session. A session of another work tree has another policy.
fn is_behind(now: Digest, project: &Project, key: &SessionKey, state: &SessionState) -> bool {
    let top = state.parent.as_ref().unwrap_or(key);
    let only_now = |seen: Vec<Digest>| seen.iter().all(|policy| *policy == now);
    !state.policies().is_some_and(only_now) && !session_home::is_elsewhere(top, project)
}

fn refresh(project: &Project, id: Option<&str>, json: bool) -> Result<Exit> {
    let runtime = Runtime::of_project(project.clone())?;
    let engine = runtime.engine();
    let wanted = match id {
        Some(id) => vec![named(&**engine.store(), id)?],
        None => sessions(&**engine.store())?,
    };
    let mut text = String::new();
    let mut rows = Vec::new();
    for key in wanted {
        let state = engine.session(&key)?;
        if is_behind(engine.policy(), project, &key, &state) && (id.is_some() || !state.ended) {
            let policy = engine.refresh(&key)?.policy;
            text += &format!("session {key} goes on under the current policy\n");
            rows.push(json!({"agent": key.agent, "id": key.id, "policy": policy}));
        }
    }
    if text.is_empty() {
        text += "nothing to do: no session here has seen another policy\n";
    }
    if json {
        output::print_json(&rows)?
    } else {
        output::print(&text)?
    }
    Ok(Exit::Ok)
}

fn show(past: &PolicyEngine, project: &Project, id: &str, json: bool) -> Result<Exit> {
    let key = &named(&**past.store(), id)?;
    let state = past.session(key)?;
    if json {
        output::print_json(&told(key, &state))?;
    } else {
        let mut text = describe(key, &state);
        // An invalid policy must not prevent showing the session.
        let now = Snapshot::read(project).map(|current| current.digest());
        if now.is_ok_and(|now| is_behind(now, project, key, &state)) {
            text += &format!(
                "  {:<22} has changed since this session began; what any version forbade stays forbidden\n\
                 {:24} until `lictor session refresh {}`\n",
                "policy", "", key.id
            );
        }
        output::print(&text)?;
    }
    Ok(Exit::Ok)
}

/// A session for programs.
fn told(key: &SessionKey, state: &SessionState) -> Value {
    json!({"agent": key.agent, "id": key.id, "state": state.shown()})
}

fn describe(key: &SessionKey, state: &SessionState) -> String {
    let mut text = format!("session {key}\n");
    let times = [("started", state.started), ("newest event", state.latest)];
    for (name, at) in times {
        text += &format!("  {name:<22} {}\n", at.map(time_format::local).unwrap_or_default());
    }
    let counts = [
        ("actions", state.action_count),
        ("passed", state.pass_count),
        ("warned", state.warn_count),
        ("asked", state.ask_count),
        ("blocked", state.block_count),
        ("escalated", state.escalation_count),
        ("succeeded", state.success_count),
        ("failed", state.failure_count),
        ("never judged", state.ungoverned_count),
        ("done although blocked", state.bypass_count),
    ];
    for (name, count) in counts {
        text += &format!("  {name:<22} {count}\n");
    }
    if let Some(outcome) = &state.completion.last {
        text += &format!("  {:<22} {outcome}\n", "last wish to stop");
    }
    for (tag, streak) in &state.streaks {
        text += &format!("  {:<22} {streak}\n", format!("in a row: {tag}"));
    }
    text
}
