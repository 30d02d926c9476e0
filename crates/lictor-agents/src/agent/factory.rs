//! Factory's Droid: Claude's format. Its JSON answers are known from third parties only; exit code 2 is
//! documented.

use crate::contract::{BlockForm, Moment, Row, TellForm};
use crate::files::{At, GoverningFile, HomeDir, project};
use crate::install::layout::{Entry, Form, LATE, Layout, command_handler, every, tool};
use crate::install::servers::ServerFile;
use crate::launch::{Launch, Unchecked};
use crate::spec::AgentSpec;
use crate::tools::{Shape, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    files: FILES,
    servers: &[
        ServerFile::project(".factory/mcp.json", "mcpServers"),
        ServerFile::home(FACTORY, "mcp.json", "mcpServers"),
    ],
    traces: &[(At::Home(FACTORY), ""), (At::Project, ".factory")],
    directory: Some(".factory"),
    launch: Some(Launch {
        programs: &["droid"],
        packages: &["droid", "@factory/cli"],
        unchecked: &[Unchecked::Option("skip-permissions-unsafe"), Unchecked::Value("auto", &["high"])],
        ..Launch::NONE
    }),
    advice: &["an organisation's hook policy may switch other hooks off: run `lictor doctor`"],
    ..AgentSpec::like_claude("factory", EVENTS, TOOLS)
};

const FACTORY: HomeDir = HomeDir::at(".factory").moved_by(&[("FACTORY_HOME_OVERRIDE", ".factory")]);

// Where there is a `hooks.json`, the hooks in `settings.json` do not count; where there is none, the settings are the
// only file that `droid exec` is known to obey.
const FILES: &[GoverningFile] = &[
    FACTORY.file("hooks.json").installs_if_there(Form::Json(&OWN_FILE)),
    FACTORY.file("settings.json").installs(Form::Json(&IN_SETTINGS)),
    FACTORY.file("settings.local.json"),
    FACTORY.file("hooks"),
    FACTORY.file("plugins"),
    FACTORY.file("mcp.json").lists_servers(),
    project(".factory/hooks.json").installs_if_there(Form::Json(&OWN_FILE)),
    project(".factory/settings.json").installs(Form::Json(&IN_SETTINGS)),
    project(".factory/settings.local.json"),
    project(".factory/hooks"),
    project(".factory/mcp.json").lists_servers(),
];

const CONTEXT: TellForm = TellForm::AdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool).blocks(BlockForm::ExitTwo),
    Row::new("PostToolUse", Moment::PostTool).blocks(BlockForm::ExitTwo).tells(CONTEXT),
    Row::new("UserPromptSubmit", Moment::Prompt).blocks(BlockForm::ExitTwo).tells(CONTEXT),
    Row::new("Stop", Moment::Stop).blocks(BlockForm::ExitTwo),
    Row::new("SubagentStop", Moment::SubagentStop).blocks(BlockForm::ExitTwo),
    Row::new("SessionStart", Moment::SessionStart).tells(CONTEXT),
    Row::new("SessionEnd", Moment::SessionEnd),
    Row::new("PreCompact", Moment::Compaction),
    Row::new("Notification", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("Execute", Shape::Shell),
    ("Read", Shape::Read),
    ("LS", Shape::Search),
    ("Glob", Shape::Glob),
    ("Grep", Shape::Search),
    ("Create", Shape::Write),
    ("Edit", Shape::Edit),
    ("MultiEdit", Shape::Edit),
    ("ApplyPatch", Shape::Patch),
    ("FetchUrl", Shape::Fetch),
    ("WebSearch", Shape::WebSearch),
    ("Task", Shape::Delegate),
    ("TodoWrite", Shape::Todo),
];

const ENTRIES: &[Entry] = &[
    tool("PreToolUse"),
    tool("PostToolUse"),
    every("UserPromptSubmit"),
    every("SessionStart"),
    every("SessionEnd").waits(10),
    every("Stop").waits(LATE),
    every("SubagentStop").waits(LATE),
    every("PreCompact"),
];

static IN_SETTINGS: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    says_fail_closed: false,
    entries: ENTRIES,
    handler: command_handler,
};

/// In `hooks.json` the events are at the top level.
static OWN_FILE: Layout = Layout {
    root: &[],
    versioned: false,
    says_fail_closed: false,
    entries: ENTRIES,
    handler: command_handler,
};
