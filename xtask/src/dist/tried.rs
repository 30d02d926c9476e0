//! Installs the packages for this machine as the README says, with every Python that is here, in a home of its own; runs what
//! they bring; and lets `lictor init` govern a project from places that do not last.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::{VERSION, names, targets};
use crate::shell;

/// The package manager of Python that installs programs.
const UV: &str = "uv==0.13.8";

/// The oldest Python 3 that the wheel is for.
const OLDEST: u32 = 10;

/// What a program in Python sees: one action passes, another one does not, and the native program is the package's own.
const SCRIPT: &str = "\
import subprocess, sys
from lictor import Action, PolicyEngine
from lictor.guards import BashSafetyGuard
engine = PolicyEngine(BashSafetyGuard())
assert engine.evaluate(Action.bash('ls')).passed
blocked = engine.evaluate(Action.bash('rm -rf ~'))
assert not blocked.passed and blocked.fix, blocked
said = subprocess.run([sys.executable, '-m', 'lictor', 'eval', 'bash', 'rm -rf ~'], capture_output=True, text=True)
assert said.returncode == 2 and 'delete a home directory' in said.stdout, said
";

/// Tries what lies in a directory of packages.
pub(super) fn run(packages: &Path) -> Result<()> {
    let tried = Tried::new(packages)?;
    tried.pythons()?;
    tried.readme()?;
    tried.throw_away_homes()
}

struct Tried {
    /// Everything happens below it. Not in the system's directory of temporary files, which is temporary for Lictor too.
    root: PathBuf,
    /// Where `uv` is.
    tools: PathBuf,
    /// npm's name of this machine.
    platform: String,
}

impl Tried {
    fn new(packages: &Path) -> Result<Self> {
        let here = targets::here()?;
        let platform = here.npm.join("-");
        let wanted = format!("lictor-cli-{platform}-{VERSION}.tgz");
        ensure!(packages.join(&wanted).exists(), "`{wanted}` is not in `{}`", packages.display());
        let root = shell::target().join("dist-tried");
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        fs::create_dir_all(&root)?;
        symlink(fs::canonicalize(packages)?, root.join("dist"))?;
        Ok(Self { root, tools: targets::with_tools(&[UV])?, platform })
    }

    /// A program in a fresh home, or in one that was used before.
    fn command(&self, home: &str, directory: &str, words: &[&str]) -> Result<Command> {
        let home = self.root.join(home);
        let directory = home.join(directory);
        fs::create_dir_all(&directory)?;
        let own = ["bin", ".local/bin"].map(|name| home.join(name));
        let system = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(
            own.into_iter().chain([self.tools.clone()]).chain(std::env::split_paths(&system)),
        )?;
        let mut command = Command::new("env");
        command
            .args(words)
            .current_dir(directory)
            .env_clear()
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("npm_config_prefix", &home)
            .env("npm_config_offline", "true")
            .env("npm_config_ignore_scripts", "true")
            .env("UV_OFFLINE", "1")
            .env("HOME", home);
        Ok(command)
    }

    fn output(&self, home: &str, directory: &str, words: &[&str]) -> Result<Output> {
        self.command(home, directory, words)?.output().with_context(|| format!("cannot start {words:?}"))
    }

    /// Runs it, and fails unless it ends with that code.
    fn expect(&self, home: &str, directory: &str, words: &[&str], code: i32) -> Result<String> {
        let output = self.output(home, directory, words)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complained = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.code() == Some(code),
            "`{}`: {}\n{said}{complained}",
            words.join(" "),
            output.status
        );
        Ok(said)
    }

    /// Every Python gets the wheel, without a network, and runs module and program.
    fn pythons(&self) -> Result<()> {
        let pythons = pythons()?;
        ensure!(!pythons.is_empty(), "there is no Python 3.{OLDEST} or later to try the wheel with");
        for python in pythons {
            let version = shell::output(&python.to_string_lossy(), &["--version"])?;
            let version = version.trim().replace(' ', "-");
            let home = format!("{version}-{}", python.display().to_string().replace('/', "_"));
            self.expect(&home, "", &[&python.to_string_lossy(), "-m", "venv", "environment"], 0)?;
            let inside = self.root.join(&home).join("environment/bin");
            let inside = |name: &str| inside.join(name).to_string_lossy().into_owned();
            let find = self.root.join("dist");
            let install = [
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-index",
                "--find-links",
                &find.to_string_lossy(),
                "lictor",
            ];
            let interpreter = inside("python");
            self.expect(&home, "", &[&[interpreter.as_str()][..], &install].concat(), 0)?;
            self.expect(&home, "", &[&interpreter, "-c", SCRIPT], 0)?;
            self.judges(&home, &inside("lictor"))?;
            println!("{version:<40} wheel installed, module and program run: {}", python.display());
        }
        Ok(())
    }

    /// The program judges.
    fn judges(&self, home: &str, program: &str) -> Result<()> {
        let said = self.expect(home, "", &[program, "--version"], 0)?;
        ensure!(said.contains(VERSION), "`{program} --version` says: {said}");
        self.expect(home, "", &[program, "eval", "bash", "ls"], 0)?;
        self.expect(home, "", &[program, "eval", "bash", "rm -rf ~"], 2).map(drop)
    }

    /// The commands of the README's table, to the letter but for the name of the platform.
    fn readme(&self) -> Result<()> {
        let readme = fs::read_to_string(shell::root().join("README.md"))?;
        let table = readme.lines().skip_while(|line| !line.contains("| from `dist/` today |")).skip(2);
        let rows: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
        ensure!(rows.len() >= 3, "the README has no table of packages");
        for row in rows {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
            let (Some(what), Some(today)) = (cells.first(), cells.last()) else {
                bail!("an empty row: {row}")
            };
            for line in today.split('`').skip(1).step_by(2) {
                let line = line.replace("PLATFORM", &self.platform).replace("TARGET", targets::here()?.name);
                let home = format!("readme-{}", what.trim().to_lowercase());
                fs::create_dir_all(self.root.join(&home))?;
                let packages = self.root.join(&home).join("dist");
                if !packages.exists() {
                    symlink(self.root.join("dist"), &packages)?;
                }
                self.expect(&home, "", &["sh", "-ec", &line], 0)?;
                let unpacked = format!("./lictor-{VERSION}-{}/lictor", targets::here()?.name);
                let is_archive = line.starts_with("tar ");
                self.judges(&home, if is_archive { &unpacked } else { "lictor" })?;
                println!("{:<40} {line}", "README");
            }
        }
        Ok(())
    }

    /// Programs that are started from a cache or from the project's own environment: `init` puts a copy where it lasts, hooks
    /// hold when the place that it came from is gone, and `doctor` says so when the copy is gone.
    fn throw_away_homes(&self) -> Result<()> {
        let dist = self.root.join("dist");
        let dist = dist.to_string_lossy();
        let platform = format!("{dist}/lictor-cli-{}-{VERSION}.tgz", self.platform);
        let root = format!("{dist}/lictor-{VERSION}.tgz");
        let init = "lictor init --yes --agent claude-code";
        let find = format!("--no-index --find-links {dist}");
        let ways: [(&str, String, &[&str]); 4] = [
            ("uvx", format!("uvx {find} {init}"), &[".cache/uv"]),
            ("npx", format!("npx --yes --package {platform} --package {root} {init}"), &[".npm/_npx"]),
            (
                "node_modules",
                format!("echo '{{}}' > package.json && npm install --silent {platform} {root} && npx {init}"),
                &["project/node_modules"],
            ),
            (
                "environment",
                format!(
                    "uv venv -q .venv && uv pip install -q {find} lictor && . .venv/bin/activate && {init}"
                ),
                &["project/.venv"],
            ),
        ];
        for (name, line, gone) in ways {
            let home = format!("throw-away-{name}");
            self.expect(&home, "project", &["git", "init", "-q"], 0)?;
            self.expect(&home, "project", &["sh", "-ec", &line], 0)?;
            for place in gone {
                let place = self.root.join(&home).join(place);
                fs::remove_dir_all(&place)
                    .with_context(|| format!("{name}: nothing was in {}", place.display()))?;
            }
            let kept = self.root.join(&home).join(".local/share/lictor/bin").join(VERSION).join("lictor");
            self.governed(&home, &kept).with_context(|| name.to_owned())?;
            println!("{:<40} {name}: hooks run a copy, and hold when the place is gone", "throw-away homes");
        }
        Ok(())
    }

    fn governed(&self, home: &str, kept: &Path) -> Result<()> {
        let settings = self.root.join(home).join("project/.claude/settings.json");
        let settings: Value = serde_json::from_str(&fs::read_to_string(settings)?)?;
        let hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().context("no hook")?;
        let program = kept.to_string_lossy();
        ensure!(hook.contains(&*program), "the hook does not run `{program}`: {hook}");
        for (command, code) in [("ls", 0), ("rm -rf ~", 2)] {
            let mut child = self
                .command(home, "project", &["sh", "-c", hook])?
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()?;
            let event = json!({
                "session_id": "s", "hook_event_name": "PreToolUse", "cwd": self.root.join(home).join("project"),
                "tool_name": "Bash", "tool_input": {"command": command},
            });
            child.stdin.take().context("no input")?.write_all(event.to_string().as_bytes())?;
            let output = child.wait_with_output()?;
            ensure!(output.status.code() == Some(code), "the hook on `{command}`: {output:?}");
        }
        self.expect(home, "project", &[&program, "doctor"], 0)?;
        // A doctor that is run from elsewhere has to see that the hooks' program is gone.
        let elsewhere = self.root.join(home).join("elsewhere");
        fs::rename(kept, &elsewhere)?;
        let seen = self.output(home, "project", &[&elsewhere.to_string_lossy(), "doctor"])?;
        ensure!(!seen.status.success(), "`lictor doctor` does not see that the hooks' program is gone");
        Ok(())
    }
}

/// Every Python of this machine that the wheel is for: those on the PATH, and those that pyenv keeps.
fn pythons() -> Result<Vec<PathBuf>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let kept = std::env::home_dir().unwrap_or_default().join(".pyenv/versions");
    if kept.is_dir() {
        places.extend(names(&kept)?.into_iter().map(|name| kept.join(name).join("bin")));
    }
    let mut found = Vec::new();
    for place in places.iter().filter(|place| place.is_dir()) {
        for name in names(place)? {
            let minor = name.strip_prefix("python3.").and_then(|minor| minor.parse::<u32>().ok());
            let Ok(real) = fs::canonicalize(place.join(&name)) else { continue };
            // Scripts only choose one of the others.
            let is_program = || fs::read(&real).is_ok_and(|bytes| !bytes.starts_with(b"#!"));
            if minor.is_some_and(|minor| minor >= OLDEST) && !found.contains(&real) && is_program() {
                found.push(real);
            }
        }
    }
    found.sort();
    Ok(found)
}
