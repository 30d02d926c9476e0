//! The result of the analysis, and its inputs.

use lictor_core::facts::{Effect, Opaque};

use crate::operand::{Arg, Coding, Operand};

/// The effects of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Effects in the order they would happen.
    pub effects: Vec<Effect<Operand>>,
    /// What could not be determined.
    pub opaque: Vec<Opaque>,
    /// Effects of recipes that were there before (makefiles, package scripts). Running those is ordinary, so they
    /// count only where they change what governs.
    pub recipes: Vec<Effect<Operand>>,
    /// Words that may name files although no effect is known.
    pub mentions: Vec<Mention>,
    /// A shell refuses part of the text, and that part contains no known program.
    pub refused: bool,
}

/// A word that may name a file without a known effect. It counts if the file is governing or watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The file.
    pub file: Operand,
    /// A directory that contains such files counts too.
    pub directory: bool,
    /// It is an archive that is unpacked: its members count, below the target directory.
    pub archive: bool,
    /// The command that mentions it, as written.
    pub by: String,
    /// What may be done with it.
    pub done: Done,
}

/// What may be done with a file that is mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Done {
    /// Nothing tells.
    #[default]
    Anything,
    /// It may be one of those that code changes, whatever else reads it.
    Changed,
    /// Its content, or that of all below it, is shown as git has it. Counts where it is watched.
    Shown,
    /// It is passed to the project's own code, which most often reads it. Counts only for Lictor's own files.
    Given,
}

/// The few things outside the text that a reading depends on. Answers must not change during one reading.
pub trait ShellEnv {
    /// The value of an environment variable (`HOME`, `TMPDIR`, `PWD`, `USER`, …), if it is known and may be relied on.
    fn variable(&self, name: &str) -> Option<String>;
    /// The home directory of a named user (`~alice`).
    fn home_of(&self, user: &str) -> Option<String>;
    /// The expansion of a git alias (`git config alias.NAME`) in the action's repository.
    fn git_alias(&self, name: &str) -> Option<String>;
    /// The text of a local script that the command runs (`bash ./x.sh`, `./x.sh`), capped by the implementation.
    /// `None` when there is none or it is not text.
    fn script(&self, path: &str) -> Option<String>;
    /// Whether it is a pipe or a socket: its content does not exist before it is read.
    fn is_stream(&self, _path: &str) -> bool {
        false
    }
    /// What the line itself wrote to a file before. Only the analysis knows that.
    fn written(&self, _path: &str) -> Option<String> {
        None
    }
    /// What the line itself wrote to files whose name ends like this.
    fn written_like(&self, _ending: &str) -> Vec<String> {
        Vec::new()
    }
    /// Whether a variable contains a secret: by its name, or because the line put one into it.
    fn holds_secret(&self, variable: &str) -> bool {
        lictor_core::redact::is_secret_name(variable)
    }
    /// Whether the line put something secret into a variable. Only the reader knows that.
    fn is_given_secret(&self, _variable: &str) -> bool {
        false
    }
    /// Whether the line wrote any file before.
    fn wrote_anything(&self) -> bool {
        false
    }
    /// Whether the program at this path, or found under this name, is Lictor itself.
    fn is_guard(&self, _path: &str) -> bool {
        false
    }
    /// A policy's description of a program, in addition to the shipped ones.
    fn described(&self, _name: &str) -> Option<&crate::describe::Program> {
        None
    }
    /// What the line has packed into an archive that goes down a pipe.
    fn packed(&self) -> Vec<String> {
        Vec::new()
    }
    /// The files that standard input may be made from, and how.
    fn feed(&self) -> (Vec<Arg>, Coding) {
        (Vec::new(), Coding::Plain)
    }
    /// Whether the line has set or unset a variable.
    fn is_set_here(&self, _name: &str) -> bool {
        false
    }
    /// Whether one of these programs starts what is read.
    fn runs_through(&self, _programs: &[&str]) -> bool {
        false
    }
    /// The root of the project, absolute: what `git rev-parse --show-toplevel` prints.
    fn project_root(&self) -> Option<String> {
        None
    }
}

/// A machine of which nothing is known.
#[derive(Debug, Clone, Copy)]
pub struct Nowhere;

impl ShellEnv for Nowhere {
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
    fn home_of(&self, _user: &str) -> Option<String> {
        None
    }
    fn git_alias(&self, _name: &str) -> Option<String> {
        None
    }
    fn script(&self, _path: &str) -> Option<String> {
        None
    }
}
