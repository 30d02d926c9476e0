//! The page in a real browser, with real hooks that wait: Debian's Chromium, driven from Node.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::shell;

/// What drives the browser, and what checks that everybody can use the page. From npm, into `target/ui`.
const MODULES: [&str; 2] = ["playwright-core@1.65.0", "axe-core@4.14.0"];

/// Builds the programs, gets the modules, runs the tests whose names hold one of the words. With `--pictures`, takes those
/// of the docs instead, and pictures of every view into `target/pictures`.
pub fn run(words: &[String]) -> Result<()> {
    shell::run("cargo", &["build", "--locked", "--quiet", "--bin", "lictor"])?;
    shell::run(
        "cargo",
        &["build", "--locked", "--quiet", "--package", "lictor-server", "--bin", "lictor-server"],
    )?;
    let modules = modules()?;
    let programs = shell::target().join("debug");
    let (script, words) = match words {
        [word] if word == "--pictures" => ("pictures.mjs", &[][..]),
        words => ("run.mjs", words),
    };
    let status = Command::new("node")
        .arg(shell::root().join("xtask/ui").join(script))
        .args(words)
        .env("PICTURES", shell::root().join("docs/pictures"))
        .env("ALL_PICTURES", shell::target().join("pictures"))
        .env("LICTOR", programs.join("lictor"))
        .env("LICTOR_SERVER", programs.join("lictor-server"))
        .env("UI_MODULES", modules)
        .env("CHROMIUM", chromium()?)
        .status()
        .context("`node` cannot be started; `cargo xtask setup` installs it")?;
    if !status.success() {
        bail!("the page's tests failed");
    }
    Ok(())
}

/// What a script prints, with these programs.
pub fn told(script: &str, lictor: &str, server: &str) -> Result<String> {
    let modules = modules()?.to_string_lossy().into_owned();
    let chromium = chromium()?.to_string_lossy().into_owned();
    let script = shell::root().join("xtask/ui").join(script).to_string_lossy().into_owned();
    let set = [
        format!("LICTOR={lictor}"),
        format!("LICTOR_SERVER={server}"),
        format!("UI_MODULES={modules}"),
        format!("CHROMIUM={chromium}"),
    ];
    let mut args: Vec<&str> = set.iter().map(String::as_str).collect();
    args.extend(["node", &script]);
    shell::told("env", &args)
}

fn modules() -> Result<PathBuf> {
    let directory = shell::target().join("ui");
    let named = MODULES.join(" ");
    let mark = directory.join("modules.txt");
    if std::fs::read_to_string(&mark).unwrap_or_default() != named {
        std::fs::create_dir_all(&directory)?;
        std::fs::write(directory.join("package.json"), "{\"private\": true}\n")?;
        let prefix = directory.to_string_lossy().into_owned();
        let mut args = vec![
            "install",
            "--prefix",
            &prefix,
            "--no-audit",
            "--no-fund",
            "--no-save",
            "--ignore-scripts",
            "--silent",
        ];
        args.extend(MODULES);
        shell::run("npm", &args)?;
        std::fs::write(mark, named)?;
    }
    Ok(directory)
}

fn chromium() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|directory| [directory.join("chromium"), directory.join("chromium-browser")])
        .find(|file: &PathBuf| Path::is_file(file));
    found.context("there is no `chromium` on the PATH; `cargo xtask setup` installs it")
}
