//! The interface between the parser, which finds simple commands, and the tables that describe programs.
//!
//! The walker of the tree builds a [`Call`] for each simple command and passes it to the table entry for the
//! program. The entry writes to a [`Report`]: effects, and as [`Next`] what the program would run in turn, which
//! the walker follows with a shrinking budget.

use lictor_core::facts::{Access, Effect, Opaque, OpaqueWhat};

use crate::operand::{Arg, Cwd, Incoming, Operand, Taint};
use crate::reading::{Mention, ShellEnv};

/// The standard input of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing special: the terminal, or what the line inherits.
    Inherited,
    /// A here-document, here-string, or the known literal output of a command.
    Text(String),
    /// A list of file names, one a line or NUL-separated, of which the shape is known: what `find`, `ls`,
    /// `git ls-files` or `grep -l` printed ([`Report::names`]).
    Names(Vec<Arg>),
    /// Something whose content is not known, with where it came from.
    Unknown(Taint),
}

/// One simple command: what a table entry judges.
pub struct Call<'a> {
    /// Base name of the program.
    pub program: &'a str,
    /// As written, for instance `/usr/bin/rm` or `./rm`.
    pub path: &'a str,
    /// Arguments without the program.
    pub args: &'a [Arg],
    /// Where it runs.
    pub cwd: &'a Cwd,
    /// Its standard input.
    pub stdin: &'a Stdin,
    /// The file that standard input is redirected from.
    pub source: Option<&'a Arg>,
    /// `NAME=value` words in front of it.
    pub assignments: &'a [(String, Arg)],
    /// Things outside the text.
    pub env: &'a dyn ShellEnv,
}

/// Something a program runs in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// An argument vector (`sudo rm x`, `xargs rm`, `find -exec rm {} ;`): first the program.
    Argv {
        /// The words.
        argv: Vec<Arg>,
        /// Variables the wrapper sets for it (`env A=1 cmd`, `sudo A=1 cmd`).
        assignments: Vec<(String, Arg)>,
        /// Directory, when the wrapper changes it.
        cwd: Option<Cwd>,
        /// Name of the wrapper, for `Command::through`.
        through: String,
        /// More arguments follow that are not known (`xargs`): the command touches any number of unknown operands.
        more: bool,
        /// Runs on another machine or in a container (`docker exec`, `kubectl exec`): see [`Next::Shell`].
        elsewhere: bool,
    },
    /// Shell text (`bash -c TEXT`, `eval TEXT`, `watch TEXT`, `ssh host TEXT`).
    Shell {
        /// The text.
        text: Arg,
        /// `$0`, `$1`, … inside the text (`sh -c TEXT name first second`).
        args: Vec<Arg>,
        /// Name of the wrapper.
        through: String,
        /// Runs on another machine or in a container: file effects are not ours, the rest still counts.
        elsewhere: bool,
    },
    /// Code in another language.
    Code {
        /// `python`, `javascript`, `typescript`, `perl`, `ruby`, `php`, `awk`, `sed`, `sql`, …
        language: &'static str,
        /// The code.
        body: Arg,
    },
    /// Text out of a file for another program to run (`make`, `npm run`, `pytest`). Only what is clearly dangerous
    /// counts: the rest is the project's own.
    Recipe {
        /// The text.
        text: String,
        /// Its language; a shell's when there is none.
        language: Option<&'static str>,
        /// Name of the program that runs it.
        through: String,
        /// Whether the line wrote the file; otherwise it was there before.
        written: bool,
    },
    /// A script file is run by an interpreter (`bash ./x.sh`, `python x.py`, `./x.sh`).
    Script {
        /// The file.
        path: Arg,
        /// The interpreter's language, when the command line says so.
        language: Option<&'static str>,
    },
}

impl Next {
    /// Code in a language whose files are known by what is called.
    pub(crate) fn is_read_code(&self) -> bool {
        matches!(
            self,
            Self::Code { language: "python" | "javascript" | "typescript" | "perl" | "ruby" | "php", .. }
                | Self::Script { .. }
        )
    }
}

/// The report of a table entry about one call.
#[derive(Debug, Default)]
pub struct Report {
    /// Effects, in order.
    pub effects: Vec<Effect<Operand>>,
    /// What could not be determined.
    pub opaque: Vec<Opaque>,
    /// What is run in turn.
    pub next: Vec<Next>,
    /// Literal text on standard output, when the entry can work it out (`echo`, `printf`, `base64 -d` of a
    /// literal, `rev`, …), for `$(…)` and for pipes.
    pub stdout: Option<String>,
    /// The standard output is a list of file names that lie at or below these operands (globs among them), when
    /// `stdout` itself is not known (`find . -name '*.pyc'` → `./**/*.pyc`). Becomes [`Stdin::Names`] of the next
    /// command in a pipe, so that `… | xargs rm` deletes those and not something unknown. In `$(…)` a single name
    /// stands for the value (`mktemp -d` → starts with `/tmp/`).
    pub names: Vec<Arg>,
    /// What the program packs into an archive on its standard output, as full paths.
    pub packed: Vec<String>,
    /// Files that hold the names of what the program works on (`tar -T FILE`, `xargs < FILE`).
    pub lists: Vec<Arg>,
    /// Taint of the standard output when its text is not known (`curl` → network, `cat ~/.ssh/id_rsa` → secret).
    pub taint: Taint,
    /// `stdout` was hidden by an encoding on the line.
    pub decoded: bool,
    /// The standard output is a credential: visible to the agent, unless another command consumes it.
    pub credential: bool,
    /// A new directory for what follows on the line (`cd`, `pushd`).
    pub cwd: Option<Cwd>,
    /// The directory that the code of an interpreter changed to (`os.chdir`), for its later effects.
    pub gone_to: Option<Cwd>,
    /// How code changes files with computed names.
    pub(crate) computed: Option<Access>,
    /// Words that reach code and may name what it changes.
    pub(crate) mentions: Vec<Mention>,
    /// Files that code writes, with the text that goes into them where that is known.
    pub contents: Vec<(String, Option<String>)>,
    /// The program is in the tables: its argument grammar is known.
    pub known_program: bool,
}

impl Report {
    /// Reports a file effect on an operand of the call.
    pub fn file(&mut self, call: &Call<'_>, access: Access, arg: &Arg, recursive: bool) {
        self.effects.push(Effect::File {
            access,
            target: Operand::new(arg.clone(), call.cwd.clone()),
            recursive,
            by: None,
        });
    }

    /// Notes that code changes a file with a computed name. The more destructive access wins.
    pub(crate) fn changes_some(&mut self, access: Access) {
        if self.computed.is_none() || access == Access::Delete {
            self.computed = Some(access);
        }
    }

    /// Reports a write whose target may be a directory, with what arrives there.
    pub(crate) fn arrives(
        &mut self,
        call: &Call<'_>,
        access: Access,
        target: &Arg,
        recursive: bool,
        incoming: Incoming,
    ) {
        let target =
            Operand { incoming: Some(Box::new(incoming)), ..Operand::new(target.clone(), call.cwd.clone()) };
        self.effects.push(Effect::File { access, target, recursive, by: None });
    }

    /// Reports a part that could not be determined.
    pub fn opaque(&mut self, what: OpaqueWhat, text: &str) {
        self.opaque.push(Opaque { what, text: text.chars().take(120).collect() });
    }
}
