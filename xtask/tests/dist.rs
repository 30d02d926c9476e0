//! Packages that `cargo xtask dist` makes can be installed and run, offline and without scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

fn run(directory: &Path, program: &str, args: &[&str]) -> Output {
    let output = Command::new(program).args(args).current_dir(directory).output();
    output.unwrap_or_else(|error| panic!("cannot start `{program}`: {error}"))
}

/// Stands in for the program: packing and starting do not depend on what it does.
fn stand_in(directory: &Path) -> String {
    let file = directory.join("lictor");
    fs::write(&file, "#!/bin/sh\necho \"native $*\"\nexit 3\n").expect("the stand-in is written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is made executable");
    file.to_string_lossy().into_owned()
}

fn dist(directory: &Path, name: &str) -> std::path::PathBuf {
    let out = directory.join(name);
    let program = stand_in(directory);
    let made = run(
        directory,
        env!("CARGO_BIN_EXE_xtask"),
        &["dist", "--without-wheel", "--binary", &program, "--out", &out.to_string_lossy()],
    );
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    out
}

#[test]
fn npm_packages_install_offline_and_hand_everything_on() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let out = dist(scratch.path(), "dist");
    let project = scratch.path().join("project");
    fs::create_dir(&project).expect("a project");
    fs::write(project.join("package.json"), "{\"private\": true}").expect("a manifest");
    let version = env!("CARGO_PKG_VERSION");
    let platform = match std::env::consts::ARCH {
        "aarch64" => "cli-linux-arm64",
        _ => "cli-linux-x64",
    };
    let tarball = |name: &str| out.join(format!("lictor{name}-{version}.tgz")).to_string_lossy().into_owned();
    let (native, root) = (tarball(&format!("-{platform}")), tarball(""));
    let cache = scratch.path().join("cache").to_string_lossy().into_owned();
    let installed = run(
        &project,
        "npm",
        &["install", "--offline", "--ignore-scripts", "--no-audit", "--cache", &cache, &native, &root],
    );
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let ran = run(&project, "node_modules/.bin/lictor", &["eval", "a b"]);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "native eval a b\n");
    assert_eq!(ran.status.code(), Some(3));
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let [one, two] = ["one", "two"].map(|name| fs::read(dist(scratch.path(), name).join("SHA256SUMS")));
    let one = one.expect("checksums");
    assert!(one.len() > 100, "every package has a checksum");
    assert_eq!(one, two.expect("checksums"));
}

#[test]
fn a_key_signs_the_checksums() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let at = |name: &str| scratch.path().join(name).to_string_lossy().into_owned();
    let made = run(scratch.path(), "ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &at("key")]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let out = scratch.path().join("dist");
    let program = stand_in(scratch.path());
    let made = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["dist", "--without-wheel", "--binary", &program, "--out", &out.to_string_lossy()])
        .env("LICTOR_SIGNING_KEY", at("key"))
        .output()
        .expect("xtask starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let key = fs::read_to_string(at("key.pub")).expect("the public key");
    fs::write(at("signers"), format!("release {key}")).expect("who may sign");
    let verify = || {
        let line =
            "ssh-keygen -Y verify -f ../signers -I release -n lictor-release -s SHA256SUMS.sig < SHA256SUMS";
        run(&out, "sh", &["-ec", &format!("{line} && sha256sum --quiet --check SHA256SUMS")]).status.success()
    };
    assert!(verify());
    fs::write(out.join("lictor-0.1.0.tgz"), "another package").expect("a changed package");
    assert!(!verify(), "a changed package is found");
}
