//! The definition of a section.

use std::sync::Arc;

use lictor_core::{Guard, Layer, SharedGuard};

use super::Sections;
use crate::graph::{BuildError, LayerBuilder};
use crate::reader::{Fields, Reader};
use crate::table::Key;
use crate::yaml::Tree;

/// A section of a policy file: keys that belong together, their reader, and the guards that they configure. A
/// record of functions instead of a trait, so that the list of all sections is a constant and the tables are
/// derived from it.
pub(crate) struct Section {
    /// Its top-level keys, with their shapes and reference texts.
    pub(crate) keys: &'static [Key],
    /// Reads them. The sections before it in the list have been read already.
    pub(crate) read: fn(&mut Reader<'_>, &Fields<'_>, &mut Sections),
    /// The guards that it configures.
    pub(crate) guards: &'static [BuiltIn],
}

/// A built-in guard that the graph can name.
pub(crate) struct BuiltIn {
    pub(crate) name: &'static str,
    /// The key that configures it.
    pub(crate) section: &'static str,
    pub(crate) layer: Layer,
    /// Whether a file configures it.
    pub(crate) configured: fn(&Sections) -> bool,
    /// The guard, when the file configures it.
    pub(crate) build: fn(&mut LayerBuilder<'_>) -> Result<Option<SharedGuard>, BuildError>,
    /// It is judged after everything else of all files.
    pub(crate) last: bool,
}

/// The value under a key of the file.
pub(crate) fn value<T>(
    r: &mut Reader<'_>,
    file: &Fields<'_>,
    key: &str,
    read: impl FnOnce(&mut Reader<'_>, &Tree) -> Option<T>,
) -> Option<T> {
    read(r, file.get(key)?)
}

/// An optional guard in the form that the graph needs.
pub(crate) fn share<G: Guard + 'static>(guard: Option<G>) -> Result<Option<SharedGuard>, BuildError> {
    Ok(guard.map(|guard| Arc::new(guard) as SharedGuard))
}
