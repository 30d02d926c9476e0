//! `lictor run`: an agent in a sandbox that it cannot leave, judged from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use lictor::hook::{self, AlreadyRefusedStop};
use lictor::{Options, Project};
use lictor_agents::commands::is_for_agents;
use lictor_agents::files::{At, governing_files};
use lictor_agents::{Agent, HookEnv};
use lictor_run::guardian::{Caller, Judge};
use lictor_run::mounts::Wanted;
use lictor_run::session::Session;
use lictor_run::wire::{Answer, Call};
use lictor_run::{bubblewrap, client, inside, landlocked};

use crate::exit::Exit;
use crate::here;
use crate::output;

/// Run an agent in a sandbox, judged from outside.
#[derive(Debug, Args)]
#[command(after_help = "\
The agent and everything it starts see the whole file system, and can write the project, caches
and their own state. Policy, hook settings, git's configuration and hooks are read-only there;
Lictor's record and keys are not there at all.

Examples:
  lictor run claude
  lictor run -- codex exec 'fix the tests'")]
pub struct RunArgs {
    /// The agent and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Places below the home directory that stay writable where they are: what tools keep to work faster, and what agents
/// keep of their conversations.
const WRITABLE: &[&str] = &[
    ".cache",
    ".npm",
    ".pnpm-store",
    ".yarn",
    ".bun",
    ".deno",
    ".cargo/registry",
    ".cargo/git",
    ".rustup/tmp",
    ".gradle",
    ".m2",
    ".ivy2",
    ".sbt",
    ".nuget",
    ".dotnet",
    ".hex",
    ".mix",
    ".gem",
    ".bundle",
    ".pub-cache",
    ".conda/pkgs",
    ".local/share/pnpm",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".local/share/opencode",
    ".local/state/opencode",
    "go/pkg",
];

/// What leads out of a sandbox that shares the file system: container engines, buses, terminal servers.
const LEADING_OUT: &[&str] = &[
    "/run/docker.sock",
    "/run/podman",
    "/run/containerd",
    "/run/crio",
    "/run/dbus",
    "/run/systemd/private",
    "/run/screen",
    "/run/tmux",
    "/run/user",
    "/var/run/docker.sock",
];

/// Runs the command.
pub fn run(args: &RunArgs) -> Result<Exit> {
    let options = here::options();
    let project = here::project(Path::new(""));
    here::people_only("run", &project)?;
    let program = env::current_exe()?;
    let wanted = wanted(&project, &program)?;
    let Some(bubblewrap) = bubblewrap::installed() else {
        return without_bubblewrap(args, &wanted);
    };
    let ignored_before = ignored_everywhere(&wanted.home);
    let session = Session {
        wanted,
        program: program.clone(),
        command: args.command.clone(),
        env: BTreeMap::new(),
        ignored_before,
        no_network: false,
        judge: Arc::new(Local { options, program }),
    };
    Ok(Exit::Code(session.run(&bubblewrap)?))
}

/// Landlock alone: what is written stays inside, and nothing more can be promised.
fn without_bubblewrap(args: &RunArgs, wanted: &Wanted) -> Result<Exit> {
    let mut writable = wanted.writable.clone();
    writable.extend([wanted.project.clone(), wanted.state.clone(), "/tmp".into(), "/dev".into()]);
    if !landlocked::only_write(&writable) {
        bail!("neither bubblewrap nor Landlock is there: install bubblewrap (`apt-get install bubblewrap`)");
    }
    output::tell(
        "lictor run: bubblewrap is not installed; only writing outside of the project and caches is prevented. Hook settings, git's configuration in the project and Lictor's record are protected by reading commands alone.\n",
    );
    Err(inside::become_agent(&args.command).into())
}

/// Where agents keep their own state below the home directory. The governing files in there are bound read-only.
fn agent_directories() -> impl Iterator<Item = &'static str> {
    let homes = governing_files().filter_map(|file| match file.at {
        At::Home(home) if !home.default.is_empty() => Some(home.default),
        _ => None,
    });
    // A directory that others share, like `.config`, is only opened as far as the agent's own part of it.
    let own = homes.map(|path| match path.split_once('/') {
        Some((first, _)) if first != ".config" => first,
        _ => path,
    });
    own.collect::<BTreeSet<_>>().into_iter()
}

fn wanted(project: &Project, program: &Path) -> Result<Wanted> {
    let dirs = project.dirs();
    let state = dirs.state.clone();
    lictor::dirs::create_private(&state)?;
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let home = real(&dirs.home);
    let root = real(&project.root);
    if home.starts_with(&root) {
        bail!("`{}` holds your home directory; run the agent in a project below it", root.display());
    }
    let mut writable: Vec<PathBuf> =
        WRITABLE.iter().copied().chain(agent_directories()).map(|path| home.join(path)).collect();
    let common = project.git_common().map(real);
    writable.extend(common.iter().filter(|common| !common.starts_with(&root)).cloned());
    let mut governing = vec![root.join("governance.yaml"), root.join("policy_tests"), program.to_owned()];
    governing.retain(|path| path != &root.join("policy_tests") || path.exists());
    let home_text = home.to_string_lossy().into_owned();
    for file in governing_files() {
        match file.at {
            At::Project => governing.push(root.join(file.path)),
            _ => {
                let variables: BTreeMap<&str, String> =
                    file.variables().filter_map(|name| Some((name, env::var(name).ok()?))).collect();
                let variable = |name: &str| variables.get(name).map(String::as_str);
                governing.extend(file.places(&home_text, &variable).map(PathBuf::from));
            }
        }
    }
    // A pattern of names cannot be mounted on; what fits it now can.
    governing.retain(|path| !path.to_string_lossy().contains('*'));
    governing.extend(git_files(&root, common.as_deref()));
    Ok(Wanted {
        project: root,
        home,
        program: program.to_owned(),
        state: real(&state),
        runtime: PathBuf::new(),
        writable,
        governing,
        hidden: LEADING_OUT.iter().map(PathBuf::from).collect(),
    })
}

/// What tells git which programs to run, in the repository and its submodules.
fn git_files(root: &Path, common: Option<&Path>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    // In a linked work tree `.git` is a file that says where the rest is.
    if root.join(".git").is_file() {
        files.push(root.join(".git"));
    }
    let Some(common) = common else {
        // A repository that is made later would be one that nobody has looked at.
        files.push(root.join(".git"));
        return files;
    };
    let below = |name: &str| {
        fs::read_dir(common.join(name)).into_iter().flatten().flatten().map(|entry| entry.path())
    };
    for directory in std::iter::once(common.to_owned()).chain(below("modules")) {
        files.extend(["config", "config.worktree", "hooks"].map(|name| directory.join(name)));
    }
    for tree in below("worktrees") {
        files.extend(["config.worktree", "commondir", "gitdir"].map(|name| tree.join(name)));
    }
    files
}

/// What the person has git ignore in every repository.
fn ignored_everywhere(home: &Path) -> Vec<u8> {
    let config = env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    fs::read(config.join("git/ignore")).unwrap_or_default()
}

/// Judges in this process what hooks inside hand over.
struct Local {
    options: Options,
    program: PathBuf,
}

impl Judge for Local {
    fn answer(&self, caller: &Caller, call: &Call, stdin: &[u8]) -> Answer {
        match call.args.split_first() {
            Some((first, rest)) if first == "hook" => self.hook(caller, call, rest, stdin),
            Some(_) if is_served(&call.args) => self.command(call, stdin),
            _ => Answer::refusal("this command is for people; they run it outside of `lictor run`"),
        }
    }
}

/// The commands that are run outside for whoever asks inside: they show what is on record, or add a finding.
const SERVED: [&str; 11] = [
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

/// Whether a command is served: it is one of those, is for agents, and names no place of its own to look at.
fn is_served(args: &[String]) -> bool {
    let words: Vec<&str> =
        args.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).collect();
    let named = |served: &&str| {
        let served: Vec<&str> = served.split(' ').collect();
        words.starts_with(&served)
    };
    let elsewhere = args.iter().any(|arg| arg.starts_with("--cwd") || arg.starts_with("--state-dir"));
    let reads_files = words.first() == Some(&"check") && words.len() > 1;
    let for_agents = is_for_agents(args.iter().map(|arg| Some(arg.as_str())));
    for_agents && SERVED.iter().any(named) && !elsewhere && !reads_files
}

impl Local {
    fn hook(&self, caller: &Caller, call: &Call, args: &[String], stdin: &[u8]) -> Answer {
        let Some(agent) = args.first().and_then(|name| name.parse::<Agent>().ok()) else {
            return Answer::refusal("the hook was called without the name of a known agent");
        };
        let mut options = self.options.clone().cwd(&call.cwd).caller(caller.pid);
        for name in HookEnv::VARIABLES {
            options = options.env(name, call.env.get(name).map_or("", String::as_str));
        }
        let refused = AlreadyRefusedStop::default();
        let judge = std::panic::AssertUnwindSafe(|| {
            hook::answer(agent, args.get(1).map(String::as_str), stdin, &refused, &options).rendered
        });
        match std::panic::catch_unwind(judge) {
            Ok(answer) => Answer {
                exit: answer.exit,
                stdout: answer.stdout.into_bytes(),
                stderr: answer.stderr.into_bytes(),
            },
            Err(_) => Answer::refusal("lictor failed inside"),
        }
    }

    /// Runs a command that agents may run, outside, where the record is.
    fn command(&self, call: &Call, stdin: &[u8]) -> Answer {
        let mut command = Command::new(&self.program);
        command.args(&call.args).current_dir(&call.cwd);
        command.envs(
            call.env.iter().filter(|(name, _)| name.starts_with("GIT_") && PASSED.contains(&name.as_str())),
        );
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = command.spawn().and_then(|mut child| {
            let pipe = child.stdin.take();
            std::thread::scope(|scope| {
                scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(stdin)));
                child.wait_with_output()
            })
        });
        match ran {
            Ok(output) => Answer {
                exit: output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(70),
                stdout: output.stdout,
                stderr: output.stderr,
            },
            Err(error) => Answer::refusal(&format!("the command could not be run: {error}")),
        }
    }
}

/// What git tells its hooks about the commit that is made.
const PASSED: [&str; 4] = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"];

/// Hands this process's command to the guardian, when there is one, and ends as it says.
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
    use std::io::{IsTerminal as _, Read as _};
    if !std::io::stdin().is_terminal() && args.iter().any(|arg| arg == "-" || arg == "gate") {
        let _ = std::io::stdin().lock().read_to_end(&mut stdin);
    }
    Some(ask(&socket, args, &stdin).map_or_else(
        |error| {
            output::tell(&format!("error: {error}\n"));
            Exit::Block.code()
        },
        |answer| print(&answer),
    ))
}

/// Asks the guardian on behalf of this process.
///
/// # Errors
/// When there is no answer: the caller has to block.
pub fn ask(socket: &Path, args: Vec<String>, stdin: &[u8]) -> Result<Answer, lictor_run::RunError> {
    let cwd = env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    let names = HookEnv::VARIABLES.into_iter().chain(PASSED);
    let env = names.filter_map(|name| Some((name.to_owned(), env::var(name).ok()?))).collect();
    client::ask(socket, &Call { args, cwd, env }, stdin, std::time::Duration::from_secs(600))
}

fn print(answer: &Answer) -> u8 {
    let _ = std::io::stderr().write_all(&answer.stderr);
    let mut out = std::io::stdout();
    match out.write_all(&answer.stdout).and_then(|()| out.flush()) {
        Ok(()) => answer.exit,
        Err(_) => 2,
    }
}
