//! A crate outside the workspace that depends only on `lictor` drives a whole governed session.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_crate_outside_the_workspace_governs_a_session() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = scratch.path().join("embed");
    fs::create_dir_all(folder.join("src")).unwrap();
    // Built elsewhere, so that nothing of the workspace around it is found.
    let manifest = fs::read_to_string(own.join("tests/embed/Cargo.toml")).unwrap();
    let manifest = manifest.replace("path = \"../..\"", &format!("path = {:?}", own));
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(own.join("tests/embed/src/main.rs"), folder.join("src/main.rs")).unwrap();
    fs::copy(own.join("../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let home = scratch.path().join("home");
    fs::create_dir(&home).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--offline", "--"])
        .arg(&home)
        .current_dir(&folder)
        // What is built already is not built again.
        .env("CARGO_TARGET_DIR", target)
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stdout == "governed\n", "{stdout}{stderr}");
}
