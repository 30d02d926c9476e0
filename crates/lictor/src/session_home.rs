//! The project of a session: that of its first event, wherever the agent goes later.
//!
//! An agent that changes its directory keeps its policy, record and counters; a policy at the new place applies
//! in addition. Otherwise `cd` would bypass the policy.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use lictor_agents::Event;
use lictor_core::SessionKey;

use crate::earlier;
use crate::error::Error;
use crate::governed;
use crate::options::Options;
use crate::project::Project;

/// How long after its first event a session may be resumed.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Whose policy an event is judged by.
pub struct SessionHome {
    /// The session's project.
    pub home: Project,
    /// The project that the agent is in, if it is another one with its own policy.
    pub elsewhere: Option<Project>,
}

impl SessionHome {
    /// The projects of an event. The first event of a session pins it to its project.
    ///
    /// # Errors
    /// When that cannot be read or written: a session without a home would have no policy.
    pub fn of(event: &Event, options: &Options) -> Result<Self, Error> {
        let here = Project::around(Path::new(&event.cwd), options);
        // Subagents belong to the project of the agent that started them.
        let Some(session) = event.parent_session.as_ref().or(event.session.as_ref()) else {
            return Ok(Self { home: here, elsewhere: None });
        };
        let settled = governed::settle(session, &here)?;
        if let (Some(_), Some(own)) = (&event.parent_session, &event.session) {
            governed::settle_below(own, &settled, here.dirs())?;
        }
        let root = settled.root;
        let moved = settled.state.as_deref().is_some_and(|state| state != here.state_dir());
        if root == here.root && !moved {
            return Ok(Self { home: here, elsewhere: None });
        }
        let elsewhere = Some(here).filter(|here| fs::symlink_metadata(here.policy_file()).is_ok());
        let elsewhere = elsewhere.filter(|here| here.root != root);
        Ok(Self { home: Project::pinned(&root, settled.state, options), elsewhere })
    }
}

/// Whether this session is known to belong to another project.
#[must_use]
pub fn is_elsewhere(session: &SessionKey, project: &Project) -> bool {
    let known = governed::pinned(project.dirs(), session).ok().flatten();
    known.is_some_and(|known| known.root != project.root)
}

/// Removes sessions that began long ago, and policies under which none has begun since. Errors are ignored.
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
