//! Shell completions for arguments: agents, ids of sessions and of approvals, and remembered tools, in the
//! current project.
//!
//! On errors there are no completions; the command itself reports the error.

use std::path::Path;
use std::sync::Arc;

use clap_complete::CompletionCandidate;
use lictor::Approvals;
use lictor::past;
use lictor_agents::Agent;

use crate::commands::explain;
use crate::here;
use crate::output;
use crate::time_format;

/// The longest description that shells show well beside an id.
const WIDTH: usize = 60;

/// The sessions on record, newest first.
pub fn sessions() -> Vec<CompletionCandidate> {
    let Ok(engine) = here::past(&here::project(Path::new(""))) else { return Vec::new() };
    let keys = past::sessions(&**engine.store()).unwrap_or_default();
    let listed = keys.into_iter().enumerate();
    listed.map(|(order, key)| CompletionCandidate::new(key.to_string()).display_order(Some(order))).collect()
}

/// The pending questions, each with its action.
pub fn approvals() -> Vec<CompletionCandidate> {
    let Ok(engine) = here::past(&here::project(Path::new(""))) else { return Vec::new() };
    let waiting = Approvals::new(Arc::clone(engine.store())).pending(time_format::now()).unwrap_or_default();
    let offered = waiting.into_iter().map(|approval| {
        let about = approval.shown.as_ref().map(|shown| {
            let title = lictor_core::text::visible_line(&explain::title(&shown.action));
            output::clipped(&title, WIDTH).into()
        });
        CompletionCandidate::new(approval.short()).help(about)
    });
    offered.collect()
}

/// The agents that Lictor has hooks for.
pub fn agents() -> Vec<CompletionCandidate> {
    Agent::ALL.into_iter().map(|agent| CompletionCandidate::new(agent.name())).collect()
}

/// The tools that are remembered.
pub fn tools() -> Vec<CompletionCandidate> {
    let tools = lictor::remembered::remembered(&here::project(Path::new(""))).unwrap_or_default();
    tools.into_iter().map(|one| CompletionCandidate::new(one.tool)).collect()
}
