//! Cline. Its hooks are programs in a directory, and a refusal ends the run without a message to the model; a
//! plugin can skip one call with a reason. So Lictor uses a plugin here, with the envelope and the replies of
//! OpenCode's.

use super::opencode::{BLOCK, read, session};
use crate::contract::{Moment, Row, TellForm};
use crate::event::EventKind;
use crate::files::{At, GoverningFile, HomeDir, named_by, project};
use crate::input::{Fields, Unreadable};
use crate::install::Scope;
use crate::install::layout::{Form, Layout, command_handler};
use crate::install::servers::ServerFile;
use crate::launch::{Launch, Unchecked};
use crate::parse::Context;
use crate::spec::AgentSpec;
use crate::tools::{Shape, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    read: with_servers,
    event_name: |fields| fields.text(&["hook"]),
    session,
    post_means_success: true,
    // A plugin that cannot be loaded in four seconds is silently skipped, and all others with it.
    leaks: true,
    plugin_host: Some("plugin-sandbox-bootstrap.js"),
    files: FILES,
    servers: &[ServerFile::home(DATA, "settings/cline_mcp_settings.json", "mcpServers")],
    traces: &[(At::Home(CLINE), ""), (At::Project, ".cline"), (At::Project, ".clinerules")],
    directory: Some(".cline"),
    state: &[".cline/data"],
    launch: Some(Launch {
        programs: &["cline"],
        packages: &["cline"],
        unchecked: &[
            Unchecked::Option("y"),
            Unchecked::Option("yolo"),
            // Other settings than those that govern it now.
            Unchecked::Option("config"),
            Unchecked::Option("data-dir"),
            // Plugins that cannot be loaded are left out.
            Unchecked::Set("CLINE_PLUGIN_IMPORT_TIMEOUT_MS"),
            Unchecked::Set("CLINE_JS_RUNTIME_PATH"),
            Unchecked::Set("CLINE_WRAPPER_PATH"),
        ],
        ..Launch::NONE
    }),
    advice: &[
        "it cannot be sent back when it stops: no completion",
        "it goes on without plugins, and so without Lictor, when they are not loaded in four seconds",
        "it hands its work to a process in the background: under `lictor run` set `CLINE_SESSION_BACKEND_MODE=local`",
    ],
    ..AgentSpec::like_claude("cline", EVENTS, TOOLS)
};

/// Cline ends the run when a plugin takes three seconds. Lictor's own deadline, four tenths of this, is shorter.
const PLUGIN: Form = Form::Plugin(
    concat!(
        "// Lictor for Cline: asks the `lictor` binary about every tool call. Written by `lictor init`; do not edit.\n",
        include_str!("plugin.js"),
        include_str!("cline.js")
    ),
    5,
);

const CLINE: HomeDir = HomeDir::at(".cline").moved_by(&[("CLINE_DIR", "")]);
const DATA: HomeDir = HomeDir::at(".cline/data").moved_by(&[("CLINE_DATA_DIR", ""), ("CLINE_DIR", "data")]);
const DOCUMENTS: HomeDir = HomeDir::at("Documents/Cline");

const FILES: &[GoverningFile] = &[
    CLINE.file("plugins/lictor.js").installs(PLUGIN),
    CLINE.file("plugins"),
    CLINE.file("hooks"),
    DOCUMENTS.file("Plugins"),
    DOCUMENTS.file("Hooks"),
    // Plugins are switched off there.
    DATA.file("settings/global-settings.json").holds(SWITCHES).keeps_state(),
    named_by(Scope::User, "CLINE_GLOBAL_SETTINGS_PATH", "").holds(SWITCHES).keeps_state(),
    DATA.file("settings/cline_mcp_settings.json").lists_servers(),
    named_by(Scope::User, "CLINE_MCP_SETTINGS_PATH", "").lists_servers(),
    project(".cline/plugins/lictor.js").installs(PLUGIN),
    project(".cline/plugins"),
    project(".cline/hooks"),
    project(".clinerules/hooks"),
];

const EVENTS: &[Row] = &[
    Row::new("beforeTool", Moment::PreTool).blocks(BLOCK),
    Row::new("afterTool", Moment::PostTool).tells(TellForm::TopAdditionalContext),
    Row::new("beforeRun", Moment::Prompt),
    Row::new("afterRun", Moment::Stop),
];

const TOOLS: &[ToolRow] = &[
    ("run_commands", Shape::Argv),
    ("read_files", Shape::ReadMany),
    ("search_codebase", Shape::Search),
    ("editor", Shape::Edit),
    ("apply_patch", Shape::Patch),
    ("fetch_web_content", Shape::Fetch),
    ("spawn_agent", Shape::Delegate),
    ("team_run_task", Shape::Delegate),
];

/// Its settings have no hooks in them, and what switches plugins off.
const SWITCHES: Form = Form::Json(&Layout {
    root: &["hooks"],
    versioned: false,
    says_fail_closed: false,
    entries: &[],
    handler: command_handler,
});

/// A tool of a server is called `server__tool`.
fn with_servers(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    let mut fields = Fields(fields.0.clone());
    if let Some(tool) = fields.0.get_mut("input").and_then(|input| input.get_mut("tool"))
        && let Some(name) = tool.as_str().filter(|name| name.contains("__"))
    {
        *tool = format!("mcp__{name}").into();
    }
    read(context, &fields)
}
