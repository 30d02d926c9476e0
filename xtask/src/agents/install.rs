//! Agents in a cache of their own, each at its pinned version.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::spec::AgentFile;

/// Installs the agent's package where it is not there yet. It comes to its place when it is whole, so that an installation that
/// was interrupted is not taken for one.
pub fn ensure(agent: &AgentFile) -> Result<()> {
    let cache = agent.cache();
    if cache.join(&agent.program).exists() {
        return Ok(());
    }
    let new = cache.with_file_name(format!("{}-{}.new", agent.agent, agent.version));
    for directory in [&new, &cache] {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
    }
    fs::create_dir_all(&new)?;
    fs::write(new.join("package.json"), "{\"private\": true}\n")?;
    let package = format!("{}@{}", agent.package, agent.version);
    println!("$ npm install {package}");
    let status = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--save-exact", &package])
        .args(&agent.with)
        .current_dir(&new)
        .status()
        .context("cannot start `npm`; is it installed?")?;
    if !status.success() || !new.join(&agent.program).exists() {
        bail!("`npm install {package}` did not bring `{}`", agent.program);
    }
    Ok(fs::rename(new, cache)?)
}
