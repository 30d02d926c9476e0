//! SARIF 2.1.0, in and out. Lictor's own exports are imported unchanged; other tools' results are mapped.

mod export;
mod import;
mod uri;

#[cfg(test)]
mod tests;

pub use export::export;
pub use import::{SarifError, import};

/// The only version there is.
const VERSION: &str = "2.1.0";
/// Where the format is described.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The property for fields that SARIF does not have.
const OWN: &str = "lictor";
