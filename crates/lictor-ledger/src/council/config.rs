//! `councils:` in governance.yaml.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::level::Level;

#[cfg(test)]
mod tests;

/// The councils of a policy, by name.
pub type Councils = BTreeMap<String, Council>;

/// Reviewers that review the same files at the same moment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Council {
    /// Its triggers.
    #[serde(default)]
    pub on: Vec<Trigger>,
    /// What it reviews.
    #[serde(default)]
    pub scope: Scope,
    /// Whether its findings and its absence stop a commit.
    #[serde(default)]
    pub guardrail: bool,
    /// The reviewers.
    pub reviewers: Vec<Reviewer>,
    /// Its budget.
    #[serde(default)]
    pub budget: Budget,
}

/// A trigger of a council.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// Before a commit is made.
    PreCommit,
    /// Before commits are pushed.
    PrePush,
    /// When an agent's session starts.
    SessionStart,
    /// When an agent's session ends.
    SessionEnd,
    /// After a file that matches one of these was saved.
    FileSave(Globs),
    /// On a build server.
    Ci,
    /// Only when asked for by name.
    Manual,
}

/// One pattern or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Globs(pub Vec<String>);

impl<'de> Deserialize<'de> for Globs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum OneOrMany {
            One(String),
            Many(Vec<String>),
        }
        Ok(Self(match OneOrMany::deserialize(deserializer)? {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }))
    }
}

impl Globs {
    /// Whether any of the patterns matches. `**/x` matches `x` at the top too, `{a,b}` is a choice, and a pattern
    /// without a slash matches the last part of the path.
    #[must_use]
    pub fn fit(&self, path: &str) -> bool {
        fits(&self.0, path)
    }
}

/// See [`Globs::fit`].
pub(crate) fn fits(globs: &[String], path: &str) -> bool {
    let path = path.replace('\\', "/");
    let name = path.rsplit('/').next().unwrap_or(&path);
    globs.iter().any(|glob| {
        let target = if glob.contains('/') { path.as_str() } else { name };
        fast_glob::glob_match(glob, target)
    })
}

/// What a council reviews.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// The files.
    pub files: ScopeFiles,
    /// Whether files that mention one of them are added.
    pub dependents: bool,
}

/// Which files a scope starts from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ScopeFiles {
    /// What the commit or push would change.
    #[default]
    Staged,
    /// What has changed since the last commit, staged or not. At a gate the same as `staged`.
    Diff,
    /// The whole tree.
    Full,
    /// Files of the tree that match.
    Explicit(Vec<String>),
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum Named {
            Staged,
            Diff,
            Full,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Start {
            Named(Named),
            Explicit(Vec<String>),
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Long {
            files: Start,
            #[serde(default)]
            dependents: bool,
        }
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "staged, diff, full, a list of patterns, or {files, dependents}")]
        enum Shape {
            Short(Start),
            Long(Long),
        }
        let (start, dependents) = match Shape::deserialize(deserializer)? {
            Shape::Short(start) => (start, false),
            Shape::Long(Long { files, dependents }) => (files, dependents),
        };
        let files = match start {
            Start::Named(Named::Staged) => ScopeFiles::Staged,
            Start::Named(Named::Diff) => ScopeFiles::Diff,
            Start::Named(Named::Full) => ScopeFiles::Full,
            Start::Explicit(globs) => ScopeFiles::Explicit(globs),
        };
        Ok(Self { files, dependents })
    }
}

impl Scope {
    /// The name that goes into plans.
    #[must_use]
    pub fn mode(&self) -> String {
        let base = match &self.files {
            ScopeFiles::Staged => "staged",
            ScopeFiles::Diff => "diff",
            ScopeFiles::Full => "full",
            ScopeFiles::Explicit(_) => "explicit",
        };
        if self.dependents { format!("{base}+dependents") } else { base.to_owned() }
    }
}

/// One reviewer: a program that reads files and reports findings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reviewer {
    /// Its name; findings carry it as their agent.
    pub name: String,
    /// The program and its arguments. No shell.
    #[serde(default)]
    pub command: Vec<String>,
    /// The project files that determine what the program does, to be pinned with it.
    #[serde(default)]
    pub reads: Vec<String>,
    /// A ready-made command with its format.
    #[serde(default)]
    pub preset: Option<Preset>,
    /// The output format.
    #[serde(default)]
    pub format: Option<Format>,
    /// Its timeout.
    #[serde(default)]
    pub timeout: Option<Patience>,
    /// Which of the files it is for; all when empty.
    #[serde(default)]
    pub globs: Vec<String>,
    /// The level of a failure if the reviewer only reports an exit code.
    #[serde(default)]
    pub level: Option<Level>,
    /// An agent that receives the plan and reports with a token, instead of a program.
    #[serde(default)]
    pub agent: bool,
}

/// How a reviewer reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// One JSON object a line; no line means clean.
    Jsonl,
    /// One SARIF 2.1.0 log.
    Sarif,
    /// Zero means clean, anything else is one finding.
    ExitCode,
}

/// A ready-made reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// `cargo clippy`.
    Clippy,
    /// `ruff check`.
    Ruff,
}

/// How much a council may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Time for all reviewers together.
    #[serde(default)]
    pub time: Option<Patience>,
    /// The most files that a plan may hold.
    #[serde(default)]
    pub max_files: Option<usize>,
}

/// A length of time: `500ms`, `30s`, `5m`, `1h`, `30d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Patience(pub Duration);

/// Text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a length of time: write 500ms, 30s, 5m, 1h or 30d")]
pub struct BudgetError(String);

impl FromStr for Patience {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let wrong = || BudgetError(text.to_owned());
        let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at_checked(split).ok_or_else(wrong)?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let millis = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        match number.checked_mul(millis) {
            Some(total) if total > 0 => Ok(Self(Duration::from_millis(total))),
            _ => Err(wrong()),
        }
    }
}

impl<'de> Deserialize<'de> for Patience {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        if millis.is_multiple_of(1_000) { write!(f, "{}s", millis / 1_000) } else { write!(f, "{millis}ms") }
    }
}

/// A council that cannot meet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CouncilError {
    /// There are no reviewers.
    #[error("council `{0}` has no reviewers; add one with a name and a command")]
    Empty(String),
    /// Two reviewers would answer for each other.
    #[error("council `{council}` names the reviewer `{reviewer}` twice; give each its own name")]
    Twice {
        /// The council.
        council: String,
        /// The name.
        reviewer: String,
    },
    /// Nothing to run, or two things.
    #[error(
        "reviewer `{reviewer}` of council `{council}` needs one of `command`, `preset` and `agent: true`"
    )]
    CommandOrPreset {
        /// The council.
        council: String,
        /// The reviewer.
        reviewer: String,
    },
}

/// The default timeout of a reviewer.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

impl Reviewer {
    /// Its timeout.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.timeout.map_or(DEFAULT_TIMEOUT, |patience| patience.0)
    }
}

impl Council {
    /// Checks what the schema of the file cannot express.
    ///
    /// # Errors
    /// All errors.
    pub fn check(&self, name: &str) -> Result<(), Vec<CouncilError>> {
        let mut wrong = Vec::new();
        if self.reviewers.is_empty() {
            wrong.push(CouncilError::Empty(name.to_owned()));
        }
        let mut seen = std::collections::BTreeSet::new();
        for reviewer in &self.reviewers {
            let (council, reviewer_name) = (name.to_owned(), reviewer.name.clone());
            if !seen.insert(reviewer.name.as_str()) {
                wrong.push(CouncilError::Twice { council: council.clone(), reviewer: reviewer_name.clone() });
            }
            let ways = [!reviewer.command.is_empty(), reviewer.preset.is_some(), reviewer.agent];
            if ways.into_iter().filter(|way| *way).count() != 1 {
                wrong.push(CouncilError::CommandOrPreset { council, reviewer: reviewer_name });
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Whether it meets on this trigger. A trigger without patterns is compared for equality; a saved file is
    /// matched against the patterns.
    #[must_use]
    pub fn meets(&self, trigger: &Trigger, saved: Option<&str>) -> bool {
        self.on.iter().any(|on| match (on, trigger) {
            (Trigger::FileSave(globs), Trigger::FileSave(_)) => saved.is_some_and(|path| globs.fit(path)),
            (on, trigger) => on == trigger,
        })
    }
}
