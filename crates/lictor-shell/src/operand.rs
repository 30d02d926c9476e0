//! Words after expansion, with what is known about them.

use std::sync::Arc;

use lictor_core::facts::FlowSource;

use crate::reading::ShellEnv;

/// What is known about a word's value. Words are copied far more often than created, so values are shared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Known {
    /// The whole value.
    Text(Arc<str>),
    /// It starts and ends like this; the middle is not known. Either may be empty, not both.
    Partly {
        /// Known start.
        prefix: String,
        /// Known end.
        suffix: String,
    },
    /// Nothing.
    Nothing,
}

/// The sources of data in a word or a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Taint {
    /// From a secret file or variable.
    pub secret: bool,
    /// From a home directory as a whole, personal folders or files of the system.
    pub private: bool,
    /// From the network.
    pub network: bool,
    /// Decoded on the line (base64, hex, …) without the result being known.
    pub decoded: bool,
}

impl Taint {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            secret: self.secret || other.secret,
            private: self.private || other.private,
            network: self.network || other.network,
            decoded: self.decoded || other.decoded,
        }
    }

    /// The sources, worst first.
    pub fn sources(self) -> impl Iterator<Item = FlowSource> {
        [
            self.secret.then_some(FlowSource::Secret),
            self.network.then_some(FlowSource::Network),
            self.decoded.then_some(FlowSource::Decoded),
        ]
        .into_iter()
        .flatten()
    }
}

/// Which files a list of names can contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Listed {
    /// Any: `find`, `ls`, `grep -r`.
    All,
    /// Those that git knows: `git ls-files`, `git grep`.
    Tracked {
        /// Every one of them, not only those that have changed.
        all: bool,
    },
    /// Neither hidden ones nor such in hidden directories: `rg`, `fd`.
    Visible,
}

/// What is known about the files in a list of names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Found {
    /// Which ones it can contain.
    pub listed: Listed,
    /// Where the program listed them: the same names elsewhere are other files.
    pub cwd: Cwd,
    /// Each contains this text, case-insensitive: the result of a search.
    pub holding: Option<String>,
}

/// One argument of a command, after quote removal and expansion.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Arg {
    /// Its value.
    pub value: Known,
    /// As written, shortened.
    pub text: Arc<str>,
    /// Contains an unquoted `*`, `?` or `[…]`: matches any number of names.
    pub glob: bool,
    /// Unquoted and not fully known: may become any number of words, options among them.
    pub splits: bool,
    /// Where its value came from.
    pub taint: Taint,
    /// It represents names from a list: the result of a program.
    pub found: Option<Arc<Found>>,
}

impl Arg {
    /// A fully known argument.
    #[must_use]
    pub fn literal(text: impl AsRef<str>) -> Self {
        let text: Arc<str> = text.as_ref().into();
        Self {
            value: Known::Text(Arc::clone(&text)),
            text,
            glob: false,
            splits: false,
            taint: Taint::default(),
            found: None,
        }
    }

    /// An argument of which nothing is known.
    #[must_use]
    pub fn unknown(text: impl AsRef<str>) -> Self {
        Self {
            value: Known::Nothing,
            text: text.as_ref().into(),
            glob: false,
            splits: true,
            taint: Taint::default(),
            found: None,
        }
    }

    /// The value, when it is wholly known.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        match &self.value {
            Known::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What it certainly starts with (the whole value when known).
    #[must_use]
    pub fn prefix(&self) -> &str {
        match &self.value {
            Known::Text(text) => text,
            Known::Partly { prefix, .. } => prefix,
            Known::Nothing => "",
        }
    }
}

/// The directory that a command runs in, as far as the line tells.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cwd {
    /// The directory of the action itself.
    Start,
    /// After `cd dir`: absolute, or relative to the start.
    Known(String),
    /// After `cd .c*`: any directory that fits.
    Glob(String),
    /// After `cd "$x"`.
    Unknown,
}

impl Cwd {
    /// As a path from the root, when it is known.
    pub(crate) fn absolute(&self, outside: &dyn ShellEnv) -> Option<String> {
        let start = || outside.variable("PWD");
        match self {
            Self::Start => start(),
            Self::Known(path) if path.starts_with('/') => Some(path.clone()),
            Self::Known(path) => Some(crate::paths::join(&start()?, path)),
            Self::Glob(_) | Self::Unknown => None,
        }
    }
}

/// The source of a copy: in a target directory it keeps its name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// Its path; only its name counts if it is on another machine.
    pub arg: Arg,
    /// Including everything below it.
    pub tree: bool,
    /// Its contents arrive, not the directory itself (`rsync x/ y`).
    pub contents: bool,
    /// It is on another machine or in a container.
    pub elsewhere: bool,
}

/// How the bytes of an archive are derived from a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Coding {
    /// It is the file, perhaps compressed.
    #[default]
    Plain,
    /// The file is base64.
    Base64,
    /// The file is a hexadecimal dump.
    Hex,
    /// The file is a package, and holds the archive.
    Package,
    /// A program whose output is not known made it.
    Other,
}

/// What a write brings to its target. Only the observer knows whether the target is a directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Incoming {
    /// Files and trees: copied, moved or linked.
    Sources {
        /// What arrives.
        sources: Vec<Source>,
        /// The target is a directory, whether or not it is there (`-t DIR`).
        into: bool,
        /// The target is never treated as a directory (`cp -T`).
        exact: bool,
        /// A new name for the source, not a copy of it.
        linked: bool,
        /// Files that are there are left alone.
        kept: bool,
    },
    /// The members of an archive, below a target directory.
    Archive {
        /// The archive, where it is a file; files that may be the ones it is made from, where a program prints it.
        files: Vec<Arg>,
        /// What a program makes of them.
        coding: Coding,
        /// How many leading folders of each member are stripped.
        strip: usize,
        /// All folders are stripped.
        flat: bool,
        /// Only these members.
        only: Vec<String>,
    },
    /// The files of a commit, in place of all that git knows in a work tree.
    Commit {
        /// Its name.
        name: Arg,
        /// The branch leads there afterwards.
        moves: bool,
    },
    /// Nothing: the work tree goes.
    Nothing,
    /// Nothing: the work trees of submodules are removed or recreated.
    Submodules,
    /// The files that a diff names, below a target directory.
    Patch {
        /// The file with the diff.
        file: Arg,
        /// How many leading folders of each name are stripped.
        strip: usize,
    },
    /// Files with unknown names.
    Unknown,
}

/// A path operand: the argument plus the directory it is relative to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operand {
    /// The argument. `~` and `~user` are still in it when unquoted tilde could not be resolved by the reader.
    pub arg: Arg,
    /// Where a relative path starts.
    pub cwd: Cwd,
    /// What arrives there, when it may be a directory.
    pub incoming: Option<Box<Incoming>>,
}

impl Operand {
    /// A path.
    #[must_use]
    pub fn new(arg: Arg, cwd: Cwd) -> Self {
        Self { arg, cwd, incoming: None }
    }
}
