//! `lictor session`: what a session has been through.

use anyhow::Result;
use clap::{Args, Subcommand};
use lictor::PolicyEngine;
use lictor_core::{SessionKey, SessionState};
use lictor_store::{Query, StoreExt as _};
use serde_json::json;

use crate::args::Common;
use crate::exit::{self, Exit};
use crate::output;
use crate::place::Project;
use crate::runtime;
use crate::when;

/// Show sessions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor session list
  lictor session show claude-code:1f0c --json")]
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
    /// The state of one session.
    Show {
        /// Its id; `agent:id` where ids of several agents collide.
        id: String,
    },
}

const NONE: &str = "no sessions yet; the first hook of an agent begins one\n";

/// Runs the command.
pub fn run(args: &SessionArgs) -> Result<Exit> {
    let project = Project::around(&args.common.cwd);
    // Looking must not create a record.
    if !runtime::has_store(&project) {
        return match &args.command {
            SessionCommand::List if args.common.json => output::print_json(&[(); 0]).map(|()| Exit::Ok),
            SessionCommand::List => Ok(output::print(NONE).map(|()| Exit::Ok)?),
            SessionCommand::Show { .. } => Err(runtime::nothing_recorded(&project)),
        };
    }
    let past = runtime::past(&project)?;
    match &args.command {
        SessionCommand::List => list(&past, args.common.json),
        SessionCommand::Show { id } => show(&past, id, args.common.json),
    }
}

fn sessions(past: &PolicyEngine) -> Result<Vec<SessionKey>> {
    let query = Query::all().kind("session.started").newest_first();
    let records = past.store().view(|view| view.records(&query))?;
    Ok(records.into_iter().filter_map(|record| record.session).collect())
}

fn list(past: &PolicyEngine, json: bool) -> Result<Exit> {
    let mut text = String::new();
    let mut rows = Vec::new();
    for key in sessions(past)? {
        let state = past.session(&key)?;
        text += &format!(
            "{}  {:>11}  {:>4} blocked  {key}\n",
            state.latest.map(when::utc).unwrap_or_default(),
            output::count(state.action_count, "action"),
            state.block_count
        );
        rows.push(json!({"agent": key.agent, "id": key.id, "state": state}));
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

fn show(past: &PolicyEngine, id: &str, json: bool) -> Result<Exit> {
    let wanted = super::audit::session_key(id);
    let matching: Vec<SessionKey> = sessions(past)?
        .into_iter()
        .filter(|key| key.id == wanted.id && (wanted.agent.is_empty() || key.agent == wanted.agent))
        .collect();
    let key = match matching.as_slice() {
        [] => {
            return Err(exit::not_there(format!(
                "there is no session `{id}`; `lictor session list` shows them"
            )));
        }
        [key] => key,
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            return Err(exit::not_there(format!(
                "several agents have a session `{id}`; name one of: {}",
                names.join(", ")
            )));
        }
    };
    let state = past.session(key)?;
    if json {
        output::print_json(&json!({"agent": key.agent, "id": key.id, "state": state}))?;
    } else {
        output::print(&describe(key, &state))?;
    }
    Ok(Exit::Ok)
}

fn describe(key: &SessionKey, state: &SessionState) -> String {
    let mut text = format!("session {key}\n");
    let times = [("started", state.started), ("newest event", state.latest)];
    for (name, at) in times {
        text += &format!("  {name:<22} {}\n", at.map(when::utc).unwrap_or_default());
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
