//! What is shipped, and how each program is built.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use super::Release;
use crate::shell;

/// One platform that packages are made for.
pub(crate) struct Target {
    /// Rust's name.
    pub(crate) name: &'static str,
    /// Node's `platform` and `arch`.
    pub(crate) npm: [&'static str; 2],
}

/// Linux programs are static, so one of them runs on every distribution.
pub(crate) const SHIPPED: &[Target] = &[
    Target { name: "x86_64-unknown-linux-musl", npm: ["linux", "x64"] },
    Target { name: "aarch64-unknown-linux-musl", npm: ["linux", "arm64"] },
    Target { name: "aarch64-apple-darwin", npm: ["darwin", "arm64"] },
    Target { name: "x86_64-apple-darwin", npm: ["darwin", "x64"] },
];

pub(crate) fn named(name: &str) -> Result<&'static Target> {
    let known = || SHIPPED.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    SHIPPED
        .iter()
        .find(|target| target.name == name)
        .with_context(|| format!("`{name}` is not shipped; known targets: {}", known()))
}

/// The target of this machine.
pub(crate) fn here() -> Result<&'static Target> {
    let os = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    named(&format!("{}-{os}", std::env::consts::ARCH))
}

impl Target {
    /// Builds the release programs for it: `lictor`, and `lictor-server`, which it starts for databases and pages.
    pub(crate) fn build(&self, release: &Release) -> Result<Vec<PathBuf>> {
        let built = |name: &str| shell::target().join(self.name).join("release").join(name);
        if !release.quick && here().is_ok_and(|here| here.name == self.name) {
            // A hook is started for every call: on this machine it can be linked for a quick start.
            let program = crate::release::build()?;
            self.compile(release, &["lictor-server"])?;
            return Ok(vec![program, built("lictor-server")]);
        }
        self.compile(release, &["lictor", "lictor-server"])?;
        Ok(vec![built("lictor"), built("lictor-server")])
    }

    fn compile(&self, release: &Release, programs: &[&str]) -> Result<()> {
        add(self.name)?;
        let mut build = vec!["zigbuild", "--locked", "--release", "--target", self.name];
        for program in programs {
            // The server is no default member of the workspace.
            let package = if *program == "lictor" { "lictor-cli" } else { program };
            build.extend(["--package", package, "--bin", program]);
        }
        shell::run_with("cargo", &build, &release.variables()?)
    }
}

/// Sees to it that Rust's standard library for a target is there.
pub(crate) fn add(target: &str) -> Result<()> {
    if shell::output("rustup", &["target", "add", target]).is_err() {
        bail!("Rust's standard library for `{target}` is missing; run `rustup target add {target}`");
    }
    Ok(())
}

/// What builds for other machines and packs the wheel.
const TOOLS: [&str; 3] = ["maturin==1.16.0", "ziglang==0.17.0", "cargo-zigbuild==0.24.0"];

/// The directory of these programs, below `target/`. They find each other on the PATH.
pub(crate) fn tools() -> Result<PathBuf> {
    with_tools(&TOOLS)
}

/// As [`tools`], for others from PyPI.
pub(crate) fn with_tools(packages: &[&str]) -> Result<PathBuf> {
    let directory = shell::target().join("dist-tools");
    let python = directory.join("bin/python");
    if !python.exists() {
        shell::run("python3", &["-m", "venv", &directory.to_string_lossy()])?;
    }
    let install =
        [&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"][..], packages].concat();
    shell::run(&python.to_string_lossy(), &install)?;
    Ok(directory.join("bin"))
}
