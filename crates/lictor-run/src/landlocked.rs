//! What Landlock can close: sockets that have no file, signals to processes outside, ports, and, where there is no
//! bubblewrap, writing outside of what is writable.

use std::path::PathBuf;

/// Keeps this process and everything it starts from abstract sockets and signals outside. Nothing happens on kernels
/// that cannot.
pub fn scope() {
    #[cfg(target_os = "linux")]
    let _ = linux::scope();
}

/// Keeps this process and everything it starts from connecting to any port and from listening at one. Nothing happens on
/// kernels that cannot; the sandbox has a network of its own anyway.
pub fn no_ports() {
    #[cfg(target_os = "linux")]
    let _ = linux::no_ports();
}

/// Keeps this process and everything it starts from writing anywhere but there. Says whether that holds.
#[must_use]
pub fn only_write(writable: &[PathBuf]) -> bool {
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
