//! A network namespace with loopback and nothing else: what a program under test sends anywhere else goes nowhere.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::shell;

/// Given to the process that runs inside the namespace.
pub const INSIDE: &str = "--inside-namespace";

/// Runs this program again inside a new namespace, with the same arguments and [`INSIDE`].
///
/// By the name it was started with: `cargo test` may replace its file while it runs, and the path that the kernel
/// gives then leads nowhere.
pub fn enter(chore: &str, args: &[String]) -> Result<()> {
    let own = std::env::args_os().next().context("the path of this program is not known")?;
    let status = Command::new("unshare")
        .args(["--map-root-user", "--net", "--mount", "--"])
        .arg(own)
        .arg(chore)
        .args(args)
        .arg(INSIDE)
        .status()
        .context("cannot start `unshare`; it is part of util-linux")?;
    if !status.success() {
        bail!("`{chore}` failed; what it printed says where");
    }
    Ok(())
}

/// Starts loopback, and fails when there is any other interface.
pub fn isolate() -> Result<()> {
    shell::output("ip", &["link", "set", "lo", "up"])?;
    let devices = std::fs::read_to_string("/proc/net/dev")?;
    let others: Vec<&str> = devices
        .lines()
        .skip(2)
        .filter_map(|line| line.split(':').next())
        .map(str::trim)
        .filter(|name| *name != "lo")
        .collect();
    if !others.is_empty() {
        bail!("this namespace has more than loopback: {}", others.join(", "));
    }
    Ok(())
}
