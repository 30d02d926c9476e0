//! Agent frameworks: each adapter against the real package with a scripted model, in an environment of its own.

use anyhow::{Result, bail};

use crate::{python, shell};

/// A framework at a pinned version, and the test that drives it.
struct Framework {
    name: &'static str,
    packages: &'static [&'static str],
}

const FRAMEWORKS: &[Framework] = &[
    Framework { name: "langchain", packages: &["langchain==1.4.7", "langgraph==1.2.20"] },
    Framework { name: "openai_agents", packages: &["openai-agents==0.24.0"] },
    Framework { name: "pydantic_ai", packages: &["pydantic-ai-slim==2.66.0"] },
];

/// Runs those that are named, or all of them.
pub fn run(names: &[String]) -> Result<()> {
    let known = || FRAMEWORKS.iter().map(|framework| framework.name).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = names.iter().find(|name| FRAMEWORKS.iter().all(|known| known.name != *name)) {
        bail!("`{unknown}` is not a framework with an adapter; known: {}", known());
    }
    let chosen =
        FRAMEWORKS.iter().filter(|one| names.is_empty() || names.iter().any(|name| name == one.name));
    for framework in chosen {
        let environment = python::environment(&format!("frameworks/{}", framework.name), framework.packages)?;
        environment.develop()?;
        let test = shell::root().join(format!("python/tests/frameworks/test_{}.py", framework.name));
        environment.python(&["-m", "pytest", "--quiet", &test.to_string_lossy()])?;
    }
    Ok(())
}
