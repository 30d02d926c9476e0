//! `lictor run`: an agent in a sandbox that it cannot leave, judged from outside.

mod inside;
mod judge;
mod run_later;
mod wanted;
mod ways_out;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use lictor_config::sections::{RunNetwork, Socket};
use lictor_run::mounts::Wanted;
use lictor_run::session::Session;
use lictor_run::{bubblewrap, inside as first, landlocked};

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
        wanted::make_room(&project, command)?;
    }
    let wanted = wanted::wanted(&project, &program, &said)?;
    let Some(bubblewrap) = bubblewrap::installed().filter(|found| bubblewrap::works(found)) else {
        return without_bubblewrap(args, &wanted, said.network);
    };
    for socket in &said.sockets {
        output::tell(&format!("lictor run: {} is open: {}\n", socket.as_str(), opens(*socket)));
    }
    for key in ways_out::login_keys(&wanted.home) {
        let key = key.display();
        output::tell(&format!(
            "lictor run: `{key}` is hidden: it logs in to this machine, outside of the sandbox\n"
        ));
    }
    let ignored_before = ignored_everywhere(&wanted.home);
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
    Ok(Exit::Code(ended.code))
}

/// What whoever reaches a socket can do.
fn opens(socket: Socket) -> &'static str {
    match socket {
        Socket::SshAgent => "the agent can log in wherever your SSH keys can",
        Socket::GpgAgent => "the agent can sign and decrypt with your keys",
        Socket::Docker | Socket::Podman => "the agent can leave the sandbox through a container",
    }
}

/// Landlock alone: what is written stays inside, and nothing more can be promised.
fn without_bubblewrap(args: &RunArgs, wanted: &Wanted, network: RunNetwork) -> Result<Exit> {
    let get = "install bubblewrap (`apt-get install bubblewrap`) and allow user namespaces";
    if network != RunNetwork::All || !wanted.hidden.is_empty() {
        bail!("a policy hides files or closes the network, which needs bubblewrap; {get}");
    }
    let mut writable = wanted.writable.clone();
    writable.extend([wanted.project.clone(), wanted.state.clone(), "/dev".into()]);
    let mut command = args.command.clone();
    let temporary = Path::new("/tmp");
    if wanted.home.starts_with(temporary) {
        // Landlock cannot take a part out of what may be written, so temporary files go elsewhere.
        let own = wanted.home.join(".cache/tmp");
        fs::create_dir_all(&own)?;
        command.splice(0..0, ["env".into(), format!("TMPDIR={}", own.display()).into()]);
        writable.push(own);
    } else {
        writable.push(temporary.to_owned());
    }
    writable.retain(|path| path.exists());
    if !landlocked::only_write(&writable) {
        bail!("neither bubblewrap nor Landlock can be used; {get}");
    }
    output::tell(
        "lictor run: bubblewrap cannot be used; only writing outside of the project and caches is prevented. Hook settings, git's configuration in the project and Lictor's record are protected by reading commands alone.\n",
    );
    Err(first::exec(&command).into())
}

/// What the person has git ignore in every repository.
fn ignored_everywhere(home: &Path) -> Vec<u8> {
    let config = env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    fs::read(config.join("git/ignore")).unwrap_or_default()
}
