//! Fuzzing, with what the repository itself has as a start. Found inputs are kept in `target/fuzz`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::shell;

/// A target and where its first inputs come from.
struct Target {
    name: &'static str,
    /// Directories whose files are inputs.
    seeds: &'static [&'static str],
    /// Endings of those files.
    endings: &'static [&'static str],
    /// What a target wants before the file's own bytes: which variant it shall try.
    heads: &'static [&'static [u8]],
    /// Each line of a file is an input of its own.
    by_line: bool,
}

const TARGETS: &[Target] = &[
    Target {
        name: "adapters",
        seeds: &["crates/lictor-agents/tests/payloads"],
        endings: &["json"],
        // Every agent, with the event that the payload names.
        heads: &[
            &[0, NO_EVENT],
            &[1, NO_EVENT],
            &[2, NO_EVENT],
            &[3, NO_EVENT],
            &[4, NO_EVENT],
            &[5, NO_EVENT],
            &[6, NO_EVENT],
            &[7, NO_EVENT],
            &[8, NO_EVENT],
            &[9, NO_EVENT],
            &[10, NO_EVENT],
            &[11, NO_EVENT],
            &[12, NO_EVENT],
            &[13, NO_EVENT],
            &[14, NO_EVENT],
        ],
        by_line: false,
    },
    Target {
        name: "governance",
        seeds: &["crates/lictor-config/tests"],
        endings: &["yaml", "txt"],
        heads: &[&[0], &[1], &[2]],
        by_line: false,
    },
    Target {
        name: "evidence",
        seeds: &["crates/lictor-ledger/tests"],
        endings: &["yaml", "jsonl"],
        heads: &[&[]],
        by_line: true,
    },
    Target {
        name: "guardian",
        seeds: &["crates/lictor-agents/tests/payloads"],
        endings: &["json"],
        heads: &[&[], b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"call\",\"params\":"],
        by_line: false,
    },
    Target {
        name: "shell_read",
        seeds: &["crates/lictor-shell/tests"],
        endings: &["yaml", "jsonl"],
        heads: &[&[]],
        by_line: true,
    },
    Target {
        name: "languages",
        seeds: &["crates/lictor-shell/tests"],
        endings: &["yaml", "jsonl"],
        heads: &[&[0], &[1]],
        by_line: true,
    },
    Target {
        name: "patch",
        seeds: &["crates/lictor-shell/tests", "crates/lictor-agents/tests/payloads"],
        endings: &["yaml", "json"],
        heads: &[&[]],
        by_line: true,
    },
    Target {
        name: "mcp",
        seeds: &["crates/lictor-mcp/src/message"],
        endings: &["yaml"],
        heads: &[&[]],
        by_line: true,
    },
];

/// The hook's command line names no event.
const NO_EVENT: u8 = 255;
/// The longest input that is tried.
const LONGEST: &str = "-max_len=8192";

/// Runs one target, or all of them one after the other, each for so many seconds.
pub fn run(args: &[String]) -> Result<()> {
    let mut seconds = 60;
    let mut named = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--seconds" {
            seconds = args.next().context("`--seconds` needs a number")?.parse().context("`--seconds`")?;
        } else {
            let known = TARGETS.iter().find(|target| target.name == arg);
            named = Some(known.with_context(|| {
                let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
                format!("no fuzz target `{arg}`; there are {}", names.join(", "))
            })?);
        }
    }
    needed()?;
    for target in TARGETS.iter().filter(|target| named.is_none_or(|named| named.name == target.name)) {
        fuzz(target, seconds)?;
    }
    Ok(())
}

fn needed() -> Result<()> {
    if shell::output("cargo", &["fuzz", "--version"]).is_err() {
        bail!("fuzzing needs cargo-fuzz: `cargo install cargo-fuzz`");
    }
    Ok(())
}

fn fuzz(target: &Target, seconds: u32) -> Result<()> {
    let place = shell::target().join("fuzz").join(target.name);
    let (corpus, seeds, found) = (place.join("corpus"), place.join("seeds"), place.join("found"));
    for directory in [&corpus, &seeds, &found] {
        fs::create_dir_all(directory)?;
    }
    let count = sow(target, &seeds)?;
    println!("{}: {count} seeds, {seconds} s", target.name);
    let time = format!("-max_total_time={seconds}");
    let artifacts = format!("-artifact_prefix={}/", found.display());
    let status = Command::new("cargo")
        .args(["fuzz", "run", "--sanitizer", "none", target.name])
        .args([&corpus, &seeds])
        .args(["--", &time, LONGEST, &artifacts, "-timeout=10", "-print_final_stats=1"])
        .current_dir(shell::root().join("fuzz"))
        .env("CARGO_TARGET_DIR", shell::target().join("fuzz/build"))
        // cargo-fuzz passes options that the pinned compiler knows and takes only so.
        .env("RUSTC_BOOTSTRAP", "1")
        .status()?;
    if !status.success() {
        bail!("`{}` found something; the input is in `{}`", target.name, found.display());
    }
    Ok(())
}

/// Writes the repository's own cases as inputs and says how many.
fn sow(target: &Target, into: &Path) -> Result<usize> {
    let mut files = Vec::new();
    for seeds in target.seeds {
        collect(&shell::root().join(seeds), target.endings, &mut files)?;
    }
    let mut count = 0;
    for file in files {
        let bytes = fs::read(file)?;
        let inputs: Vec<&[u8]> =
            if target.by_line { bytes.split(|byte| *byte == b'\n').collect() } else { vec![&bytes] };
        for (input, head) in
            inputs.iter().flat_map(|input| target.heads.iter().map(move |head| (input, head)))
        {
            fs::write(into.join(count.to_string()), [head, *input].concat())?;
            count += 1;
        }
    }
    Ok(count)
}

fn collect(directory: &Path, endings: &[&str], files: &mut Vec<PathBuf>) -> Result<()> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, endings, files)?;
        } else if path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
            files.push(path);
        }
    }
    Ok(())
}
