//! The server under load, beside another policy server, and its page over a long record.

use anyhow::Result;

use super::paper;
use crate::shell;

/// The other server, from npm: a policy decision point whose conditions are CEL, as ours.
const PEER: &str = "cerbos@0.51.0";

/// Runs the load and writes its tables down. Options go to the benchmark: `--seconds N`, `--records N`, `--only evaluate`.
pub fn run(options: &[String]) -> Result<()> {
    let directory = shell::root().join("target/peers");
    std::fs::create_dir_all(&directory)?;
    let prefix = directory.to_string_lossy().into_owned();
    shell::run(
        "npm",
        &["install", "--prefix", &prefix, "--no-audit", "--no-fund", "--no-save", "--silent", PEER],
    )?;
    // What npm links is a script that starts the program.
    let machine = if cfg!(target_arch = "aarch64") { "cerbos-linux-arm64" } else { "cerbos-linux-x64" };
    let peer =
        directory.join("node_modules/@cerbos").join(machine).join(machine).to_string_lossy().into_owned();
    let mut args =
        vec!["bench", "--locked", "--quiet", "--package", "lictor-server", "--bench", "load", "--"];
    args.extend(["--peer", &peer]);
    args.extend(options.iter().map(String::as_str));
    paper::write("server", &shell::told("cargo", &args)?)
}
