//! Everything a change must pass.

use anyhow::Result;

use crate::{agents, frameworks, govbench, lint, pictures, python, setup, shell, ui_test};

/// What the tests need, lint, then all tests of all crates, examples and doc tests included.
pub fn run() -> Result<()> {
    setup::run()?;
    lint::run()?;
    // The tests of the command run the binary that users get, so it is built first.
    shell::run("cargo", &["build", "--locked", "--bin", "lictor"])?;
    shell::run("cargo", &["test", "--locked", "--workspace"])?;
    shell::run("npm", &["--prefix", "npm/lictor", "test", "--silent"])?;
    python::test()?;
    frameworks::light()?;
    agents::light()?;
    govbench::run()?;
    ui_test::run(&[])?;
    pictures::run(true)
}
