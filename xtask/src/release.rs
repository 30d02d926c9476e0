//! The binary that people get. Its build flags are here and nowhere else.

pub mod order;
mod rehearsal;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::shell;

/// Builds it and says where it is.
pub fn build() -> Result<PathBuf> {
    let target = Target::best()?;
    let mut flags = target.flags.to_vec();
    let linker = format!("linker={}", env::current_exe()?.display());
    let note = shell::root().join("target/release-order.txt");
    let ordered = target.is_static() && rehearsal::is_possible();
    if ordered {
        flags.extend(["-C", &linker, "-C", "linker-flavor=gcc"]);
    } else if target.is_static() {
        println!(
            "building without an order of functions: the hook starts sooner with one; install `valgrind` for it"
        );
    }
    let flags = format!("target.{}.rustflags={flags:?}", target.name);
    shell::run_with(
        &[(order::VARIABLE, note.as_os_str())],
        "cargo",
        &["build", "--locked", "--release", "--bin", "lictor", "--target", &target.name, "--config", &flags],
    )?;
    if ordered {
        println!(
            "{}",
            fs::read_to_string(&note).with_context(|| format!("cannot read `{}`", note.display()))?
        );
    }
    Ok(shell::root().join("target").join(target.name).join("release/lictor"))
}

struct Target {
    name: String,
    flags: &'static [&'static str],
}

impl Target {
    /// A hook is started for every call, so how a process starts is most of what it costs. One that is linked statically
    /// at a fixed address needs no dynamic linker and no relocations. One with musl does not look the processor up
    /// either: glibc does so with some eighty `cpuid`, and each of them leaves a virtual machine (0.4 ms together where
    /// this was measured).
    fn best() -> Result<Self> {
        const STATIC: &[&str] = &["-C", "target-feature=+crt-static", "-C", "relocation-model=static"];
        let host = host()?;
        if !host.ends_with("linux-gnu") {
            return Ok(Self { name: host, flags: &[] });
        }
        let musl = format!("{}musl", host.trim_end_matches("gnu"));
        if can_build(&musl) {
            return Ok(Self { name: musl, flags: STATIC });
        }
        println!(
            "building with glibc: the hook starts sooner with musl; `rustup target add {musl}` and install `musl-tools` for it"
        );
        Ok(Self { name: host, flags: STATIC })
    }

    fn is_static(&self) -> bool {
        !self.flags.is_empty()
    }
}

/// Whether the standard library and a compiler for C are there.
fn can_build(target: &str) -> bool {
    let library = shell::output("rustc", &["--print", "target-libdir", "--target", target]);
    let has_library = library.is_ok_and(|path| Path::new(path.trim()).is_dir());
    has_library && shell::output("musl-gcc", &["--version"]).is_ok()
}

fn host() -> Result<String> {
    let text = shell::output("rustc", &["--version", "--verbose"])?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}
