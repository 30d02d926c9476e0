//! Puts the functions that a hook runs side by side in the binary.
//!
//! A process brings code in by pieces of 64 KiB, each at the price of a fault, and the 1 300 functions that a hook runs
//! lie all over twelve megabytes: a hundred faults, and as many misses in every cache of the processor. Side by side they
//! are a megabyte and a half, and the process takes a fifth less time.
//!
//! Which functions these are is found out by running them, so the program is linked twice: rustc calls this in place of
//! its linker, the first result is tried out, and the second is what rustc gets.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::rehearsal;

/// Set when this program is called as a linker: the file that takes a sentence on what came of it.
pub const VARIABLE: &str = "LICTOR_LINKS_IN_ORDER";

/// Links, when this program was called for that.
pub fn asked() -> Option<Result<()>> {
    let note = env::var_os(VARIABLE)?;
    Some(link(&env::args_os().skip(1).collect::<Vec<_>>(), Path::new(&note)))
}

fn link(args: &[OsString], note: &Path) -> Result<()> {
    let said = match in_order(args) {
        Ok(count) => format!("the {count} functions that a hook runs stand side by side"),
        // A program in any order does the same.
        Err(error) => {
            cc(args)?;
            format!("the functions stand in no order: {error:#}")
        }
    };
    Ok(fs::write(note, said)?)
}

fn in_order(args: &[OsString]) -> Result<usize> {
    let at = args.iter().position(|arg| arg == "-o").context("the linker is not told where to write")? + 1;
    let result = args.get(at).context("the linker is not told where to write")?;
    let beside = |suffix: &str| {
        let mut name = result.clone();
        name.push(suffix);
        PathBuf::from(name)
    };
    let trial = beside(".trial");
    let mut unordered: Vec<OsString> = args.iter().filter(|arg| !strips(arg)).cloned().collect();
    if let Some(at) = unordered.iter().position(|arg| arg == "-o") {
        unordered.splice(at + 1..at + 2, [trial.clone().into()]);
    }
    cc(&unordered)?;
    let functions = rehearsal::functions(&trial, &beside(".home"));
    fs::remove_file(&trial)?;
    let functions = functions?;
    let script = beside(".ld");
    fs::write(&script, script_of(&functions))?;
    let mut ordered = args.to_vec();
    let mut insert = OsString::from("-Wl,-T,");
    insert.push(&script);
    ordered.push(insert);
    cc(&ordered)?;
    Ok(functions.len())
}

/// Whether an argument takes the names away, which the rehearsal needs.
fn strips(arg: &OsStr) -> bool {
    ["-s", "-Wl,--strip-all", "-Wl,--strip-debug"].iter().any(|known| arg == *known)
}

/// An addition to the linker's own script. Functions without a section of their own stay where they are.
fn script_of(functions: &[String]) -> String {
    let sections = functions.iter().map(|name| format!("*(.text.{name})\n*(.text.unlikely.{name})\n"));
    format!("SECTIONS {{ .text.hook : {{\n{}}} }} INSERT BEFORE .text;\n", sections.collect::<String>())
}

fn cc(args: &[OsString]) -> Result<()> {
    let status = Command::new("cc").args(args).status().context("cannot start `cc`; is it installed?")?;
    ensure!(status.success(), "`cc` failed with {status}");
    Ok(())
}
