//! The wheel: the Python module, and the programs in the scripts directory, so that `pip install lictor` gives both.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::targets::Target;
use super::{Release, VERSION, check, names, put};
use crate::shell;

/// Builds it for that target.
pub(super) fn build(release: &Release, target: &Target, programs: &[PathBuf]) -> Result<()> {
    let source = shell::root().join("python");
    let scripts = source.join("data/scripts");
    fs::create_dir_all(&scripts)?;
    for program in programs {
        put(program, &scripts)?;
    }
    let before = names(&release.out)?;
    let manifest = source.join("Cargo.toml");
    let module_target = target.name.replace("-musl", "-gnu");
    let (manifest, out) = (manifest.to_string_lossy(), release.out.to_string_lossy());
    let mut args =
        vec!["build", "--release", "--locked", "--strip", "--manifest-path", &manifest, "--out", &out];
    args.extend(["--target", &module_target, "--zig"]);
    if target.npm[0] == "linux" {
        args.extend(["--compatibility", "manylinux_2_17"]);
    }
    let built = super::targets::add(&module_target)
        .and_then(|()| shell::run_with("maturin", &args, &release.variables()?));
    for program in programs {
        fs::remove_file(scripts.join(program.file_name().unwrap_or_default()))?;
    }
    built?;
    let made = names(&release.out)?.into_iter().find(|name| name.ends_with(".whl") && !before.contains(name));
    let wheel = release.out.join(made.context("maturin made no wheel")?);
    println!("{}: {}", wheel.display(), checked(release, target, &wheel, programs)?);
    Ok(())
}

/// Fails when something is missing in it. Says what its module is.
fn checked(release: &Release, target: &Target, wheel: &Path, programs: &[PathBuf]) -> Result<String> {
    let inside = release.stage("wheel")?;
    let (from, to) = (wheel.to_string_lossy(), inside.to_string_lossy());
    shell::run("python3", &["-m", "zipfile", "-e", &from, &to])?;
    for program in programs {
        let name = program.file_name().unwrap_or_default();
        let packed = inside.join(format!("lictor-{VERSION}.data/scripts")).join(name);
        ensure!(
            fs::read(&packed).ok() == fs::read(program).ok(),
            "the wheel has another `{}`",
            packed.display()
        );
    }
    for file in ["py.typed", "_lictor.pyi"] {
        ensure!(inside.join("lictor").join(file).exists(), "the wheel has no `{file}`");
    }
    let module = inside.join("lictor/_lictor.abi3.so");
    let module = fs::read(&module).with_context(|| format!("the wheel has no `{}`", module.display()))?;
    check::module(target, &module)
}
