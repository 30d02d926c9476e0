//! `lictor run`: an agent in a sandbox that it cannot leave, judged from outside.

mod inside;

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::anchor::Notes;
use lictor_config::sections::Socket;
use lictor_run::session::Session;
use lictor_run::{bubblewrap, inside as first, judge, landlocked, project as sandbox};

use crate::exit::Exit;
use crate::here;
use crate::output;

pub use inside::{ask, handed_over};

/// Run an agent in a sandbox, judged from outside.
#[derive(Debug, Args)]
#[command(after_help = "\
The agent and everything it starts see the whole file system, and can write the project, caches
and their own state. Policy, hook settings, git's configuration and hooks are read-only there;
Lictor's record and keys are not there at all. `run:` in a policy hides more, closes the network
and opens sockets.

Examples:
  lictor run claude
  lictor run -- codex exec 'fix the tests'

Exit codes: those of the agent; 128 and the number of a signal that ended it.")]
pub struct RunArgs {
    /// The agent and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Runs the command.
pub fn run(args: &RunArgs) -> Result<Exit> {
    let options = here::options();
    let project = here::project(Path::new(""));
    here::people_only("run", &project)?;
    let program = env::current_exe()?;
    let policy = lictor::policy_files::load(&project).context("the policy is not accepted")?.policy;
    let said = policy.run();
    if let Some(command) = args.command.first() {
        sandbox::make_room(&project, &options, command)?;
    }
    let wanted = sandbox::wanted(&project, &options, &program, &said)?;
    let Some(bubblewrap) = bubblewrap::installed().filter(|found| bubblewrap::works(found)) else {
        let command = landlocked::confine(&wanted, &args.command)?;
        output::tell(
            "lictor run: bubblewrap cannot be used; only writing outside of the project and caches is prevented. Hook settings, git's configuration in the project and Lictor's record are protected by reading commands alone.\n",
        );
        return Err(first::exec(&command).into());
    };
    for socket in &said.sockets {
        output::tell(&format!("lictor run: {} is open: {}\n", socket.as_str(), opens(*socket)));
    }
    for key in sandbox::login_keys(&wanted.home) {
        let key = key.display();
        output::tell(&format!(
            "lictor run: `{key}` is hidden: it logs in to this machine, outside of the sandbox\n"
        ));
    }
    let ignored_before = sandbox::ignored_everywhere(&wanted.home, options.environment());
    let session = Session {
        program: program.clone(),
        command: args.command.clone(),
        ignored_before,
        judge: Arc::new(judge::Local::new(options, program, &wanted)),
        wanted,
    };
    let ended = session.run(&bubblewrap)?;
    if let Some(path) = &ended.replaced {
        output::tell(&format!(
            "lictor run: `{}` is protected and was replaced from outside, so the sandbox was ended; start it again\n",
            path.display()
        ));
    }
    match &ended.notes {
        Notes::Kept => {}
        Notes::PutBack => output::tell(
            "lictor run: the notes that anchor the record (`refs/notes/lictor`) were rewritten inside, and have been put back\n",
        ),
        Notes::Lost(why) => output::tell(&format!(
            "lictor run: the notes that anchor the record (`refs/notes/lictor`) were rewritten inside and cannot be put back: {why}; fetch them from another clone\n"
        )),
    }
    Ok(Exit::Code(ended.code))
}

/// What access to a socket allows.
fn opens(socket: Socket) -> &'static str {
    match socket {
        Socket::SshAgent => "the agent can log in wherever your SSH keys can",
        Socket::GpgAgent => "the agent can sign and decrypt with your keys",
        Socket::Docker | Socket::Podman => "the agent can leave the sandbox through a container",
    }
}
