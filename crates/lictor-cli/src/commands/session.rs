//! `lictor session`: what a session has been through.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use lictor_core::{SessionKey, SessionState};
use lictor_store::{Query, StoreExt as _};
use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::place::Project;
use crate::runtime::Runtime;
use crate::when;

/// Show sessions.
#[derive(Debug, Args)]
pub struct SessionArgs {
    #[command(subcommand)]
    command: SessionCommand,
    /// Directory of the project.
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    cwd: PathBuf,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
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

/// Runs the command.
pub fn run(args: &SessionArgs) -> Result<Exit> {
    let runtime = Runtime::open(&Project::around(&args.cwd))?;
    match &args.command {
        SessionCommand::List => list(&runtime, args.json),
        SessionCommand::Show { id } => show(&runtime, id, args.json),
    }
}

fn sessions(runtime: &Runtime) -> Result<Vec<SessionKey>> {
    let query = Query::all().kind("session.started").newest_first();
    let records = runtime.engine.store().view(|view| view.records(&query))?;
    Ok(records.into_iter().filter_map(|record| record.session).collect())
}

fn list(runtime: &Runtime, json: bool) -> Result<Exit> {
    let mut text = String::new();
    let mut rows = Vec::new();
    for key in sessions(runtime)? {
        let state = runtime.engine.session(&key)?;
        text += &format!(
            "{}  {:>6} actions  {:>4} blocked  {key}\n",
            state.latest.map(when::utc).unwrap_or_default(),
            state.action_count,
            state.block_count
        );
        rows.push(json!({"agent": key.agent, "id": key.id, "state": state}));
    }
    if json {
        output::print_json(&rows)?
    } else {
        output::print(&text)?
    }
    Ok(Exit::Ok)
}

fn show(runtime: &Runtime, id: &str, json: bool) -> Result<Exit> {
    let wanted = super::audit::session_key(id);
    let matching: Vec<SessionKey> = sessions(runtime)?
        .into_iter()
        .filter(|key| key.id == wanted.id && (wanted.agent.is_empty() || key.agent == wanted.agent))
        .collect();
    let key = match matching.as_slice() {
        [] => bail!("there is no session `{id}`; `lictor session list` shows them"),
        [key] => key,
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            bail!("several agents have a session `{id}`; name one of: {}", names.join(", "))
        }
    };
    let state = runtime.engine.session(key)?;
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
