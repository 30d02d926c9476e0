//! Everything a change must pass.

use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::{agents, frameworks, govbench, lint, pictures, python, setup, shell, ui_test};

type Part = (&'static str, fn() -> Result<()>);

/// What is checked, in this order: the cheap and the telling first.
const PARTS: &[Part] = &[
    ("setup", setup::run),
    ("lint", lint::run),
    ("workspace", workspace),
    ("npm", || shell::run("npm", &["--prefix", "npm/lictor", "test", "--silent"])),
    ("python", python::test),
    ("frameworks", frameworks::light),
    ("agents", agents::light),
    ("govbench", govbench::run),
    ("page", || ui_test::run(&[])),
    ("pictures", || pictures::run(true)),
];

/// What the tests need, lint, then all tests of all crates, examples and doc tests included, then the packages, the
/// agents and the page.
pub fn run() -> Result<()> {
    let mut times = Vec::new();
    for (name, part) in PARTS {
        let start = Instant::now();
        part().with_context(|| format!("`cargo xtask test` failed in its part `{name}`"))?;
        times.push(format!("{name} {} s", start.elapsed().as_secs()));
    }
    println!("everything passed: {}", times.join(", "));
    Ok(())
}

fn workspace() -> Result<()> {
    // The tests of the command run the binary that users get, so it is built first.
    shell::run("cargo", &["build", "--locked", "--bin", "lictor"])?;
    shell::run("cargo", &["test", "--locked", "--workspace"])
}
