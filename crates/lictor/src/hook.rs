//! Handles a hook: one agent event in, one reply out.
//!
//! Whatever happens here, the reply has a form that the agent obeys, and it is a block unless a policy decided
//! otherwise.

mod after;
mod notify;
mod review;
mod session;
mod stop;
mod wait;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lictor_agents::{
    Agent, Ask, Block, Event, EventKind, HookContext, HookEnv, Moment, Rendered, Reply, parse, render,
};
use lictor_core::tools::UNSUCCESSFUL;
use lictor_core::{Action, ActionKind, Decision, Evaluation, Value, redact};
use lictor_engine::{Asking, Mode, is_of_earlier_version};

use crate::error::Error;
use crate::fault::{self, Reason};
use crate::options::Options;
use crate::runtime::Runtime;
use crate::sandboxed;
use crate::session_home::{self, SessionHome};

/// The default deadline of a hook: agents wait five seconds or more.
pub const SHORT: Duration = Duration::from_millis(4_500);
/// The maximum share of the agent's timeout that is used, in tenths: agents let a call proceed when the hook is
/// late.
pub const SHARE: u32 = 4;

/// The reply to one event, and its destination.
#[derive(Debug, Clone, PartialEq)]
pub struct HookReply {
    /// The agent, the event, and the supported forms of reply.
    pub slot: HookContext,
    /// The answer.
    pub reply: Reply,
}

impl HookReply {
    /// The answer in the form that the agent obeys.
    #[must_use]
    pub fn render(&self) -> Rendered {
        render(&self.slot, &self.reply)
    }
}

/// Whether the event is known to come from an agent that was already kept from stopping once. Shared with the
/// thread that ends the process at the deadline.
#[derive(Debug, Clone, Default)]
pub struct AlreadyRefusedStop(Arc<AtomicBool>);

impl AlreadyRefusedStop {
    fn note(&self, event: &Event) {
        self.0.store(matches!(&event.kind, EventKind::Stop(wish) if wish.hook_active), Ordering::Relaxed);
    }

    fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The reply of a hook process, with the runtime that it opened: a process that exits now need not drop it.
pub struct Answered {
    /// The answer.
    pub rendered: Rendered,
    /// The session's project.
    pub runtime: Option<Runtime>,
}

impl From<Rendered> for Answered {
    fn from(rendered: Rendered) -> Self {
        Self { rendered, runtime: None }
    }
}

/// Handles the event that a hook process got on its standard input.
#[must_use]
pub fn answer(
    agent: Agent,
    hint: Option<&str>,
    input: &[u8],
    refused: &AlreadyRefusedStop,
    options: &Options,
) -> Answered {
    answer_after(agent, hint, input, refused, options, None)
}

/// The same for a process that handles many events: reuses the store and policy of an earlier runtime, if still
/// current.
#[must_use]
pub fn answer_after(
    agent: Agent,
    hint: Option<&str>,
    input: &[u8],
    refused: &AlreadyRefusedStop,
    options: &Options,
    earlier: Option<&Runtime>,
) -> Answered {
    let cwd = options.cwd.to_string_lossy();
    let env = HookEnv::new(cwd, |name| options.environment.text(name));
    let event = match parse(agent, hint, input, &env) {
        Ok(event) => event,
        Err(unclear) => {
            let why = format!("this could not be judged because {unclear}");
            return failed(&unclear.slot, refused, why, options).into();
        }
    };
    refused.note(&event);
    match judged(&event, options, Known::Earlier(earlier)) {
        Ok((reply, runtime)) => Answered { rendered: reply.render(), runtime: Some(runtime) },
        Err(error) => {
            let policy = is_refused_policy(&error);
            failed_by(&event.slot, refused, fault::note(&event.slot, error.chain(), options), policy).into()
        }
    }
}

/// The reply when Lictor itself fails: a block in the form that the event's hook obeys. Details are for the
/// person, in `lictor doctor` and `lictor explain`; the agent gets a sentence and the id. An agent that wants to
/// stop is refused once and then released: it cannot fix the fault itself.
pub fn failed(
    slot: &HookContext,
    refused: &AlreadyRefusedStop,
    fault: impl Into<Reason>,
    options: &Options,
) -> Rendered {
    answer_to_fault(slot, refused, fault::note(slot, fault, options))
}

/// The answer to a fault of that id.
#[must_use]
pub fn answer_to_fault(slot: &HookContext, refused: &AlreadyRefusedStop, id: String) -> Rendered {
    failed_by(slot, refused, id, false)
}

/// The same, and whether a policy file is to blame.
fn failed_by(slot: &HookContext, refused: &AlreadyRefusedStop, id: String, policy: bool) -> Rendered {
    if refused.is_known() {
        return Rendered::default();
    }
    render(slot, &Reply::Block(unjudged(slot, id, policy)))
}

/// Whether the error is in a policy file: its location is shown to the person only.
fn is_refused_policy(error: &Error) -> bool {
    matches!(error, Error::Policy(_))
}

impl Runtime {
    /// Handles one event of an agent, as a hook does. The event may belong to a session of another project, or
    /// come from a directory with its own policy; both policies apply.
    #[must_use]
    pub fn handle(&self, event: &Event) -> HookReply {
        let options = self.project().options();
        match judged(event, options, Known::This(self)) {
            Ok((reply, _)) => reply,
            Err(error) => {
                let refused = AlreadyRefusedStop::default();
                refused.note(event);
                let id = fault::note(&event.slot, error.chain(), options);
                let reply = if refused.is_known() {
                    Reply::Silence
                } else {
                    Reply::Block(unjudged(&event.slot, id, is_refused_policy(&error)))
                };
                HookReply { slot: event.slot, reply }
            }
        }
    }
}

/// A runtime that exists before the event.
enum Known<'a> {
    /// Its policy applies to its project, even if the files have changed.
    This(&'a Runtime),
    /// Its store and policy are reused, if still current.
    Earlier(Option<&'a Runtime>),
}

/// The reply of the session's own policy, after that of the agent's current directory.
fn judged(event: &Event, options: &Options, known: Known<'_>) -> Result<(HookReply, Runtime), Error> {
    let SessionHome { home, elsewhere } = SessionHome::of(event, options)?;
    let objection = match (elsewhere, &event.kind) {
        (Some(there), EventKind::PreTool(action)) => objected_by(&Runtime::visited(there)?, action),
        _ => None,
    };
    if matches!(event.kind, EventKind::SessionEnd(_)) {
        session_home::forget_old(&home);
    }
    let runtime = match known {
        Known::This(known) if known.project().root == home.root => known.clone(),
        Known::This(_) => Runtime::of_project(home)?,
        Known::Earlier(earlier) => Runtime::of_project_after(home, earlier)?,
    };
    let mut slot = event.slot;
    if let Some(reply @ Reply::Block(_)) = objection {
        return Ok((HookReply { slot, reply }, runtime));
    }
    if runtime.policy().ask_when_unattended() == Decision::Ask {
        slot = slot.attended();
    }
    let own = reply(&runtime, event, slot);
    let reply = match own {
        Reply::Silence | Reply::Tell(_) => objection.unwrap_or(own),
        stricter => stricter,
    };
    Ok((HookReply { slot, reply }, runtime))
}

/// The message for an agent about an internal fault.
fn unjudged(slot: &HookContext, id: String, policy: bool) -> Block {
    let reason = match slot.moment() {
        Moment::Stop | Moment::SubagentStop => "whether the work is done could not be judged",
        _ => "this could not be judged, so it was not done",
    };
    Block {
        reason: reason.to_owned(),
        fix: if policy {
            "tell the person you work for: a policy file is not accepted; `lictor check` shows the file and the line"
        } else {
            "go on with something else, and tell the person you work for: `lictor doctor` shows what is wrong"
        }
        .to_owned(),
        id: Some(id),
    }
}

/// The objection of another project's policy to an action. Its counters are not this session's, and an approval
/// counts only if the agent itself asks the person.
fn objected_by(there: &Runtime, action: &Action) -> Option<Reply> {
    let observe = there.policy().is_observing();
    let evaluation = there.evaluate_with(action, Mode { dry: true, observe, ..Mode::default() });
    if observe || evaluation.decision < Decision::Ask {
        return None;
    }
    let block = Block { id: None, ..refusal_of(&evaluation, action) };
    if evaluation.decision == Decision::Block {
        return Some(Reply::Block(block));
    }
    let root = there.project().root.display();
    let fix = format!("a person can begin a session in `{root}`, whose policy asks about this");
    let messages =
        pending(&evaluation).iter().map(|said| format!("{said} (the policy of `{root}`)")).collect();
    Some(Reply::Ask(Ask { messages, otherwise: Block { fix, ..block } }))
}

/// The message for the agent about a refusal.
fn refusal_of(evaluation: &Evaluation, action: &Action) -> Block {
    let (mut reason, mut fix) = (evaluation.reason_for_agent(), evaluation.fix_for_agent());
    if let Some(key) = action.session.as_ref().filter(|_| is_only_by_earlier(evaluation)) {
        reason += "\nonly an earlier version of the policy says so, which this session has seen";
        fix = format!("a person can put the current policy in force: `lictor session refresh {}`", key.id);
    }
    Block { reason, fix, id: evaluation.id.map(|id| id.to_string()) }
}

/// The advice when a command must succeed first but the agent never reports success: the agent itself can do
/// nothing.
fn unmeetable(heard: &Heard<'_>, evaluation: &Evaluation) -> Option<String> {
    let agent = heard.slot.agent();
    let mut active = evaluation.active().into_iter().filter(|given| !given.verdict.passed());
    let wants_command = active.any(|given| {
        let named = given.verdict.rule().is_some_and(|rule| rule.starts_with("require_first."));
        named && given.verdict.reason().contains(UNSUCCESSFUL)
    });
    if !wants_command
        || agent.capabilities().exit_codes
        || heard.runtime.policy().counts_unreported(agent.name())
    {
        return None;
    }
    Some(format!(
        "tell the person you work for: {} does not report how commands end, so this can never be met here; `tools: {{unreported: \
         ran}}` in the user's policy lets a command count that has run",
        agent.name()
    ))
}

/// Whether only earlier versions of the policy stop an action, and not the current one.
fn is_only_by_earlier(evaluation: &Evaluation) -> bool {
    let mut stopping = evaluation
        .active()
        .into_iter()
        .filter(|given| !given.verdict.passed() && given.guard() != "approval")
        .map(|given| is_of_earlier_version(given.guard()))
        .peekable();
    stopping.peek().is_some() && stopping.all(|earlier| earlier)
}

fn reply(runtime: &Runtime, event: &Event, slot: HookContext) -> Reply {
    let heard = Heard { runtime, event, slot };
    match &event.kind {
        // Texts about an action are already redacted.
        EventKind::PreTool(action) | EventKind::PermissionRequest(action) => judge(&heard, action),
        EventKind::PostTool(action, outcome) => redacted(runtime, after::call(&heard, action, outcome)),
        EventKind::Stop(wish) => stop::reply(&heard, wish),
        kind => redacted(runtime, session::note(&heard, kind)),
    }
}

/// An event, with the runtime that answers it.
struct Heard<'a> {
    runtime: &'a Runtime,
    event: &'a Event,
    slot: HookContext,
}

impl Heard<'_> {
    /// Logs an internal fault and returns its id.
    fn fault(&self, reason: String) -> String {
        fault::note(&self.slot, reason, self.runtime.project().options())
    }
}

/// Replies are redacted like the record: agents write them into transcripts.
fn redacted(runtime: &Runtime, mut reply: Reply) -> Reply {
    if let Reply::Tell(text) = &mut reply {
        redact::text(text, runtime.redactor());
    }
    reply
}

/// The question about starting another agent, if no hook sees its actions.
fn unseen_delegation(agent: Agent, action: &Action) -> Option<Arc<str>> {
    (action.kind == ActionKind::Delegate && agent.delegates_unseen()).then(|| {
        format!("the hooks of {agent} do not see what the agents do that it starts; do the work without one")
            .into()
    })
}

fn judge(heard: &Heard<'_>, action: &Action) -> Reply {
    let Heard { runtime, slot, .. } = heard;
    let options = runtime.project().options();
    if !options.read_only.is_empty() {
        let facts = runtime.engine().facts(action);
        let cwd = options.cwd.join(&action.cwd);
        let places = sandboxed::Places {
            governing: &options.read_only,
            writable: &options.writable,
            home: &runtime.project().dirs().home,
        };
        if let Some(block) = sandboxed::refusal(&facts, &cwd, places) {
            return Reply::Block(block);
        }
    }
    let mode = Mode {
        // If nobody would see the question, it stays pending for later.
        asking: if slot.can_ask() { Asking::Caller } else { Asking::Nobody },
        dialect: Some(slot.through().to_string().into()),
        observe: runtime.policy().is_observing(),
        unseen_input: slot.agent().types_unseen(),
        caution: unseen_delegation(slot.agent(), action),
        ..Mode::default()
    };
    let mut evaluation = runtime.evaluate_with(action, mode.clone());
    if evaluation.observed {
        return Reply::Silence;
    }
    if !evaluation.passed() {
        notify::person(runtime, action, &evaluation);
        if wait::for_answer(heard, action, &evaluation) {
            evaluation = runtime.evaluate_with(action, mode);
        }
    }
    if evaluation.id.is_none() {
        // It could not be recorded, so the error goes to the fault log.
        return Reply::Block(unjudged(slot, heard.fault(evaluation.reason()), false));
    }
    match evaluation.decision {
        Decision::Pass | Decision::Warn => {
            let remark =
                if evaluation.decision == Decision::Warn { remark_of(&evaluation) } else { String::new() };
            let waiting = !evaluation.session.feedback.held.is_empty();
            if remark.is_empty() && !waiting { Reply::Silence } else { after::tell(heard, remark) }
        }
        Decision::Ask => {
            Reply::Ask(Ask { messages: pending(&evaluation), otherwise: refusal_of(&evaluation, action) })
        }
        Decision::Block => {
            let block = refusal_of(&evaluation, action);
            let told = slot.agent().capabilities().exit_codes;
            let how = if told { "its line failed" } else { "this agent does not say how it ended" };
            let reason = block.reason.replace(UNSUCCESSFUL, how);
            Reply::Block(Block { reason, fix: unmeetable(heard, &evaluation).unwrap_or(block.fix), ..block })
        }
    }
}

/// The remark for the agent about an allowed action.
fn remark_of(evaluation: &Evaluation) -> String {
    let (reason, fix) = (evaluation.reason_for_agent(), evaluation.fix_for_agent());
    if fix.is_empty() { reason } else { format!("{reason}\nHow to go on: {fix}") }
}

/// One message for each point that needs an answer.
fn pending(evaluation: &Evaluation) -> Vec<String> {
    evaluation
        .active()
        .into_iter()
        .filter(|given| given.verdict.value() == Value::Ask)
        .map(|given| given.verdict.reason().to_owned())
        .fold(Vec::new(), |mut messages, message| {
            // The same question of the current policy and of an earlier one needs one answer.
            if !messages.contains(&message) {
                messages.push(message);
            }
            messages
        })
}

#[cfg(test)]
mod tests;
