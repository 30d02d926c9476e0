//! Running other programs, loudly.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// Where cargo puts what it builds, and we what the tests need.
pub fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Runs a program in the repository's root and fails when it fails.
pub fn run(program: &str, args: &[&str]) -> Result<()> {
    run_with::<&OsStr>(program, args, &[])
}

/// As [`run`], with more variables in its environment.
pub fn run_with<V: AsRef<OsStr>>(program: &str, args: &[&str], variables: &[(&str, V)]) -> Result<()> {
    println!("$ {program} {}", args.join(" "));
    let status = Command::new(program)
        .args(args)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot start `{program}`; is it installed?"))?;
    if !status.success() {
        bail!("`{program} {}` failed with {status}", args.join(" "));
    }
    Ok(())
}

/// As [`run`], and gives what it printed. Complaints go where ours go.
pub fn told(program: &str, args: &[&str]) -> Result<String> {
    println!("$ {program} {}", args.join(" "));
    let output = Command::new(program)
        .args(args)
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start `{program}`; is it installed?"))?;
    let text = String::from_utf8(output.stdout)?;
    print!("{text}");
    if !output.status.success() {
        bail!("`{program} {}` failed with {}", args.join(" "), output.status);
    }
    Ok(text)
}

/// Runs a program in the repository's root and gives what it prints.
pub fn output(program: &str, args: &[&str]) -> Result<String> {
    output_in(&root(), program, args)
}

/// Runs a program in a directory and gives what it prints.
pub fn output_in(directory: &Path, program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(args)
        .current_dir(directory)
        .output()
        .with_context(|| format!("cannot start `{program}`; is it installed?"))?;
    if !output.status.success() {
        bail!("`{program} {}` failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}
