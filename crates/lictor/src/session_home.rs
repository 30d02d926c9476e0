//! Which project a session belongs to: the one of its first event, wherever the agent goes later.
//!
//! An agent that changes its directory takes its policy, its record and its counters along; a policy that lies where it
//! goes is heard in addition. Otherwise `cd` would be a way out.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lictor_agents::Event;
use lictor_core::{Digest, SessionKey};

use crate::dirs::{self, Dirs};
use crate::earlier;
use crate::error::Error;
use crate::options::Options;
use crate::project::Project;

/// How long after its first event a session may be taken up again.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Whose policy an event is judged by.
pub struct SessionHome {
    /// The session's project.
    pub home: Project,
    /// The project that the agent is in, when it is another one with a policy of its own.
    pub elsewhere: Option<Project>,
}

impl SessionHome {
    /// The projects of an event. The first event of a session pins it to its project.
    ///
    /// # Errors
    /// When that cannot be read or written down: a session without a home would have no policy to keep.
    pub fn of(event: &Event, options: &Options) -> Result<Self, Error> {
        let here = Project::around(Path::new(&event.cwd), options);
        // Subagents belong where the agent belongs that started them.
        let Some(session) = event.parent_session.as_ref().or(event.session.as_ref()) else {
            return Ok(Self { home: here, elsewhere: None });
        };
        let root = pin_project(session, &here)?;
        if root == here.root {
            return Ok(Self { home: here, elsewhere: None });
        }
        let elsewhere = Some(here).filter(|here| fs::symlink_metadata(here.policy_file()).is_ok());
        Ok(Self { home: Project::around(&root, options), elsewhere })
    }
}

fn file(dirs: &Dirs, session: &SessionKey) -> PathBuf {
    let name = Digest::of_parts([session.agent.as_bytes(), session.id.as_bytes()]);
    dirs.state.join("sessions").join(name.to_string())
}

/// The root that the session was pinned to at its first event: that of this project, if this is it.
fn pin_project(session: &SessionKey, here: &Project) -> Result<PathBuf, Error> {
    let file = file(here.dirs(), session);
    let unknown = |source: io::Error| Error::File {
        doing: "cannot tell where the session belongs:",
        path: file.clone(),
        source,
    };
    match fs::read(&file) {
        Ok(bytes) => return root_in(bytes).map_err(unknown),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(unknown(error)),
    }
    let directory = file.parent().unwrap_or(&file);
    dirs::create_private(directory)?;
    // Written under another name and linked into place: of two first events at once, one wins and both agree.
    let mut half = tempfile::NamedTempFile::new_in(directory).map_err(unknown)?;
    half.write_all(here.root.as_os_str().as_encoded_bytes()).map_err(unknown)?;
    match half.persist_noclobber(&file) {
        Ok(_) => Ok(here.root.clone()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            fs::read(&file).and_then(root_in).map_err(unknown)
        }
        Err(error) => Err(unknown(error.error)),
    }
}

fn root_in(bytes: Vec<u8>) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let root = PathBuf::from(std::ffi::OsString::from_vec(bytes));
    if root.is_absolute() { Ok(root) } else { Err(io::Error::other("it does not hold a path")) }
}

/// Whether that session is known to belong to another project.
#[must_use]
pub fn is_elsewhere(session: &SessionKey, project: &Project) -> bool {
    let root = fs::read(file(project.dirs(), session)).ok().and_then(|bytes| root_in(bytes).ok());
    root.is_some_and(|root| root != project.root)
}

/// Forgets sessions that began long ago, and policies under which none has begun since. What cannot be removed stays.
pub(crate) fn forget_old(project: &Project) {
    let directories = [project.dirs().state.join("sessions"), earlier::directory(project)];
    for entry in directories.into_iter().flat_map(fs::read_dir).flatten().flatten() {
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        if changed.is_ok_and(|changed| SystemTime::now().duration_since(changed).is_ok_and(|age| age > KEPT))
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}
