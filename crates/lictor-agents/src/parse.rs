//! Parses bytes into an [`Event`]: the caller, the event, the session and its content.

use lictor_core::action::MAX_SESSION_ID;
use lictor_core::{Action, ActionKind, Actor, SessionKey};
use serde_json::Value;

use crate::agent::Agent;
use crate::caller;
use crate::contract::{self, Moment, Row};
use crate::event::{Event, EventKind, PermissionMode, SessionSource, Stop};
use crate::input::{Fields, Unreadable, missing};
use crate::outcome;
use crate::reply::{Block, HookContext, Reply};
use crate::spec::AgentSpec;
use crate::tools::{self, Tool};

/// The environment of the hook process.
#[derive(Debug, Clone, Default)]
pub struct HookEnv {
    /// The directory that the hook process runs in.
    pub cwd: String,
    variables: Vec<(&'static str, String)>,
}

impl HookEnv {
    /// The environment variables that tell agents and unattended runs apart.
    pub const VARIABLES: [&'static str; 5] =
        ["CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_REMOTE", "CURSOR_CODE_REMOTE", "COPILOT_CLI", "CI"];

    /// Reads the variables through `lookup`.
    #[must_use]
    pub fn new(cwd: impl Into<String>, lookup: impl Fn(&str) -> Option<String>) -> Self {
        let variables =
            Self::VARIABLES.into_iter().filter_map(|name| lookup(name).map(|value| (name, value))).collect();
        Self { cwd: cwd.into(), variables }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Set to something that does not mean no.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !matches!(value, "" | "0" | "false"))
    }
}

/// An event that could not be read. Where it may be one that blocks, the answer has to be a block.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct NotUnderstood {
    /// The destination of the reply.
    pub slot: HookContext,
    /// What is wrong.
    pub why: Unreadable,
}

impl NotUnderstood {
    /// The answer: a block wherever one can stop something, else silence.
    #[must_use]
    pub fn reply(&self) -> Reply {
        if !self.slot.can_block() {
            return Reply::Silence;
        }
        Reply::Block(Block {
            reason: format!("this could not be judged because {}", self.why),
            fix: "ask a person to run `lictor doctor`".to_owned(),
            id: None,
        })
    }
}

/// Reads one event that came to the hook installed for `agent`, with the event's name from the hook's command line.
///
/// # Errors
///
/// Any input that is not an event of the agent's contract. The error knows how to answer.
pub fn parse(agent: Agent, hint: Option<&str>, stdin: &[u8], env: &HookEnv) -> Result<Event, NotUnderstood> {
    let hinted = hint.and_then(|name| agent.spec().row(name));
    let mut slot = HookContext::hinted(agent, hint);
    let fields = Fields::read(stdin).map_err(|why| NotUnderstood { slot, why })?;
    slot.agent = caller::detect(agent, hint, &fields, env);
    if slot.agent != agent {
        // The row has to be one of the real caller's; until its name is read, any that may block will do.
        slot.row = &contract::UNKNOWN;
    }
    let row = which_event(slot.agent.spec(), hint, hinted, &fields);
    slot.row = row.map_err(|why| NotUnderstood { slot, why })?;
    read(&mut slot, &fields, env).map_err(|why| NotUnderstood { slot, why })
}

/// The payload's event name counts; the command line's is for agents that do not send one. If both are present
/// they must agree, or the input is not trusted.
fn which_event(
    spec: &AgentSpec,
    hint: Option<&str>,
    hinted: Option<&'static Row>,
    fields: &Fields,
) -> Result<&'static Row, Unreadable> {
    let unknown = |name: &str| Unreadable::UnknownEvent(name.to_owned());
    let Some(said) = (spec.event_name)(fields)? else {
        let name = hint.ok_or(Unreadable::Missing("hook_event_name"))?;
        return spec.row(name).ok_or_else(|| unknown(name));
    };
    let row = spec.row(said).ok_or_else(|| unknown(said))?;
    match hinted {
        Some(other) if !same_moment(row.moment, other.moment) => {
            Err(Unreadable::Mismatch(said.to_owned(), other.name.to_owned()))
        }
        _ => Ok(row),
    }
}

fn same_moment(a: Moment, b: Moment) -> bool {
    let stops = [Moment::Stop, Moment::SubagentStop];
    a == b || (stops.contains(&a) && stops.contains(&b))
}

fn read(slot: &mut HookContext, fields: &Fields, env: &HookEnv) -> Result<Event, Unreadable> {
    let spec = slot.agent.spec();
    let permission_mode = fields.text(MODE)?.map(PermissionMode::from_name);
    slot.person = (spec.person_present)(permission_mode.as_ref(), env);
    let context = Context::read(slot, spec, fields, env)?;
    let kind = (spec.read)(&context, fields)?;
    Ok(Event {
        slot: *slot,
        session: context.session,
        parent_session: context.parent_session,
        actor: context.actor,
        cwd: context.cwd,
        transcript: fields.text(&["transcript_path", "transcriptPath"])?.map(str::to_owned),
        permission_mode,
        kind,
    })
}

const MODE: &[&str] = &["permission_mode", "permissionMode"];
const AGENT_ID: &[&str] = &["agent_id", "agentId"];
const AGENT_TYPE: &[&str] = &["agent_type", "agentType"];
const AGENT_NAME: &[&str] = &["agent_name", "agentName"];
const ROOTS: &[&str] = &["workspace_roots", "workspacePaths"];
const TOOL_NAME: &[&str] = &["tool_name", "toolName"];
const TOOL_INPUT: &[&str] = &["tool_input", "toolInput", "toolArgs"];
const TOOL_USE_ID: &[&str] = &["tool_use_id", "toolUseId"];

/// What every event of a session shares.
pub(crate) struct Context<'a> {
    pub(crate) slot: &'a HookContext,
    pub(crate) spec: &'static AgentSpec,
    pub(crate) session: Option<SessionKey>,
    pub(crate) parent_session: Option<SessionKey>,
    pub(crate) actor: Actor,
    pub(crate) cwd: String,
}

impl<'a> Context<'a> {
    fn read(
        slot: &'a HookContext,
        spec: &'static AgentSpec,
        fields: &Fields,
        env: &HookEnv,
    ) -> Result<Self, Unreadable> {
        let roots = fields.texts(ROOTS)?.unwrap_or_default();
        let cwd = fields.text(&["cwd", "working_dir"])?.filter(|cwd| !cwd.is_empty()).map(str::to_owned);
        let cwd = cwd.or_else(|| roots.into_iter().next()).unwrap_or_else(|| env.cwd.clone());
        let root = (spec.session)(fields)?.filter(|id| !id.is_empty());
        let subagent = fields.text(AGENT_ID)?.filter(|id| !id.is_empty());
        let agent_type = fields.text(AGENT_TYPE)?.filter(|name| !name.is_empty());
        let mut context = Self {
            slot,
            spec,
            session: None,
            parent_session: None,
            actor: Actor { agent: slot.agent.name().to_owned(), ..Actor::default() },
            cwd,
        };
        // Starting a subagent is something that the parent does.
        let inside = subagent.filter(|_| slot.row.moment != Moment::SubagentStart);
        if let Some(root) = root {
            let root_key = context.key(root)?;
            match inside {
                Some(id) => {
                    context.session = Some(context.child_key(root, id)?);
                    context.parent_session = Some(root_key);
                }
                None => context.session = Some(root_key),
            }
        }
        context.actor.chain = match (inside, agent_type) {
            (Some(id), name) => vec![slot.agent.name().to_owned(), name.unwrap_or(id).to_owned()],
            (None, Some(name)) if slot.row.moment != Moment::SubagentStart => vec![name.to_owned()],
            _ => Vec::new(),
        };
        Ok(context)
    }

    pub(crate) fn key(&self, id: &str) -> Result<SessionKey, Unreadable> {
        if id.len() > MAX_SESSION_ID {
            return Err(Unreadable::LongSessionId);
        }
        Ok(SessionKey { agent: self.actor.agent.clone(), id: id.to_owned() })
    }

    /// Subagents share their root's session id, so theirs combines both.
    pub(crate) fn child_key(&self, root: &str, id: &str) -> Result<SessionKey, Unreadable> {
        self.key(&format!("{root}/{id}"))
    }

    /// The tool call, with everything around it filled in.
    pub(crate) fn action(
        &self,
        tool: Tool<'_>,
        input: Fields,
        id: Option<&str>,
    ) -> Result<Action, Unreadable> {
        if !input.is_exact() {
            return Err(Unreadable::Inexact);
        }
        let (kind, payload) = tools::translate(self.spec.tools, tool, input)?;
        let mut action = Action::new(kind, payload);
        action.tool = tool.full_name();
        action.session = self.session.clone();
        action.parent_session = self.parent_session.clone();
        action.tool_use_id = id.map(str::to_owned);
        action.actor = self.actor.clone();
        // A command may have another directory than the session.
        let elsewhere = match action.kind {
            ActionKind::Bash => action.payload.remove("cwd"),
            _ => None,
        };
        action.cwd = match elsewhere.as_ref().and_then(Value::as_str) {
            None | Some("") => self.cwd.clone(),
            Some(directory) if tools::is_rooted(directory) || self.cwd.is_empty() => directory.to_owned(),
            Some(directory) => format!("{}/{directory}", self.cwd),
        };
        Ok(action)
    }
}

/// The shape that Claude Code began and most agents follow.
pub(crate) fn common(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    Ok(match context.slot.row.moment {
        Moment::PreTool => EventKind::PreTool(tool_call(context, fields)?),
        Moment::PermissionRequest => EventKind::PermissionRequest(tool_call(context, fields)?),
        Moment::PostTool => {
            let action = tool_call(context, fields)?;
            let outcome = outcome::read(context, fields, &action);
            EventKind::PostTool(action, outcome)
        }
        Moment::SessionStart => {
            EventKind::SessionStart(SessionSource::from_name(fields.text(&["source"])?.unwrap_or("")))
        }
        Moment::SessionEnd => EventKind::SessionEnd(fields.text(&["reason"])?.unwrap_or("").to_owned()),
        Moment::Prompt => {
            EventKind::Prompt { text: fields.need_text(&["prompt"])?.to_owned(), files: Vec::new() }
        }
        Moment::Stop | Moment::SubagentStop => EventKind::Stop(stop(context, fields)?),
        Moment::SubagentStart => subagent_start(context, fields)?,
        Moment::Compaction => EventKind::Compaction,
        Moment::Other | Moment::Unknown => EventKind::Other,
    })
}

fn tool_call(context: &Context<'_>, fields: &Fields) -> Result<Action, Unreadable> {
    let input = fields.object(TOOL_INPUT)?.ok_or_else(|| missing(TOOL_INPUT))?;
    named_call(context, fields, input)
}

/// The tool call of fields that name the tool, with an input that was read elsewhere.
pub(crate) fn named_call(
    context: &Context<'_>,
    fields: &Fields,
    input: Fields,
) -> Result<Action, Unreadable> {
    context.action(Tool::named(fields.need_text(TOOL_NAME)?), input, fields.text(TOOL_USE_ID)?)
}

fn stop(context: &Context<'_>, fields: &Fields) -> Result<Stop, Unreadable> {
    const LAST: &[&str] = &["last_assistant_message", "prompt_response", "response"];
    Ok(Stop {
        subagent: context.slot.row.moment == Moment::SubagentStop,
        hook_active: fields.flag(&["stop_hook_active", "stopHookActive"])?.unwrap_or(false),
        last_message: fields.text(LAST)?.map(str::to_owned),
        background: background(fields),
        aborted: false,
    })
}

/// Reported background work, one line each. Its format is not specified, so nothing here is an error.
fn background(fields: &Fields) -> Vec<String> {
    let Some(tasks) = fields.0.get("background_tasks").and_then(Value::as_array) else { return Vec::new() };
    let text = |task: &Value, name: &str| task.get(name).and_then(Value::as_str).map(str::to_owned);
    tasks
        .iter()
        .filter(|task| !matches!(text(task, "status").as_deref(), Some("completed" | "failed" | "killed")))
        .map(|task| text(task, "description").or_else(|| text(task, "id")).unwrap_or_default())
        .collect()
}

fn subagent_start(context: &Context<'_>, fields: &Fields) -> Result<EventKind, Unreadable> {
    let root = context.session.as_ref().ok_or(Unreadable::Missing("session_id"))?;
    let agent_type = fields.text(AGENT_TYPE)?.or(fields.text(AGENT_NAME)?).map(str::to_owned);
    let id = fields.text(AGENT_ID)?.or(agent_type.as_deref()).ok_or_else(|| missing(AGENT_ID))?;
    Ok(EventKind::SubagentStart { child: context.child_key(&root.id, id)?, agent_type })
}
