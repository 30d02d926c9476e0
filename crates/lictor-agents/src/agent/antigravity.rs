//! Antigravity CLI. The payload does not name its event, so the hook's command line has to.
//!
//! `ask` is not used: it is overridden by `--dangerously-skip-permissions`, and the hook cannot detect that flag.
//! An answer of `{}` is a refusal, silence is not.

use serde_json::Value;

use crate::contract::{BlockForm, Moment, Row, TellForm};
use crate::event::{EventKind, Stop};
use crate::files::{At, GoverningFile, HomeDir, project};
use crate::input::{Fields, Unreadable, missing};
use crate::install::layout::{Form, LATE, Layout, command_handler, every, tool};
use crate::launch::{Launch, Unchecked};
use crate::outcome;
use crate::parse::{self, Context};
use crate::spec::AgentSpec;
use crate::tools::{Shape, Tool, ToolRow};

pub(super) static SPEC: AgentSpec = AgentSpec {
    read,
    event_name: |_| Ok(None),
    session: |fields| fields.text(&["conversationId"]),
    fails_closed: true,
    files: FILES,
    traces: &[
        (At::Home(GEMINI), "antigravity-cli"),
        (At::Home(GEMINI), "config"),
        (At::Project, ".agents/hooks.json"),
    ],
    directory: Some(".agents"),
    launch: Some(Launch {
        programs: &["agy"],
        packages: &[],
        unchecked: &[Unchecked::Option("dangerously-skip-permissions")],
        ..Launch::NONE
    }),
    advice: &["one bad value in hooks.json drops the whole file without a word: run `lictor doctor`"],
    ..AgentSpec::like_claude("antigravity", EVENTS, TOOLS)
};

const HOOKS: Form = Form::Json(&LAYOUT);
const GEMINI: HomeDir = HomeDir::at(".gemini");

const FILES: &[GoverningFile] = &[
    GEMINI.file("config/hooks.json").installs(HOOKS),
    GEMINI.file("config"),
    GEMINI.file("hooks.json"),
    GEMINI.file("antigravity-cli/hooks.json"),
    GEMINI.file("antigravity-cli/settings.json"),
    project(".agents/hooks.json").installs(HOOKS),
    project(".agent/hooks.json"),
    project("_agents/hooks.json"),
    project("_agent/hooks.json"),
    project(".antigravitycli/hooks.json"),
];

const EVENTS: &[Row] = &[
    Row::new("PreToolUse", Moment::PreTool).blocks(BlockForm::Decision("deny")),
    Row::new("PostToolUse", Moment::PostTool),
    Row::new("Stop", Moment::Stop).blocks(BlockForm::Decision("continue")),
    Row::new("SessionStart", Moment::SessionStart).tells(TellForm::InjectSteps),
    Row::new("PreInvocation", Moment::Other).tells(TellForm::InjectSteps),
    Row::new("PostInvocation", Moment::Other).tells(TellForm::InjectSteps),
];

const TOOLS: &[ToolRow] = &[
    ("run_command", Shape::Shell),
    ("view_file", Shape::Read),
    ("list_dir", Shape::Search),
    ("grep_search", Shape::Search),
    ("find_by_name", Shape::Glob),
    ("write_to_file", Shape::Write),
    ("replace_file_content", Shape::Edit),
    ("multi_replace_file_content", Shape::Edit),
    ("read_url_content", Shape::Fetch),
    ("search_web", Shape::WebSearch),
    ("invoke_subagent", Shape::Delegate),
];

static LAYOUT: Layout = Layout {
    root: &["lictor"],
    versioned: false,
    says_fail_closed: false,
    entries: &[
        tool("PreToolUse"),
        tool("PostToolUse"),
        every("SessionStart").flat(),
        every("Stop").flat().waits(LATE),
    ],
    handler: command_handler,
};

fn read(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    let call = || {
        let call = fields.object(&["toolCall"])?.ok_or_else(|| missing(&["toolCall"]))?;
        let args = call.object(&["args"])?.ok_or_else(|| missing(&["args"]))?;
        let step = fields.0.get("stepIdx").and_then(Value::as_u64).map(|step| step.to_string());
        context.action(Tool::named(call.need_text(&["name"])?), args, step.as_deref())
    };
    Ok(match context.slot.moment() {
        Moment::PreTool => EventKind::PreTool(call()?),
        Moment::PostTool => {
            let action = call()?;
            let outcome = outcome::read(context, fields, &action);
            EventKind::PostTool(action, outcome)
        }
        Moment::Stop => EventKind::Stop(Stop {
            last_message: fields.text(&["finalModelOutput"])?.map(str::to_owned),
            background: match fields.flag(&["fullyIdle"])? {
                Some(false) => vec!["work that the agent says is not finished".to_owned()],
                _ => Vec::new(),
            },
            ..Stop::default()
        }),
        _ => parse::common(context, fields)?,
    })
}
