//! What Landlock can close: sockets that have no file, signals to processes outside and, where there is no bubblewrap,
//! writing outside of what is writable.

use std::path::PathBuf;

/// Keeps this process and everything it starts from abstract sockets and signals outside. Nothing happens on kernels
/// that cannot.
pub fn scope() {
    #[cfg(target_os = "linux")]
    let _ = linux::scope();
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
        ABI, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    };

    pub(super) fn scope() -> Result<(), RulesetError> {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal)?.create()?.restrict_self().map(drop)
    }

    pub(super) fn only_write(writable: &[PathBuf]) -> Result<bool, RulesetError> {
        let writes = AccessFs::from_write(ABI::V5);
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(writes)?
            .scope(Scope::AbstractUnixSocket | Scope::Signal)?
            .create()?;
        for path in writable {
            if let Ok(opened) = PathFd::new(path) {
                ruleset = ruleset.add_rule(PathBeneath::new(opened, writes))?;
            }
        }
        Ok(ruleset.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
    }
}
