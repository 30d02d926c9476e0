//! Kilo, a fork of OpenCode: the same plugins, tools and events, in its own directories.

use super::opencode::{EVENTS, TOOLS, event_name, family_files, read, session};
use crate::files::{At, GoverningFile, HomeDir, mac, machine, named_by, project};
use crate::install::Scope;
use crate::install::servers::{self, ServerFile};
use crate::launch::{Launch, Unchecked};
use crate::spec::AgentSpec;

pub(super) static SPEC: AgentSpec = AgentSpec {
    read,
    event_name,
    session,
    tells_exit_codes: true,
    files: FILES,
    servers: &[
        ServerFile::project("kilo.json", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::project("kilo.jsonc", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::project(".kilo/kilo.json", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::project(".kilo/kilo.jsonc", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::home(KILO, "kilo.json", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::home(KILO, "kilo.jsonc", "mcp").shaped(servers::Shape::CommandList),
    ],
    traces: &[(At::Home(KILO), ""), (At::Project, ".kilo"), (At::Project, "kilo.json")],
    directory: Some(".kilo"),
    state: &[".local/share/kilo", ".local/state/kilo", ".local/state/kilo-sandbox-policy"],
    launch: Some(Launch {
        programs: &["kilo", "kilocode"],
        packages: &["@kilocode/cli"],
        unchecked: &[
            Unchecked::Option("dangerously-skip-permissions"),
            Unchecked::Option("yolo"),
            Unchecked::Option("auto"),
            Unchecked::Option("pure"),
        ],
        ..Launch::NONE
    }),
    advice: &[
        "`kilo --pure` runs without plugins, and so without Lictor; plugins of the machine it does not read",
    ],
    ..AgentSpec::like_claude("kilo", EVENTS, TOOLS)
};

const KILO: HomeDir = HomeDir::at(".config/kilo").moved_by(&[("XDG_CONFIG_HOME", "kilo")]);

// Its settings in `.kilocode` expect a directory here, even a missing one: Kilo does not start if it is a file.
const FILES: &[GoverningFile] = family_files!(
    "kilo",
    KILO,
    "KILO_CONFIG",
    "KILO_CONFIG_DIR",
    KILO.file("kilo.jsonc").at_first("{\"$schema\": \"https://app.kilo.ai/config.json\"}\n"),
    project(".kilocode"),
    project(".kilocode/kilo.json"),
    project(".kilocode/kilo.jsonc")
);
