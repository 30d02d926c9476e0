//! Programs that work with keys.

use lictor_core::facts::Access;

use crate::call::{Call, Report};

/// `ssh-keygen`: a new key is written.
pub(crate) fn ssh_keys(call: &Call<'_>, report: &mut Report) {
    if call.program != "ssh-keygen" {
        return;
    }
    let options = super::parsed(call);
    // A token library is loaded into the program.
    for library in options.values(&["D", "w"]).filter(|arg| arg.prefix().contains('/')) {
        report.opaque(lictor_core::facts::OpaqueWhat::Code, &library.text);
    }
    let Some(path) = options.value(&["f"]) else { return };
    // The output is the public key, or a digest of it.
    let looks = options.has(&["y", "e", "l", "B", "H", "F", "R"]);
    report.file(call, if looks { Access::List } else { Access::Write }, path, false);
}
