//! Inside `lictor run`: forwards this process's command to the guardian.

use std::env;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use lictor_agents::HookEnv;
use lictor_run::call::{Answer, Call, PASSED};
use lictor_run::{RunError, client};

use crate::exit::Exit;
use crate::output;

/// The timeout for commands that run outside.
const PATIENCE: Duration = Duration::from_secs(600);

/// Forwards this process's command to the guardian, if there is one, and returns its exit code.
pub fn handed_over(args: &[OsString]) -> Option<u8> {
    let socket = client::guardian()?;
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    if matches!(
        args.first().map(String::as_str),
        None | Some("help" | "--help" | "--version" | "completions")
    ) {
        return None;
    }
    if args.first().is_some_and(|first| first == "run") {
        output::tell("error: this is inside of `lictor run` already; leave it first\n");
        return Some(Exit::Block.code());
    }
    let mut stdin = Vec::new();
    if !std::io::stdin().is_terminal() && args.iter().any(|arg| arg == "-" || arg == "gate") {
        let _ = std::io::stdin().lock().read_to_end(&mut stdin);
    }
    Some(ask(&socket, args, stdin, PATIENCE).map_or_else(
        |error| {
            output::tell(&format!("error: {error}\n"));
            Exit::Block.code()
        },
        |answer| print(&answer),
    ))
}

/// Sends a request of this process to the guardian.
///
/// # Errors
/// When there is no response in time: the caller has to block.
pub fn ask(socket: &Path, args: Vec<String>, stdin: Vec<u8>, patience: Duration) -> Result<Answer, RunError> {
    let cwd = env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    let names = HookEnv::VARIABLES.into_iter().chain(PASSED);
    let env = names.filter_map(|name| Some((name.to_owned(), env::var(name).ok()?))).collect();
    client::ask(socket, &Call { args, cwd, env, stdin: stdin.into() }, patience)
}

fn print(answer: &Answer) -> u8 {
    let _ = std::io::stderr().write_all(&answer.stderr.0);
    let mut out = std::io::stdout();
    match out.write_all(&answer.stdout.0).and_then(|()| out.flush()) {
        Ok(()) => answer.exit,
        Err(_) => 2,
    }
}
