//! `lictor hook <agent> [event]`: one event on standard input, one answer out. The hot path.
//!
//! Whatever happens in here, the process ends within its deadline with an answer that the agent obeys, and the
//! answer is a block unless a policy said otherwise. Arguments are read by hand: building the whole command
//! line parser would cost more than judging.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use lictor::Options;
use lictor::fault::Pending;
use lictor::hook::{self, AlreadyRefusedStop};
use lictor_agents::{Agent, HookContext, MAX_INPUT, Rendered, install};
use lictor_run::{RunError, client};

use crate::commands::run;
use crate::here;

/// Answers one event and says how to end.
pub fn main(args: &[OsString]) -> u8 {
    panic::set_hook(Box::new(|_| {}));
    // Where memory runs out the process aborts, which agents take for a hook that is broken and let the call proceed.
    let always = Arc::new(AtomicBool::new(true));
    let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, 2, always);
    // A file size limit has to become a write that fails, and so a block, not a death that lets the call proceed.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let out = Out { confirm: args.iter().any(|arg| arg == install::CONFIRM) };
    let mut words =
        args.iter().map(|arg| arg.to_str().unwrap_or_default()).filter(|word| *word != install::CONFIRM);
    let Some(agent) = words.next().and_then(|name| name.parse::<Agent>().ok()) else {
        return out.write(&refusal(
            "the hook was called without the name of a known agent",
            "run `lictor init` again; it writes `lictor hook <agent> <event>` into the agent's settings",
        ));
    };
    let hint = words.next();
    let slot = HookContext::hinted(agent, hint);
    let (refused, planted) = (AlreadyRefusedStop::default(), Planted::here());
    let failed = |_| hook::failed(&slot, &refused, "lictor failed inside", &here::options());
    if let Some(socket) = client::guardian() {
        // Nothing here waits without a deadline of its own, so nobody has to watch.
        let deadline = Instant::now() + deadline(&slot, planted);
        let answer = panic::catch_unwind(|| handed_over(agent, hint, &socket, &refused, deadline));
        return out.write(&answer.unwrap_or_else(failed));
    }
    lictor::bound_memory();
    let options = here::options();
    let watch = Watch::start(slot, refused.clone(), planted, options.clone(), out);
    let answer = panic::catch_unwind(AssertUnwindSafe(|| {
        planted.strike();
        answer(agent, hint, &refused, &options)
    }));
    let answer = answer.unwrap_or_else(failed);
    watch.stop();
    out.write(&answer)
}

/// How long the answer may take.
fn deadline(slot: &HookContext, planted: Planted) -> Duration {
    let patience = install::timeout(slot.agent(), slot.event_name());
    planted.deadline().or_else(|| Some(patience? * hook::SHARE / 10)).unwrap_or(hook::SHORT)
}

fn answer(agent: Agent, hint: Option<&str>, refused: &AlreadyRefusedStop, options: &Options) -> Rendered {
    let mut input = Vec::with_capacity(8 * 1024);
    if let Err(error) = io::stdin().lock().take(MAX_INPUT as u64 + 1).read_to_end(&mut input) {
        let why = format!("the event could not be read: {error}");
        return hook::failed(&HookContext::hinted(agent, hint), refused, why, options);
    }
    let answered = hook::answer(agent, hint, &input, refused, options);
    // The process ends right after this, and the system takes everything back at once.
    mem::forget(answered.runtime);
    answered.rendered
}

/// Inside of `lictor run` the guardian judges: whatever keeps it from answering is a block.
fn handed_over(
    agent: Agent,
    hint: Option<&str>,
    socket: &Path,
    refused: &AlreadyRefusedStop,
    deadline: Instant,
) -> Rendered {
    let input = client::read_input(MAX_INPUT + 1, deadline);
    let args = ["hook", agent.name()].into_iter().chain(hint).map(str::to_owned).collect();
    let asked = input
        .map_err(RunError::io("the event could not be read"))
        .and_then(|input| run::ask(socket, args, input, deadline.saturating_duration_since(Instant::now())));
    match asked {
        Ok(answer) => Rendered {
            exit: answer.exit,
            stdout: String::from_utf8_lossy(&answer.stdout.0).into_owned(),
            stderr: String::from_utf8_lossy(&answer.stderr.0).into_owned(),
        },
        Err(error) => {
            let slot = HookContext::hinted(agent, hint);
            hook::failed(&slot, refused, error.to_string(), &here::options())
        }
    }
}

/// Where the answer goes.
#[derive(Clone, Copy)]
struct Out {
    /// The exit code says too that it was Lictor that answered.
    confirm: bool,
}

impl Out {
    /// Gives the answer, and the code to end with.
    fn write(self, answer: &Rendered) -> u8 {
        let exit = if self.confirm { answer.exit.saturating_add(install::CONFIRMED) } else { answer.exit };
        // The exit code is the answer that counts; an agent that closed the pipe gets it all the same.
        let _ = io::stderr().write_all(answer.stderr.as_bytes());
        let mut out = io::stdout();
        match out.write_all(answer.stdout.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => exit,
            // A JSON answer that could not be delivered may have been a block.
            Err(_) if !answer.stdout.is_empty() => 2,
            Err(_) => exit,
        }
    }
}

/// Ends the process with an answer when it would be late.
struct Watch {
    /// Somebody answers: whoever says so first.
    answered: Arc<AtomicBool>,
}

impl Watch {
    fn start(
        slot: HookContext,
        refused: AlreadyRefusedStop,
        planted: Planted,
        options: Options,
        out: Out,
    ) -> Self {
        let deadline = deadline(&slot, planted);
        let answered = Arc::new(AtomicBool::new(false));
        let watch = Self { answered: Arc::clone(&answered) };
        let started = beside(move || {
            thread::sleep(deadline);
            if answered.swap(true, Ordering::AcqRel) {
                return;
            }
            // Whatever hangs may hang what is written down too: the answer goes first.
            let fault = Pending::new(&slot, "lictor did not finish in time", &options);
            let code = out.write(&hook::answer_to_fault(&slot, &refused, fault.id()));
            keep_briefly(fault);
            process::exit(i32::from(code));
        });
        // Without a thread there is no deadline of our own; the agent's own still holds.
        drop(started);
        watch
    }

    /// From here on the deadline does not count. The thread is left asleep: to wake it takes longer than to end with it.
    fn stop(self) {
        if self.answered.swap(true, Ordering::AcqRel) {
            // The deadline came first, and its answer is under way.
            loop {
                thread::park();
            }
        }
    }
}

/// Starts a thread that stays on the processor that this one is on. A thread on another processor has to be stopped there
/// when the process ends, and every page that is given back until then interrupts it.
#[cfg(target_os = "linux")]
fn beside(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use nix::unistd::Pid;

    let this = Pid::from_raw(0);
    let everywhere = sched_getaffinity(this).ok();
    let mut here = CpuSet::new();
    if everywhere.is_some() && sched_getcpu().is_ok_and(|processor| here.set(processor).is_ok()) {
        let _ = sched_setaffinity(this, &here);
    }
    // A thread inherits where it may run.
    let started = thread::Builder::new().stack_size(WATCH_STACK).spawn(work);
    if let Some(everywhere) = everywhere {
        let _ = sched_setaffinity(this, &everywhere);
    }
    started.map(drop)
}

#[cfg(not(target_os = "linux"))]
fn beside(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().stack_size(WATCH_STACK).spawn(work).map(drop)
}

/// Enough to write an answer and a fault down.
const WATCH_STACK: usize = 256 * 1024;

/// Writes a fault down unless that takes long: the agent waits for the end of the process.
fn keep_briefly(fault: Pending) {
    let (done, wait) = mpsc::channel();
    let keeping = thread::Builder::new().spawn(move || {
        fault.keep();
        let _ = done.send(());
    });
    if keeping.is_ok() {
        let _ = wait.recv_timeout(Duration::from_millis(200));
    }
}

/// A block for when the event is not known: exit code 2 stops the action on every agent that runs processes.
fn refusal(reason: &str, fix: &str) -> Rendered {
    Rendered { stdout: String::new(), stderr: format!("blocked by Lictor: {reason}\nfix: {fix}\n"), exit: 2 }
}

/// What a test wants to go wrong in the hook. A released binary does not listen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// Nothing.
    Nothing,
    /// A panic while the event is answered.
    #[cfg(debug_assertions)]
    Panic,
    /// An answer that never comes, and a deadline that has passed.
    #[cfg(debug_assertions)]
    Late,
}

impl Planted {
    /// What the environment asks for.
    pub fn here() -> Self {
        #[cfg(debug_assertions)]
        match std::env::var("LICTOR_TEST_FAULT").as_deref() {
            Ok("panic") => return Self::Panic,
            Ok("late") => return Self::Late,
            _ => {}
        }
        Self::Nothing
    }

    /// The deadline that goes with it.
    pub fn deadline(self) -> Option<Duration> {
        match self {
            Self::Nothing => None,
            #[cfg(debug_assertions)]
            Self::Panic => None,
            #[cfg(debug_assertions)]
            Self::Late => Some(Duration::ZERO),
        }
    }

    /// Goes wrong.
    pub fn strike(self) {
        match self {
            Self::Nothing => {}
            #[cfg(debug_assertions)]
            #[expect(clippy::panic, reason = "a test asked for it")]
            Self::Panic => panic!("planted"),
            #[cfg(debug_assertions)]
            Self::Late => loop {
                thread::park();
            },
        }
    }
}
