//! The gate: may this be committed, pushed, merged?
//!
//! It judges the tree that would be committed, never the names of files or what happens to lie in the work tree.
//! First the councils of the event look at that tree; then every open finding of the repository that blocks and whose
//! evidence is in that tree stops it. What cannot be told stops it too, as long as anything is to be guarded.

mod judge;

use serde::{Deserialize, Serialize};

use crate::council::Attestation;
use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::identity::PlanHash;
use crate::repository::CommitArgs;
use crate::verdict::Tally;

pub use judge::{Gate, Trouble, guards, judge_by_record, standing_findings};

/// What wants to pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateEvent {
    /// `git commit` or `git merge` is about to make a commit of the index.
    PreCommit,
    /// `git push` is about to send these.
    PrePush(Vec<PushedRef>),
    /// A build server has checked out `HEAD`.
    Ci {
        /// What it is compared with; the first parent of `HEAD` when absent.
        base: Option<String>,
    },
    /// An agent is about to run `git commit`. Councils do not run: the commit's own hook lets them.
    AgentCommit {
        /// What it tells git.
        args: CommitArgs,
        /// Where it runs.
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

/// Input that is not what git gives to a pre-push hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a line of a pre-push hook: `{0}`; expected `<local ref> <local id> <remote ref> <remote id>`")]
pub struct NotAPush(String);

impl PushedRef {
    /// Reads the standard input of a pre-push hook.
    ///
    /// # Errors
    /// When a line is something else.
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

/// What the gate said of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// What wanted to pass.
    pub event: String,
    /// The tree.
    pub tree: String,
    /// Whether it may.
    pub ok: bool,
    /// How many findings stopped it, as far as they were counted.
    #[serde(default)]
    pub blocking: usize,
    /// What else stopped it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// A commit that was made although the gate had not let its tree pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bypass {
    /// The commit.
    pub commit: String,
    /// Its tree.
    pub tree: String,
    /// Where it was noticed: `post-commit` or `pre-push`.
    pub noticed: String,
    /// How the gate had been gone around.
    pub how: String,
}

/// A finding that stops something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    /// The plan it was recorded under.
    pub plan: PlanHash,
    /// The finding.
    pub finding: Finding,
    /// Its evidence as it is in the tree that was judged.
    pub evidence: Vec<Evidence>,
}

/// What the gate looked at, whatever it said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// The trees.
    pub trees: Vec<String>,
    /// What the councils did.
    pub attestations: Vec<Attestation>,
    /// Worth knowing, stops nothing.
    pub notes: Vec<String>,
}

/// Why nothing may pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blocked {
    /// The findings, worst first. When there are many, the first of them.
    pub findings: Vec<Blocker>,
    /// Whether there are more.
    pub more: bool,
    /// What else is wrong.
    pub reasons: Vec<String>,
    /// Commands that lead on.
    pub next: Vec<String>,
}

impl Blocked {
    /// Nobody can tell whether it is safe.
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

/// What the gate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateOutcome {
    /// Go on.
    Ok(Seen),
    /// Stop.
    Blocked(Blocked, Seen),
    /// Nothing is guarded, and something is broken.
    Error {
        /// What.
        reason: String,
    },
}

impl GateOutcome {
    /// What the process ends with: 0 go on, 2 stop, 70 broken.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Ok(_) => 0,
            Self::Blocked(..) => 2,
            Self::Error { .. } => 70,
        }
    }
}
