//! Renders findings, verdicts and the gate's outcome.

pub mod github;
pub mod json;
pub mod markdown;
pub mod text;

#[cfg(test)]
mod tests;
