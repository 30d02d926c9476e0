//! `lictor hook <agent> [event]`: one event on standard input, one answer out. The hot path.
//!
//! Whatever happens in here, the process ends within its deadline with an answer that the agent obeys, and the
//! answer is a block unless a policy said otherwise. Arguments are read by hand: building the whole command
//! line parser would cost more than judging.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lictor::{Asking, Mode};
use lictor_agents::{
    Agent, Ask, Block, Event, EventKind, HookEnv, MAX_INPUT, Rendered, Reply, Status, parse, render,
};
use lictor_core::{Action, Decision, Evaluation, Outcome, Value};

use crate::place::Project;
use crate::runtime::Runtime;

/// Agents give a hook between 5 and 60 seconds and let the call proceed when it is late.
const DEADLINE: Duration = Duration::from_millis(4_500);

/// Answers one event and says how to end.
pub fn main(args: &[OsString]) -> u8 {
    panic::set_hook(Box::new(|_| {}));
    let watch = Watch::start();
    let answer = panic::catch_unwind(AssertUnwindSafe(|| answer(args)))
        .unwrap_or_else(|_| refusal("lictor failed inside", "ask a person to run `lictor doctor`"));
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

/// Ends the process with a block when the answer is late.
struct Watch(mpsc::Sender<()>);

impl Watch {
    fn start() -> Self {
        let (done, wait) = mpsc::channel();
        let started = thread::Builder::new().name("deadline".to_owned()).spawn(move || {
            if wait.recv_timeout(DEADLINE) == Err(mpsc::RecvTimeoutError::Timeout) {
                let late = refusal(
                    "lictor did not finish in time",
                    "try again; if it stays, ask a person to run `lictor doctor`",
                );
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

fn answer(args: &[OsString]) -> Rendered {
    let mut words = args.iter().filter_map(|arg| arg.to_str());
    let Some(agent) = words.next().and_then(|name| name.parse::<Agent>().ok()) else {
        return refusal(
            "the hook was called without the name of a known agent",
            "run `lictor init` again; it writes `lictor hook <agent> <event>` into the agent's settings",
        );
    };
    let hint = words.next();
    let mut input = Vec::with_capacity(8 * 1024);
    if let Err(error) = io::stdin().lock().take(MAX_INPUT as u64 + 1).read_to_end(&mut input) {
        return refusal(&format!("the event could not be read: {error}"), "try again");
    }
    let cwd = env::current_dir().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let surroundings = HookEnv::new(cwd, |name| env::var(name).ok());
    let event = match parse(agent, hint, &input, &surroundings) {
        Ok(event) => event,
        Err(unclear) => return render(&unclear.slot, &unclear.reply()),
    };
    let reply = reply(&event);
    render(&event.slot, &reply)
}

fn reply(event: &Event) -> Reply {
    let project = Project::around(Path::new(&event.cwd));
    let runtime = match Runtime::open(&project) {
        Ok(runtime) => runtime,
        Err(error) if event.slot.can_block() => {
            // The agent gets a neutral sentence; the operator finds the details on standard error and in `doctor`.
            return Reply::Block(Block {
                reason: format!("lictor cannot judge this: {error:#}"),
                fix: "ask a person to run `lictor doctor`".to_owned(),
                id: None,
            });
        }
        Err(_) => return Reply::Silence,
    };
    match &event.kind {
        EventKind::PreTool(action) | EventKind::PermissionRequest(action) => judge(&runtime, event, action),
        EventKind::PostTool(action, outcome) => {
            let success = outcome.status == Status::Succeeded;
            let outcome = Outcome { success, ..Outcome::default() };
            match runtime.engine.post_action(action, outcome) {
                Ok(_) => Reply::Silence,
                Err(error) => Reply::Tell(format!("lictor could not record this: {error}")),
            }
        }
        _ => Reply::Silence,
    }
}

fn judge(runtime: &Runtime, event: &Event, action: &Action) -> Reply {
    let mode = Mode {
        // Where nobody would see a question it is left for a person to answer later.
        asking: if event.slot.can_ask() { Asking::Caller } else { Asking::Nobody },
        dialect: Some(event.slot.through().to_string().into()),
        observe: runtime.policy.is_observing(),
        ..Mode::default()
    };
    let evaluation = runtime.engine.evaluate_with(action, mode);
    if evaluation.observed {
        return Reply::Silence;
    }
    let id = evaluation.id.map(|id| id.to_string());
    match evaluation.decision {
        Decision::Pass => Reply::Silence,
        Decision::Warn => Reply::Tell(evaluation.reason()),
        Decision::Ask => Reply::Ask(Ask {
            messages: pending(&evaluation),
            otherwise: Block { reason: evaluation.reason(), fix: evaluation.fix(), id },
        }),
        Decision::Block => Reply::Block(Block { reason: evaluation.reason(), fix: evaluation.fix(), id }),
    }
}

/// One message for each point that a person has to answer.
fn pending(evaluation: &Evaluation) -> Vec<String> {
    evaluation
        .active()
        .into_iter()
        .filter(|given| given.verdict.value() == Value::Ask)
        .map(|given| given.verdict.reason().to_owned())
        .collect()
}
