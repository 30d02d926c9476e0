//! The server under load, beside another policy server, its page over a long record, and hooks that wait for an answer.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use super::paper;
use super::plot::{self, Row};
use crate::{shell, ui_test};

/// The other server, from npm: a policy decision point whose conditions are CEL, as ours.
const PEER: &str = "cerbos@0.51.0";
const PICTURE: &str = "docs/pictures/bench-server.svg";
const SHOWN: &str = "\n![p10 to p99 of evaluations over HTTP, on SQLite, on PostgreSQL and of a peer](pictures/bench-server.svg)\n";
/// Each has a section of its own in `docs/benchmarks.md`.
const PARTS: [&str; 4] = ["evaluate", "ingest", "views", "release"];

/// Runs the parts and writes their tables down. Options: `--only evaluate,release`, `--lictor PATH` for the hook that waits,
/// `--server PATH` for a server that was built elsewhere; others go to the benchmark: `--seconds N`, `--records N`.
pub fn run(options: &[String]) -> Result<()> {
    let (mut only, mut lictor, mut server, mut rest) = (None, None, None, Vec::new());
    let mut words = options.iter();
    while let Some(word) = words.next() {
        let Some(value) = words.next() else { bail!("`{word}` needs a value") };
        match word.as_str() {
            "--only" => only = Some(value.as_str()),
            "--lictor" => lictor = Some(value.as_str()),
            "--server" => server = Some(value.as_str()),
            _ => rest.extend([word.as_str(), value]),
        }
    }
    let wanted = |part: &str| only.is_none_or(|only| only.split(',').any(|word| word == part));
    for part in PARTS.into_iter().filter(|part| wanted(part)) {
        let mut figures = match part {
            "release" => release(lictor, server)?,
            _ => load(part, server, &rest)?,
        };
        if part == "evaluate" {
            let title = "One evaluation over HTTP, 64 clients on the same machine";
            fs::write(shell::root().join(PICTURE), plot::draw(title, &rows(&figures)))?;
            figures += SHOWN;
        }
        paper::write(&format!("server-{part}"), &figures)?;
    }
    Ok(())
}

fn load(part: &str, server: Option<&str>, options: &[&str]) -> Result<String> {
    let directory = shell::target().join("peers");
    fs::create_dir_all(&directory)?;
    let peer = if part == "evaluate" { peer(&directory)? } else { String::new() };
    let mut args = vec!["bench", "--locked", "--quiet", "--package", "lictor-server", "--bench", "load"];
    // What only asks another program need not be fast itself.
    args.extend(if server.is_some() { &["--profile", "dev", "--"][..] } else { &["--"] });
    args.extend(["--only", part]);
    args.extend(server.iter().flat_map(|server| ["--server", *server]));
    if !peer.is_empty() {
        args.extend(["--peer", &peer]);
    }
    args.extend(options);
    shell::told("cargo", &args)
}

fn peer(directory: &Path) -> Result<String> {
    let prefix = directory.to_string_lossy().into_owned();
    let install = ["install", "--prefix", &prefix, "--no-audit", "--no-fund", "--no-save", "--silent", PEER];
    shell::run("npm", &install)?;
    // What npm links is a script that starts the program.
    let machine = if cfg!(target_arch = "aarch64") { "cerbos-linux-arm64" } else { "cerbos-linux-x64" };
    let program = directory.join("node_modules/@cerbos").join(machine).join(machine);
    Ok(program.to_string_lossy().into_owned())
}

/// How long after a click a hook that waits goes on.
fn release(lictor: Option<&str>, server: Option<&str>) -> Result<String> {
    let release = shell::target().join("release");
    let own = release.join("lictor").to_string_lossy().into_owned();
    if lictor.is_none() {
        shell::run("cargo", &["build", "--locked", "--quiet", "--release", "--bin", "lictor"])?;
    }
    if server.is_none() {
        shell::run("cargo", &["build", "--locked", "--quiet", "--release", "--package", "lictor-server"])?;
    }
    let built = release.join("lictor-server").to_string_lossy().into_owned();
    ui_test::told("released.mjs", lictor.unwrap_or(&own), server.unwrap_or(&built))
}

/// The rows of the table that have times.
fn rows(figures: &str) -> Vec<Row> {
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let name = cells.next()?.to_owned();
        let times: Vec<f64> = cells.skip(1).take(4).filter_map(|cell| cell.parse().ok()).collect();
        Some(Row { name, times: times.try_into().ok()? })
    };
    figures.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn rows_with_times_are_drawn() {
        let table = "| a | n | p10 ms | p50 ms | p95 ms | p99 ms | MB |\n|---|---:|---:|---:|---:|---:|---:|\n| SQLite | 2000 | 0.5 | 1.0 | 2.0 | 3.5 | 60 |\n";
        let rows = rows(table);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].name.as_str(), rows[0].times), ("SQLite", [0.5, 1.0, 2.0, 3.5]));
    }
}
