//! Whether a program is one for its target: format, processor, what it loads, and, where that can be had, a run of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use super::targets::{self, Target};

/// Libraries that every macOS has. A program that loads another one does not start elsewhere.
const MACOS_HAS: [&str; 2] = ["/usr/lib/", "/System/Library/Frameworks/"];

/// Fails when the program cannot be one for that target. Says how it was run.
pub(super) fn program(target: &Target, file: &Path) -> Result<&'static str> {
    let bytes = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    match target.npm[0] {
        "linux" => elf(&bytes, target.npm[1])?,
        _ => mach_o(&bytes, target.npm[1])?,
    }
    if targets::here().is_ok_and(|here| here.name == target.name) {
        return starts(Command::new(file)).map(|()| "run here");
    }
    let emulator = target.name.split('-').next().map(|cpu| format!("qemu-{cpu}")).unwrap_or_default();
    if target.npm[0] == "linux" && Command::new(&emulator).arg("--version").output().is_ok() {
        let mut command = Command::new(emulator);
        command.arg(file);
        return starts(command).map(|()| "run under qemu");
    }
    Ok("checked, not run")
}

fn starts(mut command: Command) -> Result<()> {
    let output = command.arg("--version").output().context("the program does not start")?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success() && said.starts_with("lictor"),
        "the program does not run: {}",
        output.status
    );
    Ok(())
}

fn number(bytes: &[u8], at: usize, size: usize) -> Result<usize> {
    let field = bytes.get(at..at + size).context("the program is cut off")?;
    Ok(field.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

/// A static program: without an interpreter, it needs nothing of the system that it runs on.
fn elf(bytes: &[u8], cpu: &str) -> Result<()> {
    const INTERPRETER: usize = 3;
    ensure!(bytes.starts_with(b"\x7fELF\x02\x01"), "the program is not a 64-bit ELF file");
    let wanted = if cpu == "arm64" { 183 } else { 62 };
    ensure!(number(bytes, 18, 2)? == wanted, "the program is for another processor than {cpu}");
    let (table, size, count) = (number(bytes, 32, 8)?, number(bytes, 54, 2)?, number(bytes, 56, 2)?);
    for index in 0..count {
        ensure!(number(bytes, table + index * size, 4)? != INTERPRETER, "the program is not static");
    }
    Ok(())
}

fn mach_o(bytes: &[u8], cpu: &str) -> Result<()> {
    const LOAD: [usize; 3] = [0xc, 0x8000_0018, 0x8000_001f];
    ensure!(bytes.starts_with(b"\xcf\xfa\xed\xfe"), "the program is not a 64-bit Mach-O file");
    let wanted = if cpu == "arm64" { 0x0100_000c } else { 0x0100_0007 };
    ensure!(number(bytes, 4, 4)? == wanted, "the program is for another processor than {cpu}");
    let mut at = 32;
    let mut loads = 0;
    for _ in 0..number(bytes, 16, 4)? {
        let (kind, size) = (number(bytes, at, 4)?, number(bytes, at + 4, 4)?);
        if LOAD.contains(&kind) {
            let start = at + number(bytes, at + 8, 4)?;
            let name = bytes.get(start..at + size).context("the program is cut off")?;
            let name = String::from_utf8_lossy(name);
            let name = name.trim_end_matches('\0');
            if !MACOS_HAS.iter().any(|prefix| name.starts_with(prefix)) {
                bail!("the program loads `{name}`, which macOS does not have");
            }
            loads += 1;
        }
        at += size.max(8);
    }
    ensure!(loads > 0, "the program loads no system library, so it is none for macOS");
    Ok(())
}
