//! Codex CLI: Claude's format with closed schemas. A field that is not in the schema, an `ask`, an `allow` that
//! changes nothing or an empty reason makes the run fail, and a failed run lets the action through.

use crate::contract::{BlockForm, Moment, Row, TellForm};
use crate::files::{At, GoverningFile, HomeDir, machine, project};
use crate::install::layout::{Form, LATE, Layout, command_handler, every, tool};
use crate::install::servers::{self, ServerFile};
use crate::launch::{Launch, Unchecked};
use crate::spec::AgentSpec;
use crate::tools::{Shape, ToolRow};
use crate::trust::Trust;

pub(super) static SPEC: AgentSpec = AgentSpec {
    trust: Trust::Hashes(At::Home(CODEX), "config.toml", &["app-server"]),
    any_shell: true,
    fails_closed: true,
    // Its `write_stdin`.
    types_unseen: true,
    files: FILES,
    servers: &[
        ServerFile::project(".codex/config.toml", "mcp_servers").shaped(servers::Shape::Toml),
        ServerFile::home(CODEX, "config.toml", "mcp_servers").shaped(servers::Shape::Toml),
    ],
    traces: &[(At::Home(CODEX), ""), (At::Project, ".codex")],
    directory: Some(".codex"),
    launch: Some(Launch {
        programs: &["codex"],
        packages: &["@openai/codex"],
        generators: &[("app-server", "generate-json-schema"), ("app-server", "generate-ts")],
        serves: &[("mcp-server", ""), ("app-server", ""), ("exec-server", "")],
        unchecked: &[
            Unchecked::Option("yolo"),
            Unchecked::Option("dangerously-bypass-approvals-and-sandbox"),
            Unchecked::Option("full-auto"),
            Unchecked::Value("a", &["never"]),
            Unchecked::Value("ask-for-approval", &["never"]),
            Unchecked::Value("s", &["danger-full-access"]),
            Unchecked::Value("sandbox", &["danger-full-access"]),
            Unchecked::Value("disable", &["hooks", "codex_hooks"]),
            Unchecked::ValueContains("c", FREE_CONFIG),
            Unchecked::ValueContains("config", FREE_CONFIG),
        ],
        libraries: &[("codex-sdk", "startThread("), ("codex_sdk", "start_thread(")],
        ..Launch::NONE
    }),
    advice: &[
        "what is typed into a running command is not seen by hooks, so a shell or an interpreter that waits for code is asked about; hosted web search is not seen",
    ],
    ..AgentSpec::like_claude("codex", EVENTS, TOOLS)
};

/// Settings given on the command line.
const FREE_CONFIG: &[&str] = &[
    "approval_policy=never",
    "danger-full-access",
    "disable_hooks=true",
    "hooks=false",
    "hooks={",
    "hooks=[",
    "hooks.",
];

const HOOKS: Form = Form::Json(&LAYOUT);
const CODEX: HomeDir = HomeDir::at(".codex").moved_by(&[("CODEX_HOME", "")]);

const FILES: &[GoverningFile] = &[
    CODEX.file("hooks.json").installs(HOOKS),
    // Hooks may be here too, and only this file records which ones a person has trusted.
    CODEX.file("config.toml").holds(Form::Toml(&LAYOUT)),
    CODEX.file("*.config.toml"),
    CODEX.file("managed_config.toml"),
    CODEX.file("requirements.toml"),
    CODEX.file("rules"),
    CODEX.file("hooks"),
    CODEX.file("plugins"),
    project(".codex/hooks.json").installs(HOOKS),
    project(".codex/config.toml").holds(Form::Toml(&LAYOUT)),
    project(".codex/rules"),
    project(".codex/hooks"),
    machine("/etc/codex/config.toml").installs(Form::Toml(&LAYOUT)),
    machine("/etc/codex"),
];

const DECISION: BlockForm = BlockForm::Decision("block");
const CONTEXT: TellForm = TellForm::AdditionalContext;

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool).blocks(BlockForm::PermissionDecision).tells(CONTEXT),
    Row::new("PermissionRequest", Moment::PermissionRequest).blocks(BlockForm::Behavior),
    Row::new("PostToolUse", Moment::PostTool).blocks(DECISION).tells(CONTEXT),
    Row::new("SessionStart", Moment::SessionStart).tells(CONTEXT),
    Row::new("SessionEnd", Moment::SessionEnd),
    Row::new("UserPromptSubmit", Moment::Prompt).blocks(DECISION).tells(CONTEXT),
    Row::new("Stop", Moment::Stop).blocks(DECISION),
    Row::new("SubagentStop", Moment::SubagentStop).blocks(DECISION),
    Row::new("SubagentStart", Moment::SubagentStart).tells(CONTEXT),
    Row::new("PreCompact", Moment::Compaction),
    Row::new("PostCompact", Moment::Other),
    Row::new("Interrupt", Moment::Other),
];

const TOOLS: &[ToolRow] = &[
    ("Bash", Shape::Shell),
    ("shell", Shape::Argv),
    ("local_shell", Shape::Argv),
    ("exec_command", Shape::Argv),
    ("container.exec", Shape::Argv),
    ("apply_patch", Shape::Patch),
    ("view_image", Shape::Read),
    ("spawn_agent", Shape::Delegate),
    ("update_plan", Shape::Todo),
    ("web_search", Shape::WebSearch),
];

static LAYOUT: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    says_fail_closed: false,
    entries: &[
        tool("PreToolUse").any_tool().patient(),
        tool("PermissionRequest").any_tool(),
        tool("PostToolUse").any_tool(),
        every("UserPromptSubmit"),
        every("SessionStart"),
        every("SessionEnd").waits(3),
        every("Stop").waits(LATE),
        every("SubagentStart"),
        every("SubagentStop").waits(LATE),
        every("PreCompact"),
    ],
    handler: command_handler,
};
