//! The pictures in the README and the docs: what real runs of the command print on a terminal.

mod svg;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::shell;

/// Draws them all into `docs/pictures`. With `check`, only says whether they are as they would be drawn now.
pub fn run(check: bool) -> Result<()> {
    shell::run("cargo", &["build", "--locked", "--quiet", "--bin", "lictor"])?;
    let stage = Stage::new()?;
    let pictures = [
        ("demo", "lictor demo", stage.lictor(&["demo"], "")?),
        ("explain", "lictor explain", explain(&stage)?),
        ("check", "lictor check", check_error(&stage)?),
    ];
    let directory = shell::root().join("docs/pictures");
    fs::create_dir_all(&directory)?;
    let mut stale = Vec::new();
    for (name, title, text) in pictures {
        let file = directory.join(format!("{name}.svg"));
        let drawn = svg::draw(title, &stage.neutral(&text));
        if check {
            if fs::read_to_string(&file).unwrap_or_default() != drawn {
                stale.push(file.display().to_string());
            }
        } else {
            fs::write(&file, drawn).with_context(|| format!("cannot write `{}`", file.display()))?;
            println!("drew {}", file.display());
        }
    }
    if !stale.is_empty() {
        bail!("`cargo xtask pictures` draws these differently now: {}", stale.join(", "));
    }
    Ok(())
}

fn explain(stage: &Stage) -> Result<String> {
    let payload = serde_json::json!({
        "session_id": "s1", "cwd": stage.project(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "git fetch && git reset --hard origin/main"},
    });
    stage.write("governance.yaml", "version: 1\n")?;
    stage.lictor(&["hook", "claude-code", "PreToolUse"], &payload.to_string())?;
    stage.lictor(&["explain"], "")
}

fn check_error(stage: &Stage) -> Result<String> {
    let policy = "version: 1\n\nboundaries:\n  redline_files: [\"**/.env\"]\n\nguards:\n  small:\n    expr: 'risk <= \"low\"'\n    \
                  reason: the risk is too high\n    fix: ask a person\n";
    stage.write("governance.yaml", policy)?;
    stage.lictor(&["check"], "")
}

/// A home and a project that exist for the pictures.
struct Stage {
    directory: PathBuf,
}

impl Stage {
    fn new() -> Result<Self> {
        let directory = shell::target().join("pictures");
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        let stage = Self { directory };
        stage.write(".git/HEAD", "ref: refs/heads/main\n")?;
        fs::create_dir_all(stage.home())?;
        Ok(stage)
    }

    fn project(&self) -> PathBuf {
        self.directory.join("shop")
    }

    fn home(&self) -> PathBuf {
        self.directory.join("home")
    }

    fn write(&self, below: &str, text: &str) -> Result<()> {
        let path = self.project().join(below);
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        Ok(fs::write(path, text)?)
    }

    /// What the command prints, on both streams, in colour. How it ends is part of the picture and no failure.
    fn lictor(&self, args: &[&str], input: &str) -> Result<String> {
        let mut child = Command::new(shell::target().join("debug/lictor"))
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home())
            .env("CLICOLOR_FORCE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("`lictor` cannot be started")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        Ok(String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?)
    }

    /// The same text on every machine: paths are nobody's, digests are cut.
    fn neutral(&self, text: &str) -> String {
        let text = text
            .replace(&*self.project().to_string_lossy(), "/work/shop")
            .replace(&*self.home().to_string_lossy(), "~");
        text.lines().map(|line| format!("{}\n", without_digests(line))).collect()
    }
}

/// A line in which long hexadecimal words are dots.
fn without_digests(line: &str) -> String {
    let is_digest = |word: &str| {
        let hex: String = word.chars().take_while(char::is_ascii_hexdigit).collect();
        hex.len() >= 12 && hex.chars().any(|c| c.is_ascii_digit())
    };
    let words: Vec<String> = line
        .split(' ')
        .map(|word| {
            if is_digest(word) {
                let rest = word.trim_start_matches(|c: char| c.is_ascii_hexdigit());
                format!("…{rest}")
            } else {
                word.to_owned()
            }
        })
        .collect();
    words.join(" ")
}
