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
    /// Builds the release program for it.
    pub(crate) fn build(&self, release: &Release) -> Result<PathBuf> {
        if !release.quick && here().is_ok_and(|here| here.name == self.name) {
            return crate::release::build();
        }
        if shell::output("rustup", &["target", "add", self.name]).is_err() {
            bail!("Rust's standard library for `{}` is missing; run `rustup target add {0}`", self.name);
        }
        let build = ["zigbuild", "--locked", "--release", "--bin", "lictor", "--target", self.name];
        shell::run_with("cargo", &build, &release.variables()?)?;
        Ok(shell::root().join("target").join(self.name).join("release/lictor"))
    }
}

/// What builds for other machines and packs the wheel.
const TOOLS: [&str; 3] = ["maturin==1.16.0", "ziglang==0.17.0", "cargo-zigbuild==0.24.0"];

/// The directory of these programs, below `target/`. They find each other on the PATH.
pub(crate) fn tools() -> Result<PathBuf> {
    let directory = shell::root().join("target/dist-tools");
    let python = directory.join("bin/python");
    if !python.exists() {
        shell::run("python3", &["-m", "venv", &directory.to_string_lossy()])?;
    }
    let install = [&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"][..], &TOOLS].concat();
    shell::run(&python.to_string_lossy(), &install)?;
    Ok(directory.join("bin"))
}
