//! Python environments below `target/`, and the Python package's own tests.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::Result;

use crate::bench::paper;
use crate::shell;

/// What every environment has.
const TOOLS: [&str; 2] = ["maturin==1.16.0", "pytest==9.2.0"];

/// A virtual environment.
pub struct Environment {
    directory: PathBuf,
}

/// The environment of that name with these packages, made when it is not there.
pub fn environment(name: &str, packages: &[&str]) -> Result<Environment> {
    let directory = shell::root().join("target/python").join(name);
    let environment = Environment { directory };
    if !environment.directory.join("bin/python").exists() {
        shell::run("python3", &["-m", "venv", &environment.directory.to_string_lossy()])?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    environment.python(&[&install[..], &TOOLS, packages].concat())?;
    Ok(environment)
}

impl Environment {
    /// Runs its interpreter.
    pub fn python(&self, args: &[&str]) -> Result<()> {
        shell::run(&self.directory.join("bin/python").to_string_lossy(), args)
    }

    /// As [`Self::python`], with the package of this tree to import. Its module has to be built.
    pub fn python_with_package(&self, args: &[&str]) -> Result<()> {
        let python = self.directory.join("bin/python").to_string_lossy().into_owned();
        let path = shell::root().join("python");
        shell::run_with(&python, args, &[("PYTHONPATH", &path)])
    }

    /// Builds the package's module for it.
    pub fn develop(&self) -> Result<()> {
        self.develop_with(&[])
    }

    fn develop_with(&self, more: &[&str]) -> Result<()> {
        let target = shell::root().join("target");
        let variables: [(&str, &OsStr); 2] =
            [("CARGO_TARGET_DIR", target.as_os_str()), ("VIRTUAL_ENV", self.directory.as_os_str())];
        let maturin = self.directory.join("bin/maturin").to_string_lossy().into_owned();
        let manifest = shell::root().join("python/Cargo.toml").to_string_lossy().into_owned();
        let develop = ["develop", "--locked", "--manifest-path", &manifest];
        shell::run_with(&maturin, &[&develop[..], more].concat(), &variables)
    }
}

/// Builds the module for the machine's Python, checks types, runs the tests.
pub fn test() -> Result<()> {
    let environment = environment("package", &["mypy==2.4.1"])?;
    environment.develop()?;
    let source = shell::root().join("python");
    let inside = |name: &str| source.join(name).to_string_lossy().into_owned();
    environment.python(&["-m", "mypy", "--config-file", &inside("pyproject.toml"), &inside("lictor")])?;
    environment.python_with_package(&["-m", "mypy.stubtest", "lictor._lictor"])?;
    shell::run("npx", &["--yes", "pyright@1.1.409", "--project", &inside("pyproject.toml")])?;
    // Those of frameworks want the frameworks: `cargo xtask frameworks`.
    environment.python(&[
        "-m",
        "pytest",
        "--quiet",
        "--ignore",
        &inside("tests/frameworks"),
        &inside("tests"),
    ])
}

/// Peers that can be installed beside the package.
const PEERS: [&str; 3] =
    ["agent-governance-toolkit[core]==4.1.0", "invariant-ai==0.3.5", "guardrails-ai==0.11.0"];

/// What governing costs from Python, beside peers, with an optimised module. With `--build` it is only built, so that the
/// measurement itself can be made while nothing else runs.
pub fn bench(args: &[&str]) -> Result<()> {
    let environment = environment("bench", &PEERS)?;
    environment.develop_with(&["--release"])?;
    if args.contains(&"--build") {
        return Ok(());
    }
    let script = shell::root().join("python/benches/overhead.py").to_string_lossy().into_owned();
    let python = environment.directory.join("bin/python").to_string_lossy().into_owned();
    let table = shell::told(&python, &[&[script.as_str()], args].concat())?;
    paper::write("python", &format!("{}\n\n{}", PEERS.join(", "), table.trim()))
}
