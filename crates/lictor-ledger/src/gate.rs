//! The commit gate: decides whether a tree may be committed, pushed or merged.
//!
//! It judges the tree that would be committed, not file names or the work tree. First the councils of the event
//! review that tree; then every open blocking finding of the repository with evidence in that tree stops it. If
//! something cannot be determined, that stops it too, as long as there is anything to guard.

mod judge;

use serde::{Deserialize, Serialize};

use crate::council::Attestation;
use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::identity::PlanHash;
use crate::repository::CommitArgs;
use crate::verdict::Tally;

pub use judge::{Gate, Trouble, guards, judge_by_record, standing_findings};

/// The event that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateEvent {
    /// `git commit` or `git merge` is about to commit the index.
    PreCommit,
    /// `git push` is about to send these.
    PrePush(Vec<PushedRef>),
    /// A build server has checked out `HEAD`.
    Ci {
        /// What it is compared with; the first parent of `HEAD` when absent.
        base: Option<String>,
    },
    /// An agent is about to run `git commit`. Councils do not run here: the commit's own hook runs them.
    AgentCommit {
        /// The arguments of git.
        args: CommitArgs,
        /// Its directory.
        dir: std::path::PathBuf,
    },
}

impl GateEvent {
    /// The name that is printed and stored.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::PreCommit => "pre-commit",
            Self::PrePush(_) => "pre-push",
            Self::Ci { .. } => "ci",
            Self::AgentCommit { .. } => "agent-commit",
        }
    }
}

/// One line that git gives to a pre-push hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedRef {
    /// What is sent; `None` when the remote ref is deleted.
    pub local: Option<String>,
    /// What the remote has; `None` when the ref is new there.
    pub remote: Option<String>,
}

/// Input that is not a pre-push hook's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a line of a pre-push hook: `{0}`; expected `<local ref> <local id> <remote ref> <remote id>`")]
pub struct NotAPush(String);

impl PushedRef {
    /// Reads the standard input of a pre-push hook.
    ///
    /// # Errors
    /// When a line is invalid.
    pub fn read(stdin: &str) -> Result<Vec<Self>, NotAPush> {
        let id = |text: &str| {
            let hex = (40..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            hex.then(|| text.bytes().any(|byte| byte != b'0').then(|| text.to_owned()))
        };
        stdin
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| {
                let words: Vec<&str> = line.split_ascii_whitespace().collect();
                let [_, local, _, remote] = words.as_slice() else { return Err(NotAPush(line.to_owned())) };
                match (id(local), id(remote)) {
                    (Some(local), Some(remote)) => Ok(Self { local, remote }),
                    _ => Err(NotAPush(line.to_owned())),
                }
            })
            .collect()
    }
}

/// The gate's judgement of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The event.
    pub event: String,
    /// The tree.
    pub tree: String,
    /// Whether it may.
    pub ok: bool,
    /// How many findings stopped it, as far as counted.
    #[serde(default)]
    pub blocking: usize,
    /// Other reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// A commit whose tree had not passed the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bypass {
    /// The commit.
    pub commit: String,
    /// Its tree.
    pub tree: String,
    /// Where it was noticed: `post-commit` or `pre-push`.
    pub noticed: String,
    /// How the gate was bypassed.
    pub how: String,
}

/// A finding that stops something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    /// The plan it was recorded under.
    pub plan: PlanHash,
    /// The finding.
    pub finding: Finding,
    /// Its evidence with positions in the judged tree.
    pub evidence: Vec<Evidence>,
}

/// What the gate examined, whatever the outcome.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// The trees.
    pub trees: Vec<String>,
    /// The attestations of the councils.
    pub attestations: Vec<Attestation>,
    /// Worth knowing, stops nothing.
    pub notes: Vec<String>,
}

/// Why the gate blocks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blocked {
    /// The findings, worst first. When there are many, the first of them.
    pub findings: Vec<Blocker>,
    /// Whether there are more.
    pub more: bool,
    /// Other reasons.
    pub reasons: Vec<String>,
    /// Commands that lead on.
    pub next: Vec<String>,
}

impl Blocked {
    /// Whether it is safe cannot be determined.
    #[must_use]
    pub fn in_doubt(why: &dyn std::fmt::Display, next: &[&str]) -> Self {
        Self {
            reasons: vec![format!("the gate cannot tell whether this is safe: {why}")],
            next: next.iter().map(|command| (*command).to_owned()).collect(),
            ..Self::default()
        }
    }

    /// How many findings of each level are listed.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::of(self.findings.iter().map(|blocker| blocker.finding.level))
    }
}

/// The outcome of the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateOutcome {
    /// Go on.
    Ok(Seen),
    /// Stop.
    Blocked(Blocked, Seen),
    /// Nothing is guarded, and something is broken.
    Error {
        /// The reason.
        reason: String,
    },
}

impl GateOutcome {
    /// The exit code: 0 passed, 2 blocked, 70 failed.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Ok(_) => 0,
            Self::Blocked(..) => 2,
            Self::Error { .. } => 70,
        }
    }
}
