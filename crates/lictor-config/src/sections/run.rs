//! `run:`.

use serde::{Deserialize, Serialize};

use super::section::{Section, value};
use crate::reader::Reader;
use crate::table::{Key, PATHS, Shape, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "run",
        Shape::Fields(&TABLE),
        "{hide: [~/.ssh]}",
        "What the sandbox of `lictor run` shows and reaches.",
    )],
    read: |r, file, said| said.run = value(r, file, "run", read),
    guards: &[],
};

pub(crate) static TABLE: Table = Table {
    name: "run",
    about: "What the sandbox of `lictor run` shows and reaches. A repository's file can only take away. Read when the \
            agent is started; hooks without `lictor run` do not look at it.",
    keys: &[
        Key::new(
            "sockets",
            Shape::List(&Shape::Word(&["ssh-agent", "gpg-agent", "docker", "podman"])),
            "[ssh-agent]",
            "Services outside of the sandbox that the agent may talk to. All are closed when it is not said. Whoever \
             reaches a container engine can leave the sandbox through it.",
        )
        .trusted(),
        Key::new(
            "hide",
            PATHS,
            "[~/.ssh, ~/.aws]",
            "Files and directories that are empty inside: absolute, below `~/`, or relative to the project's root. No \
             globs. What governs the agent cannot be hidden.",
        ),
        Key::new(
            "network",
            Shape::Word(&["none", "loopback"]),
            "loopback",
            "`none`: no connections and no listening ports. `loopback`: only between the agent's own processes; services \
             of the machine are not reached. The network is left alone when it is not said.",
        ),
    ],
};

/// A service outside of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Socket {
    /// Signs with the person's SSH keys.
    SshAgent,
    /// Signs and decrypts with the person's `OpenPGP` keys.
    GpgAgent,
    /// Docker's engine.
    Docker,
    /// Podman's engine.
    Podman,
}

impl Socket {
    /// The name in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SshAgent => "ssh-agent",
            Self::GpgAgent => "gpg-agent",
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

/// How much of the network the sandbox can use, from most to least.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunNetwork {
    /// The whole network.
    #[default]
    All,
    /// Between the agent's own processes.
    Loopback,
    /// Nothing.
    None,
}

/// The configuration of the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunConfig {
    /// Services that are open.
    pub sockets: Vec<Socket>,
    /// Paths that are hidden inside, as written.
    pub hide: Vec<String>,
    /// The network.
    pub network: RunNetwork,
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<RunConfig> {
    let f = r.fields(tree, &TABLE)?;
    let sockets = [Socket::SshAgent, Socket::GpgAgent, Socket::Docker, Socket::Podman];
    let sockets = sockets.map(|socket| (socket.as_str(), socket));
    let networks = [("none", RunNetwork::None), ("loopback", RunNetwork::Loopback)];
    Some(RunConfig {
        sockets: r
            .field(&f, "sockets", |r, tree, what| {
                r.each(tree, what, |r, item, what| r.choice(item, what, &sockets))
            })
            .unwrap_or_default(),
        hide: r.field(&f, "hide", |r, tree, what| r.each(tree, what, hidden)).unwrap_or_default(),
        network: r.field(&f, "network", |r, tree, what| r.choice(tree, what, &networks)).unwrap_or_default(),
    })
}

fn hidden(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<String> {
    let text = r.sentence(tree, what)?;
    let below_home = text.strip_prefix("~/");
    let rest = below_home.or_else(|| text.strip_prefix('/')).unwrap_or(&text);
    let mut parts = rest.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
    let problem = if text.contains(['*', '?', '[', '{']) {
        Some(("is a pattern", "name the directory, or each file"))
    } else if parts.peek().is_none() {
        Some(("hides everything", "name a directory below it"))
    } else if parts.any(|part| part == "..") {
        Some(("goes upwards", "write the path without `..`"))
    } else if text.starts_with('~') && below_home.is_none() {
        Some(("is the home of somebody else", "write `~/` for your own, or an absolute path"))
    } else {
        None
    };
    let Some((problem, help)) = problem else { return Some(text) };
    r.error(tree.span, format!("{what}: `{text}` {problem}"), help);
    None
}
