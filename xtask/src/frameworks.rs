//! Agent frameworks: each adapter against the real package with a scripted model, in an environment of its own.

use anyhow::{Result, bail};

use crate::{python, shell};

/// A framework at a pinned version, and the test that drives it.
struct Framework {
    name: &'static str,
    packages: &'static [&'static str],
}

/// Those that are small to install: every change runs them.
const LIGHT: [&str; 3] = ["agent_framework", "langchain", "pydantic_ai"];

const FRAMEWORKS: &[Framework] = &[
    Framework { name: "ag2", packages: &["ag2==1.2.1"] },
    Framework {
        name: "agent_framework",
        packages: &["agent-framework-core==1.23.0", "agent-hooks-sdk==0.1.0b3"],
    },
    Framework { name: "claude_agent", packages: &["claude-agent-sdk==0.2.182"] },
    Framework { name: "crewai", packages: &["crewai==1.15.30"] },
    Framework { name: "google_adk", packages: &["google-adk==2.13.0"] },
    Framework { name: "langchain", packages: &["langchain==1.4.7", "langgraph==1.2.20"] },
    Framework { name: "llama_index", packages: &["llama-index-core==0.14.25"] },
    Framework { name: "openai_agents", packages: &["openai-agents==0.24.0"] },
    Framework { name: "pydantic_ai", packages: &["pydantic-ai-slim==2.66.0"] },
    Framework { name: "smolagents", packages: &["smolagents==1.26.0"] },
    Framework { name: "strands", packages: &["strands-agents==1.62.0"] },
];

/// The frameworks of the npm package's adapters. They are governed through `target/debug/lictor rpc`.
const JAVASCRIPT: &str = "javascript";
/// All of them pinned: npm looks for ever for versions that suit each other when a newer one of theirs wants what is not there.
const JAVASCRIPT_PACKAGES: [&str; 4] =
    ["ai@6.0.322", "langchain@1.5.14", "@langchain/core@1.2.13", "@langchain/langgraph@1.4.13"];

/// Runs the light ones.
pub fn light() -> Result<()> {
    run(&LIGHT.map(str::to_owned))
}

/// Runs those that are named, or all of them.
pub fn run(names: &[String]) -> Result<()> {
    let known = || FRAMEWORKS.iter().map(|framework| framework.name).chain([JAVASCRIPT]);
    if let Some(unknown) = names.iter().find(|name| known().all(|known| known != **name)) {
        let known = known().collect::<Vec<_>>().join(", ");
        bail!("`{unknown}` is not a framework with an adapter; known: {known}");
    }
    if names.is_empty() || names.iter().any(|name| name == JAVASCRIPT) {
        javascript()?;
    }
    if !names.is_empty() && names.iter().all(|name| name == JAVASCRIPT) {
        return Ok(());
    }
    // The module runs on every Python, so it is built once.
    python::environment("package", &[])?.develop()?;
    let chosen =
        FRAMEWORKS.iter().filter(|one| names.is_empty() || names.iter().any(|name| name == one.name));
    for framework in chosen {
        let environment = python::environment(&format!("frameworks/{}", framework.name), framework.packages)?;
        let test = shell::root().join(format!("python/tests/frameworks/test_{}.py", framework.name));
        environment.python_with_package(&["-m", "pytest", "--quiet", &test.to_string_lossy()])?;
    }
    Ok(())
}

fn javascript() -> Result<()> {
    shell::run("cargo", &["build", "--locked", "--bin", "lictor"])?;
    let directory = shell::target().join("npm/frameworks");
    std::fs::create_dir_all(&directory)?;
    if !directory.join("package.json").exists() {
        std::fs::write(directory.join("package.json"), "{\"private\": true}\n")?;
    }
    let place = directory.to_string_lossy().into_owned();
    let install = ["install", "--prefix", &place, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
    shell::run("npm", &[&install[..], &JAVASCRIPT_PACKAGES].concat())?;
    let test = shell::root().join("npm/lictor/test/frameworks.test.js").to_string_lossy().into_owned();
    shell::run_with("node", &["--test", &test], &[("LICTOR_FRAMEWORKS", &directory)])
}
