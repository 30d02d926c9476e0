//! Ready-made reviewers.

use std::path::Path;

use serde::Deserialize;

use super::config::Preset;
use crate::evidence::Evidence;
use crate::finding::Claim;
use crate::level::Level;

impl Preset {
    /// The program that has to be installed.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Clippy => "cargo-clippy",
            Self::Ruff => "ruff",
        }
    }

    /// The files it is for.
    pub(super) fn globs(self) -> Vec<String> {
        let globs: &[&str] = match self {
            Self::Clippy => &["*.rs", "Cargo.toml", "Cargo.lock", "clippy.toml"],
            Self::Ruff => &["*.py", "*.pyi"],
        };
        globs.iter().map(|glob| (*glob).to_owned()).collect()
    }

    /// The command.
    pub(super) fn command(self, files: &[String]) -> Vec<String> {
        let fixed: &[&str] = match self {
            Self::Clippy => &["cargo", "clippy", "--quiet", "--all-targets", "--message-format=json"],
            Self::Ruff => {
                &["ruff", "check", "--exit-zero", "--force-exclude", "--output-format", "sarif", "--"]
            }
        };
        let mut command: Vec<String> = fixed.iter().map(|word| (*word).to_owned()).collect();
        if self == Self::Ruff {
            command.extend(files.iter().filter(|file| super::config::fits(&self.globs(), file)).cloned());
        }
        command
    }
}

/// Whether a program is on the PATH.
pub(super) fn installed(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|dir: std::path::PathBuf| Path::is_file(&dir.join(program)))
    })
}

/// Ruff reports everything as an error, even import order. Code that cannot run is HIGH: syntax errors (`E9`),
/// and names and statements that fail when they are executed (`F63`, `F7`, `F82`). The rest is MEDIUM, as with
/// clippy.
pub(super) fn grade_ruff(claim: Claim) -> Claim {
    const CANNOT_RUN: [&str; 6] = ["invalid-syntax", "SyntaxError", "E9", "F63", "F7", "F82"];
    let high = CANNOT_RUN.iter().any(|rule| claim.title().starts_with(rule));
    claim.at_level(if high { Level::High } else { Level::Medium })
}

#[derive(Deserialize)]
struct Line {
    reason: String,
    #[serde(default)]
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    level: String,
    message: String,
    #[serde(default)]
    code: Option<Code>,
    #[serde(default)]
    spans: Vec<Span>,
    #[serde(default)]
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u32,
    column_start: u32,
    is_primary: bool,
    #[serde(default)]
    label: Option<String>,
}

/// What `cargo clippy --message-format=json` reports. Errors are HIGH, warnings MEDIUM; the rest is ignored.
pub(super) fn read_clippy(stdout: &str, agent: &str) -> Result<Vec<Claim>, String> {
    let mut claims = Vec::new();
    for line in stdout.lines().filter(|line| line.starts_with('{')) {
        let line: Line =
            serde_json::from_str(line).map_err(|error| format!("cargo printed something else: {error}"))?;
        let Some(message) = line.message.filter(|_| line.reason == "compiler-message") else { continue };
        let level = match message.level.as_str() {
            "error" | "error: internal compiler error" => Level::High,
            "warning" => Level::Medium,
            _ => continue,
        };
        let places = message.spans.iter().filter(|span| span.is_primary).map(|span| Evidence {
            file: span.file_name.clone(),
            line: Some(span.line_start),
            column: Some(span.column_start),
            note: span.label.clone().unwrap_or_default(),
            bound: None,
        });
        // A summary such as `aborting due to 2 previous errors` points nowhere and has no code.
        if message.code.is_none() && message.spans.is_empty() {
            continue;
        }
        let title = match &message.code {
            Some(code) => format!("{}: {}", code.code, message.message),
            None => message.message.clone(),
        };
        let title: String = title.chars().take(200).collect();
        let rationale: String = message.rendered.unwrap_or_default().chars().take(4_000).collect();
        let claim = Claim::new(level, title, agent)
            .and_then(|claim| claim.with_evidence(places))
            .and_then(|claim| claim.with_rationale(rationale));
        claims.push(claim.map_err(|error| error.to_string())?);
    }
    Ok(claims)
}
