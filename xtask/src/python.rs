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
    let directory = shell::target().join("python").join(name);
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
        let target = shell::target();
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

/// Peers, each in an environment of its own: their dependencies exclude each other.
const PEERS: [(&str, &[&str]); 3] = [
    ("bench-toolkit", &["agent-governance-toolkit[core]==4.1.0"]),
    ("bench-invariant", &["invariant-ai==0.3.5"]),
    ("bench-guardrails", &["guardrails-ai==0.11.0"]),
];

/// What governing costs from Python, beside peers. The module is that of a wheel (`--wheel FILE`), or one that is built for it.
/// With `--build` everything is only made ready, so that the measurement can be made while nothing else runs.
pub fn bench(args: &[&str]) -> Result<()> {
    let own = environment("bench", &[])?;
    let peers =
        PEERS.iter().map(|(name, packages)| environment(name, packages)).collect::<Result<Vec<_>>>()?;
    let mut args = args.to_vec();
    match args.iter().position(|arg| *arg == "--wheel") {
        Some(at) => {
            args.remove(at);
            anyhow::ensure!(at < args.len(), "`--wheel` needs a file");
            let again =
                ["-m", "pip", "install", "--quiet", "--no-index", "--force-reinstall", args.remove(at)];
            own.python(&again)?;
        }
        None => own.develop_with(&["--release"])?,
    }
    if args.contains(&"--build") {
        return Ok(());
    }
    let script = shell::root().join("python/benches/overhead.py").to_string_lossy().into_owned();
    let told = |environment: &Environment, args: &[&str]| {
        let python = environment.directory.join("bin/python").to_string_lossy().into_owned();
        shell::told(&python, &[&[script.as_str()], args].concat())
    };
    let mut table = told(&own, &args)?;
    for environment in &peers {
        table.push_str(&told(environment, &["--peers"])?);
    }
    let versions: Vec<&str> = PEERS.iter().flat_map(|(_, packages)| packages.iter().copied()).collect();
    paper::write("python", &format!("Peers: {}.\n\n{}", versions.join(", "), table.trim()))
}
