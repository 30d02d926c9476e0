//! Exit codes that scripts rely on.

use std::fmt;
use std::io;
use std::path::Path;

use lictor::ApprovalError;
use lictor_agents::install::NotEditable;
use lictor_core::Decision;
use lictor_ledger::LedgerError;

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Pass or warn; the command succeeded.
    Ok,
    /// The command found problems (`check`, `test`, `audit verify`), or did not find the named item.
    Problems,
    /// Block; also a refused policy.
    Block,
    /// Ask.
    Ask,
    /// The command line is wrong.
    Usage,
    /// Something inside failed.
    Internal,
    /// As the program that was run has ended.
    Code(u8),
}

impl Exit {
    /// The code.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Problems => 1,
            Self::Block => 2,
            Self::Ask => 3,
            Self::Usage => 64,
            Self::Internal => 70,
            Self::Code(code) => code,
        }
    }

    /// How a command ends that failed like that.
    pub fn after(error: &anyhow::Error) -> Self {
        if is_refused_policy(error) {
            return Self::Block;
        }
        if let Some(error) = error.downcast_ref::<lictor::Error>() {
            return if error.is_absence() { Self::Problems } else { Self::Internal };
        }
        if let Some(refused) = error.downcast_ref::<Refused>() {
            return match refused {
                Refused::Usage(_) => Self::Usage,
                Refused::NotThere(_) => Self::Problems,
                Refused::NotTheirs(_) => Self::Block,
            };
        }
        // A missing item, or one that the caller may not change, is a result and not a failure.
        let answered = match error.downcast_ref::<LedgerError>() {
            Some(LedgerError::Store(_) | LedgerError::Corrupt { .. }) => false,
            Some(_) => true,
            None => match error.downcast_ref::<ApprovalError>() {
                Some(ApprovalError::Store(_)) => false,
                Some(_) => true,
                // A person has to fix their file first.
                None => error.downcast_ref::<NotEditable>().is_some(),
            },
        };
        if answered { Self::Problems } else { Self::Internal }
    }
}

impl From<Decision> for Exit {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Pass | Decision::Warn => Self::Ok,
            Decision::Ask => Self::Ask,
            Decision::Block => Self::Block,
        }
    }
}

/// Whether a command failed because a policy file is refused.
pub fn is_refused_policy(error: &anyhow::Error) -> bool {
    error.downcast_ref::<lictor_config::LoadError>().is_some()
        || matches!(error.downcast_ref(), Some(lictor::Error::Policy(_)))
}

/// Why a command was refused without an internal failure.
#[derive(Debug)]
pub enum Refused {
    /// The command line is wrong.
    Usage(String),
    /// The named item does not exist.
    NotThere(String),
    /// The caller may not run it.
    NotTheirs(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(why) | Self::NotThere(why) | Self::NotTheirs(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Refused {}

/// The command line is wrong.
pub fn usage(why: impl Into<String>) -> anyhow::Error {
    Refused::Usage(why.into()).into()
}

/// The item that the command line names does not exist.
pub fn not_there(why: impl Into<String>) -> anyhow::Error {
    Refused::NotThere(why.into()).into()
}

/// The caller may not run the command.
pub fn not_theirs(why: impl Into<String>) -> anyhow::Error {
    Refused::NotTheirs(why.into()).into()
}

/// A file that the command line names cannot be read.
pub fn unreadable(file: &Path, error: &io::Error) -> anyhow::Error {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        _ => error.to_string(),
    };
    usage(format!("cannot read `{}`: {why}", file.display()))
}

/// `lictor help exit-codes`.
pub const HELP: &str = "\
exit codes

   0  pass or warn; the command did what it should
   1  check, test, doctor, audit verify: problems were found;
      others: what was asked about is not there
   2  block; also: the policy was refused, the commit gate is closed,
      the command is for people and an agent ran it
   3  ask: a person has to say yes
  64  the command line is wrong
  70  something inside Lictor failed

`lictor hook` answers in the form its agent obeys: exit 2 with the reason on
standard error, or exit 0 with one JSON object on standard output. It never
ends with any other code. With `--confirm`, as `lictor init` writes it, the
codes are 82 and 80: the line in the agent's settings turns them back, and
everything else into exit 2.
";
