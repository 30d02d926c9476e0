//! What a reviewer should not have to look for.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::shell;

/// Crates that must not touch the world.
const PURE: [&str; 4] = ["lictor-core", "lictor-expr", "lictor-shell", "lictor-guards"];

/// Which of our crates a crate may use. The order is the data flow of `docs/architecture.md`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("lictor-core", &[]),
    ("lictor-expr", &[]),
    ("lictor-agents", &["lictor-core"]),
    ("lictor-shell", &["lictor-agents", "lictor-core"]),
    ("lictor-socket", &[]),
    ("lictor-store", &["lictor-core"]),
    ("lictor-observe", &["lictor-agents", "lictor-core", "lictor-shell"]),
    ("lictor-guards", &["lictor-core", "lictor-shell"]),
    ("lictor-ledger", &["lictor-core", "lictor-store"]),
    ("lictor-engine", &["lictor-core", "lictor-guards", "lictor-observe", "lictor-store"]),
    (
        "lictor-server",
        &["lictor", "lictor-core", "lictor-engine", "lictor-guards", "lictor-mcp", "lictor-store"],
    ),
    (
        "lictor-config",
        &[
            "lictor-agents",
            "lictor-engine",
            "lictor-core",
            "lictor-expr",
            "lictor-guards",
            "lictor-observe",
            "lictor-shell",
            "lictor-ledger",
        ],
    ),
    ("lictor-mcp", &["lictor", "lictor-core"]),
    (
        "lictor-run",
        &["lictor", "lictor-agents", "lictor-config", "lictor-ledger", "lictor-observe", "lictor-socket"],
    ),
    (
        "lictor",
        &[
            "lictor-agents",
            "lictor-config",
            "lictor-core",
            "lictor-engine",
            "lictor-guards",
            "lictor-ledger",
            "lictor-observe",
            "lictor-store",
        ],
    ),
];

const LICENCES: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Zlib",
    "Unlicense",
    "CC0-1.0",
    "0BSD",
    "BSL-1.0",
    "MPL-2.0",
    // The data of webpki-roots: certificates, not code.
    "CDLA-Permissive-2.0",
];

/// Format, clippy, purity, direction of dependencies, licences.
pub fn run() -> Result<()> {
    shell::run("cargo", &["fmt", "--all", "--check"])?;
    purity()?;
    metadata()?;
    shell::run("cargo", &["clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"])
}

/// The pure crates are pure because clippy says so; this checks that each of them still asks it to.
fn purity() -> Result<()> {
    for name in PURE {
        let file = shell::root().join("crates").join(name).join("src/lib.rs");
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        if !text.contains("#![deny(clippy::disallowed_methods, clippy::disallowed_types)]") {
            bail!("{} does not deny clippy::disallowed_methods and disallowed_types", file.display());
        }
    }
    Ok(())
}

fn metadata() -> Result<()> {
    let text = shell::output("cargo", &["metadata", "--locked", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let licence = package["license"].as_str().unwrap_or_default();
        if !licence_fits(licence) {
            wrong.push(format!("licence of {name}: `{licence}`"));
        }
        // A path has no source; everything else comes from the one registry, never from a git address.
        if package["source"].as_str().is_some_and(|source| !source.starts_with("registry+")) {
            wrong.push(format!("{name} does not come from the registry"));
        }
        let Some(may_use) = allowed.get(name) else { continue };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let used = dependency["name"].as_str().unwrap_or_default();
            let normal = dependency["kind"].is_null();
            if normal && used.starts_with("lictor") && !may_use.contains(&used) {
                wrong.push(format!("{name} must not depend on {used}"));
            }
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(())
}

/// One alternative of an `OR` must consist of accepted licences only.
fn licence_fits(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    plain.split(" OR ").any(|alternative| {
        alternative.split(" AND ").all(|one| {
            let one = one.trim();
            LICENCES.contains(&one.strip_suffix(" WITH LLVM-exception").unwrap_or(one))
        })
    })
}
