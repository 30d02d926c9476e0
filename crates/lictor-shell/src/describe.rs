//! Descriptions: what a program does, as data.
//!
//! The same types are used for shipped descriptions (`programs/*.yaml`, compiled by the build script into static
//! tables) and for users' descriptions under `describe:`. [`source`] is the written form,
//! [`read`](source::Source::read) checks it and turns it into a [`Program`]; `programs::described` derives the
//! effects of a call.
//!
//! ```yaml
//! - program: acme acmectl                  # its names
//!   options: {values: n region profile}    # options that take a value; `attached:` only after `=` or in the same word
//!   quiet: --plan ACME_ENV=test            # nothing happens with one of these (`--dry-run` and `--help` need no entry)
//!   always: {writes: -o|--out}             # holds for every call
//!   commands:                              # the first that holds counts; with `also: true` the next ones count too
//!     - {words: db drop|reset --force, effect: destroys-all}
//!     - {words: db drop|reset, effect: destroys, what: "the database {3}"}
//!     - {words: run --, runs: rest}
//!     - {words: deploy *, verb: deploy, object: service}
//!   match: [acme db drop x]                # lines that do something, and harmless twins; tests run them
//!   not_match: [acme db list]
//! ```
//!
//! `words` is a pattern over the operands from the first on: `a|b` either, `*` any, `del*` and `*:rm` a start and
//! an end (`\*` the star itself), `...` any number in between, `$` no more of them, `?` one that is unknown
//! before it runs, `!x` none that matches `x`, `--` the words after it. Words with a dash are options, wherever
//! they occur: `-f|--force` one of them, `!-n` none, `--mode=Complete` with that value. An option that the
//! description does not name may have taken the next word as its value.
//!
//! Keys that take [`Place`]s: `reads lists writes appends modifies empties deletes moves makes links modes owns
//! wipes builds` (files), `runs` (words of another program), `shell` and `sql` (text), `code: {python: -c}`,
//! `reaches posts` (hosts), `uploads` (files that leave), `serves` (a directory for others), `formats` (disks). A
//! place is an operand by number (`2`, `2..`, `last`, `..last`), `rest` (after the words; `rest+1` skips one),
//! `behind:-e|--` (all words after one of these), an option (`-o|--output`), a setting (`of=`, `--eval:`), `@`
//! (what `@file` names), `any` (every word and value), `stdin`, `disks`, a path of its own (`~/.x/{2}`) or any
//! other text of its own (`=s3.amazonaws.com`).
//!
//! `credentials_for: github` names parts of the hosts to which the program's credentials may be sent. `is:
//! takes-trees filters` states what is true of every call, for analyses of whole lines: see [`Trait`].
//!
//! `recipes: {make: Makefile, settings: tox.ini}` names files that the program runs. They are read when the line itself wrote
//! them, and so is every word of the call that names such a file.

#[path = "describe/source.rs"]
pub mod source;
#[path = "describe/traits.rs"]
mod traits;

use std::borrow::Cow;

pub use traits::{Trait, Traits};

/// Text of a description.
pub type Text = Cow<'static, str>;
/// A list of a description.
pub type List<T> = Cow<'static, [T]>;

/// The description of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its names.
    pub names: List<Text>,
    /// Its option syntax.
    pub options: Options,
    /// With one of these options nothing is done.
    pub quiet: List<Given>,
    /// With one of these variables in front nothing is done that matters.
    pub variables: List<Given>,
    /// What it does, in order.
    pub rules: List<Rule>,
    /// Files that it runs when it finds them: see [`Recipe`].
    pub recipes: List<Recipe>,
    /// What is true of every call.
    pub traits: Traits,
    /// Parts of the host names that its credentials are for.
    pub hosts: List<Text>,
}

/// Files that a program runs by default, or that its arguments name: makefiles, task files, settings with
/// commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// How they are read: `make`, `just`, `tasks`, `package`, `playbook`, `cmake`, `shell`, `settings`,
    /// `generate` or a language. `declared` ones describe what to create and are not analysed; an approval covers
    /// their content like that of the others.
    pub kind: Text,
    /// Their names; `*.go` for all that the line wrote with that ending.
    pub names: List<Text>,
}

/// Where options stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Between operands too.
    #[default]
    Anywhere,
    /// Only in front of the first operand: what follows may be another program's words.
    First,
    /// A single dash starts a long name.
    SingleDash,
    /// The same in letters of any case, cut short where that is clear, and `/s` for `-s`.
    Cmdlet,
}

/// The option syntax of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Where they stand.
    pub style: Style,
    /// Letters with a value, attached or in the next word.
    pub valued: Text,
    /// Letters with a value only when attached.
    pub attached: Text,
    /// Long ones, space-separated: `name` a flag, `name=` with a value, `name?` with a value only after `=`.
    pub long: Text,
    /// Options may precede a subcommand: patterns like `bash("git push")` skip them.
    pub front: bool,
}

/// Options one of which is given: names without dashes, and the value that one has to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Names without dashes.
    pub names: List<Text>,
    /// A pattern for the value.
    pub value: Option<Text>,
}

/// One part of the pattern of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// The next operand fits.
    Word(Text),
    /// Any number of operands.
    Gap,
    /// There are no more operands.
    End,
    /// One of the operands from here on is not known.
    Unknown,
    /// None of the operands fits.
    NoWord(Text),
    /// `--` is there; what follows it is the rest.
    Dashes,
    /// One of the options is given.
    With(Given),
    /// None of them is.
    Without(Given),
}

/// The effects of a call that matches a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The pattern. Without any it always matches.
    pub words: List<Token>,
    /// What is done.
    pub acts: List<Act>,
    /// Later rules are tried as well.
    pub also: bool,
}

/// A position in a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The operand of this number, from one.
    Operand(usize),
    /// Operands from this number on.
    From(usize),
    /// The last operand, when it is not the only one.
    Last,
    /// All operands behind the words, but the last.
    ButLast,
    /// Operands behind the words of the pattern, without the first few.
    Rest(usize),
    /// The values of options, by names without dashes.
    Option(List<Text>),
    /// All words behind one of these.
    Behind(List<Text>),
    /// The rest of an operand with this prefix (`of=`).
    Setting(Text),
    /// Files named after an at sign: `@file`, `field=@file`, `file://file`.
    At,
    /// Every operand and every value of an option.
    Any,
    /// Standard input.
    Stdin,
    /// Every word that names the device of a disk.
    Disks,
    /// A fixed path or other text; `{n}` is replaced by an operand.
    Path(Text),
}

/// How files are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Content is read.
    Reads,
    /// Names or metadata are.
    Lists,
    /// Created or replaced.
    Writes,
    /// Added to.
    Appends,
    /// Changed in place.
    Modifies,
    /// Made empty.
    Empties,
    /// Removed.
    Deletes,
    /// Taken away from there.
    Moves,
    /// Created as directories.
    Makes,
    /// Created as links.
    Links,
    /// Mode bits are changed.
    Modes,
    /// Owner or group are changed.
    Owns,
    /// Overwritten for good.
    Wipes,
    /// Built from sources: running that is what it is built for, so that only places outside the project matter.
    Builds,
}

/// When the operation applies to a whole tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deep {
    /// Never.
    No,
    /// Always.
    Yes,
    /// With one of these options.
    With(Given),
}

/// Consequences that need no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// Something that others rely on goes.
    Destroys,
    /// The same, wholesale.
    DestroysAll,
    /// A whole database goes.
    Drops,
    /// A table or collection goes.
    DropsPart,
    /// Data of a database changes.
    Changes,
    /// Shows a secret.
    Reveals,
    /// A package or release is published.
    Publishes,
    /// The machine stops.
    Stops,
    /// A process ends.
    Kills,
    /// Every process ends.
    KillsAll,
    /// A disk is formatted.
    Formats,
    /// It runs as another user.
    BecomesRoot,
    /// It runs with rights on the host of a container.
    Container,
    /// Bits or capabilities are granted.
    GrantsBits,
    /// Something runs later, unseen: at a start, a login, a time.
    Persists,
    /// Something that protects or records is switched off.
    Disables,
    /// Hooks are skipped or removed.
    SkipsHooks,
    /// Lictor itself is stopped or removed.
    StopsLictor,
    /// Runs something that cannot be determined.
    Opaque,
    /// Uncommitted work goes.
    DiscardsWork,
    /// Commits go.
    DiscardsCommits,
    /// Published history changes.
    RewritesHistory,
    /// Lost commits go for good.
    ExpiresHistory,
    /// A remote branch is overwritten.
    ForcePushes,
    /// A remote branch goes.
    DeletesRemote,
    /// Commits are pushed.
    Pushes,
    /// A commit is made.
    Commits,
    /// Commits are made that no hook sees.
    CommitsUnseen,
}

/// The content of the standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prints {
    /// A credential. Taken up by another command it is used for what it is for.
    Credential,
    /// Something of a secret.
    Secret,
    /// Private data: a history, a dump of a database.
    Private,
    /// Something from the network.
    Network,
    /// Something that was encoded.
    Decoded,
    /// The input as it is.
    Input,
    /// Something made from the input.
    Derived,
}

/// One thing that a program does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A consequence, in which words (the call's own when there are none), and when it is wholesale.
    Has(Consequence, Option<Text>, List<Given>),
    /// Files are used.
    Files(Use, List<Place>, Deep),
    /// Words are run as a command, here or on another machine.
    Runs(List<Place>, bool),
    /// Text is run by a shell, here or on another machine.
    Shell(List<Place>, bool),
    /// Text is run in a language.
    Code(Text, List<Place>),
    /// Text is given to a database.
    Sql(List<Place>),
    /// Hosts are talked to, and whether data goes there.
    Reaches(List<Place>, bool),
    /// Files leave the machine.
    Uploads(List<Place>, Deep),
    /// Directories are served; the current one when none is named.
    Serves(List<Place>),
    /// Disks and images are formatted.
    Formats(List<Place>),
    /// The output holds something.
    Prints(Prints),
    /// A deed in the words of a policy.
    Deed(Text, Text, Option<Text>),
    /// A function in code determines it, by its number. Users' descriptions have none.
    Function(u16),
}
