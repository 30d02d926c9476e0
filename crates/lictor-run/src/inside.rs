//! The first program in the sandbox: opens its own terminal, applies Landlock, and executes the agent.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use lictor_socket::Client;

use crate::RunError;
use crate::client;
use crate::landlocked;
use crate::mounts::Network;

/// Becomes the command that follows the word for the network. Returns only when that fails.
pub fn become_agent(words: &[OsString]) -> RunError {
    let Some((network, command)) = words.split_first() else { return nothing() };
    // If the guardian was killed before its death could end the sandbox, the agent would run ungoverned.
    if let Some(Err(error)) = client::guardian().map(|socket| Client::connect(&socket)) {
        return error.into();
    }
    // A new session: processes inside have no controlling terminal outside into which they could inject input.
    let _ = rustix::process::setsid();
    if std::io::stdin().is_terminal() {
        let _ = rustix::process::ioctl_tiocsctty(std::io::stdin());
    }
    landlocked::scope();
    if network == Network::None.as_str() {
        landlocked::no_ports();
    }
    exec(command)
}

/// Becomes that command. Returns only when that fails.
pub fn exec(command: &[OsString]) -> RunError {
    let Some((program, args)) = command.split_first() else { return nothing() };
    let error = Command::new(program).args(args).exec();
    RunError::Io { what: format!("cannot run `{}`", program.to_string_lossy()), source: error }
}

fn nothing() -> RunError {
    RunError::Refused("there is no command to run".to_owned())
}
