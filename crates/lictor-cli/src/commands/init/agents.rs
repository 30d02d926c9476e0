//! Hooks in the settings of agents.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use lictor::Project;
use lictor_agents::Agent;
use lictor_agents::install::{self, Change, Scope, Settings, Where};

use super::plan::{FileStep, Plan};
use super::receipts::Receipts;
use super::trust;
use crate::here;

/// The installed agents, detected by settings and programs.
pub fn found(place: &Where) -> Vec<Agent> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = env::split_paths(&path).filter(|dir| dir.is_absolute()).collect();
    let there = |agent: &Agent| {
        install::traces(*agent, place).iter().any(|trace| trace.exists())
            || agent.programs().any(|name| directories.iter().any(|dir| dir.join(name).is_file()))
    };
    Agent::ALL.into_iter().filter(there).collect()
}

/// The settings of an agent, if it has any in that scope.
pub fn settings_of(agent: Agent, scope: Scope, place: &Where) -> Option<Settings> {
    Settings::of(agent, scope, place, Path::exists)
}

/// Plans the hooks of the named agents, or of those that are found.
pub fn install(
    plan: &mut Plan,
    project: &Project,
    named: &[Agent],
    scope: Scope,
    binary: &Path,
    receipts: &Receipts,
) -> Result<()> {
    let place = project.agent_settings();
    let mut agents = if named.is_empty() { found(&place) } else { named.to_vec() };
    if agents.is_empty() {
        plan.notes.push(
            "no agent was found; hooks are for Claude Code. Another: `lictor init --agent NAME`".to_owned(),
        );
        agents.push(Agent::ClaudeCode);
    }
    let mut done = BTreeSet::new();
    let shared = scope == Scope::Project;
    let program = if shared && here::is_found(binary, &place) { Path::new(install::PROGRAM) } else { binary };
    for agent in agents {
        let Some(settings) = settings_of(agent, scope, &place) else {
            plan.agents.push(agent);
            continue;
        };
        plan.readers.push((settings.path().to_owned(), agent, true));
        // Copilot CLI and VS Code read one file.
        if !done.insert(settings.path().to_owned()) {
            continue;
        }
        plan.agents.push(agent);
        let before = read(settings.path())?;
        let change = settings.install(before.as_deref(), program)?;
        if !change.is_empty() {
            plan.notes.extend(install::advice(agent).iter().map(|advice| format!("{agent}: {advice}")));
        }
        // The receipt keeps the file without Lictor, so that undoing works after repeated installations.
        let ours = before.as_deref().is_some_and(|text| !settings.inspect(text, binary).hooks.is_empty());
        let clean = match ours {
            true => settings.uninstall(before.as_deref(), receipts.of(settings.path()))?.after,
            false => before,
        };
        let receipt = Change { before: clean, ..change.clone() }.receipt();
        plan.add(FileStep { change, receipt });
    }
    if shared && program == binary && !plan.is_empty() {
        plan.notes.push(
            format!(
                "project settings name `{}`, because no other `lictor` would be found; keep them out of commits, or install \
                 Lictor in ~/.local/bin and run this again",
                binary.display()
            ),
        );
    }
    Ok(())
}

/// Plans to take the hooks out again: of the named agents, or of all.
pub fn uninstall(
    plan: &mut Plan,
    project: &Project,
    named: &[Agent],
    scope: Scope,
    receipts: &Receipts,
) -> Result<()> {
    let place = project.agent_settings();
    let agents = if named.is_empty() { &Agent::ALL[..] } else { named };
    let mut done = BTreeSet::new();
    for agent in agents {
        let Some(settings) = settings_of(*agent, scope, &place) else { continue };
        let path = settings.path();
        plan.readers.push((path.to_owned(), *agent, false));
        if !done.insert(path.to_owned()) {
            continue;
        }
        let Some(before) = read(path)? else { continue };
        let receipt = receipts.of(path);
        // Settings without our hooks are ignored, readable or not.
        if receipt.is_none() && settings.inspect(&before, Path::new(install::PROGRAM)).hooks.is_empty() {
            continue;
        }
        let shares = |other: &Agent| {
            let file = settings_of(*other, scope, &place);
            !agents.contains(other) && file.is_some_and(|file| file.path() == path)
        };
        let present = found(&place);
        let uses = |other: &Agent| present.contains(other) || receipts.is_for(path, *other);
        if let Some(other) = Agent::ALL.iter().find(|other| uses(other) && shares(other)) {
            plan.notes.push(format!(
                "{} stays: {other} reads it too; `lictor init --uninstall --agent {agent} --agent {other}` takes it out",
                path.display()
            ));
            continue;
        }
        let change = settings.uninstall(Some(&before), receipt)?;
        plan.add(FileStep { change, receipt: None });
        trust::forget(plan, *agent, path, scope, project, receipts)?;
    }
    Ok(())
}

/// The file's text; `None` when there is no file.
pub fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
}
