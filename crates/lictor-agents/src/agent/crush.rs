//! Crush: one event before a tool call, in `crush.json`, with exit code 2 or `deny` in JSON to stop it. Calls of
//! subagents reach no hook. Written from its documentation; the program was not run.

use crate::contract::{BlockForm, Moment, Row};
use crate::files::{At, GoverningFile, HomeDir, named_by, project};
use crate::install::Scope;
use crate::install::json::Json;
use crate::install::layout::{Entry, Form, Layout, every};
use crate::install::servers::ServerFile;
use crate::launch::{Launch, Unchecked};
use crate::spec::AgentSpec;
use crate::tools::{Shape, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    event_name: |fields| fields.text(&["event"]),
    // It lets a call through when it has waited long enough.
    leaks: true,
    delegates_unseen: true,
    files: FILES,
    servers: &[
        ServerFile::project("crush.json", "mcp"),
        ServerFile::project(".crush.json", "mcp"),
        ServerFile::home(CRUSH, "crush.json", "mcp"),
    ],
    traces: &[
        (At::Home(CRUSH), ""),
        (At::Project, ".crush"),
        (At::Project, "crush.json"),
        (At::Project, ".crush.json"),
    ],
    directory: Some(".crush"),
    state: &[".local/share/crush"],
    launch: Some(Launch {
        programs: &["crush"],
        packages: &["@charmland/crush"],
        unchecked: &[Unchecked::Option("yolo"), Unchecked::Option("y")],
        ..Launch::NONE
    }),
    advice: &[
        "written after its documents: Lictor has not been run in it",
        "its hooks do not see what subagents do: Lictor asks about `agent` and `agentic_fetch`",
        "it has no event after a call and none when it stops: no feedback, no completion",
    ],
    ..AgentSpec::like_claude("crush", EVENTS, TOOLS)
};

const HOOKS: Form = Form::Json(&LAYOUT);
const CRUSH: HomeDir =
    HomeDir::at(".config/crush").moved_by(&[("XDG_CONFIG_HOME", "crush"), ("CRUSH_GLOBAL_CONFIG", "")]);
/// Its own files are among those of other programs.
const HOME: HomeDir = HomeDir::at("");

const FILES: &[GoverningFile] = &[
    CRUSH.file("crush.json").installs(HOOKS),
    HOME.file(".local/share/crush/crush.json").holds(HOOKS).keeps_state(),
    named_by(Scope::User, "XDG_DATA_HOME", "crush/crush.json").holds(HOOKS),
    named_by(Scope::User, "CRUSH_GLOBAL_DATA", "crush.json").holds(HOOKS),
    project(".crush.json").installs_if_there(HOOKS),
    project("crush.json").installs(HOOKS),
    project(".crush/crush.json").holds(HOOKS),
];

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool)
        .also(&["pretooluse", "pre_tool_use", "PRETOOLUSE", "PRE_TOOL_USE"])
        .blocks(BlockForm::Decision("deny")),
    Row::new("PreCompact", Moment::Compaction),
];

const TOOLS: &[ToolRow] = &[
    ("bash", Shape::Shell),
    ("view", Shape::Read),
    ("ls", Shape::Search),
    ("grep", Shape::Search),
    ("glob", Shape::Glob),
    ("write", Shape::Write),
    ("edit", Shape::Edit),
    ("multiedit", Shape::Edit),
    ("fetch", Shape::Fetch),
    ("web_fetch", Shape::Fetch),
    ("web_search", Shape::WebSearch),
    ("agent", Shape::Delegate),
    ("agentic_fetch", Shape::Delegate),
    ("todos", Shape::Todo),
];

static LAYOUT: Layout = Layout {
    root: &["hooks"],
    versioned: false,
    says_fail_closed: false,
    entries: &[every("PreToolUse").flat().patient(), every("PreCompact").flat()],
    handler,
};

fn handler(entry: &Entry, command: &str) -> Json {
    Json::object([
        ("name", Json::text("lictor")),
        ("command", Json::text(command)),
        ("timeout", Json::number(entry.patience)),
    ])
}
