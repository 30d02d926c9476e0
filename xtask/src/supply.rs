//! Checks that need something a machine without a network may not have. Where it is missing they say so and do not fail:
//! CI has it.

use anyhow::Result;

use crate::shell;

/// Known security advisories against the locked dependencies, by `cargo deny` and its database.
pub fn advisories() -> Result<()> {
    if shell::output("cargo", &["deny", "--version"]).is_err() {
        println!("SKIPPED: advisories were not checked; `cargo install cargo-deny` first");
        return Ok(());
    }
    shell::run("cargo", &["deny", "--locked", "check", "advisories", "bans", "sources"])
}

/// Compiles with the oldest toolchain that `rust-version` promises.
pub fn msrv() -> Result<()> {
    let oldest = format!("+{}", env!("CARGO_PKG_RUST_VERSION"));
    if shell::output("cargo", &[&oldest, "--version"]).is_err() {
        println!(
            "SKIPPED: Rust {0} is not installed; `rustup toolchain install {0}` first (clippy's `incompatible_msrv` was checked by lint)",
            env!("CARGO_PKG_RUST_VERSION")
        );
        return Ok(());
    }
    shell::run("cargo", &[&oldest, "check", "--locked", "--workspace"])
}
