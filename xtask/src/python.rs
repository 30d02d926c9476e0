//! The Python package's own tests, in an environment below `target/`.

use std::ffi::OsStr;

use anyhow::Result;

use crate::shell;

/// Builds the module for the machine's Python, checks types, runs the tests.
pub fn test() -> Result<()> {
    let environment = shell::root().join("target/python");
    let python = environment.join("bin/python").to_string_lossy().into_owned();
    if !environment.join("bin/python").exists() {
        shell::run("python3", &["-m", "venv", &environment.to_string_lossy()])?;
    }
    let tools = ["maturin==1.16.0", "pytest==9.0.2", "mypy==1.19.1"];
    let install = [&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"][..], &tools].concat();
    shell::run(&python, &install)?;
    let source = shell::root().join("python");
    let target = shell::root().join("target");
    let variables: [(&str, &OsStr); 2] =
        [("CARGO_TARGET_DIR", target.as_os_str()), ("VIRTUAL_ENV", environment.as_os_str())];
    let maturin = environment.join("bin/maturin").to_string_lossy().into_owned();
    let manifest = source.join("Cargo.toml").to_string_lossy().into_owned();
    shell::run_with(&maturin, &["develop", "--locked", "--manifest-path", &manifest], &variables)?;
    let settings = source.join("pyproject.toml").to_string_lossy().into_owned();
    let package = source.join("lictor").to_string_lossy().into_owned();
    shell::run(&python, &["-m", "mypy", "--config-file", &settings, &package])?;
    shell::run(&python, &["-m", "pytest", "--quiet", &source.join("tests").to_string_lossy()])
}
