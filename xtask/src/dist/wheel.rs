//! The wheel: the Python module, and the programs in the scripts directory, so that `pip install lictor` gives both.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use super::targets::Target;
use super::{Release, put};
use crate::shell;

/// Builds it where the Python package is there and the module can be built for the target.
pub(super) fn build(release: &Release, target: &Target, programs: &[PathBuf]) -> Result<()> {
    let source = shell::root().join("python");
    if !source.join("pyproject.toml").exists() {
        println!("no wheel: there is no Python package in this tree");
        return Ok(());
    }
    let scripts = source.join("data/scripts");
    fs::create_dir_all(&scripts)?;
    for program in programs {
        put(program, &scripts)?;
    }
    let manifest = source.join("Cargo.toml");
    let module_target = target.name.replace("-musl", "-gnu");
    let (manifest, out) = (manifest.to_string_lossy(), release.out.to_string_lossy());
    let mut args = vec!["build", "--release", "--locked", "--manifest-path", &manifest, "--out", &out];
    args.extend(["--target", &module_target]);
    if target.npm[0] == "linux" {
        args.extend(["--zig", "--compatibility", "manylinux_2_17"]);
    }
    let built = shell::run_with("maturin", &args, &release.variables()?);
    for program in programs {
        fs::remove_file(scripts.join(program.file_name().unwrap_or_default()))?;
    }
    built
}
