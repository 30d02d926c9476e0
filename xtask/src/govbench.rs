//! The runner for AgentGovBench on a real server: all scenarios hold.

use anyhow::{Context as _, Result, bail};

use crate::shell;

/// What the benchmark itself brings, and what the runner may use.
const MODULES: [&str; 3] = ["pyyaml==6.0.3", "requests==2.34.2", "click==8.5.1"];
const SCENARIOS: &str = "48 of 48 scenarios hold";

/// Builds the server and runs every scenario through the runner.
pub fn run() -> Result<()> {
    shell::run("cargo", &["build", "--locked", "--quiet", "--package", "lictor-server"])?;
    let tools = shell::target().join("govbench");
    let python = tools.join("bin/python").to_string_lossy().into_owned();
    if !tools.join("bin/python").exists() {
        shell::run("python3", &["-m", "venv", &tools.to_string_lossy()])?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    shell::run(&python, &[&install[..], &MODULES].concat())?;
    let server = shell::target().join("debug/lictor-server");
    let server = format!("LICTOR_BINARY={}", server.to_string_lossy());
    let script = shell::root().join("integrations/agentgovbench/selftest.py");
    let told = shell::told("env", &[&server, &python, &script.to_string_lossy()])?;
    let last = told.lines().last().context("the runner says nothing")?;
    if !last.starts_with(SCENARIOS) {
        bail!("AgentGovBench: {last}");
    }
    Ok(())
}
