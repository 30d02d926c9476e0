//! `lictor hook <agent> [event]`: one event on standard input, one answer out. The hot path.
//!
//! Whatever happens in here, the process ends within its deadline with an answer that the agent obeys, and the
//! answer is a block unless a policy said otherwise. Arguments are read by hand: building the whole command
//! line parser would cost more than judging.

mod after;
mod notify;
mod review;
mod session;
mod stop;

use std::env;
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::mem::ManuallyDrop;
use std::panic::{self, AssertUnwindSafe};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use lictor::{Asking, Mode};
use lictor_agents::{
    Agent, Ask, Block, Event, EventKind, HookEnv, MAX_INPUT, Moment, Rendered, Reply, Slot, install, parse,
    render,
};
use lictor_core::{Action, Decision, Evaluation, Value, redact};

use crate::fault::{self, Planted, Reason};
use crate::rooted::{self, Rooted};
use crate::runtime::Runtime;

/// The deadline of a hook that nobody told how long its agent waits: agents wait five seconds or more.
const SHORT: Duration = Duration::from_millis(4_500);
/// How much of an agent's patience is used up at most, in tenths: agents let a call proceed when the hook is late.
const SHARE: u32 = 4;

/// Answers one event and says how to end.
pub fn main(args: &[OsString]) -> u8 {
    panic::set_hook(Box::new(|_| {}));
    // A file size limit has to become a write that fails, and so a block, not a death that lets the call proceed.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let mut words = args.iter().map(|arg| arg.to_str().unwrap_or_default());
    let Some(agent) = words.next().and_then(|name| name.parse::<Agent>().ok()) else {
        return write(&refusal(
            "the hook was called without the name of a known agent",
            "run `lictor init` again; it writes `lictor hook <agent> <event>` into the agent's settings",
        ));
    };
    let hint = words.next();
    let slot = Slot::hinted(agent, hint);
    let (held, planted) = (Held::default(), Planted::here());
    let watch = Watch::start(slot, held.clone(), planted);
    let answer = panic::catch_unwind(AssertUnwindSafe(|| {
        planted.strike();
        answer(agent, hint, &held)
    }))
    .unwrap_or_else(|_| failed(&slot, &held, "lictor failed inside"));
    watch.stop();
    write(&answer)
}

fn write(answer: &Rendered) -> u8 {
    // The exit code is the answer that counts; an agent that closed the pipe gets it all the same.
    let _ = io::stderr().write_all(answer.stderr.as_bytes());
    let mut out = io::stdout();
    match out.write_all(answer.stdout.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => answer.exit,
        // A JSON answer that could not be delivered may have been a block.
        Err(_) if !answer.stdout.is_empty() => 2,
        Err(_) => answer.exit,
    }
}

/// Whether the event is known to come from an agent that was already kept from stopping once.
#[derive(Debug, Clone, Default)]
struct Held(Arc<AtomicBool>);

impl Held {
    fn note(&self, event: &Event) {
        self.0.store(matches!(&event.kind, EventKind::Stop(wish) if wish.hook_active), Ordering::Relaxed);
    }

    fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Ends the process with an answer when it would be late.
struct Watch(mpsc::Sender<()>);

impl Watch {
    fn start(slot: Slot, held: Held, planted: Planted) -> Self {
        let patience = install::timeout(slot.agent(), slot.event_name());
        let deadline = planted.deadline().or_else(|| Some(patience? * SHARE / 10)).unwrap_or(SHORT);
        let (done, wait) = mpsc::channel();
        let started = thread::Builder::new().name("deadline".to_owned()).spawn(move || {
            if wait.recv_timeout(deadline) == Err(mpsc::RecvTimeoutError::Timeout) {
                let late = failed(&slot, &held, "lictor did not finish in time");
                process::exit(i32::from(write(&late)));
            }
        });
        // Without a thread there is no deadline of our own; the agent's own still holds.
        drop(started);
        Self(done)
    }

    fn stop(self) {
        let _ = self.0.send(());
    }
}

/// A block for when the event is not known: exit code 2 stops the action on every agent that runs processes.
fn refusal(reason: &str, fix: &str) -> Rendered {
    Rendered { stdout: String::new(), stderr: format!("blocked by Lictor: {reason}\nfix: {fix}\n"), exit: 2 }
}

/// The answer when Lictor itself cannot judge: a block in the form that the event's hook obeys. What is wrong is the
/// person's business, who sees it in `lictor doctor` and `lictor explain`; the agent gets a sentence and the id. An agent
/// that wants to stop is told once and then released: it would otherwise be kept working on what it cannot mend.
fn failed(slot: &Slot, held: &Held, fault: impl Into<Reason>) -> Rendered {
    let id = fault::note(slot, fault);
    if held.is_known() {
        return Rendered::default();
    }
    render(slot, &Reply::Block(unjudged(slot, id)))
}

/// What an agent is told about a fault of Lictor's.
fn unjudged(slot: &Slot, id: String) -> Block {
    let reason = match slot.moment() {
        Moment::Stop | Moment::SubagentStop => "whether the work is done could not be judged",
        _ => "this could not be judged, so it was not done",
    };
    Block {
        reason: reason.to_owned(),
        fix:
            "go on with something else, and tell the person you work for: `lictor doctor` shows what is wrong"
                .to_owned(),
        id: Some(id),
    }
}

fn answer(agent: Agent, hint: Option<&str>, held: &Held) -> Rendered {
    let mut input = Vec::with_capacity(8 * 1024);
    if let Err(error) = io::stdin().lock().take(MAX_INPUT as u64 + 1).read_to_end(&mut input) {
        return failed(&Slot::hinted(agent, hint), held, format!("the event could not be read: {error}"));
    }
    let cwd = env::current_dir().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let surroundings = HookEnv::new(cwd, |name| env::var(name).ok());
    let mut event = match parse(agent, hint, &input, &surroundings) {
        Ok(event) => event,
        Err(unclear) => {
            return failed(&unclear.slot, held, format!("this could not be judged because {unclear}"));
        }
    };
    held.note(&event);
    match judged(&mut event) {
        Ok(reply) => render(&event.slot, &reply),
        Err(error) => failed(&event.slot, held, format!("{error:#}")),
    }
}

/// The answer of the session's own policy, and before it that of the place where the agent is.
fn judged(event: &mut Event) -> anyhow::Result<Reply> {
    let Rooted { home, elsewhere } = Rooted::of(event)?;
    if let (Some(there), EventKind::PreTool(action)) = (elsewhere, &event.kind)
        && let Some(refusal) = refused_by(&Runtime::visited(&there)?, action)
    {
        return Ok(refusal);
    }
    if matches!(event.kind, EventKind::SessionEnd(_)) {
        rooted::forget_old(&home);
    }
    // The process ends right after this, and the system takes everything back at once.
    let runtime = ManuallyDrop::new(Runtime::open(&home)?);
    if runtime.policy.ask_when_unattended() == Decision::Ask {
        event.slot = event.slot.attended();
    }
    Ok(reply(&runtime, event))
}

/// What another project's policy has against an action. Its counters are not this session's, and there is nobody to
/// ask in its name.
fn refused_by(there: &Runtime, action: &Action) -> Option<Reply> {
    let observe = there.policy.is_observing();
    let evaluation =
        there.judge(action, Mode { dry: true, asking: Asking::Nobody, observe, ..Mode::default() });
    if observe || evaluation.decision < Decision::Ask {
        return None;
    }
    Some(Reply::Block(Block { id: None, ..refusal_of(&evaluation) }))
}

/// What the agent is told about a decision against it.
fn refusal_of(evaluation: &Evaluation) -> Block {
    Block {
        reason: evaluation.reason_for_agent(),
        fix: evaluation.fix_for_agent(),
        id: evaluation.id.map(|id| id.to_string()),
    }
}

fn reply(runtime: &Runtime, event: &Event) -> Reply {
    let reply = match &event.kind {
        EventKind::PreTool(action) | EventKind::PermissionRequest(action) => judge(runtime, event, action),
        EventKind::PostTool(action, outcome) => after::call(runtime, event, action, outcome),
        EventKind::Stop(wish) => stop::reply(runtime, event, wish),
        kind => session::note(runtime, event, kind),
    };
    redacted(runtime, reply)
}

/// What the policy keeps out of the record is kept out of answers too: agents write them into transcripts. What was
/// said about an action has been through this already.
fn redacted(runtime: &Runtime, mut reply: Reply) -> Reply {
    let texts: Vec<&mut String> = match &mut reply {
        Reply::Silence | Reply::Ask(_) => Vec::new(),
        Reply::Tell(text) => vec![text],
        Reply::Block(block) => vec![&mut block.reason, &mut block.fix],
    };
    for text in texts {
        redact::text(text, &runtime.redactor);
    }
    reply
}

fn judge(runtime: &Runtime, event: &Event, action: &Action) -> Reply {
    let mode = Mode {
        // Where nobody would see a question it is left for a person to answer later.
        asking: if event.slot.can_ask() { Asking::Caller } else { Asking::Nobody },
        dialect: Some(event.slot.through().to_string().into()),
        observe: runtime.policy.is_observing(),
        ..Mode::default()
    };
    // As the runtime: the process ends before this is needed again.
    let evaluation = ManuallyDrop::new(runtime.judge(action, mode));
    if evaluation.observed {
        return Reply::Silence;
    }
    if !evaluation.passed() {
        notify::person(runtime, action, &evaluation);
    }
    if evaluation.id.is_none() {
        // The log could not take it, so what went wrong is written down where faults are.
        return Reply::Block(unjudged(
            &event.slot,
            fault::note(&event.slot, evaluation.reason().to_string()),
        ));
    }
    match evaluation.decision {
        Decision::Pass | Decision::Warn => {
            let remark =
                if evaluation.decision == Decision::Warn { evaluation.reason() } else { String::new() };
            let waiting = !evaluation.session.feedback.held.is_empty();
            if remark.is_empty() && !waiting { Reply::Silence } else { after::tell(runtime, event, remark) }
        }
        Decision::Ask => {
            Reply::Ask(Ask { messages: pending(&evaluation), otherwise: refusal_of(&evaluation) })
        }
        Decision::Block => Reply::Block(refusal_of(&evaluation)),
    }
}

/// One message for each point that a person has to answer.
fn pending(evaluation: &Evaluation) -> Vec<String> {
    evaluation
        .active()
        .into_iter()
        .filter(|given| given.verdict.value() == Value::Ask)
        .map(|given| given.verdict.reason().to_owned())
        .fold(Vec::new(), |mut messages, message| {
            // The same question of the policy of now and of the one before needs one answer.
            if !messages.contains(&message) {
                messages.push(message);
            }
            messages
        })
}
