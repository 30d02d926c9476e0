//! What Lictor costs, beside what it stands against. `docs/benchmarks.md` has the figures and how to read them.

mod hook;
mod samples;

use anyhow::{Result, bail};

use crate::shell;

/// Runs the benchmarks that are asked for; all of them when none is named.
pub fn run(args: &[String]) -> Result<()> {
    match args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        None => {
            for one in ["shell", "store", "ledger", "peers", "hook"] {
                run(&[one.to_owned()])?;
            }
            Ok(())
        }
        Some(("hook", rest)) => hook::run(rest),
        Some(("peers", [])) => {
            let manifest = "benches/peers/Cargo.toml";
            shell::run("cargo", &["run", "--locked", "--quiet", "--release", "--manifest-path", manifest])
        }
        Some(("shell", [])) => of("lictor-shell", "read"),
        Some(("store", [])) => of("lictor-store", "cold_open"),
        Some(("ledger", [])) => of("lictor-ledger", "ledger"),
        Some((other, _)) => bail!("no benchmark `{other}` with these options; `cargo xtask help` lists them"),
    }
}

fn of(package: &str, bench: &str) -> Result<()> {
    shell::run("cargo", &["bench", "--locked", "--quiet", "--package", package, "--bench", bench])
}
