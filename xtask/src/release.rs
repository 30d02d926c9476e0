//! The binary that people get. Its build flags are here and nowhere else.

mod order;
mod rehearsal;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::{setup, shell};

/// Builds it and says where it is.
pub fn build() -> Result<PathBuf> {
    built(&[])
}

/// What [`build`] builds for: with which C library a hook is linked decides how soon it starts.
pub fn target() -> Result<String> {
    Ok(Target::best()?.name)
}

/// Builds the server, which people who serve a team need beside it.
pub fn server() -> Result<PathBuf> {
    shell::run("cargo", &["build", "--locked", "--release", "--package", "lictor-server"])?;
    Ok(shell::target().join("release/lictor-server"))
}

/// Writes down anew which functions stand side by side in it.
pub fn order() -> Result<()> {
    let named = built(&["--config", "profile.release.package.lictor-cli.strip=\"none\""])?;
    order::renew(&named)
}

fn built(more: &[&str]) -> Result<PathBuf> {
    let target = Target::best()?;
    // The newer form of names tells the forms of a generic function apart, so that only those that run are put in order.
    let flags = [target.flags, &["-C", "symbol-mangling-version=v0"]].concat();
    let flags = format!("target.{}.rustflags={flags:?}", target.name);
    let mut build = vec!["rustc", "--locked", "--release", "--package", "lictor-cli", "--bin", "lictor"];
    build.extend(["--target", &target.name, "--config", &flags]);
    build.extend(more);
    let order = if target.is_static() { order::argument()? } else { None };
    match &order {
        // For the last step alone: what it links need not be compiled anew when the order changes.
        Some(argument) => build.extend(["--", "-C", argument]),
        None if target.is_static() => {
            println!("the linker takes no order of functions; the hook starts sooner with one")
        }
        None => {}
    }
    shell::run("cargo", &build)?;
    let binary = shell::target().join(target.name).join("release/lictor");
    order::write_anew(&binary)?;
    Ok(binary)
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
        match can_build(&musl) {
            Ok(()) => Ok(Self { name: musl, flags: STATIC }),
            Err(error) => {
                println!("{error}");
                println!("building with glibc; with musl the hook starts sooner");
                Ok(Self { name: host, flags: STATIC })
            }
        }
    }

    fn is_static(&self) -> bool {
        !self.flags.is_empty()
    }
}

/// Gets the standard library and a compiler for C where they are missing, or says what does.
fn can_build(target: &str) -> Result<()> {
    let library = shell::output("rustc", &["--print", "target-libdir", "--target", target]);
    if !library.is_ok_and(|path| Path::new(path.trim()).is_dir()) {
        shell::run("rustup", &["target", "add", target])?;
    }
    match shell::output("musl-gcc", &["--version"]) {
        Ok(_) => Ok(()),
        Err(_) => setup::install(&["musl-tools"]),
    }
}

fn host() -> Result<String> {
    let text = shell::output("rustc", &["--version", "--verbose"])?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}
