//! Derives the format version of a stored policy from the source code of its types, so that a build never reads a
//! policy that another build has stored.
#![expect(clippy::expect_used, reason = "a build script reports by failing")]

use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose types occur in a stored policy, with their dependencies.
const CRATES: [&str; 7] = ["agents", "config", "core", "expr", "guards", "observe", "shell"];

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is"));
    println!("cargo::rerun-if-changed=build.rs");
    let mut form = Form(0xcbf2_9ce4_8422_2325);
    form.take(std::env::var("CARGO_PKG_VERSION").expect("cargo says which version").as_bytes());
    for name in CRATES {
        // Crates from a registry are in another directory; there the version identifies the source.
        let sources = match name {
            "config" => here.join("src"),
            _ => here.with_file_name(format!("lictor-{name}")).join("src"),
        };
        let mut files = Vec::new();
        collect(&sources, &mut files);
        files.sort();
        for file in files {
            println!("cargo::rerun-if-changed={}", file.display());
            form.take(&fs::read(&file).expect("a source can be read"));
        }
    }
    println!("cargo::rustc-env=LICTOR_POLICY_FORM={:016x}", form.0);
}

/// All source files except tests.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("an entry can be read").path()) {
        let named = |name: &str| path.file_name().is_some_and(|found| found == name);
        if path.is_dir() && !named("tests") {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !named("tests.rs") {
            files.push(path);
        }
    }
}

/// FNV-1a: the same on every platform, and the input is not controlled by an attacker.
struct Form(u64);

impl Form {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
