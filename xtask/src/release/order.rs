//! Puts the functions that a hook runs side by side in the binary.
//!
//! A process brings code in by pieces of 64 KiB, each at the price of a fault, and the functions that a hook runs lie all
//! over twelve megabytes: a hundred faults, and as many misses in every cache of the processor.
//!
//! Their names are in `order.txt`, with a star for what differs from build to build. A name that is gone matches nothing, a
//! new one is not found: both cost a little time and nothing else. `cargo xtask order` writes the file anew.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use super::rehearsal;
use crate::shell;

/// One name a line, those first that most events need.
const FILE: &str = "xtask/src/release/order.txt";

/// A name stands for all forms that a generic function was compiled to. Where more than so many bytes come along for each
/// that is needed, it comes after all others.
const MOST_IN_TOW: usize = 3;

/// What the linker has to be told, when it understands it.
pub fn argument() -> Result<Option<String>> {
    let names =
        fs::read_to_string(shell::root().join(FILE)).with_context(|| format!("cannot read `{FILE}`"))?;
    let text = script(names.lines());
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    // Named after what is in it, so that cargo links again when that is something else.
    let file = shell::target().join(format!("order-{:016x}.ld", hasher.finish()));
    fs::create_dir_all(shell::target())?;
    fs::write(&file, text)?;
    let argument = format!("-Wl,-T,{}", file.display());
    Ok(is_understood(&argument)?.then(|| format!("link-arg={argument}")))
}

/// Links a program that does nothing.
fn is_understood(argument: &str) -> Result<bool> {
    let result = shell::target().join("order-trial");
    let mut cc = Command::new("cc")
        .args(["-x", "c", "-", argument, "-o"])
        .arg(&result)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start `cc`; is it installed?")?;
    if let Some(mut stdin) = cc.stdin.take() {
        std::io::Write::write_all(&mut stdin, b"int main(void) { return 0; }")?;
    }
    let linked = cc.wait()?.success();
    let _ = fs::remove_file(result);
    Ok(linked)
}

/// An addition to the linker's own script. Functions without a section of their own stay where they are.
fn script<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let sections = names.flat_map(|name| {
        ["", "unlikely."].map(|kind| format!("*(.text.{kind}{name} .text.{kind}{name}.llvm.*)\n"))
    });
    format!("SECTIONS {{ .text.hook : {{\n{}}} }} INSERT BEFORE .text;\n", sections.collect::<String>())
}

/// Finds the functions anew, by running hooks of that binary, which has its names still.
pub fn renew(lictor: &Path) -> Result<()> {
    let ran = rehearsal::functions(lictor, &shell::target().join("rehearsal"))?;
    let listed = shell::output("nm", &["--print-size", &lictor.display().to_string()])?;
    let names = patterns(&ran, &sizes(&listed));
    fs::write(shell::root().join(FILE), names.join("\n") + "\n")?;
    println!("{} functions ran; {FILE} has {} names", ran.len(), names.len());
    Ok(())
}

/// Functions with their bytes.
fn sizes(listed: &str) -> HashMap<&str, usize> {
    let lines = listed.lines().filter_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
        [_, size, "t" | "T" | "w" | "W", name] => Some((name, usize::from_str_radix(size, 16).ok()?)),
        _ => None,
    });
    lines.collect()
}

fn patterns(ran: &[String], sizes: &HashMap<&str, usize>) -> Vec<String> {
    let (mut matched, mut needed): (HashMap<String, usize>, HashMap<String, usize>) = Default::default();
    for (name, size) in sizes {
        *matched.entry(pattern(name)).or_default() += size;
    }
    let mut known = HashSet::new();
    let mut names = Vec::new();
    for name in ran {
        let pattern = pattern(name);
        *needed.entry(pattern.clone()).or_default() += sizes.get(name.as_str()).copied().unwrap_or(0);
        if known.insert(pattern.clone()) {
            names.push(pattern);
        }
    }
    let in_tow = |name: &String| matched.get(name).unwrap_or(&0) / needed.get(name).unwrap_or(&1).max(&1);
    names.sort_by_key(|name| Some(in_tow(name)).filter(|many| *many >= MOST_IN_TOW));
    names
}

/// The name of a function with stars for what the compiler puts in to tell builds apart.
fn pattern(name: &str) -> String {
    let name = name.split_once(".llvm.").map_or(name, |(name, _)| name);
    // The older form of names ends with a hash; in the newer one each crate has one.
    match name.rsplit_once("17h") {
        Some((path, hash)) if name.starts_with("_ZN") && hash.len() == 17 => format!("{path}17h*E"),
        _ if name.starts_with("_R") => {
            let mut parts = name.split("Cs");
            let first = parts.next().unwrap_or_default().to_owned();
            parts.fold(first, |text, part| match part.split_once('_') {
                Some((_, rest)) => text + "Cs*_" + rest,
                None => text + "Cs" + part,
            })
        }
        _ => name.to_owned(),
    }
}

/// Writes the binary anew, from its first byte to its last.
///
/// A linker writes here and there, which leaves the file in small pieces in the system's memory, and mapping those costs each
/// process about a tenth of its time. A copy lies there in larger ones, as does what is installed or read from the disk. Not
/// in the largest: those bring code along that nobody runs, and the process would take three times the memory.
pub fn write_anew(binary: &Path) -> Result<()> {
    let copy = binary.with_extension("copy");
    fs::copy(binary, &copy)?;
    Ok(fs::rename(copy, binary)?)
}

#[cfg(test)]
mod tests;
