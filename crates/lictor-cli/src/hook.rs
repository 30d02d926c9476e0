//! `lictor hook <agent> [event]`: one event on standard input, one reply out. The hot path.
//!
//! Whatever happens here, the process ends within its deadline with a reply that the agent obeys, and the reply
//! is a block unless a policy decided otherwise. Arguments are parsed by hand: building the whole command line
//! parser would cost more than judging.

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

/// Handles one event and returns the exit code.
pub fn main(args: &[OsString]) -> u8 {
    panic::set_hook(Box::new(|_| {}));
    // When memory runs out the process aborts; agents treat that as a broken hook and let the call proceed.
    let always = Arc::new(AtomicBool::new(true));
    let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, 2, always);
    // A file size limit must cause a failed write, and so a block, and not a signal that lets the call proceed.
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
        // Everything here has its own deadline, so no watchdog is needed.
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

/// The deadline of the reply.
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
    // The process ends right after this, and the system frees everything at once.
    mem::forget(answered.runtime);
    answered.rendered
}

/// Inside `lictor run` the guardian judges: any failure to get its reply is a block.
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

/// The output of the reply.
#[derive(Clone, Copy)]
struct Out {
    /// The exit code also confirms that Lictor replied.
    confirm: bool,
}

impl Out {
    /// Gives the answer, and the code to end with.
    fn write(self, answer: &Rendered) -> u8 {
        let exit = if self.confirm { answer.exit.saturating_add(install::CONFIRMED) } else { answer.exit };
        // The exit code is what counts; an agent that closed the pipe still gets it.
        let _ = io::stderr().write_all(answer.stderr.as_bytes());
        let mut out = io::stdout();
        match out.write_all(answer.stdout.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => exit,
            // A JSON reply that could not be delivered may have been a block.
            Err(_) if !answer.stdout.is_empty() => 2,
            Err(_) => exit,
        }
    }
}

/// A watchdog that ends the process with a reply at the deadline.
struct Watch {
    /// Set by the thread that replies first.
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
            // Logging may hang for the same reason, so the reply goes first.
            let fault = Pending::new(&slot, "lictor did not finish in time", &options);
            let code = out.write(&hook::answer_to_fault(&slot, &refused, fault.id()));
            keep_briefly(fault);
            process::exit(i32::from(code));
        });
        // Without a thread there is no own deadline; the agent's still applies.
        drop(started);
        watch
    }

    /// From here on the deadline does not apply. The thread is left asleep: waking it takes longer than exiting
    /// with it.
    fn stop(self) {
        if self.answered.swap(true, Ordering::AcqRel) {
            // The deadline came first, and its reply is being written.
            loop {
                thread::park();
            }
        }
    }
}

/// Starts a thread on the current processor. A thread on another processor must be stopped there when the process
/// ends, and every page that is freed until then interrupts it.
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
    // A thread inherits the processor affinity.
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

/// Logs a fault unless that takes long: the agent waits for the end of the process.
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

/// A block for an unknown event: exit code 2 stops the action on every agent that runs processes.
fn refusal(reason: &str, fix: &str) -> Rendered {
    Rendered { stdout: String::new(), stderr: format!("blocked by Lictor: {reason}\nfix: {fix}\n"), exit: 2 }
}

/// A fault that a test injects into the hook. A release binary ignores it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// Nothing.
    Nothing,
    /// A panic while the event is answered.
    #[cfg(debug_assertions)]
    Panic,
    /// A reply that never comes, and a deadline that has passed.
    #[cfg(debug_assertions)]
    Late,
}

impl Planted {
    /// The fault that the environment requests.
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
