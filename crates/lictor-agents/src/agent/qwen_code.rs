//! Qwen Code: Claude's hook format with Gemini CLI's tools. Exit code 2 stops in every version; a refusal in JSON
//! is read only with exit code 0, and then the model reads only the reason.

use crate::contract::{AskForm, BlockForm, Moment, Row, TellForm};
use crate::event::{EventKind, PermissionMode};
use crate::files::{At, GoverningFile, HomeDir, mac, machine, named_by, project};
use crate::input::{Fields, Unreadable};
use crate::install::Scope;
use crate::install::layout::{Form, LATE, Layout, every, milliseconds, tool};
use crate::install::servers::ServerFile;
use crate::launch::{Launch, Unchecked};
use crate::parse::{self, Context};
use crate::spec::AgentSpec;
use crate::tools::{Shape, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    read,
    post_means_success: true,
    fails_closed: true,
    // It times out after a minute, whatever its settings, and then lets the call proceed.
    leaks: true,
    person_present: |mode, env| {
        matches!(mode, Some(PermissionMode::Default | PermissionMode::Plan)) && !env.is_set("CI")
    },
    files: FILES,
    servers: &[
        ServerFile::project(".qwen/settings.json", "mcpServers"),
        ServerFile::home(QWEN, "settings.json", "mcpServers"),
    ],
    traces: &[(At::Home(QWEN), ""), (At::Project, ".qwen")],
    directory: Some(".qwen"),
    launch: Some(Launch {
        programs: &["qwen"],
        packages: &["@qwen-code/qwen-code"],
        unchecked: &[
            Unchecked::Option("y"),
            Unchecked::Option("yolo"),
            Unchecked::Value("approval-mode", &["yolo", "auto-edit", "auto_edit", "auto"]),
        ],
        ..Launch::NONE
    }),
    advice: &[
        "where `security.folderTrust.enabled` is set, trust the folder: until then no hook of the project runs",
    ],
    ..AgentSpec::like_claude("qwen-code", EVENTS, TOOLS)
};

const HOOKS: Form = Form::Json(&LAYOUT);
const QWEN: HomeDir = HomeDir::at(".qwen").moved_by(&[("QWEN_HOME", "")]);

const FILES: &[GoverningFile] = &[
    QWEN.file("settings.json").installs(HOOKS),
    QWEN.file("trustedFolders.json"),
    QWEN.file("extensions"),
    QWEN.file("hooks"),
    QWEN.file(".env"),
    named_by(Scope::User, "QWEN_CODE_TRUSTED_FOLDERS_PATH", ""),
    project(".qwen/settings.json").installs(HOOKS),
    project(".qwen/settings.local.json").holds(HOOKS),
    project(".qwen/extensions"),
    project(".qwen/hooks"),
    project(".qwen/.env"),
    named_by(Scope::Managed, "QWEN_CODE_SYSTEM_SETTINGS_PATH", ""),
    named_by(Scope::Managed, "QWEN_CODE_SYSTEM_DEFAULTS_PATH", ""),
    machine("/etc/qwen-code/settings.json").installs(HOOKS),
    machine("/etc/qwen-code"),
    mac("/Library/Application Support/QwenCode/settings.json").installs(HOOKS),
    mac("/Library/Application Support/QwenCode"),
];

const DECISION: BlockForm = BlockForm::Decision("block");
const CONTEXT: TellForm = TellForm::AdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool)
        .blocks(BlockForm::PermissionDecision)
        .asks(AskForm::PermissionDecision)
        .tells(CONTEXT),
    Row::new("PermissionRequest", Moment::PermissionRequest).blocks(BlockForm::Behavior),
    Row::new("PostToolUse", Moment::PostTool).blocks(DECISION).tells(CONTEXT),
    Row::new("PostToolUseFailure", Moment::PostTool).tells(CONTEXT),
    Row::new("UserPromptSubmit", Moment::Prompt).blocks(DECISION).tells(CONTEXT),
    Row::new("SessionStart", Moment::SessionStart).tells(CONTEXT),
    Row::new("SessionEnd", Moment::SessionEnd),
    Row::new("Stop", Moment::Stop).blocks(DECISION),
    Row::new("SubagentStart", Moment::SubagentStart).tells(CONTEXT),
    Row::new("SubagentStop", Moment::SubagentStop).blocks(DECISION),
    Row::new("PreCompact", Moment::Compaction),
    Row::new("PostCompact", Moment::Other),
    Row::new("Notification", Moment::Other),
    Row::new("PermissionDenied", Moment::Other),
    Row::new("StopFailure", Moment::Other),
    Row::new("SessionDelete", Moment::Other),
    Row::new("MessageDisplay", Moment::Other),
    Row::new("TodoCreated", Moment::Other),
    Row::new("TodoCompleted", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("run_shell_command", Shape::Shell),
    ("monitor", Shape::Monitor),
    ("read_file", Shape::Read),
    ("read_many_files", Shape::ReadMany),
    ("list_directory", Shape::Search),
    ("glob", Shape::Glob),
    ("grep_search", Shape::Search),
    ("write_file", Shape::Write),
    ("edit", Shape::Edit),
    ("notebook_edit", Shape::Notebook),
    ("web_fetch", Shape::Fetch),
    ("web_search", Shape::WebSearch),
    ("agent", Shape::Delegate),
    ("task", Shape::Delegate),
    ("todo_write", Shape::Todo),
];

static LAYOUT: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    says_fail_closed: false,
    entries: &[
        tool("PreToolUse").patient(),
        tool("PostToolUse"),
        tool("PostToolUseFailure"),
        every("UserPromptSubmit"),
        every("SessionStart"),
        every("SessionEnd").waits(10),
        every("Stop").waits(LATE),
        every("SubagentStart"),
        every("SubagentStop").waits(LATE),
        every("PreCompact"),
    ],
    // Seconds in newer versions, where numbers as large as these are still milliseconds.
    handler: milliseconds,
};

/// Its prompt event comes before every model request. Only a submitted prompt is a person's; the others continue
/// it.
fn read(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    let goes_on = fields.has("prompt_id") && !fields.has("submitted_prompt");
    if context.slot.row.moment == Moment::Prompt && goes_on {
        return Ok(EventKind::Other);
    }
    parse::common(context, fields)
}
