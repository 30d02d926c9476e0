//! The projects of this machine, for one person: each takes the role of a tenant.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use lictor::log::kind;
use lictor::store::MemoryStore;
use lictor::{Options, Project, Runtime, SqliteOptions};
use lictor_store::{Indexed, Query, Stamp, Store, StoreExt as _};

use crate::registry::RegistryError;
use crate::tenants::{CallError, Open};

/// The project that shows what a governed session looks like.
pub const DEMO: &str = "demo";
/// The file of a project's record.
const STORE: &str = "lictor.db";
/// How long the list of projects counts.
const LISTED: Duration = Duration::from_secs(3);
/// So many projects are listed; a machine with more has its oldest ones on the command line.
const MOST: usize = 200;

/// The projects on record, and the one that was asked about.
pub struct Projects {
    options: Options,
    here: Project,
    places: Mutex<(Option<Instant>, BTreeMap<String, Project>)>,
    open: Mutex<HashMap<String, Arc<Open>>>,
    demo: Mutex<Option<Arc<Open>>>,
}

impl std::fmt::Debug for Projects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Projects").field("here", &self.here.root).finish_non_exhaustive()
    }
}

/// A project as people choose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id in URLs.
    pub id: String,
    /// The name of its directory.
    pub name: String,
    /// Where it is.
    pub root: String,
    /// Whether anything was recorded.
    pub recorded: bool,
}

impl Projects {
    /// Those of this user, seen from a directory.
    #[must_use]
    pub fn around(directory: &Path, options: Options) -> Self {
        let here = Project::around(directory, &options);
        Self { options, here, places: Mutex::default(), open: Mutex::default(), demo: Mutex::default() }
    }

    /// The project that was asked about.
    #[must_use]
    pub fn here(&self) -> &Project {
        &self.here
    }

    /// The id of the requested project.
    #[must_use]
    pub fn first(&self) -> String {
        name_of(self.here.state_dir())
    }

    /// All of them, the one that was asked about first.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        let first = self.first();
        let mut listed: Vec<Listed> = self
            .places()
            .iter()
            .map(|(id, project)| Listed {
                id: id.clone(),
                name: name_of(&project.root),
                root: project.root.to_string_lossy().into_owned(),
                recorded: project.has_store(),
            })
            .collect();
        listed.sort_by_key(|one| (one.id != first, one.name.clone()));
        if self.demo.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            let root = "a scripted session in memory".to_owned();
            listed.push(Listed { id: DEMO.to_owned(), name: DEMO.to_owned(), root, recorded: true });
        }
        listed
    }

    fn places(&self) -> BTreeMap<String, Project> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.0.is_none_or(|at| at.elapsed() > LISTED) {
            let known = std::mem::take(&mut places.1);
            *places = (Some(Instant::now()), self.look(known));
        }
        places.1.clone()
    }

    fn look(&self, mut known: BTreeMap<String, Project>) -> BTreeMap<String, Project> {
        let mut places = BTreeMap::from([(self.first(), self.here.clone())]);
        let state = &self.here.dirs().state;
        // An explicit state directory contains one project.
        if self.here.state_dir() == state {
            return places;
        }
        let mut found: Vec<(SystemTime, PathBuf)> = fs::read_dir(state)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let changed = fs::metadata(entry.path().join(STORE)).ok()?.modified().ok()?;
                Some((changed, entry.path()))
            })
            .collect();
        found.sort_by(|one, other| other.cmp(one));
        for (_, directory) in found.into_iter().take(MOST) {
            let id = name_of(&directory);
            if places.contains_key(&id) {
                continue;
            }
            let project = known.remove(&id).or_else(|| {
                let root = root_of(&directory.join(STORE))?;
                Some(Project::pinned(&root, Some(directory.clone()), &self.options))
            });
            places.extend(project.map(|project| (id, project)));
        }
        places
    }

    /// A project with its current policy.
    ///
    /// # Errors
    /// When there is none of that name, or its record cannot be opened.
    pub fn open(&self, id: &str) -> Result<Arc<Open>, CallError> {
        let missing = || RegistryError::Missing { what: "project", name: id.to_owned() };
        if id == DEMO {
            let demo = self.demo.lock().unwrap_or_else(PoisonError::into_inner).clone();
            return Ok(demo.ok_or_else(missing)?);
        }
        let mut all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(id).cloned();
        if let Some(known) = known.as_ref().filter(|known| known.is_fresh()) {
            return Ok(Arc::clone(known));
        }
        let project = self.places().get(id).cloned().ok_or_else(missing)?;
        let kept = known.filter(|known| known.version > 0).map(|known| Arc::clone(&known.store));
        // Looking makes no record: what is not there yet is empty.
        let (version, store): (u64, Arc<dyn Store>) = match kept {
            Some(store) => (1, store),
            None if project.has_store() => (1, Arc::new(Indexed::new(project.patient_store(false)?))),
            None => (0, Arc::new(MemoryStore::new())),
        };
        let runtime = runtime(&project, &store)?;
        let open = Arc::new(Open::now(version, runtime, store));
        all.insert(id.to_owned(), Arc::clone(&open));
        Ok(open)
    }

    /// Puts the scripted session there.
    pub fn show_demo(&self, demo: Arc<Open>) {
        *self.demo.lock().unwrap_or_else(PoisonError::into_inner) = Some(demo);
    }

    /// The current stamps of the stores, which change with every record.
    fn stamps(&self) -> Vec<Stamp> {
        self.places().values().map(|project| Stamp::of(&project.state_dir().join(STORE))).collect()
    }

    /// Calls back whenever something was recorded, until the callback stops. Hooks are separate processes.
    pub fn watch(&self, every: Duration, mut changed: impl FnMut() -> bool) {
        let mut before = self.stamps();
        loop {
            std::thread::sleep(every);
            let now = self.stamps();
            if now != before && !changed() {
                return;
            }
            before = now;
        }
    }
}

/// With the project's policy; with none if that is invalid, so that people can still read and answer.
fn runtime(project: &Project, store: &Arc<dyn Store>) -> Result<Runtime, CallError> {
    let options = project.options().clone().shared_store(Arc::clone(store));
    let governed = Project::pinned(&project.root, Some(project.state_dir().to_owned()), &options);
    match Runtime::of_project(governed) {
        Ok(runtime) => Ok(runtime),
        Err(_) => Ok(Runtime::from_yaml("{version: 1}", options.cwd(&project.root))?),
    }
}

/// Where the newest decision of a record was made.
fn root_of(store: &Path) -> Option<PathBuf> {
    let store = SqliteOptions::new().create(false).open(store).ok()?;
    let query = Query::all().kind(kind::EVALUATED).newest_first().limit(1);
    let newest = store.view(|view| view.records(&query)).ok()?.into_iter().next()?;
    let body: serde_json::Value = serde_json::from_str(&newest.body).ok()?;
    let cwd = body.pointer("/action/cwd")?.as_str().map(PathBuf::from)?;
    // The work tree around it, while that is there.
    let tree = cwd.ancestors().find(|place| place.join(".git").exists());
    Some(tree.map(Path::to_owned).unwrap_or(cwd)).filter(|root| root.is_absolute())
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned())
}
