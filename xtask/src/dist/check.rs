//! Whether a program is one for its target: format, processor, what it needs of the system, and, where that can be had, a run
//! of it.

mod mach_o;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::Release;
use super::targets::{self, Target};

/// Fails when the program cannot be one for that target. Says how it was run.
pub(super) fn program(release: &Release, target: &Target, file: &Path) -> Result<String> {
    let bytes = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    if target.npm[0] != "linux" {
        return Ok(format!("{}; not run", mach_o::checked(&bytes, target.npm[1], &[])?));
    }
    elf(&bytes, target.npm[1])?;
    if targets::here().is_ok_and(|here| here.name == target.name) {
        return works(release, file, &[]).map(|()| "static, run here".to_owned());
    }
    let cpu = target.name.split('-').next().unwrap_or_default();
    let emulators = [format!("qemu-{cpu}"), format!("qemu-{cpu}-static")];
    let there = |name: &&String| Command::new(name).arg("--version").output().is_ok();
    match emulators.iter().find(there) {
        Some(emulator) => works(release, file, &[emulator]).map(|()| "static, run under qemu".to_owned()),
        None => Ok("static; not run: `qemu-user-static` is not installed".to_owned()),
    }
}

/// Fails when Python could not load the module on that target. Says what was checked.
pub(super) fn module(target: &Target, bytes: &[u8]) -> Result<String> {
    match target.npm[0] {
        // What of the system it needs was checked when the wheel got its tag.
        "linux" => processor(bytes, target.npm[1]).map(|()| "a module for manylinux".to_owned()),
        _ => mach_o::checked(bytes, target.npm[1], &["_Py", "__Py"]),
    }
}

/// Runs the program: it says its version, and `lictor` judges and records in a fresh home.
fn works(release: &Release, file: &Path, before: &[&str]) -> Result<()> {
    let home = release.stage("smoke")?;
    let run = |args: &[&str]| -> Result<(i32, String)> {
        let program = file.to_string_lossy();
        let words = [before, &[&program], args].concat();
        let mut command = Command::new(words.first().copied().unwrap_or_default());
        command.args(words.iter().skip(1)).env_clear().env("HOME", &home).current_dir(&home);
        let output = command.output().with_context(|| format!("`{program}` does not start"))?;
        Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned()))
    };
    let expect = |args: &[&str], code: i32, says: &str| -> Result<()> {
        let (ended, said) = run(args)?;
        ensure!(
            ended == code && said.contains(says),
            "`{}` ended with {ended} and said: {said}",
            args.join(" ")
        );
        Ok(())
    };
    expect(&["--version"], 0, "lictor")?;
    if file.file_name().is_some_and(|name| name == "lictor") {
        expect(&["eval", "bash", "ls"], 0, "pass")?;
        expect(&["eval", "bash", "rm -rf ~"], 2, "delete a home directory")?;
        expect(&["audit", "verify"], 0, "sound")?;
    }
    Ok(())
}

/// A number in the order of bytes that all targets have.
fn number(bytes: &[u8], at: usize, size: usize) -> Result<usize> {
    let field = bytes.get(at..at + size).context("the program is cut off")?;
    Ok(field.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

fn processor(bytes: &[u8], cpu: &str) -> Result<()> {
    ensure!(bytes.starts_with(b"\x7fELF\x02\x01"), "it is not a 64-bit ELF file");
    let wanted = if cpu == "arm64" { 183 } else { 62 };
    ensure!(number(bytes, 18, 2)? == wanted, "it is for another processor than {cpu}");
    Ok(())
}

/// A static program: without an interpreter, it needs nothing of the system that it runs on.
fn elf(bytes: &[u8], cpu: &str) -> Result<()> {
    const INTERPRETER: usize = 3;
    processor(bytes, cpu)?;
    let (table, size, count) = (number(bytes, 32, 8)?, number(bytes, 54, 2)?, number(bytes, 56, 2)?);
    for index in 0..count {
        ensure!(number(bytes, table + index * size, 4)? != INTERPRETER, "the program is not static");
    }
    Ok(())
}
