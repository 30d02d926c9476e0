//! The npm packages: one a platform with the program, and the one that people name, with the launcher and the client.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::targets::Target;
use super::{Release, VERSION, put};
use crate::shell;

/// `@lictor/cli-<platform>-<arch>`: the programs and nothing else. No install script: npm refuses them by default.
pub(super) fn platform(release: &Release, target: &Target, programs: &[PathBuf]) -> Result<()> {
    let [os, cpu] = target.npm;
    let name = format!("cli-{os}-{cpu}");
    let stage = release.stage("npm-platform")?;
    let package = stage.join("package");
    fs::create_dir_all(package.join("bin"))?;
    for program in programs {
        put(program, &package.join("bin"))?;
    }
    put(&shell::root().join("LICENSE"), &package)?;
    let manifest = json!({
        "name": format!("@lictor/{name}"),
        "version": VERSION,
        "description": format!("The lictor program for {os} {cpu}."),
        "license": "Apache-2.0",
        "os": [os],
        "cpu": [cpu],
        "files": ["bin", "LICENSE"],
        "preferUnplugged": true,
    });
    write(&package, &manifest)?;
    release.pack(&stage, "package", &format!("lictor-{name}-{}.tgz", VERSION))
}

/// `lictor`.
pub(super) fn root(release: &Release) -> Result<()> {
    let source = shell::root().join("npm/lictor");
    let stage = release.stage("npm-root")?;
    let package = stage.join("package");
    for directory in ["bin", "lib"] {
        fs::create_dir_all(package.join(directory))?;
        for entry in fs::read_dir(source.join(directory))? {
            put(&entry?.path(), &package.join(directory))?;
        }
    }
    put(&source.join("README.md"), &package)?;
    put(&shell::root().join("LICENSE"), &package)?;
    let text = fs::read_to_string(source.join("package.json"))?;
    let mut manifest: Value = serde_json::from_str(&text).context("npm/lictor/package.json is not JSON")?;
    manifest["version"] = json!(VERSION);
    for version in
        manifest["optionalDependencies"].as_object_mut().into_iter().flat_map(|all| all.values_mut())
    {
        *version = json!(VERSION);
    }
    if let Some(fields) = manifest.as_object_mut() {
        fields.remove("scripts");
    }
    write(&package, &manifest)?;
    release.pack(&stage, "package", &format!("lictor-{}.tgz", VERSION))
}

fn write(package: &Path, manifest: &Value) -> Result<()> {
    fs::write(package.join("package.json"), format!("{manifest:#}\n")).context("cannot write package.json")
}
