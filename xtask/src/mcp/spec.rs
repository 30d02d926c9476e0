//! The data: real servers and what is done with them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::shell;

/// One server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerFile {
    /// The name in rules.
    pub name: String,
    /// Packages of npm, pinned.
    #[serde(default)]
    pub npm: Vec<String>,
    /// Packages of PyPI, pinned.
    #[serde(default)]
    pub pypi: Vec<String>,
    /// The program and its arguments.
    pub run: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    pub eras: Vec<Era>,
    /// Tools that the client must see.
    pub offers: Vec<String>,
    /// Tools that it must not see.
    #[serde(default)]
    pub hides: Vec<String>,
    /// Prompts that it must be able to get.
    #[serde(default)]
    pub prompts: Vec<String>,
    pub calls: Vec<Call>,
}

/// Which kind of client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Era {
    /// 2025-11-25: `initialize` first.
    Handshake,
    /// 2026-07-28: every request says what the client is.
    Stateless,
}

/// One call, and what has to come of it: one of the last three.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub tool: String,
    pub with: Value,
    /// The result says so somewhere, and it is the server's own.
    pub says: Option<String>,
    /// A refusal that the model reads.
    pub refused: Option<String>,
    /// An error of the protocol.
    pub error: Option<String>,
}

impl ServerFile {
    /// Whether it stands before a database.
    pub fn needs_database(&self) -> bool {
        self.run.iter().any(|word| word.contains("{database}"))
    }

    /// Where it is installed.
    pub fn cache(&self) -> PathBuf {
        shell::target().join("mcp").join(&self.name)
    }

    /// Installs it where it is not there yet.
    pub fn install(&self) -> Result<()> {
        let cache = self.cache();
        let wanted = [&self.npm[..], &self.pypi[..]].concat().join(" ");
        if fs::read_to_string(cache.join("installed")).is_ok_and(|there| there == wanted) {
            return Ok(());
        }
        fs::create_dir_all(&cache)?;
        if !self.npm.is_empty() {
            npm(&cache, &self.npm)?;
        }
        if !self.pypi.is_empty() {
            let at = cache.to_string_lossy();
            shell::run("python3", &["-m", "venv", &at])?;
            let pip = cache.join("bin/pip");
            let mut args = vec!["install", "--quiet", "--disable-pip-version-check"];
            args.extend(self.pypi.iter().map(String::as_str));
            shell::run(&pip.to_string_lossy(), &args)?;
        }
        Ok(fs::write(cache.join("installed"), wanted)?)
    }
}

/// Installs packages of npm into a directory of their own.
pub fn npm(cache: &std::path::Path, packages: &[String]) -> Result<()> {
    fs::create_dir_all(cache)?;
    fs::write(cache.join("package.json"), "{\"private\": true}\n")?;
    println!("$ npm install {}", packages.join(" "));
    let status = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--save-exact"])
        .args(packages)
        .current_dir(cache)
        .status()
        .context("cannot start `npm`; is it installed?")?;
    if !status.success() {
        bail!("`npm install {}` failed", packages.join(" "));
    }
    Ok(())
}

fn directory() -> PathBuf {
    shell::root().join("xtask/mcp")
}

/// Every server, in the order of the file.
pub fn servers() -> Result<Vec<ServerFile>> {
    let file = directory().join("servers.yaml");
    serde_saphyr::from_str(&fs::read_to_string(&file)?)
        .with_context(|| format!("{} is not understood", file.display()))
}

/// The policy that every session runs under.
pub fn policy() -> Result<String> {
    Ok(fs::read_to_string(directory().join("governance.yaml"))?)
}
