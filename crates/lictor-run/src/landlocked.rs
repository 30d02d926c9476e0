//! Landlock restrictions: sockets that have no file, signals to processes outside, ports, and, where there is no
//! bubblewrap, writes outside of the writable places.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::RunError;
use crate::mounts::{Network, Wanted};

/// Confines this process where bubblewrap cannot be used: what is written stays in what is writable, and nothing more can
/// be promised. Gives the command to become.
///
/// # Errors
/// When Landlock cannot be used either, or the policy wants more than it can do.
pub fn confine(wanted: &Wanted, command: &[OsString]) -> Result<Vec<OsString>, RunError> {
    const GET: &str = "install bubblewrap (`apt-get install bubblewrap`) and allow user namespaces";
    if wanted.network != Network::All || !wanted.hidden.is_empty() {
        let why = format!("a policy hides files or closes the network, which needs bubblewrap; {GET}");
        return Err(RunError::Refused(why));
    }
    let mut writable = wanted.writable.clone();
    writable.extend([wanted.project.clone(), wanted.state.clone(), "/dev".into()]);
    let mut command = command.to_vec();
    let temporary = Path::new("/tmp");
    if wanted.home.starts_with(temporary) {
        // Landlock cannot take a part out of what may be written, so temporary files go elsewhere.
        let own = wanted.home.join(".cache/tmp");
        fs::create_dir_all(&own).map_err(RunError::io(format!("cannot create `{}`", own.display())))?;
        command.splice(0..0, ["env".into(), format!("TMPDIR={}", own.display()).into()]);
        writable.push(own);
    } else {
        writable.push(temporary.to_owned());
    }
    writable.retain(|path| path.exists());
    if !only_write(&writable) {
        return Err(RunError::Refused(format!("neither bubblewrap nor Landlock can be used; {GET}")));
    }
    Ok(command)
}

/// Keeps this process and everything it starts from abstract sockets and signals outside. Nothing happens on kernels
/// that cannot.
pub fn scope() {
    #[cfg(target_os = "linux")]
    let _ = linux::scope();
}

/// Prevents this process and its children from connecting to any port and from listening on one. No effect on
/// kernels without support; the sandbox has its own network anyway.
pub fn no_ports() {
    #[cfg(target_os = "linux")]
    let _ = linux::no_ports();
}

/// Restricts writes of this process and its children to these paths. Returns whether it is enforced.
fn only_write(writable: &[PathBuf]) -> bool {
    #[cfg(target_os = "linux")]
    return linux::only_write(writable).unwrap_or(false);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = writable;
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::PathBuf;

    use landlock::{
        ABI, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
    };

    pub(super) fn scope() -> Result<(), RulesetError> {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal)?.create()?.restrict_self().map(drop)
    }

    pub(super) fn no_ports() -> Result<(), RulesetError> {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?.create()?.restrict_self().map(drop)
    }

    pub(super) fn only_write(writable: &[PathBuf]) -> Result<bool, RulesetError> {
        let writes = AccessFs::from_write(ABI::V5);
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(writes)?
            .scope(Scope::AbstractUnixSocket | Scope::Signal)?
            .create()?;
        // Rights that a file cannot have are left out for files.
        let rules = path_beneath_rules(writable, writes);
        let status = ruleset.add_rules(rules)?.restrict_self()?;
        Ok(status.ruleset != RulesetStatus::NotEnforced)
    }
}
