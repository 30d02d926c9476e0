//! Kilo, which grew out of OpenCode: the same plugins, tools and events, in directories of its own.

use super::opencode::{EVENTS, PLUGIN, TOOLS, event_name, read, session};
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
        ServerFile::project(".kilo/kilo.json", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::home(KILO, "kilo.json", "mcp").shaped(servers::Shape::CommandList),
    ],
    traces: &[(At::Home(KILO), ""), (At::Project, ".kilo"), (At::Project, "kilo.json")],
    directory: Some(".kilo"),
    launch: Some(Launch {
        programs: &["kilo", "kilocode"],
        packages: &["@kilocode/cli"],
        unchecked: &[
            Unchecked::Option("dangerously-skip-permissions"),
            Unchecked::Option("yolo"),
            Unchecked::Option("auto"),
            Unchecked::Option("pure"),
        ],
    }),
    advice: &["`kilo --pure` runs without plugins, and so without Lictor; plugins of the machine it does not read"],
    ..AgentSpec::like_claude("kilo", EVENTS, TOOLS)
};

const KILO: HomeDir = HomeDir::at(".config/kilo").moved_by(&[("XDG_CONFIG_HOME", "kilo")]);

const FILES: &[GoverningFile] = &[
    KILO.file("plugins/lictor.js").installs(PLUGIN),
    KILO.file("plugins"),
    KILO.file("plugin"),
    KILO.file("kilo.json"),
    KILO.file("kilo.jsonc"),
    KILO.file("config.json"),
    HomeDir::at(".kilo").file("plugins"),
    HomeDir::at(".kilo").file("plugin"),
    HomeDir::at(".kilo").file("kilo.json"),
    HomeDir::at(".kilo").file("kilo.jsonc"),
    named_by(Scope::User, "KILO_CONFIG", ""),
    named_by(Scope::User, "KILO_CONFIG_DIR", "plugins"),
    named_by(Scope::User, "KILO_CONFIG_DIR", "plugin"),
    named_by(Scope::User, "KILO_CONFIG_DIR", "kilo.json"),
    named_by(Scope::User, "KILO_CONFIG_DIR", "kilo.jsonc"),
    project(".kilo/plugins/lictor.js").installs(PLUGIN),
    project(".kilo/plugins"),
    project(".kilo/plugin"),
    project(".kilo/kilo.json"),
    project(".kilo/kilo.jsonc"),
    project(".kilocode"),
    project("kilo.json"),
    project("kilo.jsonc"),
    machine("/etc/kilo"),
    mac("/Library/Application Support/kilo"),
];
