//! Pins sessions to their project and agent, and detects callers that run under a governed agent.
//!
//! The project, store and agent of a session are recorded at its first event. An event for the session from a
//! descendant of that agent, in a hook that the agent itself did not start, was forged by a tool call and is
//! refused.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lictor_core::{Digest, SessionKey};

use crate::ancestry::{self, Hook, Process};
use crate::dirs::{self, Dirs};
use crate::error::Error;
use crate::files;
use crate::project::Project;

/// Longer than two paths and two numbers.
const MOST_BYTES: u64 = 16 * 1024;

/// The data that a session's first event pins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pinned {
    /// The project's root.
    pub(crate) root: PathBuf,
    /// Its state directory; unknown for a session of an older version.
    pub(crate) state: Option<PathBuf>,
    /// The agent's process, when the agent itself started the hook.
    pub(crate) agent: Option<Process>,
    /// The session itself; unknown for a session of an older version.
    pub(crate) session: Option<SessionKey>,
}

impl Pinned {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.root.as_os_str().as_bytes().to_vec();
        bytes.push(0);
        bytes.extend_from_slice(
            self.state.as_deref().map_or(b"".as_slice(), |state| state.as_os_str().as_bytes()),
        );
        bytes.push(0);
        if let Some(Process { pid, start }) = self.agent {
            bytes.extend_from_slice(format!("{pid} {start}").as_bytes());
        }
        for part in self.session.iter().flat_map(|session| [&session.agent, &session.id]) {
            bytes.push(0);
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }

    fn read(bytes: &[u8]) -> io::Result<Self> {
        let mut parts = bytes.split(|byte| *byte == 0);
        let mut path = || parts.next().map(|part| PathBuf::from(std::ffi::OsString::from_vec(part.to_vec())));
        let (root, state) = (path().unwrap_or_default(), path());
        if !root.is_absolute() {
            return Err(io::Error::other("it does not hold a path"));
        }
        let agent = parts.next().and_then(|text| {
            let (pid, start) = std::str::from_utf8(text).ok()?.split_once(' ')?;
            Some(Process { pid: pid.parse().ok()?, start: start.parse().ok()? })
        });
        let mut text = || String::from_utf8(parts.next()?.to_vec()).ok();
        let session = text().zip(text()).map(|(agent, id)| SessionKey { agent, id });
        Ok(Self { root, state: state.filter(|state| state.is_absolute()), agent, session })
    }
}

fn directory(dirs: &Dirs) -> PathBuf {
    dirs.state.join("sessions")
}

fn file(dirs: &Dirs, session: &SessionKey) -> PathBuf {
    let name = Digest::of_parts([session.agent.as_bytes(), session.id.as_bytes()]);
    directory(dirs).join(name.to_string())
}

fn unknown(file: &Path) -> impl Fn(io::Error) -> Error {
    let path = file.to_owned();
    move |source| Error::File { doing: "cannot tell where the session belongs:", path: path.clone(), source }
}

/// The pinned data of a session. `None` before its first event.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn pinned(dirs: &Dirs, session: &SessionKey) -> Result<Option<Pinned>, Error> {
    let file = file(dirs, session);
    match files::read(&file, MOST_BYTES) {
        Ok(bytes) => Pinned::read(&bytes).map(Some).map_err(unknown(&file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unknown(&file)(error)),
    }
}

/// Pins a session at this event, which came from `here`, or returns its pinned data.
///
/// # Errors
/// When the event was made by a tool call, or the pinned data cannot be read or written.
pub(crate) fn settle(session: &SessionKey, here: &Project) -> Result<Pinned, Error> {
    let hook = here.options().caller.map_or(Hook::This, Hook::Other);
    let starter = ancestry::starter(hook);
    if let Some(mut known) = pinned(here.dirs(), session)? {
        if let Some(agent) = known.agent
            && starter != Some(agent)
            && ancestry::under(hook, &[agent]).is_some()
        {
            return Err(Error::MadeUp);
        }
        if starter.is_some() && starter != known.agent {
            // The session continues in another process of its agent.
            known.agent = starter;
            known.session = Some(session.clone());
            write(here.dirs(), session, &known, true)?;
        }
        return Ok(known);
    }
    let state = here.state_dir().to_owned();
    if starter.is_none() && ancestry::under(hook, &agents(here.dirs(), &state)).is_some() {
        return Err(Error::MadeUp);
    }
    let new = Pinned {
        root: here.root.clone(),
        state: Some(state),
        agent: starter,
        session: Some(session.clone()),
    };
    if write(here.dirs(), session, &new, false)? {
        return Ok(new);
    }
    // Of two concurrent first events, one wins and both use it.
    Ok(pinned(here.dirs(), session)?.unwrap_or(new))
}

/// Pins a session that another pinned session has started, so that its calls are recognised by the agent's
/// process.
///
/// # Errors
/// When it cannot be read or written.
pub(crate) fn settle_below(session: &SessionKey, above: &Pinned, dirs: &Dirs) -> Result<(), Error> {
    if above.agent.is_none() || pinned(dirs, session)?.is_some_and(|known| known.agent == above.agent) {
        return Ok(());
    }
    write(dirs, session, &Pinned { session: Some(session.clone()), ..above.clone() }, true).map(drop)
}

/// Writes it atomically. Of two concurrent first events one wins: returns whether this one did.
fn write(dirs: &Dirs, session: &SessionKey, pinned: &Pinned, replace: bool) -> Result<bool, Error> {
    let (file, directory) = (file(dirs, session), directory(dirs));
    dirs::create_private(&directory)?;
    let mut half = tempfile::NamedTempFile::new_in(&directory).map_err(unknown(&file))?;
    half.write_all(&pinned.bytes()).map_err(unknown(&file))?;
    if replace {
        half.persist(&file).map_err(|error| unknown(&file)(error.error))?;
        return Ok(true);
    }
    match half.persist_noclobber(&file) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(unknown(&file)(error.error)),
    }
}

/// The pinned data of all sessions of this store.
fn all(dirs: &Dirs, state: &Path) -> impl Iterator<Item = Pinned> {
    let files = fs::read_dir(directory(dirs)).into_iter().flatten().flatten();
    let known = files.filter_map(|entry| Pinned::read(&files::read(&entry.path(), MOST_BYTES).ok()?).ok());
    known.filter(move |known| known.state.as_deref() == Some(state))
}

/// The agents that hooks of that store govern.
fn agents(dirs: &Dirs, state: &Path) -> Vec<Process> {
    all(dirs, state).filter_map(|known| known.agent).collect()
}

/// The sessions of the agent that this process runs under, as far as hooks of this project's store govern it.
///
/// They are searched again only after one was added: a long-lived process needs them for every call.
#[derive(Debug, Default)]
pub struct SessionsAbove {
    looked: Option<SystemTime>,
    found: Vec<SessionKey>,
}

impl SessionsAbove {
    /// The sessions as they are now.
    pub fn look(&mut self, project: &Project) -> &[SessionKey] {
        let changed = fs::metadata(directory(project.dirs())).and_then(|found| found.modified()).ok();
        if changed.is_none() || changed != self.looked {
            let agent = above(project);
            let own = |known: &Pinned| agent.is_some() && known.agent.map(|process| process.pid) == agent;
            let known = all(project.dirs(), project.state_dir()).filter(own);
            self.found = known.filter_map(|known| known.session).collect();
            self.looked = changed;
        }
        &self.found
    }
}

/// The process of an agent that this project's store governs, when this process runs under one.
#[must_use]
pub fn above(project: &Project) -> Option<u32> {
    let hook = project.options().caller.map_or(Hook::This, Hook::Other);
    ancestry::under(hook, &agents(project.dirs(), project.state_dir())).map(|agent| agent.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pinned_comes_back() {
        let root = PathBuf::from("/home/ann/a b");
        let agent = Some(Process { pid: 7, start: 4242 });
        let session = Some(SessionKey { agent: "some-agent".to_owned(), id: "a b".to_owned() });
        let all = Pinned { root: root.clone(), state: Some("/state/x".into()), agent, session };
        assert_eq!(Pinned::read(&all.bytes()).unwrap(), all);
        let unnamed = Pinned { session: None, ..all.clone() };
        assert_eq!(Pinned::read(&unnamed.bytes()).unwrap(), unnamed);
        let none = Pinned { state: None, agent: None, session: None, ..all };
        assert_eq!(Pinned::read(&none.bytes()).unwrap(), none);
        assert_eq!(Pinned::read(b"/home/ann/a b").unwrap(), none, "an older version wrote only the root");
        assert!(Pinned::read(b"relative").is_err());
    }
}
