//! What the tests need beside a Rust toolchain: other programs, taken from Debian's packages when they are missing.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::shell;

/// A program that some test starts.
struct Need {
    /// One of these is enough. A name is looked up on the PATH; `*` stands for one directory.
    any_of: &'static [&'static str],
    /// Debian's package that has it.
    package: &'static str,
    /// What it is for.
    purpose: &'static str,
}

const NEEDS: &[Need] = &[
    Need { any_of: &["git"], package: "git", purpose: "the commit gate's tests" },
    Need {
        any_of: &["/usr/lib/postgresql/*/bin/initdb", "initdb"],
        package: "postgresql",
        purpose: "the PostgreSQL store's tests, which start a cluster of their own",
    },
    Need { any_of: &["bwrap"], package: "bubblewrap", purpose: "the tests of `lictor run`" },
    Need { any_of: &["tmux"], package: "tmux", purpose: "agents in a terminal in `cargo xtask agents`" },
    Need { any_of: &["socat"], package: "socat", purpose: "the sandboxes of agents in `cargo xtask agents`" },
    Need {
        any_of: &["/usr/lib/*/faketime/libfaketime.so.1"],
        package: "libfaketime",
        purpose: "the server's tests with a clock that goes back",
    },
    Need { any_of: &["chromium"], package: "chromium", purpose: "the tests of the page" },
    Need { any_of: &["node"], package: "nodejs", purpose: "the tests of the npm package and of plugins" },
    Need { any_of: &["npm"], package: "npm", purpose: "the tests of the npm package and of the page" },
    Need { any_of: &["python3"], package: "python3", purpose: "the tests of the Python package" },
];

/// Installs what is missing, or says which command does.
pub fn run() -> Result<()> {
    let missing: Vec<&Need> =
        NEEDS.iter().filter(|need| !need.any_of.iter().any(|name| is_there(name))).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for need in &missing {
        println!("`{}` is missing: needed for {}", need.package, need.purpose);
    }
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    install(&packages)
}

/// Whether a program is there: by its name on the PATH, or by its path, in which one part may be `*`.
pub fn is_there(name: &str) -> bool {
    if name.starts_with('/') {
        return matches_file(name);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

/// Installs Debian's packages, or says which command does.
pub fn install(packages: &[&str]) -> Result<()> {
    let install = [&["install", "--yes", "--no-install-recommends"][..], packages].concat();
    let by_hand = format!("apt-get update && apt-get {}", install.join(" "));
    if !is_root() || shell::output("apt-get", &["--version"]).is_err() {
        bail!("more programs are needed; install them as root and run this again: {by_hand}");
    }
    let installed = shell::run("apt-get", &["update"]).and_then(|()| shell::run("apt-get", &install));
    match installed {
        Ok(()) => Ok(()),
        Err(error) => bail!("{error}; install what is missing and run this again: {by_hand}"),
    }
}

/// Whether a file exists at that path, in which one part may be `*`.
fn matches_file(pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once("/*/") else { return Path::new(pattern).is_file() };
    std::fs::read_dir(before)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .any(|entry| entry.path().join(after).is_file())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
