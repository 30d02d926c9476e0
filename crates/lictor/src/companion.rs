//! `lictor-server`, the program for everything that `lictor` is kept free of: databases, HTTP and TLS. Started
//! only if a policy needs it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use lictor_store::{PipedStore, Store};

use crate::error::Error;
use crate::options::Options;
use crate::project::Project;

/// The program.
pub const PROGRAM: &str = "lictor-server";
/// The variable for the address of the database: all users of the machine can read a command line.
pub const ADDRESS: &str = "LICTOR_STORE_ADDRESS";

/// The program beside the running one, or else on the search path.
///
/// # Errors
/// When it is in neither place.
pub fn find(options: &Options) -> Result<PathBuf, Error> {
    let own = options.program.map_or_else(std::env::current_exe, |program| program());
    let beside = own.ok().map(|own| own.with_file_name(PROGRAM));
    let path = options.environment.get("PATH").unwrap_or_default();
    let elsewhere =
        std::env::split_paths(path).filter(|place| place.is_absolute()).map(|place| place.join(PROGRAM));
    beside.into_iter().chain(elsewhere).find(|file| file.is_file()).ok_or(Error::NoCompanion)
}

/// The project's chain in a database.
pub(crate) fn store(
    project: &Project,
    address: &str,
    wait: Duration,
    new_keys: bool,
) -> Result<Arc<dyn Store>, Error> {
    let mut command = Command::new(find(project.options())?);
    command.arg("hold-store").arg("--wait").arg(wait.as_millis().to_string());
    command.arg("--chain").arg(chain(project)?).env(ADDRESS, address);
    let keys = project.record_keys(new_keys)?;
    if keys.is_some() {
        command.arg("--key").arg(project.record_key_file());
    }
    if keys.as_ref().is_some_and(|(_, made)| *made) {
        command.arg("--adopt");
    }
    let keys = keys.map(|(keys, _)| keys);
    Ok(Arc::new(PipedStore::start(command, place(address), keys)?))
}

/// The address without its secrets.
fn place(address: &str) -> PathBuf {
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    let rest = rest.split('?').next().unwrap_or(rest);
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}://{host}").into()
}

/// One chain per machine and project: machines do not wait for each other, and none can fork another's.
fn chain(project: &Project) -> Result<String, Error> {
    let state = project.state_dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(format!("{}/{state}", machine(&project.dirs().state)?))
}

/// The name of this machine, generated once: host names are not always unique.
///
/// # Errors
/// When it cannot be read or stored.
pub fn machine(state: &Path) -> Result<String, Error> {
    let file = state.join("machine");
    let failed = |doing| Error::file(doing, &file);
    loop {
        match std::fs::read_to_string(&file) {
            Ok(name) if !name.trim().is_empty() => return Ok(name.trim().to_owned()),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed("cannot read")(error));
            }
            _ => {}
        }
        crate::dirs::create_private(state)?;
        let name = lictor_store::random_name().map_err(failed("cannot make a name for"))?;
        let draft = state.join(format!(".machine.{}", std::process::id()));
        let made = std::fs::write(&draft, format!("{name}\n")).and_then(|()| {
            match std::fs::hard_link(&draft, &file) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
                linked => linked,
            }
        });
        let _ = std::fs::remove_file(&draft);
        made.map_err(failed("cannot write"))?;
    }
}
