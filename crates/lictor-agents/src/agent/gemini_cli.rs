//! Gemini CLI. JSON on stdout decides whatever the exit code is; exit code 2 with no output at all blocks nothing.
//!
//! `ask` is not used: it opens a question even over a refusal of the user's own policy.

use crate::contract::{BlockForm, Moment, Row, TellForm};
use crate::event::EventKind;
use crate::files::{At, GoverningFile, HomeDir, mac, machine, named_by, project};
use crate::input::{Fields, Unreadable};
use crate::install::Scope;
use crate::install::layout::{Form, LATE, Layout, every, milliseconds, tool};
use crate::install::servers::ServerFile;
use crate::launch::{Launch, Unchecked};
use crate::parse::{self, Context};
use crate::spec::AgentSpec;
use crate::tools::{Shape, Tool, ToolRow};
use crate::trust::Trust;

pub(super) static SPEC: AgentSpec = AgentSpec {
    read,
    tells_exit_codes: true,
    fails_closed: true,
    trust: Trust::Folders(At::Home(GEMINI), "trustedFolders.json"),
    files: FILES,
    servers: &[
        ServerFile::project(".gemini/settings.json", "mcpServers"),
        ServerFile::home(GEMINI, "settings.json", "mcpServers"),
    ],
    traces: &[(At::Home(GEMINI), "settings.json"), (At::Project, ".gemini")],
    directory: Some(".gemini"),
    launch: Some(Launch {
        programs: &["gemini"],
        packages: &["@google/gemini-cli"],
        unchecked: &[
            Unchecked::Option("y"),
            Unchecked::Option("yolo"),
            Unchecked::Value("approval-mode", &["yolo", "auto_edit"]),
        ],
        ..Launch::NONE
    }),
    advice: &[
        "`--extensions` and policies of its own are not Lictor's: hooks see every tool call all the same",
    ],
    ..AgentSpec::like_claude("gemini-cli", EVENTS, TOOLS)
};

const HOOKS: Form = Form::Json(&LAYOUT);
const GEMINI: HomeDir = HomeDir::at(".gemini").moved_by(&[("GEMINI_CLI_HOME", ".gemini")]);

const FILES: &[GoverningFile] = &[
    GEMINI.file("settings.json").installs(HOOKS),
    GEMINI.file("trustedFolders.json"),
    GEMINI.file("trusted_hooks.json"),
    GEMINI.file("policies"),
    GEMINI.file("extensions"),
    GEMINI.file("hooks"),
    GEMINI.file(".env"),
    named_by(Scope::User, "GEMINI_CLI_TRUSTED_FOLDERS_PATH", ""),
    project(".gemini/settings.json").installs(HOOKS),
    project(".gemini/policies"),
    project(".gemini/extensions"),
    project(".gemini/hooks"),
    // Variables for the agent's own process: these move its settings.
    project(".gemini/.env"),
    named_by(Scope::Managed, "GEMINI_CLI_SYSTEM_SETTINGS_PATH", ""),
    named_by(Scope::Managed, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", ""),
    machine("/etc/gemini-cli/settings.json").installs(HOOKS),
    machine("/etc/gemini-cli"),
    mac("/Library/Application Support/GeminiCli/settings.json").installs(HOOKS),
    mac("/Library/Application Support/GeminiCli"),
];

const DENY: BlockForm = BlockForm::Decision("deny");
const CONTEXT: TellForm = TellForm::AdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("BeforeTool", Moment::PreTool).blocks(DENY).tells(TellForm::SystemMessage),
    Row::new("AfterTool", Moment::PostTool).blocks(DENY).tells(CONTEXT),
    Row::new("BeforeAgent", Moment::Prompt).blocks(DENY).tells(CONTEXT),
    Row::new("AfterAgent", Moment::Stop).blocks(DENY),
    Row::new("SessionStart", Moment::SessionStart).tells(CONTEXT),
    Row::new("SessionEnd", Moment::SessionEnd),
    Row::new("PreCompress", Moment::Compaction),
    Row::new("BeforeModel", Moment::Other),
    Row::new("AfterModel", Moment::Other),
    Row::new("BeforeToolSelection", Moment::Other),
    Row::new("Notification", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("run_shell_command", Shape::Shell),
    ("read_file", Shape::Read),
    ("read_many_files", Shape::ReadMany),
    ("list_directory", Shape::Search),
    ("glob", Shape::Glob),
    ("grep_search", Shape::Search),
    ("search_file_content", Shape::Search),
    ("write_file", Shape::Write),
    ("replace", Shape::Edit),
    ("web_fetch", Shape::Fetch),
    ("google_web_search", Shape::WebSearch),
    ("invoke_agent", Shape::Delegate),
    ("write_todos", Shape::Todo),
];

static LAYOUT: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    says_fail_closed: false,
    entries: &[
        tool("BeforeTool").patient(),
        tool("AfterTool"),
        every("BeforeAgent"),
        every("AfterAgent").waits(LATE),
        every("SessionStart"),
        every("SessionEnd").waits(10),
        every("PreCompress"),
    ],
    handler: milliseconds,
};

/// A server's tool has one name made of both with single underscores; only `mcp_context` shows where it splits.
fn read(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    let event = parse::common(context, fields)?;
    let Some(mcp) = fields.object(&["mcp_context"])? else { return Ok(event) };
    let tool = Tool { server: Some(mcp.need_text(&["server_name"])?), name: mcp.need_text(&["tool_name"])? };
    let input = fields.object(&["tool_input"])?.unwrap_or_default();
    let action = context.action(tool, input, None)?;
    Ok(match event {
        EventKind::PostTool(_, outcome) => EventKind::PostTool(action, outcome),
        EventKind::PreTool(_) => EventKind::PreTool(action),
        other => other,
    })
}
