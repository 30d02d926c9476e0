//! `lictor init --mcp`: adds and removes the proxy for the MCP servers in agents' settings.

use std::path::Path;

use anyhow::{Context as _, Result};
use lictor::Project;
use lictor_agents::install::Change;
use lictor_agents::install::servers::ServerSettings;

use super::agents::read;
use super::plan::Plan;

/// Plans the proxy for every stdio server.
pub fn wrap(plan: &mut Plan, project: &Project, binary: &Path) -> Result<()> {
    let mut found = 0;
    for settings in ServerSettings::all(&project.agent_settings()) {
        let Some(text) = read(settings.path())? else { continue };
        let broken = || format!("`{}` cannot be changed", settings.path().display());
        found += settings.servers(&text).with_context(broken)?.len();
        let after = settings.wrap(&text, binary).with_context(broken)?;
        plan.rewrite(change(&settings, text, after));
    }
    if found == 0 {
        plan.notes.push("no agent here is told of an MCP server; add one, then run this again".to_owned());
    }
    Ok(())
}

/// Plans its removal, including from files that the plan already changes.
pub fn unwrap(plan: &mut Plan, project: &Project) -> Result<()> {
    for settings in ServerSettings::all(&project.agent_settings()) {
        // A file that is not JSON was not changed by `init`.
        let unwrapped = |text: &str| settings.unwrap(text).unwrap_or_else(|_| text.to_owned());
        if plan.edit(settings.path(), unwrapped) {
            continue;
        }
        let Some(text) = read(settings.path())? else { continue };
        let after = unwrapped(&text);
        plan.rewrite(change(&settings, text, after));
    }
    Ok(())
}

fn change(settings: &ServerSettings, before: String, after: String) -> Change {
    Change { path: settings.path().to_owned(), before: Some(before), after: Some(after) }
}
