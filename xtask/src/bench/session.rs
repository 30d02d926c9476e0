//! What a tool call costs a session, by how many calls it has been through: instructions where `valgrind` is there, and
//! time.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::paper;
use crate::shell;

/// The functions of the example that stand for the parts of a call.
const PARTS: [&str; 4] = ["parse", "judge", "fold", "write"];
/// How many calls the example makes on top of a state.
const CALLS: u64 = 8;

/// Measures and writes the table.
pub fn run() -> Result<()> {
    // Names are needed to tell the parts apart; nothing else differs from what is released.
    let names = "profile.release.strip=false";
    let package = ["--package", "lictor-core", "--example", "session_cost"];
    let build = [&["build", "--locked", "--quiet", "--release", "--config", names], &package[..]].concat();
    shell::run("cargo", &build)?;
    let example = shell::target().join("release/examples/session_cost");
    let example = example.to_str().context("the repository lies at a path that is not text")?;
    let place = shell::target().join("bench/session");
    fs::create_dir_all(&place)?;
    let timed = shell::told(example, &[path(&place)?])?;
    let counts = shell::output("valgrind", &["--version"]).is_ok();
    let mut table = header(counts);
    let mut first = None;
    for row in timed.lines() {
        let mut numbers = row.split(' ').map(str::parse::<u64>);
        let mut number = || numbers.next().context("a row is too short")?.context("not a number");
        let (calls, bytes, time) = (number()?, number()?, number()?);
        write!(table, "| {} |", spaced(calls))?;
        if counts {
            let state = place.join(format!("{calls}.json"));
            let parts = PARTS.iter().map(|part| instructions(example, part, path(&state)?));
            let parts = parts.collect::<Result<Vec<u64>>>()?;
            parts.iter().try_for_each(|part| write!(table, " {} |", spaced(*part)))?;
            let all: u64 = parts.iter().sum();
            let least = *first.get_or_insert(all);
            write!(table, " {} | {:.2}× |", spaced(all), all as f64 / least as f64)?;
        }
        writeln!(table, " {:.1} | {} |", time as f64 / 1e3, spaced(bytes))?;
    }
    if !counts {
        table += "\nInstructions were not counted: `valgrind` is not installed.\n";
    }
    paper::write("session", &table)
}

fn header(counts: bool) -> String {
    let counted = if counts { " read | judge | take in | write | instructions | × |" } else { "" };
    let rule = if counts { "---|---|---|---|---|---|" } else { "" };
    format!("| calls so far |{counted} fastest µs | bytes of state |\n|---|{rule}---|---|\n")
}

/// Instructions that one part takes for a call, on average.
fn instructions(example: &str, part: &str, state: &str) -> Result<u64> {
    let counted = format!("{state}.{part}");
    let only = format!("--toggle-collect=*session_cost*::{part}*");
    let file = format!("--callgrind-out-file={counted}");
    shell::output("valgrind", &["--tool=callgrind", &only, &file, example, state])?;
    let told =
        fs::read_to_string(&counted).with_context(|| format!("`valgrind` did not write `{counted}`"))?;
    let total = told.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse::<u64>().ok());
    let total = total.with_context(|| format!("`{counted}` has no total"))?;
    anyhow::ensure!(total > 0, "no function `{part}` was seen");
    Ok(total / CALLS)
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().context("the repository lies at a path that is not text")
}

/// Thousands apart.
pub(super) fn spaced(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::spaced;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(spaced), ["0", "999", "1 000", "1 234 567"]);
    }
}
