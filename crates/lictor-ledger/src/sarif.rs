//! SARIF 2.1.0, in and out. What Lictor exports it imports unchanged; what other tools say is mapped.

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
/// The property that holds what SARIF has no words for.
const OWN: &str = "lictor";
