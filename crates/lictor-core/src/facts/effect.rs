use serde::{Deserialize, Serialize};

use super::Cardinality;
use crate::digest::Digest;

/// One effect of an action. `P` is the type of a path: a symbolic operand or a resolved [`Place`](super::Place).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect<P> {
    /// Touches a file or directory.
    File {
        /// The access.
        access: Access,
        /// The path.
        target: P,
        /// The whole tree below it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        recursive: bool,
        /// Index into the action's commands (order of `Run` effects) that does it, when it is a command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<u32>,
    },
    /// Runs a program.
    Run(Command),
    /// Talks to a host.
    Reach(Reach),
    /// Changes a git repository in a way that is hard to undo, or changes the rules that govern it.
    Git {
        /// The effect.
        effect: GitEffect,
        /// The object, as written: remote, branch, ref, path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
    /// Acts on processes or on the machine.
    Process(ProcessEffect),
    /// Acts on a database.
    Database {
        /// The effect.
        effect: DatabaseEffect,
        /// The statement or the tool's arguments, shortened.
        text: String,
    },
    /// Destroys or changes infrastructure: cloud resources, clusters, containers, volumes.
    Infrastructure {
        /// The tool (`terraform`, `kubectl`, `aws`, `docker`, …).
        tool: String,
        /// The operation and its object, in the tool's own words (`delete namespace`, `volume rm`).
        what: String,
        /// Irreversible and wholesale, without another confirmation by the tool.
        mass: bool,
    },
    /// Publishes a package or release.
    Publish {
        /// The tool (`npm`, `cargo`, `twine`, …).
        tool: String,
    },
    /// Gains rights.
    Privilege(Privilege),
    /// Data moves from a sensitive source to a sensitive sink on one line.
    Flow {
        /// The source.
        from: FlowSource,
        /// The sink.
        to: FlowSink,
        /// The data, as written.
        text: String,
    },
    /// Disables or bypasses a control.
    GuardOff {
        /// The control.
        what: GuardOff,
        /// The text, as written.
        text: String,
    },
    /// Evaluates inline code in another language (`python -c`, `node -e`, an `execute_code` action).
    Code {
        /// `python`, `javascript`, `typescript`, `perl`, `ruby`, `php`, …
        language: String,
        /// The code itself, for the sandbox guard.
        body: String,
    },
    /// Starts another agent.
    Delegate {
        /// The agent or program.
        agent: String,
    },
    /// Uses a tool that is none of the above: an MCP tool, an agent's own.
    Tool {
        /// The server, for `mcp__server__tool`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The tool.
        name: String,
        /// The description of the tool that these effects come from, if it is trusted: shipped, from the user, or
        /// managed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        described: Option<String>,
        /// The digest of the server's definition in the agent's settings, if a person's answer was remembered for
        /// it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        definition: Option<Digest>,
    },
    /// A deed from the policy catalogue that no other effect expresses (`send email`, `approve invoice`).
    Deed {
        /// Verb.
        verb: String,
        /// Object.
        object: String,
        /// The cardinality.
        cardinality: Cardinality,
        /// A description of the object, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        what: Option<String>,
    },
}

impl<P> Effect<P> {
    /// The same effect with another path type.
    #[must_use]
    pub fn map_target<Q>(self, give: impl FnOnce(P) -> Q) -> Effect<Q> {
        match self {
            Self::File { access, target, recursive, by } => {
                Effect::File { access, target: give(target), recursive, by }
            }
            Self::Run(command) => Effect::Run(command),
            Self::Reach(reach) => Effect::Reach(reach),
            Self::Git { effect, target } => Effect::Git { effect, target },
            Self::Process(effect) => Effect::Process(effect),
            Self::Database { effect, text } => Effect::Database { effect, text },
            Self::Infrastructure { tool, what, mass } => Effect::Infrastructure { tool, what, mass },
            Self::Publish { tool } => Effect::Publish { tool },
            Self::Privilege(privilege) => Effect::Privilege(privilege),
            Self::Flow { from, to, text } => Effect::Flow { from, to, text },
            Self::GuardOff { what, text } => Effect::GuardOff { what, text },
            Self::Code { language, body } => Effect::Code { language, body },
            Self::Delegate { agent } => Effect::Delegate { agent },
            Self::Tool { server, name, described, definition } => {
                Effect::Tool { server, name, described, definition }
            }
            Self::Deed { verb, object, cardinality, what } => {
                Effect::Deed { verb, object, cardinality, what }
            }
        }
    }
}

/// The kind of access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reads content.
    Read,
    /// Lists names or metadata, or searches by name.
    List,
    /// Writes a file from the start: creates it or replaces its content.
    Write,
    /// Truncates it to zero length (`: > f`, `truncate -s0`).
    Empty,
    /// Adds to its end.
    Append,
    /// Changes parts of it in place.
    Modify,
    /// Restores the version from version control: uncommitted content is lost.
    Restore,
    /// Removes it.
    Delete,
    /// Moves it away (the source of a move).
    MoveAway,
    /// Creates a directory.
    MakeDirectory,
    /// Creates a link there.
    Link,
    /// Changes mode bits.
    ChangeMode,
    /// Changes owner or group.
    ChangeOwner,
    /// Runs it.
    Execute,
    /// Overwrites it so that it cannot be recovered (`shred`, `dd of=`, `mkfs`).
    Destroy,
}

impl Access {
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        matches!(self, Self::Read | Self::List | Self::Execute)
    }

    /// Whether existing content is lost.
    #[must_use]
    pub fn loses_content(self) -> bool {
        matches!(self, Self::Write | Self::Empty | Self::Delete | Self::MoveAway | Self::Destroy)
    }
}

/// One simple command after quote removal, without its wrappers, options unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Command {
    /// Base name of the program (`rm`, `git`), lower-cased only where the platform does.
    pub program: String,
    /// Arguments; an unknown argument is `None`.
    pub args: Vec<Option<String>>,
    /// The names of the wrappers that were removed (`sudo`, `env`, `xargs`, `bash -c`), outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// The exit status of the whole line is non-zero when this command fails: its success follows from the line's
    /// (`cargo test`, `a && cargo test`; not `cargo test || true`, not `cargo test | tail` without pipefail).
    pub attributable: bool,
    /// The command is known to run whenever the line runs (not in an `if` body, after `||`, in a function never called).
    pub certain: bool,
    /// The program and its subcommand, for patterns like `bash("git push")`: options before the subcommand that
    /// take values (`git -C dir push`) are left out. `words[0]` is the program.
    pub words: Vec<String>,
    /// The directory it runs in, if it differs from the action's (`cd dir && git switch x`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// A host that is talked to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reach {
    /// Host name or address, lower case, without port or credentials. `None` when it cannot be determined.
    pub host: Option<String>,
    /// The URL or target as written, shortened.
    pub text: String,
    /// Sends local data out (upload, POST, `scp` to, `git push`).
    pub sends: bool,
}

/// An effect on a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitEffect {
    /// Throws uncommitted work away (`reset --hard`, `checkout -- .`, `restore`, `clean -f`, `switch -f`).
    DiscardWork,
    /// Stashes untracked files too (`stash -u`): they disappear from the work tree.
    StashUntracked,
    /// The same with ignored files (`stash --all`).
    StashAll,
    /// Throws stashes away.
    DropStash,
    /// Deletes a branch that may hold unmerged commits (`branch -D`), a tag, a worktree by force.
    DiscardCommits,
    /// Rewrites history (`filter-branch`, `filter-repo`, `rebase` of published refs is not included).
    RewriteHistory,
    /// Makes lost commits unrecoverable (`reflog expire`, `gc --prune=now`, `update-ref -d`).
    ExpireHistory,
    /// `push --force`, `+ref`, `--mirror`.
    ForcePush,
    /// `push --force-with-lease`.
    ForcePushWithLease,
    /// Deletes a remote ref.
    DeleteRemote,
    /// Plain push.
    Push,
    /// Makes a commit.
    Commit,
    /// Bypasses hooks (`--no-verify`, `-n` on commit, `core.hooksPath`).
    SkipHooks,
    /// Changes configuration that runs programs or moves hooks.
    ConfigureExecution,
    /// Other configuration.
    Configure,
}

/// An effect on processes or the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessEffect {
    /// `kill 1234`, `pkill name`.
    Kill,
    /// `kill -9 -1`: every process that the user may signal, or init.
    KillAll,
    /// `shutdown`, `reboot`, `halt`, `init 0`.
    Shutdown,
    /// A function that only multiplies itself.
    ForkBomb,
    /// Formats, partitions or wipes a disk.
    Format,
}

/// An effect on a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseEffect {
    /// Drops a whole database, schema or keyspace (`DROP DATABASE`, `dropdb`, `FLUSHALL`).
    DropAll,
    /// Drops or empties a table or collection (`DROP TABLE`, `TRUNCATE`, `DELETE` without `WHERE`).
    DropPart,
    /// Anything else that changes data.
    Change,
}

/// Rights gained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Privilege {
    /// sudo, doas, su, pkexec.
    BecomeRoot,
    /// A container or namespace with the host's file system or full rights.
    Container,
    /// setuid/setgid bits, capabilities.
    GrantBits,
}

/// Where sensitive data comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowSource {
    /// A secret file or variable.
    Secret,
    /// A home directory, personal folders, files of the system.
    Private,
    /// The network.
    Network,
    /// Unknown text that the line decodes (base64, hex, rot13).
    Decoded,
}

/// The sink of a data flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowSink {
    /// Is executed.
    Shell,
    /// Leaves the machine.
    Host,
    /// Is written to a file.
    File,
}

/// The control that is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardOff {
    /// A `lictor` command that only people may run (approve, clear, trust, init, session refresh, …).
    LictorCommand,
    /// An environment variable or flag that redirects or disables Lictor.
    LictorEnvironment,
    /// Hooks of git or of the agent are skipped or removed.
    Hooks,
    /// A nested agent is started with permission checks off.
    NestedAgent,
    /// A nested agent is started whose hooks are not installed where it would read them.
    UngovernedAgent,
    /// A nested agent is started with other settings: in another directory, as another user, with other
    /// configuration.
    AgentElsewhere,
    /// The Lictor process or binary itself is attacked.
    LictorBinary,
}

/// A part of an action that could not be determined.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Opaque {
    /// The kind.
    pub what: OpaqueWhat,
    /// The text in question, shortened.
    pub text: String,
}

/// What could not be determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpaqueWhat {
    /// The program to run is not known (`$CMD x`).
    Program,
    /// The code that is executed is unknown (`eval "$X"`).
    Code,
    /// The path that is changed or deleted is unknown.
    Target,
    /// The text is not valid in its language.
    Syntax,
    /// The text uses something Lictor does not model.
    Construct,
    /// Larger, deeper or longer than Lictor's limits.
    Limit,
    /// A tool without a description.
    Tool,
}
