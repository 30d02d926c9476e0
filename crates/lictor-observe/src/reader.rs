//! The shell reader as this crate uses it.

use lictor_core::facts::{Opaque, OpaqueWhat};
use lictor_shell::Reading;

/// Until patches are read, each is opaque: asked about, never passed.
pub(crate) fn patch(text: &str) -> Reading {
    let text = text.chars().take(120).collect();
    Reading { effects: Vec::new(), opaque: vec![Opaque { what: OpaqueWhat::Construct, text }] }
}

/// Whether a path names a secret.
pub(crate) fn is_secret_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let template = ["example", "sample", "template"].iter().any(|end| name.ends_with(end));
    name.starts_with(".env") && !template || name.starts_with("id_") && !name.ends_with(".pub")
}
