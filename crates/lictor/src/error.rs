//! Errors of a runtime, each with a stable name and a fix.

use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};

use lictor_config::{BuildError, LoadError};
use lictor_core::{Fixable, GraphError};
use lictor_engine::ApprovalError;
use lictor_ledger::LedgerError;
use lictor_ledger::gate::Trouble;
use lictor_ledger::repository::RepositoryError;
use lictor_store::StoreError;

/// Why a runtime cannot be opened or an operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A policy file is refused.
    #[error(transparent)]
    Policy(#[from] LoadError),
    /// A policy that was accepted makes no graph.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The graph of several policies is degenerate.
    #[error("the policy graph cannot be built")]
    Graph(#[from] GraphError),
    /// The policy's redaction patterns are invalid.
    #[error("the policy's `redact` cannot be used: {0}")]
    Redact(String),
    /// A council of the policy.
    #[error("council `{name}` is refused")]
    Council {
        /// Its name.
        name: String,
        /// The error.
        source: serde_json::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The ledger of findings failed, or does not have the named item.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A council or the gate has no answer.
    #[error(transparent)]
    Gate(#[from] Trouble),
    /// Git failed.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// An approval cannot be answered.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// A file cannot be read or written.
    #[error("{doing} `{}`", path.display())]
    File {
        /// `cannot read`, `cannot write`, ….
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// Others than root can change a managed file.
    #[error(
        "`{path}` must belong to root and be writable by root alone; run `chown root: {path} && chmod go-w {path}`",
        path = .0.display()
    )]
    ManagedWritable(PathBuf),
    /// A stored version of the policy for running sessions was changed.
    #[error("what is kept as policy {0} is not that policy")]
    KeptPolicy(lictor_core::Digest),
    /// An event that an agent's tool call made up.
    #[error(
        "the event was not sent by the agent: a tool call of its own started this hook; events that agents make up do not count"
    )]
    MadeUp,
    /// A key cannot be used.
    #[error(transparent)]
    RecordKey(#[from] lictor_store::KeyError),
    /// The key that a person's answers are signed with cannot be used.
    #[error(transparent)]
    PersonKey(#[from] lictor_engine::KeyError),
    /// The program that databases and servers need is not installed.
    #[error(
        "`lictor-server` is neither beside `lictor` nor on the PATH; in a clone of Lictor, `cargo xtask install --server` installs it"
    )]
    NoCompanion,
    /// The team's policy is unavailable, and everything is blocked without it.
    #[error("the server `{url}` is away: {why}")]
    ServerAway {
        /// The server.
        url: String,
        /// What is missing.
        why: String,
    },
    /// The record is not in a file of the state directory.
    #[error("the record is kept in a database, which has archives of its own")]
    NoFile,
    /// Old records could not be moved to archives.
    #[error(transparent)]
    Archive(#[from] lictor_store::RetainError),
    /// The project has no record yet.
    #[error(
        "nothing has been recorded for `{}` yet; `lictor doctor` says whether its hooks are in place",
        .0.display()
    )]
    NothingRecorded(PathBuf),
    /// Councils look at commits and trees.
    #[error("councils need a git repository; run `git init`")]
    NoRepository,
    /// A council that the policy does not have.
    #[error("there is no council `{name}`; {}", list(.known))]
    NoCouncil {
        /// The given name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A council that does not run on this event.
    #[error("the council `{name}` does not meet at {moment}; its moments stand under `on:`")]
    CouncilElsewhen {
        /// Its name.
        name: String,
        /// The event.
        moment: &'static str,
    },
    /// The id of an evaluation that is not on record.
    #[error("there is no decision {0}; `lictor audit tail` shows the newest ones")]
    NoDecision(u64),
    /// An evaluation without a question, or with an answer.
    #[error("decision {0} does not wait for an answer")]
    NotAsked(u64),
    /// More or fewer answers than an evaluation has questions.
    #[error("answers to decision {id}: {given} came, {needed} needed, one for each question in order")]
    AnswerCount {
        /// The evaluation.
        id: u64,
        /// Its questions.
        needed: usize,
        /// The answers.
        given: usize,
    },
    /// A session that has begun and can no longer get a parent or a limit.
    #[error("the session `{0}` has begun already, without that parent or that limit")]
    HasBegun(String),
    /// A git command that Lictor ran.
    #[error("`git {args}` failed: {why}")]
    Git {
        /// Its arguments.
        args: String,
        /// Its error message.
        why: String,
    },
    /// The log's end in git notes was tampered with.
    #[error("a note in `{notes}` was changed")]
    Anchor {
        /// The notes.
        notes: &'static str,
        /// The error.
        source: lictor_store::BadAnchor,
    },
}

fn list(councils: &[String]) -> String {
    match councils {
        [] => "add `councils:` to governance.yaml".to_owned(),
        known => format!("there is: {}", known.join(", ")),
    }
}

impl Fixable for Error {
    fn kind(&self) -> &'static str {
        Error::kind(self)
    }

    fn fix(&self) -> &'static str {
        Error::fix(self)
    }
}

impl Error {
    /// A stable name of the kind of failure, for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Policy(_) => "policy_refused",
            Self::Build(_) | Self::Graph(_) | Self::Redact(_) | Self::Council { .. } => "policy_unusable",
            Self::Store(_) => "store",
            Self::Ledger(LedgerError::Store(_) | LedgerError::Corrupt { .. }) => "store",
            Self::Ledger(_) => "ledger",
            Self::Gate(_) => "gate",
            Self::Repository(_) | Self::Git { .. } => "git",
            Self::Approval(ApprovalError::Store(_)) => "store",
            Self::Approval(_) => "approval",
            Self::File { .. } => "file",
            Self::ManagedWritable(_) => "managed_writable",
            Self::KeptPolicy(_) => "kept_policy",
            Self::MadeUp => "made_up",
            Self::RecordKey(_) | Self::PersonKey(_) => "key",
            Self::NoCompanion => "no_companion",
            Self::ServerAway { .. } => "server_away",
            Self::NoFile => "no_file",
            Self::Archive(_) => "store",
            Self::NothingRecorded(_) => "nothing_recorded",
            Self::NoRepository => "no_repository",
            Self::NoCouncil { .. } | Self::CouncilElsewhen { .. } => "no_council",
            Self::NoDecision(_) => "no_decision",
            Self::NotAsked(_) => "not_asked",
            Self::AnswerCount { .. } => "answer_count",
            Self::HasBegun(_) => "has_begun",
            Self::Anchor { .. } => "anchor",
        }
    }

    /// The fix.
    #[must_use]
    pub fn fix(&self) -> &'static str {
        match self {
            Self::Policy(_) | Self::Council { .. } => "correct the policy; `lictor check` shows everything",
            Self::Build(_) | Self::Graph(_) | Self::Redact(_) => {
                "run `lictor check`; if it finds nothing, delete `policy.bin` in the state directory"
            }
            Self::Store(_) | Self::Gate(_) | Self::Anchor { .. } => "run `lictor doctor`",
            Self::Ledger(_) => "look with `lictor verdict retro` and `lictor verdict show`",
            Self::Repository(_) | Self::Git { .. } => "run the same git command by hand to see what is wrong",
            Self::Approval(_) => "look with `lictor approvals`",
            Self::File { .. } => "check that the path is there and that you may read and write it",
            Self::ManagedWritable(_) => "let root own the file and its directory alone",
            Self::KeptPolicy(_) => {
                "let a person run `lictor session refresh`, or start a new session of the agent"
            }
            Self::MadeUp => "let the agent's own hooks send events",
            Self::RecordKey(_) | Self::PersonKey(_) => "run `lictor doctor`",
            Self::NoCompanion => "install `lictor-server` from the same release",
            Self::ServerAway { .. } => {
                "see whether the server can be reached and the token is right: `lictor-server sync` says"
            }
            Self::NoFile => "let the database's own tools move old partitions away",
            Self::Archive(_) => "run `lictor doctor`",
            Self::NothingRecorded(_) => "start the agent in this project, then look again",
            Self::NoRepository => "run `git init`",
            Self::NoCouncil { .. } | Self::CouncilElsewhen { .. } => "look with `lictor council list`",
            Self::NoDecision(_) => "use the `id` of an evaluation that was not dry",
            Self::NotAsked(_) => "evaluate the action again; only a decision `ask` can be answered, once",
            Self::AnswerCount { .. } => "give one answer for each entry of `asked`, in order",
            Self::HasBegun(_) => "delegate before the subagent's first action, or give it another session",
        }
    }

    /// Whether it is a result and not a failure: the item does not exist, or can no longer be changed.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self.kind(), "ledger" | "approval" | "nothing_recorded" | "no_repository" | "no_council")
            || matches!(self, Self::NoDecision(_) | Self::NotAsked(_) | Self::HasBegun(_))
    }

    /// The message with its causes. A cause that the message names already is not repeated.
    #[must_use]
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let said = error.to_string();
            if !text.contains(&said) {
                text = format!("{text}: {said}");
            }
            cause = error.source();
        }
        text
    }

    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source }
    }
}
