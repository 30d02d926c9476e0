//! Exit codes that scripts rely on.

use lictor_core::Decision;

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Pass or warn; the command did what it should.
    Ok,
    /// The command found problems (`check`, `test`, `audit verify`).
    Problems,
    /// Block; also a refused policy.
    Block,
    /// Ask.
    Ask,
    /// The command line is wrong.
    Usage,
    /// Something inside failed.
    Internal,
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
        }
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

/// `lictor help exit-codes`.
pub const HELP: &str = "\
exit codes

   0  pass or warn; the command did what it should
   1  check, test, doctor, audit verify: problems were found
   2  block; also: the policy was refused, the commit gate is closed
   3  ask: a person has to say yes
  64  the command line is wrong
  70  something inside Lictor failed

`lictor hook` answers in the form its agent obeys: exit 2 with the reason on standard error, or exit 0 with
one JSON object on standard output. It never ends with any other code.
";
