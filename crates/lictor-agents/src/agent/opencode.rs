//! OpenCode. It runs plugins, not processes; Lictor's plugin sends each call as `{hook, cwd, input, output}` and
//! obeys the answer. The envelope and the reply format are Lictor's own.

use serde_json::Value;

use crate::contract::{BlockForm, Moment, Row, TellForm};
use crate::event::{EventKind, Outcome, SessionSource, Stop};
use crate::files::{At, GoverningFile, HomeDir, mac, machine, named_by, project};
use crate::input::{Fields, Unreadable, missing};
use crate::install::Scope;
use crate::install::layout::{Form, SOON};
use crate::install::servers::{self, ServerFile};
use crate::launch::{Launch, Unchecked};
use crate::outcome;
use crate::parse::Context;
use crate::spec::AgentSpec;
use crate::tools::{Shape, Tool, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    read,
    event_name,
    session,
    tells_exit_codes: true,
    files: FILES,
    servers: &[
        ServerFile::project("opencode.json", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::project("opencode.jsonc", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::project(".opencode/opencode.json", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::project(".opencode/opencode.jsonc", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::home(OPENCODE, "opencode.json", "mcp").shaped(servers::Shape::CommandList),
        ServerFile::home(OPENCODE, "opencode.jsonc", "mcp").shaped(servers::Shape::CommandList),
    ],
    traces: &[(At::Home(OPENCODE), ""), (At::Project, ".opencode"), (At::Project, "opencode.json")],
    directory: Some(".opencode"),
    state: &[".local/share/opencode", ".local/state/opencode"],
    launch: Some(Launch {
        programs: &["opencode"],
        packages: &["opencode-ai"],
        unchecked: &[
            Unchecked::Option("dangerously-skip-permissions"),
            Unchecked::Option("yolo"),
            Unchecked::Option("pure"),
        ],
        ..Launch::NONE
    }),
    advice: &[
        "`opencode --pure` runs without plugins, and so without Lictor; plugins of the machine it does not read",
    ],
    ..AgentSpec::like_claude("opencode", EVENTS, TOOLS)
};

const OPENCODE: HomeDir = HomeDir::at(".config/opencode").moved_by(&[("XDG_CONFIG_HOME", "opencode")]);
pub(super) const PLUGIN: Form = Form::Plugin(
    concat!(
        "// Lictor for OpenCode and its like: asks the `lictor` binary about every tool call. Written by `lictor init`; do not edit.\n",
        include_str!("plugin.js"),
        include_str!("opencode.js")
    ),
    SOON,
);

/// The files of an agent of this family, by its name, the directory of its configuration and its variables. The
/// agent's own files come last.
macro_rules! family_files {
    ($name:literal, $home:expr, $config:literal, $directory:literal $(, $more:expr)*) => {
        &[
            $home.file("plugins/lictor.js").installs($crate::agent::opencode::PLUGIN),
            $home.file("plugins"),
            $home.file("plugin"),
            $home.file(concat!($name, ".json")),
            $home.file(concat!($name, ".jsonc")),
            $home.file("config.json"),
            HomeDir::at(concat!(".", $name)).file("plugins"),
            HomeDir::at(concat!(".", $name)).file("plugin"),
            HomeDir::at(concat!(".", $name)).file(concat!($name, ".json")),
            HomeDir::at(concat!(".", $name)).file(concat!($name, ".jsonc")),
            named_by(Scope::User, $config, ""),
            named_by(Scope::User, $directory, "plugins"),
            named_by(Scope::User, $directory, "plugin"),
            named_by(Scope::User, $directory, concat!($name, ".json")),
            named_by(Scope::User, $directory, concat!($name, ".jsonc")),
            project(concat!(".", $name, "/plugins/lictor.js")).installs($crate::agent::opencode::PLUGIN),
            project(concat!(".", $name, "/plugins")),
            project(concat!(".", $name, "/plugin")),
            project(concat!(".", $name, "/", $name, ".json")),
            project(concat!(".", $name, "/", $name, ".jsonc")),
            project(concat!($name, ".json")),
            project(concat!($name, ".jsonc")),
            machine(concat!("/etc/", $name)),
            mac(concat!("/Library/Application Support/", $name)),
            $($more),*
        ]
    };
}
pub(super) use family_files;

const FILES: &[GoverningFile] = family_files!("opencode", OPENCODE, "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR");

pub(super) const BLOCK: BlockForm = BlockForm::Decision("block");

pub(super) const EVENTS: &[Row] = &[
    Row::new("tool.execute.before", Moment::PreTool).blocks(BLOCK),
    Row::new("tool.execute.after", Moment::PostTool).tells(TellForm::TopAdditionalContext),
    Row::new("chat.message", Moment::Prompt),
    // The plugin sends the reason as the next prompt.
    Row::new("session.idle", Moment::Stop).blocks(BLOCK),
    Row::new("session.created", Moment::SessionStart),
    Row::new("session.deleted", Moment::SessionEnd),
    Row::new("session.compacted", Moment::Compaction),
    Row::new("permission.ask", Moment::Other),
    Row::new("command.execute.before", Moment::Other),
    Row::new("shell.env", Moment::Other),
    Row::new("event", Moment::Other),
];

pub(super) const TOOLS: &[ToolRow] = &[
    ("bash", Shape::Shell),
    ("shell", Shape::Shell),
    ("read", Shape::Read),
    ("list", Shape::Search),
    ("grep", Shape::Search),
    ("glob", Shape::Glob),
    ("write", Shape::Write),
    ("edit", Shape::Edit),
    ("multiedit", Shape::Edit),
    ("apply_patch", Shape::Patch),
    ("patch", Shape::Patch),
    ("webfetch", Shape::Fetch),
    ("websearch", Shape::WebSearch),
    ("task", Shape::Delegate),
    ("todowrite", Shape::Todo),
];

/// Events of the bus all come under one hook.
pub(super) fn event_name(fields: &Fields) -> Result<Option<&str>, Unreadable> {
    let bus = fields.0.get("event").and_then(|event| event.get("type")).and_then(Value::as_str);
    match bus.filter(|kind| SPEC.row(kind).is_some()) {
        Some(kind) => Ok(Some(kind)),
        None => fields.text(&["hook"]),
    }
}

pub(super) fn session(fields: &Fields) -> Result<Option<&str>, Unreadable> {
    let input = fields.0.get("input");
    let properties = fields.0.get("event").and_then(|event| event.get("properties"));
    let id = [input, properties].into_iter().flatten().find_map(|place| place.get("sessionID"));
    // A session that another one started is something that happens in that one.
    let info = || properties.and_then(|properties| properties.get("info"));
    match id.or_else(|| info()?.get("parentID")).or_else(|| info()?.get("id")) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id)),
        Some(_) => Err(Unreadable::WrongType("sessionID", "text")),
    }
}

pub(super) fn read(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    let input = fields.object(&["input"])?.unwrap_or_default();
    let output = fields.object(&["output"])?.unwrap_or_default();
    let call = |args: Option<Fields>| {
        let tool = Tool { name: input.need_text(&["tool"])?, server: None };
        context.action(tool, args.ok_or_else(|| missing(&["args"]))?, input.text(&["callID"])?)
    };
    Ok(match context.slot.moment() {
        Moment::PreTool => EventKind::PreTool(call(output.object(&["args"])?)?),
        Moment::PostTool => {
            let action = call(input.object(&["args"])?)?;
            let result = Value::Object(output.0.clone());
            let status = outcome::status(context.spec, &result, &action);
            EventKind::PostTool(action, Outcome { status, output: result })
        }
        Moment::Prompt => EventKind::Prompt { text: said(&output), files: Vec::new() },
        Moment::Stop => EventKind::Stop(Stop::default()),
        Moment::SessionStart => started(context, fields)?,
        Moment::SessionEnd => EventKind::SessionEnd(String::new()),
        Moment::Compaction => EventKind::Compaction,
        _ => EventKind::Other,
    })
}

fn started(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    let info = fields.0.get("event").and_then(|event| event.pointer("/properties/info"));
    let text = |name: &str| info.and_then(|info| info.get(name)?.as_str());
    match (text("parentID"), text("id")) {
        (Some(_), Some(child)) => {
            Ok(EventKind::SubagentStart { child: context.key(child)?, agent_type: None })
        }
        _ => Ok(EventKind::SessionStart(SessionSource::Startup)),
    }
}

fn said(output: &Fields) -> String {
    let parts = output.0.get("parts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    texts.join("\n")
}
