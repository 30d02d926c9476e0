//! What the sandbox of a project shows, hides and protects, derived from the project, the agents and the policy.

mod run_later;
mod ways_out;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use lictor::{Environment, Options, Project};
use lictor_agents::Agent;
use lictor_agents::files::{At, GoverningFile, governing_files, governing_files_of};
use lictor_config::sections::{RunConfig, RunNetwork, Socket};

use crate::RunError;
use crate::mounts::{Network, Wanted};

pub use ways_out::login_keys;

/// Places below the home directory that stay writable where they are: what tools keep to work faster.
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
    "go/pkg",
];

/// Sockets that lead out of a sandbox with a shared file system: container engines, buses, terminal servers.
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

/// Programs that make other users of their callers. Nothing inside can.
const OTHER_USERS: &[&str] = &["sudo", "sudoedit", "doas", "su", "pkexec", "run0"];

/// Makes the directories in which an agent keeps its state, and what it begins with there, should it be started for the
/// first time: inside it could not.
///
/// # Errors
/// When one cannot be made.
pub fn make_room(project: &Project, options: &Options, command: &OsStr) -> Result<(), RunError> {
    let (home, environment) = (&project.dirs().home, options.environment());
    let name = Path::new(command).file_name().unwrap_or_default().to_string_lossy();
    let is_started = |agent: &Agent| agent.programs().any(|program| name == program);
    for agent in Agent::ALL.into_iter().filter(is_started) {
        let own = agent_directories(home, environment, &[agent]);
        for directory in own.chain([home.join(".cache")]) {
            fs::create_dir_all(&directory)
                .map_err(RunError::io(format!("cannot create `{}`", directory.display())))?;
        }
        for (file, text) in governing_files_of(agent).filter_map(|file| Some((file, file.at_first?))) {
            for path in
                places(file, home, environment).iter().filter(|path| fs::symlink_metadata(path).is_err())
            {
                let made =
                    path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
                made.map_err(RunError::io(format!("cannot write `{}`", path.display())))?;
            }
        }
    }
    Ok(())
}

/// The sandbox for a project.
///
/// # Errors
/// When the directories of the state cannot be made, or the project or the policy leaves nothing that could govern.
pub fn wanted(
    project: &Project,
    options: &Options,
    program: &Path,
    said: &RunConfig,
) -> Result<Wanted, RunError> {
    let (dirs, environment) = (project.dirs(), options.environment());
    let state = dirs.state.clone();
    lictor::dirs::create_private(&state)?;
    lictor::dirs::create_private(project.state_dir())?;
    let (home, root) = (real(&dirs.home), real(&project.root));
    if home.starts_with(&root) {
        let root = root.display();
        let why = format!("`{root}` holds your home directory; run the agent in a project below it");
        return Err(RunError::Refused(why));
    }
    let common = project.git_common().map(real);
    let mut writable: Vec<PathBuf> = WRITABLE.iter().map(|path| home.join(path)).collect();
    writable.extend(agent_directories(&home, environment, &Agent::ALL).map(|path| real(&path)));
    writable.extend(common.iter().filter(|common| !common.starts_with(&root)).cloned());
    writable.retain(|path| !home.starts_with(path));
    let cwd = real(options.current_dir());
    let mut governing = governing(&home, environment, &[root.clone(), cwd]);
    governing.extend([root.join("governance.yaml"), program.to_owned()]);
    governing.extend(Some(root.join("policy_tests")).filter(|path| path.exists()));
    governing.extend(git_files(&root, common.as_deref()));
    governing.extend(run_later::all(&home, &root, environment, &writable));
    let copied = copied(&home, environment);
    let mut wanted = Wanted {
        leading_out: LEADING_OUT.iter().map(PathBuf::from).chain(ways_out::sockets(&home, &root)).collect(),
        project: root,
        program: program.to_owned(),
        state: real(&state),
        points: real(project.state_dir()).join("run"),
        writable,
        governing,
        copied,
        explained: programs(OTHER_USERS, environment),
        network: match said.network {
            RunNetwork::All => Network::All,
            RunNetwork::Loopback => Network::Loopback,
            RunNetwork::None => Network::None,
        },
        home,
        ..Wanted::default()
    };
    wanted.hidden = hidden(&wanted, &said.hide)?;
    wanted.leading_out.extend(login_keys(&wanted.home));
    open(&mut wanted, environment, &said.sockets);
    Ok(wanted)
}

/// What the person has git ignore in every repository.
#[must_use]
pub fn ignored_everywhere(home: &Path, environment: &Environment) -> Vec<u8> {
    let config = environment.get("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    fs::read(config.join("git/ignore")).unwrap_or_default()
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The value of a variable that names a place.
fn place(environment: &Environment, name: &str) -> Option<String> {
    environment.text(name).filter(|value| value.starts_with('/'))
}

/// Every place of a governing file outside of projects.
fn places(file: &GoverningFile, home: &Path, environment: &Environment) -> Vec<PathBuf> {
    let variables: BTreeMap<&str, String> =
        file.variables().filter_map(|name| Some((name, place(environment, name)?))).collect();
    let variable = |name: &str| variables.get(name).map(String::as_str);
    file.places(&home.to_string_lossy(), &variable).map(PathBuf::from).collect()
}

/// Directories in which many programs keep something.
const SHARED: [&str; 2] = [".config", ".local"];

/// Where agents keep their own state. The governing files in there are bound read-only.
fn agent_directories(
    home: &Path,
    environment: &Environment,
    agents: &[Agent],
) -> impl Iterator<Item = PathBuf> + use<> {
    let mut all = BTreeSet::new();
    all.extend(agents.iter().flat_map(|agent| agent.state()).map(|path| home.join(path)));
    for file in agents.iter().flat_map(|agent| governing_files_of(*agent)) {
        let At::Home(directory) = file.at else { continue };
        if !directory.default.is_empty() {
            // A directory that others share, like `.config`, is only opened as far as the agent's own part of it.
            all.insert(home.join(match directory.default.split_once('/') {
                Some((first, _)) if !SHARED.contains(&first) => first,
                _ => directory.default,
            }));
        }
        // A directory that a variable names is the agent's own unless others use that variable too.
        let own = directory.moved_by.iter().filter(|(name, _)| !name.starts_with("XDG_"));
        all.extend(own.filter_map(|(name, below)| Some(Path::new(&place(environment, name)?).join(below))));
    }
    all.retain(|directory| !SHARED.iter().any(|shared| *directory == home.join(shared)));
    all.into_iter()
}

/// Files and directories that govern agents: those of the person and the machine, and those of these directories.
fn governing(home: &Path, environment: &Environment, directories: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let in_projects = lictor_observe::governing_in_projects();
    all.extend(in_projects.flat_map(|path| directories.iter().map(move |directory| directory.join(path))));
    for file in governing_files() {
        let found: Vec<PathBuf> = match file.at {
            // Files that govern depending on their content.
            At::Project if file.counts_by_text() => {
                directories.iter().map(|directory| directory.join(file.path)).collect()
            }
            At::Project => continue,
            _ => places(file, home, environment),
        };
        all.extend(found.into_iter().filter(|path| !file.is_list_of_servers() || names_lictor(path)));
    }
    // A pattern of names cannot be mounted on; what fits it now can.
    let (patterns, mut all): (Vec<PathBuf>, Vec<PathBuf>) =
        all.into_iter().partition(|path| path.to_string_lossy().contains('*'));
    all.extend(patterns.iter().flat_map(|pattern| fitting(pattern)));
    all
}

/// Whether a server of that list is wrapped by Lictor.
fn names_lictor(list: &Path) -> bool {
    fs::read_to_string(list).is_ok_and(|text| text.contains("lictor"))
}

/// The matches of a pattern whose last part begins with `*`.
fn fitting(pattern: &Path) -> Vec<PathBuf> {
    let (Some(directory), Some(name)) = (pattern.parent(), pattern.file_name()) else { return Vec::new() };
    let name = name.to_string_lossy();
    let ending = name.trim_start_matches('*');
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(ending)).collect()
}

/// Files in which agents keep what governs them together with their state.
fn copied(home: &Path, environment: &Environment) -> Vec<PathBuf> {
    let files = governing_files().filter(|file| file.keeps_state);
    let all: BTreeSet<PathBuf> =
        files.flat_map(|file| places(file, home, environment)).filter(|path| path.is_file()).collect();
    all.into_iter().collect()
}

/// Where those programs are.
fn programs(names: &[&str], environment: &Environment) -> Vec<PathBuf> {
    let path = environment.get("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> =
        env::split_paths(path).chain(["/usr/bin", "/bin"].map(PathBuf::from)).collect();
    let files = directories.iter().flat_map(|directory| names.iter().map(|name| directory.join(name)));
    let found: BTreeSet<PathBuf> =
        files.filter(|file| file.is_absolute() && file.is_file()).map(|file| real(&file)).collect();
    found.into_iter().collect()
}

/// The paths that a policy hides. Governing files must stay visible, or they would not take effect.
fn hidden(wanted: &Wanted, said: &[String]) -> Result<Vec<PathBuf>, RunError> {
    let mut all = Vec::new();
    for text in said {
        let path = match text.strip_prefix("~/") {
            Some(below) => wanted.home.join(below),
            None => wanted.project.join(text),
        };
        let path = real(&path);
        let needed = wanted.governing.iter().filter(|file| file.exists());
        let needed = needed.chain([&wanted.home, &wanted.project, &wanted.program, &wanted.state]);
        if let Some(needed) = needed.into_iter().find(|needed| real(needed).starts_with(&path)) {
            return Err(RunError::Refused(format!(
                "`run.hide` names `{text}`, which holds `{}`: without it nothing would govern the agent; name less",
                needed.display()
            )));
        }
        all.push(path);
    }
    Ok(all)
}

/// Opens sockets, and keeps the variables that name them.
fn open(wanted: &mut Wanted, environment: &Environment, sockets: &[Socket]) {
    let runtime = environment.get("XDG_RUNTIME_DIR").map(PathBuf::from);
    let below = |name: &str| runtime.as_ref().map(|runtime| runtime.join(name));
    let named = |name: &str| place(environment, name).map(PathBuf::from);
    // `unix:///run/docker.sock`
    let host = |name: &str| environment.text(name)?.strip_prefix("unix://").map(PathBuf::from);
    for socket in sockets {
        let (paths, kept): (Vec<Option<PathBuf>>, &[&str]) = match socket {
            Socket::SshAgent => (vec![named("SSH_AUTH_SOCK")], &["SSH_AUTH_SOCK", "SSH_AGENT_PID"]),
            Socket::GpgAgent => (
                vec![below("gnupg/S.gpg-agent"), Some(wanted.home.join(".gnupg/S.gpg-agent"))],
                &["XDG_RUNTIME_DIR", "GPG_AGENT_INFO"],
            ),
            Socket::Docker => {
                let usual = ["/run/docker.sock", "/var/run/docker.sock"].map(|path| Some(path.into()));
                let others = [host("DOCKER_HOST"), below("docker.sock")];
                (usual.into_iter().chain(others).collect(), &["DOCKER_HOST"])
            }
            Socket::Podman => {
                let all = [Some("/run/podman/podman.sock".into()), host("CONTAINER_HOST")];
                let own = below("podman/podman.sock");
                (all.into_iter().chain([own]).collect(), &["CONTAINER_HOST", "XDG_RUNTIME_DIR"])
            }
        };
        wanted.open.extend(paths.into_iter().flatten());
        wanted.kept.extend(kept);
    }
    wanted.leading_out.retain(|path| !wanted.open.contains(path));
    wanted.open.sort();
    wanted.open.dedup();
}

/// The git files that determine which programs run, in the repository and its submodules.
fn git_files(root: &Path, common: Option<&Path>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    // In a linked work tree `.git` is a file with the path of the repository.
    if root.join(".git").is_file() {
        files.push(root.join(".git"));
    }
    let Some(common) = common else {
        // A repository that is created later would not have been checked.
        files.push(root.join(".git"));
        return files;
    };
    let below = |name: &str| {
        fs::read_dir(common.join(name)).into_iter().flatten().flatten().map(|entry| entry.path())
    };
    for directory in std::iter::once(common.to_owned()).chain(run_later::submodules(common)) {
        let deciding = ["config", "config.worktree", "hooks", "commondir", "info/attributes"];
        files.extend(deciding.map(|name| directory.join(name)));
    }
    for tree in below("worktrees") {
        files.extend(["config.worktree", "commondir", "gitdir"].map(|name| tree.join(name)));
    }
    files
}
