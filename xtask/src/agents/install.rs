//! Agents in a cache of their own, each at its pinned version.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::spec::AgentFile;

/// Installs the agent's package where it is not there yet.
pub fn ensure(agent: &AgentFile) -> Result<()> {
    let cache = agent.cache();
    if cache.join(&agent.program).exists() {
        return Ok(());
    }
    fs::create_dir_all(&cache)?;
    fs::write(cache.join("package.json"), "{\"private\": true}\n")?;
    let package = format!("{}@{}", agent.package, agent.version);
    println!("$ npm install {package}");
    let status = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--save-exact", &package])
        .args(&agent.with)
        .current_dir(&cache)
        .status()
        .context("cannot start `npm`; is it installed?")?;
    if !status.success() || !cache.join(&agent.program).exists() {
        bail!("`npm install {package}` did not bring `{}`", agent.program);
    }
    Ok(())
}
