//! A project, a home and a record that exist for one demonstration.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use lictor::demo::POLICY;
use lictor_agents::Rendered;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::here;

/// The place where it happens; gone afterwards.
pub struct Scratch {
    directory: TempDir,
}

impl Scratch {
    /// Creates it. Not in `/tmp`, which is a temporary zone for policies.
    pub fn new() -> Result<Self> {
        let base = here::dirs().cache;
        lictor::dirs::create_private(&base)?;
        let directory = tempfile::Builder::new().prefix("demo-").tempdir_in(&base)?;
        let scratch = Self { directory };
        fs::create_dir_all(scratch.home())?;
        scratch.write(".git/HEAD", "ref: refs/heads/main\n")?;
        scratch.write("governance.yaml", POLICY)?;
        scratch.write("src/lib.rs", "pub fn total(prices: &[u64]) -> u64 {\n    0\n}\n")?;
        scratch.write("src/old.rs", "")?;
        scratch.write("src/older.rs", "")?;
        scratch.write(".env", "TOKEN=\n")?;
        Ok(scratch)
    }

    /// Empty, and beside the project: the output must not depend on its content.
    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("shop")
    }

    /// A path of the project.
    pub fn path(&self, below: &str) -> PathBuf {
        self.project().join(below)
    }

    /// Writes a file of the project.
    pub fn write(&self, below: &str, text: &str) -> Result<()> {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))
    }

    /// The text with the scratch directory replaced by a neutral path.
    pub fn neutral(&self, text: &str) -> String {
        text.replace(&*self.project().to_string_lossy(), "/work/shop")
            .replace(&*self.home().to_string_lossy(), "~")
    }

    /// The hook's answer to an event of Claude Code.
    pub fn hook(&self, event: &str, fields: &Value) -> Result<Rendered> {
        let mut payload = json!({"session_id": "demo", "cwd": self.project(), "hook_event_name": event,
                                 "transcript_path": "/dev/null"});
        if let (Some(payload), Some(fields)) = (payload.as_object_mut(), fields.as_object()) {
            payload.extend(fields.clone());
        }
        self.run(&["hook", "claude-code", event], &payload.to_string())
    }

    /// Runs this very program in the project.
    pub fn lictor(&self, args: &[&str], input: &str) -> Result<()> {
        let ended = self.run(args, input)?;
        if ended.exit != 0 {
            bail!("`lictor {}` failed: {}", args.join(" "), ended.stderr);
        }
        Ok(())
    }

    fn run(&self, args: &[&str], input: &str) -> Result<Rendered> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(args)
            .current_dir(self.project())
            .env("HOME", self.home())
            .env("USER", "you")
            .env("XDG_CONFIG_HOME", self.home().join(".config"))
            .env("LICTOR_STATE_DIR", self.directory.path().join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("lictor cannot start itself")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        Ok(Rendered {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            exit: output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX),
        })
    }
}
