//! The policy files of a project, read once into a snapshot.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lictor_config::{Loaded, Origin, PolicyBundle, Redactor, ServerConfig, Source};
use lictor_core::{Action, Digest, FactSource, Facts};
use lictor_observe::{NoEdits, OwnEdits, PolicyView, Project as Known, facts_after};

use crate::error::Error;
use crate::files;
use crate::memory::Bounded;
use crate::project::Project;
use crate::remembered;
use crate::team::{self, Standing};

/// The stored form of the policy in the state directory.
const CACHE: &str = "policy.bin";
/// The same of the machine's own files alone.
const OF_MACHINE: &str = "machine.bin";
/// A file without these words names neither a database nor a server.
const ELSEWHERE: [&str; 2] = ["postgres", "server"];
/// More than the size limit of a policy; the rest of a larger file is not read.
const READ_LIMIT: u64 = 2 * 1024 * 1024;
/// More than the stored form of the largest policy.
const CACHE_LIMIT: u64 = 64 * 1024 * 1024;

/// The existing policy files of a project.
///
/// # Errors
/// A file that exists and cannot be read, or a managed one that users other than root can change.
pub fn sources(project: &Project) -> Result<Vec<Source>, Error> {
    let (mut sources, machine) = of_files(project)?;
    sources.extend(machine.as_ref().and_then(|machine| team::fetched(project, machine.server()?)));
    Ok(sources)
}

/// The current policy files: the team's policy counts only until it expires, and is fetched again when due. The
/// second value is the server whose policy does not count at the moment, and why.
///
/// # Errors
/// As [`sources`], and when everything is blocked without the team's policy.
pub(crate) fn in_force(project: &Project) -> Result<(Vec<Source>, Option<Absent>), Error> {
    let (mut sources, machine) = of_files(project)?;
    project.settle(machine.as_ref().and_then(PolicyBundle::database));
    let mut absent = None;
    if let Some(server) = machine.as_ref().and_then(PolicyBundle::server) {
        match team::standing(project, server)? {
            Standing::Counts(source) => sources.extend(source),
            Standing::Absent(why) => absent = Some((server.clone(), why)),
        }
    }
    Ok((sources, absent))
}

/// The server whose policy does not count, and why.
pub(crate) type Absent = (ServerConfig, String);

/// The files of this machine, and their database and server settings if they have any; most do not.
fn of_files(project: &Project) -> Result<(Vec<Source>, Option<PolicyBundle>), Error> {
    let files = [
        (Origin::Managed, project.dirs().managed_policy.clone()),
        (Origin::User, project.dirs().user_policy.clone()),
        (Origin::Repository, project.policy_file()),
    ];
    let mut sources = Vec::new();
    for (origin, file) in files {
        let Some(bytes) = read(&file).map_err(Error::file("cannot read", &file))? else {
            continue;
        };
        if origin == Origin::Managed {
            refuse_writable(&file)?;
        }
        let path = match (origin, file.strip_prefix(&project.root)) {
            (Origin::Repository, Ok(inside)) => inside.display().to_string(),
            _ => file.display().to_string(),
        };
        sources.push(Source { origin, path, bytes });
    }
    let machine = of_machine(project, &sources)?;
    Ok((sources, machine))
}

fn of_machine(project: &Project, sources: &[Source]) -> Result<Option<PolicyBundle>, Error> {
    let own = |source: &&Source| matches!(source.origin, Origin::Managed | Origin::User);
    let names = |source: &Source| ELSEWHERE.iter().any(|word| contains(&source.bytes, word.as_bytes()));
    if !sources.iter().filter(own).any(names) {
        return Ok(None);
    }
    let own: Vec<Source> = sources.iter().filter(own).cloned().collect();
    compiled(project, &own, &project.state_dir().join(OF_MACHINE)).map(Some)
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|part| part == word)
}

/// The database of the record; `None` for the file in the state directory.
pub(crate) fn database(project: &Project) -> Result<Option<String>, Error> {
    let (_, machine) = of_files(project)?;
    Ok(machine.and_then(|machine| machine.database().map(str::to_owned)))
}

/// The server of the team.
pub(crate) fn server(project: &Project) -> Result<Option<ServerConfig>, Error> {
    let (_, machine) = of_files(project)?;
    Ok(machine.and_then(|machine| machine.server().cloned()))
}

fn read(file: &Path) -> io::Result<Option<Vec<u8>>> {
    use io::Read as _;
    let (opened, length) = match files::open(file) {
        Ok(opened) => opened,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::with_capacity(length.min(READ_LIMIT) as usize + 1);
    opened.take(READ_LIMIT).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// A managed policy that the user can change is refused.
fn refuse_writable(file: &Path) -> Result<(), Error> {
    let directory = file.parent().unwrap_or(file);
    for path in [file, directory] {
        let metadata = fs::metadata(path).map_err(Error::file("cannot look at", path))?;
        if metadata.uid() != 0 || metadata.mode() & 0o022 != 0 {
            return Err(Error::ManagedWritable(path.to_owned()));
        }
    }
    Ok(())
}

/// A snapshot of the policy files, shared by all parts of a runtime, so that no file is read twice.
pub struct Snapshot {
    sources: Vec<Source>,
    /// The combined policy.
    pub policy: PolicyBundle,
    /// The policy's redactor.
    pub redactor: Redactor,
    root: PathBuf,
    programs: OnceLock<Programs>,
}

/// The programs of a policy, hashed on first use.
struct Programs {
    /// The digests of the files that the policy's command lines name, by argument.
    files: BTreeMap<String, Digest>,
    digest: Digest,
}

impl Snapshot {
    /// Reads the current policy, from the stored form if that was made from exactly these files.
    ///
    /// # Errors
    /// A file that cannot be read, or a policy that is refused.
    pub fn read(project: &Project) -> Result<Self, Error> {
        Self::of_project(project, sources(project)?)
    }

    /// The policy of these files of the project.
    pub(crate) fn of_project(project: &Project, sources: Vec<Source>) -> Result<Self, Error> {
        let policy = compiled(project, &sources, &project.state_dir().join(CACHE))?;
        Self::of(sources, policy, &project.root)
    }

    /// The policy of these files, parsed and checked again.
    ///
    /// # Errors
    /// When it is refused.
    pub fn from_sources(sources: Vec<Source>, root: &Path) -> Result<Self, Error> {
        let policy = lictor_config::load(&sources)?.policy;
        Self::of(sources, policy, root)
    }

    fn of(sources: Vec<Source>, policy: PolicyBundle, root: &Path) -> Result<Self, Error> {
        let redactor = redactor(&policy)?;
        Ok(Self { sources, policy, redactor, root: root.to_owned(), programs: OnceLock::new() })
    }

    /// Identifies the policy with the programs it runs.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.hashed().digest
    }

    /// The digests of the files that the policy's command lines name, by argument.
    pub(crate) fn programs(&self) -> &BTreeMap<String, Digest> {
        &self.hashed().files
    }

    fn hashed(&self) -> &Programs {
        self.programs.get_or_init(|| {
            let files = hashed_programs(&self.policy, &self.root);
            let digest = self.policy.digest(|word| files.get(word).copied());
            Programs { files, digest }
        })
    }

    /// The files that it was made from.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }
}

/// The digests of the files that the policy's command lines name.
fn hashed_programs(policy: &PolicyBundle, root: &Path) -> BTreeMap<String, Digest> {
    let words = policy.programs().into_iter().flat_map(|program| program.argv);
    let hash = |word: String| {
        let file = root.join(&word);
        let bytes = files::read(&file, files::PROGRAM).ok()?;
        Some((word, Digest::of(&bytes)))
    };
    words.filter_map(hash).collect()
}

/// The policy's redactor.
///
/// # Errors
/// Only for a policy that was stored by another version.
pub fn redactor(policy: &PolicyBundle) -> Result<Redactor, Error> {
    policy.redactor().map_err(|error| Error::Redact(error.to_string()))
}

/// Parses and checks the policy again.
///
/// # Errors
/// As [`sources`], and when the policy is refused.
pub fn load(project: &Project) -> Result<Loaded, Error> {
    Ok(lictor_config::load(&sources(project)?)?)
}

/// The policy of these files, from the stored form in `cache` if that was made from exactly these files.
///
/// # Errors
/// When the policy is refused.
pub(crate) fn compiled(project: &Project, sources: &[Source], cache: &Path) -> Result<PolicyBundle, Error> {
    // Reading must not create a key, and without one no stored form can be trusted.
    let Some((keys, _)) = project.record_keys(false).ok().flatten() else {
        return Ok(lictor_config::load(sources)?.policy);
    };
    let seal = |parts: &[&[u8]]| keys.current().seal_of("policy", parts);
    let stored = files::read(cache, CACHE_LIMIT).ok();
    if let Some(policy) = stored.and_then(|bytes| PolicyBundle::from_cache(&bytes, sources, seal)) {
        return Ok(policy);
    }
    let policy = lictor_config::load(sources)?.policy;
    if let Some(bytes) = policy.to_cache(sources, seal) {
        // Without a stored form the next process reads the files again.
        let _ = store(cache, &bytes);
    }
    Ok(policy)
}

/// Puts a file in place whole or not at all.
pub(crate) fn store(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = file.parent().ok_or_else(|| io::Error::other("no directory"))?;
    let half = directory.join(format!("{CACHE}.{}", std::process::id()));
    fs::write(&half, bytes)?;
    fs::rename(&half, file).inspect_err(|_| drop(fs::remove_file(&half)))
}

/// The project files that the policy runs or consists of: protected from the agent.
fn own_files(policy: &PolicyBundle, project: &Project) -> Vec<PathBuf> {
    let words = policy.programs().into_iter().flat_map(|program| program.argv);
    let mut own: Vec<PathBuf> =
        words.map(|word| project.root.join(word)).filter(|file| file.is_file()).collect();
    own.extend([
        project.state_dir().to_owned(),
        project.policy_file(),
        project.dirs().user_policy.clone(),
        project.dirs().managed_policy.clone(),
    ]);
    own
}

/// What a policy adds to the known facts about the project. `watched` and `contents` come from its guards.
#[must_use]
pub fn view(policy: &PolicyBundle, project: &Project, watched: Vec<String>, contents: bool) -> PolicyView {
    let own = own_files(policy, project);
    PolicyView {
        own: own.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
        described: policy.described_tools(),
        programs: policy.described_programs(),
        watched,
        contents,
    }
}

/// Derives the facts of actions in this project.
pub(crate) fn look(project: &Project) -> impl Fn(&Known, &Action, &dyn OwnEdits) -> Facts + use<> {
    let observer = project.eyes();
    let settings = project.agent_settings_when_asked();
    move |known, action, edits| {
        let _bounded = Bounded::begin();
        let mut facts = facts_after(action, known, &observer, edits);
        remembered::identify(action, &mut facts, &settings);
        facts
    }
}

/// The same, with these policies' views.
pub fn facts(project: &Project, views: Vec<PolicyView>) -> impl FactSource + use<> {
    let look = look(project);
    let mut known = project.seen.clone();
    views.into_iter().for_each(|view| known.learn(view));
    move |action: &Action| look(&known, action, &NoEdits)
}
