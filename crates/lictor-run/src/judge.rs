//! The guardian's answers: hooks are judged in this process, commands that agents may run are run outside.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use lictor::hook::{self, AlreadyRefusedStop};
use lictor::{Options, Runtime};
use lictor_agents::commands::is_for_agents;
use lictor_agents::{Agent, HookEnv};

use crate::call::{Answer, Bytes, Call, PASSED};
use crate::guardian::{Caller, Judge};
use crate::mounts::Wanted;

/// Judges the events of hooks inside, in this process.
pub struct Local {
    options: Options,
    program: PathBuf,
    /// The program as it was when the run began: a later one is not run.
    known: Option<(u64, u64)>,
    /// The last runtime. If nothing has changed, it is reused for the next call, with its open store.
    last: Mutex<Option<Runtime>>,
}

impl Local {
    /// A judge for a sandbox with these options. `program` is Lictor's own.
    #[must_use]
    pub fn new(options: Options, program: PathBuf, wanted: &Wanted) -> Self {
        let known = identity(&program);
        let temporary = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
        let writable = wanted.writable.iter().chain([&wanted.project]).cloned().chain(temporary);
        let options = options.sandboxed(wanted.governing.iter().cloned(), writable);
        Self { options, program, known, last: Mutex::default() }
    }
}

fn identity(file: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(file).ok().map(|found| (found.dev(), found.ino()))
}

impl Judge for Local {
    fn answer(&self, caller: &Caller, call: &Call) -> Answer {
        match call.args.split_first() {
            Some((first, rest)) if first == "hook" => self.hook(caller, call, rest),
            Some(_) if is_served(&call.args) => self.command(call),
            _ => not_served(&call.args),
        }
    }
}

/// The commands that are run outside for processes inside: they show the record, or add a finding.
const SERVED: [&str; 15] = [
    "audit query",
    "audit tail",
    "audit verify",
    "log",
    "verdict record",
    "verdict show",
    "verdict explain",
    "verdict retro",
    "verdict gate",
    "explain",
    "why-not",
    "check",
    "approvals",
    "session list",
    "session show",
];

/// Options with which a command reads other places, or never ends.
const NOT_SERVED: [&str; 5] = ["--all", "--anchor", "--cwd", "--follow", "--state-dir"];

/// The response for a command that is not served.
fn not_served(args: &[String]) -> Answer {
    let words = command_words(args);
    let command = words.first().copied().unwrap_or_default();
    let why = if words.starts_with(&["mcp", "run"]) {
        "a server behind `lictor mcp run` cannot be started inside of `lictor run`; a person takes Lictor from before it with `lictor init --mcp --uninstall`, and hooks judge its tools".to_owned()
    } else if is_for_agents(args.iter().map(|arg| Some(arg.as_str()))) {
        format!(
            "`lictor {command}` with these words looks at what is not in this sandbox; a person runs it outside, in the directory of the project"
        )
    } else {
        format!("`lictor {command}` is for people; they run it outside of `lictor run`")
    };
    Answer::refusal(&why)
}

/// The words of a command up to its first option.
fn command_words(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).collect()
}

/// Whether a command is served: it is listed, is for agents, and names no other place.
fn is_served(args: &[String]) -> bool {
    let words = command_words(args);
    let named = |served: &&str| {
        let served: Vec<&str> = served.split(' ').collect();
        words.starts_with(&served)
    };
    // A short option may be bundled with others: `-fn5`.
    let follows = |arg: &str| arg.starts_with('-') && !arg.starts_with("--") && arg.contains('f');
    let name = |arg: &str| arg.split_once('=').map_or(arg.to_owned(), |(name, _)| name.to_owned());
    let elsewhere = args.iter().any(|arg| NOT_SERVED.contains(&name(arg).as_str()) || follows(arg));
    let reads_files = words.first() == Some(&"check") && words.len() > 1;
    let for_agents = is_for_agents(args.iter().map(|arg| Some(arg.as_str())));
    for_agents && SERVED.iter().any(named) && !elsewhere && !reads_files
}

impl Local {
    fn hook(&self, caller: &Caller, call: &Call, args: &[String]) -> Answer {
        let Some(agent) = args.first().and_then(|name| name.parse::<Agent>().ok()) else {
            return Answer::refusal("the hook was called without the name of a known agent");
        };
        let mut options = self.options.clone().cwd(&call.cwd).caller(caller.pid);
        for name in HookEnv::VARIABLES {
            options = options.env(name, call.env.get(name).map_or("", String::as_str));
        }
        let refused = AlreadyRefusedStop::default();
        let hint = args.get(1).map(String::as_str);
        let judge = std::panic::AssertUnwindSafe(|| {
            let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let earlier = last().clone();
            let answered =
                hook::answer_after(agent, hint, &call.stdin.0, &refused, &options, earlier.as_ref());
            if let Some(runtime) = answered.runtime {
                *last() = Some(runtime);
            }
            answered.rendered
        });
        match std::panic::catch_unwind(judge) {
            Ok(answer) => Answer {
                exit: answer.exit,
                stdout: Bytes(answer.stdout.into_bytes()),
                stderr: Bytes(answer.stderr.into_bytes()),
            },
            Err(_) => Answer::refusal("lictor failed inside"),
        }
    }

    /// Runs a command that agents may run, outside, where the record is.
    fn command(&self, call: &Call) -> Answer {
        if self.known.is_none() || identity(&self.program) != self.known {
            return Answer::refusal("the program `lictor` was replaced; start the agent again");
        }
        let mut command = Command::new(&self.program);
        command.args(&call.args).current_dir(&call.cwd);
        command.envs(call.env.iter().filter(|(name, _)| PASSED.contains(&name.as_str())));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = command.spawn().and_then(|mut child| {
            let pipe = child.stdin.take();
            std::thread::scope(|scope| {
                scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(&call.stdin.0)));
                child.wait_with_output()
            })
        });
        match ran {
            Ok(output) => Answer {
                exit: output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(70),
                stdout: output.stdout.into(),
                stderr: output.stderr.into(),
            },
            Err(error) => Answer::refusal(&format!("the command could not be run: {error}")),
        }
    }
}
